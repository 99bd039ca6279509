//! Tables that the database makes of its own state: `frazil_blocks`, a row for every column of every
//! chunk, `frazil_access`, a row for every column of every table, `frazil_views`, a row for every view, `frazil_indexes`, a row
//! for every index, `frazil_wal`, a row for the log, and `frazil_checkpoints`, a row for each of the last checkpoints.

use crate::made_table;
use crate::rows::text_column;
use frazil_catalog::{ViewEntry, identifier};
use frazil_durability::Directory;
use frazil_storage::{Snapshot, TableSnapshot};
use frazil_types::{
    Cancel, ColumnDef, ColumnVector, Error, LogicalType, Result, RowBatch, Schema, SqlState, Value,
};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A table of the database's own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemTable {
    /// How columns are held.
    Blocks,
    /// How columns are used.
    Access,
    /// The queries of views.
    Views,
    /// What indexes hold.
    Indexes,
    /// How far the log is.
    Wal,
    /// What checkpoints did.
    Checkpoints,
}

impl SystemTable {
    /// All of them.
    pub const ALL: [SystemTable; 6] = [
        SystemTable::Blocks,
        SystemTable::Access,
        SystemTable::Views,
        SystemTable::Indexes,
        SystemTable::Wal,
        SystemTable::Checkpoints,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            SystemTable::Blocks => "frazil_blocks",
            SystemTable::Access => "frazil_access",
            SystemTable::Views => "frazil_views",
            SystemTable::Indexes => "frazil_indexes",
            SystemTable::Wal => "frazil_wal",
            SystemTable::Checkpoints => "frazil_checkpoints",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<SystemTable> {
        SystemTable::ALL.into_iter().find(|t| t.name() == name)
    }

    /// 42P07 for the name of one.
    pub fn refuse_name(name: &str) -> Result<()> {
        match SystemTable::named(name) {
            Some(_) => Err(Error::new(
                SqlState::DUPLICATE_TABLE,
                format!("\"{name}\" is a system table"),
            )),
            None => Ok(()),
        }
    }

    /// Its rows for a snapshot, and the directory if there is one.
    pub fn rows(self, snapshot: &Snapshot, directory: Option<&Directory>) -> Result<Arc<TableSnapshot>> {
        match self {
            SystemTable::Blocks => blocks(snapshot),
            SystemTable::Access => access(snapshot),
            SystemTable::Views => views(snapshot),
            SystemTable::Indexes => indexes(snapshot),
            SystemTable::Wal => wal(directory),
            SystemTable::Checkpoints => checkpoints(directory),
        }
    }
}

/// The name of a table's schema.
fn schema_of(snapshot: &Snapshot, table: &TableSnapshot) -> Value {
    let namespace = table.table().entry().namespace;
    Value::Text(snapshot.catalog().qualified(namespace, "").schema)
}

/// Names of all system tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    SystemTable::ALL.into_iter().map(SystemTable::name)
}

fn blocks_schema() -> Result<Schema> {
    let columns = [
        ("table_name", "text"),
        ("chunk", "bigint"),
        ("column_name", "text"),
        ("encoding", "text"),
        ("layout", "text"),
        ("bits", "integer"),
        ("bytes", "bigint"),
        ("raw_bytes", "bigint"),
        ("min", "text"),
        ("max", "text"),
        ("rows", "bigint"),
        ("deleted_rows", "bigint"),
        ("visits", "bigint"),
        ("schema_name", "text"),
    ];
    schema(&columns)
}

fn blocks(snapshot: &Snapshot) -> Result<Arc<TableSnapshot>> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for table in snapshot.tables() {
        for info in table.describe() {
            let column = &table.schema().columns[info.column];
            let text = |v: &Value| Value::Text(v.display(column.ty).to_string());
            let (min, max) = match &info.bounds {
                Some((min, max)) => (text(min), text(max)),
                None => (Value::Null, Value::Null),
            };
            rows.push(vec![
                Value::Text(table.table().name().to_owned()),
                Value::Int(info.chunk.into()),
                Value::Text(column.name.clone()),
                Value::Text(info.encoding),
                Value::Text(info.layout),
                Value::Int(info.bits.into()),
                Value::Int(info.bytes.into()),
                Value::Int(info.raw_bytes.into()),
                min,
                max,
                Value::Int(info.rows.into()),
                Value::Int(info.deleted.into()),
                Value::Int(info.visits.into()),
                schema_of(snapshot, table),
            ]);
        }
    }
    materialize(SystemTable::Blocks.name(), blocks_schema()?, &rows)
}

