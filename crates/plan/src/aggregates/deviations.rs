//! The measure of spread of sample and population: the sum of (x − mean of x)², and with a second argument y, which is NULL
//! where x is, the sum of (x − mean of x)(y − mean of y). Doubles.

use super::info::{AggregateInfo, GroupState, Merging, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "deviations",
    state: GroupState::Deviations,
    merging: Merging::Never,
    over_frames: OverFrames::AsGroups,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
