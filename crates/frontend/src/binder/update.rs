//! UPDATE: a query for row ids and new values under a Write.

use super::from::FromRows;
use super::join::Joined;
use super::rows::{Computed, filtered};
use super::scope::{Item, Level};
use super::target::TargetRows;
use super::written::{WriteQueries, Written};
use super::{Binder, OutputColumn, fold, system_columns};
use crate::{Bound, TableEntry};
use frazil_catalog::Rights;
use frazil_functions::CastContext;
use frazil_plan::{Change, ColumnId, JoinKind, Operator, WriteKind};
use frazil_types::{Error, Result, Span};
use sqlparser::ast::{TableAlias, TableFactor, TableWithJoins, Update, UpdateTableFromKind};

/// Binds UPDATE.
pub(crate) fn update<'a>(mut binder: Binder<'a>, u: &'a Update) -> Result<Bound> {
    let written = binder.updated(u)?;
    binder.finish_write(written)
}

/// Binds the UPDATE that computes the hidden columns of an index that comes, at position `first` and behind.
/// `condition`: the position of the index's condition.
pub(crate) fn fill_hidden(
    mut binder: Binder<'_>,
    entry: &TableEntry,
    first: usize,
    condition: Option<usize>,
) -> Result<Bound> {
    binder.levels.push(Level::default());
    let written = binder.rows_to_fill(entry, first, condition)?;
    binder.levels.pop();
    binder.finish_write(written)
}

fn updated<'a>(binder: &mut Binder<'a>, u: &'a Update) -> Result<Written> {
    super::refuse::first(&[
        (u.or.is_some(), "UPDATE OR"),
        (u.output.is_some(), "OUTPUT"),
        (!u.order_by.is_empty(), "UPDATE … ORDER BY"),
        (u.limit.is_some(), "UPDATE … LIMIT"),
        (!u.optimizer_hints.is_empty(), "an optimizer hint"),
        (
            matches!(u.from, Some(UpdateTableFromKind::BeforeSet(_))),
            "FROM before SET",
        ),
        (!u.table.joins.is_empty(), "UPDATE of a join (write FROM)"),
    ])?;
    let TableFactor::Table { name, alias, .. } = &u.table.relation else {
        return Err(Error::unsupported("UPDATE of anything but a table"));
    };
    super::refuse::table_factor(&u.table.relation)?;
    let entry = binder.table_to_change(name, "UPDATE of")?;
    binder.levels.push(Level::default());
    let written = binder.rows_to_update(&entry, alias.as_ref(), u)?;
    binder.levels.pop();
    Ok(written)
}

impl<'a> Binder<'a> {
    /// Binds the rows of UPDATE.
    pub(super) fn updated(&mut self, u: &'a Update) -> Result<Written> {
        updated(self, u)
    }

