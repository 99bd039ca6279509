//! SELECT: its clauses in PostgreSQL's order, then the operators.

use super::distinct::OnKey;
use super::grouping::{Grouping, Groups};
use super::order_by::{By, Key, KeyColumns};
use super::query::Literals;
use super::rows::{Computed, filtered};
use super::rows_calls::RowsCalls;
use super::scope::{Clause, Level, Reference};
use super::select_list::Target;
use super::windows::Windows;
use super::{Binder, OutputColumn, Relation, error};
use frazil_functions::{CastContext, Operand, Typing};
use frazil_plan::operators::Sort;
use frazil_plan::{ColumnId, Expr, ExprKind, Operator, RowCount, SortKey};
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
        let locking = std::mem::take(&mut self.locking);
        self.refuse_locked_groups(select, &locking)?;
        self.levels.push(Level {
            locking,
            ..Level::default()
        });
        let bound = self.select_inside(select, order_by, literals);
        let level = self.levels.pop().unwrap_or_default();
        self.read = level.items;
        self.locking.tables = level.locking.tables;
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
        let having = self.having(select.having.as_ref())?;
        let keys = match order_by {
            Some(order_by) => self.in_clause(Clause::OrderBy, |b| b.order_keys(order_by, &targets))?,
            None => Vec::new(),
        };
        let in_keys = first..self.references.len();
        let groups = self.in_clause(Clause::GroupBy, |b| b.group_by(&select.group_by, &mut targets))?;
        let first = self.references.len();
        let on = match &select.distinct {
            Some(Distinct::On(list)) => {
                Some(self.in_clause(Clause::DistinctOn, |b| b.distinct_on(list, &targets))?)
            }
            _ => None,
        };
        let qualify = self.qualified(select, &targets)?;
        let in_rest = first..self.references.len();
        let keeps = matches!(literals, Literals::Keep) && select.distinct.is_none();
        let named = [in_targets, in_keys, in_rest].into_iter().flatten();
        let named: Vec<Reference> = named.map(|at| self.references[at]).collect();
        let mut clauses = Clauses {
            targets: self.settle_targets(targets, literals, keeps)?,
            keys,
            on,
            having,
            qualify,
            direct: self.direct_arguments(groups.as_ref())?,
            windows: std::mem::take(&mut self.level().windows),
            rows_calls: std::mem::take(&mut self.level().rows_calls),
        };
        let mut op = filtered(from.op, condition);
        if let Some(groups) = &groups {
            let read = clauses.rows_calls.take_read(groups.columns_read());
            op = read.above(op, &mut self.columns);
        }
        op = self.grouped(op, groups, &named, &mut clauses)?;
        let Clauses {
            mut targets,
            keys,
            on,
            qualify,
            mut windows,
            mut rows_calls,
            ..
        } = clauses;
        if !windows.is_empty() {
            let read: Vec<ColumnId> = windows.expressions_mut().flat_map(|e| e.columns_read()).collect();
            let read = rows_calls.take_read(read.into_iter());
            op = read.above(op, &mut self.columns);
            op = self.windowed(op, windows);
        }
        op = filtered(op, qualify);
        let distinct = Distinctness::of(select, on);
        let (op, keys, distinct) = self.rows_in_order(op, rows_calls, &mut targets, (keys, distinct))?;
        self.project(op, targets, keys, distinct)
    }

    /// The groups of the rows that pass HAVING, and what stands for them in the clauses; the rows as they are if
    /// nothing groups them.
    /// `named`: what is named in the clauses that groups are asked for.
    fn grouped(
        &mut self,
        op: Operator,
        groups: Option<Groups<'a>>,
        named: &[Reference],
        clauses: &mut Clauses<'a>,
    ) -> Result<Operator> {
        let gives_rows = clauses.rows_calls.columns().next().is_some();
        self.refuse_locked_calls(!clauses.windows.is_empty(), gives_rows)?;
        let aggregates = self.level().aggregates.take();
        let groupings = std::mem::take(&mut self.level().groupings);
        if groups.is_none() && clauses.having.is_none() && aggregates.is_empty() && groupings.is_empty() {
            return Ok(op);
        }
        let mut grouping = Grouping::new(self, groups.unwrap_or_default());
        let made: Vec<ColumnId> = (aggregates.iter().map(|a| a.0))
            .chain(clauses.windows.columns())
            .chain(clauses.rows_calls.columns())
            .chain(groupings.iter().map(|g| g.id))
            .collect();
        let parts = clauses.expressions_mut();
        let read = parts.iter().flat_map(|e| e.columns_read());
        let read = read.chain(named.iter().map(|r| r.id)).collect();
        grouping.add_dependents(self, &read);
        grouping.replace(self, parts.into_iter(), named.iter().copied(), &made)?;
        grouping.put_items(self, &mut clauses.targets);
        Ok(filtered(
            grouping.above(op, aggregates, groupings)?,
            clauses.having.take(),
        ))
    }

    fn having(&mut self, condition: Option<&'a SqlExpr>) -> Result<Option<Expr>> {
        let Some(condition) = condition else {
            return Ok(None);
        };
        let bound = self.in_clause(Clause::Having, |b| b.expression(condition))?;
        self.typing.predicate(bound, "HAVING").map(Some)
    }

    /// The rows of functions in the select list. If neither the order nor DISTINCT ON reads what they give, both are
    /// those of the rows for which they give it, and no key is left: what a function gives stays in its own order.
    /// DISTINCT, and DISTINCT ON without an order, are asked of the functions' rows.
    fn rows_in_order(
        &mut self,
        op: Operator,
        calls: RowsCalls,
        targets: &mut [Target<'a>],
        (keys, distinct): (Vec<Key<'a>>, Distinctness<'a>),
    ) -> Result<(Operator, Vec<Key<'a>>, Distinctness<'a>)> {
        let made: Vec<ColumnId> = calls.columns().collect();
        let is_below = |by: &By<'a>| {
            let e = match by {
                By::Expression(e, _) => e,
                By::Target(at) => match &targets[*at].value {
                    Operand::Typed(e) => e,
                    Operand::Unknown(_) => return false,
                },
            };
            !e.columns_read().iter().any(|id| made.contains(id))
        };
        let on: &[OnKey<'a>] = match &distinct {
            Distinctness::On(on) => on,
            Distinctness::No | Distinctness::Rows => &[],
        };
        let mut all = keys.iter().map(|k| &k.by).chain(on.iter().map(|k| &k.by));
        let is_apart = !made.is_empty() && !keys.is_empty() && all.all(is_below);
        if !is_apart || matches!(distinct, Distinctness::Rows) {
            return Ok((calls.above(op, &mut self.columns), keys, distinct));
        }
        let (mut computed, mut known) = (Computed::default(), KeyColumns::default());
        let mut sorted = Vec::with_capacity(keys.len());
        for key in &keys {
            sorted.push(key.on(self.column_below(&key.by, targets, &mut known, &mut computed)));
        }
        let mut groups = Vec::with_capacity(on.len());
        for key in on {
            let id = self.column_below(&key.by, targets, &mut known, &mut computed);
            if !groups.contains(&id) {
                groups.push(id);
            }
        }
        let span = on.first().map(|key| key.span);
        let rows = Relation::new(computed.above(op), Vec::new());
        let rows = match span {
            Some(span) => super::distinct::first_of_each(rows, groups, sorted, span)?,
            None => ordered(rows, sorted),
        };
        Ok((
            calls.above(rows.op, &mut self.columns),
            Vec::new(),
            Distinctness::No,
        ))
    }

    /// The column that a key reads below the rows of functions. An item of the select list is that column from here on:
    /// it is computed once, and a subquery in it has columns of its own.
    fn column_below(
        &mut self,
        by: &By<'a>,
        targets: &mut [Target<'a>],
        known: &mut KeyColumns<'a>,
        computed: &mut Computed,
    ) -> ColumnId {
        if let By::Target(at) = by
            && let Operand::Typed(e) = &targets[*at].value
        {
            let span = e.span;
            let id = self.as_column(e.clone(), "sort key", computed);
            targets[*at].value = Expr::column(id, &self.columns).at(span).into();
            return id;
        }
        self.key_column(by, &[], known, computed)
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
        let late = self.items_above_the_order(&targets, &keys, &distinct);
        let (mut computed, mut above) = (Computed::default(), Computed::default());
        let mut columns = Vec::with_capacity(targets.len());
        for (at, Target { name, value, .. }) in targets.into_iter().enumerate() {
            let span = value.span();
            let (id, open) = match value {
                Operand::Typed(e) => {
                    let computed = if late.contains(&at) {
                        &mut above
                    } else {
                        &mut computed
                    };
                    (self.as_column(e, &name, computed), None)
                }
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
        let rows = match distinct {
            Distinctness::No => ordered(Relation::new(computed.above(op), columns), sorted),
            Distinctness::Rows => {
                self.distinct_sorted(Relation::new(computed.above(op), columns), sorted, &spans)?
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
                super::distinct::first_of_each(relation, groups, sorted, first)?
            }
        };
        Ok(Relation::new(above.above(rows.op), rows.columns))
    }

    /// The items of the select list that are computed above ORDER BY, and so for no more rows than LIMIT takes: they
    /// call a volatile function outside of subqueries, and neither ORDER BY nor DISTINCT names them. Rows to be locked
    /// are computed below.
    fn items_above_the_order(
        &mut self,
        targets: &[Target<'a>],
        keys: &[Key<'a>],
        distinct: &Distinctness<'a>,
    ) -> Vec<usize> {
        let on: &[OnKey<'a>] = match distinct {
            Distinctness::No => &[],
            Distinctness::On(on) => on,
            Distinctness::Rows => return Vec::new(),
        };
        if keys.is_empty() || !self.level().locking.clauses.is_empty() {
            return Vec::new();
        }
        let is_named = |at: usize| {
            let mut named = keys.iter().map(|key| &key.by).chain(on.iter().map(|key| &key.by));
            named.any(|by| matches!(by, By::Target(named) if *named == at))
        };
        let is_volatile = |target: &Target<'a>| match &target.value {
            Operand::Typed(e) => calls_volatile(e),
            Operand::Unknown(_) => false,
        };
        let items = targets.iter().enumerate();
        let late = items.filter(|(at, target)| is_volatile(target) && !is_named(*at));
        late.map(|(at, _)| at).collect()
    }
}

/// What a query computes of its rows, above those that WHERE leaves.
struct Clauses<'a> {
    targets: Vec<Target<'a>>,
    /// ORDER BY.
    keys: Vec<Key<'a>>,
    /// DISTINCT ON.
    on: Option<Vec<OnKey<'a>>>,
    having: Option<Expr>,
    qualify: Option<Expr>,
    /// Direct arguments of aggregates.
    direct: Vec<Expr>,
    windows: Windows,
    rows_calls: RowsCalls,
}

impl Clauses<'_> {
    /// All expressions over the groups, if there are groups.
    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        let keys = self.keys.iter_mut().map(|key| &mut key.by);
        let on = self.on.iter_mut().flatten().map(|key| &mut key.by);
        let targets = self.targets.iter_mut();
        (targets.filter_map(|target| target.value.expression_mut()))
            .chain(keys.chain(on).filter_map(By::expression_mut))
            .chain(&mut self.having)
            .chain(&mut self.qualify)
            .chain(&mut self.direct)
            .chain(self.windows.expressions_mut())
            .chain(self.rows_calls.expressions_mut())
            .collect()
    }
}

/// What DISTINCT asks.
enum Distinctness<'a> {
    No,
    Rows,
    On(Vec<OnKey<'a>>),
}

impl<'a> Distinctness<'a> {
    fn of(select: &Select, on: Option<Vec<OnKey<'a>>>) -> Distinctness<'a> {
        match (&select.distinct, on) {
            (_, Some(on)) => Distinctness::On(on),
            (Some(Distinct::Distinct), None) => Distinctness::Rows,
            _ => Distinctness::No,
        }
    }
}

/// True if an expression calls a volatile function outside of its subqueries.
pub(super) fn calls_volatile(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |part| {
        found |= matches!(&part.kind, ExprKind::VectorFunction(function, _) if function.0.is_volatile());
    });
    found
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
