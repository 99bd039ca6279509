//! The rows that groups keep for aggregates which need them one by one: which lists there are, and what is made of them.
//!
//! Aggregates share a list whose rows are the same ones in the same order; its fields are what any of them reads.

use super::groups::{Finish, State, States, argument};
use super::lays::form;
use frazil_plan::aggregates::{GroupState, OfRows};
use frazil_plan::{AggregateCall, AggregateKey, Expr, ExprKind};
use frazil_runtime::breakers::groups::lists::{
    Delimiter, Fraction, ListOutput, ListSpec, MadeOfRows, Quantile,
};
use frazil_runtime::{RowField, RowLayout, SortField, StateKind};
use frazil_types::{NativeType, Result, Value};

/// A list that every group has.
#[derive(Clone, Debug)]
pub(crate) struct GroupList {
    /// What its rows hold: one for each of the first fields.
    pub values: Vec<Expr>,
    /// Rows in which one of so many first values is NULL are left out.
    pub required: usize,
    identity: Identity,
    outputs: Vec<ListOutput>,
}

/// What lists are told apart by.
#[derive(Clone, Debug, PartialEq)]
struct Identity {
    filter: Option<Expr>,
    required: Vec<Expr>,
    keys: Vec<AggregateKey>,
    distinct: bool,
    /// Whether its order is that in which rows come.
    by_arrival: bool,
}

/// The result that a call makes of the rows it keeps; `None` for a call that keeps rows only for DISTINCT or an order.
fn kept_rows(call: &AggregateCall) -> Option<OfRows> {
    match call.function.info().state {
        GroupState::Rows(of_rows) => Some(of_rows),
        GroupState::Count
        | GroupState::Sum
        | GroupState::Average
        | GroupState::End(_)
        | GroupState::Bits(_)
        | GroupState::Picked(_)
        | GroupState::Deviations
        | GroupState::Sketch
        | GroupState::Squares => None,
    }
}

/// The keys by which a call's rows are ordered. Those of DISTINCT values have the values as keys, in the form that
/// tells them apart: 1 month is 30 days.
fn keys_of(call: &AggregateCall, of_rows: Option<OfRows>, arguments: Vec<Expr>) -> Vec<AggregateKey> {
    let mut keys = call.order.clone();
    let tells_apart = keys.is_empty() || of_rows.is_some_and(|of_rows| of_rows != OfRows::Array);
    for e in arguments.into_iter().filter(|_| call.distinct && tells_apart) {
        if !keys.iter().any(|key| key.e == e) {
            let (descending, nulls_first) = (false, false);
            keys.push(AggregateKey {
                e,
                descending,
                nulls_first,
            });
        }
    }
    keys
}

