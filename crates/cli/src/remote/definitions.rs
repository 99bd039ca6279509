//! CREATE statements of a server's tables and views, put together from `pg_catalog`.

use super::backend::Remote;
use super::objects::{Texts, bare_check, index_columns, structure};
use super::values::type_of;
use crate::backend::{Column, Relation, RelationKind, Structure};
use frazil::{Result, identifier};
use std::collections::HashMap;

/// The parts of a table or view, in the order in which they are made.
struct Parts {
    /// CREATE TABLE or CREATE VIEW.
    main: String,
    /// CREATE INDEX statements.
    indexes: Vec<String>,
    /// ALTER TABLE statements that stand behind the indexes.
    checks: Vec<String>,
    /// ALTER TABLE statements for foreign keys.
    foreign_keys: Vec<String>,
}

/// The statements that make a table or view, or all of them: tables with their indexes, foreign keys between them, then
/// views.
pub fn definitions(remote: &Remote, name: Option<&str>) -> Result<Vec<String>> {
    let Some(name) = name else {
        return all(remote);
    };
    let parts = parts(remote, &structure(remote, name)?)?;
    let whole = std::iter::once(parts.main)
        .chain(parts.indexes)
        .chain(parts.checks);
    Ok(whole.chain(parts.foreign_keys).collect())
}

fn all(remote: &Remote) -> Result<Vec<String>> {
    let relations = super::objects::relations(remote)?;
    let of = |relation: &Relation| {
        let name = format!("{}.{}", relation.schema, relation.name);
        parts(remote, &structure(remote, &name)?)
    };
    let (mut statements, mut keys, mut views) = (Vec::new(), Vec::new(), Vec::new());
    for relation in &relations {
        let parts = of(relation)?;
        let target = match relation.kind {
            RelationKind::Table => &mut statements,
            RelationKind::View | RelationKind::Materialized => &mut views,
        };
        target.push(parts.main);
        target.extend(parts.indexes);
        target.extend(parts.checks);
        keys.extend(parts.foreign_keys);
    }
    statements.extend(keys);
    statements.extend(views);
    Ok(statements)
}

fn parts(remote: &Remote, structure: &Structure) -> Result<Parts> {
    let name = match structure.schema.as_str() {
        "public" => identifier(&structure.name),
        schema => format!("{}.{}", identifier(schema), identifier(&structure.name)),
    };
    let mut parts = Parts {
        main: String::new(),
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
    };
    let oid = format!(
        "{}.{}",
        identifier(&structure.schema),
        identifier(&structure.name)
    );
    let indexes = "select i.relname, x.indisunique, pg_catalog.pg_get_indexdef(x.indexrelid) \
                   from pg_catalog.pg_index x join pg_catalog.pg_class i on i.oid = x.indexrelid \
                   where x.indrelid = pg_catalog.to_regclass($1) and not exists (select 1 \
                   from pg_catalog.pg_constraint con where con.conindid = x.indexrelid and con.contype in ('p', 'u')) \
                   order by x.indexrelid";
    for mut row in remote.asked(indexes, &[&oid])? {
        let (index, unique) = (identifier(&row.text()), if row.truth() { "unique " } else { "" });
        let columns = index_columns(&row.text());
        parts
            .indexes
            .push(format!("create {unique}index {index} on {name} {columns};"));
    }
    if let Some(query) = &structure.query {
        let columns: Vec<String> = structure.columns.iter().map(|c| identifier(&c.name)).collect();
        let list = match columns.is_empty() {
            true => String::new(),
            false => format!(" ({})", columns.join(", ")),
        };
        let kind = match structure.kind {
            RelationKind::Materialized => "materialized view",
            RelationKind::View | RelationKind::Table => "view",
        };
        parts.main = format!("create {kind} {name}{list} as\n{query};");
        return Ok(parts);
    }
    let mut lines = columns(remote, &oid, &structure.columns)?;
    let constraints = "select conname, contype, convalidated, pg_catalog.pg_get_constraintdef(oid) \
                       from pg_catalog.pg_constraint where conrelid = pg_catalog.to_regclass($1) \
                       and contype in ('p', 'u', 'c', 'f') order by contype = 'f', oid";
    for mut row in remote.asked(constraints, &[&oid])? {
        let (constraint, kind, is_valid) = (identifier(&row.text()), row.text(), row.truth());
        let definition = bare_check(row.text());
        let added = format!("alter table {name} add constraint {constraint} {definition};");
        match (kind.as_str(), is_valid) {
            ("f", _) => parts.foreign_keys.push(added),
            (_, false) => parts.checks.push(added),
            (_, true) => lines.push(format!("  constraint {constraint} {definition}")),
        }
    }
    parts.main = format!("create table {name} (\n{}\n);", lines.join(",\n"));
    Ok(parts)
}

