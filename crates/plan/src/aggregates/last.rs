//! x of the last row in the order.

use super::info::{AggregateInfo, GroupState, Merging, OfRows, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "last",
    state: GroupState::Rows(OfRows::Last),
    merging: Merging::Never,
    over_frames: OverFrames::LastValue,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: true,
};
