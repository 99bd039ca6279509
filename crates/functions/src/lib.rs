//! What SQL's operators and functions mean: typing by PostgreSQL's rules (its manual, chapter 10), and every
//! operator, function and aggregate as data.
//!
//! The binder hands over [`Operand`]s, expressions whose type may still be open, and gets back expressions of the
//! plan with final types. [`Typing`] holds what a statement has taught about its parameters. `scalar_functions` is
//! the one table of functions: resolution, hints ([`nearest_function`]) and documentation ([`list`]) read it. What
//! generated code does not know runs behind `plan::VectorFunction` (`vector`).
#![forbid(unsafe_code)]

mod aggregate;
mod are_options;
mod are_syntax;
mod arithmetic;
mod array_agg;
mod array_function;
mod arrays;
mod build;
pub mod built_in;
mod byte_runs;
mod calls;
mod compare;
mod conditional;
mod convert;
mod documentation;
mod domain;
mod escape;
mod fixed_numeric;
mod foreign_names;
mod function;
mod interval_aggregates;
mod json;
mod json_agg;
mod json_records;
mod json_rows;
mod jsonpath;
mod keywords;
mod literal;
mod matched_rest;
mod named_oids;
mod numeric;
mod numeric_aggregates;
mod operand;
mod operators;
mod ordered_set;
mod overlaps;
#[cfg(test)]
mod own_functions;
mod parameter_names;
mod pattern;
mod postgresql;
mod quantifiers;
mod record;
mod regular_expression;
mod resolve;
mod row_version;
mod rows;
mod sample;
mod scalar_functions;
mod sequences;
mod session_catalog;
mod similar;
mod stability;
mod statistics;
mod type_rules;
mod typing;
mod vector;
mod window;

pub use aggregate::{AggregateArguments, Aggregated, MadeOf, OrderedBy, value_of};
pub use array_agg::{array_of_rows, over_frames};
pub use arrays::Quantifier;
pub use compare::compared_by;
pub use conditional::Named;
pub use documentation::{FunctionClass, FunctionDoc, list, markdown, nearest_function};
pub use domain::{Blamed, not_null, satisfying};
pub use frazil_types::value_ops::CastContext;
pub use json_records::{JsonRecords, columns_needed, json_records};
pub use literal::negated_literal;
pub use operand::{Operand, Subscript, Unknown, UnknownKind};
pub use parameter_names::{Parameter, parameter_defaults, parameters_of};
pub use record::{RESULT_PARAMETER, Record};
pub use row_version::version_number;
pub use rows::{ArrayLines, EXPAND_ARRAY, TypedRowsCall, numbered_elements};
pub use sample::SampleMethod;
pub use scalar_functions::{
    KEYS, SHOWN, breadth_first, is_on_path, keys_of_path, start_of_process, text_of_path,
};
pub use sequences::{SequenceCall, SequenceField, next_values};
pub use session_catalog::{Asked, AskedColumn, Bytes, RegisteredCatalog, SessionCatalog};
pub use stability::is_stable;
pub use type_rules::{Kind, name_of};
pub use typing::{BetweenKind, FIRST_HIDDEN, HiddenParameter, LikeKind, Truth, Typing, Volatility};
pub use window::{FrameSide, TypedWindowCall};
