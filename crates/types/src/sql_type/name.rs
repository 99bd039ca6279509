//! name: the name of an object, a text that is cut to 63 bytes.

use super::catalog_text::FORM;
use super::{C_COLLATION, CatalogRow, Kind, TypeInfo};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Name,
    oid: 19,
    typname: "name",
    name: "name",
    typlen: 64,
    array_oid: 1003,
    array_name: "name[]",
    sql_names: &["name"],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Name),
    catalog: CatalogRow::base(
        "S",
        ["c", "p"],
        [(34, "namein"), (35, "nameout"), (2422, "namerecv"), (2423, "namesend")],
    )
    .collated(C_COLLATION)
    .subscripted((6180, "raw_array_subscript_handler"), 18),
    ..FORM
};
