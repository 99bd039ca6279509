//! Calls that ask for a table or view by its name, which is looked for when the statement is bound.

use super::{Binder, missing_relation};
use crate::catalog_view::Relation;
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
    ("has_any_column_privilege", 2, Named::Relation),
    ("has_column_privilege", 3, Named::Column),
    ("has_table_privilege", 2, Named::Relation),
    ("pg_get_serial_sequence", 2, Named::Column),
    ("row_security_active", 1, Named::Relation),
    ("to_regclass", 1, Named::Relation),
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

fn is_null(x: &Operand) -> bool {
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

/// A name without its schema; there is one.
pub(super) fn in_schema(text: &str) -> &str {
    let text = text.trim();
    let within = ["public.", "main."]
        .iter()
        .find_map(|schema| text.strip_prefix(schema));
    within.unwrap_or(text)
}

impl Binder<'_> {
    /// Looks for the relation that a call names: gives what `to_regclass` answers, and checks the names of other calls.
    /// Errors 42P01,
    /// 42703; 0A000 for a name that is not known before rows are read.
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
            let what = format!("{name} of a relation that is not named by a constant");
            return Err(Error::unsupported(what).at_span(span));
        };
        let relation = folded(in_schema(text));
        let found = self.catalog.relation(&relation);
        if name == "to_regclass" {
            return Ok(Some(match found {
                Some(_) => Operand::literal(relation, span),
                None => Operand::null(span),
            }));
        }
        let found =
            found.ok_or_else(|| missing_relation(self.catalog, &relation).at_span(arguments[at].span()))?;
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
        }
        Ok(None)
    }
}
