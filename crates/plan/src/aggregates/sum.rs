//! sum(x). integers: bigint; bigint: decimal(38,0); decimal(p,s): decimal(38,s); double: double.

use super::info::{AggregateInfo, GroupState, Merging, OverFrames};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "sum",
    state: GroupState::Sum,
    merging: Merging::Itself,
    over_frames: OverFrames::AsGroups,
    bounds: |of| of.argument?.0.sum_over(of.rows?),
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};
