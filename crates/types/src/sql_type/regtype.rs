//! regtype: the oid of a type, shown by its name; see [`named_oid`](super::named_oid).

use super::object_reference::{FORM, row};
use super::{Kind, TypeInfo};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regtype,
    oid: 2206,
    typname: "regtype",
    name: "regtype",
    array_oid: 2211,
    array_name: "regtype[]",
    sql_names: &["regtype"],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regtype),
    catalog: row([
        (2220, "regtypein"),
        (2221, "regtypeout"),
        (2454, "regtyperecv"),
        (2455, "regtypesend"),
    ]),
    ..FORM
};
