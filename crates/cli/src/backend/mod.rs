//! The border between the shell and the database that it works on: everything that the shell asks for is in
//! [`Backend`].
//!
//! The shell's commands know this trait only. [`embedded`] implements it by calls of the library,
//! [`Remote`](crate::remote::Remote) by messages to a server and queries on its `pg_catalog`.

mod embedded;
mod objects;

pub use embedded::built_in_functions;
pub use objects::{
    Column, Constraint, DefinedType, Function, Index, ListedIndex, Relation, RelationKind, Sequence,
    Structure,
};

use frazil::{
    Block, Connection, CopyStreams, Notification, Progress, RawValue as Value, Response, Result, RowSink,
};

/// Cancels the statement that runs, from any thread.
pub type Canceler = Box<dyn Fn() + Send>;

/// A database that the shell works on, with the state of one session. No method has a default body, so that a backend
/// that forgets one does not compile.
pub trait Backend: Send + Sync {
    /// Runs one or several statements with values for `$1`, `$2` and so on; returns what the last one gave.
    fn execute(&self, sql: &str, values: &[Value]) -> Result<Response>;

    /// Runs statements as [`Backend::execute`] does, and hands rows to `sink` while they come. The response counts
    /// them.
    fn execute_into(&self, sql: &str, values: &[Value], sink: &mut dyn RowSink) -> Result<Response>;

    /// Runs COPY, whose rows come from and go to `streams` unless they are in a file of the database's machine.
    fn copy(&self, sql: &str, streams: &mut dyn CopyStreams) -> Result<Response>;

    /// Names and types of the columns that a statement would give; empty for a command. The statement does not run.
    fn describe(&self, sql: &str) -> Result<Vec<(String, String)>>;

    /// Cancels what runs.
    fn canceler(&self) -> Canceler;

    /// The state of the transaction.
    fn block(&self) -> Block;

    /// The progress of the running statement; `None` if the database does not tell it.
    fn progress(&self) -> Option<&Progress>;

    /// Takes the notifications that have arrived.
    fn notifications(&self) -> Vec<Notification>;

    /// Tables by schema and name, then views, each behind those that it reads.
    fn relations(&self) -> Result<Vec<Relation>>;

    /// The columns, keys and checks of a table or view, by its folded name, alone or behind its schema and a dot. 42P01
    /// if there is none.
    fn structure(&self, name: &str) -> Result<Structure>;

    /// The statements that make a table or view with its indexes, or all of them. 42P01 if there is none of the name.
    fn definitions(&self, name: Option<&str>) -> Result<Vec<String>>;

    /// Indexes of all tables.
    fn indexes(&self) -> Result<Vec<ListedIndex>>;

    /// Sequences by schema and name.
    fn sequences(&self) -> Result<Vec<Sequence>>;

    /// The names of all schemas but those of temporary objects and of the system.
    fn schemas(&self) -> Result<Vec<String>>;

    /// Types that statements defined: enumerations, then domains.
    fn defined_types(&self) -> Result<Vec<DefinedType>>;

    /// Functions with each form of a call.
    fn functions(&self) -> Result<Vec<Function>>;

    /// True for a database of Frazil, whose chunks `frazil_blocks` shows.
    fn has_blocks(&self) -> bool;

    /// True if no statement can run any more, because the connection to the database broke.
    fn is_lost(&self) -> bool;

    /// The connection, if the database runs in this process.
    fn embedded(&self) -> Option<&Connection>;
}
