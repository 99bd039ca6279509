//! Statements as they are read: sqlparser's tree, or what was read from the tokens.

use super::absent_objects::AbsentObjects;
use super::alter_constraint::AlteredConstraint;
use super::comment_on::CommentOn;
use super::create_view::{Refresh, ViewHead};
use super::like_words::WrittenLike;
use super::maintenance::Maintain;
use super::privileges::WrittenAccess;
use super::reindex::Reindex;
use super::schemas::{MovedObject, RenamedObject, WrittenSchema};
use super::sequences::{AlteredIdentity, Overriding, WrittenOptions, WrittenSequence};
use super::source::Place;
use super::table_advice::TableAdvice;
use crate::copy::{CopiedTable, CopyEnd, CopyOptions};
use crate::deep_stack::Deep;
use crate::limits::Limits;
use crate::system_columns::SystemColumns;
use crate::{
    CursorOptions, CursorStatement, ExplainOptions, LockMode, NotificationStatement, PublishStatement,
    SetConstraints, SettingStatement, TransactionModes,
};
use frazil_catalog::WrittenName;
use frazil_types::{Error, Reservation, Span};
use sqlparser::ast::{DataType, Query, SetExpr, Statement as Ast};
use std::sync::Arc;

/// A statement that was read but not yet bound.
#[derive(Clone, Debug)]
pub struct ParsedStatement {
    /// Its source text, without the semicolon.
    pub text: String,
    pub(crate) kind: ParsedKind,
    pub(crate) place: Place,
    /// True if it counts the rows of a relation: `count(t.*)`.
    pub(crate) counts_rows: bool,
    /// True if it has a GROUP BY.
    pub(crate) groups: bool,
    /// Where the expressions of CHECK and DEFAULT stand, if it defines a table.
    pub(crate) definitions: Vec<Span>,
    /// The options of its identity columns, in order.
    pub(crate) identities: Vec<WrittenOptions>,
    /// LIKE among the columns of CREATE TABLE, in order.
    pub(crate) likes: Vec<WrittenLike>,
    /// OVERRIDING … VALUE.
    pub(crate) overriding: Option<Overriding>,
    /// The name of a statement that has the word CONCURRENTLY.
    pub(crate) concurrently: Option<&'static str>,
    pub(crate) limits: Limits,
    pub(super) depth: usize,
    pub(super) _memory: Option<Arc<Reservation>>,
}

