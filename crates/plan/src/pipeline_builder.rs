//! Cuts an operator tree into pipelines.
//!
//! Works top-down with the set of columns needed above, so that every breaker keeps only what somebody
//! reads. An input that is several pipelines (UNION ALL, outer joins of the build side) stays several:
//! what follows is appended to each.

mod turns;
mod windows;

use crate::breakers::{Breaker, BreakerId, Buffer, Which};
use crate::operator::Operator;
use crate::operators::{RecursionId, Shared};
use crate::pipeline::*;
use crate::schedule::{Schedule, Step};
use crate::vector_calls;
use crate::{ColumnId, Columns, Expr, ExprKind, Plan, RowCount, SharedId};
use frazil_types::Value;
use std::collections::{BTreeSet, HashMap};

/// Columns that somebody above reads.
pub type NeededColumns = BTreeSet<ColumnId>;

/// A pipeline whose sink is not known yet.
struct Open {
    source: Source,
    operators: Vec<PipelineOperator>,
    /// Rows in it where they are most, as far as is known.
    most_rows: f64,
}

/// The pipelines that together give an operator's rows.
pub struct Opened {
    pipelines: Vec<Open>,
    /// Rows of the operator, as far as is known.
    pub(crate) rows: f64,
}

impl Opened {
    /// None yet.
    pub(crate) fn none() -> Opened {
        Opened {
            pipelines: vec![],
            rows: 0.0,
        }
    }

    /// With the pipelines of others, whose rows come too.
    pub(crate) fn add(&mut self, others: Opened) {
        self.rows += others.rows;
        self.pipelines.extend(others.pipelines);
    }

    /// With pipelines whose rows are counted already.
    pub(crate) fn add_counted(&mut self, others: Opened) {
        self.pipelines.extend(others.pipelines);
    }

    /// One pipeline.
    pub(crate) fn of(source: Source, rows: f64) -> Opened {
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
    pub(crate) fn append(mut self, operator: PipelineOperator, rows: f64) -> Opened {
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
    let helpers = Helpers {
        shared_needed: shared_columns(&root, &subqueries, &shared),
        shared: &shared,
        subqueries: &subqueries,
    };
    let mut builder = Builder {
        out: PipelinePlan::empty(columns, parameters),
        estimates,
        helpers: &helpers,
        shared: vec![None; shared.len()],
        subqueries: vec![None; subqueries.len()],
        steps: vec![],
        turns: HashMap::new(),
    };
    builder.prepare(&root);
    // What nobody reads any more still has its place in the lists.
    (0..subqueries.len()).for_each(|id| builder.prepare_subquery(id));
    builder.out.subqueries = builder.subqueries.iter().flatten().copied().collect();
    builder.root(&root, &output);
    builder.out.output = output.into_iter().map(|o| o.0).collect();
    builder.out.schedule.steps = builder.steps;
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
    shared_needed: Vec<NeededColumns>,
    subqueries: &'a [(Operator, ColumnId)],
}

/// For each shared subplan the columns any reader takes.
fn shared_columns(
    root: &Operator,
    subqueries: &[(Operator, ColumnId)],
    shared: &[Operator],
) -> Vec<NeededColumns> {
    fn visit(op: &Operator, needed: &mut [NeededColumns]) {
        if let Operator::Shared(Shared { id, columns }) = op {
            needed[id.0].extend(columns.iter().map(|c| c.1));
        }
        op.inputs().into_iter().for_each(|i| visit(i, needed));
    }
    let mut needed = vec![NeededColumns::new(); shared.len()];
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
            recursions: vec![],
            output: vec![],
            parameters,
            assumptions: vec![],
        }
    }
}

/// Pipelines in the making: operators open themselves into it ([`crate::operators::Node::open`]).
pub struct Builder<'a> {
    out: PipelinePlan,
    estimates: &'a dyn Estimates,
    helpers: &'a Helpers<'a>,
    shared: Vec<Option<BreakerId>>,
    subqueries: Vec<Option<BreakerId>>,
    /// What a run does so far; within a recursion's turn, that turn.
    steps: Vec<Step>,
    /// The recursions that are open: their work buffers and its columns.
    turns: HashMap<RecursionId, (BreakerId, Vec<ColumnId>)>,
}

