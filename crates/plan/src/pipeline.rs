//! Pipelines and stages: the form in which a plan is compiled and run.
//!
//! A **pipeline** takes rows from a source, pushes them through operators that never hold rows back,
//! and ends in a sink that keeps them: a join's hash table, groups, a sorter, a buffer. Pipelines stand
//! in the order in which they run. A **stage** is a fused part of a pipeline; [`Pipeline::boundaries`]
//! says before which operators (counted from 0; the sink counts as the last) generated code fills a
//! stage vector and hands over (Relaxed Operator Fusion, section 3).

use crate::lookup::Lookup;
use crate::operators::{ScanDisjunction, ScanRestriction};
use crate::vector_function::VectorFunctionRef;
use crate::{AggregateCall, Assumption, Change, ColumnId, Columns, Expr, JoinKind, RowCount, SortKey};
use frazil_types::{LogicalType, ObjectId, Span};

/// A join's hash table: index into [`PipelinePlan::joins`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JoinId(pub usize);

/// An aggregation's groups: index into [`PipelinePlan::aggregates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AggregateId(pub usize);

/// A sorter: index into [`PipelinePlan::sorts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortId(pub usize);

/// Rows kept to be read again: index into [`PipelinePlan::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub usize);

/// A plan cut into pipelines.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelinePlan {
    /// Every column.
    pub columns: Columns,
    /// The pipelines, in the order in which they run.
    pub pipelines: Vec<Pipeline>,
    /// Join tables.
    pub joins: Vec<JoinTable>,
    /// Aggregations.
    pub aggregates: Vec<AggregateTable>,
    /// Sorters.
    pub sorts: Vec<SortTable>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// For each scalar subquery the buffer that holds its one value once its pipelines ran.
    pub subqueries: Vec<BufferId>,
    /// The buffer that holds the result, if the statement returns rows.
    pub result: Option<BufferId>,
    /// Names of the result's columns.
    pub output: Vec<String>,
    /// Types of the parameters.
    pub parameters: Vec<LogicalType>,
    /// What the plan relies on.
    pub assumptions: Vec<Assumption>,
}

/// One pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Where rows come from.
    pub source: Source,
    /// What is done to each.
    pub operators: Vec<PipelineOperator>,
    /// Where they end.
    pub sink: Sink,
    /// Rows in it where they are most, as far as is known.
    pub estimated_rows: f64,
    /// Operators before which a stage boundary lies, ascending; `operators.len()` is the sink.
    pub boundaries: Vec<usize>,
}

/// Where a pipeline's rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A table.
    Scan {
        /// The table.
        table: ObjectId,
        /// Its name.
        name: String,
        /// Columns read: id, position in the table.
        columns: Vec<(ColumnId, usize)>,
        /// A column of row ids.
        row_id: Option<ColumnId>,
        /// Predicates evaluated by the scan.
        restrictions: Vec<ScanRestriction>,
        /// Disjunctions of such.
        disjunctions: Vec<ScanDisjunction>,
        /// Probes of this pipeline whose keys the scan tests beforehand, the most selective one first.
        early_probes: Vec<EarlyProbe>,
    },
    /// The row of a table that has a key.
    Lookup(Box<Lookup>),
    /// Rows of expressions that read no column.
    Values {
        /// The columns made.
        columns: Vec<ColumnId>,
        /// The rows.
        rows: Vec<Vec<Expr>>,
    },
    /// Rows that whoever runs the plan gives.
    Given {
        /// Columns read: id, position among those given.
        columns: Vec<(ColumnId, usize)>,
    },
    /// The finished groups of an aggregation.
    Groups(AggregateId),
    /// The rows of a sorter, in order.
    Sorted(SortId),
    /// The rows of a buffer: (column made, column stored).
    Buffer(BufferId, Vec<(ColumnId, ColumnId)>),
    /// Build rows of a join that found a match, or that found none.
    BuildRows {
        /// The join.
        join: JoinId,
        /// Those with a match.
        matched: bool,
    },
}

/// A probe whose build keys are tested while its key is scanned (Data Blocks, appendix E).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyProbe {
    /// The join.
    pub join: JoinId,
    /// Its probe key, a column of the scan.
    pub column: ColumnId,
}

