//! What tests and benchmarks of several crates share. No crate of the product depends on it.
//!
//! [`Random`] gives numbers that follow from a seed. [`SimVfs`] is a file system in memory that loses, tears and refuses
//! what a real one may. [`naive_windows`] has window functions by their definitions. [`histories`] finds the anomalies
//! of what transactions read and wrote. [`table_model`] predicts statements on a table with keys,
//! [`reference_model`] on tables with foreign keys. [`RaisedAtEnd`] ends the loops of threads.
#![forbid(unsafe_code)]

pub mod histories;
pub mod naive_windows;
mod raised;
mod random;
pub mod reference_model;
pub mod sim_vfs;
pub mod table_model;

pub use raised::RaisedAtEnd;
pub use random::Random;
pub use sim_vfs::{Failure, SimVfs};