impl Builder<'_> {
    /// Builds the pipelines of all shared subplans and scalar subqueries that a tree reads, and before
    /// them those that they read.
    fn prepare(&mut self, op: &Operator) {
        if let Operator::Shared(Shared { id, .. }) = op {
            self.prepare_shared(id.0);
        }
        let mut read = Vec::new();
        for e in op.expressions() {
            e.walk(&mut |part| {
                if let ExprKind::ScalarSubquery(id) = part.kind {
                    read.push(id.0);
                }
            });
        }
        read.into_iter().for_each(|id| self.prepare_subquery(id));
        // What a turn reads may be computed in it.
        let until = if matches!(op, Operator::Recursion(_)) {
            1
        } else {
            usize::MAX
        };
        let inputs = op.inputs().into_iter().take(until);
        inputs.for_each(|input| self.prepare(input));
    }

    fn prepare_shared(&mut self, id: usize) {
        if self.shared[id].is_none() {
            let helpers = self.helpers;
            let tree = &helpers.shared[id];
            self.prepare(tree);
            let columns = helpers.shared_needed[id].iter().copied().collect();
            self.shared[id] = Some(self.keep_in_buffer(tree, columns, None, RowCount::Constant(0)).0);
        }
    }

    fn prepare_subquery(&mut self, id: usize) {
        if self.subqueries[id].is_none() {
            let helpers = self.helpers;
            let (tree, column) = &helpers.subqueries[id];
            self.prepare(tree);
            let buffer = self.keep_in_buffer(tree, vec![*column], None, RowCount::Constant(0));
            self.subqueries[id] = Some(buffer.0);
        }
    }

    fn root(&mut self, root: &Operator, output: &[(String, ColumnId)]) {
        let (mut input, mut columns) = (root, output.iter().map(|o| o.1).collect());
        let (mut limit, mut offset) = (None, RowCount::Constant(0));
        if let Operator::Write(write) = root {
            (input, columns) = (&*write.input, write.change.kept());
            self.out.write = Some(Box::new(write.change.clone()));
        } else if let Operator::Limit(some) = root {
            input = &*some.input;
            (limit, offset) = (some.limit.clone(), some.offset.clone());
        }
        self.out.result = Some(self.keep_in_buffer(input, columns, limit, offset).0);
    }

    /// The buffer, and how many rows go into it.
    pub(crate) fn keep_in_buffer(
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
    pub(crate) fn fill(&mut self, breaker: Breaker, opened: Opened, keys: Vec<Expr>) -> BreakerId {
        let id = self.add(breaker);
        self.close(opened, Sink::Into(id, keys));
        self.steps.push(Step::Finish(id));
        id
    }

    fn add(&mut self, breaker: Breaker) -> BreakerId {
        self.out.breakers.push(breaker);
        BreakerId(self.out.breakers.len() - 1)
    }

    /// Ends pipelines in a sink.
    pub(crate) fn close(&mut self, opened: Opened, sink: Sink) {
        for o in opened.pipelines {
            self.steps.push(Step::Run(self.out.pipelines.len()));
            self.out.pipelines.push(Pipeline {
                source: o.source,
                operators: o.operators,
                sink: sink.clone(),
                estimated_rows: o.most_rows,
                boundaries: vec![],
            });
        }
    }

    /// Rows of an operator, as far as is known, whose inputs give so many.
    pub(crate) fn rows(&self, op: &Operator, inputs: &[f64]) -> f64 {
        self.estimates.rows_from(op, inputs, &self.out.columns)
    }

    /// The pipelines that give an operator's rows, with the columns `needed`.
    pub(crate) fn open(&mut self, op: &Operator, needed: &NeededColumns) -> Opened {
        op.node().open(op, self, needed)
    }

    /// The most rows that an operator gives, where that is certain.
    pub(crate) fn row_bound(&self, op: &Operator) -> Option<u64> {
        self.estimates.row_bound(op)
    }

    /// The buffer that holds the rows of a shared subplan, which is built before its readers.
    pub(crate) fn buffer_of(&self, id: SharedId) -> BreakerId {
        self.shared[id.0].unwrap_or_else(|| unreachable!("a shared subplan built after its reader"))
    }

    /// A column as an expression.
    pub(crate) fn column(&self, id: ColumnId) -> Expr {
        Expr::column(id, &self.out.columns)
    }

    /// NULL in place of a column.
    pub(crate) fn null(&self, id: ColumnId) -> Expr {
        Expr::constant(Value::Null, self.out.columns[id].ty)
    }
}

/// All rows of a breaker, their columns by the same ids.
pub(crate) fn rows_of(breaker: BreakerId, columns: Vec<ColumnId>) -> Source {
    some_rows_of(breaker, columns, Which::All)
}

/// Some rows of a breaker, their columns by the same ids.
pub(crate) fn some_rows_of(breaker: BreakerId, columns: Vec<ColumnId>, which: Which) -> Source {
    Source::Of {
        breaker,
        columns: columns.into_iter().map(|c| (c, c)).collect(),
        which,
        late: None,
    }
}

/// A buffer of all rows.
fn buffer(columns: &[ColumnId]) -> Breaker {
    Breaker::Buffer(Buffer {
        columns: columns.to_vec(),
        limit: None,
        offset: RowCount::Constant(0),
    })
}
