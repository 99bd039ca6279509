//! Cuts an operator tree into pipelines.
//!
//! Works top-down with the set of columns needed above, so that every breaker keeps only what somebody
//! reads. An input that is several pipelines (UNION ALL, outer joins of the build side) stays several:
//! what follows is appended to each.

mod windows;

use crate::breakers::{Breaker, BreakerId, Buffer, GroupTable, JoinTable, SortTable, Which};
use crate::operator::Operator;
use crate::operators::{
    Aggregate, Filter, Given, Join, Limit, Map, Repeat, Scan, Shared, Sort, TopPerGroup, UnionAll, Values,
};
use crate::pipeline::*;
use crate::schedule::Schedule;
use crate::vector_calls;
use crate::{
    ColumnId, Columns, Expr, ExprKind, JoinKind, Plan, RowCount, ScanDisjunction, ScanRestriction, SortKey,
};
use frazil_types::Value;
use std::collections::BTreeSet;

type Needed = BTreeSet<ColumnId>;

/// A pipeline whose sink is not known yet.
struct Open {
    source: Source,
    operators: Vec<PipelineOperator>,
    /// Rows in it where they are most, as far as is known.
    most_rows: f64,
}

/// The pipelines that together give an operator's rows.
struct Opened {
    pipelines: Vec<Open>,
    /// Rows of the operator, as far as is known.
    rows: f64,
}

impl Opened {
    fn of(source: Source, rows: f64) -> Opened {
        let open = Open {
            source,
            operators: vec![],
            most_rows: rows,
        };
        Opened {
            pipelines: vec![open],
            rows,
        }
    }

    /// With an operator behind each pipeline; `rows` come out of all of them. How they spread over several is not known.
    fn append(mut self, operator: PipelineOperator, rows: f64) -> Opened {
        self.rows = rows;
        let is_one = self.pipelines.len() == 1;
        for o in &mut self.pipelines {
            o.operators.push(operator.clone());
            if is_one {
                o.most_rows = o.most_rows.max(rows);
            }
        }
        self
    }
}

/// Estimates a builder asks for; the optimizer answers.
pub trait Estimates {
    /// Rows an operator gives whose inputs give so many.
    fn rows_from(&self, operator: &Operator, inputs: &[f64], columns: &Columns) -> f64;
    /// Rows an operator gives at most, where that is certain.
    fn row_bound(&self, operator: &Operator) -> Option<u64>;
}

/// Cuts a plan into pipelines, with no other stage boundaries than they need.
pub fn build(plan: Plan, estimates: &dyn Estimates) -> PipelinePlan {
    let Plan {
        root,
        columns,
        output,
        subqueries,
        shared,
        parameters,
    } = plan;
    let mut builder = Builder {
        out: PipelinePlan::empty(columns, parameters),
        estimates,
        shared: vec![None; shared.len()],
        subqueries: vec![None; subqueries.len()],
    };
    let helpers = Helpers {
        shared_needed: shared_columns(&root, &subqueries, &shared),
        shared: &shared,
        subqueries: &subqueries,
    };
    builder.prepare(&root, &helpers);
    // What nobody reads any more still has its place in the lists.
    (0..subqueries.len()).for_each(|id| builder.prepare_subquery(id, &helpers));
    builder.out.subqueries = builder.subqueries.iter().flatten().copied().collect();
    builder.root(&root, &output);
    builder.out.output = output.into_iter().map(|o| o.0).collect();
    builder.out.schedule = Schedule::in_order(&builder.out.pipelines);
    vector_calls::take_out(&mut builder.out);
    for pipeline in &mut builder.out.pipelines {
        let all = 0..=pipeline.operators.len();
        pipeline.boundaries = all.filter(|k| pipeline.needs_boundary(*k)).collect();
    }
    builder.out
}

/// The trees whose rows others read: each runs before its first reader.
struct Helpers<'a> {
    shared: &'a [Operator],
    shared_needed: Vec<Needed>,
    subqueries: &'a [(Operator, ColumnId)],
}

