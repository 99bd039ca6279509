//! bit_xor(x) of integers.

use super::info::{AggregateInfo, Bits, GroupState, Merging, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "bit_xor",
    state: GroupState::Bits(Bits::Xor),
    merging: Merging::Itself,
    over_frames: OverFrames::AsGroups,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
