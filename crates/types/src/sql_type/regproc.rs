//! regproc: the oid of a function, shown by its name; see [`named_oid`](super::named_oid).

use super::object_reference::{FORM, row};
use super::{Kind, TypeInfo};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regproc,
    oid: 24,
    typname: "regproc",
    name: "regproc",
    array_oid: 1008,
    array_name: "regproc[]",
    sql_names: &["regproc"],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regproc),
    catalog: row([
        (44, "regprocin"),
        (45, "regprocout"),
        (2444, "regprocrecv"),
        (2445, "regprocsend"),
    ]),
    ..FORM
};
