//! The engine's own plan: typed expressions, operators with column ids, and the pipelines they are cut
//! into. Tables and columns go by id, their names are there for EXPLAIN; no sqlparser, Arrow or Cranelift type enters.
//!
//! A [`Plan`] is made by `frontend`, rewritten by `optimizer`, cut into [`pipeline::Pipeline`]s and
//! stages here, translated by `codegen` and run by `exec`. Every form has a text ([`display`]).
#![forbid(unsafe_code)]

pub mod aggregate;
pub mod assumptions;
pub mod bounds;
pub mod breakers;
pub mod column;
mod constant_value;
pub mod display;
mod display_expression;
mod display_operator;
mod display_window;
pub mod each_once;
pub mod expression;
pub mod facts;
pub mod longest_function;
pub mod lookup;
pub mod nullability;
pub mod operator;
pub mod operators;
pub mod pipeline;
pub mod pipeline_builder;
mod row_count;
mod rows_call;
pub mod same;
pub mod schedule;
pub mod statistics;
pub mod subquery;
mod value_bounds;
mod vector_calls;
pub mod vector_function;
pub mod verify;
mod window_call;
pub mod work;

pub use aggregate::{AggregateCall, AggregateFunction, AggregateKey};
pub use assumptions::{Assumption, Grid};
pub use column::{CONDITION, COUNT, ColumnId, ColumnInfo, Columns};
pub use constant_value::value_by_parts;
pub use expression::{Expr, ExprKind, ScalarFunction};
pub use frazil_types::value_ops::{ArithmeticOp, DatePart};
pub use lookup::Lookup;
pub use operator::{Operator, Plan, SharedId, SubqueryId};
pub use operators::{
    Change, ConflictUpdate, JoinKind, PlanConflict, ScanDisjunction, ScanRestriction, SortKey, Write,
    WriteKind,
};
pub use row_count::RowCount;
pub use rows_call::{Expansion, RowsCall, RowsFunction};
pub use statistics::{IndexInfo, IndexKeyInfo, Statistics};
pub use subquery::{Subquery, SubqueryKind};
pub use value_bounds::{Bounds, ValueBounds};
pub use window_call::{Frame, FrameBound, FrameExclusion, FrameUnit, WindowCall, WindowFunction};
