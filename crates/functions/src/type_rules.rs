//! Which kinds of types become which without being asked, and how messages name them.

use frazil_types::LogicalType;
use frazil_types::value_ops::casts::{self, CastContext};
pub use frazil_types::{Category, Kind};

/// The name of a type in messages; `unknown` for what has none yet.
pub fn name_of(ty: Option<LogicalType>) -> &'static str {
    ty.map_or("unknown", LogicalType::name)
}

/// The least context in which a value of one kind becomes another; `None` if none does.
pub fn cast_context(from: Kind, to: Kind) -> Option<CastContext> {
    let context = casts::find(from, to)?.context;
    (context <= CastContext::Explicit).then_some(context)
}

/// The least context in which a value of one type becomes another: of arrays that of their elements.
pub fn cast_context_of(from: LogicalType, to: LogicalType) -> Option<CastContext> {
    let context = casts::between(from, to)?.context;
    (context <= CastContext::Explicit).then_some(context)
}

/// Whether a value becomes `to` without being asked.
pub fn is_implicit(from: Kind, to: Kind) -> bool {
    cast_context(from, to) == Some(CastContext::Implicit)
}
