//! Bound statements: what `frazil` executes.

use crate::{CopyEnd, CopyOptions, Definition, ParsedStatement, TransactionModes};
use frazil_catalog::{
    ColumnSequence, CopiedComments, NewConstraint, NewIndex, OnCommit, QualifiedName, WrittenName,
    is_temporary_schema,
};
use frazil_plan::Plan;
use frazil_types::{LogicalType, ObjectId, Schema, SqlState, Value};

/// An object that a statement does not make because it is there, or does not drop because it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The code of the notice.
    pub state: SqlState,
    /// The text of the notice.
    pub message: String,
}

/// A statement whose names are resolved and types final.
#[derive(Clone, Debug)]
pub enum Statement {
    /// SELECT, VALUES.
    Query(Plan),
    /// A statement that changes the database.
    Writing(Writing),
    /// PREPARE, EXECUTE, DEALLOCATE.
    Prepared(Prepared),
    /// COPY … TO.
    CopyTo {
        /// The query whose rows are written: its `output` in order.
        plan: Plan,
        /// Where they go.
        target: CopyEnd,
        /// Its form.
        options: CopyOptions,
    },
    /// EXPLAIN FREEZE: the ways to hold each column, and what they cost.
    ExplainFreeze {
        /// The table.
        table: ObjectId,
        /// Position of the column to sort by.
        order_by: Option<usize>,
        /// Whether to build each and measure it.
        analyze: bool,
    },
    /// CHECKPOINT.
    Checkpoint,
    /// BACKUP TO.
    Backup {
        /// Path of the directory to be made.
        directory: String,
    },
    /// PUBLISH TO.
    Publish(PublishStatement),
    /// BEGIN or START TRANSACTION.
    Begin {
        /// Its modes.
        modes: TransactionModes,
        /// The command's tag.
        tag: &'static str,
    },
    /// COMMIT.
    Commit {
        /// AND CHAIN: another transaction of the same modes begins.
        chain: bool,
    },
    /// ROLLBACK.
    Rollback {
        /// AND CHAIN: another transaction of the same modes begins.
        chain: bool,
    },
    /// SET TRANSACTION.
    SetTransaction {
        /// New modes of the open transaction.
        modes: TransactionModes,
    },
    /// SET SESSION CHARACTERISTICS AS TRANSACTION.
    SetSessionTransaction {
        /// New modes of transactions to come.
        modes: TransactionModes,
    },
    /// SET CONSTRAINTS.
    SetConstraints(SetConstraints),
    /// SAVEPOINT.
    Savepoint {
        /// Its name, folded.
        name: String,
    },
    /// ROLLBACK TO a savepoint.
    RollbackTo {
        /// Its name, folded.
        name: String,
    },
    /// RELEASE of a savepoint.
    Release {
        /// Its name, folded.
        name: String,
    },
    /// SET, RESET, SHOW or DISCARD.
    Setting(SettingStatement),
    /// LOCK TABLE.
    LockTable(LockTable),
    /// LISTEN, UNLISTEN or NOTIFY.
    Notification(NotificationStatement),
    /// DECLARE, FETCH, MOVE or CLOSE.
    Cursor(CursorStatement),
    /// A statement that was checked, changes nothing and cannot run inside a transaction: VACUUM, REINDEX CONCURRENTLY.
    Alone {
        /// The name of the statement in errors.
        what: &'static str,
        /// The tag of the command.
        tag: &'static str,
    },
    /// A statement that was checked and changes nothing: ANALYZE, REINDEX, GRANT, REVOKE, OWNER TO.
    /// Also CREATE and DROP of objects of kinds that there are not.
    Checked {
        /// The tag of the command.
        tag: &'static str,
        /// Objects that it does not make or drop, with the reason.
        skipped: Vec<Skipped>,
    },
    /// EXPLAIN.
    Explain {
        /// What to show.
        options: ExplainOptions,
        /// The statement explained.
        statement: Explained,
    },
}

