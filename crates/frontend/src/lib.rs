//! SQL text → [`frazil_plan::Plan`]. Behind this crate nobody sees a DataFusion type.
//!
//! [`parse`] cuts a text into statements. What sqlparser does not know or reads too generously (COPY,
//! FREEZE, SET, EXPLAIN options) is parsed here; the rest becomes sqlparser's tree. [`bind`] checks it
//! against the catalog: [`refuse`] names what is not supported before DataFusion could ignore it,
//! DataFusion's `SqlToRel` resolves names, and [`query`] makes the plan.
//!
//! Of DataFusion this uses the resolver alone. Its analyzer and optimizer are left out: type coercion
//! would put casts on columns, constant folding wraps on overflow, and decorrelation loses the NULL
//! of NOT IN below an OR; on a plan with column ids the same rules are small ([`query`]).
#![forbid(unsafe_code)]

mod bind;
mod catalog_view;
mod copy;
mod create_table;
mod errors;
mod functions;
mod modify;
mod parse;
mod planner_context;
mod query;
mod refuse;
mod select;
mod sql_type;
mod statement;
mod vector_function;

pub use bind::{Bound, HiddenParameter, PlanSettings, bind};
pub use catalog_view::{CatalogView, TableEntry};
pub use copy::{CopyFormat, CopyOptions};
pub use parse::{ParsedStatement, parse};
pub use statement::{ExplainMode, Statement};
