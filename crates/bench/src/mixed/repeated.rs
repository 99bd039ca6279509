//! Queries asked twice in one snapshot, while terminals write.

use super::sessions::{Sessions, Work};
use frazil::Connection;
use frazil_tpcc::Watch;
use frazil_types::{Error, Result, SqlState};
use std::time::{Duration, Instant};

/// The time from one look for a commit to the next.
const LOOK: Duration = Duration::from_micros(100);

/// Queries that had one answer.
pub struct Repeated {
    /// The number of queries, each asked twice.
    pub queries: u64,
    /// Transactions of the terminals meanwhile.
    pub transactions: u64,
}

/// Repeats all queries at least once, and until the time is over. 23514 if two answers of one snapshot differ.
pub fn run(sessions: &Sessions<'_>, work: &Work) -> Result<Repeated> {
    let (driven, queries) = sessions.side_by_side(work, &|_, watch| {
        let connection = sessions.connect()?;
        let (began, mut queries) = (Instant::now(), 0);
        while (queries == 0 || began.elapsed() < work.time) && !watch.is_stopped() {
            for (name, text) in &sessions.questions {
                if watch.is_stopped() {
                    break;
                }
                repeat(&connection, name, text, watch)?;
                queries += 1;
            }
        }
        Ok(queries)
    })?;
    Ok(Repeated {
        queries: queries.iter().sum(),
        transactions: driven.map_or(0, |driven| driven.tally.transactions()),
    })
}

/// Asks a query twice in a transaction, with a transaction of a terminal between.
fn repeat(connection: &Connection, name: &str, text: &str, watch: &Watch) -> Result<()> {
    connection.execute("begin transaction isolation level repeatable read read only")?;
    let first = answer(connection, text)?;
    let before = watch.done();
    while watch.done() == before && !watch.is_stopped() {
        std::thread::sleep(LOOK);
    }
    let again = answer(connection, text)?;
    connection.execute("commit")?;
    if first == again {
        return Ok(());
    }
    let message = format!("{name} had two answers in one snapshot: {first:?}, then {again:?}");
    Err(Error::new(SqlState::CHECK_VIOLATION, message))
}

/// The rows as text, in their order.
fn answer(connection: &Connection, text: &str) -> Result<Vec<String>> {
    let rows = connection.query(text, ())?;
    Ok(rows.iter().map(|row| format!("{:?}", row.values())).collect())
}
