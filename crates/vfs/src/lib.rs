//! Files, mapping, locking and sync: the only stratum that speaks to the operating system about bytes
//! on disk. Its errors name the file.

pub mod file;
pub mod lock;
pub mod mapping;
pub mod new_file;

pub use file::{MappedFile, io_error, replace_file, sync_directory};
pub use lock::DirectoryLock;
pub use mapping::AnonymousMapping;
pub use new_file::NewFile;
