//! The sum of x² of exact numbers: what DISTINCT is about is x. The optimizer makes a sum of it.

use super::info::{AggregateInfo, GroupState, Merging, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "sum_of_squares",
    state: GroupState::Squares,
    merging: Merging::Never,
    over_frames: OverFrames::AsGroups,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
