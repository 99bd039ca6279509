//! The rows of an aggregation: group keys, then partial aggregates, of which the aggregates are made when they are read.

use super::group_lists::GroupList;
use super::lays::{Lays, Nullable, form};
use frazil_plan::aggregates::{Bits, End, GroupState};
use frazil_plan::bounds;
use frazil_plan::breakers::GroupTable;
use frazil_plan::each_once::{Fingerprint, Places};
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::{AggregateCall, ColumnId, Expr};
use frazil_runtime::breakers::groups::GroupsBreaker;
use frazil_runtime::breakers::{Breaker, Shape};
use frazil_runtime::{AggregateSpec, BoundValues, FieldPlace, GroupAddressing, RowField, StateKind};
use frazil_types::{Error, LogicalType, NativeType, Result};
use std::hash::DefaultHasher;
use std::sync::Arc;

/// A partial aggregate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub kind: StateKind,
    /// None: count rows.
    pub argument: Option<Expr>,
    /// The second argument of deviations.
    pub second: Option<Expr>,
    pub filter: Option<Expr>,
    /// The list whose rows it is made of, if generated code does not advance it.
    pub list: Option<usize>,
    pub field: RowField,
    /// The type that a sum may leave when something is added, where that must be checked.
    pub checked: Option<LogicalType>,
}

impl State {
    /// A state without arguments, of all rows.
    pub fn new(kind: StateKind, field: RowField) -> State {
        State {
            kind,
            argument: None,
            second: None,
            filter: None,
            list: None,
            field,
            checked: None,
        }
    }
}

impl Fingerprint for State {
    fn feed(&self, hasher: &mut DefaultHasher) {
        self.argument.feed(hasher);
        self.second.feed(hasher);
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
        /// Type of the values, whose digits after the point the sum has.
        of: LogicalType,
    },
}

/// The rows of an aggregation.
#[derive(Clone, Debug)]
pub struct GroupLayout {
    /// For the runtime.
    pub spec: AggregateSpec,
    /// Group columns and what they are.
    pub(crate) groups: Vec<(ColumnId, Expr)>,
    pub(crate) states: Vec<State>,
    /// The rows that groups keep.
    pub(crate) lists: Vec<GroupList>,
    pub(crate) results: Vec<(ColumnId, Finish)>,
    /// Array addressing: for each group key its smallest value and stride.
    pub(crate) array: Vec<(i64, u64)>,
}

/// Largest directory of groups addressed by an array, whatever the number of groups.
const ARRAY_SLOTS_ALWAYS: u64 = 1 << 12;
/// Largest one at all, and slots allowed for each group expected.
const ARRAY_SLOTS_MOST: u64 = 1 << 23;
const ARRAY_SLOTS_PER_GROUP: f64 = 8.0;

impl GroupLayout {
    /// True if a result is a numeric that is made when its group is read.
    pub(crate) fn makes_strings(&self) -> bool {
        self.results.iter().any(|(_, finish)| match finish {
            Finish::Average { of, .. } => !of.is_float(),
            Finish::State(_) => false,
        })
    }

    /// True if groups come out alike, to the last bit, whatever the order of their rows.
    pub(crate) fn is_any_order(&self) -> bool {
        let is_integer = |state: &State| !matches!(state.field.native, NativeType::F64 | NativeType::String);
        self.states.iter().all(|state| match state.kind {
            StateKind::Count
            | StateKind::Sum
            | StateKind::Min
            | StateKind::Max
            | StateKind::BitAnd
            | StateKind::BitOr
            | StateKind::BitXor => state.list.is_none() && is_integer(state),
            StateKind::Deviations { .. }
            | StateKind::Picked { .. }
            | StateKind::Rows(_)
            | StateKind::Sketch
            | StateKind::Made => false,
        })
    }

