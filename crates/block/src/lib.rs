//! The Data Block: frozen rows in one compressed, immutable, self-contained run of bytes (Data Blocks,
//! section 3). It knows no plan and no table: it is built from native columns, scanned with
//! restrictions, and unpacked by selection.
//!
//! A reader follows a block through these files: [`block_builder`] has the [`cost_model`] choose an encoding
//! (`encodings/`) and a layout of its codes (`layouts/`) for every column, within what [`build_options`] ask
//! for, and lays the sections out as [`format`](mod@format) says. [`block`] opens the bytes, [`verify`] distrusts them until they are
//! checked. [`block_scan`] rules the block out by its SMAs ([`sma`]), narrows it by its PSMAs
//! ([`psma`]), has [`code_range`] translate each restriction into codes, and matches windows of rows;
//! [`unpack`] fetches what matched, `point_access` a single value.
//!
//! **Trust.** Bytes come from files. The header is checked when a block is opened; a column is checked
//! (checksum, code bounds, offsets, UTF-8) when it is first touched, by whichever call touches it.
//! Everything behind that door indexes without fear. A block that was just built is distrusted, too: it is compared
//! with the rows that it was built of (`built`).

#[cfg(target_endian = "big")]
compile_error!("Data Blocks are little-endian and used in place");

pub mod block;
pub mod block_builder;
pub mod block_scan;
pub mod build_options;
mod built;
pub mod bytes;
mod code_match;
pub mod code_range;
pub mod column_buffer;
pub mod cost_model;
mod disjunction;
pub mod encodings;
pub mod format;
pub mod input;
pub mod layouts;
pub mod observed;
mod point_access;
pub mod psma;
mod raw_strings;
mod resolve;
mod row_ranges;
mod scan_predicate;
mod selectivity;
pub mod sma;
mod stored_text;
mod strategy;
pub mod string_codes;
mod text_lengths;
mod text_predicate;
pub mod unpack;
pub mod verify;
mod window_match;

pub use block::{Block, ColumnInfo, ShownColumn};
pub use block_builder::BlockBuilder;
pub use block_scan::{BlockScan, Matched, ScanOptions};
pub use build_options::{BuildOptions, ColumnOptions, Purpose};
pub use bytes::{AlignedBytes, BlockBytes, FetchBytes};
pub use code_range::CodeRange;
pub use column_buffer::ColumnBuffer;
pub use cost_model::{Calibration, Candidate, Weights};
pub use encodings::Encoding;
pub use encodings::constant::Constant;
pub use input::ColumnInput;
pub use layouts::Layout;
pub use observed::Observed;
pub use row_ranges::RowRanges;
