//! Frazil, an SQL database for transactions and analytics on one copy of the data, as a library.
//!
//! ```no_run
//! let database = frazil::Database::memory()?;
//! let connection = database.connect();
//! connection.execute("create table t (a integer, b text)")?;
//! connection.execute_with("insert into t values ($1, $2)", (1, "one"))?;
//! connection.execute_with("insert into t values ($1, $2)", frazil::params![2, None::<String>])?;
//! for row in &connection.query("select a, b from t order by a", ())? {
//!     let (a, b) = (row.get::<i32>("a")?, row.get::<Option<String>>(1)?);
//!     println!("{a}: {b:?}");
//! }
//! # Ok::<(), frazil::Error>(())
//! ```
//!
//! A statement's way: [`Connection::execute`] → `frontend` (parse, bind) → `optimizer` → pipelines and
//! stages (`plan`) → `codegen` → `exec`, whose workers scan `storage` → [`Rows`].
#![forbid(unsafe_code)]

mod access_info;
mod access_statement;
mod activity;
mod alter_domain;
mod alter_table;
mod api_names;
mod appender;
mod assumptions;
mod background_checkpointer;
mod background_freezer;
#[cfg(doctest)]
mod book;
mod bound_plans;
mod bundle;
mod checked_writes;
mod chunk_sizes;
mod column_types;
mod comment_info;
mod compiled_runs;
mod compiled_statement;
mod compression;
mod conflicts;
mod connection;
mod constraint_check;
mod copy;
mod copy_to;
mod counts;
mod cursors;
mod database;
mod ddl;
mod deadline;
mod deferrable_keys;
mod deferred_commit;
mod definition_notices;
mod described;
mod direct_rows;
mod elsewhere;
mod entries_read;
mod execute;
mod explain;
mod explain_freeze;
mod failed_statement;
mod file_restrictions;
mod file_tables;
mod filling;
mod following;
mod foreign_keys;
mod frame_tables;
mod gate;
mod given_values;
mod in_use;
mod loader;
mod lock_table;
mod lock_waits;
mod login;
mod made_table;
mod materialized_view;
mod metrics;
mod normalized_text;
mod notice;
mod notification_statement;
mod notifications;
mod own_queries;
mod panics;
mod parameter_types;
mod parameters;
mod params;
mod part_text;
mod partitions;
pub mod password;
mod plan_cache;
mod plan_settings;
mod point_query;
mod prepared;
mod prepared_statements;
mod publish;
mod query;
mod rejected_rows;
mod row;
mod row_checks;
mod row_locks;
mod row_query;
mod row_sink;
mod rows;
mod run_counts;
mod sequence_info;
mod session;
mod session_names;
mod session_view;
mod setting_statement;
mod settings;
mod settled;
mod shared_database;
mod slots;
pub mod sql_text;
mod statement;
mod statement_samples;
mod statement_tables;
mod statements;
mod statistics;
mod system_rows;
mod system_tables;
mod table_info;
mod table_locks;
mod transaction;
mod transaction_guard;
mod typed_statement;
mod used_tables;
mod value;
mod verification;
mod view_text;
mod with_writes;
mod write;
mod writing;

pub use access_info::{AccessInfo, ObjectAccess};
pub use activity::{Activity, terminated};
pub use appender::Appender;
pub use comment_info::CommentInfo;
pub use connection::{CancelHandle, Connection};
pub use cursors::Cursor;
pub use database::{Database, OpenOptions};
pub use described::{CopyFraming, CopyShape, Described};
pub use frame_tables::{Frame, Frames};
pub use frazil_catalog::identifier;
pub use frazil_durability::{
    Access, InspectedTable, Inspection, Loss, Opening, OpeningProgress, OpeningStep, Publication,
    PublishOptions, PublishedSnapshot,
};
pub use frazil_exec::Progress;
pub use frazil_files::{ArrowBatches, ArrowTexts, FileAccess, json_of};
pub use frazil_frontend::{Isolation, StatementRole};
pub use frazil_functions::{FunctionClass, FunctionDoc, list as functions};
pub use frazil_storage::CommitTimes;
pub use frazil_types::array::Dimension;
pub use frazil_types::{
    Cancel, Category, ColumnDef, ColumnDefault, ColumnVector, Error, Interval, Kind, LogicalType, NativeType,
    Result, RowBatch, Schema, SqlState, TypeInfo, Value as RawValue, array,
};
pub use metrics::{LogMetrics, Metrics, wall_clock};
pub use normalized_text::normalized as normalized_text;
pub use notice::{Notice, Severity};
pub use notifications::{Listener, Notification};
pub use params::{Parameters, Params};
pub use part_text::{FilterTest, PartFilter};
pub use partitions::{Part, PartRequest, PartSize, SnapshotId};
pub use row::{ColumnIndex, Row};
pub use row_sink::{CopyStreams, RowSink};
pub use rows::{Outcome, ReadCounts, Response, Rows, Timing};
pub use sequence_info::SequenceInfo;
pub use session_view::OpenPortal;
pub use settings::{
    ClientEncoding, ReportedState, ScanMode, SessionTimeouts, Settings, names as settings,
    reported as reported_settings,
};
pub use shared_database::SharedDatabase;
pub use statement::Statement;
pub use statements::{Block, Statements};
pub use statistics::DatabaseCounts;
pub use system_tables::names as system_tables;
pub use table_info::{
    ConstraintInfo, DomainInfo, EnumInfo, IndexInfo, MaterializedInfo, TableInfo, ViewInfo, default_clause,
    default_text,
};
pub use transaction_guard::{Savepoint, Transaction};
pub use typed_statement::{Begun, Declared, TypedStatement};
pub use value::{
    Array, ArrayElement, Date, Decimal, FromValue, Time, Timestamp, TimestampTz, ToValue, Uuid, Value,
};
pub use verification::{IndexVerification, TableVerification, Verification};

/// The types of SQL, by their numbers: what each is called, and whether columns can have it.
pub fn types() -> impl Iterator<Item = &'static TypeInfo> {
    frazil_types::Kind::ALL.into_iter().map(frazil_types::Kind::info)
}

/// Version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
