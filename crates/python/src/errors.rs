//! Exceptions: the classes of PEP 249, each with the SQLSTATE in `sqlstate`, and `detail`, `hint`,
//! `table`, `column` and `constraint`, which are None where the error names none.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    frazil,
    Error,
    PyException,
    "Something went wrong; `sqlstate` says what, `table`, `column` and `constraint` where."
);
create_exception!(
    frazil,
    InterfaceError,
    Error,
    "The module was used in a wrong way."
);
create_exception!(frazil, DatabaseError, Error, "The database refused.");
create_exception!(
    frazil,
    DataError,
    DatabaseError,
    "A value that does not fit (class 22)."
);
create_exception!(
    frazil,
    IntegrityError,
    DatabaseError,
    "A constraint was violated (class 23)."
);
create_exception!(
    frazil,
    OperationalError,
    DatabaseError,
    "Resources, locks, files, cancels."
);
create_exception!(
    frazil,
    ProgrammingError,
    DatabaseError,
    "A wrong statement (class 42)."
);
create_exception!(
    frazil,
    NotSupportedError,
    DatabaseError,
    "A feature that is not there (0A000)."
);
create_exception!(frazil, InternalError, DatabaseError, "A defect of the database.");

/// Adds the classes to the module.
pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("Error", py.get_type::<Error>())?;
    m.add("InterfaceError", py.get_type::<InterfaceError>())?;
    m.add("DatabaseError", py.get_type::<DatabaseError>())?;
    m.add("DataError", py.get_type::<DataError>())?;
    m.add("IntegrityError", py.get_type::<IntegrityError>())?;
    m.add("OperationalError", py.get_type::<OperationalError>())?;
    m.add("ProgrammingError", py.get_type::<ProgrammingError>())?;
    m.add("NotSupportedError", py.get_type::<NotSupportedError>())?;
    m.add("InternalError", py.get_type::<InternalError>())
}

/// The exception of an error.
pub fn raise(error: frazil::Error) -> PyErr {
    let state = error.state().0;
    let mut text = format!("{state}: {}", error.message());
    for (label, more) in [("DETAIL", error.detail()), ("HINT", error.hint())] {
        if let Some(more) = more {
            text.push_str(&format!("\n{label}: {more}"));
        }
    }
    let exception = match &state[..2] {
        "0A" => NotSupportedError::new_err(text),
        "21" | "42" | "25" => ProgrammingError::new_err(text),
        "22" => DataError::new_err(text),
        "23" => IntegrityError::new_err(text),
        "XX" if state == "XX000" => InternalError::new_err(text),
        _ => OperationalError::new_err(text),
    };
    Python::attach(|py| {
        // Attributes are a convenience; without them the text still begins with the state.
        let value = exception.value(py);
        let _ = value.setattr("sqlstate", state);
        for (name, field) in [
            ("detail", error.detail()),
            ("hint", error.hint()),
            ("table", error.table()),
            ("column", error.column()),
            ("constraint", error.constraint()),
        ] {
            let _ = value.setattr(name, field);
        }
    });
    exception
}

/// For a connection or cursor that was closed.
pub fn closed(what: &str) -> PyErr {
    InterfaceError::new_err(format!("the {what} is closed"))
}
