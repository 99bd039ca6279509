//! One side of a pair: a database, and the work that is timed in it.

use crate::memory;
use crate::scratch::Scratch;
use frazil::{Connection, Database, Outcome, Statement};
use frazil_testkit::Random;
use frazil_types::{Error, Result, Value};
use std::time::Instant;

/// The work that is timed.
pub enum Work {
    /// Statements of a text, as often as said.
    Text(String, usize),
    /// A prepared statement of a row's number and a random number below the bound, for as many rows in each run.
    Rows {
        /// The statement.
        statement: Box<Statement>,
        /// The number of the first row of the first run.
        first: usize,
        /// From one row's number to the next.
        step: usize,
        /// Rows of a run.
        units: usize,
        /// The bound of the random number that is the second parameter; none if the statement has one parameter.
        below: Option<usize>,
    },
}

/// One side of a pair.
pub struct Side {
    connection: Connection,
    work: Work,
    /// Run after each time, and not timed.
    after: &'static str,
    counts_memory: bool,
    /// Syncs of the runs so far, if they are counted.
    syncs: Option<Vec<f64>>,
    /// The files that it reads, or its directory.
    _files: Option<Scratch>,
}

impl Side {
    /// A side in memory, on one thread, whose database `setup` fills.
    pub fn new(setup: &[String], work: impl FnOnce(&Connection) -> Result<Work>) -> Result<Side> {
        Side::of(Database::memory()?.connect(), setup, work)
    }

    /// A side in a directory, whose syncs are counted.
    pub fn in_directory(setup: &[String], work: impl FnOnce(&Connection) -> Result<Work>) -> Result<Side> {
        let files = Scratch::new()?;
        let connection = Database::open(files.path().join("frazil"))?.connect();
        Ok(Side {
            syncs: Some(Vec::new()),
            _files: Some(files),
            ..Side::of(connection, setup, work)?
        })
    }

    fn of(
        connection: Connection,
        setup: &[String],
        work: impl FnOnce(&Connection) -> Result<Work>,
    ) -> Result<Side> {
        connection.execute("set threads = 1")?;
        for statement in setup {
            connection.execute(statement)?;
        }
        let work = work(&connection)?;
        Ok(Side {
            connection,
            work,
            after: "",
            counts_memory: false,
            syncs: None,
            _files: None,
        })
    }

    /// The side, which runs a statement after each time.
    pub fn then(self, after: &'static str) -> Side {
        Side { after, ..self }
    }

    /// The side, whose peak of memory is measured.
    pub fn counting_memory(self) -> Side {
        Side {
            counts_memory: true,
            ..self
        }
    }

    /// The side, which keeps the files that its work reads.
    pub fn with_files(self, files: Scratch) -> Side {
        Side {
            _files: Some(files),
            ..self
        }
    }

    /// Statements of a run.
    pub fn units(&self) -> usize {
        match &self.work {
            Work::Text(_, times) => *times,
            Work::Rows { units, .. } => *units,
        }
    }

    /// True if its peak of memory is measured.
    pub fn counts_memory(&self) -> bool {
        self.counts_memory
    }

    /// Most syncs that a run took; `None` if they are not counted.
    pub fn syncs_of_a_run(&self) -> Result<Option<f64>> {
        Ok(self
            .syncs
            .as_ref()
            .map(|runs| runs.iter().copied().fold(0.0, f64::max)))
    }

    /// Runs it once: the seconds that it took, and the memory that it added at its peak if that is measured.
    pub fn run(&mut self, round: usize) -> Result<(f64, Option<u64>)> {
        let before = self.syncs.is_some().then(|| self.file_syncs()).transpose()?;
        let (seconds, bytes) = match self.counts_memory {
            true => memory::peak_of(|| self.timed(round)),
            false => (self.timed(round), None),
        };
        let seconds = seconds?;
        if let Some(before) = before {
            let taken = self.file_syncs()? - before;
            self.syncs.get_or_insert_default().push(taken);
        }
        if !self.after.is_empty() {
            self.connection.execute(self.after)?;
        }
        Ok((seconds, bytes))
    }

    fn timed(&self, round: usize) -> Result<f64> {
        let (statement, first, step, units, below) = match &self.work {
            Work::Text(text, times) => {
                let begun = Instant::now();
                for _ in 0..*times {
                    self.connection.execute(text)?;
                }
                return Ok(begun.elapsed().as_secs_f64());
            }
            Work::Rows {
                statement,
                first,
                step,
                units,
                below,
            } => (statement, *first, *step, *units, *below),
        };
        let mut random = Random::new(round as u64 + 1);
        let first = first + round * units * step;
        let values = (0..units).map(|unit| {
            let number = |n: usize| Value::Int(n as i128);
            let second = below.map(|below| number(random.below(below as u64) as usize));
            [number(first + unit * step)].into_iter().chain(second).collect()
        });
        let values: Vec<Vec<Value>> = values.collect();
        let begun = Instant::now();
        for values in &values {
            statement.execute(values)?;
        }
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Syncs of the log and of files so far.
    fn file_syncs(&self) -> Result<f64> {
        let counted = self
            .connection
            .execute("select file_syncs + directory_syncs from frazil_wal")?;
        let row = match counted.outcome {
            Outcome::Rows(rows) => rows.raw().next(),
            Outcome::Command { .. } => None,
        };
        match row.as_deref() {
            Some([Value::Int(syncs)]) => Ok(*syncs as f64),
            _ => Err(Error::internal("frazil_wal has a row of numbers")),
        }
    }
}
