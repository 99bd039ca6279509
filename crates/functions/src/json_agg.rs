//! `json_agg`, `json_object_agg` and their like of jsonb: each row's value is written as JSON, and put together as
//! texts are by `string_agg`; what was put together becomes a document when all is there.

use crate::aggregate::{Aggregated, concatenated};
use crate::build::TEXT;
use crate::json::{LINE, bytes_of_text, push_json, push_key, refuse_records};
use crate::vector::{OnNull, Output, Row, RowFn, invalid_parameter, rows};
use frazil_plan::{AggregateCall, AggregateKey, Expr};
use frazil_types::{Error, LogicalType, Result, SqlState, Value};

/// The call for values as an array, or for keys and values as an object, that is a `ty`; of distinct rows, in an
/// order, with a filter. Error 42883 for distinct values of a type without equality.
pub(crate) fn json_agg(
    values: Vec<Expr>,
    (distinct, order, filter): (bool, Vec<AggregateKey>, Option<Expr>),
    ty: LogicalType,
) -> Result<Aggregated> {
    if let Some(value) = values.iter().find(|value| distinct && !value.ty.is_comparable()) {
        let message = format!(
            "could not identify an equality operator for type {}",
            value.ty.name()
        );
        return Err(Error::new(SqlState::UNDEFINED_FUNCTION, message));
    }
    refuse_records(&values)?;
    let (piece, whole): (RowFn, RowFn) = match values.len() {
        1 => (element, array),
        _ => (member, object),
    };
    let mut piece = rows("piece of JSON", OnNull::Called, piece, values, TEXT);
    piece.nullable = false;
    let between = Expr::constant(Value::Text(", ".to_owned()), TEXT);
    let call = AggregateCall {
        distinct,
        order,
        ..concatenated(piece, between, filter)
    };
    let of_pieces = move |made: Vec<Expr>| rows("json_agg", OnNull::Null, whole, made, ty);
    Ok(Aggregated {
        value: Some(Box::new(of_pieces)),
        ..Aggregated::one(call)
    })
}

fn element(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let mut text = String::new();
    // Arrays begin lines, as in PostgreSQL.
    if row.ty(0).element().is_some() && !row.is_null(0) {
        text.push_str(LINE);
    }
    push_json(&mut text, &row.value(0), row.ty(0))?;
    out.text(&text)
}

fn member(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return Err(invalid_parameter("field name must not be null"));
    }
    let mut text = String::new();
    push_key(&mut text, &row.value(0), row.ty(0))?;
    text.push_str(" : ");
    push_json(&mut text, &row.value(1), row.ty(1))?;
    out.text(&text)
}

fn array(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let ty = out.ty();
    // The first one stands behind the bracket.
    let elements = row.text(0);
    let elements = elements.strip_prefix(LINE).unwrap_or(elements);
    out.bytes(&bytes_of_text(format!("[{elements}]"), ty)?)
}

fn object(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let ty = out.ty();
    out.bytes(&bytes_of_text(format!("{{ {} }}", row.text(0)), ty)?)
}
