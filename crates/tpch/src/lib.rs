//! TPC-H: its tables, its data as column batches (made by the crate `tpchgen`, byte for byte those of
//! dbgen, without a detour over text), and its 22 queries.
#![forbid(unsafe_code)]

mod generate;
mod queries;
mod row_writer;
mod schema;

pub use generate::{Batches, generate};
pub use queries::{QUERIES, query};
pub use schema::{TABLES, Table};
