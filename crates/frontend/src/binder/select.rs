//! SELECT: its clauses in PostgreSQL's order, then the operators.

use super::grouping::Grouping;
use super::order_by::{By, Key, KeyColumns};
use super::query::Literals;
use super::rows::{Computed, filtered};
use super::rows_calls::RowsCalls;
use super::scope::{Clause, Level, Reference};
use super::select_list::Target;
use super::{Binder, OutputColumn, Relation, error};
use frazil_functions::{CastContext, Operand, Typing};
use frazil_plan::operators::Sort;
use frazil_plan::{ColumnId, Expr, Operator, RowCount, SortKey};
use frazil_types::{Result, Span, SqlState};
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
        if select.projection.is_empty()
            && matches!(select.distinct, Some(Distinct::Distinct | Distinct::On(_)))
        {
            let span = self.place.span(select.select_token.0.span);
            return Err(error(
                SqlState::SYNTAX_ERROR,
                "SELECT DISTINCT without a select list",
                span,
            ));
        }
        self.levels.push(Level::default());
        let bound = self.select_inside(select, order_by, literals);
        let level = self.levels.pop();
        self.read = level.map_or(Vec::new(), |level| level.items);
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
        let first = self.references.len();
        self.named_windows(&select.named_window)?;
        let mut targets = self.in_clause(Clause::SelectList, |b| b.select_list(&select.projection))?;
        let in_targets = first..self.references.len();
        let condition = self.where_condition(select.selection.as_ref())?;
        let first = self.references.len();
        let mut having = self.having(select.having.as_ref())?;
        let mut keys = match order_by {
            Some(order_by) => self.in_clause(Clause::OrderBy, |b| b.order_keys(order_by, &targets))?,
            None => Vec::new(),
        };
        let in_keys = first..self.references.len();
        let groups = self.in_clause(Clause::GroupBy, |b| b.group_by(&select.group_by, &mut targets))?;
        let first = self.references.len();
        let mut on = match &select.distinct {
            Some(Distinct::On(list)) => {
                Some(self.in_clause(Clause::DistinctOn, |b| b.distinct_on(list, &targets))?)
            }
            _ => None,
        };
        let mut qualify = self.qualified(select, &targets)?;
        let in_rest = first..self.references.len();
        let keeps = matches!(literals, Literals::Keep) && select.distinct.is_none();
        let mut targets = self.settle_targets(targets, literals, keeps)?;
        let mut op = filtered(from.op, condition);
        let mut direct = self.direct_arguments(groups.as_ref())?;
        let aggregates = self.level().aggregates.take();
        let groupings = std::mem::take(&mut self.level().groupings);
        let mut windows = std::mem::take(&mut self.level().windows);
        let mut rows_calls = std::mem::take(&mut self.level().rows_calls);
        if let Some(groups) = &groups {
            let read = rows_calls.take_read(groups.columns_read());
            op = read.above(op, &mut self.columns);
        }
        if groups.is_some() || having.is_some() || !aggregates.is_empty() || !groupings.is_empty() {
            let grouping = Grouping::new(self, groups.unwrap_or_default());
            let made: Vec<ColumnId> = (aggregates.iter().map(|a| a.0))
                .chain(windows.columns())
                .chain(rows_calls.columns())
                .chain(groupings.iter().map(|g| g.id))
                .collect();
            let read = targets
                .iter_mut()
                .filter_map(|target| target.value.expression_mut())
                .chain(keys.iter_mut().filter_map(|key| key.by.expression_mut()))
                .chain(on.iter_mut().flatten().filter_map(|key| key.by.expression_mut()))
                .chain(&mut having)
                .chain(&mut qualify)
                .chain(&mut direct)
                .chain(windows.expressions_mut())
                .chain(rows_calls.expressions_mut());
            let named = [in_targets, in_keys, in_rest].into_iter().flatten();
            let named: Vec<Reference> = named.map(|at| self.references[at]).collect();
            grouping.replace(self, read, named.into_iter(), &made)?;
            op = filtered(grouping.above(op, aggregates, groupings)?, having);
        }
        if !windows.is_empty() {
            let read: Vec<ColumnId> = windows.expressions_mut().flat_map(|e| e.columns_read()).collect();
            let read = rows_calls.take_read(read.into_iter());
            op = read.above(op, &mut self.columns);
            op = self.windowed(op, windows);
        }
        op = filtered(op, qualify);
        let distinct = Distinctness::of(select, on);
        let (op, keys) = match distinct {
            Distinctness::No => self.rows_in_order(op, rows_calls, &mut targets, keys),
            Distinctness::Rows | Distinctness::On(_) => (rows_calls.above(op, &mut self.columns), keys),
        };
        self.project(op, targets, keys, distinct)
    }

    fn having(&mut self, condition: Option<&'a SqlExpr>) -> Result<Option<Expr>> {
        let Some(condition) = condition else {
            return Ok(None);
        };
        let bound = self.in_clause(Clause::Having, |b| b.expression(condition))?;
        self.typing.predicate(bound, "HAVING").map(Some)
    }

    /// The rows of functions in the select list. Where the order does not read what they give, it is that of the rows for
    /// which they give it, and no key is left: what a function gives stays in its own order.
    fn rows_in_order(
        &mut self,
        op: Operator,
        calls: RowsCalls,
        targets: &mut [Target<'a>],
        keys: Vec<Key<'a>>,
    ) -> (Operator, Vec<Key<'a>>) {
        let made: Vec<ColumnId> = calls.columns().collect();
        let expression = |key: &Key<'a>, targets: &[Target<'a>]| match &key.by {
            By::Expression(e, _) => Some(e.clone()),
            By::Target(at) => match &targets[*at].value {
                Operand::Typed(e) => Some(e.clone()),
                Operand::Unknown(_) => None,
            },
        };
        let apart = |e: &Expr| !e.columns_read().iter().any(|id| made.contains(id));
        let is_below = |key: &Key<'a>| expression(key, targets).as_ref().is_some_and(apart);
        if made.is_empty() || keys.is_empty() || !keys.iter().all(is_below) {
            return (calls.above(op, &mut self.columns), keys);
        }
        let mut computed = Computed::default();
        let mut sorted = Vec::with_capacity(keys.len());
        for key in &keys {
            let Some(e) = expression(key, targets) else {
                continue;
            };
            let span = e.span;
            let id = self.as_column(e, "sort key", &mut computed);
            if let By::Target(at) = key.by {
                // It is computed once: a subquery in it has columns of its own.
                targets[at].value = Expr::column(id, &self.columns).at(span).into();
            }
            sorted.push(key.on(id));
        }
        let rows = Relation::new(computed.above(op), Vec::new());
        (
            calls.above(ordered(rows, sorted).op, &mut self.columns),
            Vec::new(),
        )
    }

    /// The condition of QUALIFY, in which names of the select list mean its items.
    fn qualified(&mut self, select: &'a Select, targets: &[Target<'a>]) -> Result<Option<Expr>> {
        let Some(condition) = &select.qualify else {
            return Ok(None);
        };
        let aliases = targets.iter().map(|t| (t.name.clone(), t.value.clone()));
        self.level().aliases = aliases.collect();
        let bound = self.in_clause(Clause::Qualify, |b| b.expression(condition));
        self.level().aliases.clear();
        self.typing.predicate(bound?, "QUALIFY").map(Some)
    }

    /// Types what is still open in the select list, but for literals that the query's reader is to type.
    fn settle_targets(
        &mut self,
        targets: Vec<Target<'a>>,
        literals: Literals,
        keeps: bool,
    ) -> Result<Vec<Target<'a>>> {
        let mut settled = Vec::with_capacity(targets.len());
        for (i, target) in targets.into_iter().enumerate() {
            let value = match (target.value, literals) {
                (open @ Operand::Unknown(_), Literals::Keep) if keeps => open,
                (open @ Operand::Unknown(_), Literals::Targets(types)) if i < types.len() => {
                    let span = open.span();
                    let cast = self.typing.cast(open, types[i], CastContext::Assignment, span)?;
                    Operand::Typed(cast)
                }
                (value, _) => Operand::Typed(self.typing.settle(value)?),
            };
            settled.push(Target { value, ..target });
        }
        Ok(settled)
    }

    /// The select list above the rows, then DISTINCT and the order.
    fn project(
        &mut self,
        op: Operator,
        targets: Vec<Target<'a>>,
        keys: Vec<Key<'a>>,
        distinct: Distinctness<'a>,
    ) -> Result<Relation> {
        // The queries that this one nests are bound now: each has as many columns as they have together.
        self.nesting.limits.cancel.check()?;
        let mut computed = Computed::default();
        let mut columns = Vec::with_capacity(targets.len());
        for Target { name, value, .. } in targets {
            let span = value.span();
            let (id, open) = match value {
                Operand::Typed(e) => (self.as_column(e, &name, &mut computed), None),
                Operand::Unknown(open) => {
                    let id = self.columns.add(name.clone(), Typing::OPEN, true);
                    (id, Some(open))
                }
            };
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

impl<'a> Distinctness<'a> {
    fn of(select: &Select, on: Option<Vec<super::distinct::OnKey<'a>>>) -> Distinctness<'a> {
        match (&select.distinct, on) {
            (_, Some(on)) => Distinctness::On(on),
            (Some(Distinct::Distinct), None) => Distinctness::Rows,
            _ => Distinctness::No,
        }
    }
}

/// The keys by which rows were ordered last.
pub(super) fn order_of(op: &Operator) -> &[SortKey] {
    match op {
        Operator::Sort(sort) => &sort.keys,
        _ => &[],
    }
}

/// Rows in an order, if there is one.
pub(super) fn ordered(relation: Relation, keys: Vec<SortKey>) -> Relation {
    if keys.is_empty() {
        return relation;
    }
    let op = Operator::Sort(Sort {
        input: Box::new(relation.op),
        keys,
        limit: None,
        offset: RowCount::Constant(0),
    });
    Relation::new(op, relation.columns)
}
