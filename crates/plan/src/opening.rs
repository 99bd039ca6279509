//! Operators opened: each gives the pipelines of its rows, and fills breakers ([`crate::operators::Node::open`]).
//!
//! Works top-down with the set of columns needed above, so that every breaker keeps only what somebody
//! reads. An input that is several pipelines (UNION ALL, outer joins of the build side) stays several:
//! what follows is appended to each.

mod turns;
mod windows;

use crate::breakers::{Breaker, BreakerId, Buffer, Which};
use crate::operators::node::{RecursionId, Tree, as_operator};
use crate::operators::shared::Shared;
use crate::pipeline::*;
use crate::schedule::Step;
use crate::{ColumnId, Columns, Expr, ExprKind, RowCount, SharedId};
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
pub trait Estimates<T> {
    /// Rows an operator gives whose inputs give so many.
    fn rows_from(&self, operator: &T, inputs: &[f64], columns: &Columns) -> f64;
    /// Rows an operator gives at most, where that is certain.
    fn row_bound(&self, operator: &T) -> Option<u64>;
}

/// The trees whose rows others read: each runs before its first reader.
pub(crate) struct Helpers<'a, T> {
    pub(crate) shared: &'a [T],
    pub(crate) shared_needed: Vec<NeededColumns>,
    pub(crate) subqueries: &'a [(T, ColumnId)],
}

/// For each shared subplan the columns any reader takes.
pub(crate) fn shared_columns<T: Tree>(
    root: &T,
    subqueries: &[(T, ColumnId)],
    shared: &[T],
) -> Vec<NeededColumns> {
    fn visit<T: Tree>(op: &T, needed: &mut [NeededColumns]) {
        if let Some(Shared { id, columns }) = as_operator(op) {
            needed[id.0].extend(columns.iter().map(|c| c.1));
        }
        op.node().inputs().into_iter().for_each(|i| visit(i, needed));
    }
    let mut needed = vec![NeededColumns::new(); shared.len()];
    for tree in subqueries.iter().map(|s| &s.0).chain(shared).chain([root]) {
        visit(tree, &mut needed);
    }
    needed
}

/// Pipelines in the making: operators open themselves into it ([`crate::operators::Node::open`]).
pub struct Builder<'a, T> {
    pub(crate) out: PipelinePlan,
    estimates: &'a dyn Estimates<T>,
    helpers: &'a Helpers<'a, T>,
    shared: Vec<Option<BreakerId>>,
    subqueries: Vec<Option<BreakerId>>,
    /// What a run does so far; within a recursion's turn, that turn.
    steps: Vec<Step>,
    /// The recursions that are open: their work buffers and its columns.
    turns: HashMap<RecursionId, (BreakerId, Vec<ColumnId>)>,
}

impl<'a, T: Tree> Builder<'a, T> {
    /// No pipelines yet.
    pub(crate) fn new(
        out: PipelinePlan,
        estimates: &'a dyn Estimates<T>,
        helpers: &'a Helpers<'a, T>,
    ) -> Builder<'a, T> {
        Builder {
            out,
            estimates,
            helpers,
            shared: vec![None; helpers.shared.len()],
            subqueries: vec![None; helpers.subqueries.len()],
            steps: vec![],
            turns: HashMap::new(),
        }
    }

    /// Builds the pipelines of all scalar subqueries that nothing read so far.
    pub(crate) fn prepare_subqueries(&mut self) {
        (0..self.subqueries.len()).for_each(|id| self.prepare_subquery(id));
        self.out.subqueries = self.subqueries.iter().flatten().copied().collect();
    }

    /// The pipelines, breakers and their order.
    pub(crate) fn finish(mut self) -> PipelinePlan {
        self.out.schedule.steps = self.steps;
        self.out
    }

    /// Builds the pipelines of all shared subplans and scalar subqueries that a tree reads, and before
    /// them those that they read.
    pub(crate) fn prepare(&mut self, op: &T) {
        if let Some(Shared { id, .. }) = as_operator(op) {
            self.prepare_shared(id.0);
        }
        let mut read = Vec::new();
        for e in op.node().expressions() {
            e.walk(&mut |part| {
                if let ExprKind::ScalarSubquery(id) = part.kind {
                    read.push(id.0);
                }
            });
        }
        read.into_iter().for_each(|id| self.prepare_subquery(id));
        // What a turn reads may be computed in it.
        let until = match op.node().recursion() {
            Some(_) => 1,
            None => usize::MAX,
        };
        let inputs = op.node().inputs().into_iter().take(until);
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

    /// The buffer, and how many rows go into it.
    pub(crate) fn keep_in_buffer(
        &mut self,
        op: &T,
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
                most_group_bytes: None,
            });
        }
    }

    /// Rows of an operator, as far as is known, whose inputs give so many.
    pub(crate) fn rows(&self, op: &T, inputs: &[f64]) -> f64 {
        self.estimates.rows_from(op, inputs, &self.out.columns)
    }

    /// The pipelines that give an operator's rows, with the columns `needed`.
    pub(crate) fn open(&mut self, op: &T, needed: &NeededColumns) -> Opened {
        op.node().open(op, self, needed)
    }

    /// The most rows that an operator gives, where that is certain.
    pub(crate) fn row_bound(&self, op: &T) -> Option<u64> {
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
