//! decimal(p,s): exact numbers of up to 38 digits, held as integers at their scale.

use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, write_integer};
use super::wire;
use crate::decimal::{self, POWERS_OF_TEN};
use crate::logical_type::DECIMAL_MAX_DIGITS;
use crate::{Error, LogicalType, Result, SqlState, Value, value_ops};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Numeric,
    oid: 1700,
    typname: "numeric",
    name: "numeric",
    typlen: -1,
    array_oid: 1231,
    array_name: "numeric[]",
    sql_names: &["decimal", "numeric", "dec"],
    category: Category::Numeric,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |ty| ty.scale().map(LogicalType::widest_exact),
    native: NativeOf::Digits,
    counts: Counts::Nothing,
    document: None,
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

/// Precision and scale of a type of this kind.
fn digits(ty: LogicalType) -> (u8, u8) {
    match ty {
        LogicalType::Decimal { precision, scale } => (precision, scale),
        other => unreachable!("{other:?} as a decimal"),
    }
}

fn show(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (precision, scale) = digits(ty);
    write!(f, "decimal({precision},{scale})")
}

fn of_modifiers(modifiers: &[u32]) -> Option<LogicalType> {
    let &[precision, scale] = modifiers else { return None };
    let fits = (1..=u32::from(DECIMAL_MAX_DIGITS)).contains(&precision) && scale <= precision;
    fits.then_some(LogicalType::Decimal {
        precision: precision as u8,
        scale: scale as u8,
    })
}

fn range(ty: LogicalType) -> Option<(i128, i128)> {
    let max = POWERS_OF_TEN[usize::from(digits(ty).0)] - 1;
    Some((-max, max))
}

fn overflow(ty: LogicalType) -> Error {
    let (precision, scale) = digits(ty);
    decimal::overflow(precision, scale)
}

fn read(text: &str, ty: LogicalType) -> Result<Value> {
    let (precision, scale) = digits(ty);
    decimal::parse(value_ops::trimmed(text), precision, scale).map(Value::Int)
}

fn write(f: &mut dyn fmt::Write, value: &Value, ty: LogicalType) -> fmt::Result {
    write_integer(value, |v| decimal::write(f, v, digits(ty).1))
}
