//! ON CONFLICT: the unique indexes that decide, and what becomes of the row that is in the way.
//!
//! DO UPDATE joins the rows with those of the table that have their keys, each with at most one. What SET and WHERE
//! say is computed only where a row is in the way; so is what RETURNING sees, which is the new row where none is.

use super::from::FromRows;
use super::insert::{Row, column_position, named};
use super::join::Joined;
use super::rows::Computed;
use super::scope::Item;
use super::target::TargetRows;
use super::{Binder, error, fold};
use crate::TableEntry;
use frazil_catalog::IndexEntry;
use frazil_functions::Operand;
use frazil_plan::{ColumnId, ConflictUpdate, Expr, JoinKind, Operator, PlanConflict};
use frazil_types::{Error, ObjectId, Result, Span, SqlState};
use sqlparser::ast::{ConflictTarget, DoUpdate, Ident, ObjectName, OnConflict, OnConflictAction};
use std::collections::BTreeSet;
use std::sync::Arc;

impl<'a> Binder<'a> {
    /// Binds ON CONFLICT of rows to be inserted into a table that is seen as `name`. Returns the rows as RETURNING sees
    /// them.
    pub(super) fn on_conflict(
        &mut self,
        entry: &TableEntry,
        name: &str,
        row: Row,
        on: &'a OnConflict,
    ) -> Result<(Row, PlanConflict)> {
        let arbiters = match &on.conflict_target {
            Some(ConflictTarget::Columns(columns)) => self.arbiters(entry, columns)?,
            Some(ConflictTarget::OnConstraint(name)) => vec![self.constraint_index(entry, name)?],
            None => Vec::new(),
        };
        match &on.action {
            OnConflictAction::DoNothing => {
                let arbiters = arbiters.iter().map(|index| index.id).collect();
                Ok((row, PlanConflict::Skip { arbiters }))
            }
            OnConflictAction::DoUpdate(update) => {
                let [index, ..] = &arbiters[..] else {
                    let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
                    return Err(Error::new(SqlState::SYNTAX_ERROR, message)
                        .with_hint("for example, ON CONFLICT (column_name)"));
                };
                let index = index.clone();
                let arbiters = arbiters.iter().map(|index| index.id).collect();
                self.do_update(entry, name, row, (index, arbiters), update)
            }
        }
    }

