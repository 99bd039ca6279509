//! `array_agg`: the values of rows as an array.
//!
//! Rows are put together as texts are. Each value becomes a piece that says where it ends: a byte that tells NULL from a value, the
//! length of a string, the bytes; what was put together becomes an array when all is there. So groups, orders, frames and
//! distinct rows are those of `string_agg`.

use crate::aggregate::{Aggregated, plain, value_of};
use crate::arrays::stacked;
use crate::build::{case, is_null, is_null_constant};
use crate::ordered_set::key_of;
use crate::vector::{OnNull, Output, Row, rows};
use frazil_plan::{AggregateCall, AggregateFunction, AggregateKey, Expr};
use frazil_types::array;
use frazil_types::{Error, LogicalType, NativeType, Result, SqlState, Value};

/// Bytes of a string's length.
const LENGTH: usize = 4;

/// What a piece of NULL is.
const NULL: u8 = 0;
/// What a piece of a value begins with.
const VALUE: u8 = 1;

/// The call for values of a type, in an order.
pub(crate) fn array_agg(
    value: Expr,
    distinct: bool,
    order: Vec<AggregateKey>,
    filter: Option<Expr>,
) -> Aggregated {
    let ty = value.ty;
    let whole = ty.array().unwrap_or(ty);
    // A value that is a constant is put together for each row all the same.
    let mut piece = match is_null_constant(&value) {
        true => Expr::constant(Value::Bytes(vec![NULL]), LogicalType::Bytea),
        false => rows(
            "piece of an array",
            OnNull::Called,
            piece,
            vec![value],
            LogicalType::Bytea,
        ),
    };
    piece.nullable = false;
    let nothing = Expr::constant(Value::Bytes(Vec::new()), LogicalType::Bytea);
    let call = AggregateCall {
        second: Some(nothing),
        distinct,
        order,
        ..plain(
            AggregateFunction::StringAgg,
            Some(piece),
            LogicalType::Bytea,
            filter,
        )
    };
    let of_pieces = move |mut made: Vec<Expr>| {
        // Of what type the pieces are, a NULL of it says.
        let sample = crate::build::null(ty);
        rows(
            "array_agg",
            OnNull::Called,
            of_pieces,
            vec![made.remove(0), sample],
            whole,
        )
    };
    Aggregated {
        value: Some(Box::new(of_pieces)),
        ..Aggregated::one(call)
    }
}

/// The values of all rows as an array, in an order: the call, and what is made of its column, an array without elements if there are no
/// rows.
pub fn array_of_rows(
    value: Expr,
    keys: Vec<AggregateKey>,
) -> (AggregateCall, impl FnOnce(Expr) -> Result<Expr>) {
    let ty = value.ty;
    let keys = keys
        .into_iter()
        .map(|key| key_of(key.e, key.descending, key.nulls_first));
    let Aggregated { mut calls, value, .. } = array_agg(value, false, keys.collect(), None);
    let made = move |column: Expr| {
        let array = value_of(vec![column], value)?;
        let whole = array.ty;
        let empty = array::encode_list(&[], ty.element().unwrap_or(ty))?;
        let none = (is_null(array.clone()), Expr::constant(Value::Bytes(empty), whole));
        let mut all = case(vec![none], array);
        all.nullable = false;
        Ok(all)
    };
    (calls.remove(0), made)
}

fn piece(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.bytes(&[NULL]);
    }
    match row.ty(0).native() {
        NativeType::String => {
            let bytes = row.bytes(0);
            let mut piece = Vec::with_capacity(1 + LENGTH + bytes.len());
            piece.push(VALUE);
            piece.extend((bytes.len() as u32).to_le_bytes());
            piece.extend(bytes);
            out.bytes(&piece)
        }
        native => {
            let mut piece = [VALUE; 17];
            piece[1..].copy_from_slice(&row.value(0).to_wide().to_le_bytes());
            out.bytes(&piece[..1 + native.size()])
        }
    }
}

/// The value at the beginning of some pieces, and those behind it.
fn first<'a>(pieces: &'a [u8], ty: LogicalType) -> Option<(Value, &'a [u8])> {
    let (&is_value, rest) = pieces.split_first()?;
    if is_value == NULL {
        return Some((Value::Null, rest));
    }
    if ty.native() == NativeType::String {
        let (length, rest) = rest.split_first_chunk::<LENGTH>()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let value = match ty.is_binary() {
            true => Value::Bytes(bytes.to_owned()),
            false => Value::Text(String::from_utf8(bytes.to_owned()).ok()?),
        };
        return Some((value, rest));
    }
    let (bytes, rest) = rest.split_at_checked(ty.native().size())?;
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let wide = u128::from_le_bytes(wide);
    let value = Value::from_words([wide as u64, (wide >> u64::BITS) as u64], ty);
    Some((value, rest))
}

fn of_pieces(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let ty = row.ty(1);
    let (mut rest, mut values) = (row.bytes(0), Vec::new());
    while !rest.is_empty() {
        let (value, behind) =
            first(rest, ty).ok_or_else(|| Error::internal("a piece of an array ends early"))?;
        values.push(value);
        rest = behind;
    }
    let Some(element) = ty.element() else {
        return out.bytes(&array::encode_list(&values, ty)?);
    };
    if values.iter().any(Value::is_null) {
        return Err(Error::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            "cannot accumulate null arrays",
        ));
    }
    let is_empty = |value: &Value| {
        Ok::<_, Error>(array::ArrayRef::new(value.as_bytes().unwrap_or_default(), element)?.is_empty())
    };
    for value in &values {
        if is_empty(value)? {
            return Err(Error::new(
                SqlState::ARRAY_SUBSCRIPT_ERROR,
                "cannot accumulate empty arrays",
            ));
        }
    }
    let whole = stacked(values.into_iter(), element).map_err(|e| match e.state() {
        SqlState::ARRAY_SUBSCRIPT_ERROR => Error::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            "cannot accumulate arrays of different dimensionality",
        ),
        _ => e,
    })?;
    out.bytes(&whole)
}
