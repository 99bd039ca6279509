//! smallint: 16 bits.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    range, show_plain, write_integer,
};
use super::wire;
use crate::{LogicalType, NativeType, SqlState, Value, value_ops};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::SmallInt,
    oid: 21,
    typname: "int2",
    name: "smallint",
    typlen: 2,
    catalog: CatalogRow::base(
        "N",
        ["s", "p"],
        [(38, "int2in"), (39, "int2out"), (2404, "int2recv"), (2405, "int2send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::integer(16),
    array_oid: 1005,
    array_name: "smallint[]",
    sql_names: &["smallint", "int2"],
    category: Category::Numeric,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| Some(LogicalType::BigInt),
    native: NativeOf::Always(NativeType::I16),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::SmallInt),
    range: |_| range(i16::MIN as i128, i16::MAX as i128),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| value_ops::read_integer(text, ty).map(|v| Value::Int(v.into())),
    write: |f, value, _| write_integer(value, |v| write!(f, "{v}")),
    send: wire::send_i16,
    receive: wire::receive_i16,
};
