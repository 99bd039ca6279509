//! What a query sees: the relations of its FROM, and through its level those of the queries around it.

use super::OutputColumn;
use super::locking_clauses::Locking;
use super::rows_calls::RowsCalls;
use super::windows::Windows;
use crate::TableEntry;
use crate::system_columns::ShownColumns;
use frazil_functions::Operand;
use frazil_plan::each_once::Places;
use frazil_plan::{AggregateCall, ColumnId, Expr, FrameUnit};
use frazil_types::{LogicalType, Span};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// One query in the nest.
#[derive(Default)]
pub(super) struct Level {
    /// The relations that expressions see now.
    pub items: Vec<Item>,
    /// Relations to the left of the one being bound, which a LATERAL subquery sees.
    pub lateral: Vec<Item>,
    /// The target of UPDATE or DELETE while its FROM or USING is bound, which may not read it.
    pub target: Vec<Item>,
    /// The tables of its FROM that have a primary key.
    pub keyed_tables: Vec<KeyedTable>,
    /// The clause being bound.
    pub clause: Clause,
    /// Aggregates of this query.
    pub aggregates: Aggregates,
    /// Calls of `grouping(…)` of this query.
    pub groupings: Vec<GroupingCall>,
    /// Windows of this query.
    pub windows: Windows,
    /// Functions that give rows in this query.
    pub rows_calls: RowsCalls,
    /// Its locking clauses, and the tables that they lock.
    pub locking: Locking,
    /// Names of the select list and what they mean, while QUALIFY is bound.
    pub aliases: Vec<(String, Operand)>,
}

impl Level {
    /// The columns that depend on grouped ones, of the tables whose whole key is grouped by.
    pub fn dependents(&self, grouped: &BTreeSet<ColumnId>) -> BTreeSet<ColumnId> {
        let is_grouped = |table: &&KeyedTable| table.key.iter().all(|id| grouped.contains(id));
        let tables = self.keyed_tables.iter().filter(is_grouped);
        let columns = tables.flat_map(|table| table.columns.iter().copied());
        columns.filter(|id| !grouped.contains(id)).collect()
    }

    /// Notes that system columns depend on the primary key of the table that some relations read.
    pub fn note_system_columns(&mut self, items: &[Item], ids: impl Iterator<Item = ColumnId>) {
        let first = items.iter().find_map(|item| item.columns.first());
        let is_it = |table: &&mut KeyedTable| table.columns.first().copied() == first.map(|c| c.id);
        if let Some(table) = self.keyed_tables.iter_mut().find(is_it) {
            table.columns.extend(ids);
        }
    }
}

/// A table in the FROM of a query, with its primary key.
pub(super) struct KeyedTable {
    /// The columns of the key.
    pub key: Vec<ColumnId>,
    /// All columns that are seen of the table.
    pub columns: Vec<ColumnId>,
}

/// Aggregates of a query, with the columns that stand for them: those of equal calls are one.
#[derive(Default)]
pub(super) struct Aggregates {
    /// In the order of their columns.
    calls: Vec<(ColumnId, AggregateCall)>,
    places: Places,
    /// What is written in them and has to be the same for all rows of a group.
    pub grouped: Vec<Expr>,
}

impl Aggregates {
    /// True if the query has no aggregates.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The column that stands for a call: that of its equal, or one that `new` makes of the call's type.
    pub fn column_of(&mut self, call: AggregateCall, new: impl FnOnce(LogicalType) -> ColumnId) -> ColumnId {
        let (calls, next) = (&self.calls, self.calls.len());
        if let Some(place) = self.places.find_or_add(&call, next, |p| calls[p].1 == call) {
            return self.calls[place].0;
        }
        let id = new(call.ty);
        self.calls.push((id, call));
        id
    }

    /// The first of some columns that stands for an aggregate.
    pub fn first_of(&self, read: &[ColumnId]) -> Option<ColumnId> {
        let mut stands = read.iter().copied();
        stands.find(|id| self.calls.binary_search_by_key(id, |call| call.0).is_ok())
    }

    /// Takes all calls with their columns, and leaves the list empty.
    pub fn take(&mut self) -> Vec<(ColumnId, AggregateCall)> {
        std::mem::take(self).calls
    }
}

