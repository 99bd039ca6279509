//! The pages of the book that have blocks of Rust, so that they are tested as documentation is.

#[doc = include_str!("../../../docs/book/src/install.md")]
struct Install;

#[doc = include_str!("../../../docs/book/src/rust.md")]
struct Rust;
