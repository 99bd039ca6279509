//! A session that writes rows of a table of its own.

use frazil::{Connection, Database, Statement};
use frazil_testkit::Random;
use frazil_types::{Result, Value};

/// Statements of a long transaction.
const STATEMENTS: usize = 20;

/// The transactions of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One statement: INSERT of a row and UPDATE of a random one by its key, in turns.
    Row,
    /// Twenty such statements between BEGIN and COMMIT.
    TwentyStatements,
}

impl Unit {
    /// All of them.
    pub const ALL: [Unit; 2] = [Unit::TwentyStatements, Unit::Row];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Row => "single_row",
            Unit::TwentyStatements => "20_statements",
        }
    }

    /// The unit of a name.
    pub fn named(name: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Statements that change rows.
    pub fn statements(self) -> usize {
        match self {
            Unit::Row => 1,
            Unit::TwentyStatements => STATEMENTS,
        }
    }
}

/// A session with a table.
pub struct Worker {
    connection: Connection,
    insert: Statement,
    update: Statement,
    random: Random,
    /// Rows of the table: its keys are below.
    rows: usize,
    /// Statements so far.
    done: usize,
}

impl Worker {
    /// A session of a database, with a new table of its own whose name has the number.
    pub fn new(database: &Database, number: usize) -> Result<Worker> {
        let connection = database.connect();
        connection.execute(&format!(
            "set threads = 1; create table own_{number} (k bigint primary key, v integer, name text)"
        ))?;
        let insert = connection.prepare(&format!(
            "insert into own_{number} values ($1, 0, 'a short name')"
        ))?;
        let update = connection.prepare(&format!("update own_{number} set v = v + 1 where k = $1"))?;
        Ok(Worker {
            connection,
            insert,
            update,
            random: Random::new(number as u64),
            rows: 0,
            done: 0,
        })
    }

    /// Runs transactions.
    pub fn run(&mut self, unit: Unit, transactions: usize) -> Result<()> {
        for _ in 0..transactions {
            match unit {
                Unit::Row => self.statement()?,
                Unit::TwentyStatements => {
                    self.connection.execute("begin")?;
                    (0..STATEMENTS).try_for_each(|_| self.statement())?;
                    self.connection.execute("commit")?;
                }
            }
        }
        Ok(())
    }

    /// Inserts a row, or updates one.
    fn statement(&mut self) -> Result<()> {
        self.done += 1;
        match self.done % 2 {
            1 => {
                self.rows += 1;
                self.insert
                    .execute(&[Value::Int(self.rows as i128 - 1)])
                    .map(drop)
            }
            _ => {
                let key = self.random.below(self.rows as u64);
                self.update.execute(&[Value::Int(key.into())]).map(drop)
            }
        }
    }
}
