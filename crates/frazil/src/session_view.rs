//! A session as system tables and other sessions see it. A statement reads it through this trait, and knows nothing of
//! the session itself.

use crate::activity::Activity;
use crate::lock_waits::LockTable;
use crate::statistics::DatabaseStatistics;
use frazil_frontend::CursorOptions;
use frazil_types::{LogicalType, ObjectId};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session as others see it.
pub trait SessionView: Debug + Send + Sync {
    /// The number by which clients know the session.
    fn number(&self) -> i32;

    /// The role that logged in: its number and its name.
    fn user(&self) -> (u32, String);

    /// The client's name for itself.
    fn application(&self) -> String;

    /// The statement that runs, and the session's end by others.
    fn activity(&self) -> &Arc<Activity>;

    /// The settings, in the order of their names without case.
    fn settings(&self) -> Vec<ListedSetting>;

    /// The cursors that DECLARE named, in the order of their names.
    fn cursors(&self) -> Vec<Arc<ListedCursor>>;

    /// The statements that PREPARE named, with their names in order.
    fn prepared(&self) -> Vec<(String, ListedStatement)>;

    /// The locks of all sessions of the database.
    fn locks(&self) -> LockTable;

    /// The counts of the database.
    fn statistics(&self) -> &DatabaseStatistics;
}

/// A row of `pg_settings`.
#[derive(Debug)]
pub struct ListedSetting {
    pub name: &'static str,
    /// The value, in units of `unit`.
    pub value: String,
    pub unit: Option<&'static str>,
    pub category: &'static str,
    pub short: &'static str,
    pub extra: Option<&'static str>,
    /// The sessions and moments that can change it, in the words of `pg_settings`.
    pub context: &'static str,
    /// bool, integer, real, enum or string.
    pub kind: &'static str,
    /// The origin of the value.
    pub source: &'static str,
    /// The least value and the greatest, of a number.
    pub range: Option<(String, String)>,
    /// The words of a choice.
    pub words: Option<Vec<&'static str>>,
    /// The default.
    pub default: String,
    /// The value after RESET.
    pub reset: String,
}

/// A cursor as `pg_cursors` shows it.
#[derive(Clone, Debug)]
pub struct ListedCursor {
    /// Its name.
    pub name: String,
    /// The statement that declared it.
    pub text: Arc<str>,
    /// The tables that its query reads, until all its rows are kept.
    pub tables: Vec<ObjectId>,
    /// The options of its DECLARE.
    pub options: CursorOptions,
    /// The time when it was declared, in microseconds since 1970.
    pub declared: i64,
}

/// The open cursors of a session, for other threads.
#[derive(Clone, Debug, Default)]
pub struct ListedCursors(Arc<Mutex<Vec<Arc<ListedCursor>>>>);

impl ListedCursors {
    /// Returns the list, to be changed.
    pub fn list(&self) -> MutexGuard<'_, Vec<Arc<ListedCursor>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cursors in the order of their names.
    pub fn all(&self) -> Vec<Arc<ListedCursor>> {
        let mut all = self.list().clone();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// A portal of the protocol among the cursors of its session, until it is dropped.
#[derive(Debug)]
pub struct OpenPortal {
    list: ListedCursors,
    listed: Arc<ListedCursor>,
}

impl ListedCursors {
    /// Adds a portal.
    pub fn add(&self, listed: ListedCursor) -> OpenPortal {
        let listed = Arc::new(listed);
        self.list().push(listed.clone());
        OpenPortal {
            list: self.clone(),
            listed,
        }
    }
}

impl Drop for OpenPortal {
    fn drop(&mut self) {
        self.list.list().retain(|other| !Arc::ptr_eq(other, &self.listed));
    }
}

/// A prepared statement as `pg_prepared_statements` shows it.
#[derive(Clone, Debug)]
pub struct ListedStatement {
    /// The text that made it: PREPARE, or that of the protocol's message.
    pub text: Arc<str>,
    /// The types of its parameters.
    pub types: Vec<LogicalType>,
    /// True for PREPARE, false for the protocol's message.
    pub is_of_sql: bool,
    /// The time when it was made, in microseconds since 1970.
    pub made: i64,
}

/// The prepared statements of a session, by name, for other threads.
#[derive(Clone, Debug, Default)]
pub struct ListedStatements(Arc<Mutex<BTreeMap<String, ListedStatement>>>);

impl ListedStatements {
    /// Returns the statements, to be changed.
    pub fn list(&self) -> MutexGuard<'_, BTreeMap<String, ListedStatement>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
