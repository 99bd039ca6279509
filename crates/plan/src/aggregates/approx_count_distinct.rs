//! About how many different values that are not NULL there are. bigint.

use super::info::{AggregateInfo, GroupState, Merging, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "approx_count_distinct",
    state: GroupState::Sketch,
    merging: Merging::Never,
    over_frames: OverFrames::Refused,
    bounds: |_| None,
    null_at_empty: false,
    asks_second: false,
    ignores_repetition: true,
};