#[derive(Clone, Debug)]
pub(crate) enum ParsedKind {
    Ast(Arc<Deep<Ast>>),
    /// CREATE DOMAIN as CREATE TABLE with one column.
    CreateDomain(Arc<Deep<Ast>>),
    /// ALTER DOMAIN, read as ALTER TABLE.
    AlterDomain(Arc<Deep<Ast>>),
    CopyFrom {
        table: WrittenName,
        columns: Vec<String>,
        end: CopyEnd,
        options: CopyOptions,
    },
    CopyTo {
        /// The query; the table that it reads and the columns that are named, unless a query is written.
        source: Box<(ParsedStatement, Option<CopiedTable>)>,
        end: CopyEnd,
        options: CopyOptions,
    },
    CreateView {
        head: ViewHead,
        query: Box<ParsedStatement>,
    },
    /// REFRESH MATERIALIZED VIEW.
    Refresh(Refresh),
    Freeze {
        table: WrittenName,
        order_by: Option<String>,
    },
    Checkpoint,
    Backup {
        directory: String,
    },
    /// PUBLISH TO.
    Publish(PublishStatement),
    Begin {
        modes: TransactionModes,
        tag: &'static str,
    },
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
    SetTransaction {
        modes: TransactionModes,
    },
    SetSessionTransaction {
        modes: TransactionModes,
    },
    /// VACUUM or ANALYZE.
    Maintain(Maintain),
    /// DROP … IF EXISTS of objects of kinds that there are not, and the extension plpgsql.
    AbsentObjects(AbsentObjects),
    /// ALTER CONSTRAINT.
    AlterConstraint(AlteredConstraint),
    /// ALTER COLUMN … SET STATISTICS, STORAGE or COMPRESSION.
    TableAdvice(TableAdvice),
    /// REINDEX.
    Reindex(Reindex),
    Truncate {
        tables: Vec<WrittenName>,
        /// RESTART IDENTITY.
        restarts: bool,
        /// CASCADE.
        cascade: bool,
    },
    CommentOn(CommentOn),
    /// Roles, owners and privileges.
    Access(Box<WrittenAccess>),
    /// ALTER COLUMN of an identity or generated column.
    Identity(AlteredIdentity),
    CreateSchema(WrittenSchema),
    /// CREATE SEQUENCE, ALTER SEQUENCE.
    Sequence(WrittenSequence),
    /// SET SCHEMA of a table, view or type.
    SetSchema(MovedObject),
    /// RENAME of a view, an index, a domain or a schema.
    Rename(RenamedObject),
    SetConstraints(SetConstraints),
    Savepoint {
        name: String,
    },
    RollbackTo {
        name: String,
    },
    Release {
        name: String,
    },
    Setting(SettingStatement),
    LockTable(LockedTables),
    /// LISTEN, UNLISTEN, NOTIFY.
    Notification(NotificationStatement),
    Prepare {
        name: String,
        /// The types of its parameters, `None` for those that are found out.
        types: Vec<Option<DataType>>,
        /// Where the types stand: a position in the text.
        types_at: usize,
        inner: Box<ParsedStatement>,
    },
    Execute {
        name: String,
        /// The values, as the select list of a query.
        values: Option<Box<ParsedStatement>>,
    },
    Deallocate {
        name: Option<String>,
    },
    Declare {
        name: String,
        options: CursorOptions,
        query: Box<ParsedStatement>,
    },
    /// FETCH, MOVE, CLOSE.
    Cursor(CursorStatement),
    ShowTables,
    Describe {
        table: WrittenName,
    },
    DescribeQuery {
        query: Box<ParsedStatement>,
    },
    Summarize {
        query: Box<ParsedStatement>,
        /// True if its text is a query, and not the name of a relation or of files.
        is_query: bool,
    },
    Explain {
        options: ExplainOptions,
        inner: Box<ParsedStatement>,
    },
}

/// LOCK TABLE as it is written.
#[derive(Clone, Debug)]
pub(crate) struct LockedTables {
    pub tables: Vec<WrittenName>,
    pub mode: LockMode,
    pub nowait: bool,
}

/// A statement that begins or ends a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// BEGIN or START TRANSACTION.
    Begin {
        /// The modes that are given.
        modes: TransactionModes,
        /// Its name in a response.
        tag: &'static str,
    },
    /// COMMIT.
    Commit {
        /// AND CHAIN.
        chain: bool,
    },
    /// ROLLBACK.
    Rollback {
        /// AND CHAIN.
        chain: bool,
    },
}

/// The part that a statement plays in the protocol of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementRole {
    /// It returns rows, or that it is done.
    Plain,
    /// COPY … FROM STDIN: it reads what the client sends.
    CopyIn,
    /// COPY … TO STDOUT: it sends bytes to the client.
    CopyOut,
    /// EXECUTE of a prepared statement.
    Execute,
}

impl ParsedStatement {
    /// An error with the position that its span has in the text that was parsed, unless the error has a position.
    pub fn placed(&self, error: Error) -> Error {
        self.place.located(error)
    }

    /// The system columns that its text names.
    pub(crate) fn system_columns(&self) -> SystemColumns {
        SystemColumns::in_text(&self.text)
    }

