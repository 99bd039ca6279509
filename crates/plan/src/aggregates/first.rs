//! x of the first row in the order.

use super::info::{AggregateInfo, GroupState, Merging, OfRows, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "first",
    state: GroupState::Rows(OfRows::First),
    merging: Merging::Never,
    over_frames: OverFrames::FirstValue,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: true,
};
