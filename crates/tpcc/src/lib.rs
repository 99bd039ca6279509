//! TPC-C, revision 5.11: its tables and data, its five transactions on prepared statements, terminals that run them
//! side by side, and its twelve consistency conditions. The CH-benCHmark's tables and queries come on top of them:
//! [`load_suppliers`] and [`questions`].
//!
//! [`load`] fills a database of Frazil, [`drive`] runs terminals on it, and [`broken_conditions`] checks it. The
//! transactions know an engine only by [`Session`], so that the benchmark runs them on other engines, too. All SQL is
//! in the crate's folder `sql`.
//!
//! Terminals are threads: they draw the inputs of a transaction as the specification says, run its statements, and show
//! nothing. Deliveries run at once and not from a queue (2.7.2). Keying and think times (5.2.5) are an option.
#![forbid(unsafe_code)]

mod cells;
mod conditions;
mod dice;
mod driving;
mod frazil_engine;
mod generate;
mod latencies;
mod loading;
mod named_statements;
mod population;
mod questions;
mod session;
mod steps;
mod suppliers;
mod tables;
mod tally;
mod terminal;
mod transactions;

pub use conditions::{Broken, CONDITIONS, broken_conditions};
pub use driving::{Driven, Plan, Until, Watch, drive};
pub use frazil_engine::FrazilEngine;
pub use generate::{SINCE, generate};
pub use latencies::Latencies;
pub use loading::{Loading, load};
pub use population::{DISTRICTS, Population};
pub use questions::{QUESTIONS, questions};
pub use session::{Answer, Engine, Session};
pub use steps::Step;
pub use suppliers::load_suppliers;
pub use tables::{SCHEMA, TABLES, Table};
pub use tally::{Counts, Tally};
pub use terminal::{Mix, Pace};
pub use transactions::Kind;
