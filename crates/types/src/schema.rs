//! Columns of a table or of a result.

use crate::{LogicalType, ObjectId, Value};

/// Which column of its table a column is, whatever its position and name become. Counted from 1 in the order in which columns
/// were made, never given again in the same table; 0 for a column that is not a table's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnNumber(pub u32);

impl ColumnNumber {
    /// Hidden columns, which hold expressions and conditions of indexes, have numbers from this one on.
    pub const FIRST_HIDDEN: ColumnNumber = ColumnNumber(1 << 31);

    /// True for the number of a hidden column.
    pub fn is_hidden(self) -> bool {
        self >= ColumnNumber::FIRST_HIDDEN
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its type.
    pub ty: LogicalType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// What an INSERT that does not name the column writes; `None` stands for NULL.
    pub default: Option<ColumnDefault>,
    /// Its identity in its table.
    pub number: ColumnNumber,
    /// Its value in rows that were written before the table had the column, and do not store it.
    pub missing: Value,
    /// The domain that it was declared with; its type is the domain's.
    pub domain: Option<ColumnDomain>,
}

/// The domain of a column, and the parts of the column that come from the domain: they change with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDomain {
    /// The domain.
    pub id: ObjectId,
    /// True if no DEFAULT was written for the column, so that its default is the domain's.
    pub gives_default: bool,
    /// True if the column is NOT NULL only because its domain is.
    pub gives_not_null: bool,
}

/// What a column gets that an INSERT does not name.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    /// A value of the column's type, not NULL.
    Value(Value),
    /// An expression as SQL text: bound and computed for each row of a statement that needs it, cast to the column's type
    /// as an assignment.
    Expression(String),
    /// GENERATED … AS IDENTITY: the next value of a sequence that the column owns.
    Identity {
        /// The sequence.
        sequence: ObjectId,
        /// True for GENERATED ALWAYS: a statement may not write another value, unless it says OVERRIDING SYSTEM VALUE.
        always: bool,
    },
    /// GENERATED ALWAYS AS (…) STORED: an expression over the row. Every INSERT and UPDATE computes it, and no
    /// statement writes another value.
    Generated {
        /// The expression as SQL text.
        text: String,
        /// Positions of the columns that the expression reads, ascending. None of them is a generated column.
        reads: Vec<usize>,
    },
}

impl ColumnDefault {
    /// The SQL text of an expression.
    pub fn expression(&self) -> Option<&str> {
        match self {
            ColumnDefault::Expression(text) | ColumnDefault::Generated { text, .. } => Some(text),
            ColumnDefault::Value(_) | ColumnDefault::Identity { .. } => None,
        }
    }
}

impl ColumnDef {
    /// A nullable column without a default.
    pub fn new(name: impl Into<String>, ty: LogicalType) -> ColumnDef {
        ColumnDef {
            name: name.into(),
            ty,
            nullable: true,
            default: None,
            number: ColumnNumber::default(),
            missing: Value::Null,
            domain: None,
        }
    }

    /// Its default where that is a constant or nothing: NULL is a constant, too.
    pub fn constant_default(&self) -> Option<Value> {
        match &self.default {
            None => Some(Value::Null),
            Some(ColumnDefault::Value(value)) => Some(value.clone()),
            Some(
                ColumnDefault::Expression(_)
                | ColumnDefault::Identity { .. }
                | ColumnDefault::Generated { .. },
            ) => None,
        }
    }

    /// The identity of its domain, if it has one.
    pub fn domain_id(&self) -> Option<ObjectId> {
        self.domain.map(|domain| domain.id)
    }

    /// Its own default: `None` also if it has the default of its domain.
    pub fn own_default(&self) -> Option<&ColumnDefault> {
        let is_of_domain = self.domain.is_some_and(|domain| domain.gives_default);
        self.default.as_ref().filter(|_| !is_of_domain)
    }

