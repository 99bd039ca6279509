//! "char": one byte, which `pg_catalog` has for codes such as `relkind`. It has nothing in common with char(1).

use super::catalog_text::FORM;
use super::{CatalogRow, Kind, TypeInfo, wire};
use crate::LogicalType;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::InternalChar,
    oid: 18,
    typname: "char",
    name: "\"char\"",
    typlen: 1,
    array_oid: 1002,
    array_name: "\"char\"[]",
    sql_names: &["\"char\""],
    of_modifiers: |m| m.is_empty().then_some(LogicalType::InternalChar),
    catalog: CatalogRow::base(
        "Z",
        ["c", "p"],
        [(1245, "charin"), (33, "charout"), (2434, "charrecv"), (2435, "charsend")],
    ),
    // PostgreSQL does not convert its byte.
    sent_text: None,
    send: wire::send_internal_char,
    receive: wire::receive_internal_char,
    ..FORM
};
