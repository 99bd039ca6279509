//! regnamespace: the oid of a schema, shown by its name; see [`named_oid`](super::named_oid).

use super::named_oid::{read, write};
use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, number_overflow, show_plain};
use super::wire;
use crate::{LogicalType, NativeType, SqlState};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regnamespace,
    oid: 4089,
    typname: "regnamespace",
    name: "regnamespace",
    typlen: 4,
    array_oid: 4090,
    array_name: "regnamespace[]",
    sql_names: &["regnamespace"],
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
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regnamespace),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read,
    write,
    send: wire::send_named_oid,
    receive: wire::receive_nothing,
};
