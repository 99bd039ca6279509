//! cid: the number of a command, 32 bits without a sign.

use super::oid::read_unsigned;
use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    range, show_plain, wire, write_integer,
};
use crate::{LogicalType, NativeType, SqlState, Value};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Cid,
    oid: 29,
    typname: "cid",
    name: "cid",
    typlen: 4,
    catalog: CatalogRow::base(
        "U",
        ["i", "p"],
        [(52, "cidin"), (53, "cidout"), (2442, "cidrecv"), (2443, "cidsend")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 1012,
    array_name: "cid[]",
    sql_names: &["cid"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::I64),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Cid),
    range: |_| range(0, u32::MAX as i128),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| read_unsigned(text, ty).map(|number| Value::Int(number.into())),
    write: |f, value, _| write_integer(value, |v| write!(f, "{v}")),
    send: wire::send_oid,
    receive: wire::receive_oid,
};
