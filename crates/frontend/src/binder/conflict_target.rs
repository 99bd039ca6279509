//! The target of ON CONFLICT: its keys and its condition, and the unique indexes that may have them. The optimizer
//! finds out which of these match.

use super::insert::named;
use super::scope::{Clause, Item, Level};
use super::{Binder, TableEntry, error, operator_class};
use crate::parse::conflict_words::{CLASS, KEY, NOTHING, WHERE};
use frazil_catalog::IndexEntry;
use frazil_functions::Operand;
use frazil_plan::subquery::has_subquery;
use frazil_plan::{ArbiterCandidate, ColumnId, ConflictTarget, Expr};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Assignment, AssignmentTarget, Expr as SqlExpr, ObjectName};
use std::collections::BTreeSet;

/// ON CONFLICT as the assignments of its DO UPDATE say it.
#[derive(Default)]
pub(super) struct WrittenTarget<'a> {
    keys: Vec<(&'a SqlExpr, Option<ObjectName>)>,
    predicate: Option<&'a SqlExpr>,
    /// True for DO NOTHING.
    pub does_nothing: bool,
    /// The assignments that the statement has.
    pub assignments: &'a [Assignment],
}

impl<'a> WrittenTarget<'a> {
    /// Tells the target from the assignments.
    pub fn of(list: &'a [Assignment]) -> WrittenTarget<'a> {
        let mut written = WrittenTarget::default();
        for (at, Assignment { target, value }) in list.iter().enumerate() {
            let AssignmentTarget::ColumnName(ObjectName(parts)) = target else {
                return WrittenTarget {
                    assignments: &list[at..],
                    ..written
                };
            };
            match parts
                .first()
                .and_then(|part| part.as_ident())
                .map(|name| name.value.as_str())
            {
                Some(KEY) => written.keys.push((value, None)),
                Some(CLASS) => {
                    if let Some(key) = written.keys.last_mut() {
                        key.1 = Some(ObjectName(parts[1..].to_vec()));
                    }
                }
                Some(WHERE) => written.predicate = Some(value),
                Some(NOTHING) => written.does_nothing = true,
                _ => {
                    return WrittenTarget {
                        assignments: &list[at..],
                        ..written
                    };
                }
            }
        }
        written
    }

    /// True if a target is written.
    pub fn is_there(&self) -> bool {
        !self.keys.is_empty()
    }
}

impl<'a> Binder<'a> {
    /// Binds the target of a table that is seen as `name`. 42703, 42704 for an unknown operator class, 42803, 42P20,
    /// 0A000 for a subquery.
    pub(super) fn conflict_target(
        &mut self,
        entry: &TableEntry,
        name: &str,
        written: &WrittenTarget<'a>,
    ) -> Result<ConflictTarget> {
        let columns = entry.schema.columns.iter();
        let ids: Vec<ColumnId> = columns
            .map(|column| self.columns.add(column.name.as_str(), column.ty, column.nullable))
            .collect();
        let row = Item::named(name, named(entry, &ids)).of_table(entry);
        self.note_target(entry, &row.columns);
        let (mut keys, mut span, mut has_class) = (Vec::new(), Span::NONE, true);
        for (e, class) in &written.keys {
            span = span.to(self.leaf_span(e));
            let key = self.target_key(&row, e)?;
            if let Some(class) = class {
                has_class &= operator_class::takes_type(self, class, key.ty)?;
            }
            keys.push(key);
        }
        let predicate = match written.predicate {
            Some(e) => Some(self.target_predicate(&row, e)?),
            None => None,
        };
        let candidates = match has_class {
            true => self.candidates(entry, &ids, &keys)?,
            false => Vec::new(),
        };
        Ok(ConflictTarget {
            keys,
            predicate,
            candidates,
            span,
        })
    }

    fn target_key(&mut self, row: &Item, e: &'a SqlExpr) -> Result<Expr> {
        if let SqlExpr::BinaryOp { op, .. } = e {
            // An expression that is not a call needs parentheses.
            return Err(self.syntax_error(&op.to_string(), self.leaf_span(e)));
        }
        let bound = self.over_target(row, Clause::IndexExpression, e)?;
        let key = self.typing.settle(bound)?;
        match has_subquery(&key) {
            true => Err(self.has_subquery("expression", e)),
            false => Ok(key),
        }
    }

    fn target_predicate(&mut self, row: &Item, e: &'a SqlExpr) -> Result<Expr> {
        let bound = self.over_target(row, Clause::IndexPredicate, e)?;
        let predicate = self.typing.predicate(bound, "WHERE")?;
        match has_subquery(&predicate) {
            true => Err(self.has_subquery("predicate", e)),
            false => Ok(predicate),
        }
    }

    fn over_target(&mut self, row: &Item, clause: Clause, e: &'a SqlExpr) -> Result<Operand> {
        self.levels.push(Level {
            items: vec![row.clone()],
            clause,
            ..Level::default()
        });
        let bound = self.expression(e);
        self.levels.pop();
        bound
    }

    /// The error for a subquery in an expression or a predicate of an index.
    pub(super) fn has_subquery(&self, what: &str, e: &SqlExpr) -> Error {
        let message = format!("cannot use subquery in index {what}");
        error(SqlState::FEATURE_NOT_SUPPORTED, message, self.leaf_span(e))
    }

    /// The unique indexes whose keys have the columns that are among some keys over `ids`, and expressions if these
    /// keys have some.
    fn candidates(
        &mut self,
        entry: &TableEntry,
        ids: &[ColumnId],
        keys: &[Expr],
    ) -> Result<Vec<ArbiterCandidate>> {
        let wanted: BTreeSet<ColumnId> = keys.iter().filter_map(Expr::as_column).collect();
        let has_expressions = keys.iter().any(|key| key.as_column().is_none());
        let fits = |index: &IndexEntry| {
            let plain = index.keys.iter().filter_map(|key| ids.get(key.column).copied());
            let computes = index.keys.iter().any(|key| key.column >= ids.len());
            index.unique && computes == has_expressions && plain.collect::<BTreeSet<_>>() == wanted
        };
        let row = Item::named(&entry.name, named(entry, ids)).in_schema(&entry.schema_name);
        let mut candidates = Vec::new();
        for index in entry.indexes.iter().filter(|index| fits(index)) {
            let mut keys = Vec::with_capacity(index.keys.len());
            for key in &index.keys {
                keys.push(match ids.get(key.column) {
                    Some(id) => Expr::column(*id, &self.columns),
                    None => {
                        let bound = self.hidden_expression(entry, key.column, &row)?;
                        self.typing.settle(bound)?
                    }
                });
            }
            let condition = match index.condition {
                Some(position) => {
                    let bound = self.hidden_expression(entry, position, &row)?;
                    Some(self.typing.predicate(bound, "WHERE")?)
                }
                None => None,
            };
            candidates.push(ArbiterCandidate {
                index: index.id,
                keys,
                condition,
            });
        }
        Ok(candidates)
    }
}
