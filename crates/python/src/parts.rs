//! Parts of tables for `frazil.partitions`: computed by one process, read by others. `frazil/_partitions.py` has the
//! objects that travel.

use crate::arrow_results;
use crate::connection::Connection;
use crate::errors::{ProgrammingError, Text, raise};
use crate::parameters::value_of;
use crate::running::run;
use frazil::{
    Access, ColumnDef, Database, FilterTest, LogicalType, Opening, Part, PartFilter, PartRequest, PartSize,
    SnapshotId,
};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Database, commit and place in the log.
type Snapshot = (String, u64, u64);
/// Query, first and last chunk, rows, bytes.
type PartOf = (String, (u32, u32), u64, u64);
/// Chunks, blocks among them that SMAs ruled out, rows, bytes.
type Counts = (u64, u64, u64, u64);

fn snapshot_of((database, commit, lsn): Snapshot) -> SnapshotId {
    SnapshotId {
        database,
        commit,
        lsn,
    }
}

/// A connection to a directory that is opened for it alone to be read, beside whoever has it open, and without indexes.
#[pyfunction]
pub fn open_reader(py: Python<'_>, path: PathBuf) -> PyResult<Connection> {
    let opening = Opening {
        without_indexes: true,
        ..Opening::to(Access::Read)
    };
    let open = || {
        let database = Database::open_as(&path, &opening)?;
        Ok(database.connect())
    };
    Ok(Connection::of_session(py.detach(open).map_err(raise)?))
}

/// The snapshot that a connection sees.
#[pyfunction]
pub fn snapshot(py: Python<'_>, connection: &Connection) -> PyResult<Snapshot> {
    let session = connection.session()?;
    let id = py.detach(|| session.snapshot_id()).map_err(raise)?;
    Ok((id.database, id.commit, id.lsn))
}

/// The path by which others open the snapshot that a connection to a published folder sees: later ones do not take its
/// place there. `None` for a connection to anything else than such a folder.
#[pyfunction]
pub fn snapshot_path(connection: &Connection, folder: PathBuf) -> PyResult<Option<OsString>> {
    let path = connection.session()?.database().snapshot_path(&folder);
    // Python's own paths make one slash of the two in a URL.
    Ok(path.map(PathBuf::into_os_string))
}

/// True for the URL of an object store, which names a published folder there.
#[pyfunction]
pub fn is_url(path: PathBuf) -> bool {
    Database::is_url(path)
}

/// Name and type of each column of a table, and true for one that may be NULL.
#[pyfunction]
pub fn columns(connection: &Connection, table: &str) -> PyResult<Vec<(String, String, bool)>> {
    let found = connection.session()?.table(table).map_err(raise)?;
    let columns = found.schema.columns.iter();
    let described = |column: &ColumnDef| (column.name.clone(), kind_of(column.ty), column.nullable);
    Ok(columns.map(described).collect())
}

/// The name of a type with its sizes; `enum` for all enumerations, whose names could be those of other types.
fn kind_of(ty: LogicalType) -> String {
    match (ty.element(), ty.enumeration()) {
        (Some(element), _) => format!("{}[]", kind_of(element)),
        (None, Some(_)) => "enum".to_owned(),
        (None, None) => ty.to_string(),
    }
}

/// Divides a table into parts of about `rows` rows each, or into at most `count` parts.
#[pyfunction]
#[pyo3(signature = (connection, table, columns, texts, filters, rows, count))]
#[allow(clippy::too_many_arguments, reason = "the package's module alone calls it")]
pub fn partitions(
    py: Python<'_>,
    connection: &Connection,
    table: String,
    columns: Option<Vec<String>>,
    texts: Vec<String>,
    filters: Vec<Bound<'_, PyAny>>,
    rows: u64,
    count: Option<usize>,
) -> PyResult<Vec<PartOf>> {
    let session = connection.session()?;
    let request = PartRequest {
        table,
        columns,
        texts,
        filters: filters.iter().map(filter_of).collect::<PyResult<_>>()?,
        size: count.map_or(PartSize::Rows(rows), PartSize::Parts),
    };
    let parts = py.detach(|| session.partitions(&request)).map_err(raise)?;
    let tuple = |part: Part| (part.sql, part.chunks.into_inner(), part.rows, part.bytes);
    Ok(parts.into_iter().map(tuple).collect())
}

/// Reads a part as a reader of pyarrow, and says what was read of the table for it.
#[pyfunction]
pub fn read_part<'py>(
    py: Python<'py>,
    connection: &Connection,
    snapshot: Snapshot,
    sql: String,
) -> PyResult<(Bound<'py, PyAny>, Counts)> {
    let session = connection.session()?;
    let id = snapshot_of(snapshot);
    let (own, text) = (session.clone(), sql.clone());
    let (rows, reads) = run(py, &session, Text::new(&sql, None), move || {
        let response = own.read_part(&id, &text)?;
        Ok((response.outcome.into_rows()?, response.reads))
    })?;
    let counts = (reads.chunks, reads.skipped_chunks, reads.rows, reads.bytes);
    Ok((arrow_results::reader(&rows)?.into_pyarrow(py)?, counts))
}

/// The filter of a tuple of column, operator and, unless the operator tests for NULL, value.
fn filter_of(given: &Bound<'_, PyAny>) -> PyResult<PartFilter> {
    let items = given.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let (column, operator, value) = match &items[..] {
        [column, operator] => (column, operator, None),
        [column, operator, value] => (column, operator, Some(value)),
        _ => return Err(refused(given)),
    };
    let (column, operator) = (column.extract::<String>()?, operator.extract::<String>()?);
    let operator = operator
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    let test = match (&*operator, value) {
        ("=" | "==", Some(value)) => FilterTest::Equal(value_of(value)?),
        ("<", Some(value)) => FilterTest::Less(value_of(value)?),
        ("<=", Some(value)) => FilterTest::LessOrEqual(value_of(value)?),
        (">", Some(value)) => FilterTest::Greater(value_of(value)?),
        (">=", Some(value)) => FilterTest::GreaterOrEqual(value_of(value)?),
        ("in", Some(values)) => {
            let values = values.try_iter()?.map(|value| value_of(&value?));
            FilterTest::In(values.collect::<PyResult<_>>()?)
        }
        ("is null", None) => FilterTest::IsNull,
        ("is null", Some(value)) if value.is_none() => FilterTest::IsNull,
        ("is not null", None) => FilterTest::IsNotNull,
        ("is not null", Some(value)) if value.is_none() => FilterTest::IsNotNull,
        _ => return Err(refused(given)),
    };
    Ok(PartFilter { column, test })
}

fn refused(given: &Bound<'_, PyAny>) -> PyErr {
    let shown = given.repr().map(|text| text.to_string()).unwrap_or_default();
    ProgrammingError::new_err(format!(
        "{shown} is not a filter: a filter is (column, operator, value) with =, <, <=, >, >= or in, or \
         (column, \"is null\") or (column, \"is not null\")"
    ))
}
