//! The sessions of a server: how many there are, how each is cancelled, and that the server ends.

use frazil::password::random_bytes;
use frazil::{CancelHandle, Error, Result, SqlState};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// The phases of a server's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The server takes clients.
    Running,
    /// The server takes no more clients; a session ends when it is outside a transaction.
    Draining,
    /// Every session ends at once.
    Ending,
}

/// The sessions of a server.
#[derive(Debug)]
pub struct Registry {
    sessions: Mutex<Sessions>,
    most: usize,
    /// Places that superusers alone take.
    reserved: usize,
    /// Most clients at a time that are not logged in.
    most_strangers: usize,
    /// The clients that are not logged in.
    strangers: AtomicUsize,
    phase: watch::Sender<Phase>,
    /// Told when a session leaves.
    left: Notify,
}

#[derive(Debug, Default)]
struct Sessions {
    /// The number of the latest session.
    latest: i32,
    /// Secret key and way to cancel, by session number. `None` while a client logs in.
    known: HashMap<i32, Option<(i32, CancelHandle)>>,
}

/// A place among the sessions. Dropping it leaves.
#[derive(Debug)]
pub struct Place {
    registry: Arc<Registry>,
    /// The session's number, which clients take for a process's.
    pub number: i32,
}

impl Registry {
    /// A registry with room for `most` sessions, of which superusers alone take the last `reserved` ones, and for
    /// `most_strangers` clients that are not logged in.
    pub fn new(most: usize, reserved: usize, most_strangers: usize) -> Registry {
        Registry {
            sessions: Mutex::default(),
            most,
            reserved,
            most_strangers,
            strangers: AtomicUsize::new(0),
            phase: watch::Sender::new(Phase::Running),
            left: Notify::new(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place. 53300 if there is none.
    pub fn enter(self: &Arc<Registry>) -> Result<Place> {
        let mut sessions = self.sessions();
        if sessions.known.len() >= self.most {
            return Err(
                Error::new(SqlState::TOO_MANY_CONNECTIONS, "sorry, too many clients already")
                    .with_hint("max_connections of the server says how many there may be"),
            );
        }
        loop {
            sessions.latest = sessions.latest.checked_add(1).unwrap_or(1);
            let number = sessions.latest;
            if let std::collections::hash_map::Entry::Vacant(place) = sessions.known.entry(number) {
                place.insert(None);
                return Ok(Place {
                    registry: self.clone(),
                    number,
                });
            }
        }
    }

    /// 53300 if the places that are left are reserved for superusers.
    pub fn check_reserved(&self) -> Result<()> {
        match self.most.saturating_sub(self.count()) >= self.reserved {
            true => Ok(()),
            false => Err(Error::new(
                SqlState::TOO_MANY_CONNECTIONS,
                "remaining connection slots are reserved for non-replication superuser connections",
            )),
        }
    }

    /// Counts a client that is not logged in; `None` if there are too many.
    pub fn admit(self: &Arc<Registry>) -> Option<Stranger> {
        let next = |count: usize| (count < self.most_strangers).then_some(count + 1);
        let admitted = self
            .strangers
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        admitted.is_ok().then(|| Stranger(self.clone()))
    }

    /// Cancels the statement of a session, if the key is its key. Nobody is told whether there was one.
    pub fn cancel(&self, number: i32, key: i32) {
        let handle = match self.sessions().known.get(&number) {
            Some(Some((own, handle))) if *own == key => handle.clone(),
            _ => return,
        };
        handle.cancel();
    }

    /// Number of sessions.
    pub fn count(&self) -> usize {
        self.sessions().known.len()
    }

    /// Most sessions at a time.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Waits until no session is left.
    pub async fn left_all(&self) {
        while self.count() > 0 {
            self.left.notified().await;
        }
    }

    /// Goes on to a phase, from an earlier one.
    pub fn advance(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let is_later = phase > *now;
            *now = phase.max(*now);
            is_later
        });
        if phase == Phase::Ending {
            let handles: Vec<_> = self.sessions().known.values().flatten().cloned().collect();
            handles.iter().for_each(|(_, handle)| handle.cancel());
        }
    }

    /// True until the server drains.
    pub fn is_running(&self) -> bool {
        *self.phase.borrow() == Phase::Running
    }

    /// Tells of each change of the phase.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }
}

/// A client that is not logged in, until this is dropped.
#[derive(Debug)]
pub struct Stranger(Arc<Registry>);

impl Drop for Stranger {
    fn drop(&mut self) {
        self.0.strangers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Place {
    /// Makes the session one that can be cancelled by a key, which is returned. 58030.
    pub fn open(&self, cancel: CancelHandle) -> Result<i32> {
        let key = i32::from_be_bytes(random_bytes()?);
        let mut sessions = self.registry.sessions();
        sessions.known.insert(self.number, Some((key, cancel)));
        Ok(key)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.registry.sessions().known.remove(&self.number);
        self.registry.left.notify_one();
    }
}
