//! bit_and(x) of integers.

use super::info::{AggregateInfo, Bits, GroupState, Merging, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "bit_and",
    state: GroupState::Bits(Bits::And),
    merging: Merging::Itself,
    over_frames: OverFrames::AsGroups,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: true,
};
