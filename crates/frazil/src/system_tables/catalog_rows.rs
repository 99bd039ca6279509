//! Rows of relations and their columns: `pg_namespace`, `pg_class`, `pg_attribute`, `pg_attrdef`, `pg_tables`,
//! `pg_views`.

use super::cells::Cells;
use super::named_relations::{Named, Naming};
use super::numbers::{self, HEAP};
use super::roles::{acl, acl_of, owner_name, owner_of};
use super::virtual_table::Context;
use super::wanted::Cell;
use crate::table_info::{self, default_text, view_text};
use frazil_catalog::{
    Catalog, Constraint, ConstraintKind, Guarded, Relation, RelationKind, RoleId, SequenceEntry, TableEntry,
};
use frazil_types::{ColumnDef, ColumnDefault, LogicalType, ObjectId, Result, Value, attribute_number};
use std::rc::Rc;
use std::sync::Arc;

pub(super) fn namespaces(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let row = |(name, oid): (String, u32)| {
        let of = catalog.schema(&name).map(|schema| Guarded::Object(schema.id));
        let list = of.and_then(|of| catalog.stored_acl(of));
        Ok(Cells::new()
            .with("oid", oid)
            .with(
                "nspowner",
                of.map_or(RoleId::SUPERUSER, |of| catalog.owner_of(of)).0,
            )
            .with("nspname", name)
            .with("nspacl", acl(catalog, list.as_ref())?))
    };
    numbers::namespaces(catalog).into_iter().map(row).collect()
}

/// A relation with what `pg_class` and others say of it.
pub(super) struct Seen<'a> {
    /// The name of its schema.
    pub schema: Rc<str>,
    pub namespace: u32,
    pub name: &'a str,
    pub oid: u32,
    pub columns: &'a [ColumnDef],
    pub is_view: bool,
    pub is_materialized: bool,
    /// The entry of a table that a statement made.
    pub table: Option<&'a TableEntry>,
}

/// All tables and views, those of the system first.
pub(super) fn relations<'a>(context: &'a Context<'_>) -> impl Iterator<Item = Seen<'a>> {
    system_relations(context).chain(own_relations(context))
}

/// The tables and views of the system, and those that wanted rows are of: see [`Named`].
pub(super) fn wanted_relations<'a>(
    context: &'a Context<'_>,
    naming: Naming,
) -> impl Iterator<Item = Seen<'a>> {
    system_relations(context).chain(own_wanted_relations(context, naming))
}

/// The tables and views that statements made, and that wanted rows are of.
pub(super) fn own_wanted_relations<'a>(
    context: &'a Context<'_>,
    naming: Naming,
) -> impl Iterator<Item = Seen<'a>> {
    let named = Named::of(context, naming);
    let all = named.is_none().then(|| own_relations(context));
    let seen = |relation: &'a Relation| {
        let schema = context.catalog().qualified(relation.namespace(), "").schema;
        Seen::of(relation, schema.into())
    };
    let named = named.into_iter().flat_map(Named::relations).map(seen);
    all.into_iter().flatten().chain(named)
}

/// The sequences that wanted rows are of.
fn wanted_sequences<'a>(
    context: &'a Context<'_>,
    naming: Naming,
) -> impl Iterator<Item = &'a Arc<SequenceEntry>> {
    let named = Named::of(context, naming);
    let all = named.is_none().then(|| context.catalog().sequences());
    all.into_iter()
        .flatten()
        .chain(named.into_iter().flat_map(Named::sequences))
}

fn system_relations<'a>(context: &'a Context<'_>) -> impl Iterator<Item = Seen<'a>> {
    context.system.iter().filter_map(|table| {
        Some(Seen {
            schema: table.schema.into(),
            namespace: numbers::system_namespace(table.schema),
            name: &table.name,
            oid: table.oid?,
            columns: &table.columns.columns,
            is_view: table.is_view,
            is_materialized: false,
            table: None,
        })
    })
}

/// The tables and views that statements made.
pub(super) fn own_relations<'a>(context: &'a Context<'_>) -> impl Iterator<Item = Seen<'a>> {
    let catalog = context.catalog();
    // Relations come by schema, so that few names are made.
    let mut last: Option<(ObjectId, Rc<str>)> = None;
    let mut schema_of = move |namespace: ObjectId| match &last {
        Some((of, schema)) if *of == namespace => schema.clone(),
        Some(_) | None => {
            let schema: Rc<str> = catalog.qualified(namespace, "").schema.into();
            last = Some((namespace, schema.clone()));
            schema
        }
    };
    catalog
        .relations()
        .map(move |relation| Seen::of(relation, schema_of(relation.namespace())))
}