fn access_schema() -> Result<Schema> {
    let columns = [
        ("table_name", "text"),
        ("column_name", "text"),
        ("tested", "bigint"),
        ("scanned", "bigint"),
        ("fetched", "bigint"),
        ("visits", "bigint"),
        ("schema_name", "text"),
    ];
    schema(&columns)
}

fn access(snapshot: &Snapshot) -> Result<Arc<TableSnapshot>> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for table in snapshot.tables() {
        let recent = table.table().access().recent();
        for (column, access) in table.schema().columns.iter().zip(recent.columns) {
            let counts = [access.tested, access.scanned, access.fetched, access.visits];
            let names = [table.table().name(), &column.name];
            let names = names.map(|n| Value::Text(n.to_owned())).into_iter();
            let counts = counts.map(|c| Value::Int(c.into()));
            rows.push(names.chain(counts).chain([schema_of(snapshot, table)]).collect());
        }
    }
    materialize(SystemTable::Access.name(), access_schema()?, &rows)
}

fn views(snapshot: &Snapshot) -> Result<Arc<TableSnapshot>> {
    let columns = ["view_name", "definition", "schema_name"].map(text_column);
    let catalog = snapshot.catalog();
    let row = |view: &Arc<ViewEntry>| {
        let schema = catalog.qualified(view.namespace, "").schema;
        [view.name.clone(), view.query.clone(), schema]
            .map(Value::Text)
            .to_vec()
    };
    let rows: Vec<Vec<Value>> = catalog.views().map(row).collect();
    materialize(SystemTable::Views.name(), Schema::new(columns.to_vec()), &rows)
}

fn indexes(snapshot: &Snapshot) -> Result<Arc<TableSnapshot>> {
    let columns = [
        ("table_name", "text"),
        ("index_name", "text"),
        ("columns", "text"),
        ("is_unique", "boolean"),
        ("entries", "bigint"),
        ("waiting", "bigint"),
        ("bytes", "bigint"),
        ("uses", "bigint"),
        ("schema_name", "text"),
    ];
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for table in snapshot.tables() {
        for index in table.indexes().iter() {
            let names = (index.entry().keys.iter()).map(|key| {
                let name = identifier(&table.schema().columns[key.column].name);
                if key.descending {
                    format!("{name} desc")
                } else {
                    name
                }
            });
            rows.push(vec![
                Value::Text(table.table().name().to_owned()),
                Value::Text(index.entry().name.clone()),
                Value::Text(names.collect::<Vec<_>>().join(", ")),
                Value::Bool(index.entry().unique),
                Value::Int(index.entries().into()),
                Value::Int(table.table().waiting_entries().into()),
                Value::Int(index.bytes() as i128),
                Value::Int(index.uses().into()),
                schema_of(snapshot, table),
            ]);
        }
    }
    materialize(SystemTable::Indexes.name(), schema(&columns)?, &rows)
}

