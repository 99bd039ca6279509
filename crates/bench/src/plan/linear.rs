//! Statements of n parts: how planning them, and running them from their text to their answer, grows with n. And
//! commands over databases of n parts (rows, duplicates of a key, tables, commits): how their time does.

use super::measured;
use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::scratch::Scratch;
use frazil::{Access, Connection, Database, Opening, Timing};
use frazil_types::{Cancel, Error, Result, SqlState};
use std::path::Path;
use std::time::Instant;

/// A kind of statement.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// What the text begins with.
    pub before: &'static str,
    /// What each part adds; `#` is the part's number, from 1.
    pub part: &'static str,
    /// What stands between two parts.
    pub between: &'static str,
    /// What stands after the last part.
    pub after: &'static str,
    /// What each part adds behind that, again with its number.
    pub close: &'static str,
    /// What stands between two of these.
    pub between_closes: &'static str,
    /// What the text ends with.
    pub end: &'static str,
}

/// A shape whose parts stand side by side.
pub const fn flat(
    name: &'static str,
    before: &'static str,
    part: &'static str,
    between: &'static str,
    after: &'static str,
) -> Shape {
    Shape {
        name,
        before,
        part,
        between,
        after,
        close: "",
        between_closes: "",
        end: "",
    }
}

/// Numbers of parts at scale factor 0.1 and more; each is twice the one before.
const SIZES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];

/// What time may grow to when the number of parts doubles.
const MOST: f64 = 2.3;

impl Shape {
    /// The text with `n` parts.
    pub fn text(&self, n: usize) -> String {
        let each = |part: &str, between| {
            let parts = (1..=n).map(|i| part.replace('#', &i.to_string()));
            parts.collect::<Vec<_>>().join(between)
        };
        let (parts, closes) = (
            each(self.part, self.between),
            each(self.close, self.between_closes),
        );
        format!("{}{parts}{}{closes}{}", self.before, self.after, self.end)
    }
}

/// A shape of some size.
struct Case {
    name: String,
    text: String,
    explain: String,
    /// Milliseconds of planning, by run. None for a script, of which there is no plan.
    plan: Vec<f64>,
    /// Milliseconds from the text to the answer, by run.
    run: Vec<f64>,
    /// Why it is not answered.
    refused: Option<Error>,
}

/// Runs shapes one after the other, each in all sizes in turn.
pub fn run(name: &'static str, shapes: &[Shape], args: &BenchArgs, report: &mut Report) -> Result<()> {
    let connection = connection()?;
    for shape in shapes {
        let mut cases = SIZES.map(|size| Case::new(shape, scaled(size, args)));
        for round in 0..=args.runs {
            for case in &mut cases {
                case.run(&connection, round > 0)?;
            }
        }
        for case in &cases {
            case.report(name, report);
        }
        for (half, whole) in cases.iter().zip(&cases[1..]) {
            whole.compare(half, name, report);
        }
    }
    Ok(())
}

/// A connection to a database with the tables that the shapes name.
fn connection() -> Result<Connection> {
    let connection = Database::memory()?.connect();
    connection.execute(
        "set threads = 1; set frazil.plan_cache = off;
         create table t (a integer not null, b boolean, c text);
         create table written (a integer not null, b boolean, c text);
         insert into t values (0, true, ''), (1, false, ''), (2, null, '')",
    )?;
    Ok(connection)
}

/// Below scale factor 0.1 statements have fewer parts.
fn scaled(size: usize, args: &BenchArgs) -> usize {
    let least = SIZES[0] as f64;
    size * (least * 10.0 * args.scale_factor).clamp(10.0, least) as usize / SIZES[0]
}

impl Case {
    fn new(shape: &Shape, size: usize) -> Case {
        let text = shape.text(size);
        Case {
            name: format!("linear/{}/{size}", shape.name),
            explain: match text.contains(';') {
                true => String::new(),
                false => format!("explain {text}"),
            },
            text,
            plan: Vec::new(),
            run: Vec::new(),
            refused: None,
        }
    }

