//! One translator per operator, source and sink. Who fills and reads which breaker is in `breakers/mod.rs`.

pub(crate) mod aggregate;
mod boundary;
pub(crate) mod expand;
mod group_cells;
mod group_heads;
mod groups;
mod hash_join_build;
mod hash_join_probe;
mod kept_rows;
mod rows;
mod run_probe;
mod sort;
mod values;
pub(crate) mod vector_call;
mod vector_sink;
mod whole_vectors;

pub use whole_vectors::Taken;
