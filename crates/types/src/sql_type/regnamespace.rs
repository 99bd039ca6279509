//! regnamespace: the oid of a schema, shown by its name; see [`named_oid`](super::named_oid).

use super::object_reference::{FORM, row};
use super::{Kind, TypeInfo};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regnamespace,
    oid: 4089,
    typname: "regnamespace",
    name: "regnamespace",
    array_oid: 4090,
    array_name: "regnamespace[]",
    sql_names: &["regnamespace"],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regnamespace),
    catalog: row([
        (4084, "regnamespacein"),
        (4085, "regnamespaceout"),
        (4087, "regnamespacerecv"),
        (4088, "regnamespacesend"),
    ]),
    ..FORM
};