/// For each shared subplan the columns any reader takes.
fn shared_columns(root: &Operator, subqueries: &[(Operator, ColumnId)], shared: &[Operator]) -> Vec<Needed> {
    fn visit(op: &Operator, needed: &mut [Needed]) {
        if let Operator::Shared(Shared { id, columns }) = op {
            needed[id.0].extend(columns.iter().map(|c| c.1));
        }
        op.inputs().into_iter().for_each(|i| visit(i, needed));
    }
    let mut needed = vec![Needed::new(); shared.len()];
    for tree in subqueries.iter().map(|s| &s.0).chain(shared).chain([root]) {
        visit(tree, &mut needed);
    }
    needed
}

impl PipelinePlan {
    fn empty(columns: Columns, parameters: Vec<frazil_types::LogicalType>) -> PipelinePlan {
        PipelinePlan {
            columns,
            pipelines: vec![],
            breakers: vec![],
            schedule: Schedule::default(),
            subqueries: vec![],
            result: None,
            write: None,
            output: vec![],
            parameters,
            assumptions: vec![],
        }
    }
}

struct Builder<'a> {
    out: PipelinePlan,
    estimates: &'a dyn Estimates,
    shared: Vec<Option<BreakerId>>,
    subqueries: Vec<Option<BreakerId>>,
}

