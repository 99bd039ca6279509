//! The settings of sessions, their values of sequences and their notifications, for functions that read and change
//! them while a statement runs.
//!
//! A session registers once and gets a number. [`statement_clock`](crate::statement_clock) brings the number to every
//! thread that works for one of its statements, and [`of_statement`] finds the session by it. So a statement that
//! asks for none of them pays for the number alone.

use crate::sequence_values::SequenceValues;
use crate::{Result, statement_clock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

/// The settings of one session.
pub trait SessionSettings: Send + Sync {
    /// The text that SHOW gives; `None` if no setting has the name.
    fn show(&self, name: &str) -> Result<Option<String>>;

    /// Changes a setting, `None` to its default, and returns the text that SHOW then gives. The change is the session's
    /// once the statement has succeeded; with `is_local` it ends with the transaction.
    fn set(&self, name: &str, value: Option<&str>, is_local: bool) -> Result<String>;

    /// Sends a notification to the sessions that listen to a channel, once the transaction commits. 22023.
    fn notify(&self, channel: &str, payload: &str) -> Result<()>;

    /// Cancels the statement of the session that clients know by a number. False if no client of a server has it. 42501
    /// for the session of another role, without the right to signal it.
    fn cancel(&self, number: i32) -> Result<bool>;

    /// Ends the session that clients know by a number, and waits as long for its end. False if no client of a server
    /// has the number, or if the session has not ended by then. 42501 as for [`SessionSettings::cancel`].
    fn terminate(&self, number: i32, patience: Duration) -> Result<bool>;

    /// Counts the database's transactions and rows anew. 42501 for a role that is not a superuser.
    fn reset_statistics(&self) -> Result<()>;

    /// Counts statements anew. 42501 for a role that is not a superuser.
    fn reset_statements(&self) -> Result<()>;

    /// Returns the numbers of the sessions that keep a session waiting for a lock.
    fn blocking(&self, number: i32) -> Vec<i32>;

    /// Returns the name of the database.
    fn database(&self) -> String;

    /// Returns the name of the role by whose rights statements run.
    fn user(&self) -> String;

    /// Returns the name of the session's role.
    fn session_user(&self) -> String;

    /// Returns the channels that the session listens to.
    fn channels(&self) -> Vec<String>;

    /// Returns the share of its room that the fullest queue of notifications has used.
    fn notification_usage(&self) -> f64;

    /// The values that the session took from sequences.
    fn sequences(&self) -> SequenceValues;

    /// The number by which clients and other sessions know the session.
    fn number(&self) -> i32;
}

type Sessions = BTreeMap<u64, Weak<dyn SessionSettings>>;

/// Open sessions by number.
static SESSIONS: RwLock<Sessions> = RwLock::new(BTreeMap::new());
/// The number of the next session; 0 belongs to none.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The number of a session, which is free again once this is dropped.
#[derive(Debug)]
pub struct SessionNumber(u64);

impl SessionNumber {
    /// The number, never 0.
    pub fn get(&self) -> u64 {
        self.0
    }
}

impl Drop for SessionNumber {
    fn drop(&mut self) {
        SESSIONS
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.0);
    }
}

/// Gives the settings of a session a number.
pub fn register(settings: Weak<dyn SessionSettings>) -> SessionNumber {
    let number = NEXT.fetch_add(1, Relaxed);
    let mut sessions = SESSIONS.write().unwrap_or_else(PoisonError::into_inner);
    sessions.insert(number, settings);
    SessionNumber(number)
}

/// The name of a database that no server serves by another one.
pub const DATABASE: &str = "frazil";

/// The name of the database of the session whose statement this thread works for, [`DATABASE`] outside of statements.
pub fn database() -> String {
    of_statement().map_or_else(|| DATABASE.to_owned(), |session| session.database())
}

/// The settings of the session whose statement this thread works for; `None` outside of statements.
pub fn of_statement() -> Option<Arc<dyn SessionSettings>> {
    let number = statement_clock::session()?;
    let sessions = SESSIONS.read().unwrap_or_else(PoisonError::into_inner);
    sessions.get(&number)?.upgrade()
}
