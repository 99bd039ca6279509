//! Frazil's own system tables: `frazil_blocks`, a row for every column of every chunk, `frazil_access`, a row for every
//! column of every table, `frazil_views`, a row for every view, `frazil_indexes`, a row for every index, `frazil_wal`, a
//! row for the log, and `frazil_checkpoints`, a row for each of the last checkpoints; and those of [`writers`].

use super::virtual_table::{Columns, Context, Made, RowsOf, VirtualTable, schema};
use super::{activity_counts, writers};
use frazil_catalog::{SYSTEM_SCHEMA, ViewEntry, key_sql};
use frazil_durability::Directory;
use frazil_storage::{Snapshot, TableSnapshot};
use frazil_types::{Result, Value};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// The tables of this file, by name: their columns with types, and their rows.
pub(super) fn tables() -> impl Iterator<Item = Result<VirtualTable>> {
    let tables: [(&str, Columns, RowsOf); 9] = [
        ("frazil_blocks", BLOCKS, blocks),
        ("frazil_access", ACCESS, access),
        ("frazil_views", VIEWS, views),
        ("frazil_indexes", INDEXES, indexes),
        ("frazil_wal", WAL, wal),
        ("frazil_checkpoints", CHECKPOINTS, checkpoints),
        (
            "frazil_transactions",
            writers::TRANSACTIONS,
            writers::transactions,
        ),
        ("frazil_locks", writers::LOCKS, writers::locks),
        (
            "pg_stat_statements",
            activity_counts::STATEMENTS,
            activity_counts::statements,
        ),
    ];
    tables.into_iter().map(|(name, columns, rows)| {
        Ok(VirtualTable {
            schema: SYSTEM_SCHEMA,
            name: name.to_owned(),
            oid: None,
            is_view: true,
            columns: schema(columns)?,
            made: Made::Anew(rows),
            read_columns: OnceLock::new(),
        })
    })
}

/// The name of a table's schema.
fn schema_of(snapshot: &Snapshot, table: &TableSnapshot) -> Value {
    let namespace = table.table().entry().namespace;
    Value::Text(snapshot.catalog().qualified(namespace, "").schema)
}

const VIEWS: Columns = &[
    ("view_name", "text"),
    ("definition", "text"),
    ("schema_name", "text"),
];

const BLOCKS: Columns = &[
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

fn blocks(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let snapshot = context.snapshot;
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
    Ok(rows)
}

const ACCESS: Columns = &[
    ("table_name", "text"),
    ("column_name", "text"),
    ("tested", "bigint"),
    ("scanned", "bigint"),
    ("fetched", "bigint"),
    ("visits", "bigint"),
    ("schema_name", "text"),
];

fn access(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let snapshot = context.snapshot;
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
    Ok(rows)
}

fn views(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let snapshot = context.snapshot;
    let catalog = snapshot.catalog();
    let row = |view: &Arc<ViewEntry>| {
        let schema = catalog.qualified(view.namespace, "").schema;
        [view.name.clone(), view.query.clone(), schema]
            .map(Value::Text)
            .to_vec()
    };
    Ok(catalog.views().map(row).collect())
}

const INDEXES: Columns = &[
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

fn indexes(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let snapshot = context.snapshot;
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for table in snapshot.tables() {
        for index in table.indexes().iter() {
            let names = (index.entry().keys.iter()).map(|key| {
                let name = key_sql(table.table().entry(), key.column);
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
    Ok(rows)
}

const WAL: Columns = &[
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
    ("moves", "bigint"),
];

fn wal(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let directory = context.directory;
    let rows = directory.map(|directory| {
        let (position, counters) = (directory.position(), directory.wal().counters());
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
        let moves = Value::Int(directory.moves().into());
        numbers.into_iter().chain([took, failure, moves]).collect()
    });
    Ok(rows.into_iter().collect())
}

const CHECKPOINTS: Columns = &[
    ("number", "bigint"),
    ("cause", "text"),
    ("started", "timestamp"),
    ("milliseconds", "double precision"),
    ("lsn", "bigint"),
    ("blocks", "bigint"),
    ("bytes", "bigint"),
    ("blocks_left", "bigint"),
];

fn checkpoints(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let directory = context.directory;
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
    Ok(made.chain(running).collect())
}
