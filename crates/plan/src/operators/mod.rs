//! The operators of a plan, a file each: what one is made of, and what it states of itself ([`Node`]). Each is made over any type
//! of inputs; the names that other crates know are those over [`crate::Operator`].

pub(crate) mod aggregate;
pub(crate) mod dependent_join;
pub(crate) mod expand;
pub(crate) mod filter;
pub(crate) mod given;
pub(crate) mod grouping_sets;
pub(crate) mod join;
pub(crate) mod limit;
pub(crate) mod map;
pub(crate) mod node;
pub(crate) mod recursion;
pub(crate) mod scan;
pub(crate) mod shared;
pub(crate) mod sort;
pub(crate) mod top_per_group;
pub(crate) mod turn;
pub(crate) mod union_all;
pub(crate) mod values;
pub(crate) mod window;
pub(crate) mod write;

pub use crate::change::{Change, ConflictUpdate, PlanConflict, WriteKind};
pub use crate::join_kind::JoinKind;
pub use crate::operator::{
    Aggregate, DependentJoin, Expand, Filter, GroupingSets, Join, Limit, Map, Recursion, Sort, TopPerGroup,
    UnionAll, Window, Write,
};
pub use crate::role::Role;
pub use crate::scan_restriction::{ScanDisjunction, ScanRestriction, ScanRestrictionKind};
pub use crate::sort_key::SortKey;
pub use given::Given;
pub use grouping_sets::{GROUPING, grouping_value};
pub(crate) use node::find_nullable;
pub use node::{Needed, Node, RecursionId, Tree, columns_made, free_columns};
pub use scan::Scan;
pub use shared::Shared;
pub use turn::Turn;
pub use values::Values;
