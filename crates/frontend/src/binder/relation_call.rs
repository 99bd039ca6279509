//! Calls that ask for a table or view by its name, which is looked for when the statement is bound.

use super::naming::find_relation;
use super::{Binder, missing_relation};
use crate::catalog_view::Relation;
use frazil_catalog::WrittenName;
use frazil_functions::{Operand, Unknown, UnknownKind};
use frazil_plan::ExprKind;
use frazil_types::{Error, Result, Span, SqlState, Value};

/// What such a call names.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    Relation,
    Column,
}

/// Functions, how many arguments stand from the relation's name to the end, and what they name.
const CALLS: &[(&str, usize, Named)] = &[
    ("pg_get_serial_sequence", 2, Named::Column),
    ("row_security_active", 1, Named::Relation),
];

/// The text that an operand is; `None` if rows or parameters make it.
pub(super) fn constant_text(x: &Operand) -> Option<&str> {
    match x {
        Operand::Unknown(Unknown {
            kind: UnknownKind::Literal(text),
            ..
        }) => Some(text),
        Operand::Typed(e) => match e.as_constant() {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        },
        Operand::Unknown(_) => None,
    }
}

pub(super) fn is_null(x: &Operand) -> bool {
    match x {
        Operand::Unknown(u) => u.kind == UnknownKind::Null,
        Operand::Typed(e) => e.kind == ExprKind::Constant(Value::Null),
    }
}

/// A name as the catalog keeps it.
pub(super) fn folded(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => text.to_lowercase(),
    }
}

/// A name, perhaps with its schema, as a text gives it.
pub(super) fn written_in(text: &str) -> WrittenName {
    let mut is_quoted = false;
    let dot = text.char_indices().find(|&(_, c)| {
        is_quoted ^= c == '"';
        c == '.' && !is_quoted
    });
    match dot {
        Some((at, _)) => WrittenName {
            schema: Some(folded(&text[..at])),
            name: folded(&text[at + 1..]),
        },
        None => WrittenName::unqualified(folded(text)),
    }
}

impl Binder<'_> {
    /// Looks for the relation that a call names, and checks the names of the call. Errors 42P01, 42703; 0A000 for a
    /// name that is not known before rows are read.
    pub(super) fn relation_call(
        &self,
        name: &str,
        arguments: &[Operand],
        span: Span,
    ) -> Result<Option<Operand>> {
        let Some(&(_, behind, named)) = CALLS.iter().find(|call| call.0 == name) else {
            return Ok(None);
        };
        let Some(at) = arguments.len().checked_sub(behind) else {
            return Ok(None);
        };
        if arguments[at..].iter().any(is_null) {
            return Ok(None);
        }
        let Some(text) = constant_text(&arguments[at]) else {
            if name == "pg_get_serial_sequence" {
                // Looked up when the row is there.
                return Ok(None);
            }
            let what = format!("{name} of a relation that is not named by a constant");
            return Err(Error::unsupported(what).at_span(span));
        };
        let relation = written_in(text);
        let path = self.catalog.path();
        let found = find_relation(self.catalog, path, &relation);
        let found =
            found.ok_or_else(|| missing_relation(self.catalog, &relation).at_span(arguments[at].span()))?;
        let found = found.1;
        if matches!(named, Named::Column)
            && let Some(column) = constant_text(&arguments[at + 1])
        {
            // A column of pg_get_serial_sequence is named as it is kept.
            let column = match name {
                "pg_get_serial_sequence" => column.to_string(),
                _ => folded(column),
            };
            let exists = match &found {
                Relation::Table(table) => table.schema.index_of(&column).is_some(),
                Relation::View(view) => view.schema.index_of(&column).is_some(),
            };
            if !exists {
                let message = format!("column \"{column}\" of relation \"{relation}\" does not exist");
                return Err(Error::new(SqlState::UNDEFINED_COLUMN, message).at_span(arguments[at + 1].span()));
            }
            if name == "pg_get_serial_sequence"
                && let Relation::Table(table) = &found
                && let Some(column) = table.schema.index_of(&column)
            {
                return Ok(Some(self.serial_sequence(table, column, span)));
            }
        }
        Ok(None)
    }
}
