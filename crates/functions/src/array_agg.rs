//! `array_agg`: the values of rows as an array.
//!
//! Groups keep the values and write the array when all are there. Over the frames of a window, and of arrays, rows
//! are put together as texts are: each value becomes a piece that says where it ends (a byte that tells NULL from a
//! value, the length of a string, the bytes), and what was put together becomes an array. So frames share their
//! bytes, as those of `string_agg` do.

use crate::aggregate::{Aggregated, concatenated, plain, sum_type, value_of};
use crate::arithmetic;
use crate::arrays::stacked;
use crate::build::{case, is_null, is_null_constant};
use crate::ordered_set::key_of;
use crate::vector::{OnNull, Output, Row, rows};
use frazil_plan::{AggregateCall, AggregateFunction, AggregateKey, Expr};
use frazil_types::array::{self, ArrayBuilder};
use frazil_types::value_ops::ArithmeticOp;
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
    let Some(whole) = value.ty.array().filter(|_| value.ty.element().is_none()) else {
        return array_of_pieces(value, distinct, order, filter);
    };
    let mut order = order;
    if distinct {
        // Equal rows are neighbours in the order of the values.
        let key = key_of(value.clone(), false, false);
        if !order.iter().any(|known| known.e == key.e) {
            order.push(key);
        }
    }
    Aggregated::one(AggregateCall {
        distinct,
        order,
        ..plain(AggregateFunction::ArrayAgg, Some(value), whole, filter)
    })
}

/// The same where frames of rows are put together: their bytes are shared. An average of exact numbers is a quotient of
/// a sum and a count.
pub fn over_frames(aggregated: Aggregated) -> Aggregated {
    let [call] = &aggregated.calls[..] else {
        return aggregated;
    };
    let Some(value) = call.argument.clone() else {
        return aggregated;
    };
    if call.function == AggregateFunction::ArrayAgg {
        return array_of_pieces(value, call.distinct, call.order.clone(), call.filter.clone());
    }
    if call.function == AggregateFunction::Avg && value.ty.kind().is_exact() {
        return average_of_parts(call, value);
    }
    aggregated
}

/// The average of `value`, which `call` computes, as the quotient of two aggregates.
fn average_of_parts(call: &AggregateCall, value: Expr) -> Aggregated {
    let sum = call.as_sum(sum_type(value.ty));
    let count = AggregateCall {
        distinct: call.distinct,
        filter: call.filter.clone(),
        ..AggregateCall::count(Some(value))
    };
    let quotient = |mut made: Vec<Expr>| {
        let (count, sum) = (made.pop(), made.pop());
        match (sum, count) {
            (Some(sum), Some(count)) => arithmetic::numeric(ArithmeticOp::Div, sum, count),
            _ => unreachable!("an average without its two parts"),
        }
    };
    Aggregated {
        calls: vec![sum, count],
        value: Some(Box::new(quotient)),
        grouped: Vec::new(),
    }
}

/// The call that puts pieces together, and the array that is made of them.
fn array_of_pieces(
    value: Expr,
    distinct: bool,
    order: Vec<AggregateKey>,
    filter: Option<Expr>,
) -> Aggregated {
    let ty = value.ty;
    let whole = ty.array().unwrap_or(ty);
    // A value that is a constant is put together for each row all the same.
    let nothing = Expr::literal(Value::Bytes(Vec::new()));
    let bytes = nothing.ty;
    let mut piece = match is_null_constant(&value) {
        true => Expr::literal(Value::Bytes(vec![NULL])),
        false => rows("piece of an array", OnNull::Called, piece, vec![value], bytes),
    };
    piece.nullable = false;
    let call = AggregateCall {
        distinct,
        order,
        ..concatenated(piece, nothing, filter)
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

/// The values of all rows as an array, in an order: the call, and what is made of its column, an array without
/// elements if there are no rows.
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
        NativeType::I16 | NativeType::I32 | NativeType::I64 => {
            let mut piece = [VALUE; 9];
            piece[1..].copy_from_slice(&row.int(0).to_le_bytes());
            out.bytes(&piece[..1 + row.ty(0).native().size()])
        }
        native => {
            let mut piece = [VALUE; 17];
            piece[1..].copy_from_slice(&row.value(0).to_wide().to_le_bytes());
            out.bytes(&piece[..1 + native.size()])
        }
    }
}

/// The bytes of the value at the beginning of some pieces, `None` of NULL, and the pieces behind it.
fn first(pieces: &[u8], ty: LogicalType) -> Option<(Option<&[u8]>, &[u8])> {
    let (&is_value, rest) = pieces.split_first()?;
    if is_value == NULL {
        return Some((None, rest));
    }
    let (length, rest) = match ty.native() {
        NativeType::String => {
            let (length, rest) = rest.split_first_chunk::<LENGTH>()?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        native => (native.size(), rest),
    };
    let (bytes, rest) = rest.split_at_checked(length)?;
    Some((Some(bytes), rest))
}

fn of_pieces(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let ty = row.ty(1);
    let (mut rest, mut arrays, mut list) = (row.bytes(0), Vec::new(), ArrayBuilder::new(ty.native()));
    while !rest.is_empty() {
        let (bytes, behind) =
            first(rest, ty).ok_or_else(|| Error::internal("a piece of an array ends early"))?;
        match ty.element() {
            None => list.push(bytes)?,
            Some(_) => arrays.push(bytes.map_or(Value::Null, |bytes| Value::Bytes(bytes.to_owned()))),
        }
        rest = behind;
    }
    match ty.element() {
        None => out.bytes(&list.finish()),
        Some(element) => out.bytes(&accumulated(arrays, element)?),
    }
}

/// The array of arrays that were put together. Errors 22004, 2202E.
fn accumulated(values: Vec<Value>, element: LogicalType) -> Result<Vec<u8>> {
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
    stacked(values.into_iter(), element).map_err(|e| match e.state() {
        SqlState::ARRAY_SUBSCRIPT_ERROR => Error::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            "cannot accumulate arrays of different dimensionality",
        ),
        _ => e,
    })
}
