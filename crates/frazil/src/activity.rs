//! The activity of sessions, for `pg_stat_activity`, and how others cancel and end them.
//!
//! A server says when a text of its client begins to run and when the session waits again. The sessions of connections
//! within the program say nothing: their statements can be too short to be worth a note.

use crate::parameters;
use crate::session_view::SessionView;
use crate::settings::ClientEncoding;
use frazil_types::{Cancel, Error, SqlState};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// Bytes of a text that are kept: PostgreSQL's `track_activity_query_size`.
const KEPT: usize = 1024;

/// The sessions of a database, by number.
#[derive(Debug, Default)]
pub struct Roster(Mutex<BTreeMap<u64, Weak<dyn SessionView>>>);

impl Roster {
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<dyn SessionView>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session.
    pub fn enter(&self, number: u64, session: Weak<dyn SessionView>) {
        self.sessions().insert(number, session);
    }

    /// Removes a session.
    pub fn leave(&self, number: u64) {
        self.sessions().remove(&number);
    }

    /// Returns the sessions in the order in which they began.
    pub fn all(&self) -> Vec<(u64, Arc<dyn SessionView>)> {
        let sessions = self.sessions();
        let open = sessions
            .iter()
            .filter_map(|(number, session)| Some((*number, session.upgrade()?)));
        open.collect()
    }

    /// Returns the session of a server by the number that its client knows.
    pub fn of_client(&self, number: i32) -> Option<Arc<dyn SessionView>> {
        let mut all = self.all().into_iter().map(|(_, session)| session);
        all.find(|session| session.activity().is_served() && session.number() == number)
    }
}

/// The state of a session that belongs to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A statement runs.
    Active,
    /// The session waits for its client, outside a transaction.
    Idle,
    /// The session waits inside a transaction.
    InTransaction,
    /// The session waits inside a transaction that failed.
    InFailedTransaction,
}

impl Step {
    /// PostgreSQL's name.
    pub fn name(self) -> &'static str {
        match self {
            Step::Active => "active",
            Step::Idle => "idle",
            Step::InTransaction => "idle in transaction",
            Step::InFailedTransaction => "idle in transaction (aborted)",
        }
    }
}

/// A note about a session. Times are in microseconds since 1970.
#[derive(Clone, Debug)]
pub(crate) struct Now {
    pub step: Step,
    /// The text that runs, or ran last.
    pub text: Arc<str>,
    /// The time when the text began to run.
    pub text_started: Option<i64>,
    /// The time of the last change of `step`.
    pub changed: i64,
    /// The begin of the open transaction.
    pub transaction_started: Option<i64>,
    /// The time when this was first seen, by a clock that does not jump.
    pub transaction_since: Option<Instant>,
}

type Wake = Arc<dyn Fn() + Send + Sync>;

/// The activity of one session. A server has a handle of it: [`Connection::activity`](crate::Connection::activity).
pub struct Activity {
    /// Begin of the session, in microseconds since 1970.
    started: i64,
    cancel: Cancel,
    /// The encoding of the client's texts, as a number.
    encoding: AtomicU8,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The client's address, once a server serves one.
    client: Option<SocketAddr>,
    now: Option<Now>,
    /// The error with which the session is to end.
    end: Option<Error>,
    /// Called when the session is to end.
    wake: Option<Wake>,
}

impl fmt::Debug for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().now.fmt(f)
    }
}

