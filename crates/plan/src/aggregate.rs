//! Aggregate calls.

use crate::{COUNT, Expr};
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
    /// string_agg(x, y): the texts x that are not NULL, in order, with y between them.
    StringAgg,
    /// array_agg(x): the x of all rows, NULLs among them, in order, as an array. Error 54000 for too many.
    ArrayAgg,
    /// The value of the row in whose place the part y of all rows lies, or a value between two rows. Doubles, intervals.
    /// NULLs do not count. Error 22003 for a y that is not between 0 and 1.
    PercentileCont,
    /// The first value in the order at which at least the part y of all rows lies. Errors as [`Self::PercentileCont`].
    PercentileDisc,
    /// The most frequent value that is not NULL; of several the first in the order.
    Mode,
    /// x of the first row in the order.
    First,
    /// x of the last row in the order.
    Last,
    /// x of a row with the least y that is not NULL.
    ArgMin,
    /// x of a row with the greatest y that is not NULL.
    ArgMax,
    /// About how many different values that are not NULL there are. bigint.
    ApproxCountDistinct,
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
            AggregateFunction::Deviations
            | AggregateFunction::SumOfSquares
            | AggregateFunction::StringAgg
            | AggregateFunction::ArrayAgg
            | AggregateFunction::PercentileCont
            | AggregateFunction::PercentileDisc
            | AggregateFunction::Mode
            | AggregateFunction::First
            | AggregateFunction::Last
            | AggregateFunction::ArgMin
            | AggregateFunction::ArgMax
            | AggregateFunction::ApproxCountDistinct => Merging::Never,
        }
    }

    /// True if it is 0 over no rows; all others are NULL.
    pub fn counts(self) -> bool {
        match self {
            AggregateFunction::Count
            | AggregateFunction::CountRows
            | AggregateFunction::ApproxCountDistinct => true,
            AggregateFunction::Sum
            | AggregateFunction::Min
            | AggregateFunction::Max
            | AggregateFunction::Avg
            | AggregateFunction::BitAnd
            | AggregateFunction::BitOr
            | AggregateFunction::BitXor
            | AggregateFunction::Deviations
            | AggregateFunction::SumOfSquares
            | AggregateFunction::StringAgg
            | AggregateFunction::ArrayAgg
            | AggregateFunction::PercentileCont
            | AggregateFunction::PercentileDisc
            | AggregateFunction::Mode
            | AggregateFunction::First
            | AggregateFunction::Last
            | AggregateFunction::ArgMin
            | AggregateFunction::ArgMax => false,
        }
    }

    /// True if it needs the rows of a group one by one, in an order: groups keep lists of rows for it.
    pub fn keeps_rows(self) -> bool {
        match self {
            AggregateFunction::StringAgg
            | AggregateFunction::ArrayAgg
            | AggregateFunction::PercentileCont
            | AggregateFunction::PercentileDisc
            | AggregateFunction::Mode
            | AggregateFunction::First
            | AggregateFunction::Last => true,
            AggregateFunction::CountRows
            | AggregateFunction::Count
            | AggregateFunction::Sum
            | AggregateFunction::Min
            | AggregateFunction::Max
            | AggregateFunction::Avg
            | AggregateFunction::BitAnd
            | AggregateFunction::BitOr
            | AggregateFunction::BitXor
            | AggregateFunction::Deviations
            | AggregateFunction::SumOfSquares
            | AggregateFunction::ArgMin
            | AggregateFunction::ArgMax
            | AggregateFunction::ApproxCountDistinct => false,
        }
    }

    /// True if its value may be NULL though its argument is not, over rows: the second argument decides too.
    pub fn asks_second(self) -> bool {
        matches!(
            self,
            AggregateFunction::PercentileCont
                | AggregateFunction::PercentileDisc
                | AggregateFunction::ArgMin
                | AggregateFunction::ArgMax
        )
    }

    /// True if equal values count as one, whether or not DISTINCT says so.
    pub fn ignores_repetition(self) -> bool {
        matches!(
            self,
            AggregateFunction::Min
                | AggregateFunction::Max
                | AggregateFunction::BitAnd
                | AggregateFunction::BitOr
                | AggregateFunction::First
                | AggregateFunction::Last
                | AggregateFunction::ArgMin
                | AggregateFunction::ArgMax
                | AggregateFunction::ApproxCountDistinct
        )
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
            AggregateFunction::StringAgg => "string_agg",
            AggregateFunction::ArrayAgg => "array_agg",
            AggregateFunction::PercentileCont => "percentile_cont",
            AggregateFunction::PercentileDisc => "percentile_disc",
            AggregateFunction::Mode => "mode",
            AggregateFunction::First => "first",
            AggregateFunction::Last => "last",
            AggregateFunction::ArgMin => "arg_min",
            AggregateFunction::ArgMax => "arg_max",
            AggregateFunction::ApproxCountDistinct => "approx_count_distinct",
        }
    }
}

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