/// A statement about settings, or about the whole session.
#[derive(Clone, Debug)]
pub enum SettingStatement {
    /// SET.
    Set {
        /// The setting's name, folded.
        name: String,
        /// Values as written; `None`: DEFAULT.
        values: Option<Vec<String>>,
        /// True for SET LOCAL: for the rest of the transaction.
        is_local: bool,
    },
    /// RESET.
    Reset {
        /// The setting's name, folded.
        name: String,
    },
    /// RESET ALL.
    ResetAll,
    /// SHOW.
    Show {
        /// The setting's name, folded.
        name: String,
    },
    /// SHOW ALL.
    ShowAll,
    /// DISCARD.
    Discard(Discard),
}

/// LOCK TABLE.
#[derive(Clone, Debug)]
pub struct LockTable {
    /// The tables, in the order in which they are locked.
    pub tables: Vec<LockedName>,
    /// The mode.
    pub mode: LockMode,
    /// NOWAIT: whoever is in the way is not waited for.
    pub nowait: bool,
}

/// A table to lock.
#[derive(Clone, Debug)]
pub struct LockedName {
    /// The table.
    pub table: ObjectId,
    /// True for a materialized view, which LOCK TABLE refuses.
    pub is_materialized: bool,
    /// Its name.
    pub name: String,
}

/// The mode of LOCK TABLE: PostgreSQL's eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// ACCESS SHARE.
    AccessShare,
    /// ROW SHARE.
    RowShare,
    /// ROW EXCLUSIVE.
    RowExclusive,
    /// SHARE UPDATE EXCLUSIVE.
    ShareUpdateExclusive,
    /// SHARE.
    Share,
    /// SHARE ROW EXCLUSIVE.
    ShareRowExclusive,
    /// EXCLUSIVE.
    Exclusive,
    /// ACCESS EXCLUSIVE.
    AccessExclusive,
}

/// A statement about notifications.
#[derive(Clone, Debug)]
pub enum NotificationStatement {
    /// LISTEN.
    Listen {
        /// The channel, folded.
        channel: String,
    },
    /// UNLISTEN.
    Unlisten {
        /// The channel, folded; none: all.
        channel: Option<String>,
    },
    /// NOTIFY.
    Notify {
        /// The channel, folded.
        channel: String,
        /// The payload.
        payload: Option<String>,
    },
}

/// A statement about cursors.
#[derive(Clone, Debug)]
pub enum CursorStatement {
    /// DECLARE.
    Declare {
        /// The cursor's name, folded.
        name: String,
        /// Its options.
        options: CursorOptions,
        /// Its query.
        plan: Box<Plan>,
    },
    /// FETCH, or MOVE, which returns no rows.
    Fetch {
        /// The cursor's name, folded.
        name: String,
        /// The rows.
        direction: FetchDirection,
        /// True for MOVE.
        is_move: bool,
    },
    /// CLOSE.
    Close {
        /// The cursor's name, folded; none: all.
        name: Option<String>,
    },
}

/// The options of DECLARE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CursorOptions {
    /// SCROLL: the cursor moves backward, too.
    pub is_scrollable: bool,
    /// WITH HOLD: the cursor outlives its transaction.
    pub is_held: bool,
    /// BINARY: clients get its values in binary form.
    pub is_binary: bool,
}

/// The rows that FETCH returns, from the row at which the cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// The next rows; a negative number: the rows before, backward. 0: the row at which the cursor is.
    Forward(i64),
    /// All rows that follow.
    ForwardAll,
    /// All rows before, backward.
    BackwardAll,
    /// The row of a number from 1 on; a negative number counts from the end. 0: before the first row.
    Absolute(i64),
    /// The row that is that many rows further.
    Relative(i64),
}

/// The part of a session that DISCARD forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Everything: settings, prepared statements and the parts below.
    All,
    /// Plans.
    Plans,
    /// Values of sequences.
    Sequences,
    /// Temporary tables.
    Temporary,
}

