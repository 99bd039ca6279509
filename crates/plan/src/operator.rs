//! Operators: the tree that `frontend` makes and `optimizer` rewrites.
//!
//! A column made by an operator is visible to everything above it until an operator that makes new
//! rows ([`Operator::Aggregate`], [`Operator::UnionAll`]) ends it. There is no operator that only
//! drops or renames columns: liveness decides what is carried.

use crate::{AggregateCall, Change, ColumnId, Columns, Expr, RowCount};
use frazil_types::{CompareOp, LogicalType, ObjectId, Value};

/// A scalar subquery of the plan: index into [`Plan::subqueries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubqueryId(pub usize);

/// A subplan computed once and read several times: index into [`Plan::shared`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedId(pub usize);

/// A whole statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The operator tree.
    pub root: Operator,
    /// Every column in it.
    pub columns: Columns,
    /// What the statement returns: names and columns. Of INSERT, UPDATE and DELETE what RETURNING shows, unless a query of
    /// the [`Write`] makes that.
    pub output: Vec<(String, ColumnId)>,
    /// Scalar subqueries: a tree and its one column. More than one row is error 21000.
    pub subqueries: Vec<(Operator, ColumnId)>,
    /// Subplans read by [`Operator::Shared`].
    pub shared: Vec<Operator>,
    /// Types of the parameters.
    pub parameters: Vec<LogicalType>,
}

/// What a scan pushes into storage: a SARGable predicate whose operands are known when the pipeline
/// opens (constants, parameters, scalar subqueries).
#[derive(Clone, Debug, PartialEq)]
pub struct ScanRestriction {
    /// The column, one of the scan's.
    pub column: ColumnId,
    /// What is asked.
    pub kind: ScanRestrictionKind,
}

/// As [`frazil_types::RestrictionKind`], with operands still to be bound.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanRestrictionKind {
    /// A comparison.
    Compare(CompareOp, Expr),
    /// Both bounds inclusive.
    Between(Expr, Expr),
    /// Any of the constants.
    In(Vec<Value>),
    /// IS NULL.
    IsNull,
    /// IS NOT NULL.
    IsNotNull,
    /// LIKE 'prefix%'.
    Prefix(String),
    /// LIKE with a pattern that has backslash as escape.
    Like {
        /// The pattern.
        pattern: String,
        /// NOT LIKE.
        negated: bool,
    },
}

impl ScanRestrictionKind {
    /// The operands still to be bound.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            ScanRestrictionKind::Compare(_, operand) => vec![operand],
            ScanRestrictionKind::Between(low, high) => vec![low, high],
            _ => vec![],
        }
    }

    /// The same, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            ScanRestrictionKind::Compare(_, operand) => vec![operand],
            ScanRestrictionKind::Between(low, high) => vec![low, high],
            _ => vec![],
        }
    }
}

/// Alternatives that a scan pushes into storage as [`frazil_types::Disjunction`]: a row has to satisfy all
/// restrictions of one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanDisjunction {
    /// The alternatives, none of them empty.
    pub alternatives: Vec<Vec<ScanRestriction>>,
}

impl ScanDisjunction {
    /// The restrictions of all alternatives.
    pub fn restrictions(&self) -> impl Iterator<Item = &ScanRestriction> {
        self.alternatives.iter().flatten()
    }

    /// The same, to be changed.
    pub fn restrictions_mut(&mut self) -> impl Iterator<Item = &mut ScanRestriction> {
        self.alternatives.iter_mut().flatten()
    }
}

/// How a join combines its sides. The probe side streams through; the build side is a hash table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs that match.
    Inner,
    /// Pairs that match, and probe rows without a match, the build side NULL.
    ProbeOuter,
    /// Pairs that match, and build rows without a match, the probe side NULL.
    BuildOuter,
    /// Both of the above.
    FullOuter,
    /// Probe rows with a match, once.
    ProbeSemi,
    /// Probe rows without a match.
    ProbeAnti,
    /// Build rows with a match, once; the probe side only marks.
    BuildSemi,
    /// Build rows without a match.
    BuildAnti,
    /// Probe rows, each with a boolean that says whether it has a match; NULL where SQL's IN is unknown.
    ProbeMark(ColumnId),
}

