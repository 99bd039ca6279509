//! integer: 32 bits.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    range, show_plain, write_integer,
};
use super::wire;
use crate::{LogicalType, NativeType, SqlState, Value, value_ops};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Integer,
    oid: 23,
    typname: "int4",
    name: "integer",
    typlen: 4,
    catalog: CatalogRow::base(
        "N",
        ["i", "p"],
        [(42, "int4in"), (43, "int4out"), (2406, "int4recv"), (2407, "int4send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::integer(32),
    array_oid: 1007,
    array_name: "integer[]",
    sql_names: &["integer", "int", "int4"],
    category: Category::Numeric,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| Some(LogicalType::BigInt),
    native: NativeOf::Always(NativeType::I32),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Integer),
    range: |_| range(i32::MIN as i128, i32::MAX as i128),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| value_ops::read_integer(text, ty).map(|v| Value::Int(v.into())),
    write: |f, value, _| write_integer(value, |v| write!(f, "{v}")),
    send: wire::send_i32,
    receive: wire::receive_i32,
};
