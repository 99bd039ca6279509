//! The extension `frazil._frazil` of the Python package `frazil` (its Python half is in `crates/python/python`): PEP 249, results as Arrow and
//! numpy, frames of other libraries as tables.
#![forbid(unsafe_code)]

mod arrow_results;
mod cells;
mod connection;
mod cursor;
mod errors;
mod frames;
mod markers;
mod numpy_columns;
mod parallel;
mod parameters;
mod parts;
mod result_sets;
mod running;
mod statement;
mod statement_threads;

use connection::Connection;
use cursor::Cursor;
use frazil::FileAccess;
use markers::ParamStyle;
use pyo3::prelude::*;
use statement::Statement;
use std::path::PathBuf;

// Results and row pages come and go on all threads, which mimalloc does best.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the package `frazil` is made of.
#[pymodule]
#[pyo3(name = "_frazil")]
fn frazil_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", frazil::VERSION)?;
    m.add_class::<Connection>()?;
    m.add_class::<Cursor>()?;
    m.add_class::<Statement>()?;
    m.add_function(wrap_pyfunction!(connect, m)?)?;
    m.add_function(wrap_pyfunction!(parts::open_reader, m)?)?;
    m.add_function(wrap_pyfunction!(parts::snapshot, m)?)?;
    m.add_function(wrap_pyfunction!(parts::snapshot_path, m)?)?;
    m.add_function(wrap_pyfunction!(parts::is_url, m)?)?;
    m.add_function(wrap_pyfunction!(parts::columns, m)?)?;
    m.add_function(wrap_pyfunction!(parts::partitions, m)?)?;
    m.add_function(wrap_pyfunction!(parts::read_part, m)?)?;
    errors::add(m, &m.py().get_type::<Connection>())
}

/// The files that `file_access` allows: "on", "off", or a list of folders as str, bytes or os.PathLike.
fn access_of(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<FileAccess> {
    if let Ok(text) = given.extract::<String>() {
        return FileAccess::of_text(&text).map_err(errors::raise);
    }
    let decode = py.import("os")?.getattr("fsdecode")?;
    let folder = |folder: PyResult<Bound<'_, PyAny>>| decode.call1((folder?,))?.extract::<PathBuf>();
    let folders = given.try_iter()?.map(folder).collect::<PyResult<Vec<_>>>()?;
    FileAccess::to_folders(&folders).map_err(errors::raise)
}

/// Opens a database: a directory, which is made if it does not exist, as str, bytes or os.PathLike; without one, and
/// with "" or ":memory:", the database is in memory. Connections of a process to one directory share the database.
/// With `read_only=True` the directory must be there, nothing about it changes, and several may read it at a time.
/// `paramstyle` and `autocommit`: see the connection's attributes. `file_access` says which files statements may
/// name: "on", "off", or a list of folders.
#[pyfunction]
#[pyo3(signature = (path = None, read_only = false, *, paramstyle = None, autocommit = true, file_access = None))]
fn connect(
    py: Python<'_>,
    path: Option<&Bound<'_, PyAny>>,
    read_only: bool,
    paramstyle: Option<&str>,
    autocommit: bool,
    file_access: Option<&Bound<'_, PyAny>>,
) -> PyResult<Connection> {
    let path: PathBuf = match path {
        // Decodes bytes as the system does, and refuses what is no path.
        Some(path) => py.import("os")?.call_method1("fsdecode", (path,))?.extract()?,
        None => PathBuf::new(),
    };
    let style = match paramstyle {
        Some(name) => ParamStyle::named(name)?,
        None => ParamStyle::named(&py.import("frazil")?.getattr("paramstyle")?.extract::<String>()?)?,
    };
    let file_access = file_access.map_or(Ok(FileAccess::On), |given| access_of(py, given))?;
    let options = frazil::OpenOptions::new()
        .read_only(read_only)
        .file_access(file_access);
    let database = py.detach(|| options.open_shared(&path)).map_err(errors::raise)?;
    for error in database.damaged_tables() {
        errors::warn(py, &error)?;
    }
    Ok(Connection::opening(database, style, autocommit))
}
