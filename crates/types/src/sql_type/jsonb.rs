//! jsonb: JSON in the binary form that [`crate::json`] describes, held as bytes.

use super::{
    CatalogRow, Category, ConstantForm, Counts, DocumentForm, Kind, Measures, NativeOf, Order, SentText, TypeInfo,
    number_overflow, show_plain,
};
use super::wire;
use crate::{LogicalType, NativeType, SqlState, Value, json};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Jsonb,
    oid: 3802,
    typname: "jsonb",
    name: "jsonb",
    typlen: -1,
    catalog: CatalogRow::base(
        "U",
        ["i", "x"],
        [(3806, "jsonb_in"), (3804, "jsonb_out"), (3805, "jsonb_recv"), (3803, "jsonb_send")],
    )
    .subscripted((6098, "jsonb_subscript_handler"), 0),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 3807,
    array_name: "jsonb[]",
    sql_names: &["jsonb"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: Some(DocumentForm::Binary),
    sent_text: Some(SentText::Versioned),
    order: Order::Key,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Jsonb),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, _| json::binary_of_text(text).map(Value::Bytes),
    write: |f, value, _| json::write_compact(f, value.as_bytes().ok_or(fmt::Error)?),
    send: wire::send_document,
    receive: wire::receive_document,
};
