//! The statements of a text one by one, and transactions that hold several of them without BEGIN: what a server needs
//! to run the text of a message as PostgreSQL does.

use crate::connection::Connection;
use crate::deferred_commit;
use crate::statement::Statement;
use frazil_frontend::Script;
use frazil_types::Result;

/// The statements of a text, each read when it is asked for. An error ends the open transaction.
pub struct Statements {
    connection: Connection,
    script: Script,
}

/// The state of a connection, as a server tells its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Outside a transaction block.
    Idle,
    /// Inside one.
    Open,
    /// Inside one that failed.
    Failed,
}

impl Statements {
    /// Number of statements that are left.
    pub fn len(&self) -> usize {
        self.script.len()
    }

    /// True if no statement is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Iterator for Statements {
    type Item = Result<Statement>;

    fn next(&mut self) -> Option<Result<Statement>> {
        let parsed = (self.connection.start()).and_then(|mut session| session.next_of(&mut self.script));
        let connection = &self.connection;
        parsed
            .map(|parsed| parsed.map(|parsed| Statement::new(connection.clone(), parsed)))
            .transpose()
    }
}

impl Connection {
    /// Cuts a text into its statements, of which none runs. 42601 if one of several cannot be read.
    pub fn statements(&self, sql: &str) -> Result<Statements> {
        let mut session = self.start()?;
        let _deadline = session.start_deadline()?;
        let script = session.script(sql)?;
        drop(_deadline);
        drop(session);
        Ok(Statements {
            connection: self.clone(),
            script,
        })
    }

    /// Opens a transaction for statements that belong together without BEGIN, unless one is open. In it BEGIN makes the
    /// transaction a block, COMMIT and ROLLBACK end it with a warning, and SAVEPOINT is refused.
    pub fn begin_implicit(&self) -> Result<()> {
        self.start()?.begin_implicit()
    }

    /// Commits the transaction that [`Connection::begin_implicit`] opened, or rolls it back if it failed. Does
    /// nothing if it ended before. The errors of a commit.
    pub fn end_implicit(&self) -> Result<()> {
        let mut session = self.start()?;
        let _inside = self.database().enter()?;
        deferred_commit::end_implicit(&mut session)
    }

    /// 25P02 in a transaction that failed.
    pub fn check_transaction(&self) -> Result<()> {
        self.session().transaction().check()
    }

    /// Fails the open transaction, as an error of a statement does.
    pub fn fail_transaction(&self) {
        self.session().transaction_mut().fail();
    }

    /// Returns the number of transactions that COMMIT or ROLLBACK ended. A portal ends with its transaction.
    pub fn ended_transactions(&self) -> u64 {
        self.session().ended()
    }

    /// Returns the state of the connection between two statements.
    pub fn block(&self) -> Block {
        let session = self.session();
        match (session.is_in_block(), session.transaction().check()) {
            (false, _) => Block::Idle,
            (true, Ok(())) => Block::Open,
            (true, Err(_)) => Block::Failed,
        }
    }

    /// The value of a setting, as SHOW shows it. 42704.
    pub fn setting(&self, name: &str) -> Result<String> {
        self.session().show(name)
    }
}
