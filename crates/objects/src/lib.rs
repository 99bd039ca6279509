//! Files in stores of objects: S3 and what speaks like it, Google Cloud Storage, Azure.
//!
//! The only crate that knows `object_store`. Callers name an object by its URL ([`ObjectUrl`]), open its store
//! ([`ObjectStore::open`]), and wait for whole calls, which end with 57014 once their statement is cancelled.
//! Credentials, regions and endpoints come from the environment of the process, under the names that the stores' own
//! programs give them (`AWS_…`, `GOOGLE_…`, `AZURE_…`); no statement names them, and no error shows them.
#![forbid(unsafe_code)]

mod failure;
mod matching;
mod object_cache;
mod object_store;
mod object_url;
mod object_vfs;
mod read_ahead;
mod settings;
mod upload;
mod waiting;

pub use object_cache::ObjectCache;
pub use object_store::{ObjectMeta, ObjectStore, Put};
pub use object_url::ObjectUrl;
pub use object_vfs::{ObjectVfs, url_path};
pub use read_ahead::ReadAhead;
pub use upload::Upload;

#[cfg(test)]
mod tests;