impl JoinKind {
    /// Whether a probe row without a match leaves no trace, so that it need not come to the probe.
    pub fn drops_probe_rows(self) -> bool {
        match self {
            JoinKind::Inner
            | JoinKind::BuildOuter
            | JoinKind::ProbeSemi
            | JoinKind::BuildSemi
            | JoinKind::BuildAnti => true,
            JoinKind::ProbeOuter | JoinKind::FullOuter | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => {
                false
            }
        }
    }
}

/// One key of a sort.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// The column.
    pub column: ColumnId,
    /// Descending.
    pub descending: bool,
    /// NULLs before all else.
    pub nulls_first: bool,
}

/// Writes the rows of its input into a table, or changes or deletes the table's rows that they name.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// Input.
    pub input: Box<Operator>,
    /// What it does with a row.
    pub change: Change,
    /// Of ON CONFLICT DO UPDATE what becomes of rows that are in the way: see [`crate::ConflictUpdate`].
    pub update: Option<Box<Plan>>,
    /// RETURNING of an INSERT with ON CONFLICT: a query over the rows that were written, whose columns
    /// ([`Operator::Given`]) are the table's.
    pub returning: Option<Box<Plan>>,
}

impl Write {
    /// Writes rows, computes nothing else.
    pub fn new(input: Operator, change: Change) -> Write {
        Write {
            input: Box::new(input),
            change,
            update: None,
            returning: None,
        }
    }

    /// The queries that are run between and after its writing.
    pub fn queries(&self) -> impl Iterator<Item = &Plan> {
        self.update.iter().chain(&self.returning).map(|plan| &**plan)
    }

    /// The same, to be changed.
    pub fn queries_mut(&mut self) -> impl Iterator<Item = &mut Plan> {
        (self.update.iter_mut().chain(&mut self.returning)).map(|plan| &mut **plan)
    }
}

