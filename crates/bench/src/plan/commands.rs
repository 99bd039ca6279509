//! Commands over a database of n parts (rows, duplicates of a key, columns, chunks, tables, commits): how the time of one grows with n.

use super::linear::{MOST, SIZES, scaled};
use super::measured;
use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use frazil::{Access, Connection, Database, Opening};
use frazil_types::{Cancel, Error, Result};
use std::path::Path;
use std::time::Instant;

/// A command, and what its database is made of.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// Statements that make the database, once. `{n}` is the number of parts.
    pub setup: &'static str,
    /// A statement for each part, `#` being its number, from 1.
    pub part: &'static str,
    /// What is measured.
    pub work: Work,
}

/// What is done, and measured.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// A statement. What it did is undone by ROLLBACK.
    Statement(&'static str),
    /// [`Connection::verify`].
    Verify,
    /// The files of the directory are compared with their checksums.
    Inspect,
    /// A backup.
    Backup,
    /// The directory is opened, whose process was killed.
    Recovery,
    /// The directory is opened to be salvaged, and the table `t` is read.
    Salvage,
}

/// Rows for each part where parts are rows: so that a command takes longer than it takes to begin.
const ROWS: usize = 25;

const fn command(name: &'static str, setup: &'static str, part: &'static str, work: Work) -> Command {
    Command {
        name,
        setup,
        part,
        work,
    }
}

/// Rows of a table with a key, of which a seventh shares each value of a second index.
const DUPLICATES: &str = "create table t (a integer primary key, b integer, c text); create index on t (b); \
    insert into t select k, k % 7, 'row ' || k from generate_series(1, {rows}) k";
/// The same without indexes.
const PLAIN: &str = "create table t (a integer, b integer, c text); \
    insert into t select k, k % 7, 'row ' || k from generate_series(1, {rows}) k";

/// The commands that are measured.
pub const COMMANDS: [Command; 15] = [
    command("verify_duplicates", DUPLICATES, "", Work::Verify),
    command(
        "verify_tables",
        "",
        "create table t# (a integer unique); insert into t# values (#)",
        Work::Verify,
    ),
    command("inspect_rows", PLAIN, "", Work::Inspect),
    command("backup_rows", PLAIN, "", Work::Backup),
    command(
        "backup_tables",
        "",
        "create table t# (a integer); insert into t# values (#)",
        Work::Backup,
    ),
    command("recovery_duplicates", DUPLICATES, "", Work::Recovery),
    command(
        "recovery_rows",
        "create table t (a integer)",
        "insert into t values (#)",
        Work::Recovery,
    ),
    command(
        "recovery_tables",
        "",
        "create table t# (a integer); insert into t# values (#)",
        Work::Recovery,
    ),
    command(
        "recovery_deletes",
        DUPLICATES,
        "delete from t where a = #",
        Work::Recovery,
    ),
    command("salvage_duplicates", DUPLICATES, "", Work::Salvage),
    command("freeze_rows", PLAIN, "", Work::Statement("freeze t")),
    command(
        "freeze_duplicates",
        DUPLICATES,
        "",
        Work::Statement("freeze t order by b"),
    ),
    command(
        "alter_add_rows",
        PLAIN,
        "",
        Work::Statement("alter table t add column d interval default '1 day'"),
    ),
    command(
        "alter_drop_rows",
        DUPLICATES,
        "",
        Work::Statement("alter table t drop column b"),
    ),
    command(
        "create_index_duplicates",
        PLAIN,
        "",
        Work::Statement("create index on t (b)"),
    ),
];

/// Runs commands one after the other, each over all sizes in turn.
pub fn run(name: &'static str, commands: &[Command], args: &BenchArgs, report: &mut Report) -> Result<()> {
    for command in commands {
        let mut before = None;
        for size in SIZES.map(|size| scaled(size, args)) {
            let case = format!("linear/{}/{size}", command.name);
            let times = command
                .measure(size, args.runs)
                .map_err(|e| e.in_context(case.clone()))?;
            let least = times.iter().copied().fold(f64::INFINITY, f64::min);
            report.add(measured(name, case.clone(), ("run", "ms"), times));
            if let Some(half) = before.replace(least) {
                compare(name, &case, least / half, report);
            }
        }
    }
    Ok(())
}

