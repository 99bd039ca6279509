//! The query of a view as text that means the same wherever its tables have their names of today.
//!
//! A view keeps the text that it was given, and reads by it the relations that it read then, under the names that they
//! and their columns had, without columns that came later ([`Reading`]). Where any of that has changed, the text is put
//! behind WITH queries that have the old names: `with t (a) as not materialized (select b from public.u) (…)`. A WITH
//! query's name has no schema: a relation that the text calls `s.t` gets a new name, and the text says that instead.

use frazil_catalog::{Catalog, PUBLIC, Reading, Relation, ViewEntry, identifier};
use frazil_frontend::{QualifiedPlace, QueryText};
use std::borrow::Cow;
use std::ops::Range;

/// The query of a view.
pub fn restated<'v>(view: &'v ViewEntry, catalog: &Catalog) -> Cow<'v, str> {
    let changed: Vec<Changed> = (view.reads.iter())
        .filter_map(|reading| changed(reading, catalog.read_by(reading)?, catalog))
        .collect();
    match (changed.is_empty(), QueryText::of(&view.query)) {
        (false, Ok(text)) => Cow::Owned(behind_with(view, &text, &changed)),
        // A kept text is one that was read once.
        _ => Cow::Borrowed(&view.query),
    }
}

/// A relation that a view reads, and that its text does not mean today.
struct Changed<'r> {
    reading: &'r Reading,
    /// The WITH query behind its name: `(a) as not materialized (select b from public.u)`.
    definition: String,
}

/// A query behind WITH queries of what has changed.
fn behind_with(view: &ViewEntry, text: &QueryText, changed: &[Changed]) -> String {
    let (query, reads) = (&view.query, &view.reads);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut definitions = Vec::with_capacity(changed.len());
    let mut names: Vec<String> = Vec::with_capacity(changed.len());
    for Changed { reading, definition } in changed {
        let written = &reading.name;
        let places = (written.schema.as_ref()).map(|schema| text.places_of(schema, &written.name));
        let name = match places {
            None => written.name.clone(),
            Some(places) => {
                let name = unused(&written.name, text, &names);
                // Two relations that are seen under one name are told apart by what they are called now.
                let is_told_apart = places
                    .iter()
                    .any(|p| matches!(p, QualifiedPlace::Qualifier { .. }))
                    && reads
                        .iter()
                        .any(|other| other.name != *written && is_seen_as(other, &written.name, text));
                let alias = if is_told_apart { &name } else { &written.name };
                edits.extend(places.into_iter().map(|place| renamed(place, &name, alias)));
                name
            }
        };
        definitions.push(format!("{} {definition}", identifier(&name)));
        names.push(name);
    }
    // The text may have a WITH query of a name, in which it names the table.
    let is_defined = names.iter().any(|name| text.may_define(name));
    let definitions = definitions.join(",\n");
    let joined = text.behind_with().filter(|_| !is_defined);
    if let Some(behind) = joined {
        edits.push((behind..behind, format!(" {definitions},")));
    }
    edits.sort_by_key(|edit| edit.0.start);
    let query = edited(query, &edits);
    match joined {
        Some(_) => query,
        // A comment may end the text.
        None => format!("with {definitions}\n({query}\n)"),
    }
}

/// True if the text may name a relation that it reads by `name` alone.
fn is_seen_as(reading: &Reading, name: &str, text: &QueryText) -> bool {
    let places = |schema: &String| text.places_of(schema, name);
    let is_unnamed =
        |place: &QualifiedPlace| matches!(place, QualifiedPlace::Relation { is_named: false, .. });
    reading.name.name == name
        && reading
            .name
            .schema
            .as_ref()
            .map(places)
            .is_none_or(|places| places.iter().any(is_unnamed))
}

/// A name like `name` that no word of a text and none of `names` is.
fn unused(name: &str, text: &QueryText, names: &[String]) -> String {
    let mut number = 1;
    loop {
        let candidate = format!("{name}_{number}");
        if !text.has(&candidate) && !names.contains(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

/// The bytes of a place, and what is written there for a relation that is `name` now and that columns name by `alias`.
fn renamed(place: QualifiedPlace, name: &str, alias: &str) -> (Range<usize>, String) {
    let (name, alias) = (identifier(name), identifier(alias));
    match place {
        QualifiedPlace::Qualifier { bytes } => (bytes, alias),
        QualifiedPlace::Relation { bytes, is_named } if is_named || name == alias => (bytes, name),
        QualifiedPlace::Relation { bytes, .. } => (bytes, format!("{name} as {alias}")),
    }
}

/// A text with other words at some of its bytes, in their order.
fn edited(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (bytes, word) in edits {
        out.push_str(&text[done..bytes.start]);
        out.push_str(word);
        done = bytes.end;
    }
    out.push_str(&text[done..]);
    out
}

/// A WITH query of what a view reads, if its text does not mean that today.
fn changed<'r>(reading: &'r Reading, relation: &Relation, catalog: &Catalog) -> Option<Changed<'r>> {
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
    // Names of earlier WITH queries do not hide what has a schema.
    let read = list(&today[..then.len().min(today.len())]);
    let columns = list(&then);
    Some(Changed {
        reading,
        definition: format!("({columns}) as not materialized (select {read} from {from})"),
    })
}
