//! string_agg(x, y): the texts x that are not NULL, in order, with y between them.

use super::info::{AggregateInfo, GroupState, Merging, OfRows, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "string_agg",
    state: GroupState::Rows(OfRows::Concatenation),
    merging: Merging::Never,
    over_frames: OverFrames::AsGroups,
    bounds: |_| None,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
