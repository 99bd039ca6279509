//! max(x).

use super::info::{AggregateInfo, End, GroupState, Merging, OverFrames, of_argument};
use crate::{AggregateCall, AggregateFunction, Expr};

pub(super) static INFO: AggregateInfo = AggregateInfo {
    name: "max",
    state: GroupState::End(End::Greatest),
    merging: Merging::Itself,
    over_frames: OverFrames::AsGroups,
    bounds: of_argument,
    null_at_empty: true,
    asks_second: false,
    ignores_repetition: true,
};

impl AggregateCall {
    /// The greatest of the values that are not NULL.
    pub fn max(argument: Expr) -> AggregateCall {
        let ty = argument.ty;
        AggregateCall::new(AggregateFunction::Max, Some(argument), ty)
    }
}
