//! Pipelines and stages: the form in which a plan is compiled and run.
//!
//! A **pipeline** takes rows from a source, pushes them through operators that never hold rows back,
//! and ends in a breaker that keeps them: a join's hash table, groups, a sorter, a buffer ([`crate::breakers`]). The
//! plan's [`Schedule`] says in which order they run. A **stage** is a fused part of a pipeline; [`Pipeline::boundaries`]
//! says before which operators (counted from 0; the sink counts as the last) generated code fills a
//! stage vector and hands over (Relaxed Operator Fusion, section 4).

use crate::band::Ends;
use crate::breakers::{Breaker, BreakerId, JoinTable, Keeps, Which};
use crate::lookup::Lookup;
use crate::schedule::Schedule;
use crate::vector_function::VectorFunctionRef;
use crate::{Assumption, Change, ColumnId, Columns, Expansion, Expr, JoinKind};
use crate::{ScanDisjunction, ScanRestriction};
use frazil_types::{LogicalType, ObjectId, Span};

/// A plan cut into pipelines.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelinePlan {
    /// Every column.
    pub columns: Columns,
    /// The pipelines.
    pub pipelines: Vec<Pipeline>,
    /// What keeps their rows.
    pub breakers: Vec<Breaker>,
    /// The policy by which pipelines are cut into stages. [`StagePolicy::Relaxed`]: whoever opens a pipeline may move
    /// its boundaries, by the bytes of the tables that it probes.
    pub stages: StagePolicy,
    /// In which order pipelines run and breakers are finished.
    pub schedule: Schedule,
    /// For each scalar subquery the buffer that holds its one value once its pipelines ran.
    pub subqueries: Vec<BreakerId>,
    /// The buffer that holds the rows the plan is run for: its result, or what it wants to write.
    pub result: Option<BreakerId>,
    /// What it wants to write.
    pub write: Option<Box<Change>>,
    /// Buffers whose rows live from turn to turn, longer than what they are made of.
    pub recursions: Vec<BreakerId>,
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
    /// Bytes of groups in the sink up to which they are looked up row by row: whoever runs the pipeline may put a
    /// boundary in front of a sink that outgrows them. `None` if that boundary is there, or would not help.
    pub most_group_bytes: Option<usize>,
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
        /// Restrictions of the row id, which a filter tests, too.
        places: Vec<ScanRestriction>,
        /// Probes of this pipeline whose keys the scan tests beforehand, the most selective one first.
        early_probes: Vec<EarlyProbe>,
        /// A column that is the first key of the sorter that this pipeline fills, which needs its first rows alone: rows behind
        /// those that it has are left out.
        bound: Option<ColumnId>,
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
    /// Rows of functions whose arguments are known before.
    Expansion(Expansion),
    /// Rows of a finished breaker.
    Of {
        /// The breaker.
        breaker: BreakerId,
        /// Columns read: (column made, column kept).
        columns: Vec<(ColumnId, ColumnId)>,
        /// Which of its rows.
        which: Which,
        /// Columns of a table that are fetched when the rows are read, if any.
        late: Option<Box<LateColumns>>,
    },
}

/// Columns that a breaker does not keep: of the rows of a scan it keeps the ids, by which the columns are fetched from the same
/// version of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct LateColumns {
    /// The table.
    pub table: ObjectId,
    /// Its name.
    pub name: String,
    /// The column of row ids that the breaker keeps.
    pub row_id: ColumnId,
    /// Columns fetched: id, position in the table.
    pub columns: Vec<(ColumnId, usize)>,
}

/// A probe whose build keys are tested while its key is scanned (Data Blocks, appendix E).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyProbe {
    /// The join.
    pub join: BreakerId,
    /// The position of the key among the join's keys.
    pub key: usize,
    /// The probe key, a column of the scan.
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
        join: BreakerId,
        /// What becomes of matches and non-matches.
        kind: JoinKind,
        /// Probe keys.
        keys: Vec<Expr>,
        /// Ends of the run of build rows that a probe row meets, if the table is in order. There are no keys then.
        ends: Option<Box<Ends>>,
        /// A further condition of a match.
        residual: Option<Expr>,
        /// See [`crate::Operator::Join`].
        null_aware: bool,
    },
    /// Calls a function for all rows of a stage vector at once.
    Call(VectorCall),
    /// Passes each row on as often as functions give rows for it, with what they give.
    Expand(Expansion),
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
    /// A breaker. A join's is keyed by these expressions, which pipelines that fill the same one have each of their own.
    Into(BreakerId, Vec<Expr>),
    /// Nothing: the pipeline only marks the build rows of its last probe.
    Mark,
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
    /// The table that it reads rows of, or columns of rows.
    pub fn table(&self) -> Option<ObjectId> {
        match self {
            Source::Scan { table, .. } => Some(*table),
            Source::Lookup(lookup) => Some(lookup.table),
            Source::Of { late, .. } => late.as_ref().map(|late| late.table),
            Source::Values { .. } | Source::Given { .. } | Source::Expansion(_) => None,
        }
    }

    /// Columns it makes.
    pub fn columns(&self) -> Vec<ColumnId> {
        match self {
            Source::Scan { columns, row_id, .. } => columns.iter().map(|c| c.0).chain(*row_id).collect(),
            Source::Lookup(lookup) => lookup.made(),
            Source::Values { columns, .. } => columns.clone(),
            Source::Given { columns } => columns.iter().map(|c| c.0).collect(),
            Source::Expansion(expansion) => expansion.made().collect(),
            Source::Of { columns, late, .. } => {
                let late = late.iter().flat_map(|late| &late.columns);
                columns.iter().map(|c| c.0).chain(late.map(|c| c.0)).collect()
            }
        }
    }
}

