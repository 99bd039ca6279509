//! Operator classes and collations of index keys, and options of indexes. Every index orders its keys as `ORDER BY`
//! does, texts by their bytes, so that the classes and collations that mean this order are taken and not kept.

use super::{Binder, error, fold};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{BinaryOperator, Expr as SqlExpr, ObjectName, Value as SqlValue};

/// PostgreSQL's operator classes of B-trees that order as Frazil does, with the names of their types in `pg_type`.
/// An empty list: see [`takes`].
const CLASSES: [(&str, &[&str]); 27] = [
    ("array_ops", &[]),
    ("bool_ops", &["bool"]),
    ("bpchar_ops", &["bpchar"]),
    ("bpchar_pattern_ops", &["bpchar"]),
    ("bytea_ops", &["bytea"]),
    ("char_ops", &["char"]),
    ("date_ops", &["date"]),
    ("enum_ops", &[]),
    ("float4_ops", &["float4"]),
    ("float8_ops", &["float8"]),
    ("int2_ops", &["int2"]),
    ("int4_ops", &["int4"]),
    ("int8_ops", &["int8"]),
    ("interval_ops", &["interval"]),
    ("jsonb_ops", &["jsonb"]),
    ("name_ops", &["name"]),
    ("numeric_ops", &["numeric"]),
    (
        "oid_ops",
        &[
            "oid",
            "regclass",
            "regtype",
            "regnamespace",
            "regproc",
            "regprocedure",
            "regoperator",
        ],
    ),
    ("record_ops", &["record"]),
    ("text_ops", &["text", "varchar"]),
    ("text_pattern_ops", &["text", "varchar"]),
    ("time_ops", &["time"]),
    ("timestamp_ops", &["timestamp"]),
    ("timestamptz_ops", &["timestamptz"]),
    ("uuid_ops", &["uuid"]),
    ("varchar_ops", &["text", "varchar"]),
    ("varchar_pattern_ops", &["text", "varchar"]),
];

/// True if values of a type can be keys of an operator class.
fn takes(class: &str, types: &[&str], ty: LogicalType) -> bool {
    match class {
        "array_ops" => ty.element().is_some(),
        "enum_ops" => ty.enumeration().is_some(),
        _ => ty.element().is_none() && types.contains(&ty.info().typname),
    }
}

/// Checks the operator class of a key. 42704 for one that does not exist, 42804 for one of another type.
pub(super) fn check_class(binder: &Binder, class: &ObjectName, ty: LogicalType) -> Result<()> {
    match takes_type(binder, class, ty)? {
        true => Ok(()),
        false => {
            let name = class
                .0
                .last()
                .and_then(|part| part.as_ident())
                .map(fold)
                .unwrap_or_default();
            let message = format!(
                "operator class \"{name}\" does not accept data type {}",
                ty.name()
            );
            Err(error(
                SqlState::DATATYPE_MISMATCH,
                message,
                binder.name_span(class),
            ))
        }
    }
}

/// True if an operator class is one of a type. 42704 for a class that does not exist.
pub(super) fn takes_type(binder: &Binder, class: &ObjectName, ty: LogicalType) -> Result<bool> {
    let parts: Option<Vec<String>> = class.0.iter().map(|part| part.as_ident().map(fold)).collect();
    let name = match parts.as_deref() {
        Some([name]) => name,
        Some([schema, name]) if schema == frazil_catalog::SYSTEM_SCHEMA => name,
        _ => &class.to_string(),
    };
    let span = binder.name_span(class);
    let Some((known, types)) = CLASSES.iter().find(|(known, _)| known == name) else {
        let message = format!("operator class \"{name}\" does not exist for access method \"btree\"");
        return Err(error(SqlState::UNDEFINED_OBJECT, message, span));
    };
    Ok(takes(known, types, ty))
}

/// Checks the options of WITH, which have no effect. 22023 for an unknown one and for a value that it does not take.
pub(super) fn check_options(options: &[SqlExpr]) -> Result<()> {
    for option in options {
        let (name, value) = match option {
            SqlExpr::BinaryOp {
                left,
                op: BinaryOperator::Eq,
                right,
            } => (&**left, Some(text_of(right)?)),
            name => (name, None),
        };
        let SqlExpr::Identifier(name) = name else {
            return Err(Error::unsupported(format!("the index option {option}")));
        };
        check_option(&fold(name), value.as_deref().unwrap_or("true"))?;
    }
    Ok(())
}

/// The value of an option as text.
fn text_of(value: &SqlExpr) -> Result<String> {
    match value {
        SqlExpr::Value(value) => match &value.value {
            SqlValue::Number(text, _) | SqlValue::SingleQuotedString(text) => Ok(text.clone()),
            SqlValue::Boolean(truth) => Ok(truth.to_string()),
            other => Err(Error::unsupported(format!("the option value {other}"))),
        },
        SqlExpr::Identifier(word) => Ok(fold(word)),
        other => Err(Error::unsupported(format!("the option value {other}"))),
    }
}

fn check_option(name: &str, value: &str) -> Result<()> {
    let invalid = |message: String| Err(Error::new(SqlState::INVALID_PARAMETER, message));
    match name {
        "fillfactor" => match value.trim().parse::<i64>() {
            Ok(10..=100) => Ok(()),
            Ok(given) => {
                let error = invalid(format!("value {given} out of bounds for option \"{name}\""));
                error.map_err(|e| e.with_detail("Valid values are between \"10\" and \"100\"."))
            }
            Err(_) => invalid(format!("invalid value for integer option \"{name}\": {value}")),
        },
        "deduplicate_items" => {
            match ["on", "off", "true", "false", "yes", "no", "1", "0"]
                .contains(&value.to_lowercase().as_str())
            {
                true => Ok(()),
                false => invalid(format!("invalid value for boolean option \"{name}\": {value}")),
            }
        }
        _ => invalid(format!("unrecognized parameter \"{name}\"")),
    }
}

/// Refuses a key of a type whose values have no order: without one, the type has no default class. 42704.
pub(super) fn must_compare(ty: LogicalType, span: Span) -> Result<()> {
    if ty.is_comparable() {
        return Ok(());
    }
    let message = format!(
        "data type {} has no default operator class for access method \"btree\"",
        ty.name()
    );
    Err(error(SqlState::UNDEFINED_OBJECT, message, span).with_hint("jsonb has an order"))
}
