//! The twelve consistency conditions after some minutes of transactions: in memory with all rows hot and with cold
//! orders frozen, in a directory, and in a directory whose process was killed.

use super::sides::{Rows, database_in_directory, database_in_memory};
use crate::io_errors::io_error;
use crate::scratch::Scratch;
use frazil::Database;
use frazil_tpcc::{FrazilEngine, Mix, Pace, Plan, Population, SINCE, Until, Watch, broken_conditions, drive};
use frazil_types::{Error, Result, SqlState};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A database whose transactions were run, with its name in reports.
pub struct Kept {
    /// Its name.
    pub name: &'static str,
    /// Transactions that ended; `None` if the process that ran them was killed.
    pub transactions: Option<u64>,
}

/// The work before the conditions are checked.
pub struct Work<'a> {
    /// The sizes of the database.
    pub population: &'a Population,
    /// Sessions side by side.
    pub terminals: usize,
    /// The time of each database's transactions.
    pub time: Duration,
    /// The program whose command `tpcc` is killed; `None`: none is.
    pub program: Option<&'a Path>,
}

impl Work<'_> {
    /// Runs the transactions of each database, and checks its conditions. 23514 with the first one that is broken.
    pub fn run(&self) -> Result<Vec<Kept>> {
        let mut kept = Vec::new();
        for (name, rows) in [("hot", Rows::Hot), ("frozen", Rows::ColdFrozen)] {
            kept.push(self.driven(name, &database_in_memory(self.population, rows)?)?);
        }
        let scratch = Scratch::new()?;
        let path = scratch.path().join("frazil");
        let database = database_in_directory(self.population, &path)?;
        kept.push(self.driven("durable", &database)?);
        database.close()?;
        if let Some(program) = self.program {
            self.killed(program, &path)?;
            let database = Database::open(&path)?;
            check("killed", &database)?;
            database.close()?;
            kept.push(Kept {
                name: "killed",
                transactions: None,
            });
        }
        Ok(kept)
    }

    fn driven(&self, name: &'static str, database: &Database) -> Result<Kept> {
        let plan = Plan {
            terminals: self.terminals,
            mix: Mix::Standard,
            pace: Pace::AtOnce,
            until: Until::Time(self.time),
            seed: 1,
            now: SINCE + 1_000_000,
        };
        let engine = FrazilEngine::new(database);
        let driven = drive(&engine, self.population, &plan, &Watch::default())?;
        check(name, database)?;
        Ok(Kept {
            name,
            transactions: Some(driven.tally.transactions()),
        })
    }

    /// Runs transactions on a directory in another process, and kills it in the midst of them.
    fn killed(&self, program: &Path, directory: &Path) -> Result<()> {
        let failed = |e| io_error(format!("cannot run {}", program.display()), &e);
        let longer = self.time.as_millis() + 600_000;
        let mut child = Command::new(program)
            .args(["tpcc", "--terminals", &self.terminals.to_string()])
            .args(["--time", &format!("{longer}ms")])
            .arg(directory)
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        std::thread::sleep(self.time);
        child.kill().and_then(|()| child.wait()).map_err(failed)?;
        Ok(())
    }
}

fn check(name: &str, database: &Database) -> Result<()> {
    match broken_conditions(&database.connect())?.first() {
        None => Ok(()),
        Some(broken) => Err(Error::new(SqlState::CHECK_VIOLATION, format!("{name}: {broken}"))),
    }
}
