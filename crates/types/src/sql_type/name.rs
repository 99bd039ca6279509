//! name: the name of an object, a text that is cut to 63 bytes.

use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, number_overflow, show_plain, write_text};
use super::wire;
use crate::value_ops::{CastLength, to_string_type};
use crate::{LogicalType, NativeType, SqlState};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Name,
    oid: 19,
    typname: "name",
    name: "name",
    typlen: 64,
    array_oid: 1003,
    array_name: "name[]",
    sql_names: &["name"],
    category: Category::String,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    order: Order::Native,
    constant: ConstantForm::Quoted,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Name),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| to_string_type(text, ty, CastLength::Cut),
    write: write_text,
    send: wire::send_text,
    receive: wire::receive_text,
};