/// An operator with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// Rows of a table.
    Scan {
        /// The table.
        table: ObjectId,
        /// Its name, for EXPLAIN.
        name: String,
        /// Columns read: id in the plan, position in the table.
        columns: Vec<(ColumnId, usize)>,
        /// A column of row ids (bigint), for UPDATE and DELETE.
        row_id: Option<ColumnId>,
        /// Predicates pushed into storage.
        restrictions: Vec<ScanRestriction>,
        /// Disjunctions of such, pushed as well.
        disjunctions: Vec<ScanDisjunction>,
    },
    /// Rows of expressions without columns. No columns and one row: SELECT without FROM.
    Values {
        /// The columns made.
        columns: Vec<ColumnId>,
        /// The rows.
        rows: Vec<Vec<Expr>>,
    },
    /// Rows that whoever runs the plan gives.
    Given {
        /// Columns read: id in the plan, position among those given.
        columns: Vec<(ColumnId, usize)>,
    },
    /// Rows for which the predicate is true.
    Filter {
        /// Input.
        input: Box<Operator>,
        /// The predicate.
        predicate: Expr,
    },
    /// Adds computed columns.
    Map {
        /// Input.
        input: Box<Operator>,
        /// New columns and what they are.
        expressions: Vec<(ColumnId, Expr)>,
    },
    /// Joins two inputs. Without keys it is a nested loop over the build rows.
    Join {
        /// How.
        kind: JoinKind,
        /// The side that becomes a hash table.
        build: Box<Operator>,
        /// The side that streams.
        probe: Box<Operator>,
        /// Equal keys: (build expression, probe expression), of one native type each.
        keys: Vec<(Expr, Expr)>,
        /// A further condition on a pair; part of the match, not a filter after it.
        residual: Option<Expr>,
        /// NOT IN: a NULL on the build side makes every non-match unknown, a NULL probe key matches nothing
        /// (unless the build side is empty). Only with ProbeAnti, BuildAnti and ProbeMark.
        null_aware: bool,
    },
    /// Each row of `outer` with the rows of `inner` for it: LATERAL. `inner` reads columns of `outer`. Made by the
    /// binder alone; unnesting turns it into a [`Operator::Join`].
    DependentJoin {
        /// The rows that `inner` depends on.
        outer: Box<Operator>,
        /// The rows for each of them.
        inner: Box<Operator>,
        /// A further condition on a pair; part of the match, not a filter after it.
        condition: Option<Expr>,
        /// LEFT JOIN LATERAL: a row of `outer` without a match comes once, the columns of `inner` NULL.
        keep_outer: bool,
    },
    /// Groups. Without groups: one row, also for no input.
    Aggregate {
        /// Input.
        input: Box<Operator>,
        /// Group columns made, and the expressions grouped by. NULLs are one group.
        groups: Vec<(ColumnId, Expr)>,
        /// Aggregates made.
        aggregates: Vec<(ColumnId, AggregateCall)>,
    },
    /// Orders rows; with a limit keeps only the first ones.
    Sort {
        /// Input.
        input: Box<Operator>,
        /// The keys, most significant first.
        keys: Vec<SortKey>,
        /// Rows kept, after `offset`.
        limit: Option<RowCount>,
        /// Rows skipped.
        offset: RowCount,
    },
    /// Of the rows of each group some, in the order of the keys: LIMIT for each outer row.
    TopPerGroup {
        /// Input.
        input: Box<Operator>,
        /// What makes a group: rows equal in these columns, NULLs counting as equal. Without one all rows are a group, whose
        /// numbers of rows are columns.
        groups: Vec<ColumnId>,
        /// The keys, most significant first; without one any rows of a group do.
        keys: Vec<SortKey>,
        /// Rows kept of each group, after `offset`.
        limit: Option<RowCount>,
        /// Rows of each group skipped.
        offset: RowCount,
    },
    /// Some rows.
    Limit {
        /// Input.
        input: Box<Operator>,
        /// Rows kept, after `offset`.
        limit: Option<RowCount>,
        /// Rows skipped.
        offset: RowCount,
    },
    /// Each row so many times.
    Repeat {
        /// Input.
        input: Box<Operator>,
        /// A bigint column: how often its row is given. A row with NULL, 0 or less is not given at all.
        count: ColumnId,
    },
    /// All rows of all inputs.
    UnionAll {
        /// Inputs, each with the columns that become the output's, in order.
        inputs: Vec<(Operator, Vec<ColumnId>)>,
        /// The columns made.
        columns: Vec<ColumnId>,
    },
    /// Rows of a shared subplan.
    Shared {
        /// Which.
        id: SharedId,
        /// Columns made: (new id, id in the shared plan).
        columns: Vec<(ColumnId, ColumnId)>,
    },
    /// INSERT, UPDATE, DELETE: the root of a plan.
    Write(Box<Write>),
}

impl Operator {
    /// Whether it surely has no second row.
    pub fn at_most_one_row(&self) -> bool {
        use JoinKind::*;
        match self {
            Operator::Map { input, .. } | Operator::Filter { input, .. } => input.at_most_one_row(),
            Operator::Aggregate { groups, .. } => groups.is_empty(),
            Operator::Values { rows, .. } => rows.len() <= 1,
            Operator::Sort { input, limit, .. } | Operator::Limit { input, limit, .. } => {
                let constant = limit.as_ref().and_then(RowCount::constant);
                constant.is_some_and(|n| n <= 1) || input.at_most_one_row()
            }
            Operator::Join {
                kind, build, probe, ..
            } => match kind {
                Inner | ProbeOuter | BuildOuter => build.at_most_one_row() && probe.at_most_one_row(),
                ProbeSemi | ProbeAnti | ProbeMark(_) => probe.at_most_one_row(),
                BuildSemi | BuildAnti => build.at_most_one_row(),
                FullOuter => false,
            },
            _ => false,
        }
    }

