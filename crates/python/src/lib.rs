//! The Python module `frazil`: a first cut of the DB API, with Arrow tables.
#![forbid(unsafe_code)]

mod cursor;
mod errors;
mod values;

use cursor::{Connection, Cursor, Statement};
use pyo3::prelude::*;
use std::path::PathBuf;

// Results and row pages come and go on all threads, which mimalloc does best.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An SQL database for transactions and analytics on one copy of the data.
#[pymodule]
#[pyo3(name = "frazil")]
fn frazil_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", frazil::VERSION)?;
    m.add("apilevel", "2.0")?;
    // Threads may share the module and connections.
    m.add("threadsafety", 2)?;
    m.add("paramstyle", "numeric_dollar")?;
    m.add_class::<Connection>()?;
    m.add_class::<Cursor>()?;
    m.add_class::<Statement>()?;
    m.add_function(wrap_pyfunction!(connect, m)?)?;
    errors::add(m)
}

/// Opens a database: a directory, which is made if it does not exist, as str, bytes or os.PathLike; `":memory:"` and the
/// empty path are databases in memory. With `read_only=True` the directory must be there, nothing about it changes, and
/// several may read it at a time.
#[pyfunction]
#[pyo3(signature = (path = None, read_only = false))]
fn connect(py: Python<'_>, path: Option<&Bound<'_, PyAny>>, read_only: bool) -> PyResult<Connection> {
    let path: PathBuf = match path {
        // Decodes bytes as the system does, and refuses what is no path.
        Some(path) => py.import("os")?.call_method1("fsdecode", (path,))?.extract()?,
        None => PathBuf::new(),
    };
    let database = py.detach(|| match read_only {
        true => frazil::Database::open_read_only(&path),
        false => frazil::Database::open(&path),
    });
    Ok(Connection::new(database.map_err(errors::raise)?))
}
