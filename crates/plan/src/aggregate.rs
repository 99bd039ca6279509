//! Aggregate calls.

use crate::Expr;
use frazil_types::LogicalType;

/// An aggregate function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// count(*): rows. bigint.
    CountRows,
    /// count(x): rows where x is not NULL. bigint.
    Count,
    /// sum(x). integers: bigint; bigint: decimal(38,0); decimal(p,s): decimal(38,s); double: double.
    Sum,
    /// min(x).
    Min,
    /// max(x).
    Max,
    /// avg(x). integers and decimals: decimal(38, max(6, s)); double: double.
    Avg,
}

impl AggregateFunction {
    /// Its SQL name.
    pub fn name(self) -> &'static str {
        match self {
            AggregateFunction::CountRows | AggregateFunction::Count => "count",
            AggregateFunction::Sum => "sum",
            AggregateFunction::Min => "min",
            AggregateFunction::Max => "max",
            AggregateFunction::Avg => "avg",
        }
    }
}

/// One aggregate of an aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    /// The function.
    pub function: AggregateFunction,
    /// Its argument; none for count(*).
    pub argument: Option<Expr>,
    /// Over distinct values of the argument.
    pub distinct: bool,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// Type of the result.
    pub ty: LogicalType,
}
