//! How the rows of a plan's hash tables, groups and sorters look, decided once for the code that writes
//! them, the code that reads them and the runtime that merges them.

use frazil_plan::bounds;
use frazil_plan::column::native_within;
use frazil_plan::each_once::{Fingerprint, Places};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, Source};
use frazil_plan::{AggregateCall, AggregateFunction, ColumnId, Expr, ExprKind, JoinKind, RowCount};
use frazil_runtime::sorter::{GroupCounts, SortField, SortSpec};
use frazil_runtime::{AggregateSpec, GroupAddressing, JoinSpec, RowField, RowLayout, StateKind};
use frazil_types::{Error, LogicalType, NativeType, Result};
use std::hash::DefaultHasher;

/// All layouts of a plan.
#[derive(Clone, Debug)]
pub struct PlanLayouts {
    /// Of its joins.
    pub joins: Vec<JoinLayout>,
    /// Of its aggregations.
    pub aggregates: Vec<AggregateLayout>,
    /// Of its sorters.
    pub sorts: Vec<SortLayout>,
    nullable: Vec<bool>,
}

/// The rows of a join's table.
#[derive(Clone, Debug)]
pub struct JoinLayout {
    /// For the runtime.
    pub spec: JoinSpec,
    /// How keys are held.
    pub(crate) key_natives: Vec<NativeType>,
    /// Where each payload column lies: a field of the layout.
    pub payload: Vec<(ColumnId, usize)>,
    /// Whether rows with a NULL key are kept, because the join gives out build rows without a match.
    pub(crate) keeps_null_keys: bool,
}

/// A partial aggregate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub kind: StateKind,
    /// None: count rows.
    pub argument: Option<Expr>,
    pub filter: Option<Expr>,
    pub field: RowField,
    /// Whether adding to it must be checked.
    pub checked: bool,
}

impl Fingerprint for State {
    fn feed(&self, hasher: &mut DefaultHasher) {
        self.argument.feed(hasher);
        self.filter.feed(hasher);
    }
}

/// How an aggregate comes from states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Finish {
    /// The state's value; NULL where it is empty.
    State(usize),
    /// A sum over a count; NULL where the count is 0.
    Average {
        sum: usize,
        count: usize,
        /// Digits after the point of the sum.
        scale: u8,
    },
}

/// The rows of an aggregation.
#[derive(Clone, Debug)]
pub struct AggregateLayout {
    /// For the runtime.
    pub spec: AggregateSpec,
    pub(crate) states: Vec<State>,
    pub(crate) results: Vec<(ColumnId, Finish)>,
    /// Array addressing: for each group key its smallest value and stride.
    pub(crate) array: Vec<(i64, u64)>,
}

/// The rows of a sorter.
#[derive(Clone, Debug)]
pub struct SortLayout {
    /// For the runtime.
    pub spec: SortSpec,
    /// The columns, one for each field.
    pub columns: Vec<ColumnId>,
}

/// Largest directory of groups addressed by an array, whatever the number of groups.
const ARRAY_SLOTS_ALWAYS: u64 = 1 << 12;
/// Largest one at all, and slots allowed for each group expected.
const ARRAY_SLOTS_MOST: u64 = 1 << 23;
const ARRAY_SLOTS_PER_GROUP: f64 = 8.0;

