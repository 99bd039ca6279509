//! ON CONFLICT: the unique indexes that decide, and what becomes of the row that is in the way.
//!
//! The writer finds the rows in the way. What SET and WHERE say is a query over those and the rows that they stop, and RETURNING
//! one over the rows that were written ([`Operator::Given`]).

use super::conflict_target::WrittenTarget;
use super::from::FromRows;
use super::insert::named;
use super::rows::Computed;
use super::scope::Item;
use super::{Binder, OutputColumn, Relation, error, fold};
use crate::TableEntry;
use frazil_catalog::{IndexEntry, Rights};
use frazil_plan::operators::Given;
use frazil_plan::{Arbiters, ColumnId, ConflictUpdate, Expr, Operator, PlanConflict};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{
    Assignment, ConflictTarget, Expr as SqlExpr, ObjectName, OnConflict, OnConflictAction, SelectItem,
};
use std::sync::Arc;

impl<'a> Binder<'a> {
    /// Binds ON CONFLICT of rows to be inserted into a table that is seen as `name`: what a conflict does, and the query of
    /// DO UPDATE.
    pub(super) fn on_conflict(
        &mut self,
        entry: &TableEntry,
        name: &str,
        on: &'a OnConflict,
    ) -> Result<(PlanConflict, Option<Relation>)> {
        let (written, selection) = match &on.action {
            OnConflictAction::DoNothing => (None, None),
            OnConflictAction::DoUpdate(update) => (
                Some(WrittenTarget::of(&update.assignments)),
                update.selection.as_ref(),
            ),
        };
        let arbiters = match (&on.conflict_target, &written) {
            (Some(ConflictTarget::OnConstraint(name)), _) => Arbiters {
                indexes: vec![self.constraint_index(entry, name)?.id],
                target: None,
            },
            (_, Some(written)) if written.is_there() => Arbiters {
                indexes: Vec::new(),
                target: Some(Box::new(self.conflict_target(entry, name, written)?)),
            },
            _ => Arbiters::default(),
        };
        match written {
            Some(written) if !written.does_nothing => {
                if arbiters == Arbiters::default() {
                    let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
                    return Err(Error::new(SqlState::SYNTAX_ERROR, message)
                        .with_hint("for example, ON CONFLICT (column_name)"));
                }
                let (query, mut update) = self.do_update(entry, name, written.assignments, selection)?;
                update.arbiters = arbiters;
                Ok((PlanConflict::Update(update), Some(query)))
            }
            _ => Ok((PlanConflict::Skip { arbiters }, None)),
        }
    }

    /// The index of a constraint. 42704, 42809 for a constraint without one.
    fn constraint_index(&self, entry: &TableEntry, name: &ObjectName) -> Result<Arc<IndexEntry>> {
        let span = self.name_span(name);
        let named = match &name.0[..] {
            [part] => part.as_ident().map(fold),
            _ => None,
        };
        let named = named.ok_or_else(|| self.syntax_error(&name.to_string(), span))?;
        let Some(constraint) = entry.constraints.iter().find(|c| c.name == named) else {
            let message = format!(
                "constraint \"{named}\" for table \"{}\" does not exist",
                entry.name
            );
            let missing = error(SqlState::UNDEFINED_OBJECT, message, span);
            let names = entry.constraints.iter().map(|c| c.name.as_str());
            return Err(match frazil_catalog::nearest(&named, names) {
                Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
                None => missing,
            });
        };
        let found = constraint
            .index()
            .and_then(|id| entry.indexes.iter().find(|i| i.id == id));
        found.cloned().ok_or_else(|| {
            let message = "constraint in ON CONFLICT clause has no associated index";
            error(SqlState::WRONG_OBJECT_TYPE, message, span)
        })
    }

