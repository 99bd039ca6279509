//! The code generator: pipelines to machine code, by Cranelift.
//!
//! [`compile`] translates every pipeline of a plan into stage functions, all of them in one module. Each
//! operator has one translator, in `operators`, each family of expressions one file in `expressions`. The
//! translation is data-centric: an operator emits its code and, in the middle of it, that of whatever
//! follows, so that a row's values stay in registers from the source to the next stage boundary
//! (HyPer's produce and consume; Relaxed Operator Fusion, section 2.1).
//!
//! Generated code meets Rust in three places: the context (`runtime::abi`), the table of functions
//! (`runtime::functions`), and the `#[repr(C)]` heads of the structures in `runtime`.

pub mod breakers;
pub mod compile;
pub mod objects;
pub mod one_row;
pub mod open_pipeline;
pub mod plan_state;
mod row_lookup;
pub mod row_source;
mod scratch_marks;
pub mod source_shape;
pub mod worker;

mod code_memory;
mod columns_in_scope;
mod compile_options;
mod counted_texts;
mod emitter;
mod expressions;
mod failures;
mod few_rows;
mod first_rows;
mod jit;
mod join_lookup;
mod late_fetch;
mod may_pause;
mod moved_boundaries;
mod open_loops;
mod operators;
mod outgrown_groups;
mod pauses;
mod pipeline_function;
mod refilled;
mod row_loop;
mod scope;
mod sql_value;
mod stage_loop;
mod stage_vector;
mod stage_work;
mod translator;
mod two_pipelines;

pub use compile::{CompiledPipeline, CompiledPlan, compile};
pub use compile_options::{CompileOptions, Helpers, PaxCode, Task};
pub use few_rows::{FewRows, FewRowsPlan};
pub use first_rows::FirstRows;
pub use objects::ObjectSpec;
pub use one_row::{OneRow, OneRun, is_one_row};
pub use open_pipeline::{OpenPipeline, Opening};
pub use plan_state::PlanState;
pub use worker::{Flow, Worker};