    fn rows_to_update(
        &mut self,
        entry: &TableEntry,
        alias: Option<&'a TableAlias>,
        u: &'a Update,
    ) -> Result<Written> {
        let TargetRows { mut rows, row_id } = self.target_rows(entry, &entry.name, alias)?;
        if let Some(UpdateTableFromKind::AfterSet(from)) = &u.from {
            let others = self.others(&rows, from)?;
            rows = self.combine(rows, others, Joined::plain(JoinKind::Inner), Span::NONE)?;
        }
        self.level().items = rows.items.clone();
        let set = self.assignments(entry, &u.assignments)?;
        let named = set
            .values
            .iter()
            .map(|value| value.0)
            .chain(set.generated.iter().copied());
        self.note_write(entry.id, Rights::UPDATE, named.collect());
        let condition = self.where_condition(u.selection.as_ref())?;
        let op = set.joined(filtered(rows.op, condition));
        let mut computed = Computed::default();
        let mut changed = Vec::with_capacity(set.values.len());
        for (position, value) in set.values {
            let name = entry.schema.columns[position].name.as_str();
            changed.push((position, self.as_column(value, name, &mut computed)));
        }
        let op = computed.above(op);
        let mut items = rows.items;
        let mut new: Vec<ColumnId> = items[0].columns.iter().map(|c| c.id).collect();
        changed.iter().for_each(|(position, id)| new[*position] = *id);
        let mut touched: Vec<usize> = changed.iter().map(|c| c.0).chain(set.generated).collect();
        let mut computed = Computed::default();
        for (position, id) in self.generated_values(entry, &new, Some(&touched), None, &mut computed)? {
            changed.push((position, id));
            if let Some(visible) = new.get_mut(position) {
                *visible = id;
            }
            touched.push(position);
        }
        let op = computed.above(op);
        let mut computed = Computed::default();
        let shown = match u.returning {
            Some(_) => self.as_written(entry, &new, &mut computed),
            None => new.clone(),
        };
        items[0] = renewed(&items[0], &shown);
        self.note_target(entry, &items[0].columns);
        let checks = self.checks(entry, &new, Some(&touched), None, &mut computed)?;
        let op = computed.above(op);
        let (op, output, queries) = self.returned(entry, alias, u, (items, op))?;
        let change = Change {
            table: entry.id,
            name: entry.name.clone(),
            kind: WriteKind::Update { row_id, set: changed },
            checks,
            returning: Vec::new(),
        };
        Ok(Written {
            op,
            change,
            output,
            queries,
        })
    }

    /// RETURNING of UPDATE over its rows, in which it sees items: with what it shows, or the query that shows it.
    fn returned(
        &mut self,
        entry: &TableEntry,
        alias: Option<&'a TableAlias>,
        u: &'a Update,
        (seen, op): (Vec<Item>, Operator),
    ) -> Result<(Operator, Vec<OutputColumn>, WriteQueries)> {
        let list = u.returning.as_deref();
        let mut queries = WriteQueries::default();
        if !list.is_some_and(system_columns::are_in) {
            let (op, output) = self.returning(list, seen, op)?;
            return Ok((op, output, queries));
        }
        if u.from.is_some() {
            return Err(system_columns::refuse_beside_others());
        }
        let name = alias.map_or_else(|| entry.name.clone(), |alias| fold(&alias.name));
        queries.returning = self.returning_of_written(entry, &name, list)?;
        Ok((op, Vec::new(), queries))
    }

    /// The hidden columns of all rows from position `first` on, which nothing has computed yet.
    fn rows_to_fill(
        &mut self,
        entry: &TableEntry,
        first: usize,
        condition: Option<usize>,
    ) -> Result<Written> {
        let TargetRows { rows, row_id } = self.target_rows(entry, &entry.name, None)?;
        let (mut computed, mut set) = (Computed::default(), Vec::new());
        for (position, column) in entry.stored_columns().enumerate().skip(first) {
            let value = self.hidden_value(entry, position, condition, &rows.items[0])?;
            let span = value.span();
            let value = self
                .typing
                .cast(value, column.ty, CastContext::Assignment, span)?;
            set.push((position, self.as_column(value, &column.name, &mut computed)));
        }
        let change = Change {
            table: entry.id,
            name: entry.name.clone(),
            kind: WriteKind::Update { row_id, set },
            checks: Vec::new(),
            returning: Vec::new(),
        };
        Ok(Written {
            op: computed.above(rows.op),
            change,
            output: Vec::new(),
            queries: WriteQueries::default(),
        })
    }

    /// The relations that FROM or USING names beside the target, which they do not see.
    pub(super) fn others(&mut self, target: &FromRows, from: &'a [TableWithJoins]) -> Result<FromRows> {
        self.level().target.clone_from(&target.items);
        let others = self.from(from);
        self.level().target.clear();
        let others = others?;
        self.distinct_names(&target.items, &others.items, Span::NONE)?;
        Ok(others)
    }
}

/// The relation of the target with other columns, under the same names.
fn renewed(target: &Item, new: &[ColumnId]) -> Item {
    let mut columns = target.columns.to_vec();
    columns
        .iter_mut()
        .zip(new)
        .for_each(|(column, id)| column.id = *id);
    target.with_columns(columns)
}
