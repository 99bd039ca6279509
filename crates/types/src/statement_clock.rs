//! The clock that words such as `now` and `today` are read by: the start of the transaction, and the session's zone.
//!
//! A session sets the clock while one of its statements runs ([`during`]), on each thread that works for the
//! statement. Elsewhere it is
//! the machine's clock in UTC. The clock also carries the number of the session, by which functions find its settings.

use crate::Zone;
use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

/// An instant and the zone that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Microseconds since 1970-01-01 00:00 UTC.
    pub micros: i64,
    /// The session's zone.
    pub zone: Zone,
}

/// The clock of a statement.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatementClock {
    /// Microseconds since 1970-01-01 00:00 UTC; `None` until somebody asks.
    micros: Option<i64>,
    zone: Zone,
    is_asked: bool,
    /// The number of the session; 0 for none.
    session: u64,
}

impl StatementClock {
    /// The clock of a statement in a transaction that started at `started`, in microseconds since 1970-01-01 00:00
    /// UTC; `None`: the
    /// statement is its own transaction.
    pub fn new(started: Option<i64>, zone: Zone) -> StatementClock {
        StatementClock {
            micros: started,
            zone,
            is_asked: false,
            session: 0,
        }
    }

    /// The clock of a statement of the session that has a number.
    pub fn of_session(self, session: u64) -> StatementClock {
        StatementClock { session, ..self }
    }
}

thread_local! {
    static CURRENT: Cell<Option<StatementClock>> = const { Cell::new(None) };
}

fn machine_clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64
}

/// The start of the transaction that this thread works for, in microseconds since 1970-01-01 00:00 UTC.
pub fn start() -> i64 {
    let Some(clock) = CURRENT.get() else {
        return machine_clock();
    };
    let micros = clock.micros.unwrap_or_else(machine_clock);
    CURRENT.set(Some(StatementClock {
        micros: Some(micros),
        ..clock
    }));
    micros
}

/// The moment that a word of a text means.
pub fn moment() -> Moment {
    let micros = start();
    let clock = CURRENT.get().map(|clock| StatementClock {
        is_asked: true,
        ..clock
    });
    CURRENT.set(clock);
    Moment {
        micros,
        zone: clock.map_or(Zone::UTC, |clock| clock.zone),
    }
}

/// True if a text has asked for the moment since the statement began: kept, the statement would mean something else
/// tomorrow.
pub fn was_asked() -> bool {
    CURRENT.get().is_some_and(|clock| clock.is_asked)
}

/// The number of the session that this thread works for.
pub fn session() -> Option<u64> {
    CURRENT
        .get()
        .map(|clock| clock.session)
        .filter(|number| *number > 0)
}

/// The clock of this thread, for another thread that works for its statement.
pub fn handed_over() -> Option<StatementClock> {
    CURRENT.get().map(|clock| StatementClock {
        micros: clock.micros.or_else(|| Some(machine_clock())),
        ..clock
    })
}

/// Runs `work` with a clock set on this thread.
pub fn during<T>(clock: Option<StatementClock>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<StatementClock>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(clock));
    work()
}