    /// The layout of an aggregation of a plan.
    pub(super) fn of(table: &GroupTable, plan: &PipelinePlan, nullable: &Nullable) -> Result<GroupLayout> {
        let mut made = States {
            table,
            plan,
            nullable,
            states: Vec::new(),
            lists: Vec::new(),
            places: Places::default(),
        };
        let results = (table.aggregates.iter())
            .map(|(column, call)| Ok((*column, made.finish(call)?)))
            .collect::<Result<_>>()?;
        let list_specs = made.list_specs();
        let (states, lists) = (made.states, made.lists);
        let groups: Vec<RowField> = table
            .groups
            .iter()
            .map(|(c, e)| {
                RowField::new(
                    plan.columns[*c].native(),
                    nullable.column(*c) || nullable.expression(e),
                )
            })
            .collect();
        let array = array_addressing(table, plan);
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
        Ok(GroupLayout {
            spec: AggregateSpec {
                lists: list_specs,
                enough: (table.enough).map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)),
                ..AggregateSpec::new(&groups, &state_fields, addressing)
            },
            groups: table.groups.clone(),
            states,
            lists,
            results,
            array: array.map(|a| a.1).unwrap_or_default(),
        })
    }
}

/// The states of an aggregation in the making, each once.
pub(super) struct States<'a> {
    table: &'a GroupTable,
    pub(super) plan: &'a PipelinePlan,
    pub(super) nullable: &'a Nullable,
    pub(super) states: Vec<State>,
    pub(super) lists: Vec<GroupList>,
    places: Places,
}

impl States<'_> {
    /// The place of a state.
    pub(super) fn add(&mut self, state: State) -> usize {
        let (states, next) = (&self.states, self.states.len());
        let known = (self.places).find_or_add(&state, next, |place| states[place] == state);
        known.unwrap_or_else(|| {
            self.states.push(state);
            next
        })
    }

    /// Adds what a call needs; says how it comes of it.
    fn finish(&mut self, call: &AggregateCall) -> Result<Finish> {
        match call.keeps_rows() {
            true => self.finish_rows(call),
            false => self.of_states(call, None),
        }
    }

    /// Adds the states that a call is made of; with a list those are advanced by its rows.
    pub(super) fn of_states(&mut self, call: &AggregateCall, list: Option<usize>) -> Result<Finish> {
        let kind = match call.function.info().state {
            GroupState::Count => {
                return Ok(Finish::State(self.add_by(count(call, self.nullable), list)));
            }
            GroupState::Average => {
                return Ok(Finish::Average {
                    sum: self.sum(call, list)?,
                    count: self.add_by(count(call, self.nullable), list),
                    of: argument(call)?.ty,
                });
            }
            GroupState::Sum => return Ok(Finish::State(self.sum(call, list)?)),
            GroupState::Deviations => return self.deviations(call, list),
            GroupState::Picked(end) => return self.picked(call, kind_of_end(end)),
            GroupState::Sketch => {
                let state = State::new(StateKind::Sketch, RowField::new(NativeType::I64, false));
                return Ok(Finish::State(self.add(State {
                    argument: call.argument.clone(),
                    filter: call.filter.clone(),
                    ..state
                })));
            }
            GroupState::Rows(_) | GroupState::Squares => {
                return Err(Error::internal(format!("{} of states", call.function.name())));
            }
            GroupState::End(end) => kind_of_end(end),
            GroupState::Bits(Bits::And) => StateKind::BitAnd,
            GroupState::Bits(Bits::Or) => StateKind::BitOr,
            GroupState::Bits(Bits::Xor) => StateKind::BitXor,
        };
        let state = folded(self.plan, kind, call)?;
        Ok(Finish::State(self.add_by(state, list)))
    }

    /// The place of a state, that is advanced by the rows of a list if there is one.
    fn add_by(&mut self, state: State, list: Option<usize>) -> usize {
        match list {
            Some(list) => self.add_of_list(state, list),
            None => self.add(state),
        }
    }

    fn sum(&mut self, call: &AggregateCall, list: Option<usize>) -> Result<usize> {
        let state = sum(self.table, self.plan, call, self.nullable)?;
        Ok(self.add_by(state, list))
    }

    /// The value of the row in which a state, which comes behind it, has found the least or greatest.
    fn picked(&mut self, call: &AggregateCall, kind: StateKind) -> Result<Finish> {
        let by = AggregateCall {
            argument: call.second.clone(),
            ..call.clone()
        };
        let by = folded(self.plan, kind, &by)?;
        let by = self.add(by);
        let state = folded(self.plan, StateKind::Picked { by }, call)?;
        Ok(Finish::State(self.add(state)))
    }

    /// Behind the count and the sums that it reads.
    fn deviations(&mut self, call: &AggregateCall, list: Option<usize>) -> Result<Finish> {
        let of = |argument: &Option<Expr>| AggregateCall {
            argument: argument.clone(),
            second: None,
            ..call.clone()
        };
        let count = self.add_by(count(call, self.nullable), list);
        let first = self.sum(&of(&call.argument), list)?;
        let second = match &call.second {
            None => first,
            second => self.sum(&of(second), list)?,
        };
        let state = State {
            second: call.second.clone(),
            ..folded(
                self.plan,
                StateKind::Deviations {
                    count,
                    sums: [first, second],
                },
                call,
            )?
        };
        Ok(Finish::State(self.add_by(state, list)))
    }
}

