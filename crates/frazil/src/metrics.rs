//! Numbers of a database for who watches it from outside.

use crate::database::Database;
use crate::parameters;
use crate::statistics::DatabaseCounts;
use frazil_types::{LogicalType, Result, Value, Zone};

/// Numbers of a database.
#[derive(Clone, Copy, Debug)]
pub struct Metrics {
    /// The time when the database was opened, in microseconds since 1970.
    pub opened: i64,
    /// Transactions and rows since then, or since their statistics were reset.
    pub counts: DatabaseCounts,
    /// Bytes that statements use, of those that count against `memory_limit`.
    pub memory_used: usize,
    /// The most bytes that they used at a time.
    pub memory_peak: usize,
    /// `memory_limit`, in bytes.
    pub memory_limit: usize,
    /// Statements that wait for other transactions.
    pub waiting: usize,
    /// Waits of statements for other transactions so far.
    pub waits: u64,
    /// Numbers of the log; `None` in memory.
    pub log: Option<LogMetrics>,
}

/// Numbers of a database's log.
#[derive(Clone, Copy, Debug)]
pub struct LogMetrics {
    /// Records that were written.
    pub records: u64,
    /// Bytes that were written.
    pub bytes: u64,
    /// Times that the log was synced to the disk.
    pub syncs: u64,
    /// Bytes since the last checkpoint, which recovery after a crash would read.
    pub since_checkpoint: u64,
}

impl Database {
    /// Returns the numbers of the database.
    pub fn metrics(&self) -> Metrics {
        let statistics = self.statistics();
        let log = self.directory().map(|directory| {
            let (position, counters) = (directory.position(), directory.wal().counters());
            let checkpoint = directory.last_checkpoint().lsn.0;
            LogMetrics {
                records: counters.records,
                bytes: counters.bytes,
                syncs: counters.syncs,
                since_checkpoint: position.end.0.saturating_sub(checkpoint),
            }
        });
        Metrics {
            opened: statistics.opened(),
            counts: statistics.of_database(),
            memory_used: self.budget().used(),
            memory_peak: self.budget().peak(),
            memory_limit: self.budget().limit(),
            waiting: self.waiting_statements(),
            waits: self.waits_so_far(),
            log,
        }
    }

    /// An error if the database takes no more statements: it is closed, or its log has failed.
    pub fn check_health(&self) -> Result<()> {
        self.check_open()?;
        self.directory().map_or(Ok(()), |directory| directory.check())
    }
}

/// The time on the wall in UTC, to the microsecond, as RFC 3339 has it.
pub fn wall_clock() -> String {
    let now = Value::Int(parameters::now_micros().into());
    let text = now
        .display(LogicalType::TIMESTAMPTZ.in_zone(Zone::UTC))
        .to_string();
    text.replace(' ', "T").replace("+00", "Z")
}