    fn run(&mut self, connection: &Connection, is_timed: bool) -> Result<()> {
        let mut milliseconds = |text: &str, planned: Option<fn(&Timing) -> f64>| {
            let begun = Instant::now();
            let answer = connection.execute(text);
            let elapsed = begun.elapsed().as_secs_f64() * 1e3;
            match answer {
                Ok(response) => Ok(planned.map_or(elapsed, |read| read(&response.timing))),
                // How long it takes to say so is measured, too.
                Err(e) if e.state() == SqlState::STATEMENT_TOO_COMPLEX => {
                    self.refused = Some(e);
                    Ok(elapsed)
                }
                Err(e) => Err(e.in_context(self.name.clone())),
            }
        };
        let run = milliseconds(&self.text, None)?;
        let plan = match self.explain.as_str() {
            "" => None,
            text => Some(milliseconds(text, Some(|t| t.plan().as_secs_f64() * 1e3))?),
        };
        if is_timed {
            self.run.push(run);
            self.plan.extend(plan);
        }
        Ok(())
    }

    fn report(&self, name: &'static str, report: &mut Report) {
        for (metric, values) in [("plan", &self.plan), ("run", &self.run)] {
            if !values.is_empty() {
                report.add(measured(name, self.name.clone(), (metric, "ms"), values.clone()));
            }
        }
        if let Some(e) = &self.refused {
            report.conclude(format!("{} is refused: {}", self.name, e.message()));
        }
    }

    /// How much longer it takes than a case of half its parts, by the quickest runs of both.
    fn compare(&self, half: &Case, name: &'static str, report: &mut Report) {
        if self.refused.is_some() {
            return;
        }
        for (metric, whole, half) in [
            ("plan_growth", &self.plan, &half.plan),
            ("run_growth", &self.run, &half.run),
        ] {
            let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
            let growth = least(whole) / least(half);
            if !growth.is_finite() {
                continue;
            }
            if growth > MOST {
                let case = &self.name;
                report.conclude(format!("{case}: {metric} is {growth:.2}, above {MOST}"));
            }
            report.add(Measurement {
                experiment: name,
                case: self.name.clone(),
                metric,
                unit: "ratio",
                values: Values::Exact(growth),
            });
        }
    }
}

/// A command, and what its database is made of.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// Statements that make the database, once. `{n}` is the number of parts.
    pub setup: &'static str,
    /// A statement for each part, `#` being its number, from 1.
    pub part: &'static str,
    /// The work that is measured.
    pub work: Work,
}

/// Work that is done and measured.
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
const PART_ROWS: usize = 25;

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
pub fn run_commands(
    name: &'static str,
    commands: &[Command],
    args: &BenchArgs,
    report: &mut Report,
) -> Result<()> {
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
                compare_growth(name, &case, least / half, report);
            }
        }
    }
    Ok(())
}

/// Tells how much longer a case takes than one of half its parts.
fn compare_growth(name: &'static str, case: &str, growth: f64, report: &mut Report) {
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
        let rows = (size * PART_ROWS).to_string();
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
    let failed =
        |e: &std::io::Error| crate::io_errors::io_error(format!("cannot copy {}", from.display()), e);
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
    fn a_text_has_as_many_parts_as_asked() {
        let shape = |name| PLAN.shapes.iter().find(|s| s.name == name).expect("there is one");
        assert_eq!(
            shape("nested_coalesce").text(2),
            "select coalesce(c, coalesce(c, 'x')) from t"
        );
        assert_eq!(
            shape("in_list").text(3),
            "select count(*) from t where a in (1, 2, 3)"
        );
        assert_eq!(shape("script").text(2), "select 1; select 2");
    }

    /// Visits of expressions that a statement takes from its text to its answer.
    fn visits(connection: &Connection, text: &str) -> u64 {
        let before = frazil_plan::work::visits();
        connection.execute(text).expect("an answer");
        frazil_plan::work::visits() - before
    }

    #[test]
    fn work_is_in_proportion_to_the_parts() {
        let connection = connection().expect("a database");
        for shape in PLAN.shapes {
            let [half, whole] = [150, 300].map(|n| visits(&connection, &shape.text(n)));
            assert!(
                whole as f64 <= half as f64 * 2.1,
                "{}: {half} visits for 150 parts, {whole} for 300",
                shape.name
            );
        }
    }

    #[test]
    fn sizes_follow_the_scale_factor_below_a_tenth() {
        let sizes = |scale_factor| {
            let args = BenchArgs {
                scale_factor,
                ..BenchArgs::new("plan")
            };
            SIZES.map(|size| scaled(size, &args))
        };
        assert_eq!(sizes(1.0), SIZES);
        assert_eq!(sizes(0.1), SIZES);
        assert_eq!(sizes(0.001), [10, 20, 40, 80]);
    }

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
