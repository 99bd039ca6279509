//! Terminals and analysts side by side on one database.

use frazil::{Connection, Database};
use frazil_tpcc::{Driven, FrazilEngine, Mix, Pace, Plan, Population, SINCE, Until, Watch, drive, questions};
use frazil_types::{Error, Result};
use std::time::{Duration, Instant};

/// Longer than any work of analysts, whose end stops the terminals.
const UNTIL_STOPPED: Duration = Duration::from_secs(1_000_000);

/// A database of TPC-C with suppliers.
pub struct Sessions<'d> {
    database: &'d Database,
    population: Population,
    /// Names and texts of the queries.
    pub questions: Vec<(&'static str, String)>,
    /// Threads of a query.
    threads: usize,
    /// The moment of one second after loading, by which orders are dated.
    began: Instant,
}

/// The work of sessions side by side.
pub struct Work {
    /// Terminals.
    pub terminals: usize,
    /// Analysts. If there are any, the terminals work until the last of them ends.
    pub analysts: usize,
    /// The time after which terminals end, and analysts begin no further round.
    pub time: Duration,
    /// Seed of the inputs.
    pub seed: u64,
}

impl Sessions<'_> {
    /// Sessions of a database.
    pub fn new(database: &Database, population: Population, threads: usize) -> Sessions<'_> {
        Sessions {
            database,
            population,
            questions: questions(&population),
            threads,
            began: Instant::now(),
        }
    }

    /// Names of the queries.
    pub fn names(&self) -> Vec<&'static str> {
        self.questions.iter().map(|(name, _)| *name).collect()
    }

    /// A session for queries.
    pub fn connect(&self) -> Result<Connection> {
        let connection = self.database.connect();
        connection.execute(&format!("set threads = {}", self.threads))?;
        Ok(connection)
    }

    /// The date of a moment, in microseconds since 1970: orders are dated by this clock.
    pub fn date(&self, at: Instant) -> i64 {
        let since = at.saturating_duration_since(self.began);
        SINCE + 1_000_000 + i64::try_from(since.as_micros()).unwrap_or(0)
    }

    /// Runs terminals, and `analyst` on a thread for each analyst, by its number from 0. The first error ends all of
    /// them. Returns `None` for the terminals if there are none.
    pub fn side_by_side<T: Send>(
        &self,
        work: &Work,
        analyst: &(dyn Fn(usize, &Watch) -> Result<T> + Sync),
    ) -> Result<(Option<Driven>, Vec<T>)> {
        let watch = Watch::default();
        let watch = &watch;
        let stopping = |number| {
            let ended = analyst(number, watch);
            if ended.is_err() {
                watch.stop();
            }
            ended
        };
        let stopping = &stopping;
        std::thread::scope(|scope| {
            let driven = (work.terminals > 0).then(|| scope.spawn(|| self.drive(work, watch)));
            let analysts: Vec<_> = (0..work.analysts)
                .map(|number| scope.spawn(move || stopping(number)))
                .collect();
            let analysts: Vec<Result<T>> = (analysts.into_iter())
                .map(|analyst| {
                    analyst
                        .join()
                        .unwrap_or_else(|panic| Err(Error::of_panic(&*panic)))
                })
                .collect();
            if work.analysts > 0 {
                watch.stop();
            }
            let driven = driven.map(|driven| {
                driven
                    .join()
                    .unwrap_or_else(|panic| Err(Error::of_panic(&*panic)))
            });
            Ok((driven.transpose()?, analysts.into_iter().collect::<Result<_>>()?))
        })
    }

    fn drive(&self, work: &Work, watch: &Watch) -> Result<Driven> {
        let time = if work.analysts > 0 {
            UNTIL_STOPPED
        } else {
            work.time
        };
        let plan = Plan {
            terminals: work.terminals,
            mix: Mix::Standard,
            pace: Pace::AtOnce,
            until: Until::Time(time),
            seed: work.seed,
            now: self.date(Instant::now()),
        };
        drive(&FrazilEngine::new(self.database), &self.population, &plan, watch)
    }
}
