//! Analysts: sessions that ask all queries round after round, each time in another order.

use super::sessions::{Sessions, Work};
use crate::clients::shuffled;
use frazil::{Connection, Value};
use frazil_testkit::Random;
use frazil_tpcc::{Driven, Latencies, Watch};
use frazil_types::{Error, Result, SqlState};
use std::time::{Duration, Instant};

/// The number of orders, and the date of the newest one.
const NEWEST: &str = "select count(*), max(o_entry_d) from orders";

/// The queries of analysts.
#[derive(Clone, Debug, Default)]
pub struct Analysed {
    /// `times[i]` has the times of query `i`.
    pub times: Vec<Latencies>,
    /// Age of the newest order that a query saw, beside terminals.
    pub ages: Latencies,
    queries: u64,
    /// The time of all analysts together.
    elapsed: Duration,
}

impl Analysed {
    /// Adds the queries of other analysts.
    pub fn merge(&mut self, other: &Analysed) {
        let queries = self.times.len().max(other.times.len());
        self.times.resize(queries, Latencies::default());
        for (times, others) in self.times.iter_mut().zip(&other.times) {
            times.merge(others);
        }
        self.ages.merge(&other.ages);
        self.queries += other.queries;
        self.elapsed += other.elapsed;
    }

    /// Queries per second of an analyst.
    pub fn rate(&self) -> f64 {
        self.queries as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Runs terminals and analysts. 23514 if a query misses an order that had committed before the query began.
pub fn analyse(sessions: &Sessions<'_>, work: &Work) -> Result<(Option<Driven>, Analysed)> {
    let before = newest(&sessions.connect()?)?.0;
    let (driven, all) = sessions.side_by_side(work, &|number, watch| {
        let analyst = Analyst {
            sessions,
            connection: sessions.connect()?,
            before,
            watch,
            ages: work.terminals > 0,
        };
        analyst.ask(work.time, work.seed << 16 | number as u64)
    })?;
    let mut together = Analysed::default();
    all.iter().for_each(|one| together.merge(one));
    Ok((driven, together))
}

/// The number of orders, and the date of the newest one in microseconds since 1970.
fn newest(connection: &Connection) -> Result<(u64, i64)> {
    let row = connection.query_row(NEWEST, ())?;
    match row.values() {
        [Value::BigInt(orders), Value::Timestamp(date)] => Ok((orders.unsigned_abs(), date.micros())),
        other => Err(Error::internal(format!("the orders are {other:?}"))),
    }
}

struct Analyst<'a> {
    sessions: &'a Sessions<'a>,
    connection: Connection,
    /// Orders before the terminals began.
    before: u64,
    watch: &'a Watch,
    /// True if orders come in, so that the newest one has an age.
    ages: bool,
}

impl Analyst<'_> {
    /// Asks all queries at least once, and again until the time is over.
    fn ask(&self, time: Duration, seed: u64) -> Result<Analysed> {
        let mut random = Random::new(seed);
        let numbers: Vec<usize> = (0..self.sessions.questions.len()).collect();
        let mut done = Analysed {
            times: vec![Latencies::default(); numbers.len()],
            ..Analysed::default()
        };
        let began = Instant::now();
        while (done.queries == 0 || began.elapsed() < time) && !self.watch.is_stopped() {
            for number in shuffled(&numbers, &mut random) {
                if self.watch.is_stopped() {
                    break;
                }
                self.look(&mut done.ages)?;
                let asked = Instant::now();
                let (name, text) = &self.sessions.questions[number];
                (self.connection.query(text, ())).map_err(|e| e.in_context((*name).to_owned()))?;
                done.times[number].add(asked.elapsed());
                done.queries += 1;
            }
        }
        done.elapsed = began.elapsed();
        Ok(done)
    }

    /// Looks at the newest order, and adds its age.
    fn look(&self, ages: &mut Latencies) -> Result<()> {
        let committed = self.before + self.watch.orders();
        let date = self.sessions.date(Instant::now());
        let (orders, newest) = newest(&self.connection)?;
        if orders < committed {
            let message = format!("a query saw {orders} orders after {committed} had committed");
            return Err(Error::new(SqlState::CHECK_VIOLATION, message));
        }
        if self.ages {
            let age = u64::try_from(date - newest).unwrap_or(0);
            ages.add(Duration::from_micros(age));
        }
        Ok(())
    }
}
