//! Exact numbers of up to 38 digits: decimal(p,s), held as integers at their scale, and numeric, whose values have
//! their own ([`crate::numeric`]).

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, write_integer,
};
use super::info::HEADER;
use super::wire;
use crate::decimal::{self, POWERS_OF_TEN};
use crate::logical_type::DECIMAL_MAX_DIGITS;
use crate::numeric::{self, Numeric};
use crate::{Error, LogicalType, Result, SqlState, Value, value_ops};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Numeric,
    oid: 1700,
    typname: "numeric",
    name: "numeric",
    typlen: -1,
    catalog: CatalogRow::base(
        "N",
        ["i", "m"],
        [(1701, "numeric_in"), (1702, "numeric_out"), (2460, "numeric_recv"), (2461, "numeric_send")],
    )
    .modified([(2917, "numerictypmodin"), (2918, "numerictypmodout")]),
    modifier,
    measures,
    array_oid: 1231,
    array_name: "numeric[]",
    sql_names: &["decimal", "numeric", "dec"],
    category: Category::Numeric,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |ty| Some(ty.scale().map_or(ty, LogicalType::widest_exact)),
    native: NativeOf::Digits,
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Bare,
    show,
    of_modifiers,
    range,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow,
    read,
    write,
    send: wire::send_numeric,
    receive: wire::receive_numeric,
};

/// The digits in the upper half, the scale in the lower one, and the header.
fn modifier(ty: LogicalType) -> i32 {
    let digits = ty.decimal_digits();
    digits.map_or(-1, |(precision, scale)| (i32::from(precision) << 16 | i32::from(scale)) + HEADER)
}

fn measures(ty: LogicalType) -> Measures {
    let (precision, scale) = ty.decimal_digits().unzip();
    Measures {
        precision: precision.map(u32::from),
        radix: Some(10),
        scale: scale.map(u32::from),
        ..Measures::NOTHING
    }
}

fn show(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match ty.decimal_digits() {
        Some((precision, scale)) => write!(f, "decimal({precision},{scale})"),
        None => f.write_str("numeric"),
    }
}

fn of_modifiers(modifiers: &[u32]) -> Option<LogicalType> {
    if modifiers.is_empty() {
        return Some(LogicalType::Numeric);
    }
    let &[precision, scale] = modifiers else { return None };
    let fits = (1..=u32::from(DECIMAL_MAX_DIGITS)).contains(&precision) && scale <= precision;
    fits.then_some(LogicalType::Decimal {
        precision: precision as u8,
        scale: scale as u8,
    })
}

fn range(ty: LogicalType) -> Option<(i128, i128)> {
    let (precision, _) = ty.decimal_digits()?;
    let max = POWERS_OF_TEN[usize::from(precision)] - 1;
    Some((-max, max))
}

fn overflow(ty: LogicalType) -> Error {
    let digits = ty.decimal_digits();
    digits.map_or_else(numeric::overflow, |(precision, scale)| decimal::overflow(precision, scale))
}

fn read(text: &str, ty: LogicalType) -> Result<Value> {
    match ty.decimal_digits() {
        Some((precision, scale)) => decimal::parse(value_ops::trimmed(text), precision, scale).map(Value::Int),
        None => Numeric::read(text).map(Value::from),
    }
}

fn write(f: &mut dyn fmt::Write, value: &Value, ty: LogicalType) -> fmt::Result {
    match ty.decimal_digits() {
        Some((_, scale)) => write_integer(value, |v| decimal::write(f, v, scale)),
        None => {
            let number = value.as_bytes().and_then(|bytes| Numeric::of_bytes(bytes).ok());
            write!(f, "{}", number.ok_or(fmt::Error)?)
        }
    }
}