/// A call of `grouping(…)`: its column and arguments.
pub(super) struct GroupingCall {
    /// The column.
    pub id: ColumnId,
    /// The arguments.
    pub arguments: Vec<Expr>,
}

/// A column where it is named, or an aggregate where it is called: what the rules of aggregates and groups go by, as
/// an expression whose value is known without a column is bound without it.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    /// The column; of an aggregate the one that stands for it.
    pub id: ColumnId,
    /// Where it is written.
    pub span: Span,
    /// Depth of the query that it is written in.
    pub depth: u32,
}

/// A clause; its text is PostgreSQL's name for it in messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Clause {
    #[default]
    From,
    On,
    Where,
    SelectList,
    GroupBy,
    Having,
    OrderBy,
    DistinctOn,
    Limit,
    Offset,
    Values,
    Filter,
    Default,
    Set,
    Returning,
    Check,
    /// The expression of a generated column.
    Generated,
    /// A key of an index.
    IndexExpression,
    /// The condition of a partial index.
    IndexPredicate,
    /// Values of EXECUTE.
    Execute,
    Qualify,
    WindowPartition,
    WindowOrder,
    /// An offset of a frame.
    Frame(FrameUnit),
}

impl Clause {
    /// True if an expression there may only call functions that are immutable.
    pub fn is_kept_with_rows(self) -> bool {
        matches!(
            self,
            Clause::Generated | Clause::IndexExpression | Clause::IndexPredicate
        )
    }

    /// Its name in the message that refuses aggregates there; `None` where they may stand.
    pub fn without_aggregates(self) -> Option<&'static str> {
        match self {
            Clause::From => Some("FROM clause of their own query level"),
            Clause::On => Some("JOIN conditions"),
            Clause::Where => Some("WHERE"),
            Clause::GroupBy => Some("GROUP BY"),
            Clause::Limit => Some("LIMIT"),
            Clause::Offset => Some("OFFSET"),
            Clause::Values => Some("VALUES"),
            Clause::Filter => Some("FILTER"),
            Clause::Default => Some("DEFAULT expressions"),
            Clause::Set => Some("UPDATE"),
            Clause::Returning => Some("RETURNING"),
            Clause::Check => Some("check constraints"),
            Clause::Generated => Some("column generation expressions"),
            Clause::IndexExpression => Some("index expressions"),
            Clause::IndexPredicate => Some("index predicates"),
            Clause::Execute => Some("EXECUTE parameters"),
            Clause::Frame(FrameUnit::Rows) => Some("window ROWS"),
            Clause::Frame(FrameUnit::Range) => Some("window RANGE"),
            Clause::Frame(FrameUnit::Groups) => Some("window GROUPS"),
            Clause::SelectList
            | Clause::Having
            | Clause::OrderBy
            | Clause::DistinctOn
            | Clause::Qualify
            | Clause::WindowPartition
            | Clause::WindowOrder => None,
        }
    }

    /// Its name in the message that refuses functions that give rows there; `None` where they may stand.
    pub fn without_rows(self) -> Option<&'static str> {
        match self {
            Clause::Having => Some("HAVING"),
            Clause::Qualify => Some("QUALIFY"),
            Clause::Frame(_) => Some("window definitions"),
            Clause::SelectList
            | Clause::GroupBy
            | Clause::OrderBy
            | Clause::DistinctOn
            | Clause::WindowPartition
            | Clause::WindowOrder => None,
            Clause::From
            | Clause::On
            | Clause::Where
            | Clause::Limit
            | Clause::Offset
            | Clause::Values
            | Clause::Filter
            | Clause::Default
            | Clause::Set
            | Clause::Returning
            | Clause::Check
            | Clause::Generated
            | Clause::IndexExpression
            | Clause::IndexPredicate
            | Clause::Execute => self.without_aggregates(),
        }
    }

    /// Its name in the message that refuses window functions there; `None` where they may stand.
    pub fn without_windows(self) -> Option<&'static str> {
        match self {
            Clause::From => Some("functions in FROM"),
            Clause::Having => Some("HAVING"),
            Clause::WindowPartition | Clause::WindowOrder | Clause::Frame(_) => Some("window definitions"),
            Clause::SelectList | Clause::OrderBy | Clause::DistinctOn | Clause::Qualify => None,
            Clause::On
            | Clause::Where
            | Clause::GroupBy
            | Clause::Limit
            | Clause::Offset
            | Clause::Values
            | Clause::Filter
            | Clause::Default
            | Clause::Set
            | Clause::Returning
            | Clause::Check
            | Clause::Generated
            | Clause::IndexExpression
            | Clause::IndexPredicate
            | Clause::Execute => self.without_aggregates(),
        }
    }
}

