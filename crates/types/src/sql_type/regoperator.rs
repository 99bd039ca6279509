//! regoperator: the oid of an operator, shown by its name with the types of its operands; see
//! [`named_oid`](super::named_oid).

use super::object_reference::{FORM, row};
use super::{Kind, TypeInfo};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Regoperator,
    oid: 2204,
    typname: "regoperator",
    name: "regoperator",
    array_oid: 2209,
    array_name: "regoperator[]",
    sql_names: &["regoperator"],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Regoperator),
    catalog: row([
        (2216, "regoperatorin"),
        (2217, "regoperatorout"),
        (2450, "regoperatorrecv"),
        (2451, "regoperatorsend"),
    ]),
    ..FORM
};
