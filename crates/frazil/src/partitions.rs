//! Parts of a table: other engines read a snapshot of it in parallel, each part in a process of its own.
//!
//! A part is a query for the rows of a range of chunks, and the snapshot for which the range was computed
//! ([`Connection::partitions`]). Whoever runs it ([`Connection::read_part`]) may be another process that has the same
//! files open to be read. Row ids of another snapshot may mean other rows, so a part is read in its own snapshot alone.
//! The query is bound, optimized and run as any other: restrictions on row ids leave the chunks of the range
//! ([`frazil_storage::TableScan::at_rows`]), the filters become restrictions of the scan, and columns that the query
//! does not name are not read.

use crate::api_names::resolved;
use crate::chunk_sizes::{ChunkSize, chunk_sizes};
use crate::connection::Connection;
use crate::execute::{self, Call};
use crate::given_values::GivenValues;
use crate::part_text::{PartFilter, query_text};
use crate::query::Runner;
use crate::row_sink::Delivery;
use crate::rows::Response;
use crate::session::Session;
use frazil_catalog::{QualifiedName, TableEntry, not_a_table};
use frazil_frontend::Statement;
use frazil_plan::pipeline::Source;
use frazil_runtime::BoundValues;
use frazil_storage::{ScanOptions, Snapshot, TableScan, TableSnapshot};
use frazil_types::{Error, Result, SqlState};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Tells a snapshot from all others, of other databases, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SnapshotId {
    /// The id of the database: 32 hexadecimal digits. Empty in memory.
    pub database: String,
    /// Number of the last commit that the snapshot shows.
    pub commit: u64,
    /// The end of that commit in the log.
    pub lsn: u64,
}

/// The part of the rows that each part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartSize {
    /// About as many rows; a chunk is never divided.
    Rows(u64),
    /// At most this number of parts.
    Parts(usize),
}

/// A table that is to be read in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRequest {
    /// Its folded name, alone or behind its schema and a dot.
    pub table: String,
    /// Names of the columns that are read; `None`: all of the table.
    pub columns: Option<Vec<String>>,
    /// Names of columns that are read as texts.
    pub texts: Vec<String>,
    /// The conditions that rows satisfy.
    pub filters: Vec<PartFilter>,
    /// Size of the parts.
    pub size: PartSize,
}

/// A part of a table's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The snapshot that it belongs to.
    pub snapshot: SnapshotId,
    /// Its query.
    pub sql: String,
    /// Numbers of the first and the last chunk.
    pub chunks: RangeInclusive<u32>,
    /// Rows, at most: SMA and PSMAs of the blocks say how many.
    pub rows: u64,
    /// Bytes of the columns that are read, as they are stored.
    pub bytes: u64,
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "commit {} at {:X}/{:X}",
            self.commit,
            self.lsn >> 32,
            self.lsn as u32
        )
    }
}

impl Connection {
    /// The snapshot that the next statement sees, or the one that the open transaction sees.
    pub fn snapshot_id(&self) -> Result<SnapshotId> {
        let mut session = self.start()?;
        let _inside = self.database().enter()?;
        execute::guarded(&mut session, |session| Ok(id_of(session, &session.snapshot())))
    }

    /// Divides the rows of a table into parts of about as many bytes each. Chunks that the filters rule out by SMA or
    /// PSMAs belong to no part. 42P01 if there is no such table, 42809 for a view and everything else that is not a
    /// table, 42703 for a column that the table does not have, 42701 for one that is named twice, 42501 without the
    /// privilege to read it, 0A000 for a table that the open transaction has changed.
    pub fn partitions(&self, request: &PartRequest) -> Result<Vec<Part>> {
        let mut session = self.start()?;
        let _deadline = session.start_deadline()?;
        let _inside = self.database().enter()?;
        execute::guarded(&mut session, |session| plan(session, request))
    }

