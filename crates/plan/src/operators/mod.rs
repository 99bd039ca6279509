//! The operators of a plan, a file each: what one is made of, and what it states of itself ([`Node`]).

mod aggregate;
mod dependent_join;
mod filter;
mod given;
mod join;
mod limit;
mod map;
mod node;
mod repeat;
mod scan;
mod shared;
mod sort;
mod top_per_group;
mod union_all;
mod values;
mod window;
mod write;

pub use aggregate::Aggregate;
pub use dependent_join::DependentJoin;
pub use filter::Filter;
pub use given::Given;
pub use join::{Join, JoinKind};
pub use limit::Limit;
pub use map::Map;
pub use node::{Needed, Node, Role};
pub use repeat::Repeat;
pub use scan::{Scan, ScanDisjunction, ScanRestriction, ScanRestrictionKind};
pub use shared::Shared;
pub use sort::{Sort, SortKey};
pub use top_per_group::TopPerGroup;
pub use union_all::UnionAll;
pub use values::Values;
pub use window::Window;
pub use write::{Change, ConflictUpdate, PlanConflict, Write, WriteKind};
