//! Frazil's sessions.

use crate::session::{Answer, Engine, Session};
use crate::steps::Step;
use frazil::{Database, Outcome, Result, Row, Statement, Value};

/// A database of Frazil with the tables of TPC-C.
#[derive(Debug)]
pub struct FrazilEngine {
    database: Database,
}

impl FrazilEngine {
    /// Sessions of a database. Each of them runs its statements on one thread.
    pub fn new(database: &Database) -> FrazilEngine {
        FrazilEngine {
            database: database.clone(),
        }
    }
}

impl Engine for FrazilEngine {
    fn with_session(&self, work: &mut dyn FnMut(&mut dyn Session) -> Result<()>) -> Result<()> {
        let connection = self.database.connect();
        connection.execute("set threads = 1")?;
        // On a machine that other programs occupy, a terminal may be without a processor for seconds while it holds the
        // warehouse's row.
        connection.execute("set lock_timeout = '2min'")?;
        let statements = Step::ALL.iter().map(|step| connection.prepare(&step.text()));
        let mut session = FrazilSession {
            statements: statements.collect::<Result<_>>()?,
        };
        work(&mut session)
    }
}

/// The prepared statements of a connection.
struct FrazilSession {
    /// `statements[step as usize]` is the statement of a step.
    statements: Vec<Statement>,
}

impl Session for FrazilSession {
    fn run(&mut self, step: Step, values: &[Value]) -> Result<Answer> {
        Ok(match self.statements[step as usize].execute(values)?.outcome {
            Outcome::Rows(rows) => Answer {
                rows: rows.iter().map(Row::into_values).collect(),
                count: rows.len() as u64,
            },
            Outcome::Command { rows, .. } => Answer {
                rows: Vec::new(),
                count: rows.unwrap_or(0),
            },
        })
    }
}