/// A statement that changes the database: it runs on what its transaction sees.
#[derive(Clone, Debug)]
pub enum Writing {
    /// INSERT, UPDATE, DELETE: the root of the plan is a [`frazil_plan::Operator::Write`].
    Write(Plan),
    /// A statement with WITH queries that write.
    With {
        /// What they write, in order.
        writes: Vec<WithWrite>,
        /// The statement itself: a query, INSERT, UPDATE or DELETE.
        last: Last,
    },
    /// CREATE TABLE.
    CreateTable {
        /// The table's name.
        name: QualifiedName,
        /// Its columns; of CREATE TABLE AS the query's.
        schema: Schema,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// ON COMMIT, if the table is temporary.
        on_commit: OnCommit,
        /// WITH (name = value, …).
        options: Vec<(String, Value)>,
        /// Its keys and checks, in the order in which they are written.
        constraints: Vec<NewConstraint>,
        /// The sequences that its columns own.
        sequences: Vec<ColumnSequence>,
        /// Its indexes without constraints: those of LIKE. They do not know the table.
        indexes: Vec<NewIndex>,
        /// The comments that LIKE copies.
        comments: Vec<CopiedComments>,
        /// The query whose rows fill it, of the schema's types: its `output` in order.
        as_query: Option<Plan>,
    },
    /// FREEZE TABLE.
    Freeze {
        /// The table.
        table: ObjectId,
        /// Position of the column to sort by.
        order_by: Option<usize>,
    },
    /// COPY … FROM a file.
    CopyFrom {
        /// The table.
        table: ObjectId,
        /// Its name.
        name: String,
        /// Positions in the table of the file's columns, in the file's order.
        columns: Vec<usize>,
        /// Where they come from.
        source: CopyEnd,
        /// Its form.
        options: CopyOptions,
    },
    /// A definition.
    Define(Definition),
}

/// The statement behind WITH queries that write.
#[derive(Clone, Debug)]
pub enum Last {
    /// A query.
    Query(Plan),
    /// INSERT, UPDATE, DELETE.
    Write(Plan),
}

impl Writing {
    /// True if the statement creates something temporary.
    pub fn creates_temporary(&self) -> bool {
        let name = match self {
            Writing::CreateTable { name, .. } => name,
            Writing::Define(Definition::CreateView(view)) => &view.name,
            Writing::Define(Definition::CreateSequence(new)) => &new.name,
            Writing::Write(_)
            | Writing::With { .. }
            | Writing::Freeze { .. }
            | Writing::CopyFrom { .. }
            | Writing::Define(_) => return false,
        };
        is_temporary_schema(&name.schema)
    }
}

/// PREPARE, EXECUTE, DEALLOCATE.
#[derive(Clone, Debug)]
pub enum Prepared {
    /// PREPARE.
    Prepare {
        /// Its name, folded.
        name: String,
        /// Types of its parameters: as given, or found out.
        types: Vec<LogicalType>,
        /// Whether none was given.
        typed_by_text: bool,
        /// The statement.
        statement: ParsedStatement,
    },
    /// EXECUTE.
    Execute {
        /// The name of the prepared statement, folded.
        name: String,
        /// The values of its parameters, to be bound by [`crate::bind_values`].
        values: Option<ParsedStatement>,
    },
    /// DEALLOCATE.
    Deallocate {
        /// The name of the prepared statement, folded; none: all.
        name: Option<String>,
    },
}

/// A statement that EXPLAIN explains.
#[derive(Clone, Debug)]
pub enum Explained {
    /// A query, INSERT, UPDATE, DELETE.
    Plan(Box<Plan>),
    /// EXECUTE.
    Execute {
        /// The name of the prepared statement, folded.
        name: String,
        /// The values of its parameters, to be bound by [`crate::bind_values`].
        values: Option<Box<ParsedStatement>>,
    },
}

impl From<Writing> for Statement {
    fn from(writing: Writing) -> Statement {
        Statement::Writing(writing)
    }
}

impl From<Definition> for Statement {
    fn from(definition: Definition) -> Statement {
        Statement::Writing(Writing::Define(definition))
    }
}

impl From<CursorStatement> for Statement {
    fn from(cursor: CursorStatement) -> Statement {
        Statement::Cursor(cursor)
    }
}