impl<'a> Seen<'a> {
    /// A relation that a statement made, in a schema of this name.
    fn of(relation: &'a Relation, schema: Rc<str>) -> Seen<'a> {
        Seen {
            schema,
            namespace: relation.namespace().oid(),
            name: relation.name(),
            oid: relation.id().oid(),
            columns: match relation {
                Relation::Table(table) => &table.schema.columns,
                Relation::View(view) => &view.schema.columns,
            },
            is_view: matches!(relation, Relation::View(_)),
            is_materialized: relation.kind() == RelationKind::MaterializedView,
            table: match relation {
                Relation::Table(table) => Some(table),
                Relation::View(_) => None,
            },
        }
    }
}

/// The number of a column at a position, from 1.
pub(super) fn column_number(columns: &[ColumnDef], position: usize) -> u32 {
    attribute_number(columns, position)
}

pub(super) fn classes(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let wants = |oid: u32, name: &str, namespace: u32| {
        context.wants(&[
            ("oid", Cell::Number(oid)),
            ("relname", Cell::Text(name)),
            ("relnamespace", Cell::Number(namespace)),
        ])
    };
    let naming = Naming {
        oid: "oid",
        name: "relname",
    };
    let mut rows = Vec::new();
    for seen in wanted_relations(context, naming) {
        if wants(seen.oid, seen.name, seen.namespace) {
            rows.push(owned(class_of_relation(&seen, catalog), catalog, seen.oid)?);
        }
        let indexes = seen.table.map_or(&[][..], |table| &table.indexes);
        for index in indexes {
            if wants(index.id.oid(), &index.name, seen.namespace) {
                let row = class(index.id.oid(), &index.name, seen.namespace, "i")
                    .with("relam", numbers::BTREE)
                    .with("relnatts", index.keys.len() + index.include.len())
                    .with("relreplident", "n");
                rows.push(owned(row, catalog, index.id.oid())?);
            }
        }
    }
    for sequence in wanted_sequences(context, naming) {
        rows.push(owned(class_of_sequence(sequence), catalog, sequence.id.oid())?);
    }
    Ok(rows)
}

/// The row of a relation with its owner and its privileges.
fn owned(row: Cells, catalog: &Catalog, oid: u32) -> Result<Cells> {
    let row = row.with("relowner", owner_of(catalog, oid).0);
    Ok(row.with("relacl", acl_of(catalog, oid)?))
}

fn class_of_relation(seen: &Seen<'_>, catalog: &Catalog) -> Cells {
    let checks = seen.table.map_or(0, |table| {
        let is_own = |c: &&Constraint| matches!(c.kind, ConstraintKind::Check { of_domain: None, .. });
        table.constraints.iter().filter(is_own).count()
    });
    let kind = match (seen.is_view, seen.is_materialized) {
        (true, _) => "v",
        (false, true) => "m",
        (false, false) => "r",
    };
    class(seen.oid, seen.name, seen.namespace, kind)
        .with("relam", if seen.is_view { 0 } else { HEAP })
        .with(
            "relnatts",
            seen.columns
                .len()
                .checked_sub(1)
                .map_or(0, |at| column_number(seen.columns, at)),
        )
        .with("relchecks", checks)
        .with(
            "relhasindex",
            seen.table.is_some_and(|table| !table.indexes.is_empty()),
        )
        .with("relhasrules", seen.is_view || seen.is_materialized)
        .with("relhastriggers", has_triggers(seen, catalog))
        .with("relispopulated", is_populated(seen))
        .with("relreplident", if seen.table.is_some() { "d" } else { "n" })
}

/// False for a materialized view that was not refreshed.
fn is_populated(seen: &Seen<'_>) -> bool {
    let materialized = seen.table.and_then(|table| table.materialized.as_ref());
    materialized.is_none_or(|materialized| materialized.is_populated)
}

/// True for a table that PostgreSQL gives triggers: the child or the parent of a foreign key.
fn has_triggers(seen: &Seen<'_>, catalog: &Catalog) -> bool {
    seen.table
        .is_some_and(|table| catalog.is_in_foreign_key(table.id))
}

/// A sequence, which is a relation of one row.
fn class_of_sequence(sequence: &SequenceEntry) -> Cells {
    class(sequence.id.oid(), &sequence.name, sequence.namespace.oid(), "S")
        .with("relnatts", SEQUENCE_COLUMNS.len())
        .with("relpages", 1)
        .with("reltuples", Value::Double(1.0))
        .with("relreplident", "n")
}

/// The columns of a sequence as a relation.
const SEQUENCE_COLUMNS: [(&str, LogicalType); 3] = [
    ("last_value", LogicalType::BigInt),
    ("log_cnt", LogicalType::BigInt),
    ("is_called", LogicalType::Boolean),
];

/// The columns that tables, views and indexes fill alike.
fn class(oid: u32, name: &str, namespace: u32, kind: &str) -> Cells {
    let is_temporary = ObjectId::of_oid(oid).is_some_and(ObjectId::is_temporary);
    Cells::new()
        .with("oid", oid)
        .with("relname", name)
        .with("relnamespace", namespace)
        .with("relfilenode", if kind == "v" { 0 } else { oid })
        .with("reltuples", Value::Double(-1.0))
        .with("relpersistence", if is_temporary { "t" } else { "p" })
        .with("relkind", kind)
        .with("relispopulated", true)
}

pub(super) fn attributes(context: &Context<'_>) -> Result<Vec<Cells>> {
    let naming = Naming {
        oid: "attrelid",
        name: "",
    };
    let mut rows = Vec::new();
    let wants = |oid: u32| context.wants(&[("attrelid", Cell::Number(oid))]);
    for seen in wanted_relations(context, naming) {
        let columns = if wants(seen.oid) { seen.columns } else { &[] };
        let mut last = 0;
        for (position, column) in columns.iter().enumerate() {
            let number = column_number(seen.columns, position);
            rows.extend((last + 1..number).map(|number| dropped_attribute(seen.oid, number)));
            last = number;
            let has_default = shown_default(column, context.catalog()).is_some();
            rows.push(
                attribute(seen.oid, number, column)
                    .with("attnotnull", column.has_own_not_null())
                    .with("atthasdef", has_default)
                    .with("attacl", column_acl(context.catalog(), seen.oid, position)?),
            );
        }
        let indexes = seen.table.map_or(&[][..], |table| &table.indexes);
        for index in indexes.iter().filter(|index| wants(index.id.oid())) {
            let keys = index.keys.iter().map(|key| key.column);
            for (position, column) in keys.chain(index.include.iter().copied()).enumerate() {
                let hidden = seen.table.and_then(|table| table.hidden_column(column));
                let column = ColumnDef {
                    default: None,
                    ..hidden.unwrap_or_else(|| &seen.columns[column]).clone()
                };
                rows.push(attribute(index.id.oid(), position as u32 + 1, &column));
            }
        }
    }
    for sequence in wanted_sequences(context, naming) {
        for ((name, ty), number) in SEQUENCE_COLUMNS.into_iter().zip(1..) {
            let column = ColumnDef::new(name, ty);
            rows.push(attribute(sequence.id.oid(), number, &column).with("attnotnull", true));
        }
    }
    Ok(rows)
}

/// A number that the columns of a relation have passed over: its column was dropped. Clients that count columns, as
/// pg_dump does, want a row for each number.
fn dropped_attribute(relation: u32, number: u32) -> Cells {
    Cells::new()
        .with("attrelid", relation)
        .with("attname", format!("........pg.dropped.{number}........"))
        .with("attnum", number)
        .with("attstattarget", -1)
        .with("attlen", 4)
        .with("attcacheoff", -1)
        .with("atttypmod", -1)
        .with("attbyval", true)
        .with("attalign", "i")
        .with("attstorage", "p")
        .with("attisdropped", true)
        .with("attislocal", true)
}

/// The privileges of a column of a relation; NULL if it has none of its own.
fn column_acl(catalog: &Catalog, relation: u32, position: usize) -> Result<Value> {
    let id = ObjectId::of_oid(relation);
    let of = id.and_then(|id| catalog.column_key(id, position));
    acl(catalog, of.and_then(|of| catalog.stored_acl(of)).as_ref())
}

fn attribute(relation: u32, number: u32, column: &ColumnDef) -> Cells {
    let length = column.ty.info().typlen;
    let catalog = numbers::catalog_row(column.ty);
    let is_array = column.domain.is_none() && column.ty.element().is_some();
    let identity = match column.default {
        Some(ColumnDefault::Identity { always: true, .. }) => "a",
        Some(ColumnDefault::Identity { always: false, .. }) => "d",
        Some(ColumnDefault::Value(_) | ColumnDefault::Expression(_) | ColumnDefault::Generated { .. })
        | None => "",
    };
    let generated = if column.is_generated() { "s" } else { "" };
    Cells::new()
        .with("attrelid", relation)
        .with("attname", column.name.as_str())
        .with("atttypid", numbers::column_type(column))
        .with("attstattarget", -1)
        .with("attlen", i32::from(length))
        .with("attnum", number)
        .with("attndims", u32::from(is_array))
        .with("attcacheoff", -1)
        .with("atttypmod", numbers::column_modifier(column))
        .with("attbyval", numbers::is_passed_by_value(length))
        .with("attalign", catalog.align)
        .with("attstorage", catalog.storage)
        .with("attidentity", identity)
        .with("attgenerated", generated)
        .with("attislocal", true)
        .with("attcollation", catalog.collation)
}

/// The default of a column as SQL that says its type, as PostgreSQL shows it.
/// `None` for an identity column, which has a sequence instead, and for the default of a domain.
pub(super) fn shown_default(column: &ColumnDef, catalog: &Catalog) -> Option<String> {
    let default = table_info::shown_default(column, catalog);
    let text = default_text(&ColumnDef {
        default: default.clone(),
        ..column.clone()
    })?;
    match default {
        Some(ColumnDefault::Value(Value::Null)) => Some(format!("NULL::{}", column.ty.name())),
        Some(ColumnDefault::Value(Value::Bool(truth))) => Some(truth.to_string()),
        Some(ColumnDefault::Value(_)) if text.starts_with(['\'', '-']) => {
            let quoted = match text.strip_prefix('-') {
                Some(_) => format!("'{text}'"),
                None => text,
            };
            Some(format!("{quoted}::{}", column.ty.name()))
        }
        Some(ColumnDefault::Value(_)) => Some(text),
        Some(ColumnDefault::Expression(_)) => Some(catalog.shown_default(&text)),
        Some(ColumnDefault::Generated { text, .. }) => Some(format!("({text})")),
        Some(ColumnDefault::Identity { .. }) | None => None,
    }
}

/// A default of a column that is not an identity.
pub(super) struct SeenDefault<'a> {
    /// The oid that `pg_attrdef` gives it.
    pub oid: u32,
    /// The oid of its table.
    pub relation: u32,
    /// The number of its column.
    pub number: u32,
    pub column: &'a ColumnDef,
    /// The default as SQL.
    pub text: String,
}