impl Activity {
    pub(crate) fn new(cancel: Cancel) -> Activity {
        Activity {
            started: parameters::now_micros(),
            cancel,
            encoding: AtomicU8::new(ClientEncoding::default() as u8),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a server serves a client. `wake` is called when the session is to end.
    pub fn serve(&self, client: SocketAddr, wake: impl Fn() + Send + Sync + 'static) {
        let mut state = self.state();
        state.client = Some(client);
        state.wake = Some(Arc::new(wake));
        state.now = Some(Now {
            step: Step::Idle,
            text: "".into(),
            text_started: None,
            changed: self.started,
            transaction_started: None,
            transaction_since: None,
        });
    }

    /// Returns the encoding of the client's texts: `client_encoding`. `set_config` changes it while a statement runs.
    pub fn client_encoding(&self) -> ClientEncoding {
        ClientEncoding::of_number(self.encoding.load(Relaxed))
    }

    /// Sets the encoding of the client's texts. No other memory is read because of it.
    pub(crate) fn set_client_encoding(&self, encoding: ClientEncoding) {
        self.encoding.store(encoding as u8, Relaxed);
    }

    /// True for a session of a server.
    pub(crate) fn is_served(&self) -> bool {
        self.state().client.is_some()
    }

    /// Returns the begin of the session, in microseconds since 1970, its client's address, and the last note.
    pub(crate) fn look(&self) -> (i64, Option<SocketAddr>, Option<Now>) {
        let state = self.state();
        (self.started, state.client, state.now.clone())
    }

    /// Notes that a text begins to run.
    pub(crate) fn begin(&self, text: &str, transaction: Option<i64>) {
        let end = (0..=KEPT.min(text.len()))
            .rev()
            .find(|at| text.is_char_boundary(*at));
        let now = parameters::now_micros();
        self.note(Step::Active, now, transaction.or(Some(now)), |note| {
            note.text = text[..end.unwrap_or(0)].into();
            note.text_started = Some(now);
        });
    }

    /// Notes that the session waits for its client.
    pub(crate) fn pause(&self, step: Step, transaction: Option<i64>) {
        self.note(step, parameters::now_micros(), transaction, |_| {});
    }

    fn note(&self, step: Step, now: i64, transaction: Option<i64>, also: impl FnOnce(&mut Now)) {
        let mut state = self.state();
        let Some(note) = &mut state.now else {
            return;
        };
        note.changed = now;
        note.step = step;
        if note.transaction_started != transaction {
            note.transaction_started = transaction;
            note.transaction_since = transaction.map(|_| Instant::now());
        }
        also(note);
    }

    /// Returns the time when the open transaction began; `None` outside of one.
    pub fn transaction_since(&self) -> Option<Instant> {
        self.state().now.as_ref()?.transaction_since
    }

    /// Cancels the statement that runs.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// True once the running statement is to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }

    /// Ends the session with an error, of which the client is told: cancels its statement, and wakes its server. The
    /// first error stays.
    pub fn end(&self, error: Error) {
        let mut state = self.state();
        state.end.get_or_insert(error);
        let wake = state.wake.clone();
        drop(state);
        self.cancel.cancel();
        if let Some(wake) = wake {
            wake();
        }
    }

    /// Returns the error with which the session is to end.
    pub fn ending(&self) -> Option<Error> {
        self.state().end.clone()
    }
}

/// The error 57P01 of a session that the administrator ends.
pub fn terminated() -> Error {
    Error::new(
        SqlState::ADMIN_SHUTDOWN,
        "terminating connection due to administrator command",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let activity = Activity::new(Cancel::new());
        activity.begin("not served: not noted", None);
        assert!(activity.look().2.is_none());
        activity.serve(([127, 0, 0, 1], 1).into(), || {});
        activity.begin(&"ä".repeat(600), None);
        let now = activity.look().2.unwrap();
        assert_eq!((now.text.len(), now.step), (1024, Step::Active));
        activity.begin(&format!("x{}", "ä".repeat(600)), Some(7));
        let now = activity.look().2.unwrap();
        assert_eq!((now.text.len(), now.transaction_started), (1023, Some(7)));
        activity.pause(Step::InTransaction, Some(7));
        assert_eq!(activity.look().2.unwrap().text.len(), 1023);
        activity.end(terminated());
        assert!(activity.is_cancelled() && activity.ending().is_some());
    }
}
