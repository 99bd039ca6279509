//! The activity of a database since it was opened: transactions, rows, and statements by their texts, for
//! `pg_stat_database` and `pg_stat_statements`.
//!
//! A compiled or prepared statement holds the counters of its text, so that running it again finds them without a
//! look-up.

use crate::counts::Counts;
use crate::normalized_text::normalized;
use crate::rows::{Outcome, Response};
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lists of statements, each behind a lock of its own.
const LISTS: usize = 16;
/// Most statements of a list.
const MOST: usize = 320;

/// The statistics of a database.
#[derive(Debug)]
pub struct DatabaseStatistics {
    /// Commits, rollbacks, and rows that were returned, inserted, updated, deleted.
    counts: Counts<6>,
    lists: [Mutex<HashMap<Arc<str>, Arc<StatementCounts>>>; LISTS],
    /// The time when the database was opened, in microseconds since 1970.
    opened: i64,
    /// The time from which they count, in microseconds since 1970.
    since: AtomicI64,
}

/// The transactions and rows of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseCounts {
    /// Transactions that were committed. A statement outside of one is one.
    pub commits: u64,
    /// Transactions that were rolled back.
    pub rollbacks: u64,
    /// Rows that statements returned.
    pub returned: u64,
    /// Rows that were inserted.
    pub inserted: u64,
    /// Rows that were updated.
    pub updated: u64,
    /// Rows that were deleted.
    pub deleted: u64,
}

/// The counters of statements of one text, constants left out.
#[derive(Debug)]
pub struct StatementCounts {
    /// The text.
    pub text: Arc<str>,
    /// A number that the text alone decides.
    pub number: i64,
    /// Runs, nanoseconds of running, rows, plans, nanoseconds of planning, nanoseconds of compiling.
    counts: Counts<6>,
    /// The shortest run and the longest, in nanoseconds.
    shortest: AtomicU64,
    longest: AtomicU64,
}

/// Sums of one text's statements. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct StatementSums {
    pub calls: u64,
    pub total: f64,
    pub least: f64,
    pub most: f64,
    pub rows: u64,
    pub plans: u64,
    pub plan: f64,
    pub compile: f64,
}

impl DatabaseStatistics {
    /// Nothing was counted before `now`, in microseconds since 1970.
    pub fn new(now: i64) -> DatabaseStatistics {
        DatabaseStatistics {
            counts: Counts::default(),
            lists: Default::default(),
            opened: now,
            since: AtomicI64::new(now),
        }
    }

    /// Returns the time when the database was opened, in microseconds since 1970.
    pub fn opened(&self) -> i64 {
        self.opened
    }

    /// Returns the time from which transactions and rows count, in microseconds since 1970.
    pub fn since(&self) -> i64 {
        self.since.load(Ordering::Relaxed)
    }

    /// Counts transactions and rows anew from `now`, in microseconds since 1970.
    pub fn reset(&self, now: i64) {
        self.counts.reset();
        self.since.store(now, Ordering::Relaxed);
    }

    /// Counts statements anew.
    pub fn reset_statements(&self) {
        for at in 0..LISTS {
            self.list(at).values().for_each(|counts| counts.reset());
        }
    }

    /// Counts a transaction of a session that ended.
    pub fn count_transaction(&self, session: u64, is_committed: bool) {
        let (commits, rollbacks) = (u64::from(is_committed), u64::from(!is_committed));
        self.counts.add(session, [commits, rollbacks, 0, 0, 0, 0]);
    }

    /// Counts a statement of a session.
    pub fn count_statement(&self, session: u64, response: &Response, of_text: &StatementCounts) {
        of_text.count(session, response);
        let (tag, rows) = work(response);
        let [mut returned, mut inserted, mut updated, mut deleted] = [0; 4];
        match tag {
            "INSERT" => inserted = rows,
            "UPDATE" => updated = rows,
            "DELETE" => deleted = rows,
            "SELECT" => returned = rows,
            _ => return,
        }
        self.counts
            .add(session, [0, 0, returned, inserted, updated, deleted]);
    }

    /// Returns the transactions and rows so far.
    pub fn of_database(&self) -> DatabaseCounts {
        let [commits, rollbacks, returned, inserted, updated, deleted] = self.counts.sums();
        DatabaseCounts {
            commits,
            rollbacks,
            returned,
            inserted,
            updated,
            deleted,
        }
    }

    /// Returns the counters of a statement's text. They are in no list if all places are taken by statements in use.
    pub fn of_text(&self, text: &str) -> Arc<StatementCounts> {
        let text = normalized(text);
        // The number of a text is the same in every process.
        let number = BuildHasherDefault::<DefaultHasher>::new().hash_one(&*text);
        let mut list = self.list((number % LISTS as u64) as usize);
        if let Some(known) = list.get(&*text) {
            return known.clone();
        }
        let text: Arc<str> = text.into();
        let counts = Arc::new(StatementCounts {
            text: text.clone(),
            number: i64::from_ne_bytes(number.to_ne_bytes()),
            counts: Counts::default(),
            shortest: AtomicU64::new(u64::MAX),
            longest: AtomicU64::new(0),
        });
        if list.len() >= MOST {
            forget_rare(&mut list);
        }
        if list.len() < MOST {
            list.insert(text, counts.clone());
        }
        counts
    }

