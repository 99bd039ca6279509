//! What generated code calls, and the objects it works on.
//!
//! `abi` says how generated code and Rust talk; `functions` is the table of everything generated code
//! may call. The objects that a pipeline fills are made by `codegen` for each of its workers, are private to the worker
//! while it runs, and are merged by `exec` when the last pipeline that fills them has ended.

pub mod abi;
pub mod aggregate_hash_table;
pub mod buffer;
pub mod caught_panic;
pub mod distinct_set;
pub mod functions;
pub mod group_merge;
pub mod join_hash_table;
pub mod memory;
pub mod one_row;
pub mod row_layout;
pub mod row_pages;
pub mod scan_cursor;
pub mod sorter;
pub mod string_heap;
pub mod vector_column;

pub use aggregate_hash_table::{AggregateSpec, AggregateTable, GroupAddressing, StateKind};
pub use buffer::{BufferBuild, BufferColumn, BufferSpec, BufferWriter, Left, Part, RowBuffer};
pub use distinct_set::DistinctSet;
pub use group_merge::{GroupMerge, Groups};
pub use join_hash_table::{JoinBuild, JoinHeader, JoinSpec, JoinTable};
pub use row_layout::{FieldPlace, RowField, RowLayout};
pub use row_pages::RowPages;
pub use scan_cursor::{BoundValues, ScanSource};
pub use sorter::{GroupCounts, SortField, SortSpec, SortedRows, SortedRun, Sorter};
pub use string_heap::StringHeap;
pub use vector_column::LentColumns;
