//! max(x).

use super::info::{AggregateInfo, End, GroupState, Merging, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "max",
    state: GroupState::End(End::Greatest),
    merging: Merging::Itself,
    over_frames: OverFrames::AsGroups,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: true,
};