impl Lays for GroupLayout {
    fn open(&self, _values: BoundValues<'_>) -> Result<Arc<dyn Breaker>> {
        Ok(Arc::new(GroupsBreaker {
            spec: Arc::new(self.spec.clone()),
        }))
    }

    fn shape(&self) -> Shape {
        Shape::Rows
    }

    fn fields(&self) -> Vec<(Option<ColumnId>, FieldPlace)> {
        let groups = self.groups.iter().map(|g| Some(g.0));
        let ids = groups.chain(std::iter::repeat(None));
        ids.zip(self.spec.layout.fields.iter().copied()).collect()
    }

    fn place(&self, _column: ColumnId) -> Option<usize> {
        None
    }
}

/// The state that keeps the value at an end of the order.
fn kind_of_end(end: End) -> StateKind {
    match end {
        End::Least => StateKind::Min,
        End::Greatest => StateKind::Max,
    }
}

fn count(call: &AggregateCall, nullable: &Nullable) -> State {
    State {
        argument: call.argument.clone().filter(|a| nullable.expression(a)),
        filter: call.filter.clone(),
        ..State::new(StateKind::Count, RowField::new(NativeType::I64, false))
    }
}

fn sum(table: &GroupTable, plan: &PipelinePlan, call: &AggregateCall, nullable: &Nullable) -> Result<State> {
    let argument = argument(call)?;
    let known = bounds::of_expression(argument, &plan.columns);
    let total = known.range().zip(table.row_bound);
    let total = total.and_then(|(b, rows)| b.sum_over(rows));
    let total = total.filter(|_| !plan.columns.proofs_forgotten());
    let integer = call.function.info().state == GroupState::Sum && call.ty.is_integer();
    let (native, checked) = if argument.ty.is_float() {
        (NativeType::F64, None)
    } else if total.is_some_and(|t| t.fits_i64()) {
        (NativeType::I64, None)
    } else if integer {
        (NativeType::I64, Some(call.ty))
    } else {
        // 2^63 rows of values held in 64 bits have fewer than 38 digits.
        let may_leave = form(plan, argument) == NativeType::I128;
        (NativeType::I128, may_leave.then(|| LogicalType::widest_exact(0)))
    };
    let may_be_empty = table.groups.is_empty() || call.filter.is_some() || nullable.expression(argument);
    Ok(State {
        argument: call.argument.clone(),
        filter: call.filter.clone(),
        checked,
        ..State::new(StateKind::Sum, RowField::new(native, may_be_empty))
    })
}

/// Slots, and each key's smallest value and stride, where the keys are few small integers.
fn array_addressing(table: &GroupTable, plan: &PipelinePlan) -> Option<(u64, Vec<(i64, u64)>)> {
    let mut slots = 1u64;
    let mut keys = Vec::new();
    for (column, e) in &table.groups {
        let (min, width) = if e.ty.is_condition() {
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

pub(super) fn argument(call: &AggregateCall) -> Result<&Expr> {
    let argument = call.argument.as_ref();
    argument.ok_or_else(|| Error::internal("an aggregate without its argument"))
}

/// A state that is empty, or has the form of the values.
fn folded(plan: &PipelinePlan, kind: StateKind, call: &AggregateCall) -> Result<State> {
    let argument = argument(call)?;
    Ok(State {
        argument: call.argument.clone(),
        filter: call.filter.clone(),
        ..State::new(kind, RowField::new(form(plan, argument), true))
    })
}