    /// Its inputs; of a join the build side first.
    pub fn inputs(&self) -> Vec<&Operator> {
        use Operator::*;
        match self {
            Scan { .. } | Values { .. } | Given { .. } | Shared { .. } => vec![],
            Filter { input, .. }
            | Map { input, .. }
            | Aggregate { input, .. }
            | Sort { input, .. }
            | TopPerGroup { input, .. }
            | Limit { input, .. }
            | Repeat { input, .. } => vec![input],
            Write(write) => vec![&write.input],
            Join { build, probe, .. } => vec![build, probe],
            DependentJoin { outer, inner, .. } => vec![outer, inner],
            UnionAll { inputs, .. } => inputs.iter().map(|(i, _)| i).collect(),
        }
    }

    /// Its inputs, to be changed.
    pub fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        use Operator::*;
        match self {
            Scan { .. } | Values { .. } | Given { .. } | Shared { .. } => vec![],
            Filter { input, .. }
            | Map { input, .. }
            | Aggregate { input, .. }
            | Sort { input, .. }
            | TopPerGroup { input, .. }
            | Limit { input, .. }
            | Repeat { input, .. } => vec![input],
            Write(write) => vec![&mut write.input],
            Join { build, probe, .. } => vec![build, probe],
            DependentJoin { outer, inner, .. } => vec![outer, inner],
            UnionAll { inputs, .. } => inputs.iter_mut().map(|(i, _)| i).collect(),
        }
    }

    /// The expressions it evaluates itself, those of restrictions included.
    pub fn expressions(&self) -> Vec<&Expr> {
        use Operator::*;
        match self {
            Scan {
                restrictions,
                disjunctions,
                ..
            } => {
                let others = disjunctions.iter().flat_map(ScanDisjunction::restrictions);
                (restrictions.iter().chain(others))
                    .flat_map(|r| r.kind.operands())
                    .collect()
            }
            Values { rows, .. } => rows.iter().flatten().collect(),
            Filter { predicate, .. } => vec![predicate],
            Map { expressions, .. } => expressions.iter().map(|e| &e.1).collect(),
            DependentJoin { condition, .. } => condition.iter().collect(),
            Join { keys, residual, .. } => keys.iter().flat_map(|k| [&k.0, &k.1]).chain(residual).collect(),
            Aggregate {
                groups, aggregates, ..
            } => {
                let calls = aggregates
                    .iter()
                    .flat_map(|a| a.1.argument.iter().chain(&a.1.filter));
                groups.iter().map(|g| &g.1).chain(calls).collect()
            }
            Sort { limit, offset, .. } | TopPerGroup { limit, offset, .. } | Limit { limit, offset, .. } => {
                let counts = limit.iter().chain([offset]);
                counts.filter_map(RowCount::value).collect()
            }
            Given { .. } | Shared { .. } | Repeat { .. } | UnionAll { .. } | Write(_) => vec![],
        }
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        use Operator::*;
        match self {
            Scan {
                restrictions,
                disjunctions,
                ..
            } => {
                let others = disjunctions
                    .iter_mut()
                    .flat_map(ScanDisjunction::restrictions_mut);
                (restrictions.iter_mut().chain(others))
                    .flat_map(|r| r.kind.operands_mut())
                    .collect()
            }
            Values { rows, .. } => rows.iter_mut().flatten().collect(),
            Filter { predicate, .. } => vec![predicate],
            Map { expressions, .. } => expressions.iter_mut().map(|e| &mut e.1).collect(),
            DependentJoin { condition, .. } => condition.iter_mut().collect(),
            Join { keys, residual, .. } => (keys.iter_mut())
                .flat_map(|k| [&mut k.0, &mut k.1])
                .chain(residual)
                .collect(),
            Aggregate {
                groups, aggregates, ..
            } => {
                let calls = aggregates.iter_mut().map(|a| &mut a.1);
                let parts = calls.flat_map(|c| c.argument.iter_mut().chain(&mut c.filter));
                groups.iter_mut().map(|g| &mut g.1).chain(parts).collect()
            }
            Sort { limit, offset, .. } | TopPerGroup { limit, offset, .. } | Limit { limit, offset, .. } => {
                let counts = limit.iter_mut().chain([offset]);
                counts.filter_map(RowCount::value_mut).collect()
            }
            Given { .. } | Shared { .. } | Repeat { .. } | UnionAll { .. } | Write(_) => vec![],
        }
    }

    /// Columns visible above it.
    pub fn visible(&self) -> Vec<ColumnId> {
        let mut found = Vec::new();
        self.add_visible(&mut found);
        found
    }

    /// Adds the columns visible above it to a list: one list for a whole tree, so that a deep one is walked in linear
    /// time.
    fn add_visible(&self, found: &mut Vec<ColumnId>) {
        use Operator::*;
        match self {
            Scan { columns, row_id, .. } => found.extend(columns.iter().map(|c| c.0).chain(*row_id)),
            Values { columns, .. } | UnionAll { columns, .. } => found.extend(columns),
            Given { columns } => found.extend(columns.iter().map(|c| c.0)),
            Shared { columns, .. } => found.extend(columns.iter().map(|c| c.0)),
            Filter { input, .. }
            | Sort { input, .. }
            | TopPerGroup { input, .. }
            | Limit { input, .. }
            | Repeat { input, .. } => input.add_visible(found),
            Map { input, expressions } => {
                input.add_visible(found);
                found.extend(expressions.iter().map(|e| e.0));
            }
            Join {
                kind, build, probe, ..
            } => match kind {
                JoinKind::ProbeSemi | JoinKind::ProbeAnti => probe.add_visible(found),
                JoinKind::BuildSemi | JoinKind::BuildAnti => build.add_visible(found),
                JoinKind::ProbeMark(mark) => {
                    probe.add_visible(found);
                    found.push(*mark);
                }
                _ => {
                    build.add_visible(found);
                    probe.add_visible(found);
                }
            },
            DependentJoin { outer, inner, .. } => {
                outer.add_visible(found);
                inner.add_visible(found);
            }
            Aggregate {
                groups, aggregates, ..
            } => {
                found.extend(groups.iter().map(|g| g.0));
                found.extend(aggregates.iter().map(|a| a.0));
            }
            Write(write) => found.extend(&write.change.returning),
        }
    }

    /// Columns that it makes itself.
    pub fn makes(&self) -> Vec<ColumnId> {
        use Operator::*;
        match self {
            Scan { .. }
            | Values { .. }
            | Given { .. }
            | Shared { .. }
            | UnionAll { .. }
            | Aggregate { .. } => self.visible(),
            Map { expressions, .. } => expressions.iter().map(|e| e.0).collect(),
            Join {
                kind: JoinKind::ProbeMark(mark),
                ..
            } => vec![*mark],
            _ => vec![],
        }
    }

    /// Columns that it reads itself, those of its inputs and those it only passes on not counted.
    pub fn reads(&self) -> Vec<ColumnId> {
        use Operator::*;
        let mut read: Vec<ColumnId> = self
            .expressions()
            .into_iter()
            .flat_map(Expr::columns_read)
            .collect();
        match self {
            Sort { keys, .. } => read.extend(keys.iter().map(|k| k.column)),
            TopPerGroup {
                groups,
                keys,
                limit,
                offset,
                ..
            } => {
                read.extend(groups);
                read.extend(keys.iter().map(|k| k.column));
                read.extend(limit.iter().chain([offset]).filter_map(RowCount::column));
            }
            Repeat { count, .. } => read.push(*count),
            UnionAll { inputs, .. } => read.extend(inputs.iter().flat_map(|i| &i.1)),
            Write(write) => read.extend(write.change.kept()),
            _ => {}
        }
        read
    }
}
