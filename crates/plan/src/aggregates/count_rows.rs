//! count(*): rows. bigint.

use super::info::{AggregateInfo, GroupState, Merging, OverFrames, of_count};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "count",
    state: GroupState::Count,
    merging: Merging::Sum,
    over_frames: OverFrames::AsGroups,
    bounds: of_count,
    null_at_empty: false,
    asks_second: false,
    ignores_repetition: false,
};
