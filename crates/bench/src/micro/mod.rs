//! Micro-benchmarks: the kernels of the layouts measured apart from the system that they serve.
//!
//! Everything is measured alike. A [`Trial`](trials::Trial) is a case and a piece of work of known size;
//! [`trials::run`] runs the trials of a group in turns and yields, for each run, nanoseconds and core
//! cycles a unit by the [`clock`]. Columns of codes in any layout are [`column::Column`]s, their contents
//! come from [`codes`].

pub mod calibrate;
pub mod clock;
pub mod codecs;
pub mod codes;
pub mod column;
pub mod conjunction;
pub mod lookup;
pub mod ordered_index;
pub mod row_claims;
pub mod scan;
pub mod scan_cases;
pub mod trials;