    /// The name by which an error calls a statement that makes or drops indexes CONCURRENTLY: it cannot run inside a
    /// transaction.
    pub fn concurrently(&self) -> Option<&'static str> {
        self.concurrently
    }

    /// True if it returns rows.
    pub fn returns_rows(&self) -> bool {
        match &self.kind {
            ParsedKind::Ast(ast) => ast.get().is_some_and(gives_rows),
            ParsedKind::Setting(SettingStatement::Show { .. } | SettingStatement::ShowAll)
            | ParsedKind::Cursor(CursorStatement::Fetch { is_move: false, .. })
            | ParsedKind::ShowTables
            | ParsedKind::Publish(_)
            | ParsedKind::Describe { .. }
            | ParsedKind::DescribeQuery { .. }
            | ParsedKind::Summarize { .. }
            | ParsedKind::Explain { .. } => true,
            _ => false,
        }
    }

    /// The part that it plays in the protocol of a server.
    pub fn role(&self) -> StatementRole {
        match &self.kind {
            ParsedKind::CopyFrom {
                end: CopyEnd::Client, ..
            } => StatementRole::CopyIn,
            ParsedKind::CopyTo {
                end: CopyEnd::Client, ..
            } => StatementRole::CopyOut,
            ParsedKind::Execute { .. } => StatementRole::Execute,
            _ => StatementRole::Plain,
        }
    }

    /// The cursor whose rows it returns, if it is FETCH.
    pub fn fetches_from(&self) -> Option<&str> {
        match &self.kind {
            ParsedKind::Cursor(CursorStatement::Fetch {
                name, is_move: false, ..
            }) => Some(name),
            _ => None,
        }
    }

    /// The cursor that it uses, fetches from, moves or closes; the flag is true for one that it declares.
    pub fn cursor(&self) -> Option<(&str, bool)> {
        match &self.kind {
            ParsedKind::Declare { name, .. } => Some((name, true)),
            ParsedKind::Cursor(
                CursorStatement::Fetch { name, .. } | CursorStatement::Close { name: Some(name) },
            ) => Some((name, false)),
            _ => None,
        }
    }

    /// The effect of a statement that begins or ends a transaction: there is nothing to bind.
    pub fn control(&self) -> Option<Control> {
        match self.kind {
            ParsedKind::Begin { modes, tag } => Some(Control::Begin { modes, tag }),
            ParsedKind::Commit { chain } => Some(Control::Commit { chain }),
            ParsedKind::Rollback { chain } => Some(Control::Rollback { chain }),
            _ => None,
        }
    }

    /// True if a failed transaction takes it: it ends the transaction, or returns to a savepoint of it.
    pub fn leaves_failure(&self) -> bool {
        matches!(
            self.kind,
            ParsedKind::Commit { .. } | ParsedKind::Rollback { .. } | ParsedKind::RollbackTo { .. }
        )
    }

    /// True if it neither reads nor writes tables: it says how its transaction or session goes on.
    pub fn controls_session(&self) -> bool {
        matches!(
            self.kind,
            ParsedKind::Begin { .. }
                | ParsedKind::Commit { .. }
                | ParsedKind::Rollback { .. }
                | ParsedKind::SetTransaction { .. }
                | ParsedKind::SetSessionTransaction { .. }
                | ParsedKind::SetConstraints(_)
                | ParsedKind::Savepoint { .. }
                | ParsedKind::RollbackTo { .. }
                | ParsedKind::Release { .. }
                | ParsedKind::Setting(_)
                | ParsedKind::Notification(_)
                | ParsedKind::Deallocate { .. }
                | ParsedKind::Cursor(_)
        )
    }

    /// True if no version of a table changes its result: it says how its transaction or session goes on, or shows a
    /// setting.
    pub fn reads_nothing(&self) -> bool {
        let reads = matches!(
            self.kind,
            ParsedKind::SetConstraints(_) | ParsedKind::Notification(_) | ParsedKind::Cursor(_)
        );
        self.controls_session() && !reads
    }

    /// True if binding it asks which tables the session uses: it alters, empties or indexes one.
    pub fn asks_for_used_tables(&self) -> bool {
        match &self.kind {
            ParsedKind::Ast(ast) => {
                matches!(ast.get(), Some(Ast::AlterTable(_) | Ast::CreateIndex(_)))
            }
            ParsedKind::Truncate { .. } | ParsedKind::Identity(_) => true,
            _ => false,
        }
    }

    /// Its query, if it is one.
    pub(crate) fn query(&self) -> Option<&Query> {
        match &self.kind {
            ParsedKind::Ast(ast) => match ast.get()? {
                Ast::Query(query) => Some(query),
                _ => None,
            },
            _ => None,
        }
    }

    /// How deep its expressions and queries nest: what walks them recursively needs a stack for it
    /// ([`crate::on_deep_stack`]).
    pub fn depth(&self) -> usize {
        self.depth
    }
}

/// True if a statement is a query, or has RETURNING.
fn gives_rows(ast: &Ast) -> bool {
    match ast {
        Ast::Query(query) => match &*query.body {
            SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) => gives_rows(inner),
            _ => true,
        },
        Ast::Insert(insert) => insert.returning.is_some(),
        Ast::Update(update) => update.returning.is_some(),
        Ast::Delete(delete) => delete.returning.is_some(),
        _ => false,
    }
}
