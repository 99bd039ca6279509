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
    /// bit_and(x) of integers.
    BitAnd,
    /// bit_or(x) of integers.
    BitOr,
    /// bit_xor(x) of integers.
    BitXor,
    /// What sample and population are spread by: the sum of (x − mean of x)², and with a second argument y, which is NULL
    /// where x is, the sum of (x − mean of x)(y − mean of y). Doubles.
    Deviations,
    /// The sum of x² of exact numbers: what DISTINCT is about is x. The optimizer makes a sum of it.
    SumOfSquares,
}

/// How an aggregate of all rows comes from those of parts of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// By itself, over those of the parts.
    Itself,
    /// As the sum of those of the parts, 0 without any.
    Sum,
    /// As the quotient of the parts' sums, added up, and their counts, added up.
    Quotient,
    /// Not at all.
    Never,
}

impl AggregateFunction {
    /// How it comes from those of parts of the rows.
    pub fn merging(self) -> Merging {
        match self {
            AggregateFunction::CountRows | AggregateFunction::Count => Merging::Sum,
            AggregateFunction::Sum
            | AggregateFunction::Min
            | AggregateFunction::Max
            | AggregateFunction::BitAnd
            | AggregateFunction::BitOr
            | AggregateFunction::BitXor => Merging::Itself,
            AggregateFunction::Avg => Merging::Quotient,
            AggregateFunction::Deviations | AggregateFunction::SumOfSquares => Merging::Never,
        }
    }

    /// True if it is 0 over no rows; all others are NULL.
    pub fn counts(self) -> bool {
        matches!(self, AggregateFunction::Count | AggregateFunction::CountRows)
    }

    /// Its SQL name.
    pub fn name(self) -> &'static str {
        match self {
            AggregateFunction::CountRows | AggregateFunction::Count => "count",
            AggregateFunction::Sum => "sum",
            AggregateFunction::Min => "min",
            AggregateFunction::Max => "max",
            AggregateFunction::Avg => "avg",
            AggregateFunction::BitAnd => "bit_and",
            AggregateFunction::BitOr => "bit_or",
            AggregateFunction::BitXor => "bit_xor",
            AggregateFunction::Deviations => "deviations",
            AggregateFunction::SumOfSquares => "sum_of_squares",
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
    /// Its second argument; none for most.
    pub second: Option<Expr>,
    /// Over distinct values of the argument.
    pub distinct: bool,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// Type of the result.
    pub ty: LogicalType,
}

impl AggregateCall {
    /// The number of rows, or of those in which an argument is not NULL.
    pub fn count(argument: Option<Expr>) -> AggregateCall {
        AggregateCall {
            function: match argument {
                None => AggregateFunction::CountRows,
                Some(_) => AggregateFunction::Count,
            },
            argument,
            second: None,
            distinct: false,
            filter: None,
            ty: LogicalType::BigInt,
        }
    }

    /// Its expressions: arguments, filter.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.argument.iter().chain(&self.second).chain(&self.filter)
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let arguments = self.argument.iter_mut().chain(&mut self.second);
        arguments.chain(&mut self.filter)
    }
}
