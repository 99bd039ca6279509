//! The first value in the order at which at least the part y of all rows lies. NULLs do not count. Error 22003 for a y
//! that is not between 0 and 1.

use super::info::{AggregateInfo, GroupState, Merging, OfRows, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "percentile_disc",
    state: GroupState::Rows(OfRows::Discrete),
    merging: Merging::Never,
    over_frames: OverFrames::Refused,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: true,
    ignores_repetition: false,
};
