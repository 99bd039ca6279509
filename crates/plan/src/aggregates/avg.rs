//! avg(x). Integers and decimals: numeric; double: double.

use super::info::{AggregateInfo, GroupState, Merging, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "avg",
    state: GroupState::Average,
    merging: Merging::Quotient,
    over_frames: OverFrames::AsGroups,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
