//! array_agg(x): the x of all rows, NULLs among them, in order, as an array. Error 54000 for too many.

use super::info::{AggregateInfo, GroupState, Merging, OfRows, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "array_agg",
    state: GroupState::Rows(OfRows::Array),
    merging: Merging::Never,
    over_frames: OverFrames::Refused,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
