//! Random statements on five tables with foreign keys, on a database and on testkit's model of references: SQLSTATEs,
//! rows as the session and others see them, constraints and what indexes find must agree, also after freezing half-way,
//! after closing and opening the directory, and after a cut of power in the middle of the last statements.
//!
//! `FRAZIL_REFERENCE_SEEDS=500` runs seeds 1 to 500 and not 1 to 50, `FRAZIL_REFERENCE_SEEDS=417-417` one. A seed that
//! fails is printed; one that runs alone with the fewest statements that still fail.

use crate::model::seeds;
use crate::power_cuts::is_of_files;
use frazil::{Connection, Database, Outcome};
use frazil_testkit::reference_model::{
    Case, Cell, Model, Prediction, Row, Seen, Statement, Table, World, generate,
};
use frazil_testkit::{Failure, Random, SimVfs};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names the seeds to run.
const SEEDS: &str = "FRAZIL_REFERENCE_SEEDS";
/// Statements a seed.
const STATEMENTS: usize = 60;
/// Seeds that failed until the test gives up.
const ENOUGH: usize = 3;
/// Statements between two looks into the trees of the indexes.
const VERIFIED: usize = 10;
/// File operations from the first of the last statements to the cut of power, at most.
const OPERATIONS: u64 = 24;
/// Events that must happen as often as [`TIMES`] says.
const HAPPENS: [&str; 13] = [
    "ON DELETE NO ACTION",
    "ON DELETE RESTRICT",
    "ON DELETE CASCADE",
    "ON DELETE SET NULL",
    "ON DELETE SET DEFAULT",
    "ON UPDATE NO ACTION",
    "ON UPDATE RESTRICT",
    "ON UPDATE CASCADE",
    "ON UPDATE SET NULL",
    "ON UPDATE SET DEFAULT",
    "MATCH FULL violation",
    "deferred violation",
    "action over three tables",
];
/// Times, and the number of seeds in which they are counted.
const TIMES: (u64, u64) = (200, 500);