fn wal(directory: Option<&Directory>) -> Result<Arc<TableSnapshot>> {
    let columns = [
        ("end_lsn", "bigint"),
        ("durable_lsn", "bigint"),
        ("checkpoint_lsn", "bigint"),
        ("generation", "bigint"),
        ("records", "bigint"),
        ("groups", "bigint"),
        ("syncs", "bigint"),
        ("bytes", "bigint"),
        ("file_syncs", "bigint"),
        ("directory_syncs", "bigint"),
        ("file_writes", "bigint"),
        ("file_bytes", "bigint"),
        ("recovered_commits", "bigint"),
        ("recovered_rows", "bigint"),
        ("recovered_bytes", "bigint"),
        ("opening_milliseconds", "double precision"),
        ("failure", "text"),
    ];
    let rows = directory.map(|directory| {
        let (position, counters) = (directory.wal().position(), directory.wal().counters());
        let (io, recovery) = (directory.io(), directory.recovery());
        let numbers = [
            position.end.0,
            position.durable.0,
            directory.last_checkpoint().lsn.0,
            position.generation,
            counters.records,
            counters.groups,
            counters.syncs,
            counters.bytes,
            io.file_syncs(),
            io.directory_syncs(),
            io.writes(),
            io.bytes_written(),
            recovery.commits,
            recovery.rows,
            recovery.bytes,
        ];
        let failure = directory.check().err();
        let failure = failure.map_or(Value::Null, |e| Value::Text(e.message().to_owned()));
        let numbers = numbers.map(|n| Value::Int(n.into()));
        let took = Value::Double(recovery.took.as_secs_f64() * 1e3);
        numbers.into_iter().chain([took, failure]).collect()
    });
    let rows: Vec<Vec<Value>> = rows.into_iter().collect();
    materialize(SystemTable::Wal.name(), schema(&columns)?, &rows)
}

fn checkpoints(directory: Option<&Directory>) -> Result<Arc<TableSnapshot>> {
    let columns = [
        ("number", "bigint"),
        ("cause", "text"),
        ("started", "timestamp"),
        ("milliseconds", "double precision"),
        ("lsn", "bigint"),
        ("blocks", "bigint"),
        ("bytes", "bigint"),
        ("blocks_left", "bigint"),
    ];
    let running = directory.and_then(Directory::running_checkpoint);
    let made = directory.map(Directory::checkpoints).unwrap_or_default();
    let microseconds = |started: SystemTime| {
        let since = started.duration_since(UNIX_EPOCH).unwrap_or_default();
        Value::Int(since.as_micros() as i128)
    };
    let next = made.last().map_or(0, |made| made.number) + 1;
    let made = made.iter().map(|made| {
        vec![
            Value::Int(made.number.into()),
            Value::Text(made.cause.to_string()),
            microseconds(made.started),
            Value::Double(made.took.as_secs_f64() * 1e3),
            Value::Int(made.lsn.0.into()),
            Value::Int(made.report.blocks.into()),
            Value::Int(made.report.bytes.into()),
            Value::Int(0),
        ]
    });
    let running = running.map(|running| {
        vec![
            Value::Int(next.into()),
            Value::Text(running.cause.to_string()),
            microseconds(running.started),
            Value::Double(running.began.elapsed().as_secs_f64() * 1e3),
            Value::Null,
            Value::Int(running.done.into()),
            Value::Int(running.bytes.into()),
            Value::Int(running.chunks.saturating_sub(running.done).into()),
        ]
    });
    let rows = made.chain(running);
    let rows: Vec<Vec<Value>> = rows.collect();
    materialize(SystemTable::Checkpoints.name(), schema(&columns)?, &rows)
}

/// Columns by name and by name of type, as CREATE TABLE would have them.
pub(crate) fn schema(columns: &[(&str, &str)]) -> Result<Schema> {
    let typed = columns.iter().map(|(name, ty)| {
        let ty = LogicalType::parse(ty);
        let ty = ty.ok_or_else(|| Error::internal("a column of a system table has a type of another name"));
        ty.map(|ty| ColumnDef::new(*name, ty))
    });
    typed.collect::<Result<_>>().map(Schema::new)
}

/// A table of these rows outside every catalog.
fn materialize(name: &str, schema: Schema, rows: &[Vec<Value>]) -> Result<Arc<TableSnapshot>> {
    let columns = schema.columns.iter().enumerate().map(|(i, c)| {
        let values: Vec<Value> = rows.iter().map(|r| r[i].clone()).collect();
        ColumnVector::from_values(c.ty, &values)
    });
    let batch = RowBatch {
        columns: columns.collect(),
        rows: rows.len(),
    };
    made_table::make(name, schema, vec![batch], &Cancel::new())
}
