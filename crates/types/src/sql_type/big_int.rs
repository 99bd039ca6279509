//! bigint: 64 bits.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    range, show_plain, write_integer,
};
use super::wire;
use crate::{LogicalType, NativeType, SqlState, Value, value_ops};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::BigInt,
    oid: 20,
    typname: "int8",
    name: "bigint",
    typlen: 8,
    catalog: CatalogRow::base(
        "N",
        ["d", "p"],
        [(460, "int8in"), (461, "int8out"), (2408, "int8recv"), (2409, "int8send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::integer(64),
    array_oid: 1016,
    array_name: "bigint[]",
    sql_names: &["bigint", "int8"],
    category: Category::Numeric,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| Some(LogicalType::widest_exact(0)),
    native: NativeOf::Always(NativeType::I64),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::BigInt),
    range: |_| range(i64::MIN as i128, i64::MAX as i128),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| value_ops::read_integer(text, ty).map(|v| Value::Int(v.into())),
    write: |f, value, _| write_integer(value, |v| write!(f, "{v}")),
    send: wire::send_i64,
    receive: wire::receive_i64,
};
