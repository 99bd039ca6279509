//! regtype: the oid of a type, shown by its name; see [`named_oid`](super::named_oid).

use super::named_oid::{read, write};
use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, number_overflow, show_plain};
use super::wire;
use crate::{LogicalType, NativeType, SqlState};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regtype,
    oid: 2206,
    typname: "regtype",
    name: "regtype",
    typlen: 4,
    array_oid: 2211,
    array_name: "regtype[]",
    sql_names: &["regtype"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: false,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    order: Order::Key,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regtype),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read,
    write,
    send: wire::send_named_oid,
    receive: wire::receive_nothing,
};
