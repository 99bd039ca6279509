//! A database on a directory: its manifest and segment files, checkpoints, and what opening it
//! restores.
//!
//! ```text
//! DIR/lock              held by the process that has the directory open
//! DIR/manifest          what there is: catalog, chunks, and where their blocks lie
//! DIR/segments/N.seg    blocks one after the other, each at a multiple of 64 bytes
//! ```
//!
//! A segment is written once, synced, and never changed. A checkpoint writes what no segment has yet
//! into a new one, syncs it, and then replaces the manifest by a synced file and a rename. So after a
//! crash, whenever it happens, the directory holds the state of the last checkpoint; segments that the
//! manifest does not name are left-overs, removed by the next open.
#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod directory;
pub mod manifest;
mod manifest_keys;
pub mod restore;
pub mod type_names;
pub mod wal;

pub use checkpoint::CheckpointReport;
pub use directory::Directory;
