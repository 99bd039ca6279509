//! regclass: the oid of a table, view, index or sequence, shown by its name; see [`named_oid`](super::named_oid).

use super::object_reference::{FORM, row};
use super::{Kind, TypeInfo};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regclass,
    oid: 2205,
    typname: "regclass",
    name: "regclass",
    array_oid: 2210,
    array_name: "regclass[]",
    sql_names: &["regclass"],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regclass),
    catalog: row([
        (2218, "regclassin"),
        (2219, "regclassout"),
        (2452, "regclassrecv"),
        (2453, "regclasssend"),
    ]),
    ..FORM
};
