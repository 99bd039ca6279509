//! SQL text → [`frazil_plan::Plan`].
//!
//! [`parse`] cuts a text into statements: a pass over the tokens mends what sqlparser's tokenizer or grammar does
//! otherwise than PostgreSQL, statements of our own (COPY, FREEZE, SET, EXPLAIN options) are read from the tokens,
//! and the rest becomes sqlparser's tree. [`bind`] resolves names and types against the catalog, a file a clause
//! ([`binder`]), by PostgreSQL's rules; what a type or function means is `frazil-functions`'s to say.
//!
//! The plan is naive: it says what the statement asks, with subqueries inside expressions and joins where the
//! syntax has joins. `optimizer` does the rest.
#![forbid(unsafe_code)]

mod access_change;
mod bind;
mod bind_drop;
mod bind_values;
mod binder;
mod bound;
mod catalog_view;
mod copy;
mod deep_stack;
mod definition;
mod file_source;
mod limits;
mod parse;
mod sql_type;
mod statement;
mod summary;
mod system_columns;
mod transaction_modes;

pub use access_change::{AccessChange, NewSetting};
pub use bind::bind;
pub use bind_values::{
    bind_default, bind_generated, bind_hidden, bind_stored_expressions, bind_values, bind_view,
};
pub use binder::{MOST_WRITES, RETURNED_ID};
pub use bound::{Bound, PlanSettings};
pub use catalog_view::{CatalogView, Relation, TableEntry, UserRoles};
pub use copy::{
    CopyColumns, CopyCompression, CopyEncoding, CopyEnd, CopyExisting, CopyFormat, CopyHeader, CopyOnError,
    CopyOptions,
};
pub use deep_stack::on_deep_stack;
pub use definition::Definition;
pub use file_source::{FileEncoding, FileForm, FileSource, SaidTypes};
pub use frazil_functions::{Asked, AskedColumn, Bytes, HiddenParameter, RegisteredCatalog, SessionCatalog};
pub use limits::Limits;
pub use parse::{Control, ParsedStatement, QualifiedPlace, QueryText, Script, StatementRole, parse};
pub use statement::{
    CursorOptions, CursorStatement, Discard, ExplainMode, ExplainOptions, Explained, FetchDirection, Last,
    LockMode, LockTable, LockedName, NotificationStatement, Prepared, PublishStatement, SetConstraints,
    SettingStatement, Skipped, Statement, WithWrite, Writing,
};
pub use transaction_modes::{Isolation, TransactionModes};
