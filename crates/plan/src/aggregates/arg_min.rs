//! x of a row with the least y that is not NULL.

use super::info::{AggregateInfo, End, GroupState, Merging, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "arg_min",
    state: GroupState::Picked(End::Least),
    merging: Merging::Never,
    over_frames: OverFrames::AsGroups,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: true,
    ignores_repetition: true,
};
