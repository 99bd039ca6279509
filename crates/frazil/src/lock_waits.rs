//! Locks, and who waits for whom, by session: for `pg_locks`, `pg_stat_activity` and `pg_blocking_pids`.

use crate::activity::Roster;
use crate::session_view::SessionView;
use frazil_locks::{AnyMode, Holding, Locks, OpenTransaction, TableMode, Target, TxnId, Wait};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The locks of a database at one moment. Sessions change them meanwhile: a lock may be missing or there twice.
#[derive(Debug, Default)]
pub struct LockTable {
    /// The sessions by number.
    pub sessions: BTreeMap<u64, Arc<dyn SessionView>>,
    pub transactions: Vec<OpenTransaction>,
    pub holdings: Vec<Holding>,
    pub waits: Vec<Wait>,
}

impl LockTable {
    /// Looks at the sessions of a database and its locks, which a database that is only read does not have.
    pub fn of(sessions: &Roster, locks: Option<&Locks>) -> LockTable {
        let sessions = sessions.all().into_iter().collect();
        match locks {
            Some(locks) => {
                let holdings = locks.holdings();
                LockTable {
                    sessions,
                    transactions: locks.transactions_with(&holdings),
                    holdings,
                    waits: locks.waits(),
                }
            }
            None => LockTable {
                sessions,
                ..LockTable::default()
            },
        }
    }

    /// The number of the session that a transaction belongs to.
    pub fn session_of(&self, transaction: TxnId) -> Option<u64> {
        let found = self.transactions.iter().find(|open| open.id == transaction);
        found?.session
    }

    /// The number by which clients know the session of a transaction.
    pub fn process_of(&self, transaction: TxnId) -> Option<i32> {
        let session = self.sessions.get(&self.session_of(transaction)?)?;
        Some(session.number())
    }

    /// The first wait of a session.
    pub fn wait_of(&self, session: u64) -> Option<&Wait> {
        let mut waits = self.waits.iter();
        waits.find(|wait| self.session_of(wait.transaction) == Some(session))
    }

    /// The numbers of the sessions that keep a client's session waiting, each once.
    pub fn blocking(&self, number: i32) -> Vec<i32> {
        let is_wanted = |wait: &&Wait| self.process_of(wait.transaction) == Some(number);
        let waits = self.waits.iter().filter(is_wanted);
        let blockers = waits.flat_map(|wait| wait.blockers.iter().copied());
        let mut blocking: Vec<i32> = blockers
            .filter_map(|transaction| self.process_of(transaction))
            .collect();
        blocking.sort_unstable();
        blocking.dedup();
        blocking
    }

    /// The number of the transaction in which a session writes.
    pub fn transaction_of(&self, session: u64) -> Option<TxnId> {
        let mut open = self.transactions.iter();
        Some(open.find(|open| open.session == Some(session))?.id)
    }
}

/// PostgreSQL's name of the kind of thing that a transaction waits for.
pub(crate) fn wait_kind(wait: &Wait) -> &'static str {
    match wait.target {
        Some(Target::Table(_)) => "relation",
        // Whoever waits for a row or a key waits for the transaction that holds it.
        Some(Target::Row(..) | Target::Key(..)) | None => "transactionid",
    }
}

/// PostgreSQL's name of a mode.
pub(crate) fn mode_name(mode: Option<AnyMode>) -> &'static str {
    let Some(AnyMode::Table(mode)) = mode else {
        // The lock on the transaction that holds the row.
        return "ShareLock";
    };
    match mode {
        TableMode::AccessShare => "AccessShareLock",
        TableMode::RowShare => "RowShareLock",
        TableMode::RowExclusive => "RowExclusiveLock",
        TableMode::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
        TableMode::Share => "ShareLock",
        TableMode::ShareRowExclusive => "ShareRowExclusiveLock",
        TableMode::Exclusive => "ExclusiveLock",
        TableMode::AccessExclusive => "AccessExclusiveLock",
    }
}
