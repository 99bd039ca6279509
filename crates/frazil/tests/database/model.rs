//! Random changes of a table with keys, on a database and on testkit's model of tables: contents, counts, errors, and
//! what each key finds must agree, also after freezing, and after closing and reopening the directory. So must the trees of its
//! indexes, in both directions ([`Connection::verify`]). In every tenth seed the first chunk is nearly full of deleted rows, so
//! that rows lie on both sides of its end, and whole chunks freeze and thaw.
//! Columns that the model does not know come and go meanwhile.
//!
//! `FRAZIL_MODEL_SEEDS=1000` runs seeds 1 to 1000 and not 1 to 100, `FRAZIL_MODEL_SEEDS=417-417` one. A seed that fails is
//! printed with the fewest statements that still fail.

use crate::directory;
use frazil::{ColumnVector, Connection, Database, LogicalType, Outcome, RawValue as Value, RowBatch, Rows};
use frazil_testkit::table_model::{
    Case, Cell, Done, Key, Kind, Model, Prediction, Row, Shape, State, Statement, generate,
};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names the seeds to run.
const SEEDS: &str = "FRAZIL_MODEL_SEEDS";
/// Changes of rows a seed.
const CHANGES: usize = 60;
/// Seeds that failed until the test gives up.
const ENOUGH: usize = 3;
/// Rows of the model that each key must find, at each inspection.
const LOOKUPS: usize = 6;
/// What is done to the table in turn, before each statement of a number that [`ALTERED`] divides.
const ALTERS: [&str; 7] = [
    "add column if not exists extra1 integer default 7",
    "add if not exists extra2 text not null default 'longer than a string that lies inline'",
    "drop column if exists extra1",
    "add column if not exists extra3 bigint default 3 check (extra3 > 1), add if not exists extra4 decimal(8,2)",
    "drop if exists extra2, add column if not exists extra1 text default 'another'",
    "drop column if exists extra3",
    "drop column if exists extra4, drop column if exists extra2",
];
const ALTERED: usize = 5;
/// Statements between two looks into the trees.
const VERIFIED: usize = 5;
/// Of so many seeds one begins in a chunk that is nearly full.
const FILLED: u64 = 10;
/// Rows that fill a chunk but for some that the seed's statements write.
const FILLING: usize = 65_536 - 40;

