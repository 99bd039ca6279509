//! regprocedure: the oid of a function, shown by its name with the types of its arguments; see
//! [`named_oid`](super::named_oid).

use super::object_reference::{FORM, row};
use super::{Kind, TypeInfo};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regprocedure,
    oid: 2202,
    typname: "regprocedure",
    name: "regprocedure",
    array_oid: 2207,
    array_name: "regprocedure[]",
    sql_names: &["regprocedure"],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regprocedure),
    catalog: row([
        (2212, "regprocedurein"),
        (2213, "regprocedureout"),
        (2446, "regprocedurerecv"),
        (2447, "regproceduresend"),
    ]),
    ..FORM
};
