//! What tests and benchmarks of several crates share. No crate of the product depends on it.
#![forbid(unsafe_code)]

mod random;
pub mod table_model;

pub use random::Random;