/// The lines of CREATE TABLE for columns. A domain's own NOT NULL is not repeated.
fn columns(remote: &Remote, oid: &str, columns: &[Column]) -> Result<Vec<String>> {
    let types = "select t.typtype, t.typnotnull, n.nspname, t.typname, a.atttypid, a.atttypmod, \
                 pg_catalog.format_type(a.atttypid, a.atttypmod) from pg_catalog.pg_attribute a \
                 join pg_catalog.pg_type t on t.oid = a.atttypid \
                 join pg_catalog.pg_namespace n on n.oid = t.typnamespace \
                 where a.attrelid = pg_catalog.to_regclass($1) and a.attnum > 0 and not a.attisdropped \
                 order by a.attnum";
    let types: Vec<Texts> = remote.asked(types, &[oid])?.collect();
    let sequences = identities(remote, oid)?;
    let line = |(column, mut row): (&Column, Texts)| {
        let (kind, has_not_null, schema, typname) = (row.text(), row.truth(), row.text(), row.text());
        let known = type_of(row.number(), row.number()).map(|ty| ty.to_string());
        let shown = row.text();
        let ty = match (kind.as_str(), schema.as_str()) {
            ("d" | "e", "public") => identifier(&typname),
            ("d" | "e", schema) => format!("{}.{}", identifier(schema), identifier(&typname)),
            _ => known.unwrap_or(shown),
        };
        let null = if column.nullable || (kind == "d" && has_not_null) {
            ""
        } else {
            " not null"
        };
        let options = sequences.get(&column.name).map_or("", String::as_str);
        let clause = column
            .clause
            .as_ref()
            .map_or(String::new(), |clause| format!(" {clause}{options}"));
        format!("  {} {ty}{clause}{null}", identifier(&column.name))
    };
    Ok(columns.iter().zip(types).map(line).collect())
}

/// The sequences of identity columns with their options, as CREATE TABLE takes them, by the names of the columns.
fn identities(remote: &Remote, oid: &str) -> Result<HashMap<String, String>> {
    let sql = "select a.attname, n.nspname, c.relname, s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache, \
               s.seqcycle from pg_catalog.pg_depend d join pg_catalog.pg_sequence s on s.seqrelid = d.objid \
               join pg_catalog.pg_class c on c.oid = d.objid join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
               join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid \
               where d.refobjid = pg_catalog.to_regclass($1) and d.deptype = 'i' \
               and d.classid = 'pg_catalog.pg_class'::regclass";
    let identity = |mut row: Texts| {
        let (column, schema, name) = (row.text(), row.text(), identifier(&row.text()));
        let name = match schema.as_str() {
            "public" => name,
            schema => format!("{}.{name}", identifier(schema)),
        };
        let numbers: Vec<String> = ["increment by", "minvalue", "maxvalue", "start with", "cache"]
            .iter()
            .map(|option| format!("{option} {}", row.text()))
            .collect();
        let cycle = if row.truth() { " cycle" } else { "" };
        (
            column,
            format!(" (sequence name {name} {}{cycle})", numbers.join(" ")),
        )
    };
    Ok(remote.asked(sql, &[oid])?.map(identity).collect())
}