    /// Binds DO UPDATE: the query for what becomes of rows in the way, and what the write does with its columns. The
    /// arbiters are left empty.
    fn do_update(
        &mut self,
        entry: &TableEntry,
        name: &str,
        assignments: &'a [Assignment],
        selection: Option<&'a SqlExpr>,
    ) -> Result<(Relation, ConflictUpdate)> {
        let Pairs { rows, number } = self.pairs(entry, name)?;
        let mut new: Vec<ColumnId> = rows.items[0].columns.iter().map(|c| c.id).collect();
        self.level().items = rows.items;
        let set = self.assignments(entry, assignments)?;
        let named = set
            .values
            .iter()
            .map(|value| value.0)
            .chain(set.generated.iter().copied());
        self.note_write(entry.id, Rights::UPDATE, named.collect());
        let condition = self.where_condition(selection)?;
        self.level().items.clear();

        let mut output = vec![OutputColumn::new("number", number)];
        let mut computed = Computed::default();
        let applies = condition.map(|condition| {
            let id = self.as_column(condition, "applies", &mut computed);
            output.push(OutputColumn::new("applies", id));
            Expr::column(id, &self.columns)
        });
        let op = computed.above(set.joined(rows.op));
        let mut computed = Computed::default();
        let mut touched = Vec::with_capacity(set.values.len());
        for (position, value) in set.values {
            let value = match &applies {
                Some(applies) => self.where_true(applies.clone(), value)?,
                None => value,
            };
            let label = &entry.schema.columns[position].name;
            let id = self.as_column(value, label, &mut computed);
            touched.push(position);
            new[position] = id;
            output.push(OutputColumn::new(label.as_str(), id));
        }
        let op = computed.above(op);
        let mut computed = Computed::default();
        let asked: Vec<usize> = touched.iter().copied().chain(set.generated).collect();
        let made = self.generated_values(entry, &new, Some(&asked), applies.as_ref(), &mut computed)?;
        for (position, id) in made {
            touched.push(position);
            if let Some(visible) = new.get_mut(position) {
                *visible = id;
            }
            output.push(OutputColumn::new(self.columns[id].label.as_str(), id));
        }
        let op = computed.above(op);
        let mut computed = Computed::default();
        let checks = self.checks(entry, &new, Some(&touched), applies.as_ref(), &mut computed)?;
        let update = ConflictUpdate {
            arbiters: Arbiters::default(),
            has_condition: applies.is_some(),
            set: touched,
            checks: checks.iter().map(|(name, _)| name.clone()).collect(),
        };
        output.extend(checks.into_iter().map(|(name, id)| OutputColumn::new(name, id)));
        Ok((Relation::new(computed.above(op), output), update))
    }

    /// Rows in the way, each with the new row that it stops, which is `excluded`.
    fn pairs(&mut self, entry: &TableEntry, name: &str) -> Result<Pairs> {
        let (mut old, mut new, mut given) = (Vec::new(), Vec::new(), Vec::new());
        let width = entry.stored_columns().count();
        for (at, column) in entry.schema.columns.iter().enumerate() {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            old.push(OutputColumn::new(column.name.as_str(), id));
            given.push((id, at));
        }
        for (at, column) in entry.schema.columns.iter().enumerate() {
            // NOT NULL is checked when the row's turn comes.
            let id = self.columns.add(column.name.as_str(), column.ty, true);
            self.own(id);
            new.push(id);
            given.push((id, width + at));
        }
        let number = self.columns.add_count("number");
        self.own(number);
        given.push((number, 2 * width));
        let op = Operator::Given(Given { columns: given });
        self.note_target(entry, &old);
        let mut rows = self.item(Relation::new(op, old), Some(name), None, false)?;
        rows.items = rows.items.into_iter().map(|item| item.of_table(entry)).collect();
        let excluded = Item::named("excluded", named(entry, &new));
        self.distinct_names(&rows.items, std::slice::from_ref(&excluded), Span::NONE)?;
        rows.items.push(excluded);
        Ok(Pairs { rows, number })
    }

    /// RETURNING of an INSERT with ON CONFLICT, if it has one: a query over the rows that were written.
    pub(super) fn returning_of_written(
        &mut self,
        entry: &TableEntry,
        name: &str,
        list: Option<&'a [SelectItem]>,
    ) -> Result<Option<Relation>> {
        let Some(list) = list else { return Ok(None) };
        let (mut columns, mut given) = (Vec::new(), Vec::new());
        for (position, column) in entry.schema.columns.iter().enumerate() {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            columns.push(OutputColumn::new(column.name.as_str(), id));
            given.push((id, position));
        }
        let row_id = (!self.system_columns.is_empty()).then(|| self.row_id());
        given.extend(row_id.map(|id| (id, entry.stored_columns().count())));
        self.originate(entry.oid, &entry.schema, &columns);
        self.note_target(entry, &columns);
        let op = Operator::Given(Given { columns: given });
        let mut written = self.item(Relation::new(op, columns), Some(name), None, false)?;
        if let (Some(row_id), Some(oid)) = (row_id, entry.oid) {
            self.show_columns_of(&mut written, oid, row_id);
        }
        let items = written.items.into_iter().map(|item| item.of_table(entry));
        let (op, output) = self.returning(Some(list), items.collect(), written.op)?;
        Ok(Some(Relation::new(op, output)))
    }

    /// A value where a condition is true, and NULL elsewhere, where it is not computed.
    pub(super) fn where_true(&mut self, condition: Expr, value: Expr) -> Result<Expr> {
        let branches = vec![(condition.into(), value.into())];
        let chosen = self
            .typing
            .case(None, branches, None, Span::NONE, &mut self.columns)?;
        self.typing.settle(chosen)
    }
}

/// Rows in the way with those that they stop.
struct Pairs {
    /// The table under its name, and `excluded`.
    rows: FromRows,
    /// The number of a pair.
    number: ColumnId,
}
