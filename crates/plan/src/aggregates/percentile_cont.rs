//! The value of the row in whose place the part y of all rows lies, or a value between two rows. Doubles, intervals.
//! NULLs do not count. Error 22003 for a y that is not between 0 and 1.

use super::info::{AggregateInfo, GroupState, Merging, OfRows, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "percentile_cont",
    state: GroupState::Rows(OfRows::Continuous),
    merging: Merging::Never,
    over_frames: OverFrames::Refused,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: true,
    ignores_repetition: false,
};
