//! What generated code calls, and the objects it works on.
//!
//! `abi` says how generated code and Rust talk; `functions` is the table of everything generated code
//! may call; `breakers` are the objects that pipelines fill, a folder each: private to a worker while it runs, made one when
//! the last pipeline that fills them has ended.

pub mod abi;
pub mod breakers;
pub mod caught_panic;
pub mod code_groups;
pub mod expansion_rows;
pub mod functions;
mod integer_hash;
pub mod memory;
pub mod one_row;
pub mod row_layout;
pub mod row_pages;
pub mod scan_source;
mod stored_groups;
pub mod string_heap;
pub mod vector_column;

pub use breakers::buffer::row_buffer::{
    BufferBuild, BufferColumn, BufferSpec, BufferWriter, Left, Part, RowBuffer,
};
pub use breakers::groups::aggregate_hash_table::{AggregateSpec, AggregateTable, GroupAddressing, StateKind};
pub use breakers::groups::group_merge::{GroupMerge, Groups};
pub use breakers::join::join_hash_table::{JoinBuild, JoinHeader, JoinSpec, JoinTable};
pub use breakers::sorter::sorted_rows::{GroupCounts, SortField, SortSpec, SortedRows, SortedRun, Sorter};
pub use breakers::windows::{BoundSpec, CallSpec, FrameSpec, WindowInput, WindowSpec, WindowStep};
pub use code_groups::{CodeGroups, CodeKeys};
pub use row_layout::{FieldPlace, RowField, RowLayout};
pub use row_pages::RowPages;
pub use scan_source::{BoundValues, ScanSource};
pub use string_heap::StringHeap;
pub use vector_column::LentColumns;