impl PlanLayouts {
    /// The layouts of a plan.
    pub fn of(plan: &PipelinePlan) -> Result<PlanLayouts> {
        let mut layouts = PlanLayouts {
            joins: Vec::new(),
            aggregates: Vec::new(),
            sorts: Vec::new(),
            nullable: effectively_nullable(plan),
        };
        for join in 0..plan.joins.len() {
            let layout = layouts.join(plan, join);
            layouts.joins.push(layout);
        }
        for aggregate in 0..plan.aggregates.len() {
            let layout = layouts.aggregate(plan, aggregate)?;
            layouts.aggregates.push(layout);
        }
        for sort in &plan.sorts {
            let fields: Vec<RowField> = sort.columns.iter().map(|&c| layouts.field(plan, c)).collect();
            let kept = |column: ColumnId| {
                let found = sort.columns.iter().position(|c| *c == column);
                found.ok_or_else(|| Error::internal("a sort key that is not kept"))
            };
            let limit = sort.limit.as_ref().and_then(RowCount::column);
            let keys = sort.keys.iter().map(|k| {
                Ok(SortField {
                    field: kept(k.column)?,
                    descending: k.descending,
                    nulls_first: k.nulls_first,
                })
            });
            layouts.sorts.push(SortLayout {
                spec: SortSpec {
                    layout: RowLayout::of_sort(&fields),
                    keys: keys.collect::<Result<_>>()?,
                    groups: sort.groups,
                    // Known when the pipeline opens.
                    limit: None,
                    offset: 0,
                    counts: GroupCounts {
                        limit: limit.map(kept).transpose()?,
                        offset: sort.offset.column().map(kept).transpose()?,
                    },
                },
                columns: sort.columns.clone(),
            });
        }
        Ok(layouts)
    }

    /// Whether a column may be NULL anywhere in the plan: outer joins make NULLs of the columns of their
    /// other side.
    pub fn nullable(&self, column: ColumnId) -> bool {
        self.nullable[column.0 as usize]
    }

    /// Whether an expression may be NULL.
    pub(crate) fn may_be_null(&self, e: &Expr) -> bool {
        e.nullable || e.columns_read().into_iter().any(|c| self.nullable(c))
    }

    fn field(&self, plan: &PipelinePlan, column: ColumnId) -> RowField {
        RowField::new(plan.columns[column].native(), self.nullable(column))
    }

    fn join(&self, plan: &PipelinePlan, join: usize) -> JoinLayout {
        let table = &plan.joins[join];
        let keeps_null_keys = matches!(
            table.kind,
            JoinKind::BuildOuter | JoinKind::FullOuter | JoinKind::BuildAnti
        );
        let sides = key_sides(plan, join);
        let mut keys = Vec::new();
        for (i, (ty, nullable)) in table.keys.iter().enumerate() {
            let wide = |e: &&Vec<Expr>| form(plan, &e[i]) == NativeType::I128;
            let native = match ty {
                LogicalType::Decimal { .. } if !sides.iter().any(wide) => NativeType::I64,
                ty => ty.native(),
            };
            keys.push(RowField::new(native, keeps_null_keys && *nullable));
        }
        // A payload column that is a key is not kept twice.
        let builds: Vec<&Vec<Expr>> = build_keys(plan, join).collect();
        let as_key = |column: ColumnId| {
            (0..keys.len()).find(|&k| {
                keys[k].native == plan.columns[column].native()
                    && (!self.nullable(column) || keys[k].nullable || !keeps_null_keys)
                    && builds.iter().all(|e| e[k].kind == ExprKind::Column(column))
            })
        };
        let mut payload_fields = Vec::new();
        let mut payload = Vec::new();
        for &column in &table.payload {
            let field = as_key(column).unwrap_or_else(|| {
                payload_fields.push(self.field(plan, column));
                keys.len() + payload_fields.len() - 1
            });
            payload.push((column, field));
        }
        JoinLayout {
            key_natives: keys.iter().map(|k| k.native).collect(),
            spec: JoinSpec::new(&keys, &payload_fields, table.marked),
            payload,
            keeps_null_keys,
        }
    }

