//! The query of a view as text that means the same wherever its tables have their names of today.
//!
//! A view keeps the text that it was given, and reads by it the relations that it read then, under the names that they and their
//! columns had, without columns that came later ([`Reading`]). Where any of that is no longer so, the text is put
//! behind WITH queries that have the old names: `with t (a) as not materialized (select b from public.u) (…)`.

use frazil_catalog::{Catalog, PUBLIC, Reading, Relation, ViewEntry, identifier};
use std::borrow::Cow;

/// The query of a view.
pub fn restated<'v>(view: &'v ViewEntry, catalog: &Catalog) -> Cow<'v, str> {
    let changed: Vec<String> = (view.reads.iter())
        .filter_map(|reading| changed(reading, catalog.read_by(reading)?, catalog))
        .collect();
    match changed.is_empty() {
        true => Cow::Borrowed(&view.query),
        // A comment may end the text.
        false => Cow::Owned(format!("with {}\n({}\n)", changed.join(",\n"), view.query)),
    }
}

/// A WITH query of what a view reads, if its text does not mean that today.
fn changed(reading: &Reading, relation: &Relation, catalog: &Catalog) -> Option<String> {
    let schema = match relation {
        Relation::Table(table) => &table.schema,
        Relation::View(view) => &view.schema,
    };
    // Of a system table there is no other form.
    reading.id?;
    let today: Vec<&str> = schema.columns.iter().map(|c| c.name.as_str()).collect();
    let from = catalog.qualified(relation.namespace(), relation.name());
    let written = reading.name.schema.as_deref().unwrap_or(PUBLIC);
    let is_read_so = from.schema == written && from.name == reading.name.name;
    if is_read_so && reading.columns.iter().eq(&today) {
        return None;
    }
    let list = |names: &[&str]| names.iter().map(|n| identifier(n)).collect::<Vec<_>>().join(", ");
    let then: Vec<&str> = reading.columns.iter().map(String::as_str).collect();
    let (name, columns) = (identifier(&reading.name.name), list(&then));
    // Names of earlier WITH queries do not hide what has a schema.
    let read = list(&today[..then.len().min(today.len())]);
    Some(format!(
        "{name} ({columns}) as not materialized (select {read} from {from})"
    ))
}