/// Tells how much longer a case takes than one of half its parts.
fn compare(name: &'static str, case: &str, growth: f64, report: &mut Report) {
    if growth > MOST {
        report.conclude(format!("{case}: run_growth is {growth:.2}, above {MOST}"));
    }
    report.add(Measurement {
        experiment: name,
        case: case.to_string(),
        metric: "run_growth",
        unit: "ratio",
        values: Values::Exact(growth),
    });
}

impl Command {
    /// Milliseconds of each run over a database of `size` parts.
    fn measure(&self, size: usize, runs: usize) -> Result<Vec<f64>> {
        let scratch = Scratch::new()?;
        let path = scratch.path().join("db");
        let database = Database::open(&path)?;
        let connection = self.fill(&database, size)?;
        let mut times = Vec::new();
        if matches!(self.work, Work::Inspect | Work::Recovery | Work::Salvage) {
            // Nobody closes it: the log stays as a process that is killed leaves it.
            let killed = scratch.path().join("killed");
            copy_files(&path, &killed)?;
            for round in 0..=runs {
                let begun = Instant::now();
                self.on_directory(&killed)?;
                times.extend((round > 0).then(|| begun.elapsed().as_secs_f64() * 1e3));
            }
            return Ok(times);
        }
        for round in 0..=runs {
            let begun = Instant::now();
            self.on_connection(&connection, &scratch.path().join(format!("backup{round}")))?;
            times.extend((round > 0).then(|| begun.elapsed().as_secs_f64() * 1e3));
            if let Work::Statement(_) = self.work {
                connection.execute("rollback; begin")?;
            }
        }
        Ok(times)
    }

    fn fill(&self, database: &Database, size: usize) -> Result<Connection> {
        let connection = database.connect();
        connection.execute("set threads = 1; set frazil.freeze_after = off; set max_wal_size = off; set checkpoint_timeout = off")?;
        let rows = (size * ROWS).to_string();
        connection.execute(
            &self
                .setup
                .replace("{rows}", &rows)
                .replace("{n}", &size.to_string()),
        )?;
        if !self.part.is_empty() {
            let parts = (1..=size).map(|i| self.part.replace('#', &i.to_string()));
            connection.execute(&format!(
                "begin; {}; commit",
                parts.collect::<Vec<_>>().join("; ")
            ))?;
        }
        if let Work::Statement(_) = self.work {
            connection.execute("begin")?;
        }
        Ok(connection)
    }

    fn on_connection(&self, connection: &Connection, backup: &Path) -> Result<()> {
        match self.work {
            Work::Statement(sql) => connection.execute(sql).map(drop),
            Work::Verify => refuse_findings(&connection.verify()?.findings),
            Work::Backup => connection.database().backup(backup, &Cancel::new()),
            Work::Inspect | Work::Recovery | Work::Salvage => Err(Error::internal(
                "a command on files needs a directory that nobody has open",
            )),
        }
    }

    fn on_directory(&self, path: &Path) -> Result<()> {
        match self.work {
            Work::Inspect => refuse_findings(&Database::inspect(path, &Cancel::new(), &|_, _| ())?.findings),
            Work::Recovery => Database::open_read_only(path).map(drop),
            Work::Salvage => {
                let opening = Opening {
                    salvages: true,
                    ..Opening::to(Access::Read)
                };
                let connection = Database::open_as(path, &opening)?.connect();
                connection.execute("select count(*) from t").map(drop)
            }
            Work::Statement(_) | Work::Verify | Work::Backup => {
                Err(Error::internal("a command of a connection needs one"))
            }
        }
    }
}

fn refuse_findings(findings: &[String]) -> Result<()> {
    match findings.first() {
        None => Ok(()),
        Some(finding) => Err(Error::internal(finding.clone())),
    }
}

/// Copies a directory and those in it.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    let failed = |e: &std::io::Error| crate::io_error(format!("cannot copy {}", from.display()), e);
    std::fs::create_dir(to).map_err(|e| failed(&e))?;
    for entry in std::fs::read_dir(from).map_err(|e| failed(&e))? {
        let path = entry.map_err(|e| failed(&e))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => copy_files(&path, &target)?,
            false => drop(std::fs::copy(&path, &target).map_err(|e| failed(&e))?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::PLAN;

    #[test]
    fn every_command_runs() {
        for command in PLAN.commands {
            let times = command
                .measure(10, 2)
                .unwrap_or_else(|e| panic!("{}: {e:?}", command.name));
            assert_eq!(times.len(), 2, "{}", command.name);
        }
    }
}
