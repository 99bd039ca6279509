//! Arrays of any type that is none: [`crate::array`] says how their values are held.

use super::{CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo};
use super::wire;
use crate::{Error, NativeType, SqlState, Value, array};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Array,
    oid: 2277,
    typname: "anyarray",
    name: "anyarray",
    typlen: -1,
    catalog: CatalogRow::base(
        "P",
        ["d", "x"],
        [(2296, "anyarray_in"), (2297, "anyarray_out"), (2502, "anyarray_recv"), (2503, "anyarray_send")],
    ).pseudo(),
    modifier: |ty| ty.element().map_or(-1, |element| (element.info().modifier)(element)),
    measures: |_| Measures::NOTHING,
    array_oid: 0,
    array_name: "",
    sql_names: &["anyarray"],
    category: Category::Array,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Key,
    constant: ConstantForm::Named,
    show: |ty, f| match ty.element() {
        Some(element) => write!(f, "{element}[]"),
        None => Err(fmt::Error),
    },
    // What it is an array of stands in no number.
    of_modifiers: |_| None,
    range: |_| None,
    overflow_state: SqlState::PROGRAM_LIMIT_EXCEEDED,
    overflow: |ty| Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("{ty} out of range")),
    read: |text, ty| match ty.element() {
        Some(element) => array::read(text, element).map(Value::Bytes),
        None => Err(Error::internal("an array without a type of its elements")),
    },
    write: |f, value, ty| {
        let (bytes, element) = value.as_bytes().zip(ty.element()).ok_or(fmt::Error)?;
        array::write(f, bytes, element)
    },
    send: wire::send_array,
    receive: wire::receive_array,
};
