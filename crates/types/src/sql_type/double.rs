//! double precision: IEEE 754, 64 bits.

use super::{Category, ConstantForm, Kind, NativeOf, Order, TypeInfo, show_plain};
use crate::value::write_double;
use crate::{Error, LogicalType, NativeType, SqlState, Value, value_ops};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Double,
    oid: 701,
    typname: "float8",
    name: "double precision",
    array_oid: 1022,
    array_name: "double precision[]",
    sql_names: &["double precision", "double", "float8", "float64", "float"],
    category: Category::Numeric,
    is_preferred: true,
    is_stored: true,
    has_extremes: true,
    native: NativeOf::Always(NativeType::F64),
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Double),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: |_| Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "value out of range: overflow"),
    read: |text, _| value_ops::read_double(text).map(Value::Double),
    write,
};

fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let Value::Double(v) = value else {
        return Err(fmt::Error);
    };
    write_double(f, *v)
}
