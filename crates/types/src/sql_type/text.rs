//! text: strings of any length.

use super::{
    CatalogRow, Category, ConstantForm, Counts, DEFAULT_COLLATION, Kind, Measures, NativeOf, Order, SentText, TypeInfo,
    number_overflow, show_plain, write_text,
};
use super::wire;
use crate::{LogicalType, NativeType, SqlState, Value};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Text,
    oid: 25,
    typname: "text",
    name: "text",
    typlen: -1,
    catalog: CatalogRow::base(
        "S",
        ["i", "x"],
        [(46, "textin"), (47, "textout"), (2414, "textrecv"), (2415, "textsend")],
    ).preferred()
    .collated(DEFAULT_COLLATION),
    modifier: |_| -1,
    measures: |_| Measures::text(None),
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
    sent_text: Some(SentText::Whole),
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
