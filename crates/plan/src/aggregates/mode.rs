//! The most frequent value that is not NULL; of several the first in the order.

use super::info::{AggregateInfo, GroupState, Merging, OfRows, OverFrames, of_argument};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "mode",
    state: GroupState::Rows(OfRows::Mode),
    merging: Merging::Never,
    over_frames: OverFrames::Refused,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