    fn aggregate(&self, plan: &PipelinePlan, id: usize) -> Result<AggregateLayout> {
        let table = &plan.aggregates[id];
        let mut states: Vec<State> = Vec::new();
        let mut results = Vec::new();
        let mut places = Places::default();
        let mut add = |state: State| {
            let known = places.find_or_add(&state, states.len(), |place| states[place] == state);
            known.unwrap_or_else(|| {
                states.push(state);
                states.len() - 1
            })
        };
        for (column, call) in &table.aggregates {
            if call.distinct && !matches!(call.function, AggregateFunction::Min | AggregateFunction::Max) {
                return Err(Error::unsupported("this combination of DISTINCT aggregates"));
            }
            let finish = match call.function {
                AggregateFunction::CountRows | AggregateFunction::Count => {
                    Finish::State(add(self.count(call)))
                }
                AggregateFunction::Avg => Finish::Average {
                    sum: add(self.sum(plan, id, call)?),
                    count: add(self.count(call)),
                    scale: call.argument.as_ref().and_then(|a| a.ty.scale()).unwrap_or(0),
                },
                AggregateFunction::Sum => Finish::State(add(self.sum(plan, id, call)?)),
                AggregateFunction::Min => Finish::State(add(extreme(plan, StateKind::Min, call)?)),
                AggregateFunction::Max => Finish::State(add(extreme(plan, StateKind::Max, call)?)),
            };
            results.push((*column, finish));
        }
        let groups: Vec<RowField> = table
            .groups
            .iter()
            .map(|(c, e)| {
                RowField::new(
                    plan.columns[*c].native(),
                    self.nullable(*c) || self.may_be_null(e),
                )
            })
            .collect();
        let array = self.array_addressing(plan, id);
        let addressing = match &array {
            _ if groups.is_empty() => GroupAddressing::Single,
            Some((slots, _)) => GroupAddressing::Array {
                slots: *slots as usize,
            },
            None => GroupAddressing::Hash {
                expected: table.estimated_groups as usize,
            },
        };
        let state_fields: Vec<_> = states.iter().map(|s| (s.kind, s.field)).collect();
        Ok(AggregateLayout {
            spec: AggregateSpec::new(&groups, &state_fields, addressing),
            states,
            results,
            array: array.map(|a| a.1).unwrap_or_default(),
        })
    }

    fn count(&self, call: &AggregateCall) -> State {
        State {
            kind: StateKind::Count,
            argument: call.argument.clone().filter(|a| self.may_be_null(a)),
            filter: call.filter.clone(),
            field: RowField::new(NativeType::I64, false),
            checked: false,
        }
    }

    fn sum(&self, plan: &PipelinePlan, id: usize, call: &AggregateCall) -> Result<State> {
        let table = &plan.aggregates[id];
        let argument = argument(call)?;
        let known = bounds::of_expression(argument, &plan.columns);
        let total = known.range().zip(table.row_bound);
        let total = total.and_then(|(b, rows)| b.sum_over(rows));
        let total = total.filter(|_| !plan.columns.proofs_forgotten());
        let integer = call.function == AggregateFunction::Sum && call.ty == LogicalType::BigInt;
        let (native, checked) = if argument.ty == LogicalType::Double {
            (NativeType::F64, false)
        } else if total.is_some_and(|t| t.fits_i64()) {
            (NativeType::I64, false)
        } else if integer {
            (NativeType::I64, true)
        } else {
            // 2^63 rows of values held in 64 bits have fewer than 38 digits.
            (NativeType::I128, form(plan, argument) == NativeType::I128)
        };
        let nullable = table.groups.is_empty() || call.filter.is_some() || self.may_be_null(argument);
        Ok(State {
            kind: StateKind::Sum,
            argument: call.argument.clone(),
            filter: call.filter.clone(),
            field: RowField::new(native, nullable),
            checked,
        })
    }

    /// Slots, and each key's smallest value and stride, where the keys are few small integers.
    fn array_addressing(&self, plan: &PipelinePlan, id: usize) -> Option<(u64, Vec<(i64, u64)>)> {
        let table = &plan.aggregates[id];
        let mut slots = 1u64;
        let mut keys = Vec::new();
        for (column, e) in &table.groups {
            let (min, width) = if e.ty == LogicalType::Boolean {
                (0, 2)
            } else if plan.columns[*column].native() == NativeType::I128 {
                return None;
            } else {
                let b = bounds::of_expression(e, &plan.columns).range()?;
                (i64::try_from(b.min).ok()?, b.width()?)
            };
            keys.push((min, slots));
            // One slot more for NULL.
            slots = slots.checked_mul(width.checked_add(1)?)?;
        }
        let wanted = (table.estimated_groups * ARRAY_SLOTS_PER_GROUP) as u64;
        (slots <= ARRAY_SLOTS_ALWAYS.max(wanted.min(ARRAY_SLOTS_MOST))).then_some((slots, keys))
    }
}