    /// True if it is NOT NULL itself, and not only because its domain is.
    pub fn has_own_not_null(&self) -> bool {
        !self.nullable && !self.domain.is_some_and(|domain| domain.gives_not_null)
    }

    /// Makes it NOT NULL itself.
    pub fn set_not_null(&mut self) {
        self.nullable = false;
        if let Some(domain) = &mut self.domain {
            domain.gives_not_null = false;
        }
    }

    /// Gives it a default of its own; `None` stands for NULL.
    pub fn set_default(&mut self, default: Option<ColumnDefault>) {
        self.default = default;
        if let Some(domain) = &mut self.domain {
            domain.gives_default = false;
        }
    }

    /// True if its values are computed from the other columns of its row.
    pub fn is_generated(&self) -> bool {
        self.generated_reads().is_some()
    }

    /// Positions of the columns that its expression reads; `None` if it is not a generated column.
    pub fn generated_reads(&self) -> Option<&[usize]> {
        match &self.default {
            Some(ColumnDefault::Generated { reads, .. }) => Some(reads),
            Some(ColumnDefault::Value(_) | ColumnDefault::Expression(_) | ColumnDefault::Identity { .. })
            | None => None,
        }
    }

    /// The same column, NOT NULL.
    pub fn not_null(mut self) -> ColumnDef {
        self.nullable = false;
        self
    }
}

/// The column of a table or view that a column of a result shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The oid of the table or view.
    pub relation: u32,
    /// The column's number in `pg_attribute`.
    pub column: u32,
}

/// The columns of a table or result, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The columns.
    pub columns: Vec<ColumnDef>,
    /// `origins[i]` is the origin of column `i` of a result, `None` if the column is computed. Empty if no origin is
    /// known, and for tables.
    pub origins: Vec<Option<Origin>>,
}

/// The number that `pg_attribute` gives the column at a position of its relation, whose columns are these. Numbers
/// ascend with the positions: if the columns' own do not, because a column took the place of another (ALTER COLUMN …
/// TYPE), or if there are none, as in views and system tables, they are the positions from 1.
pub fn attribute_number(columns: &[ColumnDef], at: usize) -> u32 {
    let is_ascending = columns.is_sorted_by(|a, b| a.number < b.number);
    match columns[at].number.0 {
        number if is_ascending && number > 0 => number,
        _ => at as u32 + 1,
    }
}

impl Schema {
    /// A schema of these columns.
    pub fn new(columns: Vec<ColumnDef>) -> Schema {
        Schema {
            columns,
            origins: Vec::new(),
        }
    }

    /// Adds the origins of the columns.
    pub fn with_origins(self, origins: Vec<Option<Origin>>) -> Schema {
        Schema { origins, ..self }
    }

    /// The origin of the column at a position, if it has one.
    pub fn origin(&self, at: usize) -> Option<Origin> {
        self.origins.get(at).copied().flatten()
    }

    /// Returns [`attribute_number`] of the column at a position. Panics without such a column.
    pub fn attribute_number(&self, at: usize) -> u32 {
        attribute_number(&self.columns, at)
    }

    /// The numbers of the columns, in order.
    pub fn numbers(&self) -> impl Iterator<Item = ColumnNumber> {
        self.columns.iter().map(|c| c.number)
    }

    /// Takes a column away; those behind it move up. The expressions of generated columns read no column that goes.
    pub fn remove(&mut self, column: usize) -> ColumnDef {
        let gone = self.columns.remove(column);
        for other in &mut self.columns {
            if let Some(ColumnDefault::Generated { reads, .. }) = &mut other.default {
                reads.retain(|position| *position != column);
                reads.iter_mut().filter(|p| **p > column).for_each(|p| *p -= 1);
            }
        }
        gone
    }

    /// Positions of the columns whose values are computed from the other columns of their row.
    pub fn generated(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter().enumerate();
        columns
            .filter(|(_, column)| column.is_generated())
            .map(|(at, _)| at)
    }

    /// Position of a column.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }
}