impl States<'_> {
    /// Adds what a call needs that keeps rows; says how it comes of it.
    pub(super) fn finish_rows(&mut self, call: &AggregateCall) -> Result<Finish> {
        let arguments: Vec<Expr> = call.argument.iter().chain(&call.second).cloned().collect();
        let of_rows = kept_rows(call);
        let counted = match of_rows {
            Some(of_rows) => &arguments[..usize::from(!of_rows.takes_nulls())],
            None => &arguments[..],
        };
        let may_be_null = |e: &&Expr| self.nullable.expression(e);
        let required = counted.iter().filter(may_be_null).cloned().collect();
        let keys = keys_of(call, of_rows, arguments);
        let list = self.list(Identity {
            filter: call.filter.clone(),
            required,
            by_arrival: keys.is_empty(),
            keys,
            distinct: call.distinct,
        });
        let Some(of_rows) = of_rows else {
            return self.of_states(call, Some(list));
        };
        let value = self.value(list, argument(call)?);
        let what = match of_rows {
            OfRows::Concatenation => MadeOfRows::Concatenation {
                value,
                delimiter: self.delimiter(list, call),
            },
            OfRows::Array => MadeOfRows::Array {
                value,
                element: argument(call)?.ty.native(),
            },
            OfRows::Continuous => MadeOfRows::Quantile {
                value,
                fraction: self.fraction(call),
                kind: match call.ty.is_span() {
                    true => Quantile::BetweenIntervals,
                    false => Quantile::BetweenDoubles,
                },
            },
            OfRows::Discrete => MadeOfRows::Quantile {
                value,
                fraction: self.fraction(call),
                kind: Quantile::Discrete,
            },
            OfRows::Mode => MadeOfRows::Mode { value },
            OfRows::First => MadeOfRows::First { value },
            OfRows::Last => MadeOfRows::Last { value },
        };
        let native = match of_rows {
            OfRows::Concatenation | OfRows::Array => NativeType::String,
            OfRows::Continuous | OfRows::Discrete | OfRows::Mode | OfRows::First | OfRows::Last => {
                form(self.plan, argument(call)?)
            }
        };
        self.states.push(State {
            list: Some(list),
            ..State::new(StateKind::Made, RowField::new(native, true))
        });
        let state = self.states.len() - 1;
        self.lists[list].outputs.push(ListOutput { state, what });
        Ok(Finish::State(state))
    }

    /// The place of a state that is advanced by the rows of a list, when all groups are there.
    pub(super) fn add_of_list(&mut self, state: State, list: usize) -> usize {
        let fed = State {
            list: Some(list),
            filter: None,
            ..state.clone()
        };
        let next = self.states.len();
        let at = self.add(fed);
        if at == next {
            let argument = state.argument.as_ref().map(|e| self.value(list, e));
            let second = state.second.as_ref().map(|e| self.value(list, e));
            let what = MadeOfRows::State { argument, second };
            self.lists[list].outputs.push(ListOutput { state: at, what });
        }
        at
    }

    /// The list of an identity, with its state.
    fn list(&mut self, identity: Identity) -> usize {
        if let Some(at) = self.lists.iter().position(|list| list.identity == identity) {
            return at;
        }
        let at = self.lists.len();
        let state = State::new(StateKind::Rows(at), RowField::new(NativeType::I64, false));
        self.states.push(State {
            filter: identity.filter.clone(),
            ..state
        });
        let keys = identity.keys.iter().map(|key| key.e.clone());
        let mut values = identity.required.clone();
        let required = values.len();
        for e in keys {
            if !values.contains(&e) {
                values.push(e);
            }
        }
        self.lists.push(GroupList {
            values,
            required,
            identity,
            outputs: Vec::new(),
        });
        at
    }

    /// The field of a value in a list.
    fn value(&mut self, list: usize, e: &Expr) -> usize {
        let values = &mut self.lists[list].values;
        values.iter().position(|value| value == e).unwrap_or_else(|| {
            values.push(e.clone());
            values.len() - 1
        })
    }

    fn delimiter(&mut self, list: usize, call: &AggregateCall) -> Delimiter {
        match &call.second {
            None => Delimiter::Constant(Box::default()),
            Some(e) => match e.as_constant() {
                Some(value) => Delimiter::Constant(value.as_bytes().unwrap_or_default().into()),
                None => Delimiter::Field(self.value(list, e)),
            },
        }
    }

    /// A fraction that is no constant is the same in all rows of a group, and kept by a state.
    fn fraction(&mut self, call: &AggregateCall) -> Fraction {
        if let Some(ExprKind::Constant(Value::Double(fraction))) = call.second.as_ref().map(|e| &e.kind) {
            return Fraction::Constant(*fraction);
        }
        let state = State::new(StateKind::Min, RowField::new(NativeType::F64, true));
        Fraction::State(self.add(State {
            argument: call.second.clone(),
            filter: call.filter.clone(),
            ..state
        }))
    }

    /// The lists as the runtime knows them.
    pub(super) fn list_specs(&self) -> Vec<ListSpec> {
        self.lists.iter().map(|list| self.list_spec(list)).collect()
    }

    fn list_spec(&self, list: &GroupList) -> ListSpec {
        let mut fields: Vec<RowField> = (list.values.iter().enumerate())
            .map(|(at, e)| {
                let nullable = at >= list.required && self.nullable.expression(e);
                RowField::new(form(self.plan, e), nullable)
            })
            .collect();
        let field = |e: &Expr| list.values.iter().position(|value| value == e);
        let mut keys: Vec<SortField> = (list.identity.keys.iter())
            .filter_map(|key| {
                Some(SortField {
                    field: field(&key.e)?,
                    descending: key.descending,
                    nulls_first: key.nulls_first,
                })
            })
            .collect();
        let ordinal = list.identity.by_arrival.then_some(fields.len());
        if let Some(field) = ordinal {
            fields.push(RowField::new(NativeType::I64, false));
            keys.push(SortField {
                field,
                descending: false,
                nulls_first: false,
            });
        }
        ListSpec {
            layout: RowLayout::of_sort(&fields),
            keys,
            distinct: list.identity.distinct,
            ordinal,
            outputs: list.outputs.clone(),
        }
    }
}
