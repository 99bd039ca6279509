//! text: strings of any length.

use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, number_overflow, show_plain, write_text};
use super::wire;
use crate::{LogicalType, NativeType, SqlState, Value};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Text,
    oid: 25,
    typname: "text",
    name: "text",
    typlen: -1,
    array_oid: 1009,
    array_name: "text[]",
    sql_names: &["text", "string"],
    category: Category::String,
    is_preferred: true,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    order: Order::Native,
    constant: ConstantForm::Quoted,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Text),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, _| Ok(Value::Text(text.to_owned())),
    write: write_text,
    send: wire::send_text,
    receive: wire::receive_text,
};
