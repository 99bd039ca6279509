//! Statements of a database that was opened to be read see what other processes have committed.
//!
//! A statement looks when it begins, before anything of it is bound or run: what was committed before is seen, in a
//! transaction block of READ COMMITTED, too. A transaction that sees one version to its end looks when it chooses that
//! version. Logins, and statements that say how a session goes on, look only if that needs no object store.

use crate::database::Database;
use crate::session::Session;
use frazil_types::{Cancel, Result};
use std::time::Duration;

impl Database {
    /// Shows what other processes had committed when this was called, or `lag` before, if the database was opened to be
    /// read. 57014; 55006 if the directory has another database by now; XX001, 58030 if it cannot be read.
    pub(crate) fn follow(&self, lag: Duration, cancel: &Cancel) -> Result<()> {
        let directory = self.is_read_only().then(|| self.directory()).flatten();
        directory.map_or(Ok(()), |directory| directory.follow(lag, cancel))
    }

    /// Does what [`Database::follow`] does, unless that would ask an object store: then the snapshot that is shown is
    /// recent enough.
    pub(crate) fn follow_at_hand(&self, lag: Duration, cancel: &Cancel) -> Result<()> {
        match self.directory() {
            Some(directory) if directory.follows_elsewhere() => Ok(()),
            _ => self.follow(lag, cancel),
        }
    }
}

impl Session {
    /// Lets the statement that begins see what is committed by now, if its transaction lets it. The errors of
    /// [`Database::follow`].
    pub fn refresh(&mut self) -> Result<()> {
        if self.transaction().sees_later() {
            self.database().follow(self.settings().read_lag, self.cancel())?;
        }
        self.transaction_mut().refresh()
    }

    /// Does what [`Session::refresh`] does for a statement that reads nothing: COMMIT and `SET read_lag` do not wait
    /// for an object store.
    pub fn refresh_at_hand(&mut self) -> Result<()> {
        if self.transaction().sees_later() {
            self.database()
                .follow_at_hand(self.settings().read_lag, self.cancel())?;
        }
        self.transaction_mut().refresh()
    }
}