/// An operator within a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum PipelineOperator {
    /// Drops rows for which the predicate is not true.
    Filter(Expr),
    /// Adds columns.
    Map(Vec<(ColumnId, Expr)>),
    /// Looks up a join's table.
    Probe {
        /// The table.
        join: JoinId,
        /// What becomes of matches and non-matches.
        kind: JoinKind,
        /// Probe keys.
        keys: Vec<Expr>,
        /// A further condition of a match.
        residual: Option<Expr>,
        /// See [`crate::Operator::Join`].
        null_aware: bool,
    },
    /// Calls a function for all rows of a stage vector at once.
    Call(VectorCall),
    /// Passes each row on as often as a bigint column says; NULL, 0 and less: never.
    Repeat {
        /// The column.
        count: ColumnId,
    },
}

/// The call of a vector function over columns.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorCall {
    /// The column made.
    pub made: ColumnId,
    /// The function.
    pub function: VectorFunctionRef,
    /// Type of its result.
    pub ty: LogicalType,
    /// Its arguments.
    pub arguments: Vec<ColumnId>,
    /// A boolean column, never NULL, that is true for the rows to be evaluated; none: all of them.
    pub guard: Option<ColumnId>,
    /// Where the call stands in the statement.
    pub span: Span,
}

/// Where a pipeline's rows end.
#[derive(Clone, Debug, PartialEq)]
pub enum Sink {
    /// A join's table, keyed by these expressions.
    JoinBuild(JoinId, Vec<Expr>),
    /// An aggregation.
    Aggregate(AggregateId),
    /// A sorter.
    Sort(SortId),
    /// A buffer; the columns stored, in the buffer's order.
    Buffer(BufferId, Vec<ColumnId>),
    /// Nothing: the pipeline only marks the build rows of its last probe.
    Mark,
    /// What a write keeps of its input: see [`Change::kept`].
    Write(Box<Change>),
}

/// What a join's table holds.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinTable {
    /// Type and nullability of the keys. No keys: a list, every probe row meets every build row.
    pub keys: Vec<(LogicalType, bool)>,
    /// Build columns kept for whoever reads them above, or in the residual.
    pub payload: Vec<ColumnId>,
    /// How the join combines.
    pub kind: JoinKind,
    /// Whether rows carry a mark that a probe found them.
    pub marked: bool,
    /// See [`crate::Operator::Join`].
    pub null_aware: bool,
    /// Rows expected.
    pub estimated_rows: f64,
}

/// An aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateTable {
    /// Group columns and what they are.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Aggregates. DISTINCT ones have been rewritten away, save where `distinct` still says so.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
    /// Groups expected.
    pub estimated_groups: f64,
    /// Rows it takes in at most, where that is known: sums of bounded values use it.
    pub row_bound: Option<u64>,
}

impl AggregateTable {
    /// What it computes for each row: its groups, then arguments and filters of its aggregates.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let calls = self.aggregates.iter().map(|a| &a.1);
        let parts = calls.flat_map(|call| call.argument.iter().chain(&call.filter));
        self.groups.iter().map(|g| &g.1).chain(parts)
    }
}

/// A sorter.
#[derive(Clone, Debug, PartialEq)]
pub struct SortTable {
    /// Keys, most significant first.
    pub keys: Vec<SortKey>,
    /// Limit and offset count among rows that are equal in so many of the first keys.
    pub groups: usize,
    /// Columns kept, the keys among them.
    pub columns: Vec<ColumnId>,
    /// Rows given out, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows skipped.
    pub offset: RowCount,
}

/// Rows kept in columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// The stored columns.
    pub columns: Vec<ColumnId>,
    /// Rows kept, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows skipped.
    pub offset: RowCount,
}

/// How pipelines are cut into stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StagePolicy {
    /// Never: HyPer's full operator fusion.
    Fused,
    /// After SIMD predicates and before accesses to structures larger than the cache.
    #[default]
    Relaxed,
    /// Between every two operators.
    Staged,
}

impl std::str::FromStr for StagePolicy {
    type Err = String;
    fn from_str(text: &str) -> Result<StagePolicy, String> {
        match text {
            "fused" => Ok(StagePolicy::Fused),
            "relaxed" => Ok(StagePolicy::Relaxed),
            "staged" => Ok(StagePolicy::Staged),
            other => Err(format!(
                "unknown stage policy \"{other}\"; there are fused, relaxed and staged"
            )),
        }
    }
}