#[test]
fn tables_with_references_agree_with_their_model() {
    let (first, last) = seeds(SEEDS, "50");
    let next = AtomicU64::new(first);
    let failures = Mutex::new(Vec::new());
    let happened = Mutex::new(Seen::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > last || failures.lock().expect("no panic").len() >= ENOUGH {
                        return;
                    }
                    let case = generate(seed, STATEMENTS);
                    match run(&case, seed) {
                        Ok(seen) => {
                            let mut happened = happened.lock().expect("no panic");
                            seen.into_iter()
                                .for_each(|(what, n)| *happened.entry(what).or_default() += n);
                        }
                        Err(e) => {
                            let setup = case.setup().join(";\n");
                            let (e, setup) = match first == last {
                                true => smallest(case, seed),
                                false => (e, setup),
                            };
                            let report = format!("seed {seed}\n{setup};\n{e}");
                            failures.lock().expect("no panic").push(report);
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let happened = happened.into_inner().expect("no panic");
    println!("seeds {first} to {last}: {happened:#?}");
    let count = last + 1 - first;
    if count >= 50 {
        for what in HAPPENS {
            let times = happened.get(what).copied().unwrap_or(0);
            assert!(
                times * TIMES.1 >= TIMES.0 * count,
                "{what}: {times} times in {count} seeds"
            );
        }
    }
}

/// Leaves statements out as long as the rest still fails; returns the rest with its failure, and the statements before
/// it.
fn smallest(mut case: Case, seed: u64) -> (String, String) {
    let mut width = case.statements.len() / 2;
    let mut failure = run(&case, seed).expect_err("it failed before");
    while width > 0 {
        let mut at = 0;
        while at < case.statements.len() {
            let mut fewer = case.clone();
            let end = (at + width).min(fewer.statements.len());
            fewer.statements.drain(at..end);
            match run(&fewer, seed) {
                Err(e) => (case, failure) = (fewer, e),
                Ok(_) => at += width,
            }
        }
        width /= 2;
    }
    (failure, case.setup().join(";\n"))
}

/// A database and its model.
struct Pair {
    sim: SimVfs,
    database: Database,
    connection: Connection,
    /// Sees what is committed.
    other: Connection,
    model: Model,
    /// The statements that ran.
    log: Vec<String>,
}

/// Runs a case in an empty directory; the first difference is an error with the statements before it.
fn run(case: &Case, seed: u64) -> Result<Seen, String> {
    let sim = SimVfs::new(seed);
    let mut pair = Pair::open(sim, Model::new(case.world.clone()))?;
    for sql in case.setup() {
        execute(&pair.connection, &sql)?;
    }
    let result = pair.run_all(case, seed);
    result.map_err(|e| format!("{};\n{e}", pair.log.join(";\n")))?;
    Ok(pair.model.seen)
}

impl Pair {
    fn open(sim: SimVfs, model: Model) -> Result<Pair, String> {
        let database =
            Database::open_over(sim.vfs(), Path::new("/db")).map_err(|e| format!("open: {e:?}"))?;
        let (connection, other) = (database.connect(), database.connect());
        execute(&connection, "set threads = 1; set frazil.freeze_after = off")?;
        execute(
            &connection,
            "set max_wal_size = off; set checkpoint_timeout = off",
        )?;
        Ok(Pair {
            sim,
            connection,
            other,
            database,
            model,
            log: Vec::new(),
        })
    }

    fn run_all(&mut self, case: &Case, seed: u64) -> Result<(), String> {
        let count = case.statements.len();
        let (mut freezing, mut closing) = (count / 2, count * 5 / 8);
        let cutting = count * 3 / 4;
        let mut random = Random::new(seed);
        for (at, statement) in case.statements.iter().enumerate() {
            if at >= freezing && at <= cutting && !self.model.is_inside() {
                freezing = usize::MAX;
                self.freeze()?;
                self.inspect(at)?;
            }
            if at >= closing {
                closing = usize::MAX;
                self.reopen()?;
                self.inspect(at)?;
            }
            if at == cutting {
                let operation = self.sim.operations() + 1 + random.below(OPERATIONS);
                self.sim.fail_at(operation, Failure::PowerCut);
            }
            self.step(statement, at >= cutting)?;
            if at % VERIFIED == 0 && at < cutting {
                self.verify()?;
            }
        }
        self.restart()?;
        self.inspect(count)
    }

    /// Runs a statement on both sides and compares. `cut`: the power may be cut meanwhile.
    fn step(&mut self, statement: &Statement, cut: bool) -> Result<(), String> {
        let Some(prediction) = self.model.predict(statement) else {
            return Ok(());
        };
        let sql = statement.sql(&self.model.world).expect("it has a prediction");
        self.log.push(sql.clone());
        let outcome = self.connection.execute(&sql);
        if cut && outcome.as_ref().is_err_and(|e| is_of_files(e.state())) {
            return self.cut(prediction);
        }
        let errors = prediction.errors;
        match outcome {
            Ok(_) if !errors.is_empty() => return Err(format!("no error, expected: {errors:?}")),
            Ok(response) => {
                if let (Some(wanted), Outcome::Command { rows: got, .. }) =
                    (prediction.count, response.outcome)
                {
                    same("rows changed", &got, &Some(wanted))?;
                }
            }
            Err(e) if !errors.contains(e.state().0) => return Err(format!("{e:?}\nexpected: {errors:?}")),
            Err(_) => {}
        }
        self.model = prediction.model;
        same(
            "in a transaction",
            &self.connection.in_transaction(),
            &self.model.is_inside(),
        )?;
        compare("others see", &self.other, self.model.committed())?;
        match self.model.is_failed() {
            true => Ok(()),
            false => compare("contents", &self.connection, &self.model.world),
        }
    }

    /// The power was cut in a statement: the directory holds what was committed before, or with the statement.
    fn cut(&mut self, prediction: Prediction) -> Result<(), String> {
        let before = self.model.cut();
        let after = prediction.model.cut();
        self.model = before.clone();
        self.log.push("-- cut".to_string());
        self.replace(self.sim.restart_after_power_cut())?;
        if compare("", &self.connection, &before.world).is_ok()
            && constraints(&self.connection, &before.world).is_ok()
        {
            return Ok(());
        }
        self.model = after;
        compare("after the cut", &self.connection, &self.model.world)
    }

    /// The power is cut between two statements.
    fn restart(&mut self) -> Result<(), String> {
        self.model = self.model.cut();
        self.log.push("-- cut at the end".to_string());
        self.replace(self.sim.restart_after_power_cut())
    }

    /// Closes the database, which rolls an open transaction back, and opens it again.
    fn reopen(&mut self) -> Result<(), String> {
        self.model = self.model.cut();
        self.log.push("-- closed and opened".to_string());
        self.database
            .clone()
            .close()
            .map_err(|e| format!("close: {e:?}"))?;
        self.replace(self.sim.copy(1))
    }

    fn replace(&mut self, sim: SimVfs) -> Result<(), String> {
        let log = std::mem::take(&mut self.log);
        *self = Pair::open(sim, self.model.clone())?;
        self.log = log;
        Ok(())
    }

    fn freeze(&mut self) -> Result<(), String> {
        for table in &self.model.world.tables {
            let sql = format!("freeze table {}", table.qualified());
            execute(&self.connection, &sql)?;
            self.log.push(sql);
        }
        Ok(())
    }

    /// Compares every index with the rows, and the rows with their constraints, as others see them.
    fn verify(&self) -> Result<(), String> {
        let found = self.other.verify().map_err(|e| format!("verify: {e:?}"))?;
        match found.findings.is_empty() {
            true => Ok(()),
            false => Err(format!("verify: {}", found.findings.join("; "))),
        }
    }

    /// Compares contents, constraints, and what a lookup by each column finds. `salt` chooses rows.
    fn inspect(&self, salt: usize) -> Result<(), String> {
        self.verify()?;
        if self.model.is_failed() {
            return Ok(());
        }
        compare("contents", &self.connection, &self.model.world)?;
        constraints(&self.connection, &self.model.world)?;
        let tables = &self.model.world.tables;
        tables
            .iter()
            .try_for_each(|table| lookups(&self.connection, table, salt))
    }
}

fn lookups(connection: &Connection, table: &Table, salt: usize) -> Result<(), String> {
    let Some(row) = table.rows.get(salt % table.rows.len().max(1)) else {
        return Ok(());
    };
    for index in table.indexes.iter().filter(|index| index.has(table, &row.cells)) {
        let Some(value) = index.key.value(table, &row.cells) else {
            continue;
        };
        let key = index.key.sql(table).expect("its columns are there");
        let found = |r: &&Row| index.has(table, &r.cells) && index.key.value(table, &r.cells) == Some(value);
        let wanted = table.rows.iter().filter(found).count();
        let condition = index.condition.map(|(column, least)| {
            let name = table.names(&[column]);
            format!(" and {name} >= {least}")
        });
        let condition = condition.unwrap_or_default();
        let table = table.qualified();
        let sql = format!("select count(*) from {table} where {key} = {value}{condition}");
        same(&sql, &rows(connection, &sql)?, &vec![vec![wanted.to_string()]])?;
    }
    for (at, column) in table.columns.iter().enumerate() {
        let cell: Cell = row.cells[at];
        let condition = match cell {
            None => format!("{} is null", column.name),
            Some(n) => format!("{} = {n}", column.name),
        };
        let equal = |r: &&Row| r.cells[at] == cell;
        let wanted = table.rows.iter().filter(equal).count();
        let sql = format!("select count(*) from {} where {condition}", table.qualified());
        same(&sql, &rows(connection, &sql)?, &vec![vec![wanted.to_string()]])?;
    }
    Ok(())
}

fn compare(what: &str, connection: &Connection, world: &World) -> Result<(), String> {
    for (table, (columns, wanted)) in world.shown() {
        let sql = format!("select {} from {table}", columns.join(", "));
        let mut got = rows(connection, &sql)?;
        got.sort();
        same(&format!("{what}: {table}"), &got, &wanted)?;
    }
    Ok(())
}

/// Compares the foreign keys and the CHECK constraints as the system table has them.
fn constraints(connection: &Connection, world: &World) -> Result<(), String> {
    let truth = |column: &str| format!("case when {column} then 'true' else 'false' end");
    let sql = format!(
        "select conname, confmatchtype, confupdtype, confdeltype, {}, {}, {} from pg_constraint where contype = 'f'",
        truth("condeferrable"),
        truth("condeferred"),
        truth("convalidated")
    );
    let mut got: Vec<String> = rows(connection, &sql)?.iter().map(|row| row.join(" ")).collect();
    got.sort();
    same("foreign keys", &got, &world.foreign_key_lines())?;
    let valid = truth("convalidated");
    let sql = format!("select conname, {valid} from pg_constraint where contype = 'c'");
    let mut got: Vec<String> = rows(connection, &sql)?.iter().map(|row| row.join(" ")).collect();
    got.sort();
    same("checks", &got, &world.check_lines())
}

fn execute(connection: &Connection, sql: &str) -> Result<Outcome, String> {
    let response = connection.execute(sql).map_err(|e| format!("{sql}: {e:?}"))?;
    Ok(response.outcome)
}

fn rows(connection: &Connection, sql: &str) -> Result<Vec<Vec<String>>, String> {
    let Outcome::Rows(rows) = execute(connection, sql)? else {
        return Err(format!("{sql}: no rows"));
    };
    let types: Vec<_> = rows.schema().columns.iter().map(|c| c.ty).collect();
    let text = |(value, ty): (&frazil::RawValue, &frazil::LogicalType)| match value {
        frazil::RawValue::Null => "NULL".to_string(),
        value => value.display(*ty).to_string(),
    };
    let row = |row: Vec<frazil::RawValue>| row.iter().zip(&types).map(text).collect();
    Ok(rows.raw().map(row).collect())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, wanted: &T) -> Result<(), String> {
    match got == wanted {
        true => Ok(()),
        false => Err(format!("{what}: {got:?}\nexpected: {wanted:?}")),
    }
}
