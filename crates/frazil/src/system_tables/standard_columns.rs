//! Rows of `information_schema.columns`.

use super::catalog_rows::{column_number, relations, shown_default};
use super::cells::Cells;
use super::cells::{DATABASE, yes_or_no};
use super::numbers;
use super::virtual_table::Context;
use frazil_catalog::{Catalog, SYSTEM_SCHEMA};
use frazil_types::logical_type::{MICRO_DIGITS, WITHOUT_LENGTH};
use frazil_types::{LogicalType, ObjectId, Result};

/// Most bytes of a character.
const CHARACTER_BYTES: u32 = 4;
/// Most bytes of a text without a length: PostgreSQL's 2^30.
const TEXT_BYTES: u32 = 1 << 30;

pub(super) fn columns(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let mut rows = Vec::new();
    for seen in relations(context) {
        for (position, column) in seen.columns.iter().enumerate() {
            let number = column_number(seen.columns, position);
            let row = Cells::new()
                .with("table_catalog", DATABASE)
                .with("table_schema", seen.schema.as_ref())
                .with("table_name", seen.name)
                .with("column_name", column.name.as_str())
                .with("ordinal_position", number)
                .with("column_default", shown_default(column, catalog))
                .with("is_nullable", yes_or_no(column.nullable))
                .with("dtd_identifier", number.to_string())
                .with("is_self_referencing", "NO")
                .with("is_identity", "NO")
                .with("identity_cycle", "NO")
                .with("is_generated", "NEVER")
                .with("is_updatable", yes_or_no(!seen.is_view));
            let row = of_type(row, column.ty, catalog);
            let domain = column.domain.and_then(|id| catalog.user_type_of(id));
            rows.push(match domain {
                Some(entry) => row
                    .with("domain_catalog", DATABASE)
                    .with("domain_schema", catalog.qualified(entry.namespace, "").schema)
                    .with("domain_name", entry.name.as_str()),
                None => row,
            });
        }
    }
    Ok(rows)
}

/// Adds the columns that describe a type; of a domain its base.
pub(super) fn of_type(row: Cells, ty: LogicalType, catalog: &Catalog) -> Cells {
    let schema = match ty {
        LogicalType::Enum(e) => {
            let entry = catalog.user_type_of(ObjectId(e.id()));
            entry.map_or_else(String::new, |entry| catalog.qualified(entry.namespace, "").schema)
        }
        _ => match ty
            .enumeration_within()
            .and_then(|e| catalog.user_type_of(ObjectId(e.id())))
        {
            Some(entry) => catalog.qualified(entry.namespace, "").schema,
            None => SYSTEM_SCHEMA.to_owned(),
        },
    };
    let name = match (ty, ty.element()) {
        (LogicalType::Enum(_), _) => "USER-DEFINED",
        (_, Some(_)) => "ARRAY",
        (ty, None) => ty.name(),
    };
    let row = row
        .with("data_type", name)
        .with("udt_catalog", DATABASE)
        .with("udt_schema", schema)
        .with("udt_name", numbers::short_name(ty, catalog));
    measures(row, ty)
}

/// Lengths and digits.
fn measures(row: Cells, ty: LogicalType) -> Cells {
    let number = |row: Cells, digits: Option<u32>, radix: u32, scale: Option<u32>| {
        row.with("numeric_precision", digits)
            .with("numeric_precision_radix", radix)
            .with("numeric_scale", scale)
    };
    match ty {
        LogicalType::SmallInt => number(row, Some(16), 2, Some(0)),
        LogicalType::Integer => number(row, Some(32), 2, Some(0)),
        LogicalType::BigInt => number(row, Some(64), 2, Some(0)),
        LogicalType::Real => number(row, Some(24), 2, None),
        LogicalType::Double => number(row, Some(53), 2, None),
        LogicalType::Decimal { precision, scale } => {
            number(row, Some(precision.into()), 10, Some(scale.into()))
        }
        LogicalType::Numeric => number(row, None, 10, None),
        LogicalType::Char(n) | LogicalType::Varchar(n) if n != WITHOUT_LENGTH => {
            row.with("character_maximum_length", n).with(
                "character_octet_length",
                n.saturating_mul(CHARACTER_BYTES).min(TEXT_BYTES),
            )
        }
        LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Text => {
            row.with("character_octet_length", TEXT_BYTES)
        }
        LogicalType::Date => row.with("datetime_precision", 0),
        LogicalType::Time(digits) | LogicalType::Timestamp(digits) | LogicalType::TimestampTz(_, digits) => {
            row.with("datetime_precision", u32::from(digits))
        }
        LogicalType::Interval => row.with("datetime_precision", u32::from(MICRO_DIGITS)),
        LogicalType::Name => row
            .with("collation_catalog", DATABASE)
            .with("collation_schema", SYSTEM_SCHEMA)
            .with("collation_name", "C"),
        LogicalType::Boolean
        | LogicalType::Uuid
        | LogicalType::Bytea
        | LogicalType::Json
        | LogicalType::Jsonb
        | LogicalType::JsonPath
        | LogicalType::Array(_)
        | LogicalType::Enum(_)
        | LogicalType::Record
        | LogicalType::Oid
        | LogicalType::InternalChar
        | LogicalType::Regclass
        | LogicalType::Regtype
        | LogicalType::Regproc
        | LogicalType::Regnamespace => row,
    }
}
