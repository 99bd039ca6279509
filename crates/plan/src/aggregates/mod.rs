//! Aggregates, a file each with one static [`AggregateInfo`], and the list of all of them. Whoever has to know something of an
//! aggregate asks its info.
//!
//! A new aggregate is a file here with a variant and its line in the list, and a row in the table of functions
//! (`functions/src/aggregate.rs`). One that keeps something new of its rows has a [`GroupState`] besides, which code generator and
//! runtime translate.

mod approx_count_distinct;
mod arg_max;
mod arg_min;
mod array_agg;
mod avg;
mod bit_and;
mod bit_or;
mod bit_xor;
mod count;
mod count_rows;
mod deviations;
mod first;
mod info;
mod last;
mod max;
mod min;
mod mode;
mod percentile_cont;
mod percentile_disc;
mod string_agg;
mod sum;
mod sum_of_squares;

pub use info::{AggregateInfo, Aggregated, Bits, End, GroupState, Merging, OfRows, OverFrames};

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
    /// The measure of spread of sample and population: the sum of (x − mean of x)², and with a second argument y, which is NULL
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
    /// The first value in the order at which at least the part y of all rows lies. NULLs do not count. Error 22003 for a y
    /// that is not between 0 and 1.
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

impl AggregateFunction {
    /// MAX if `is_greatest`, else MIN.
    pub fn extreme(is_greatest: bool) -> AggregateFunction {
        match is_greatest {
            true => AggregateFunction::Max,
            false => AggregateFunction::Min,
        }
    }

    /// True for MAX, false for MIN, and `None` for all others.
    pub fn is_greatest(self) -> Option<bool> {
        [false, true]
            .into_iter()
            .find(|is_greatest| AggregateFunction::extreme(*is_greatest) == self)
    }

    /// All of them.
    pub const ALL: &'static [AggregateFunction] = &[
        AggregateFunction::CountRows,
        AggregateFunction::Count,
        AggregateFunction::Sum,
        AggregateFunction::Min,
        AggregateFunction::Max,
        AggregateFunction::Avg,
        AggregateFunction::BitAnd,
        AggregateFunction::BitOr,
        AggregateFunction::BitXor,
        AggregateFunction::Deviations,
        AggregateFunction::SumOfSquares,
        AggregateFunction::StringAgg,
        AggregateFunction::ArrayAgg,
        AggregateFunction::PercentileCont,
        AggregateFunction::PercentileDisc,
        AggregateFunction::Mode,
        AggregateFunction::First,
        AggregateFunction::Last,
        AggregateFunction::ArgMin,
        AggregateFunction::ArgMax,
        AggregateFunction::ApproxCountDistinct,
    ];

    /// What its file states of it.
    pub fn info(self) -> &'static AggregateInfo {
        match self {
            AggregateFunction::CountRows => &count_rows::INFO,
            AggregateFunction::Count => &count::INFO,
            AggregateFunction::Sum => &sum::INFO,
            AggregateFunction::Min => &min::INFO,
            AggregateFunction::Max => &max::INFO,
            AggregateFunction::Avg => &avg::INFO,
            AggregateFunction::BitAnd => &bit_and::INFO,
            AggregateFunction::BitOr => &bit_or::INFO,
            AggregateFunction::BitXor => &bit_xor::INFO,
            AggregateFunction::Deviations => &deviations::INFO,
            AggregateFunction::SumOfSquares => &sum_of_squares::INFO,
            AggregateFunction::StringAgg => &string_agg::INFO,
            AggregateFunction::ArrayAgg => &array_agg::INFO,
            AggregateFunction::PercentileCont => &percentile_cont::INFO,
            AggregateFunction::PercentileDisc => &percentile_disc::INFO,
            AggregateFunction::Mode => &mode::INFO,
            AggregateFunction::First => &first::INFO,
            AggregateFunction::Last => &last::INFO,
            AggregateFunction::ArgMin => &arg_min::INFO,
            AggregateFunction::ArgMax => &arg_max::INFO,
            AggregateFunction::ApproxCountDistinct => &approx_count_distinct::INFO,
        }
    }

    /// How it comes from those of parts of the rows.
    pub fn merging(self) -> Merging {
        self.info().merging
    }

    /// True if it is 0 over no rows; all others are NULL.
    pub fn counts(self) -> bool {
        !self.info().null_at_empty
    }

    /// True if it needs the rows of a group one by one, in an order: groups keep lists of rows for it.
    pub fn keeps_rows(self) -> bool {
        matches!(self.info().state, GroupState::Rows(_))
    }

    /// True if its value may be NULL though its argument is not, over rows: the second argument decides too.
    pub fn asks_second(self) -> bool {
        self.info().asks_second
    }

    /// True if equal values count as one, whether or not DISTINCT says so.
    pub fn ignores_repetition(self) -> bool {
        self.info().ignores_repetition
    }

    /// Its name in plans, mostly its SQL name.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}
