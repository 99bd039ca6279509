//! min(x).

use super::info::{AggregateInfo, End, GroupState, Merging, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "min",
    state: GroupState::End(End::Least),
    merging: Merging::Itself,
    over_frames: OverFrames::AsGroups,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: true,
};
