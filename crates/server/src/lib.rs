//! The server: a database on PostgreSQL's wire, for any client that speaks its protocol, version 3.
//!
//! ```text
//! socket ── connection.rs ───── lends the socket ─────► work.rs ── session.rs ── frazil::Connection
//!   (a task: waits for messages)                    (a blocking thread: runs statements)
//!        ◄────────── gives it back, once no message comes ── answers.rs, rows.rs
//! ```
//!
//! A connection is a task that waits for its socket. It lends the socket, with all messages that have arrived, to a
//! thread of a pool, which runs them in order and writes the answers. The thread waits a moment for the next messages
//! before it gives the socket back, so that a busy session runs without a switch of threads, and a session that waits
//! holds no thread. A client that reads slowly holds up its own query and nothing else. Meanwhile the task watches a
//! statement that takes long, and cancels it if its client leaves; the rows of COPY … FROM STDIN are read by the task.
//! The thread owns the session while it works; no lock is shared by sessions but the list of those that can be
//! cancelled.
//!
//! Bytes of a client are a stranger's: `messages.rs` checks every length before it takes memory, a message that
//! cannot be read is an error of its session, and a length that cannot be true ends the session.
#![forbid(unsafe_code)]

mod answers;
mod catalog_vectors;
mod certificate;
mod client_text;
mod connection;
mod copy_rows;
mod copying;
mod ended;
mod failed_logins;
mod inbox;
mod login;
mod messages;
mod observe;
mod output;
mod parameters;
mod portal;
mod registry;
mod reported;
mod rows;
mod scram;
mod server;
mod session;
mod slow_log;
mod tls;
mod wire;
mod work;

pub use scram::Verifier;
pub use server::{Authentication, Limits, Options, Server, Stopper, Watching};
pub use slow_log::SlowLog;
pub use tls::Tls;
