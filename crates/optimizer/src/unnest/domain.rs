//! The general case (Neumann and Kemper, Unnesting Arbitrary Queries): a tree that depends on outer columns is computed
//! for the *domain*, the distinct values of those columns among the outer rows. The domain is pushed down the tree
//! until nothing below depends on it, and is joined there; everything above carries its columns along.
//!
//! With guards the domain holds only the values of outer rows that pass them. What may fail and does not depend on the
//! domain stands behind a [`gate`](super::gate): for an empty domain nothing that may fail is computed.

use super::cheap::is_cheap;
use super::gate::{Closed, GatedShared};
use super::parts::Parts;
use super::site::Outer;
use super::{Unnesting, numbers};
use crate::grouping_branches;
use crate::pushdown::take;
use crate::rename::{Names, copied, rename_in, renamed};
use crate::volatile::is_volatile;
use frazil_plan::operators::{
    Aggregate, Expand, Filter, Join, Limit, Map, RecursionId, Shared, TopPerGroup, UnionAll, Values, Window,
};
use frazil_plan::{ColumnId, Columns, Expr, JoinKind, Operator, RowCount, SharedId, free_columns};
use frazil_types::{CompareOp, Error, Result};
use std::collections::BTreeSet;

/// The distinct values of outer columns.
pub struct Domain {
    /// The outer columns.
    pub of: Vec<ColumnId>,
    /// Those that tell its rows apart: all, or the [number](super::numbers) of each row.
    pub keys: Vec<ColumnId>,
    /// How each reading of it comes to its rows.
    source: Source,
    /// How often it is read.
    readings: usize,
    /// Shared subplans behind gates of it.
    pub gated: Vec<GatedShared>,
    /// True if it has the outer rows rather than their different values: what calls a volatile function is computed for each.
    is_of_rows: bool,
    /// Recursions whose turn is being computed for it: the rows of the turn before have its columns, from this position on.
    pub turns: Vec<(RecursionId, usize)>,
}

enum Source {
    /// A shared subplan with one column for each outer one.
    Shared(SharedId, Vec<ColumnId>),
    /// A tree that depends on columns still further out: each reading is a copy.
    Copies(Box<Operator>, Vec<ColumnId>),
}

/// A tree computed for each row of a domain, and the columns in it that stand for the outer ones.
pub struct Dependent {
    /// The tree.
    pub op: Operator,
    /// The domain's column by the outer one.
    pub names: Names,
}

impl Domain {
    /// A domain without columns, whose row is that of a shared subplan, if that has one.
    pub fn of_a_row(id: SharedId) -> Domain {
        Domain {
            of: vec![],
            keys: vec![],
            source: Source::Shared(id, vec![]),
            readings: 0,
            gated: vec![],
            is_of_rows: false,
            turns: vec![],
        }
    }

    /// Whether a column of the outer rows is read. Without one the domain has one row, or none.
    pub fn has_columns(&self) -> bool {
        !self.of.is_empty()
    }

    /// Whether it is one subplan, which depends on nothing further out.
    pub fn is_shared(&self) -> bool {
        matches!(self.source, Source::Shared(..))
    }
}