    /// Runs the query of a part in its snapshot. 55000 if the session sees another snapshot.
    pub fn read_part(&self, snapshot: &SnapshotId, sql: &str) -> Result<Response> {
        let mut session = self.start()?;
        let _deadline = session.start_deadline()?;
        let _inside = self.database().enter()?;
        let parsed = session.parse_one(sql)?;
        execute::guarded(&mut session, |session| {
            let seen = id_of(session, &session.snapshot());
            if seen != *snapshot {
                return Err(gone(snapshot, &seen));
            }
            let call = Call::new(session, GivenValues::NONE, Delivery::Whole);
            execute::run_bound(session, &parsed, &call, &mut None)
        })
    }
}

/// The id of a snapshot of the session's database.
fn id_of(session: &Session, snapshot: &Snapshot) -> SnapshotId {
    let directory = session.database().directory();
    SnapshotId {
        database: directory.map_or(String::new(), |directory| directory.database().to_string()),
        commit: snapshot.timestamp(),
        lsn: snapshot.lsn().0,
    }
}

fn gone(wanted: &SnapshotId, seen: &SnapshotId) -> Error {
    if wanted.database != seen.database {
        let message = "the part belongs to another database than the one that is open";
        return Error::new(SqlState::NOT_IN_STATE, message)
            .with_hint("compute the parts again or open their database");
    }
    let message = format!("the snapshot of the part ({wanted}) is gone: the database is at {seen}");
    Error::new(SqlState::NOT_IN_STATE, message)
        .with_hint("compute the parts again, and read them in their snapshot")
}

/// A table with the columns of it that are read.
struct Asked<'a> {
    name: QualifiedName,
    columns: Vec<String>,
    table: &'a Arc<TableSnapshot>,
}

impl<'a> Asked<'a> {
    fn of(session: &Session, snapshot: &'a Snapshot, request: &PartRequest) -> Result<Asked<'a>> {
        let name = resolved(
            snapshot.catalog(),
            &session.settings().search_path,
            &request.table,
        );
        let entry = snapshot.catalog().table(&name)?;
        if entry.materialized.is_some() {
            return Err(not_a_table(&entry.name));
        }
        let table = snapshot.table(entry.id)?;
        if table.timestamp().is_none() {
            let message = format!("table \"{}\" has changes that are not committed", entry.name);
            return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                .with_hint("its parts can be read once the transaction is committed"));
        }
        Ok(Asked {
            name,
            columns: columns_of(entry, request)?,
            table,
        })
    }
}

/// The names of the columns that are read, each of which the table has.
fn columns_of(entry: &TableEntry, request: &PartRequest) -> Result<Vec<String>> {
    let own = || entry.schema.columns.iter().map(|column| &column.name);
    let filtered = request.filters.iter().map(|filter| &filter.column);
    let named = request
        .columns
        .iter()
        .flatten()
        .chain(&request.texts)
        .chain(filtered);
    if let Some(missing) = named.into_iter().find(|name| !own().any(|own| own == *name)) {
        let message = format!("table \"{}\" has no column \"{missing}\"", entry.name);
        return Err(Error::new(SqlState::UNDEFINED_COLUMN, message));
    }
    let columns = request
        .columns
        .clone()
        .unwrap_or_else(|| own().cloned().collect());
    let repeated = |(at, name): (usize, &String)| columns[..at].contains(name).then(|| name.clone());
    if let Some(name) = columns.iter().enumerate().find_map(repeated) {
        let message = format!("column \"{name}\" is named twice");
        return Err(Error::new(SqlState::DUPLICATE_COLUMN, message));
    }
    match columns.is_empty() {
        true => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("no column of table \"{}\" is named to be read", entry.name),
        )),
        false => Ok(columns),
    }
}

fn plan(session: &mut Session, request: &PartRequest) -> Result<Vec<Part>> {
    let snapshot = session.snapshot();
    let asked = Asked::of(session, &snapshot, request)?;
    let sql = query_text(request, (&asked.name, &asked.columns), None)?;
    let sizes = sizes(session, &sql, (&snapshot, &asked))?;
    let id = id_of(session, &snapshot);
    let part = |group: &[ChunkSize]| {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            return Err(Error::internal("a part without chunks"));
        };
        let chunks = first.number..=last.number;
        Ok(Part {
            snapshot: id.clone(),
            sql: query_text(request, (&asked.name, &asked.columns), Some(&chunks))?,
            chunks,
            rows: group.iter().map(|chunk| chunk.rows).sum(),
            bytes: group.iter().map(|chunk| chunk.bytes).sum(),
        })
    };
    groups(&sizes, request.size).into_iter().map(part).collect()
}

