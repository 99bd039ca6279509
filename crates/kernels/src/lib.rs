//! Pure functions on slices, codes and match bits: the only place that knows an instruction set.
//!
//! A kernel with SIMD of ours takes the [`Isa`] it shall run on as its first argument, so that a test can compare all
//! of them in one process and a setting can force one. Hints, single codes and LIKE, whose search chooses by itself,
//! take none. A folder is a kernel or a layout's kernels: `mod.rs` is safe, checks its arguments and chooses;
//! `scalar.rs` is the oracle and the fallback of machines we have no SIMD for; `avx2.rs` and `avx512.rs` are the fast
//! paths. An instruction set the machine lacks is silently lowered to the best it has, so no argument can reach an
//! illegal instruction.
//!
//! Kernels allocate nothing beyond a `Vec` they are asked to fill, do not fail on data, and panic only
//! when slices do not fit each other, which is a defect of the caller. A LIKE pattern is compiled before, which
//! allocates, and fails for a pattern that ends in its escape.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, unused_variables))]

pub mod bitpack;
pub mod byteslice;
pub mod compare;
pub mod count;
pub mod counters;
pub mod early_probe;
pub mod extremes;
pub mod hash;
pub mod hbp;
pub mod isa;
pub mod like;
pub mod packed;
pub mod plain;
pub mod positions;
pub mod prefetch;
pub mod selection;
pub mod strided;
pub mod sum;
pub mod unpack;
pub mod vbp;

pub use compare::{Combine, Comparable, RangeOp};
pub use counters::Kernel;
pub use early_probe::KeyFilter;
pub use isa::Isa;
pub use like::LikePattern;
pub use packed::Packed;
pub use plain::{CodeWord, Plain};
pub use selection::Selection;
pub use strided::Strided;
pub use unpack::Reference;
