//! A session while one of its statements runs. Code that a statement calls (a sink of rows) may not wait for it: it would
//! wait for itself.

use crate::session::Session;
use frazil_types::{Error, Result, SqlState};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A session that one thread at a time uses.
#[derive(Debug)]
pub struct Turns {
    session: Mutex<Session>,
    /// The thread whose statement runs; 0: none does.
    user: AtomicUsize,
}

/// The session, to one thread alone.
pub struct InUse<'a> {
    session: MutexGuard<'a, Session>,
    user: &'a AtomicUsize,
}

impl Turns {
    /// A session that nobody uses.
    pub fn new(session: Session) -> Turns {
        Turns {
            session: Mutex::new(session),
            user: AtomicUsize::new(0),
        }
    }

    /// Waits for the statement that runs. 55006 where it is the one that calls this.
    pub fn begin(&self) -> Result<InUse<'_>> {
        let here = this_thread();
        if self.user.load(Ordering::Relaxed) == here {
            let message = "the connection is in use by the statement that called this code";
            let error = Error::new(SqlState::OBJECT_IN_USE, message);
            return Err(error.with_hint("use another connection to the same database"));
        }
        let session = self.look();
        self.user.store(here, Ordering::Relaxed);
        Ok(InUse {
            session,
            user: &self.user,
        })
    }

    /// The session, for a look between statements.
    pub fn look(&self) -> MutexGuard<'_, Session> {
        // A panic inside a statement is a defect; the session itself stays in a state that can go on.
        self.session.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The session, unless it is in use.
    pub fn try_look(&self) -> Option<MutexGuard<'_, Session>> {
        self.session.try_lock().ok()
    }
}

impl Deref for InUse<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for InUse<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.user.store(0, Ordering::Relaxed);
    }
}

/// A number that no other thread that runs has; never 0.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}
