//! The engine's own plan: typed expressions, operators with column ids, and the pipelines they are cut
//! into. Tables and columns go by id, their names are there for EXPLAIN; no sqlparser, Arrow or Cranelift type enters.
//!
//! A [`Plan`] is made by `frontend`, rewritten by `optimizer`, cut into [`pipeline::Pipeline`]s and
//! stages here, translated by `codegen` and run by `exec`. Every form has a text ([`display`]).
#![forbid(unsafe_code)]

pub mod aggregate;
pub mod aggregates;
pub mod assumptions;
pub mod band;
pub mod bounds;
pub mod breakers;
pub mod cached_bytes;
mod change;
pub mod column;
mod constant_value;
pub mod display;
mod display_expression;
mod display_operator;
mod display_window;
pub mod each_once;
pub mod expression;
pub mod facts;
mod join_kind;
pub mod longest_function;
pub mod lookup;
pub mod nullability;
pub mod nullable_columns;
pub mod opening;
pub mod operator;
pub mod operators;
pub mod pipeline;
pub mod pipeline_builder;
pub mod plan;
mod role;
mod row_count;
mod row_locks;
mod rows_call;
pub mod same;
mod scan_restriction;
pub mod schedule;
mod sort_key;
pub mod statistics;
pub mod subquery;
mod value_bounds;
mod vector_calls;
pub mod vector_function;
pub mod verify;
mod window_call;
pub mod work;

pub use aggregate::{AggregateCall, AggregateKey};
pub use aggregates::AggregateFunction;
pub use assumptions::{Assumption, Grid};
pub use band::{Band, End, Ends, FirstMatches};
pub use change::{
    ArbiterCandidate, Arbiters, Change, ConflictTarget, ConflictUpdate, PlanConflict, WriteKind,
};
pub use column::{CONDITION, COUNT, ColumnId, ColumnInfo, Columns};
pub use constant_value::value_by_parts;
pub use expression::{Expr, ExprKind, Own, OwnMut, ScalarFunction};
pub use frazil_types::value_ops::{ArithmeticOp, DatePart};
pub use join_kind::JoinKind;
pub use lookup::Lookup;
pub use operator::{Operator, Plan};
pub use operators::{Write, columns_made, free_columns};
pub use plan::{SharedId, SubqueryId};
pub use row_count::RowCount;
pub use row_locks::{LockBounds, LockStrength, LockWait, LockedTable, RowLocks};
pub use rows_call::{Expansion, RowsCall, RowsFunction};
pub use scan_restriction::{ScanDisjunction, ScanRestriction};
pub use sort_key::SortKey;
pub use statistics::{
    IndexInfo, IndexKeyInfo, SampleSize, SampledRows, Statistics, Stored, StoredExpression,
};
pub use subquery::{Subquery, SubqueryKind};
pub use value_bounds::{Bounds, ValueBounds};
pub use window_call::{Frame, FrameBound, FrameExclusion, FrameUnit, WindowCall, WindowFunction};