    /// Returns the counters of all statements that were run.
    pub fn statements(&self) -> Vec<Arc<StatementCounts>> {
        let lists = (0..LISTS).map(|at| self.list(at).values().cloned().collect::<Vec<_>>());
        let mut all: Vec<_> = lists.flatten().collect();
        all.retain(|counts| counts.sums().calls > 0);
        all.sort_by(|a, b| a.text.cmp(&b.text));
        all
    }

    fn list(&self, at: usize) -> MutexGuard<'_, HashMap<Arc<str>, Arc<StatementCounts>>> {
        self.lists[at].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the tenth of the statements that ran least, of those that nobody holds.
fn forget_rare(list: &mut HashMap<Arc<str>, Arc<StatementCounts>>) {
    let unused = list.values().filter(|counts| Arc::strong_count(counts) == 1);
    let mut rare: Vec<(u64, Arc<str>)> = unused
        .map(|counts| (counts.sums().calls, counts.text.clone()))
        .collect();
    rare.sort_unstable();
    rare.iter()
        .take(MOST / 10)
        .for_each(|(_, text)| drop(list.remove(text)));
}

/// The command of a response, and its rows.
fn work(response: &Response) -> (&'static str, u64) {
    match &response.outcome {
        Outcome::Rows(rows) => (rows.tag(), rows.len() as u64),
        Outcome::Command { tag, rows } => (tag, rows.unwrap_or(0)),
    }
}

impl StatementCounts {
    fn count(&self, session: u64, response: &Response) {
        let timing = &response.timing;
        let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (run, plan) = (nanoseconds(timing.execute), nanoseconds(timing.plan()));
        let compile = nanoseconds(timing.compile);
        // A statement that was compiled before was only found to serve still.
        let plans = u64::from(!timing.compile.is_zero() || !timing.optimize.is_zero());
        let plan = plan * plans;
        self.counts
            .add(session, [1, run, work(response).1, plans, plan, compile]);
        // As a rule a run is neither: reading costs nothing.
        if run < self.shortest.load(Ordering::Relaxed) {
            self.shortest.fetch_min(run, Ordering::Relaxed);
        }
        if run > self.longest.load(Ordering::Relaxed) {
            self.longest.fetch_max(run, Ordering::Relaxed);
        }
    }

    fn reset(&self) {
        self.counts.reset();
        self.shortest.store(u64::MAX, Ordering::Relaxed);
        self.longest.store(0, Ordering::Relaxed);
    }

    /// Returns the sums so far.
    pub fn sums(&self) -> StatementSums {
        let [calls, run, rows, plans, plan, compile] = self.counts.sums();
        let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
        let shortest = self.shortest.load(Ordering::Relaxed);
        StatementSums {
            calls,
            total: milliseconds(run),
            least: milliseconds(if shortest == u64::MAX { 0 } else { shortest }),
            most: milliseconds(self.longest.load(Ordering::Relaxed)),
            rows,
            plans,
            plan: milliseconds(plan),
            compile: milliseconds(compile),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Timing;
    use std::time::Duration;

    #[test]
    fn statements_of_one_text_are_counted_together_and_bounded() {
        let statistics = DatabaseStatistics::new(7);
        let response = Response {
            outcome: Outcome::Command {
                tag: "INSERT",
                rows: Some(3),
            },
            timing: Timing {
                execute: Duration::from_millis(2),
                optimize: Duration::from_millis(1),
                ..Timing::default()
            },
            ..Response::default()
        };
        for number in 0..20 {
            let of_text = statistics.of_text(&format!("insert into t values ({number})"));
            statistics.count_statement(number, &response, &of_text);
        }
        let all = statistics.statements();
        assert_eq!(all.len(), 1);
        let sums = all[0].sums();
        assert_eq!(
            (&*all[0].text, sums.calls, sums.rows),
            ("insert into t values ($1)", 20, 60)
        );
        assert_eq!(
            (sums.plans, sums.plan, sums.least, sums.most),
            (20, 20.0, 2.0, 2.0)
        );
        assert_eq!(statistics.of_database().inserted, 60);
        let of_text = statistics.of_text("insert into t values (1)");
        statistics.reset(9);
        statistics.reset_statements();
        assert_eq!(
            (statistics.of_database(), statistics.since()),
            (DatabaseCounts::default(), 9)
        );
        assert!(statistics.statements().is_empty());
        // A statement that was compiled before counts on.
        statistics.count_statement(3, &response, &of_text);
        let sums = statistics.statements()[0].sums();
        assert_eq!((sums.calls, sums.rows, sums.least), (1, 3, 2.0));
        assert_eq!(statistics.of_database().inserted, 3);
        for number in 0..20_000 {
            statistics.of_text(&format!("select a{number}"));
        }
        let kept: usize = (0..LISTS).map(|at| statistics.list(at).len()).sum();
        assert!(kept <= LISTS * MOST);
        // The one that ran is still there.
        assert_eq!(statistics.statements().len(), 1);
    }
}
