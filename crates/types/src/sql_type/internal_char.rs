//! "char": one byte, which `pg_catalog` has for codes such as `relkind`. It has nothing in common with char(1).

use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, number_overflow, show_plain, write_text};
use super::wire;
use crate::value_ops::{CastLength, to_string_type};
use crate::{LogicalType, NativeType, SqlState};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::InternalChar,
    oid: 18,
    typname: "char",
    name: "\"char\"",
    typlen: 1,
    array_oid: 1002,
    array_name: "\"char\"[]",
    sql_names: &["\"char\""],
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
    of_modifiers: |m| m.is_empty().then_some(LogicalType::InternalChar),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| to_string_type(text, ty, CastLength::Cut),
    write: write_text,
    send: wire::send_text,
    receive: wire::receive_text,
};