/// The defaults of all columns.
pub(super) fn all_defaults<'a>(context: &'a Context<'_>) -> impl Iterator<Item = SeenDefault<'a>> {
    let columns = own_relations(context)
        .flat_map(|seen| (0..seen.columns.len()).map(move |at| (seen.oid, seen.columns, at)));
    let shown = columns.filter_map(|(relation, columns, at)| {
        let text = shown_default(&columns[at], context.catalog())?;
        Some((relation, columns, at, text))
    });
    shown
        .zip(numbers::FIRST_UNNAMED..)
        .map(|((relation, columns, at, text), oid)| SeenDefault {
            oid,
            relation,
            number: column_number(columns, at),
            column: &columns[at],
            text,
        })
}

pub(super) fn defaults(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = all_defaults(context).map(|seen| {
        Cells::new()
            .with("oid", seen.oid)
            .with("adrelid", seen.relation)
            .with("adnum", seen.number)
            .with("adbin", seen.text)
    });
    Ok(rows.collect())
}

pub(super) fn tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    let is_table = |seen: &Seen<'_>| !seen.is_view && !seen.is_materialized;
    let rows = relations(context).filter(is_table).map(|seen| {
        Cells::new()
            .with("schemaname", &*seen.schema)
            .with("tablename", seen.name)
            .with("tableowner", owner_name(context.catalog(), seen.oid))
            .with(
                "hasindexes",
                seen.table.is_some_and(|table| !table.indexes.is_empty()),
            )
            .with("hasrules", false)
            .with("hastriggers", has_triggers(&seen, context.catalog()))
            .with("rowsecurity", false)
    });
    Ok(rows.collect())
}

