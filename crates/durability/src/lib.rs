//! A database on a directory: its manifest and segment files, checkpoints, and what opening it
//! restores.
//!
//! ```text
//! DIR/lock              held by the process that writes the directory
//! DIR/manifest          what there is: catalog, chunks, where their blocks lie, and where the log goes on
//! DIR/segments/N.seg    blocks one after the other, each at a multiple of 64 bytes
//! DIR/log/N.log         what was committed since: see [`wal`]
//! ```
//!
//! A commit is a record of the log, and returns when the log is durable up to there (`commits.rs`): so many commits share a
//! sync. Blocks that a transaction adds (bulk loads, rows that move to other chunks) lie in a segment before, which the record
//! names (`segment.rs`). A transaction of more than 64 MiB is committed by a checkpoint.
//!
//! A segment is written once, synced, and never changed. A checkpoint writes what no segment has yet
//! into a new one, syncs it, and then replaces the manifest by a synced file and a rename. So after a
//! crash, whenever it happens, the directory holds the state of the last checkpoint and the log behind it, and opening it does
//! again what the log says (`recovery.rs`); segments that neither of them names are left-overs, removed by the next open.
//!
//! Any number of processes may read a directory, also while another one writes it. They do again in memory what the log
//! says, at the begin of each statement what came to it, and leave all files as they are (`following.rs`).
//!
//! BACKUP and PUBLISH copy the blocks of a checkpoint (`block_copier.rs`): the one to a directory of its own, the other to
//! a folder of snapshots that are only read (`published_folder.rs`).
#![forbid(unsafe_code)]

mod access;
mod backup;
mod block_copier;
mod catalog_change;
pub mod checkpoint;
mod comments;
mod commits;
pub mod damaged;
pub mod directory;
mod following;
pub mod format_version;
mod inspect;
pub mod kept_changes;
mod looks;
pub mod manifest;
mod manifest_keys;
mod manifest_references;
mod manifest_schemas;
mod manifest_version;
mod opening;
mod progress;
mod publish;
mod published_folder;
mod published_snapshot;
mod published_table;
mod reading;
mod recovery;
mod replay;
pub mod restore;
mod restored_chunk;
mod salvage;
mod segment;
mod sequences;
mod state;
pub mod type_names;
pub mod wal;

pub use block_copier::CopyWatch;
pub use checkpoint::{CheckpointReport, MadeCheckpoint};
pub use directory::{Directory, LastCheckpoint};
pub use frazil_vfs::Access;
pub use inspect::{InspectedTable, Inspection, inspect};
pub use opening::{Opening, OpeningProgress, OpeningStep};
pub use progress::{CheckpointCause, CheckpointProgress, Pace};
pub use publish::{Publication, PublishOptions};
pub use published_snapshot::PublishedSnapshot;
pub use published_table::{open_published_table, published_table};
pub use recovery::RecoveryReport;
pub use salvage::Loss;