/// The sizes of the chunks of a table that its query would read, in the columns that it would read. The errors of
/// binding the query.
fn sizes(
    session: &mut Session,
    sql: &str,
    (snapshot, asked): (&Arc<Snapshot>, &Asked<'_>),
) -> Result<Vec<ChunkSize>> {
    let parsed = session.parse_one(sql)?;
    let runner = Runner::new(session);
    let tables = runner.tables(snapshot.clone());
    let call = Call::new(session, GivenValues::NONE, Delivery::Whole);
    let (statement, bundle) = execute::bind(&parsed, tables, &call)?;
    let Statement::Query(plan) = statement else {
        return Err(Error::internal("the query of a part is not a query"));
    };
    // Rows that an index would give are those of chunks, too.
    let settings = frazil_optimizer::Settings {
        use_indexes: false,
        ..runner.optimizer_settings()
    };
    let (tables, cancel) = (&*bundle.tables, session.cancel());
    let stages = session.settings().stages;
    let planned = frazil_frontend::on_deep_stack(bundle.depth, || {
        let plan = frazil_optimizer::optimize(plan, tables, &settings, cancel)?;
        frazil_optimizer::pipelines(plan, tables, &settings, stages, cancel)
    })?;
    let values = BoundValues {
        parameters: &bundle.parameters,
        subqueries: &[],
    };
    let sources = planned.pipelines.iter().map(|pipeline| &pipeline.source);
    let scans = sources.filter_map(|source| {
        let Source::Scan {
            columns,
            restrictions,
            disjunctions,
            ..
        } = source
        else {
            return None;
        };
        Some((columns, restrictions, disjunctions))
    });
    // No scan is left if the filters contradict each other.
    let mut found = Vec::new();
    for (columns, restrictions, disjunctions) in scans {
        let restrictions = values.restrictions(restrictions, columns)?;
        let disjunctions = values.disjunctions(disjunctions, columns)?;
        let places: Vec<usize> = columns.iter().map(|column| column.1).collect();
        let options = ScanOptions {
            use_indexes: false,
            count_access: false,
            ..ScanOptions::default()
        };
        let scan = TableScan::new(asked.table.clone(), places.clone(), restrictions, options)?;
        found.extend(chunk_sizes(scan.with_disjunctions(disjunctions)?, &places)?);
    }
    Ok(found)
}

/// Divides chunks, which are in the order of their numbers, into groups of about as many bytes each.
fn groups(sizes: &[ChunkSize], size: PartSize) -> Vec<&[ChunkSize]> {
    let rows: u64 = sizes.iter().map(|chunk| chunk.rows).sum();
    let count = match size {
        PartSize::Rows(each) => usize::try_from(rows.div_ceil(each.max(1))).unwrap_or(usize::MAX),
        PartSize::Parts(count) => count,
    };
    let count = count.clamp(1, sizes.len().max(1));
    // A chunk whose columns are constant has few bytes, and takes time, too.
    let weight = |chunk: &ChunkSize| u128::from(chunk.bytes + chunk.rows);
    let total: u128 = sizes.iter().map(weight).sum();
    let mut groups = Vec::with_capacity(count);
    let (mut start, mut done) = (0, 0);
    for (at, chunk) in sizes.iter().enumerate() {
        done += weight(chunk);
        // The group ends at the chunk with which it has its share of the bytes, or that leaves one chunk for each
        // group to come.
        let (ended, left) = (groups.len() + 1, sizes.len() - at - 1);
        let has_share = done * count as u128 >= total * ended as u128;
        if left == 0 || ended < count && (has_share || left == count - ended) {
            groups.push(&sizes[start..=at]);
            start = at + 1;
        }
    }
    groups
}