#[test]
fn tables_with_keys_agree_with_their_model() {
    let (first, last) = seeds(SEEDS, "100");
    let next = AtomicU64::new(first);
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (next, failures) = (&next, &failures);
            scope.spawn(move || {
                let path = directory(&format!("model-{worker}"));
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > last || failures.lock().expect("no panic").len() >= ENOUGH {
                        return;
                    }
                    let case = generate(seed, CHANGES, seed % 2 == 0);
                    let filled = seed % FILLED == 0;
                    if run(&case, filled, &path).is_err() {
                        let report = format!("seed {seed}\n{}", smallest(case, filled, &path));
                        failures.lock().expect("no panic").push(report);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The first and the last seed that an environment variable names.
pub(crate) fn seeds(variable: &str, default: &str) -> (u64, u64) {
    let text = std::env::var(variable).unwrap_or_else(|_| default.to_string());
    let number = |text: &str| text.trim().parse().expect("a number of seeds, or first-last");
    match text.split_once('-') {
        Some((first, last)) => (number(first), number(last)),
        None => (1, number(&text)),
    }
}

/// Leaves statements out as long as the rest still fails; returns the rest and its failure.
fn smallest(mut case: Case, filled: bool, path: &Path) -> String {
    let mut width = case.statements.len() / 2;
    let mut failure = run(&case, filled, path).expect_err("it failed before");
    while width > 0 {
        let mut at = 0;
        while at < case.statements.len() {
            let mut fewer = case.clone();
            let end = (at + width).min(fewer.statements.len());
            fewer.statements.drain(at..end);
            match run(&fewer, filled, path) {
                Err(e) => (case, failure) = (fewer, e),
                Ok(()) => at += width,
            }
        }
        width /= 2;
    }
    let mut text = format!("{};\n", case.shape.create_table(&case.keys));
    for (at, statement) in case.statements.iter().enumerate() {
        if let Some(alter) = alter(at) {
            text += &format!("{alter};\n");
        }
        text += &format!("{};\n", statement.sql(&case.shape));
    }
    format!("{text}{failure}")
}

/// A table in a database on a directory, and its model.
struct Pair {
    database: Database,
    connection: Connection,
    /// Sees what is committed.
    other: Connection,
    model: Model,
}

/// Runs a case from an empty directory; the first difference is an error. `filled`: the first chunk is nearly full.
fn run(case: &Case, filled: bool, path: &Path) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(path);
    let mut pair = Pair::open(path, Model::new(case.shape.clone(), case.keys.clone()))?;
    execute(&pair.connection, &case.shape.create_table(&case.keys))?;
    if filled {
        pair.fill()?;
    }
    let reopening = case.statements.len() * 3 / 4;
    for (at, statement) in case.statements.iter().enumerate() {
        if at == reopening {
            pair = pair.reopen(path)?;
        }
        pair.alter(at)?;
        let sql = statement.sql(&case.shape);
        pair.step(statement).map_err(|e| format!("{sql}: {e}"))?;
        if at % VERIFIED == 0 {
            pair.verify().map_err(|e| format!("after {sql}: {e}"))?;
        }
    }
    pair.inspect(case.statements.len())?;
    let pair = pair.reopen(path)?;
    pair.inspect(0)?;
    pair.database.close().map_err(|e| format!("close: {e:?}"))
}

impl Pair {
    fn open(path: &Path, model: Model) -> Result<Pair, String> {
        let database = Database::open(path).map_err(|e| format!("open: {e:?}"))?;
        Ok(Pair {
            connection: database.connect(),
            other: database.connect(),
            database,
            model,
        })
    }

    /// Closes the database, which rolls an open transaction back, and opens it again.
    fn reopen(self, path: &Path) -> Result<Pair, String> {
        let model = match self.model.predict(&Statement::Rollback).and_then(|p| p.done) {
            Some(done) => *done.model,
            None => self.model,
        };
        drop((self.connection, self.other));
        self.database.close().map_err(|e| format!("close: {e:?}"))?;
        let pair = Pair::open(path, model)?;
        pair.inspect(0).map_err(|e| format!("after reopening: {e}"))?;
        Ok(pair)
    }

    /// Changes the columns that the model does not know, unless a failed transaction forbids it.
    fn alter(&self, at: usize) -> Result<(), String> {
        match alter(at) {
            Some(sql) if !self.model.is_failed() => execute(&self.connection, &sql).map(drop),
            _ => Ok(()),
        }
    }

    /// Runs a statement on both sides and compares.
    fn step(&mut self, statement: &Statement) -> Result<(), String> {
        let Some(prediction) = self.model.predict(statement) else {
            return Ok(());
        };
        let sql = statement.sql(self.model.shape());
        match self.connection.execute(&sql) {
            Ok(response) => self.model = *succeeded(prediction, response.outcome)?,
            Err(error) => {
                if !prediction.errors.contains(error.state().0) {
                    return Err(format!("{error:?}\nexpected: {}", expected(&prediction)));
                }
                self.model.failed();
            }
        }
        if self.connection.in_transaction() != self.model.is_inside() {
            return Err("the connection is wrong about being in a transaction".to_string());
        }
        let contents = "select * from t";
        same(
            "others see",
            &rows(&self.other, contents)?,
            &self.shown(self.model.committed()),
        )?;
        match self.model.is_failed() {
            true => Ok(()),
            false => same(
                "contents",
                &rows(&self.connection, contents)?,
                &self.shown(self.model.state()),
            ),
        }
    }

    /// Writes rows of other values than the model has, and deletes them.
    fn fill(&self) -> Result<(), String> {
        let value = |kind: Kind| match kind {
            Kind::Integer => "1000 + i",
            Kind::Decimal => "1000 + i",
            Kind::Text => "cast(i as text)",
        };
        let values = self.model.shape().columns.iter().map(|c| value(c.kind));
        let values = values.collect::<Vec<_>>().join(", ");
        let numbers: Vec<Value> = (0..FILLING as i128).map(Value::Int).collect();
        execute(&self.connection, "create table f (i integer)")?;
        let mut appender = self.connection.appender("f").map_err(|e| format!("{e:?}"))?;
        let batch = RowBatch {
            columns: vec![ColumnVector::from_values(LogicalType::Integer, &numbers)],
            rows: numbers.len(),
        };
        let appended = appender.append(batch).and_then(|()| appender.finish());
        appended.map_err(|e| format!("{e:?}"))?;
        let filling = format!("insert into t select {values} from f; drop table f; delete from t");
        execute(&self.connection, &filling).map(drop)
    }

    /// Compares every index with the rows, as the own connection and as others see them.
    fn verify(&self) -> Result<(), String> {
        let mut connections = vec![&self.other];
        if !self.model.is_failed() {
            connections.push(&self.connection);
        }
        for connection in connections {
            let found = connection.verify().map_err(|e| format!("verify: {e:?}"))?;
            if !found.findings.is_empty() {
                return Err(format!("verify: {}", found.findings.join("; ")));
            }
            let left = (found.indexes.iter()).find(|i| i.other_entries > i.waiting_rows);
            if let Some(index) = left.filter(|_| !self.connection.in_transaction()) {
                return Err(format!("verify: entries of dead rows stay: {index:?}"));
            }
        }
        Ok(())
    }

    fn shown(&self, state: &State) -> Vec<Vec<String>> {
        self.model.shape().shown(state.rows.values())
    }

    /// Compares contents, counts, and what each key finds, forwards and backwards. `salt` chooses rows.
    fn inspect(&self, salt: usize) -> Result<(), String> {
        self.verify()?;
        if self.model.is_failed() {
            return Ok(());
        }
        let state = self.model.state();
        same(
            "contents",
            &rows(&self.connection, "select * from t")?,
            &self.shown(state),
        )?;
        let count = vec![vec![state.rows.len().to_string()]];
        same(
            "count",
            &rows(&self.connection, "select count(*) from t")?,
            &count,
        )?;
        for key in &state.keys {
            self.lookups(key, salt)?;
            self.ends(key)?;
        }
        Ok(())
    }

    /// Rows are found by their values of a key.
    fn lookups(&self, key: &Key, salt: usize) -> Result<(), String> {
        let state = self.model.state();
        let step = state.rows.len() / LOOKUPS + 1;
        for row in state.rows.values().skip(salt % step).step_by(step) {
            let found = state
                .rows
                .values()
                .filter(|other| key.columns.iter().all(|c| other[*c] == row[*c]));
            let shape = self.model.shape();
            let sql = format!("select * from t where {}", equal(shape, key, row));
            same(&sql, &rows(&self.connection, &sql)?, &shape.shown(found))?;
        }
        Ok(())
    }

    /// The first and last rows in the order of a key.
    fn ends(&self, key: &Key) -> Result<(), String> {
        let shape = self.model.shape();
        let values = |row: &Row| -> Row { key.columns.iter().map(|c| row[*c].clone()).collect() };
        let mut all: Vec<Row> = self.model.state().rows.values().map(values).collect();
        // NULL comes last, and the derived order has it first.
        all.sort_by_key(|row| {
            let cells = row.iter().cloned();
            cells.map(|cell| (cell == Cell::Null, cell)).collect::<Vec<_>>()
        });
        let kinds: Vec<Kind> = key.columns.iter().map(|c| shape.columns[*c].kind).collect();
        for direction in ["asc", "desc"] {
            let order: Vec<String> = key.columns.iter().map(|c| format!("c{c} {direction}")).collect();
            let (list, order) = (key.list(), order.join(", "));
            let sql = format!("select {list} from t order by {order} limit 3");
            let first = all.iter().take(3).map(|row| {
                let cells = row.iter().zip(&kinds);
                cells.map(|(cell, kind)| cell.shown(*kind)).collect()
            });
            same(&sql, &in_order(&self.connection, &sql)?, &first.collect())?;
            all.reverse();
        }
        Ok(())
    }
}

/// What is done to the columns that the model does not know before the statement of a number.
fn alter(at: usize) -> Option<String> {
    let action = at
        .is_multiple_of(ALTERED)
        .then(|| ALTERS[at / ALTERED % ALTERS.len()])?;
    Some(format!("alter table t {action}"))
}

/// The model after a statement that succeeded, if it may.
fn succeeded(prediction: Prediction, outcome: Outcome) -> Result<Box<Model>, String> {
    let Some(Done { model, count, rows }) = prediction.done else {
        return Err(format!(
            "{outcome:?}\nexpected: error {}",
            codes(&prediction.errors)
        ));
    };
    match (outcome, rows) {
        (Outcome::Rows(got), Some(rows)) => {
            let mut got = shown(&got);
            got.sort();
            same("RETURNING", &got, &rows)?;
        }
        (Outcome::Command { rows: got, .. }, None) => {
            if count.is_some() && got != count {
                return Err(format!("{got:?} rows, expected: {count:?}"));
            }
        }
        (outcome, _) => return Err(format!("{outcome:?}, rows where none belong, or the reverse")),
    }
    Ok(model)
}

fn codes(errors: &std::collections::BTreeSet<&'static str>) -> String {
    errors.iter().copied().collect::<Vec<_>>().join(" or ")
}

fn expected(prediction: &Prediction) -> String {
    let success = prediction.done.as_ref().map(|done| match &done.rows {
        Some(rows) => format!("rows {rows:?}"),
        None => format!("{:?} rows", done.count),
    });
    let error = (!prediction.errors.is_empty()).then(|| format!("error {}", codes(&prediction.errors)));
    success.into_iter().chain(error).collect::<Vec<_>>().join(", or ")
}

/// A condition that the rows meet which have the values of `row` under a key.
fn equal(shape: &Shape, key: &Key, row: &Row) -> String {
    let parts = key.columns.iter().map(|c| match &row[*c] {
        Cell::Null => format!("c{c} is null"),
        cell => format!("c{c} = {}", cell.literal(shape.columns[*c].kind)),
    });
    parts.collect::<Vec<_>>().join(" and ")
}

fn execute(connection: &Connection, sql: &str) -> Result<Outcome, String> {
    let response = connection.execute(sql).map_err(|e| format!("{sql}: {e:?}"))?;
    Ok(response.outcome)
}

fn in_order(connection: &Connection, sql: &str) -> Result<Vec<Vec<String>>, String> {
    match execute(connection, sql)? {
        Outcome::Rows(rows) => Ok(shown(&rows)),
        other => Err(format!("{sql}: {other:?}")),
    }
}

/// The rows of a query, sorted.
fn rows(connection: &Connection, sql: &str) -> Result<Vec<Vec<String>>, String> {
    let mut rows = in_order(connection, sql)?;
    rows.sort();
    Ok(rows)
}

/// The values of all columns that the model knows.
fn shown(rows: &Rows) -> Vec<Vec<String>> {
    let columns = &rows.schema().columns;
    let types: Vec<_> = (columns.iter())
        .filter(|c| !c.name.starts_with("extra"))
        .map(|c| c.ty)
        .collect();
    let text = |(value, ty): (&Value, &LogicalType)| match value {
        Value::Null => "NULL".to_string(),
        value => value.display(*ty).to_string(),
    };
    let row = |row: Vec<Value>| row.iter().zip(&types).map(text).collect();
    rows.raw().map(row).collect()
}

fn same(what: &str, got: &Vec<Vec<String>>, expected: &Vec<Vec<String>>) -> Result<(), String> {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{what}: {got:?}\nexpected: {expected:?}")),
    }
}
