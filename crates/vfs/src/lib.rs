//! Files, mapping, locking and sync: the only stratum that speaks to the operating system about a database's files.
//!
//! [`Vfs`] is the door: [`SystemVfs`] is the operating system's files, and tests have one in memory that loses and tears
//! what was not synced. What stands above it (whole files, new files, the lock of a directory) names the file in its errors.

pub mod file;
pub mod filled_file;
pub mod lock;
pub mod mapping;
pub mod new_file;
mod open_files;
pub mod process;
pub mod read_only;
pub mod system;
mod system_lock;
pub mod vfs;

pub use file::{
    MappedFile, create_directory, hold_directory, io_error, read_file, replace_file, stopped_by,
    sync_directory, sync_directory_and_above, take_replacement, write_replacement,
};
pub use filled_file::{FillSource, FilledFile, remove_unused};
pub use lock::DirectoryLock;
pub use mapping::AnonymousMapping;
pub use new_file::{DurableFile, NewFile};
pub use process::Process;
pub use read_only::ReadOnlyVfs;
pub use system::SystemVfs;
pub use vfs::{Access, Entry, HeldDirectory, Holder, IoCounters, Locking, Mapping, Vfs, VfsFile, VfsLock};