impl PipelinePlan {
    /// What a breaker states of itself.
    pub fn keeps(&self, id: BreakerId) -> &dyn Keeps {
        self.breakers[id.0].keeps()
    }

    /// The table of a join.
    pub fn join(&self, id: BreakerId) -> &JoinTable {
        let table = self.breakers[id.0].join();
        table.unwrap_or_else(|| unreachable!("a probe into a breaker that is no join's"))
    }

    /// The number of a breaker among those of its name.
    pub fn number(&self, id: BreakerId) -> usize {
        let name = self.keeps(id).name();
        let before = self.breakers[..id.0].iter();
        before.filter(|breaker| breaker.keeps().name() == name).count()
    }

    /// The breaker that a pipeline fills, and what it states of itself; none if the pipeline only marks.
    pub fn filled(&self, pipeline: &Pipeline) -> Option<(BreakerId, &Breaker)> {
        let id = pipeline.sink.breaker()?;
        Some((id, &self.breakers[id.0]))
    }
}

impl Pipeline {
    /// True if the rows must be taken one after the other, because a breaker gives them, which may be in an order, and
    /// either volatile functions are computed of them, or they are kept for a window without an order of its own.
    pub fn keeps_order(&self, plan: &PipelinePlan) -> bool {
        let is_volatile = |operator: &PipelineOperator| match operator {
            PipelineOperator::Call(call) => call.function.0.is_volatile(),
            PipelineOperator::Filter(_)
            | PipelineOperator::Map(_)
            | PipelineOperator::Probe { .. }
            | PipelineOperator::Expand(_) => false,
        };
        let Source::Of { breaker, .. } = &self.source else {
            return false;
        };
        let windows = plan.filled(self).and_then(|(_, breaker)| breaker.windows());
        self.operators.iter().any(is_volatile)
            || plan.breakers[breaker.0].gives_order() && windows.is_some_and(|w| w.takes_given_order())
    }

    /// Whether operator `k` works on a whole stage vector, so that a boundary has to lie before it.
    pub fn needs_boundary(&self, k: usize) -> bool {
        matches!(self.operators.get(k), Some(PipelineOperator::Call(_)))
    }

    /// Whether a boundary before operator `k` does anything. A source hands over vectors by itself, and so does
    /// a stage to a sink that takes them; but keys of a probe or of groups, and arguments of a call, are put into a stage vector.
    pub fn may_have_boundary(&self, k: usize, plan: &PipelinePlan) -> bool {
        match self.operators.get(k) {
            _ if self.needs_boundary(k) => true,
            Some(PipelineOperator::Probe { keys, .. }) if k == 0 => !keys.is_empty(),
            Some(_) => k > 0,
            None => self.sink.looks_up(plan) || k > 0 && !self.sink.takes_vectors(plan),
        }
    }
}

impl PipelineOperator {
    /// The breaker that it looks into.
    pub fn looks_into(&self) -> Option<BreakerId> {
        match self {
            PipelineOperator::Probe { join, .. } => Some(*join),
            PipelineOperator::Filter(_)
            | PipelineOperator::Map(_)
            | PipelineOperator::Call(_)
            | PipelineOperator::Expand(_) => None,
        }
    }

    /// Columns it adds.
    pub fn adds(&self, plan: &PipelinePlan) -> Vec<ColumnId> {
        match self {
            PipelineOperator::Filter(_) => vec![],
            PipelineOperator::Expand(expansion) => expansion.made().collect(),
            PipelineOperator::Map(expressions) => expressions.iter().map(|e| e.0).collect(),
            PipelineOperator::Call(call) => vec![call.made],
            PipelineOperator::Probe { join, kind, .. } => match kind {
                JoinKind::Inner | JoinKind::ProbeOuter | JoinKind::BuildOuter | JoinKind::FullOuter => {
                    plan.join(*join).payload.clone()
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
            PipelineOperator::Probe {
                keys, ends, residual, ..
            } => {
                let ends = ends.iter().flat_map(|ends| ends.values());
                keys.iter().chain(ends).chain(residual).for_each(add);
            }
            PipelineOperator::Call(call) => ids.extend(call.arguments.iter().chain(&call.guard)),
            PipelineOperator::Expand(expansion) => expansion.arguments().for_each(add),
        }
        ids.sort();
        ids.dedup();
        ids
    }
}

impl Sink {
    /// The breaker that it fills.
    pub fn breaker(&self) -> Option<BreakerId> {
        match self {
            Sink::Into(id, _) => Some(*id),
            Sink::Mark => None,
        }
    }

    /// The expressions that it evaluates for each row, those of the breaker among them.
    pub fn expressions<'p>(&'p self, plan: &'p PipelinePlan) -> Vec<&'p Expr> {
        match self {
            Sink::Into(id, keys) => keys.iter().chain(plan.keeps(*id).expressions()).collect(),
            Sink::Mark => vec![],
        }
    }

    /// Whether it is handed whole vectors.
    pub fn takes_vectors(&self, plan: &PipelinePlan) -> bool {
        self.breaker().is_some_and(|id| plan.keeps(id).takes_vectors())
    }

    /// Whether it looks up a row of its breaker for each row that it is handed.
    pub fn looks_up(&self, plan: &PipelinePlan) -> bool {
        self.breaker().is_some_and(|id| plan.keeps(id).looks_up())
    }

    /// Columns it reads.
    pub fn reads(&self, plan: &PipelinePlan) -> Vec<ColumnId> {
        let kept = self.breaker().map(|id| plan.keeps(id).reads());
        let expressions = self.expressions(plan).into_iter();
        let mut ids: Vec<ColumnId> = expressions.flat_map(Expr::columns_read).collect();
        ids.extend(kept.into_iter().flatten());
        ids.sort();
        ids.dedup();
        ids
    }
}
