//! Exceptions: the classes of PEP 249, each with the SQLSTATE in `sqlstate`, and `detail`, `hint`,
//! `table`, `column` and `constraint`, which are None where the error names none.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyType;

create_exception!(
    frazil,
    Warning,
    PyException,
    "Something to know; no statement raises it today."
);

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

/// What an error says beside its text.
const FIELDS: [&str; 6] = ["sqlstate", "detail", "hint", "table", "column", "constraint"];

/// Adds the classes to the module, and to that of connections, as PEP 249 suggests.
pub fn add(m: &Bound<'_, PyModule>, connection: &Bound<'_, PyType>) -> PyResult<()> {
    let py = m.py();
    let error = py.get_type::<Error>();
    for field in FIELDS {
        // Errors of the module itself have none of them.
        error.setattr(field, py.None())?;
    }
    let classes: [(&str, Bound<'_, PyType>); 10] = [
        ("Warning", py.get_type::<Warning>()),
        ("Error", error),
        ("InterfaceError", py.get_type::<InterfaceError>()),
        ("DatabaseError", py.get_type::<DatabaseError>()),
        ("DataError", py.get_type::<DataError>()),
        ("IntegrityError", py.get_type::<IntegrityError>()),
        ("OperationalError", py.get_type::<OperationalError>()),
        ("ProgrammingError", py.get_type::<ProgrammingError>()),
        ("NotSupportedError", py.get_type::<NotSupportedError>()),
        ("InternalError", py.get_type::<InternalError>()),
    ];
    for (name, class) in classes {
        connection.setattr(name, &class)?;
        m.add(name, class)?;
    }
    Ok(())
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
        "21" | "25" | "26" | "2B" | "34" | "3B" | "3D" | "3F" | "42" | "44" => {
            ProgrammingError::new_err(text)
        }
        "22" => DataError::new_err(text),
        "23" => IntegrityError::new_err(text),
        "XX" if state == "XX000" => InternalError::new_err(text),
        _ => OperationalError::new_err(text),
    };
    Python::attach(|py| {
        // Attributes are a convenience; without them the text still begins with the state.
        let value = exception.value(py);
        let _ = value.setattr("sqlstate", state);
        let fields = [
            error.detail(),
            error.hint(),
            error.table(),
            error.column(),
            error.constraint(),
        ];
        for (name, field) in FIELDS[1..].iter().zip(fields) {
            let _ = value.setattr(*name, field);
        }
    });
    exception
}

/// For a connection or cursor that was closed.
pub fn closed(what: &str) -> PyErr {
    InterfaceError::new_err(format!("the {what} is closed"))
}
