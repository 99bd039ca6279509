//! double precision: IEEE 754, 64 bits.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, show_plain,
};
use super::wire;
use crate::value::write_double;
use crate::value_ops::{invalid, is_lost, trimmed};
use crate::{Error, LogicalType, NativeType, Result, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Double,
    oid: 701,
    typname: "float8",
    name: "double precision",
    typlen: 8,
    catalog: CatalogRow::base(
        "N",
        ["d", "p"],
        [(214, "float8in"), (215, "float8out"), (2426, "float8recv"), (2427, "float8send")],
    ).preferred(),
    modifier: |_| -1,
    measures: |_| Measures::float(53),
    array_oid: 1022,
    array_name: "double precision[]",
    sql_names: &["double precision", "double", "float8", "float64", "float"],
    category: Category::Numeric,
    is_preferred: true,
    is_stored: true,
    has_extremes: true,
    sum: Some,
    native: NativeOf::Always(NativeType::F64),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Double),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: |_| Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "value out of range: overflow"),
    read: |text, _| read_double(text).map(Value::Double),
    write,
    send: wire::send_double,
    receive: wire::receive_double,
};

fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let Value::Double(v) = value else {
        return Err(fmt::Error);
    };
    write_double(f, *v)
}

/// Reads a double. Errors 22P02; 22003 for numbers that a double holds only as infinity or 0.
pub fn read_double(text: &str) -> Result<f64> {
    let word = trimmed(text);
    let value: f64 = word.parse().map_err(|_| invalid(LogicalType::Double, text))?;
    if is_lost(word, value) {
        let message = format!("\"{text}\" is out of range for type double precision");
        return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
    }
    Ok(value)
}