fn argument(call: &AggregateCall) -> Result<&Expr> {
    let argument = call.argument.as_ref();
    argument.ok_or_else(|| Error::internal("an aggregate without its argument"))
}

fn extreme(plan: &PipelinePlan, kind: StateKind, call: &AggregateCall) -> Result<State> {
    let argument = argument(call)?;
    Ok(State {
        kind,
        argument: call.argument.clone(),
        filter: call.filter.clone(),
        field: RowField::new(form(plan, argument), true),
        checked: false,
    })
}

/// The form in which an expression's value is computed.
pub(crate) fn form(plan: &PipelinePlan, e: &Expr) -> NativeType {
    native_within(e.ty, bounds::of_expression(e, &plan.columns))
}

/// The build keys of a join, once for each pipeline that builds it.
fn build_keys(plan: &PipelinePlan, join: usize) -> impl Iterator<Item = &Vec<Expr>> {
    plan.pipelines
        .iter()
        .filter_map(move |p: &Pipeline| match &p.sink {
            Sink::JoinBuild(id, keys) if id.0 == join => Some(keys),
            _ => None,
        })
}

/// The keys of a join on both sides.
fn key_sides(plan: &PipelinePlan, join: usize) -> Vec<&Vec<Expr>> {
    let probes = plan
        .pipelines
        .iter()
        .flat_map(|p| &p.operators)
        .filter_map(|o| match o {
            PipelineOperator::Probe { join: id, keys, .. } if id.0 == join => Some(keys),
            _ => None,
        });
    build_keys(plan, join).chain(probes).collect()
}

fn effectively_nullable(plan: &PipelinePlan) -> Vec<bool> {
    let mut nullable: Vec<bool> = plan.columns.ids().map(|c| plan.columns[c].nullable).collect();
    for pipeline in &plan.pipelines {
        for operator in &pipeline.operators {
            match operator {
                PipelineOperator::Probe {
                    join,
                    kind: JoinKind::ProbeOuter | JoinKind::FullOuter,
                    ..
                } => {
                    for c in &plan.joins[join.0].payload {
                        nullable[c.0 as usize] = true;
                    }
                }
                PipelineOperator::Map(expressions) => {
                    for (c, e) in expressions {
                        nullable[c.0 as usize] |= e.nullable;
                    }
                }
                _ => {}
            }
        }
    }
    for e in expressions(plan) {
        mark_lets(e, &mut nullable);
    }
    nullable
}

/// Marks columns of Lets whose values may be NULL. Whether the expression reads a column that may be NULL.
fn mark_lets(e: &Expr, nullable: &mut [bool]) -> bool {
    match &e.kind {
        ExprKind::Column(id) => nullable[id.0 as usize],
        ExprKind::Let { column, value, body } => {
            let reads_nullable = mark_lets(value, nullable);
            nullable[column.0 as usize] |= value.nullable || reads_nullable;
            mark_lets(body, nullable) || reads_nullable
        }
        _ => {
            let mut reads_nullable = false;
            for part in e.children() {
                reads_nullable |= mark_lets(part, nullable);
            }
            reads_nullable
        }
    }
}

/// The expressions that generated code computes.
fn expressions(plan: &PipelinePlan) -> Vec<&Expr> {
    let mut all = Vec::new();
    for pipeline in &plan.pipelines {
        if let Source::Values { rows, .. } = &pipeline.source {
            all.extend(rows.iter().flatten());
        }
        for operator in &pipeline.operators {
            match operator {
                PipelineOperator::Filter(e) => all.push(e),
                PipelineOperator::Map(list) => all.extend(list.iter().map(|(_, e)| e)),
                PipelineOperator::Probe { keys, residual, .. } => all.extend(keys.iter().chain(residual)),
                PipelineOperator::Call(_) | PipelineOperator::Repeat { .. } => {}
            }
        }
        if let Sink::JoinBuild(_, keys) = &pipeline.sink {
            all.extend(keys);
        }
    }
    for table in &plan.aggregates {
        all.extend(table.groups.iter().map(|(_, e)| e));
        for (_, call) in &table.aggregates {
            all.extend(call.argument.iter().chain(&call.filter));
        }
    }
    all
}