impl Unnesting<'_> {
    /// The domain of the columns that `inner` takes from `outer`, of rows that pass the guards. `outer` may be shared
    /// from here on.
    pub fn domain(&mut self, outer: &mut Outer, inner: &Operator) -> Domain {
        let visible = outer.op.visible();
        let free = free_columns(inner);
        let of: Vec<ColumnId> = visible.into_iter().filter(|c| free.contains(c)).collect();
        if !of.is_empty() && is_volatile(inner) && free_columns(outer.op).is_empty() {
            return self.domain_of_rows(outer, of);
        }
        let read = outer.guards.iter().flat_map(Expr::columns_read);
        let wanted = read.chain(of.iter().copied()).collect();
        let (rows, names) = self.second_reading(outer, Some(&wanted));
        let guards = outer.guards.iter().map(|g| renamed(g.clone(), &names));
        let rows = super::filtered(rows, guards.collect());
        let mut groups = Vec::new();
        for id in &of {
            let e = renamed(Expr::column(*id, self.columns), &names);
            let label = self.columns[*id].label.clone();
            groups.push((self.columns.add(label, e.ty, e.nullable), e));
        }
        let ids: Vec<ColumnId> = groups.iter().map(|g| g.0).collect();
        let input = Box::new(rows);
        let tree = match groups.is_empty() {
            true => Operator::Limit(Limit {
                input,
                limit: Some(RowCount::Constant(1)),
                offset: RowCount::Constant(0),
            }),
            false => Operator::Aggregate(Aggregate {
                input,
                groups,
                aggregates: vec![],
            }),
        };
        let is_shared = free_columns(&tree).is_empty();
        if is_shared && numbers::is_worth_numbers(inner, &of, self.columns) {
            return self.numbered_domain(outer.op, tree, (of, ids));
        }
        let source = match is_shared {
            true => {
                let id = self.share(tree);
                Source::Shared(id, ids)
            }
            false => Source::Copies(Box::new(tree), ids),
        };
        Domain {
            keys: of.clone(),
            of,
            source,
            readings: 0,
            gated: vec![],
            is_of_rows: false,
            turns: vec![],
        }
    }

    /// The domain of the rows of `outer` that pass the guards, whether or not their values are equal. Each row gets a number, by which
    /// it finds what was computed for it.
    fn domain_of_rows(&mut self, outer: &mut Outer, mut of: Vec<ColumnId>) -> Domain {
        let (numbered, number) = take(outer.op).numbered(self.columns);
        *outer.op = numbered;
        of.push(number);
        let (rows, names) = self.second_reading(&mut Outer::all(outer.op), None);
        let guards = outer.guards.iter().map(|g| renamed(g.clone(), &names));
        let tree = super::filtered(rows, guards.collect());
        let ids = of.iter().map(|id| names[id]).collect();
        Domain {
            source: Source::Shared(self.share(tree), ids),
            keys: vec![number],
            of,
            readings: 0,
            gated: vec![],
            is_of_rows: true,
            turns: vec![],
        }
    }

    /// The domain of the values in the columns `ids` of a tree, which stand for the outer columns `of`. Each of its rows has a number,
    /// and so has each row of `outer` that has its values.
    fn numbered_domain(
        &mut self,
        outer: &mut Operator,
        values: Operator,
        (of, mut ids): (Vec<ColumnId>, Vec<ColumnId>),
    ) -> Domain {
        let (tree, number) = values.numbered(self.columns);
        ids.push(number);
        let id = self.share(tree);
        let mut domain = Domain {
            of,
            keys: vec![],
            source: Source::Shared(id, ids),
            readings: 0,
            gated: vec![],
            is_of_rows: false,
            turns: vec![],
        };
        domain.of.push(number);
        let rows = self.reading(&mut domain);
        // Outer rows that do not pass the guards have no number.
        rows.names
            .values()
            .for_each(|id| self.columns[*id].nullable = true);
        let number = rows.names[&number];
        domain.of.pop();
        let column = |id: ColumnId| Expr::column(id, self.columns);
        let pairs = domain
            .of
            .iter()
            .map(|id| super::same(column(rows.names[id]), column(*id)));
        *outer = super::join(JoinKind::ProbeOuter, rows.op, take(outer), pairs.collect());
        domain.of.push(number);
        domain.keys.push(number);
        domain
    }

    /// Reads the outer rows once more: columns that are `wanted`, or all, by the outer ones. Rows that are cheap or
    /// depend on columns further out are computed twice, all others are shared.
    pub fn second_reading(
        &mut self,
        outer: &mut Outer,
        wanted: Option<&BTreeSet<ColumnId>>,
    ) -> (Operator, Names) {
        if !is_cheap(outer.op) && free_columns(outer.op).is_empty() {
            let (copy, names) = copied(outer.op, self.columns);
            let visible = outer.op.visible();
            let stays = |id: &&ColumnId| {
                outer.kept.is_none_or(|kept| kept.contains(*id))
                    || wanted.is_some_and(|wanted| wanted.contains(*id))
            };
            let columns = visible.iter().filter(stays).map(|id| (*id, names[id]));
            let columns = columns.collect();
            let id = self.share(copy);
            *outer.op = Operator::Shared(Shared { id, columns });
        }
        match (&*outer.op, wanted) {
            (Operator::Shared(Shared { id, columns }), Some(wanted)) => {
                let columns = columns.iter().filter(|(made, _)| wanted.contains(made)).copied();
                let columns = columns.collect();
                copied(&Operator::Shared(Shared { id: *id, columns }), self.columns)
            }
            (op, _) => copied(op, self.columns),
        }
    }

    /// The rows of the domain once more.
    pub(super) fn reading(&mut self, domain: &mut Domain) -> Dependent {
        domain.readings += 1;
        let (op, ids) = match &domain.source {
            Source::Shared(id, stored) => {
                let mut made = Vec::new();
                for column in stored {
                    let info = self.columns[*column].clone();
                    made.push((self.columns.add(info.label, info.ty, info.nullable), *column));
                }
                let ids = made.iter().map(|m| m.0).collect();
                (
                    Operator::Shared(Shared {
                        id: *id,
                        columns: made,
                    }),
                    ids,
                )
            }
            Source::Copies(tree, ids) => {
                let (copy, names) = copied(tree, self.columns);
                (copy, ids.iter().map(|id| names[id]).collect::<Vec<_>>())
            }
        };
        let names = domain.of.iter().copied().zip(ids).collect();
        Dependent { op, names }
    }

    /// A domain that is read once need not be shared.
    fn settle(&mut self, op: &mut Operator, domain: &Domain) {
        let Source::Shared(id, _) = domain.source else {
            return;
        };
        if domain.readings != 1 || id.0 + 1 != self.shared.len() {
            return;
        }
        self.shared_may_fail.pop();
        if let Some(tree) = self.shared.pop() {
            put_in_place(op, id, tree, self.columns);
        }
    }

    /// A tree computed for each row of the domain. For a domain without columns that is the tree, where the domain has
    /// its row.
    pub fn for_domain(&mut self, op: Operator, mut domain: Domain) -> Result<Dependent> {
        self.cancel.check()?;
        let mut out = self.depend(op, &mut domain)?;
        self.settle(&mut out.op, &domain);
        Ok(out)
    }

    /// Whether a tree reads columns that the domain stands for, or rows that have the domain's columns, or gives others for each
    /// row of a domain of rows.
    fn depends(op: &Operator, domain: &Domain) -> bool {
        let free = free_columns(op);
        domain.of.iter().any(|c| free.contains(c))
            || domain.turns.iter().any(|turn| reads_turn(op, turn.0))
            || domain.is_of_rows && is_volatile(op)
    }

    /// A tree for each row of the domain.
    pub(super) fn depend(&mut self, op: Operator, domain: &mut Domain) -> Result<Dependent> {
        if !Self::depends(&op, domain) {
            return Ok(self.crossed(op, domain));
        }
        match op {
            Operator::Filter(Filter { input, predicate }) => {
                let mut out = self.depend(*input, domain)?;
                out.op = super::filtered(out.op, vec![renamed(predicate, &out.names)]);
                Ok(out)
            }
            Operator::Map(Map { input, expressions }) => {
                let mut out = self.depend(*input, domain)?;
                let names = &out.names;
                let rename = |(id, e)| (id, renamed(e, names));
                let expressions = expressions.into_iter().map(rename).collect();
                out.op = super::mapped(out.op, expressions);
                Ok(out)
            }
            Operator::Join(_) => self.depend_join(crate::pushdown::normalized(op), domain),
            Operator::Aggregate(_) => self.depend_aggregate(op, domain),
            Operator::GroupingSets(sets) => {
                let aggregations = grouping_branches::apart(sets, self.columns);
                self.depend(aggregations, domain)
            }
            Operator::Sort(sort) => {
                let rows = TopPerGroup {
                    input: sort.input,
                    groups: vec![],
                    keys: sort.keys,
                    limit: sort.limit,
                    offset: sort.offset,
                };
                self.depend_limit(rows, domain)
            }
            Operator::Limit(Limit { input, limit, offset }) => {
                let (groups, keys) = (vec![], vec![]);
                let rows = TopPerGroup {
                    input,
                    groups,
                    keys,
                    limit,
                    offset,
                };
                self.depend_limit(rows, domain)
            }
            Operator::TopPerGroup(rows) => self.depend_limit(rows, domain),
            Operator::Window(window) => self.depend_window(window, domain),
            Operator::Expand(expand) => self.depend_expand(expand, domain),
            Operator::UnionAll(UnionAll { inputs, columns }) => self.depend_union(inputs, columns, domain),
            Operator::Values(Values { columns, rows }) => self.depend_values(columns, rows, domain),
            Operator::Recursion(recursion) => {
                let (recursion, names) = self.depend_recursion(recursion, domain)?;
                let op = Operator::Recursion(recursion);
                Ok(Dependent { op, names })
            }
            Operator::Turn(turn) => {
                let (turn, names) = self.depend_turn(turn, domain);
                let op = Operator::Turn(turn);
                Ok(Dependent { op, names })
            }
            other @ (Operator::Scan(_)
            | Operator::Given(_)
            | Operator::DependentJoin(_)
            | Operator::Shared(_)
            | Operator::Write(_)) => Ok(self.crossed(other, domain)),
        }
    }

    fn depend_expand(&mut self, expand: Expand, domain: &mut Domain) -> Result<Dependent> {
        let Expand { input, mut expansion } = expand;
        let mut out = self.depend(*input, domain)?;
        let input = Box::new(out.op);
        (expansion.arguments_mut()).for_each(|e| rename_in(e, &out.names));
        out.op = Operator::Expand(Expand { input, expansion });
        Ok(out)
    }

    /// Whether a shared subplan that a tree reads has rows of a turn.
    pub(super) fn shares_turn(&self, op: &Operator, id: RecursionId) -> bool {
        if let Operator::Shared(shared) = op {
            let tree = &self.shared[shared.id.0];
            return reads_turn(tree, id) || self.shares_turn(tree, id);
        }
        op.inputs().into_iter().any(|input| self.shares_turn(input, id))
    }

    fn depend_window(&mut self, window: Window, domain: &mut Domain) -> Result<Dependent> {
        let mut out = self.depend(*window.input, domain)?;
        let rename = |id: ColumnId| out.names.get(&id).copied().unwrap_or(id);
        let mut partition: Vec<ColumnId> = window.partition.into_iter().map(rename).collect();
        let mut order = window.order;
        order.iter_mut().for_each(|key| key.column = rename(key.column));
        let mut calls = window.calls;
        let expressions = calls.iter_mut().flat_map(|c| c.1.expressions_mut());
        expressions.for_each(|e| rename_in(e, &out.names));
        // The rows of each outer row are a window of their own.
        for id in domain.keys.iter().map(|id| out.names[id]) {
            if !partition.contains(&id) {
                partition.push(id);
            }
        }
        out.op = Operator::Window(Window {
            input: Box::new(out.op),
            partition,
            order,
            calls,
            most: window.most,
        });
        Ok(out)
    }

    /// Every row of a tree for every row of the domain.
    fn crossed(&mut self, op: Operator, domain: &mut Domain) -> Dependent {
        let (op, closed) = self.gated(op, domain);
        if closed == Closed::Empty && !domain.has_columns() {
            let names = Names::new();
            return Dependent { op, names };
        }
        let Dependent { op: build, names } = self.reading(domain);
        let op = super::join(JoinKind::Inner, build, op, vec![]);
        Dependent { op, names }
    }

    /// Conditions that two trees are of one row of the domain.
    fn pairs_of_row(&self, left: &Names, right: &Names, domain: &Domain) -> Vec<Expr> {
        let of = |names: &Names, id| Expr::column(names[id], self.columns);
        let same = |id| super::same(of(left, id), of(right, id));
        domain.keys.iter().map(same).collect()
    }

    fn depend_join(&mut self, op: Operator, domain: &mut Domain) -> Result<Dependent> {
        let Operator::Join(Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
            ..
        }) = op
        else {
            return Err(Error::internal("not a join"));
        };
        let (in_build, in_probe) = (Self::depends(&build, domain), Self::depends(&probe, domain));
        let own = |e: &Expr| !reads(e, &domain.of);
        if null_aware && !in_build && keys.iter().all(|k| own(&k.0)) && residual.iter().all(own) {
            // NOT IN stays one.
            let mut out = self.depend(*probe, domain)?;
            let keys = keys.into_iter().map(|(b, p)| (b, renamed(p, &out.names)));
            out.op = Operator::Join(Join {
                kind,
                build: Box::new(self.gated(*build, domain).0),
                probe: Box::new(out.op),
                keys: keys.collect(),
                residual,
                null_aware,
                in_order: false,
                first: None,
            });
            return Ok(out);
        }
        let equal = keys.into_iter().map(|(b, p)| super::compare(CompareOp::Eq, b, p));
        let mut parts = Parts {
            kind,
            null_aware,
            equal: equal.collect(),
            conditions: residual.into_iter().flat_map(Expr::into_conjuncts).collect(),
        };
        if kind == JoinKind::Inner && in_build && !in_probe {
            let mut out = self.depend(*build, domain)?;
            parts.rename(&out.names);
            let (probe, _) = self.gated(*probe, domain);
            out.op = self.rejoined(out.op, probe, parts)?;
            return Ok(out);
        }
        let probe = self.depend(*probe, domain)?;
        parts.rename(&probe.names);
        if !in_build && kind != JoinKind::FullOuter {
            let (build, _) = self.gated(*build, domain);
            let op = self.rejoined(build, probe.op, parts)?;
            return Ok(Dependent {
                op,
                names: probe.names,
            });
        }
        let build = self.depend(*build, domain)?;
        let pairs = self.pairs_of_row(&build.names, &probe.names, domain);
        parts.conditions.splice(0..0, pairs);
        let op = self.rejoined(build.op, probe.op, parts)?;
        match kind {
            JoinKind::FullOuter => Ok(self.of_either_side(op, &build.names, &probe.names)),
            _ => Ok(Dependent {
                op,
                names: probe.names,
            }),
        }
    }

    /// The domain's columns above a full join: those of the side that is there.
    fn of_either_side(&mut self, op: Operator, build: &Names, probe: &Names) -> Dependent {
        let (mut names, mut known) = (Names::new(), Vec::new());
        for (outer, from_probe) in probe {
            let b = Expr::column(build[outer], self.columns);
            let p = Expr::column(*from_probe, self.columns);
            let e = super::case(super::is_null(p.clone()), b, Some(p));
            let made = self.columns.add("outer", e.ty, true);
            names.insert(*outer, made);
            known.push((made, e));
        }
        Dependent {
            op: super::mapped(op, known),
            names,
        }
    }

    fn depend_aggregate(&mut self, op: Operator, domain: &mut Domain) -> Result<Dependent> {
        let Operator::Aggregate(Aggregate {
            input,
            mut groups,
            mut aggregates,
        }) = op
        else {
            return Err(Error::internal("not an aggregation"));
        };
        let ungrouped = groups.is_empty();
        let input = self.depend(*input, domain)?;
        let mut names = Names::new();
        groups.iter_mut().for_each(|g| rename_in(&mut g.1, &input.names));
        for call in aggregates.iter_mut().map(|a| &mut a.1) {
            call.expressions_mut().for_each(|e| rename_in(e, &input.names));
        }
        for id in &domain.keys {
            let e = Expr::column(input.names[id], self.columns);
            let label = self.columns[*id].label.clone();
            let made = self.columns.add(label, e.ty, e.nullable);
            names.insert(*id, made);
            groups.push((made, e));
        }
        let mut after = Vec::new();
        for (id, call) in aggregates.iter_mut().filter(|_| ungrouped) {
            if call.function.counts() {
                let grouped = self.columns.add("count", call.ty, false);
                let made = std::mem::replace(id, grouped);
                after.push((made, super::count_or_zero(grouped, self.columns)));
            }
        }
        let op = Operator::Aggregate(Aggregate {
            input: Box::new(input.op),
            groups,
            aggregates,
        });
        if !ungrouped && domain.keys.len() == domain.of.len() {
            return Ok(Dependent { op, names });
        }
        // Where no row is aggregated there still is a result; groups by a number get the values of its row.
        let all = self.reading(domain);
        let same = self.pairs_of_row(&names, &all.names, domain);
        let kind = match ungrouped {
            true => JoinKind::ProbeOuter,
            false => JoinKind::Inner,
        };
        let op = super::join(kind, op, all.op, same);
        Ok(Dependent {
            op: super::mapped(op, after),
            names: all.names,
        })
    }

    /// The first rows for each outer row, of each group.
    fn depend_limit(&mut self, rows: TopPerGroup, domain: &mut Domain) -> Result<Dependent> {
        let mut out = self.depend(*rows.input, domain)?;
        if rows.limit.is_none() && rows.offset.is_zero() {
            return Ok(out);
        }
        let mut groups = rows.groups;
        groups.extend(domain.keys.iter().map(|id| out.names[id]));
        out.op = Operator::TopPerGroup(TopPerGroup {
            input: Box::new(out.op),
            groups,
            ..rows
        });
        Ok(out)
    }

    fn depend_union(
        &mut self,
        inputs: Vec<(Operator, Vec<ColumnId>)>,
        mut columns: Vec<ColumnId>,
        domain: &mut Domain,
    ) -> Result<Dependent> {
        let mut all = Vec::new();
        for (input, mut from) in inputs {
            let input = self.depend(input, domain)?;
            // An input may give an outer column as it is.
            from.iter_mut()
                .for_each(|id| *id = input.names.get(id).copied().unwrap_or(*id));
            from.extend(domain.of.iter().map(|id| input.names[id]));
            all.push((input.op, from));
        }
        let mut names = Names::new();
        for id in &domain.of {
            let info = self.columns[*id].clone();
            let made = self.columns.add(info.label, info.ty, info.nullable);
            columns.push(made);
            names.insert(*id, made);
        }
        let op = Operator::UnionAll(UnionAll { inputs: all, columns });
        Ok(Dependent { op, names })
    }

    /// Rows of expressions over outer columns: one Map over the domain for each.
    fn depend_values(
        &mut self,
        columns: Vec<ColumnId>,
        rows: Vec<Vec<Expr>>,
        domain: &mut Domain,
    ) -> Result<Dependent> {
        if let [row] = &rows[..] {
            let Dependent { op, names } = self.reading(domain);
            let cells = row.iter().map(|e| renamed(e.clone(), &names));
            let cells = columns.into_iter().zip(cells).collect();
            let op = super::mapped(op, cells);
            return Ok(Dependent { op, names });
        }
        let mut inputs = Vec::new();
        for row in rows {
            inputs.push(self.row_of_values(&columns, row));
        }
        self.depend_union(inputs, columns, domain)
    }

    /// One row of expressions as a tree, with columns of its own for `columns`.
    pub fn row_of_values(&mut self, columns: &[ColumnId], row: Vec<Expr>) -> (Operator, Vec<ColumnId>) {
        let mut made = Vec::new();
        for id in columns {
            let info = self.columns[*id].clone();
            made.push(self.columns.add(info.label, info.ty, info.nullable));
        }
        let values = Operator::Values(Values {
            columns: made.clone(),
            rows: vec![row],
        });
        (values, made)
    }
}

/// Whether a tree has the rows of a recursion's turn.
fn reads_turn(op: &Operator, id: RecursionId) -> bool {
    matches!(op, Operator::Turn(turn) if turn.id == id)
        || op.inputs().into_iter().any(|input| reads_turn(input, id))
}

fn reads(e: &Expr, ids: &[ColumnId]) -> bool {
    e.columns_read().iter().any(|c| ids.contains(c))
}

/// Puts a subplan where it is read.
fn put_in_place(op: &mut Operator, id: SharedId, tree: Operator, columns: &mut Columns) {
    fn find(op: &mut Operator, id: SharedId) -> Option<&mut Operator> {
        if matches!(op, Operator::Shared(Shared { id: read, .. }) if *read == id) {
            return Some(op);
        }
        op.inputs_mut().into_iter().find_map(|input| find(input, id))
    }
    let Some(place) = find(op, id) else {
        return;
    };
    let Operator::Shared(Shared { columns: read, .. }) = take(place) else {
        return;
    };
    let names = read
        .into_iter()
        .map(|(made, stored)| (made, Expr::column(stored, columns)));
    *place = super::mapped(tree, names.collect());
}
