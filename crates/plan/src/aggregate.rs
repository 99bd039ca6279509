//! Aggregate calls.

use crate::{AggregateFunction, COUNT, Expr};
use frazil_types::LogicalType;

/// A key of the order in which an aggregate takes its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateKey {
    /// What rows are ordered by.
    pub e: Expr,
    /// Descending.
    pub descending: bool,
    /// NULLs before all else.
    pub nulls_first: bool,
}

/// One aggregate of an aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    /// The function.
    pub function: AggregateFunction,
    /// Its argument; none for count(*).
    pub argument: Option<Expr>,
    /// Its second argument; none for most.
    pub second: Option<Expr>,
    /// Of rows with equal arguments one counts; without an argument, of rows with equal keys.
    pub distinct: bool,
    /// The order of its rows, of an aggregate that keeps rows; and what count(*) with DISTINCT tells rows by.
    pub order: Vec<AggregateKey>,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// Type of the result.
    pub ty: LogicalType,
}

impl AggregateCall {
    /// The number of rows, or of those in which an argument is not NULL.
    pub fn count(argument: Option<Expr>) -> AggregateCall {
        let function = match argument {
            None => AggregateFunction::CountRows,
            Some(_) => AggregateFunction::Count,
        };
        AggregateCall::new(function, argument, COUNT)
    }

    /// The sum of all values that are not NULL.
    pub fn sum(argument: Expr, ty: LogicalType) -> AggregateCall {
        AggregateCall::new(AggregateFunction::Sum, Some(argument), ty)
    }

    /// True if it is the sum of all values that are not NULL, each as often as it is there.
    pub fn is_plain_sum(&self) -> bool {
        self.function == AggregateFunction::Sum
            && !self.distinct
            && self.order.is_empty()
            && self.filter.is_none()
    }

    /// One of the values that are not NULL: the value of the only row, or the one that all rows have.
    pub fn any(argument: Expr) -> AggregateCall {
        let ty = argument.ty;
        AggregateCall::new(AggregateFunction::Min, Some(argument), ty)
    }

    /// A call of a function over all rows.
    pub fn new(function: AggregateFunction, argument: Option<Expr>, ty: LogicalType) -> AggregateCall {
        AggregateCall {
            function,
            argument,
            second: None,
            distinct: false,
            order: Vec::new(),
            filter: None,
            ty,
        }
    }

    /// True if it is count(*).
    pub fn counts_rows(&self) -> bool {
        self.function == AggregateFunction::CountRows
    }

    /// True if it is count(x).
    pub fn counts_values(&self) -> bool {
        self.function == AggregateFunction::Count
    }

    /// Makes it the number of rows in which an argument is not NULL, of the rows that it takes.
    pub fn become_count(&mut self, argument: Expr) {
        self.function = AggregateFunction::Count;
        self.argument = Some(argument);
    }

    /// It as a sum of type `ty` over the rows and the argument that it takes.
    pub fn as_sum(&self, ty: LogicalType) -> AggregateCall {
        AggregateCall {
            function: AggregateFunction::Sum,
            ty,
            ..self.clone()
        }
    }

    /// Its expressions: arguments, keys, filter.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.values().chain(&self.filter)
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let arguments = self.argument.iter_mut().chain(&mut self.second);
        let keys = self.order.iter_mut().map(|key| &mut key.e);
        arguments.chain(keys).chain(&mut self.filter)
    }

    /// What it computes of the rows that pass its filter: arguments, keys.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let keys = self.order.iter().map(|key| &key.e);
        self.argument.iter().chain(&self.second).chain(keys)
    }

    /// True if groups keep rows for it.
    pub fn keeps_rows(&self) -> bool {
        self.distinct || self.function.keeps_rows()
    }
}
