//! The server: a database on PostgreSQL's wire, for any client that speaks its protocol, version 3.
//!
//! ```text
//! socket ── connection.rs ── messages.rs ──► session.rs ── frazil::Connection
//!   (a task: waits, reads, writes)  queue     (a blocking thread: runs statements)
//!        ◄────────── bounded channel of bytes ── answers.rs, rows.rs
//! ```
//!
//! A connection is a task that waits for its socket. It hands all messages that have arrived to a thread of a pool,
//! which runs them in order and sends back bytes through a channel of a few blocks. So a session that waits holds no
//! thread, and a client that reads slowly holds up its own query and nothing else. The thread owns the session while
//! it works; no lock is shared by sessions but the list of those that can be cancelled.
//!
//! Bytes of a client are a stranger's: `messages.rs` checks every length before it takes memory, a message that
//! cannot be read is an error of its session, and a length that cannot be true ends the session.
#![forbid(unsafe_code)]

mod answers;
mod catalog_vectors;
mod connection;
mod copy_rows;
mod copying;
mod inbox;
mod login;
mod messages;
mod output;
mod parameters;
mod portal;
mod registry;
mod rows;
mod scram;
mod server;
mod session;
mod tls;

pub use scram::Verifier;
pub use server::{Authentication, Options, Server, Stopper};
pub use tls::Tls;