impl Builder<'_> {
    /// Builds the pipelines of all shared subplans and scalar subqueries that a tree reads, and before
    /// them those that they read.
    fn prepare(&mut self, op: &Operator, helpers: &Helpers) {
        if let Operator::Shared(Shared { id, .. }) = op {
            self.prepare_shared(id.0, helpers);
        }
        let mut read = Vec::new();
        for e in op.expressions() {
            e.walk(&mut |part| {
                if let ExprKind::ScalarSubquery(id) = part.kind {
                    read.push(id.0);
                }
            });
        }
        read.into_iter().for_each(|id| self.prepare_subquery(id, helpers));
        op.inputs()
            .into_iter()
            .for_each(|input| self.prepare(input, helpers));
    }

    fn prepare_shared(&mut self, id: usize, helpers: &Helpers) {
        if self.shared[id].is_none() {
            let tree = &helpers.shared[id];
            self.prepare(tree, helpers);
            let columns = helpers.shared_needed[id].iter().copied().collect();
            self.shared[id] = Some(self.keep_in_buffer(tree, columns, None, RowCount::Constant(0)).0);
        }
    }

    fn prepare_subquery(&mut self, id: usize, helpers: &Helpers) {
        if self.subqueries[id].is_none() {
            let (tree, column) = &helpers.subqueries[id];
            self.prepare(tree, helpers);
            let buffer = self.keep_in_buffer(tree, vec![*column], None, RowCount::Constant(0));
            self.subqueries[id] = Some(buffer.0);
        }
    }

    fn root(&mut self, root: &Operator, output: &[(String, ColumnId)]) {
        match root {
            Operator::Write(write) => {
                let kept = write.change.kept();
                self.out.result = Some(
                    self.keep_in_buffer(&write.input, kept, None, RowCount::Constant(0))
                        .0,
                );
                self.out.write = Some(Box::new(write.change.clone()));
            }
            Operator::Limit(Limit { input, limit, offset }) => {
                let columns = output.iter().map(|o| o.1).collect();
                self.out.result = Some(
                    self.keep_in_buffer(input, columns, limit.clone(), offset.clone())
                        .0,
                );
            }
            _ => {
                let columns = output.iter().map(|o| o.1).collect();
                self.out.result = Some(self.keep_in_buffer(root, columns, None, RowCount::Constant(0)).0);
            }
        }
    }

    /// The buffer, and how many rows go into it.
    fn keep_in_buffer(
        &mut self,
        op: &Operator,
        columns: Vec<ColumnId>,
        limit: Option<RowCount>,
        offset: RowCount,
    ) -> (BreakerId, f64) {
        let opened = self.open(op, &columns.iter().copied().collect());
        let rows = opened.rows;
        let buffer = Buffer {
            columns,
            limit,
            offset,
        };
        (self.fill(Breaker::Buffer(buffer), opened, vec![]), rows)
    }

    /// A new breaker, filled by pipelines; `keys` are the sink's expressions.
    fn fill(&mut self, breaker: Breaker, opened: Opened, keys: Vec<Expr>) -> BreakerId {
        let id = BreakerId(self.out.breakers.len());
        self.out.breakers.push(breaker);
        self.close(opened, Sink::Into(id, keys));
        id
    }

    fn close(&mut self, opened: Opened, sink: Sink) {
        for o in opened.pipelines {
            self.out.pipelines.push(Pipeline {
                source: o.source,
                operators: o.operators,
                sink: sink.clone(),
                estimated_rows: o.most_rows,
                boundaries: vec![],
            });
        }
    }

    fn rows(&self, op: &Operator, inputs: &[f64]) -> f64 {
        self.estimates.rows_from(op, inputs, &self.out.columns)
    }

    fn open(&mut self, op: &Operator, needed: &Needed) -> Opened {
        match op {
            Operator::Scan(_) => self.scan(op, needed),
            Operator::Values(Values { columns, rows }) => {
                let source = Source::Values {
                    columns: columns.clone(),
                    rows: rows.clone(),
                };
                Opened::of(source, rows.len() as f64)
            }
            Operator::Given(Given { columns }) => {
                let kept = columns.iter().filter(|c| needed.contains(&c.0));
                let columns = kept.copied().collect();
                Opened::of(Source::Given { columns }, self.rows(op, &[]))
            }
            Operator::Filter(Filter { input, predicate }) => {
                let mut below = needed.clone();
                below.extend(predicate.columns_read());
                let opened = self.open(input, &below);
                let rows = self.rows(op, &[opened.rows]);
                opened.append(PipelineOperator::Filter(predicate.clone()), rows)
            }
            Operator::Map(Map { input, expressions }) => self.map(input, expressions, needed),
            Operator::Join(_) => self.join(op, needed),
            Operator::Aggregate(_) => self.aggregate(op, needed),
            Operator::Sort(Sort {
                input: _,
                keys,
                limit,
                offset,
            }) => {
                let limits = (limit.clone(), offset.clone());
                self.sort(op, keys.clone(), 0, limits, needed)
            }
            Operator::TopPerGroup(TopPerGroup {
                input: _,
                groups,
                keys,
                limit,
                offset,
            }) => {
                let limits = (limit.clone(), offset.clone());
                self.sort(op, keys_by_group(groups, keys), groups.len(), limits, needed)
            }
            Operator::Window(_) => self.windows(op, needed),
            Operator::Limit(Limit { input, limit, offset }) => {
                let columns: Vec<ColumnId> = needed.iter().copied().collect();
                let (id, rows) = self.keep_in_buffer(input, columns.clone(), limit.clone(), offset.clone());
                Opened::of(rows_of(id, columns), self.rows(op, &[rows]))
            }
            Operator::Repeat(Repeat { input, count }) => {
                let mut below = needed.clone();
                below.insert(*count);
                let opened = self.open(input, &below);
                let rows = self.rows(op, &[opened.rows]);
                opened.append(PipelineOperator::Repeat { count: *count }, rows)
            }
            Operator::UnionAll(UnionAll { inputs, columns }) => self.union(inputs, columns, needed),
            Operator::Shared(Shared { id, columns }) => {
                let buffer = self.shared[id.0];
                let buffer =
                    buffer.unwrap_or_else(|| unreachable!("a shared subplan built after its reader"));
                let kept = columns.iter().filter(|c| needed.contains(&c.0));
                let source = Source::Of {
                    breaker: buffer,
                    columns: kept.copied().collect(),
                    which: Which::All,
                };
                Opened::of(source, self.rows(op, &[]))
            }
            Operator::DependentJoin(_) => unreachable!("a dependent join that was not unnested"),
            Operator::Write(_) => unreachable!("a write below the root"),
        }
    }

    fn scan(&mut self, op: &Operator, needed: &Needed) -> Opened {
        let Operator::Scan(Scan {
            table,
            name,
            columns,
            row_id,
            restrictions,
            disjunctions,
        }) = op
        else {
            unreachable!("called on a scan")
        };
        let kept = columns
            .iter()
            .filter(|c| needed.contains(&c.0) || restricts(restrictions, disjunctions, c.0));
        let source = Source::Scan {
            table: *table,
            name: name.clone(),
            columns: kept.copied().collect(),
            row_id: row_id.filter(|r| needed.contains(r)),
            restrictions: restrictions.clone(),
            disjunctions: disjunctions.clone(),
            early_probes: vec![],
        };
        Opened::of(source, self.rows(op, &[]))
    }

    fn sort(
        &mut self,
        op: &Operator,
        keys: Vec<SortKey>,
        groups: usize,
        (limit, offset): (Option<RowCount>, RowCount),
        needed: &Needed,
    ) -> Opened {
        let (Operator::Sort(Sort { input, .. }) | Operator::TopPerGroup(TopPerGroup { input, .. })) = op
        else {
            unreachable!("called on a sort")
        };
        let mut columns = needed.clone();
        columns.extend(keys.iter().map(|k| k.column));
        columns.extend(limit.iter().chain([&offset]).filter_map(RowCount::column));
        let opened = self.open(input, &columns);
        let rows = self.rows(op, &[opened.rows]);
        let columns: Vec<ColumnId> = columns.into_iter().collect();
        let table = SortTable {
            keys,
            groups,
            columns: columns.clone(),
            limit,
            offset,
        };
        let id = self.fill(Breaker::Sorter(table), opened, vec![]);
        Opened::of(rows_of(id, columns), rows)
    }

    fn map(&mut self, input: &Operator, expressions: &[(ColumnId, Expr)], needed: &Needed) -> Opened {
        // Later expressions of one Map may read earlier ones: walk backwards to keep what is read.
        let mut below = needed.clone();
        let mut kept = Vec::new();
        for (id, e) in expressions.iter().rev() {
            if below.remove(id) {
                below.extend(e.columns_read());
                kept.push((*id, e.clone()));
            }
        }
        kept.reverse();
        let opened = self.open(input, &below);
        let rows = opened.rows;
        if kept.is_empty() {
            opened
        } else {
            opened.append(PipelineOperator::Map(kept), rows)
        }
    }

    fn union(
        &mut self,
        inputs: &[(Operator, Vec<ColumnId>)],
        columns: &[ColumnId],
        needed: &Needed,
    ) -> Opened {
        let mut all = Opened {
            pipelines: vec![],
            rows: 0.0,
        };
        for (input, from) in inputs {
            let pairs: Vec<_> = columns
                .iter()
                .zip(from)
                .filter(|(c, _)| needed.contains(c))
                .collect();
            let opened = self.open(input, &pairs.iter().map(|p| *p.1).collect());
            let map = pairs
                .iter()
                .map(|(c, f)| (**c, Expr::column(**f, &self.out.columns)))
                .collect();
            let rows = opened.rows;
            all.rows += rows;
            let mapped = opened.append(PipelineOperator::Map(map), rows);
            all.pipelines.extend(mapped.pipelines);
        }
        all
    }

    fn aggregate(&mut self, op: &Operator, needed: &Needed) -> Opened {
        let Operator::Aggregate(Aggregate {
            input,
            groups,
            aggregates,
        }) = op
        else {
            unreachable!("called on an aggregate")
        };
        let aggregates: Vec<_> = aggregates
            .iter()
            .filter(|a| needed.contains(&a.0))
            .cloned()
            .collect();
        let mut below = Needed::new();
        for e in groups.iter().map(|g| &g.1) {
            below.extend(e.columns_read());
        }
        for e in aggregates
            .iter()
            .flat_map(|a| a.1.argument.iter().chain(&a.1.filter))
        {
            below.extend(e.columns_read());
        }
        let opened = self.open(input, &below);
        let rows = self.rows(op, &[opened.rows]);
        let table = GroupTable {
            groups: groups.clone(),
            aggregates,
            estimated_groups: rows,
            row_bound: self.estimates.row_bound(input),
        };
        let columns = table.columns().collect();
        let id = self.fill(Breaker::Groups(table), opened, vec![]);
        Opened::of(rows_of(id, columns), rows)
    }

    fn join(&mut self, op: &Operator, needed: &Needed) -> Opened {
        let Operator::Join(Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
        }) = op
        else {
            unreachable!("called on a join")
        };
        let residual_reads: Needed = residual.iter().flat_map(Expr::columns_read).collect();
        let build_visible: Needed = build.visible().into_iter().collect();
        let probe_visible: Needed = probe.visible().into_iter().collect();
        let wanted: Needed = needed.union(&residual_reads).copied().collect();
        let payload: Needed = build_visible.intersection(&wanted).copied().collect();
        let mut build_needed = payload.clone();
        build_needed.extend(keys.iter().flat_map(|k| k.0.columns_read()));
        let mut probe_needed: Needed = probe_visible.intersection(&wanted).copied().collect();
        probe_needed.extend(keys.iter().flat_map(|k| k.1.columns_read()));

        let opened = self.open(build, &build_needed);
        let build_rows = opened.rows;
        let payload: Vec<ColumnId> = payload.into_iter().collect();
        let table = JoinTable {
            keys: keys.iter().map(|k| (k.0.ty, k.0.nullable)).collect(),
            payload: payload.clone(),
            kind: *kind,
            marked: matches!(
                kind,
                JoinKind::BuildOuter | JoinKind::FullOuter | JoinKind::BuildSemi | JoinKind::BuildAnti
            ),
            null_aware: *null_aware,
            estimated_rows: build_rows,
        };
        let build_keys = keys.iter().map(|k| k.0.clone()).collect();
        let id = self.fill(Breaker::Join(table), opened, build_keys);

        let opened = self.open(probe, &probe_needed);
        let rows = self.rows(op, &[build_rows, opened.rows]);
        let operator = PipelineOperator::Probe {
            join: id,
            kind: *kind,
            keys: keys.iter().map(|k| k.1.clone()).collect(),
            residual: residual.clone(),
            null_aware: *null_aware,
        };
        let mut probed = opened.append(operator, rows);
        match kind {
            JoinKind::BuildSemi | JoinKind::BuildAnti => {
                self.close(probed, Sink::Mark);
                let which = match kind {
                    JoinKind::BuildSemi => Which::Matched,
                    _ => Which::Unmatched,
                };
                Opened::of(some_rows_of(id, payload, which), rows)
            }
            JoinKind::BuildOuter | JoinKind::FullOuter => {
                let nulls = probe_visible
                    .intersection(needed)
                    .map(|&c| (c, Expr::constant(Value::Null, self.out.columns[c].ty)));
                probed.pipelines.push(Open {
                    source: some_rows_of(id, payload, Which::Unmatched),
                    operators: vec![PipelineOperator::Map(nulls.collect())],
                    most_rows: build_rows,
                });
                probed
            }
            _ => probed,
        }
    }
}

/// All rows of a breaker, their columns by the same ids.
fn rows_of(breaker: BreakerId, columns: Vec<ColumnId>) -> Source {
    some_rows_of(breaker, columns, Which::All)
}

/// Some rows of a breaker, their columns by the same ids.
fn some_rows_of(breaker: BreakerId, columns: Vec<ColumnId>, which: Which) -> Source {
    Source::Of {
        breaker,
        columns: columns.into_iter().map(|c| (c, c)).collect(),
        which,
    }
}

fn restricts(restrictions: &[ScanRestriction], disjunctions: &[ScanDisjunction], column: ColumnId) -> bool {
    let others = disjunctions.iter().flat_map(ScanDisjunction::restrictions);
    restrictions.iter().chain(others).any(|r| r.column == column)
}

/// Keys that sort rows by group, and the rows of a group by `keys`.
fn keys_by_group(groups: &[ColumnId], keys: &[SortKey]) -> Vec<SortKey> {
    let group = |column: &ColumnId| SortKey {
        column: *column,
        descending: false,
        nulls_first: false,
    };
    groups.iter().map(group).chain(keys.iter().cloned()).collect()
}