impl Source {
    /// Columns it makes.
    pub fn columns(&self, plan: &PipelinePlan) -> Vec<ColumnId> {
        match self {
            Source::Scan { columns, row_id, .. } => columns.iter().map(|c| c.0).chain(*row_id).collect(),
            Source::Lookup(lookup) => lookup.made(),
            Source::Values { columns, .. } => columns.clone(),
            Source::Given { columns } => columns.iter().map(|c| c.0).collect(),
            Source::Groups(id) => {
                let table = &plan.aggregates[id.0];
                table
                    .groups
                    .iter()
                    .map(|g| g.0)
                    .chain(table.aggregates.iter().map(|a| a.0))
                    .collect()
            }
            Source::Sorted(id) => plan.sorts[id.0].columns.clone(),
            Source::Buffer(_, columns) => columns.iter().map(|c| c.0).collect(),
            Source::BuildRows { join, .. } => plan.joins[join.0].payload.clone(),
        }
    }
}

impl Pipeline {
    /// Whether operator `k` works on a whole stage vector, so that a boundary has to lie before it.
    pub fn needs_boundary(&self, k: usize) -> bool {
        matches!(self.operators.get(k), Some(PipelineOperator::Call(_)))
    }

    /// Whether a boundary before operator `k` does anything. A source hands over vectors by itself, and so does
    /// a stage to a sink that takes them; but keys of a probe, and arguments of a call, are put into a stage vector.
    pub fn may_have_boundary(&self, k: usize) -> bool {
        match self.operators.get(k) {
            _ if self.needs_boundary(k) => true,
            Some(PipelineOperator::Probe { keys, .. }) if k == 0 => !keys.is_empty(),
            Some(_) => k > 0,
            None => k > 0 && !self.sink.takes_vectors(),
        }
    }
}

impl PipelineOperator {
    /// Columns it adds.
    pub fn adds(&self, plan: &PipelinePlan) -> Vec<ColumnId> {
        match self {
            PipelineOperator::Filter(_) | PipelineOperator::Repeat { .. } => vec![],
            PipelineOperator::Map(expressions) => expressions.iter().map(|e| e.0).collect(),
            PipelineOperator::Call(call) => vec![call.made],
            PipelineOperator::Probe { join, kind, .. } => match kind {
                JoinKind::Inner | JoinKind::ProbeOuter | JoinKind::BuildOuter | JoinKind::FullOuter => {
                    plan.joins[join.0].payload.clone()
                }
                JoinKind::ProbeMark(mark) => vec![*mark],
                _ => vec![],
            },
        }
    }

    /// Columns it reads (those of the build side a residual reads among them).
    pub fn reads(&self) -> Vec<ColumnId> {
        let mut ids = Vec::new();
        let mut add = |e: &Expr| ids.extend(e.columns_read());
        match self {
            PipelineOperator::Filter(e) => add(e),
            PipelineOperator::Map(expressions) => expressions.iter().for_each(|(_, e)| add(e)),
            PipelineOperator::Probe { keys, residual, .. } => keys.iter().chain(residual).for_each(add),
            PipelineOperator::Call(call) => ids.extend(call.arguments.iter().chain(&call.guard)),
            PipelineOperator::Repeat { count } => ids.push(*count),
        }
        ids.sort();
        ids.dedup();
        ids
    }
}

impl Sink {
    /// Whether it is handed whole vectors.
    pub fn takes_vectors(&self) -> bool {
        matches!(self, Sink::Buffer(..) | Sink::Write(_))
    }

    /// Columns it reads.
    pub fn reads(&self, plan: &PipelinePlan) -> Vec<ColumnId> {
        let mut ids: Vec<ColumnId> = match self {
            Sink::JoinBuild(id, keys) => keys
                .iter()
                .flat_map(Expr::columns_read)
                .chain(plan.joins[id.0].payload.iter().copied())
                .collect(),
            Sink::Aggregate(id) => {
                let expressions = plan.aggregates[id.0].expressions();
                expressions.flat_map(Expr::columns_read).collect()
            }
            Sink::Sort(id) => plan.sorts[id.0].columns.clone(),
            Sink::Buffer(_, columns) => columns.clone(),
            Sink::Mark => vec![],
            Sink::Write(change) => change.kept(),
        };
        ids.sort();
        ids.dedup();
        ids
    }
}
