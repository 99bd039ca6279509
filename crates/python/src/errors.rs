//! Exceptions: the classes of PEP 249, each with the SQLSTATE in `sqlstate`, and `detail`, `hint`, `position`,
//! `table`, `column` and `constraint`, which are None if the error has none.

use crate::markers::Marked;
use frazil::sql_text::pointer;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyWarning};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::CString;

create_exception!(
    frazil,
    Warning,
    PyWarning,
    "Something to know, such as a table that cannot be read. Statements put theirs into the cursor's messages."
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

/// Attributes of errors.
const FIELDS: [&str; 7] = [
    "sqlstate",
    "position",
    "detail",
    "hint",
    "table",
    "column",
    "constraint",
];

/// The text of a statement, as its errors speak of it.
#[derive(Clone, Copy, Default)]
pub struct Text<'a> {
    given: &'a str,
    marked: Option<&'a Marked>,
}

impl<'a> Text<'a> {
    /// A text as the user gave it, and as it was rewritten for the engine.
    pub fn new(given: &'a str, marked: Option<&'a Marked>) -> Text<'a> {
        Text { given, marked }
    }

    /// An error's position in the text that the user gave. `None` if the error or the text has none.
    fn position(&self, error: &frazil::Error) -> Option<usize> {
        let position = error.position().filter(|_| !self.given.is_empty())?;
        Some(match self.marked {
            Some(marked) => marked.given_position(self.given, position),
            None => position,
        })
    }
}

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

/// The exception of an error that has no place in a text.
pub fn raise(error: frazil::Error) -> PyErr {
    raise_in(error, Text::default())
}

/// The exception of an error of a statement.
pub fn raise_in(error: frazil::Error, of: Text<'_>) -> PyErr {
    let state = error.state().0;
    let mut text = format!("{state}: {}", error.message());
    let position = of.position(&error);
    if let Some(position) = position {
        text.push_str(&format!("\n{}", pointer(of.given, position)));
    }
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
        let _ = value.setattr("position", position);
        let fields = [
            error.detail(),
            error.hint(),
            error.table(),
            error.column(),
            error.constraint(),
        ];
        for (name, field) in FIELDS[2..].iter().zip(fields) {
            let _ = value.setattr(*name, field);
        }
    });
    exception
}

/// Warns the caller of the module's function, by Python's module `warnings`. The exception that a filter makes of it.
pub fn warn(py: Python<'_>, error: &frazil::Error) -> PyResult<()> {
    let text = raise(error.clone()).value(py).to_string();
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<Warning>(), &text, 1)
}

/// For a connection or cursor that was closed.
pub fn closed(what: &str) -> PyErr {
    InterfaceError::new_err(format!("the {what} is closed"))
}