impl From<Prepared> for Statement {
    fn from(prepared: Prepared) -> Statement {
        Statement::Prepared(prepared)
    }
}

impl Statement {
    /// BACKUP TO a directory.
    pub(crate) fn backup(directory: &str) -> Statement {
        Statement::Backup {
            directory: directory.to_owned(),
        }
    }
}

impl Explained {
    /// The statement, if EXPLAIN explains it.
    pub fn of(statement: Statement) -> Option<Explained> {
        match statement {
            Statement::Query(plan) | Statement::Writing(Writing::Write(plan)) => {
                Some(Explained::Plan(Box::new(plan)))
            }
            Statement::Prepared(Prepared::Execute { name, values }) => {
                let values = values.map(Box::new);
                Some(Explained::Execute { name, values })
            }
            Statement::Writing(
                Writing::With { .. }
                | Writing::CreateTable { .. }
                | Writing::Freeze { .. }
                | Writing::CopyFrom { .. }
                | Writing::Define(_),
            )
            | Statement::Prepared(Prepared::Prepare { .. } | Prepared::Deallocate { .. })
            | Statement::CopyTo { .. }
            | Statement::ExplainFreeze { .. }
            | Statement::Checkpoint
            | Statement::Backup { .. }
            | Statement::Publish(_)
            | Statement::Begin { .. }
            | Statement::Commit { .. }
            | Statement::Rollback { .. }
            | Statement::SetTransaction { .. }
            | Statement::SetSessionTransaction { .. }
            | Statement::Alone { .. }
            | Statement::Checked { .. }
            | Statement::SetConstraints(_)
            | Statement::Savepoint { .. }
            | Statement::RollbackTo { .. }
            | Statement::Release { .. }
            | Statement::Setting(_)
            | Statement::LockTable(_)
            | Statement::Notification(_)
            | Statement::Cursor(_)
            | Statement::Explain { .. } => None,
        }
    }
}

impl Last {
    /// The statement, if it is one that stands behind WITH.
    pub(crate) fn of(statement: Statement) -> Option<Last> {
        if let Statement::Query(plan) = statement {
            return Some(Last::Query(plan));
        }
        let Statement::Writing(Writing::Write(plan)) = statement else {
            return None;
        };
        Some(Last::Write(plan))
    }
}

/// PUBLISH TO 'folder'.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishStatement {
    /// Path of the folder.
    pub folder: String,
    /// INCREMENTAL.
    pub is_incremental: bool,
    /// KEEP: number of snapshots that stay, at least 1.
    pub keep: Option<usize>,
}

/// A WITH query that writes.
#[derive(Clone, Debug)]
pub struct WithWrite {
    /// Its name.
    pub name: String,
    /// The table in plans that shows what it returned.
    pub table: ObjectId,
    /// The root of the plan is a [`frazil_plan::Operator::Write`].
    pub plan: Plan,
}

/// What EXPLAIN is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// The form that is shown.
    pub mode: ExplainMode,
    /// ANALYZE: the statement is run, and what it did is shown.
    pub analyze: bool,
    /// COSTS: estimated numbers of rows are shown.
    pub costs: bool,
    /// TIMING: the time of each pipeline is shown.
    pub timing: bool,
    /// SUMMARY: the times of the whole statement are shown.
    pub summary: bool,
}

/// A form of a statement that EXPLAIN shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainMode {
    /// The operator tree.
    Plan,
    /// Pipelines.
    Pipelines,
    /// Pipelines with their stages.
    Stages,
    /// Cranelift's intermediate form of each pipeline.
    Clif,
}

/// SET CONSTRAINTS.
#[derive(Clone, Debug, PartialEq)]
pub struct SetConstraints {
    /// The constraints; `None` for ALL.
    pub names: Option<Vec<WrittenName>>,
    /// DEFERRED, not IMMEDIATE.
    pub is_deferred: bool,
}

impl Statement {
    /// A statement that was checked and changes nothing.
    pub(crate) fn checked(tag: &'static str) -> Statement {
        Statement::Checked {
            tag,
            skipped: Vec::new(),
        }
    }
}
