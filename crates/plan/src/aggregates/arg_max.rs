//! x of a row with the greatest y that is not NULL.

use super::info::{AggregateInfo, End, GroupState, Merging, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "arg_max",
    state: GroupState::Picked(End::Greatest),
    merging: Merging::Never,
    over_frames: OverFrames::AsGroups,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: true,
    ignores_repetition: true,
};