pub(super) fn views(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let rows = catalog.views().map(|view| {
        Cells::new()
            .with("schemaname", catalog.qualified(view.namespace, "").schema)
            .with("viewname", view.name.as_str())
            .with("viewowner", owner_name(catalog, view.id.oid()))
            .with("definition", view_text(view, catalog))
    });
    Ok(rows.collect())
}

pub(super) fn materialized_views(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let rows = own_relations(context)
        .filter(|seen| seen.is_materialized)
        .filter_map(|seen| {
            let view = seen.table?.as_view()?;
            let row = Cells::new()
                .with("schemaname", seen.schema.as_ref())
                .with("matviewname", seen.name)
                .with("matviewowner", owner_name(catalog, seen.oid))
                .with(
                    "hasindexes",
                    seen.table.is_some_and(|table| !table.indexes.is_empty()),
                )
                .with("ispopulated", is_populated(&seen))
                .with("definition", view_text(&view, catalog));
            Some(row)
        });
    Ok(rows.collect())
}

/// The rules of views: one for each, which is its query.
pub(super) fn rules(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = context.catalog().all_views().map(|view| {
        Cells::new()
            .with("oid", numbers::rule_oid(view.id.oid()))
            .with("rulename", "_RETURN")
            .with("ev_class", view.id.oid())
            .with("ev_type", "1")
            .with("ev_enabled", "O")
            .with("is_instead", true)
            .with("ev_qual", "<>")
            .with("ev_action", view_text(&view, context.catalog()))
    });
    Ok(rows.collect())
}
