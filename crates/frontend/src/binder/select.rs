//! SELECT: its clauses in PostgreSQL's order, then the operators.

use super::grouping::Grouping;
use super::order_by::{Key, KeyColumns};
use super::query::Literals;
use super::rows::{Computed, filtered};
use super::scope::{Clause, Level};
use super::select_list::Target;
use super::{Binder, OutputColumn, Relation};
use frazil_functions::{CastContext, Operand};
use frazil_plan::{Expr, Operator, RowCount, SortKey};
use frazil_types::{Result, Span};
use sqlparser::ast::{Distinct, Expr as SqlExpr, OrderBy, Select};

impl<'a> Binder<'a> {
    /// Binds SELECT with its ORDER BY.
    pub(super) fn select(
        &mut self,
        select: &'a Select,
        order_by: Option<&'a OrderBy>,
        literals: Literals,
    ) -> Result<Relation> {
        super::refuse::select(select)?;
        self.levels.push(Level::default());
        let bound = self.select_inside(select, order_by, literals);
        self.levels.pop();
        bound
    }

    fn select_inside(
        &mut self,
        select: &'a Select,
        order_by: Option<&'a OrderBy>,
        literals: Literals,
    ) -> Result<Relation> {
        let from = self.from(&select.from)?;
        let level = self.level();
        level.items = from.items;
        let mut targets = self.in_clause(Clause::SelectList, |b| b.select_list(&select.projection))?;
        let condition = self.condition(select.selection.as_ref(), Clause::Where, "WHERE")?;
        let having = self.condition(select.having.as_ref(), Clause::Having, "HAVING")?;
        let mut keys = match order_by {
            Some(order_by) => self.in_clause(Clause::OrderBy, |b| b.order_keys(order_by, &targets))?,
            None => Vec::new(),
        };
        let groups = self.in_clause(Clause::GroupBy, |b| b.group_by(&select.group_by, &mut targets))?;
        let mut on = match &select.distinct {
            Some(Distinct::On(list)) => {
                Some(self.in_clause(Clause::DistinctOn, |b| b.distinct_on(list, &targets))?)
            }
            _ => None,
        };
        let keeps = matches!(literals, Literals::Keep) && select.distinct.is_none();
        let mut values = self.settle_targets(&targets, literals, keeps)?;
        let mut op = filtered(from.op, condition);
        let aggregates = self.level().aggregates.take();
        if groups.is_some() || having.is_some() || !aggregates.is_empty() {
            let grouping = Grouping::new(self, groups.unwrap_or_default());
            let mut having = having;
            let read = values
                .iter_mut()
                .flatten()
                .chain(keys.iter_mut().filter_map(|key| key.by.expression_mut()))
                .chain(on.iter_mut().flatten().filter_map(|key| key.by.expression_mut()));
            grouping.replace(self, read.chain(&mut having), &aggregates)?;
            op = filtered(grouping.above(op, aggregates), having);
        }
        let distinct = match (&select.distinct, on) {
            (_, Some(on)) => Distinctness::On(on),
            (Some(Distinct::Distinct), None) => Distinctness::Rows,
            _ => Distinctness::No,
        };
        self.project(op, targets, values, keys, distinct)
    }

    fn condition(
        &mut self,
        condition: Option<&'a SqlExpr>,
        clause: Clause,
        place: &str,
    ) -> Result<Option<Expr>> {
        let Some(condition) = condition else {
            return Ok(None);
        };
        let bound = self.in_clause(clause, |b| b.expression(condition))?;
        self.typing.predicate(bound, place).map(Some)
    }

    /// Types what is still open in the select list; `None` for what stays so.
    fn settle_targets(
        &mut self,
        targets: &[Target<'a>],
        literals: Literals,
        keeps: bool,
    ) -> Result<Vec<Option<Expr>>> {
        let mut values = Vec::with_capacity(targets.len());
        for (i, target) in targets.iter().enumerate() {
            let value = target.value.clone();
            values.push(match (&value, literals) {
                (Operand::Unknown(_), Literals::Keep) if keeps => None,
                (Operand::Unknown(_), Literals::Targets(types)) if i < types.len() => {
                    let span = value.span();
                    Some(self.typing.cast(value, types[i], CastContext::Assignment, span)?)
                }
                _ => Some(self.typing.settle(value)?),
            });
        }
        Ok(values)
    }

    /// The select list above the rows, then DISTINCT and the order.
    fn project(
        &mut self,
        op: Operator,
        targets: Vec<Target<'a>>,
        values: Vec<Option<Expr>>,
        keys: Vec<Key<'a>>,
        distinct: Distinctness<'a>,
    ) -> Result<Relation> {
        let mut computed = Computed::default();
        let mut columns = Vec::with_capacity(targets.len());
        for (target, value) in targets.iter().zip(values) {
            let (id, open) = match (value, &target.value) {
                (Some(e), _) => (self.as_column(e, &target.name, &mut computed), None),
                (None, Operand::Unknown(open)) => {
                    let id = self
                        .columns
                        .add(target.name.clone(), frazil_types::LogicalType::Text, true);
                    (id, Some(open.clone()))
                }
                (None, Operand::Typed(e)) => (self.as_column(e.clone(), &target.name, &mut computed), None),
            };
            let name = target.name.clone();
            let span = target.value.span();
            columns.push(OutputColumn { name, id, open, span });
        }
        let mut known = KeyColumns::default();
        let mut sorted = Vec::with_capacity(keys.len());
        let mut spans = Vec::with_capacity(keys.len());
        for key in &keys {
            spans.push(key.span);
            sorted.push(key.on(self.key_column(&key.by, &columns, &mut known, &mut computed)));
        }
        match distinct {
            Distinctness::No => Ok(ordered(Relation::new(computed.above(op), columns), sorted)),
            Distinctness::Rows => {
                self.distinct_sorted(Relation::new(computed.above(op), columns), sorted, &spans)
            }
            Distinctness::On(on) => {
                let first = on.first().map_or(Span::NONE, |key| key.span);
                let mut groups = Vec::with_capacity(on.len());
                for key in &on {
                    let id = self.key_column(&key.by, &columns, &mut known, &mut computed);
                    if !groups.contains(&id) {
                        groups.push(id);
                    }
                }
                let relation = Relation::new(computed.above(op), columns);
                super::distinct::first_of_each(relation, groups, sorted, first)
            }
        }
    }
}

/// What DISTINCT asks.
enum Distinctness<'a> {
    No,
    Rows,
    On(Vec<super::distinct::OnKey<'a>>),
}

/// Rows in an order, if there is one.
pub(super) fn ordered(relation: Relation, keys: Vec<SortKey>) -> Relation {
    if keys.is_empty() {
        return relation;
    }
    let op = Operator::Sort {
        input: Box::new(relation.op),
        keys,
        limit: None,
        offset: RowCount::Constant(0),
    };
    Relation::new(op, relation.columns)
}
