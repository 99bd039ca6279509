//! avg(x). integers and decimals: decimal(38, max(6, s)); double: double.

use super::info::{AggregateInfo, Aggregated, GroupState, Merging, OverFrames};
use crate::Bounds;

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "avg",
    state: GroupState::Average,
    merging: Merging::Quotient,
    over_frames: OverFrames::AsGroups,
    bounds,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: false,
};

/// Bounds of the arguments, at the result's scale.
fn bounds(of: &Aggregated) -> Option<Bounds> {
    let (argument, ty) = of.argument?;
    argument.rescaled(ty.scale()?, of.ty.scale()?)
}