    /// The unique indexes over exactly these columns, in any order. 42703, 42P10.
    fn arbiters(&self, entry: &TableEntry, names: &[Ident]) -> Result<Vec<Arc<IndexEntry>>> {
        let mut wanted = BTreeSet::new();
        for name in names {
            let span = self.span(name);
            wanted.insert(column_position(entry, &fold(name)).map_err(|e| e.at_span(span))?);
        }
        let fits = |index: &&Arc<IndexEntry>| {
            index.unique && index.keys.iter().map(|k| k.column).collect::<BTreeSet<_>>() == wanted
        };
        let found: Vec<Arc<IndexEntry>> = entry.indexes.iter().filter(fits).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let span = names
            .iter()
            .fold(Span::NONE, |span, name| span.to(self.span(name)));
        let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
        Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span))
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

    fn do_update(
        &mut self,
        entry: &TableEntry,
        name: &str,
        row: Row,
        (index, arbiters): (Arc<IndexEntry>, Vec<ObjectId>),
        update: &'a DoUpdate,
    ) -> Result<(Row, PlanConflict)> {
        let TargetRows { rows: target, row_id } = self.target_rows(entry, name, None)?;
        let old: Vec<ColumnId> = target.items[0].columns.iter().map(|c| c.id).collect();
        let excluded = Item::named("excluded", named(entry, &row.columns));
        self.distinct_names(&target.items, std::slice::from_ref(&excluded), Span::NONE)?;
        let given = FromRows {
            op: row.op,
            items: vec![excluded],
            is_lateral: false,
        };
        let mut joined = Joined::plain(JoinKind::ProbeOuter);
        joined.condition = self.same_key(&index, &old, &row.columns)?;
        let mut rows = self.combine(given, target, joined, Span::NONE)?;
        self.columns[row_id].nullable = true;
        // The target's names come first, as those of an UPDATE.
        rows.items.reverse();
        self.level().items = rows.items;

        let set = self.assignments(entry, &update.assignments)?;
        let condition = self.where_condition(update.selection.as_ref())?;
        self.level().items.clear();
        let op = set.joined(rows.op);
        let found = self.is_there(row_id)?;
        let mut computed = Computed::default();
        let applies = match condition {
            Some(condition) => {
                let condition = self.where_true(found.clone(), condition)?;
                Some(self.as_column(condition, "applies", &mut computed))
            }
            None => None,
        };
        let changes = match applies {
            Some(id) => Expr::column(id, &self.columns),
            None => found,
        };
        let op = computed.above(op);
        let mut computed = Computed::default();
        let mut changed = Vec::with_capacity(set.values.len());
        let mut new = old;
        for (position, value) in set.values {
            let value = self.where_true(changes.clone(), value)?;
            let label = &entry.schema.columns[position].name;
            let id = self.as_column(value, label, &mut computed);
            changed.push((position, id));
            new[position] = id;
        }
        let op = computed.above(op);
        let mut computed = Computed::default();
        let touched: Vec<usize> = changed.iter().map(|c| c.0).collect();
        let checks = self.checks(entry, &new, Some(&touched), Some(&changes), &mut computed)?;
        let op = computed.above(op);
        let (op, columns) = self.either(op, row_id, &row.columns, &new)?;
        let update = ConflictUpdate {
            arbiters,
            row_id,
            applies,
            set: changed,
            checks,
        };
        Ok((Row { op, columns }, PlanConflict::Update(update)))
    }

    /// The condition that a row of the table has the key of a new one.
    fn same_key(&mut self, index: &IndexEntry, old: &[ColumnId], new: &[ColumnId]) -> Result<Option<Expr>> {
        let operator = match index.nulls_distinct {
            true => "=",
            false => crate::parse::IS_NOT_DISTINCT_FROM,
        };
        let mut equal = Vec::with_capacity(index.keys.len());
        for key in &index.keys {
            let [l, r] = [old, new].map(|row| Operand::from(Expr::column(row[key.column], &self.columns)));
            let both = self.typing.infix(operator, l, r, Span::NONE, &mut self.columns)?;
            equal.push(self.typing.predicate(both, "ON CONFLICT")?);
        }
        Ok(Expr::conjunction(equal))
    }

    /// Whether a row of the table is in the way.
    fn is_there(&mut self, row_id: ColumnId) -> Result<Expr> {
        let id = Expr::column(row_id, &self.columns);
        let is_null = self.typing.is_null(id.into(), Span::NONE)?;
        let there = self.typing.not(is_null, Span::NONE)?;
        self.typing.settle(there)
    }

    /// A value where a condition is true, and NULL elsewhere, where it is not computed.
    pub(super) fn where_true(&mut self, condition: Expr, value: Expr) -> Result<Expr> {
        let branches = vec![(condition.into(), value.into())];
        let chosen = self
            .typing
            .case(None, branches, None, Span::NONE, &mut self.columns)?;
        self.typing.settle(chosen)
    }

    /// The rows as they will be: the new one where none is in the way, else the changed one.
    fn either(
        &mut self,
        op: Operator,
        row_id: ColumnId,
        new: &[ColumnId],
        changed: &[ColumnId],
    ) -> Result<(Operator, Vec<ColumnId>)> {
        let there = self.is_there(row_id)?;
        let mut computed = Computed::default();
        let mut columns = Vec::with_capacity(new.len());
        for (new, changed) in new.iter().zip(changed) {
            let label = self.columns[*new].label.clone();
            let [new, changed] = [new, changed].map(|id| Operand::from(Expr::column(*id, &self.columns)));
            let branches = vec![(there.clone().into(), changed)];
            let value = self
                .typing
                .case(None, branches, Some(new), Span::NONE, &mut self.columns)?;
            let value = self.typing.settle(value)?;
            columns.push(self.as_column(value, &label, &mut computed));
        }
        Ok((computed.above(op), columns))
    }
}
