//! A database behind PostgreSQL's protocol, version 3: [`Remote`] implements [`Backend`](crate::backend::Backend) by
//! messages, and describes objects by queries on `pg_catalog`.
//!
//! ```text
//! address.rs (URL, environment) ── login.rs (socket, tls.rs, passwords) ── session.rs (statements, COPY) ── objects.rs
//!                                        wire.rs (messages)                    values.rs (types)
//! ```
//!
//! A session is one socket that blocks: the shell runs one statement at a time. Ctrl-C asks on a second connection that
//! the server cancels it. Rows are handed over while they arrive, so a result of any size takes constant memory.

mod address;
mod backend;
mod cancel;
mod definitions;
mod errors;
mod login;
mod objects;
mod passfile;
mod session;
mod tls;
mod values;
mod wire;

pub use address::{Address, is_url};
pub use backend::Remote;