/// A relation in FROM, or the columns that a join with USING makes.
#[derive(Clone)]
pub(super) struct Item {
    /// The alias or table name; `None` for a join without an alias.
    pub name: Option<Rc<str>>,
    /// The schema of a table or view without an alias.
    pub schema: Option<Rc<str>>,
    pub columns: Rc<[OutputColumn]>,
    /// Whether its columns are found by their names alone, and are part of `*`.
    pub is_unqualified: bool,
    /// A column that is never NULL in its rows, if the statement counts them.
    pub marker: Option<ColumnId>,
    /// The system columns of a table, as far as the statement names them: no `*` shows them.
    pub system: ShownColumns,
    /// The column that the name stands for where it is a value: that of a function which gives one value a row.
    pub value: Option<ColumnId>,
    /// What the names of many columns mean, once one was asked for.
    by_name: Rc<OnceCell<HashMap<String, Found>>>,
}

/// What a name means among some columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    None,
    One(ColumnId),
    Several,
}

impl Found {
    /// What a name means among more columns.
    pub fn and(self, more: Found) -> Found {
        match (self, more) {
            (Found::None, found) | (found, Found::None) => found,
            _ => Found::Several,
        }
    }
}

/// Names of up to so many columns are compared one by one.
const FEW_COLUMNS: usize = 24;

impl Item {
    /// A relation with a name.
    pub fn named(name: &str, columns: Vec<OutputColumn>) -> Item {
        Item {
            name: Some(name.into()),
            schema: None,
            columns: columns.into(),
            is_unqualified: true,
            marker: None,
            system: ShownColumns::new(),
            value: None,
            by_name: Rc::default(),
        }
    }

    /// Notes the schema of the relation.
    pub fn in_schema(self, schema: &str) -> Item {
        Item {
            schema: Some(schema.into()),
            ..self
        }
    }

    /// Notes the schema of the table that the relation is, unless an alias gives it another name.
    pub fn of_table(self, table: &TableEntry) -> Item {
        match self.name.as_deref() == Some(table.name.as_str()) {
            true => self.in_schema(&table.schema_name),
            false => self,
        }
    }

    /// The meaning of a name among its columns, and if none of them has it, among its system columns.
    pub fn find(&self, name: &str) -> Found {
        match self.find_listed(name) {
            Found::None => self.find_system(name),
            found => found,
        }
    }

    fn find_system(&self, name: &str) -> Found {
        let mut shown = self.system.iter();
        match shown.find(|(column, _)| column.name() == name) {
            Some((_, id)) => Found::One(*id),
            None => Found::None,
        }
    }

    fn find_listed(&self, name: &str) -> Found {
        if self.columns.len() <= FEW_COLUMNS {
            let named = self.columns.iter().filter(|c| c.name == name);
            return named.map(|c| Found::One(c.id)).fold(Found::None, Found::and);
        }
        let by_name = self.by_name.get_or_init(|| {
            let mut found: HashMap<String, Found> = HashMap::new();
            for column in self.columns.iter() {
                let known = found.entry(column.name.clone()).or_insert(Found::None);
                *known = known.and(Found::One(column.id));
            }
            found
        });
        by_name.get(name).copied().unwrap_or(Found::None)
    }

    /// The same relation with other columns.
    pub fn with_columns(&self, columns: Vec<OutputColumn>) -> Item {
        Item {
            columns: columns.into(),
            by_name: Rc::default(),
            ..self.clone()
        }
    }

    /// Columns without a relation's name.
    pub fn unnamed(columns: Vec<OutputColumn>) -> Item {
        Item {
            name: None,
            schema: None,
            columns: columns.into(),
            is_unqualified: true,
            marker: None,
            system: ShownColumns::new(),
            value: None,
            by_name: Rc::default(),
        }
    }
}
