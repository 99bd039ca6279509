//! What each aggregate is: the facts that its file states ([`AggregateInfo`]).

use crate::Bounds;
use frazil_types::LogicalType;

/// An aggregate's facts.
#[derive(Debug)]
pub struct AggregateInfo {
    /// Its name in plans, mostly its SQL name.
    pub name: &'static str,
    /// What a group keeps for it.
    pub state: GroupState,
    /// How it comes from those of parts of the rows.
    pub merging: Merging,
    /// How it is computed over the frames of a window.
    pub over_frames: OverFrames,
    /// Bounds of its exact result, and of what it adds up on the way. `None` if they are not known.
    pub bounds: fn(&Aggregated) -> Option<Bounds>,
    /// True if it is NULL over no rows; otherwise it is 0.
    pub null_at_empty: bool,
    /// True if its value may be NULL though its argument is not, over rows: the second argument decides too.
    pub asks_second: bool,
    /// True if equal values count as one, whether or not DISTINCT says so.
    pub ignores_repetition: bool,
}

/// What is known of the rows that are aggregated.
#[derive(Clone, Copy, Debug)]
pub struct Aggregated {
    /// Bounds of the argument, and its type.
    pub argument: Option<(Bounds, LogicalType)>,
    /// Rows at most; `None` if that is not known.
    pub rows: Option<u64>,
    /// Type of the result.
    pub ty: LogicalType,
}

/// Which of two ends of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The least value.
    Least,
    /// The greatest value.
    Greatest,
}

/// An operation on bits that folds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// Bits that all values have.
    And,
    /// Bits that some value has.
    Or,
    /// Bits that an odd number of values have.
    Xor,
}

/// What a group keeps for an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// The number of rows, or of those in which the argument is not NULL.
    Count,
    /// The sum of the arguments.
    Sum,
    /// Their sum and their number.
    Average,
    /// The argument at an end of its order.
    End(End),
    /// The arguments folded bit by bit.
    Bits(Bits),
    /// The argument of the row whose second argument is at an end of its order.
    Picked(End),
    /// Sums of products of deviations, behind count and sums.
    Deviations,
    /// A sketch of the distinct arguments.
    Sketch,
    /// The rows one by one, in an order, of which this is made when all are there.
    Rows(OfRows),
    /// The sum of the squares of the arguments: the optimizer makes a sum of products of it.
    Squares,
}

/// What is made of the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfRows {
    /// The arguments that are not NULL, behind each other, the second argument between them.
    Concatenation,
    /// An array of the arguments, NULLs among them.
    Array,
    /// The value before which a part of the rows lies, or one between two. NULLs do not count.
    Continuous,
    /// The first value at which at least a part of the rows lies. NULLs do not count.
    Discrete,
    /// The most frequent value. NULLs do not count.
    Mode,
    /// The argument of the first row, NULL or not.
    First,
    /// The argument of the last row, NULL or not.
    Last,
}

impl OfRows {
    /// True if rows count in which the argument is NULL.
    pub fn takes_nulls(self) -> bool {
        match self {
            OfRows::Array | OfRows::First | OfRows::Last => true,
            OfRows::Concatenation | OfRows::Continuous | OfRows::Discrete | OfRows::Mode => false,
        }
    }
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

/// How an aggregate is computed over the frames of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverFrames {
    /// As its [`GroupState`] says, over the rows of each frame.
    AsGroups,
    /// As first_value.
    FirstValue,
    /// As last_value.
    LastValue,
    /// Not at all: it needs all rows of a group in an order of their own. Error 0A000.
    Refused,
}

/// Bounds of a number of rows.
pub(super) fn of_count(of: &Aggregated) -> Option<Bounds> {
    let most = i128::from(i64::MAX);
    let max = of.rows.map_or(most, |rows| i128::from(rows).clamp(1, most));
    Some(Bounds { min: 0, max })
}

/// Bounds of one of the arguments.
pub(super) fn of_argument(of: &Aggregated) -> Option<Bounds> {
    Some(of.argument?.0)
}
