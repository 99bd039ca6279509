//! boolean.

use super::{Category, ConstantForm, Kind, NativeOf, Order, TypeInfo, number_overflow, show_plain};
use crate::{LogicalType, NativeType, SqlState, Value, value_ops};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Boolean,
    oid: 16,
    typname: "bool",
    name: "boolean",
    array_oid: 1000,
    array_name: "boolean[]",
    sql_names: &["boolean", "bool"],
    category: Category::Boolean,
    is_preferred: true,
    is_stored: true,
    has_extremes: false,
    native: NativeOf::Always(NativeType::Bool),
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Boolean),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, _| value_ops::read_boolean(text).map(Value::Bool),
    write,
};

/// One letter, as results show it; a cast to text spells the word out.
fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let Value::Bool(b) = value else {
        return Err(fmt::Error);
    };
    f.write_str(if *b { "t" } else { "f" })
}
