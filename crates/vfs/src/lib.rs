//! Files, mapping, locking and sync: the only stratum that speaks to the operating system about bytes
//! on disk. Its errors name the file. Tests have any operation fail ([`faults`]).

pub mod faults;
pub mod file;
pub mod lock;
pub mod mapping;
pub mod new_file;
pub mod process;

pub use file::{MappedFile, create_directory, io_error, read_file, replace_file, sync_directory};
pub use lock::DirectoryLock;
pub use mapping::AnonymousMapping;
pub use new_file::{DurableFile, NewFile};
pub use process::Process;
