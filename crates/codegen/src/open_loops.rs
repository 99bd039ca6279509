//! The loops around the code in hand, and what a pause keeps of each: see [`crate::pauses`].

use cranelift_codegen::ir;
use cranelift_frontend::Variable;
use frazil_plan::breakers::BreakerId;

/// In a loop's place: it is not set.
pub(crate) const NOT_SET: u64 = 0;
/// In a loop's place: the loop goes on with the position there.
pub(crate) const AT: u64 = 1;
/// In a loop's place: the loop goes on behind the position there.
pub(crate) const BEHIND: u64 = 2;

/// A loop around the code in hand, inside the loop over the rows of a vector.
#[derive(Clone, Debug)]
pub(crate) enum OpenLoop {
    /// The chain of a probe row that gives a row for each match.
    Chain {
        /// Offset of its place in the stage memory.
        place: usize,
        /// The build row in hand.
        row: ir::Value,
        /// The other value that the loop carries from row to row.
        carried: Carried,
        /// The join, if its rows may be in an array, where no row is behind another.
        array: Option<BreakerId>,
    },
    /// The rows of functions.
    Rows(OpenRows),
    /// A walk that gives no rows of its own. After a pause it begins again.
    Search,
}

/// The value that the loop over a chain carries from row to row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carried {
    Nothing,
    /// Outer joins: true if the probe row has had a match once the loop goes on behind the row in hand.
    Matched(ir::Value),
    /// Joins that give the first matches of a probe row: their number before the row in hand and behind it, and the
    /// most of them.
    Count {
        before: ir::Value,
        behind: ir::Value,
        most: u64,
    },
}

/// The loop over the rows of functions, as a pause keeps it.
#[derive(Clone, Debug)]
pub(crate) struct OpenRows {
    /// Offset of its place in the stage memory: a word that says whether it is set, the ordinality, then the functions'
    /// parts.
    pub place: usize,
    /// The ordinality, if the functions have one.
    pub number: Option<Variable>,
    pub calls: Vec<OpenPosition>,
}

/// The position of a function in its rows, as a pause keeps it.
#[derive(Clone, Debug)]
pub(crate) struct OpenPosition {
    /// Offset of its part of the place.
    pub place: usize,
    pub left: Variable,
    pub at: PositionIn,
}

#[derive(Clone, Debug)]
pub(crate) enum PositionIn {
    Same,
    Series {
        value: Variable,
        /// Address of the [`Series`](frazil_types::value_ops::Series), if its steps may differ.
        uneven: Option<ir::Value>,
    },
    Elements {
        /// Address of the first element. The array may be made at another address when the loop goes on.
        begin: ir::Value,
        data: Variable,
        /// The value of `data` before the element in hand was read; `None` in front of the loop.
        before: Option<ir::Value>,
    },
}
