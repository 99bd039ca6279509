//! Rows of `information_schema` about privileges on tables, views and their columns.

use super::cells::{Cells, DATABASE, yes_or_no};
use super::standard_usage::visible;
use super::virtual_table::Context;
use frazil_catalog::{AclItem, Guarded, Relation, Rights, RoleId};
use frazil_types::Result;

/// The rights that columns have, too.
const OF_COLUMNS: Rights = Rights(0b100111);

/// The rights of tables in the order in which they are shown.
const ORDER: [Rights; 7] = [
    Rights::INSERT,
    Rights::SELECT,
    Rights::UPDATE,
    Rights::DELETE,
    Rights::TRUNCATE,
    Rights::REFERENCES,
    Rights::TRIGGER,
];

/// The rows of an item of a list of privileges, if the session's role may see it.
fn of_item(
    context: &Context<'_>,
    (schema, relation): (&str, &Relation),
    item: &AclItem,
    among: Rights,
) -> Vec<(Rights, Cells)> {
    let access = context.catalog().access();
    let is_enabled = |role| access.has_privileges_of(context.user.current, role);
    let is_shown = item.grantee == RoleId::PUBLIC || is_enabled(item.grantee) || is_enabled(item.grantor);
    let owner = context.catalog().owner_of(Guarded::Object(relation.id()));
    let owns = item.grantee != RoleId::PUBLIC && access.has_privileges_of(item.grantee, owner);
    let grantee = match item.grantee {
        RoleId::PUBLIC => "PUBLIC".to_owned(),
        role => access.role_name(role),
    };
    let held = ORDER
        .iter()
        .filter(|right| is_shown && (item.rights & among).has(**right));
    let row = |right: &Rights| {
        let word = Rights::ALL.iter().find(|known| known.rights == *right);
        let row = Cells::new()
            .with("grantor", access.role_name(item.grantor))
            .with("grantee", grantee.as_str())
            .with("table_catalog", DATABASE)
            .with("table_schema", schema)
            .with("table_name", relation.name())
            .with("privilege_type", word.map(|known| known.word.to_uppercase()))
            .with("is_grantable", yes_or_no(owns || item.grantable.has(*right)));
        (*right, row)
    };
    held.map(row).collect()
}

pub(super) fn of_tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    for (schema, relation) in visible(context) {
        let acl = context.catalog().acl(Guarded::Object(relation.id()));
        for item in &acl.0 {
            let of_item = of_item(context, (&schema, relation), item, !Rights::NONE);
            let row = |(right, row): (Rights, Cells)| {
                row.with("with_hierarchy", yes_or_no(right == Rights::SELECT))
            };
            rows.extend(of_item.into_iter().map(row));
        }
    }
    Ok(rows)
}

pub(super) fn of_columns(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let mut rows = Vec::new();
    for (schema, relation) in visible(context) {
        let of_table = catalog.acl(Guarded::Object(relation.id()));
        for (position, column) in relation.columns().iter().enumerate() {
            let key = catalog.column_key(relation.id(), position);
            let own = key.and_then(|of| catalog.stored_acl(of)).unwrap_or_default();
            for item in of_table.0.iter().chain(&own.0) {
                let of_item = of_item(context, (&schema, relation), item, OF_COLUMNS);
                let row = |(_, row): (Rights, Cells)| row.with("column_name", column.name.as_str());
                rows.extend(of_item.into_iter().map(row));
            }
        }
    }
    Ok(rows)
}
