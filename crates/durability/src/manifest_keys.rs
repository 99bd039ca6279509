//! Constraints and indexes in the manifest. What an index holds is not written: it is built anew from the rows.

use crate::manifest::{Manifest, read_u32};
use crate::manifest_references::{
    deferral_name, is_whole, read_deferral, read_foreign_key, write_foreign_key,
};
use frazil_block::Constant;
use frazil_catalog::{
    Constraint, ConstraintKind, Deferral, IndexEntry, IndexKey, PUBLIC, SchemaEntry, TableEntry,
};
use frazil_types::{ColumnDef, ColumnNumber, LogicalType, ObjectId, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The constraints of a table.
pub fn write_constraints(table: &TableEntry) -> Json {
    let constraints = table.constraints.iter().map(|c| match &c.kind {
        ConstraintKind::PrimaryKey { index } => {
            json!({ "id": c.id.0, "name": c.name, "primary_key": index.0 })
        }
        ConstraintKind::Unique { index } => json!({ "id": c.id.0, "name": c.name, "unique": index.0 }),
        ConstraintKind::Check {
            expression,
            columns,
            is_valid,
            of_domain,
        } => {
            let mut json = json!({ "id": c.id.0, "name": c.name, "check": expression, "columns": columns });
            // Version 12 has it.
            if !is_valid {
                json["not_valid"] = json!(true);
            }
            if let Some(check) = of_domain {
                json["of_domain"] = json!(check.0);
            }
            json
        }
        ConstraintKind::ForeignKey(key) => {
            json!({ "id": c.id.0, "name": c.name, "foreign_key": write_foreign_key(key) })
        }
    });
    constraints.collect()
}

/// The indexes of a table.
pub fn write_indexes(table: &TableEntry) -> Json {
    let key = |key: &IndexKey| {
        json!({
            "column": key.column,
            "descending": key.descending,
            "nulls_first": key.nulls_first,
        })
    };
    let indexes = table.indexes.iter().map(|index| {
        let mut json = json!({
            "id": index.id.0,
            "name": index.name,
            "keys": index.keys.iter().map(key).collect::<Vec<_>>(),
            "include": index.include,
            "unique": index.unique,
            "nulls_distinct": index.nulls_distinct,
            "constraint": index.constraint,
        });
        // Version 11 has it, and only for keys that are deferrable.
        if index.deferral != Deferral::Never {
            json["deferral"] = json!(deferral_name(index.deferral));
        }
        if let Some(condition) = index.condition {
            json["condition"] = json!(condition);
        }
        json
    });
    indexes.collect()
}

/// The constraints and indexes of a table's record, which directories before version 3 do not have. `None` if they are not
/// as [`write_constraints`] and [`write_indexes`] wrote them.
pub fn read_keys(table: ObjectId, json: &Json) -> Option<(Vec<Constraint>, Vec<Arc<IndexEntry>>)> {
    let constraints = list(&json["constraints"], read_constraint)?;
    let indexes = list(&json["indexes"], |index| read_index(table, index).map(Arc::new))?;
    Some((constraints, indexes))
}

/// A list, empty where there is none.
fn list<T>(json: &Json, read: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    match json {
        Json::Null => Some(Vec::new()),
        _ => json.as_array()?.iter().map(read).collect(),
    }
}

fn read_constraint(json: &Json) -> Option<Constraint> {
    let index = |key: &str| match &json[key] {
        Json::Null => Some(None),
        id => read_u32(id).map(|id| Some(ObjectId(id))),
    };
    let kind = match (index("primary_key")?, index("unique")?) {
        (Some(index), None) => ConstraintKind::PrimaryKey { index },
        (None, Some(index)) => ConstraintKind::Unique { index },
        (None, None) if !json["foreign_key"].is_null() => {
            ConstraintKind::ForeignKey(Box::new(read_foreign_key(&json["foreign_key"])?))
        }
        (None, None) => ConstraintKind::Check {
            expression: json["check"].as_str()?.to_string(),
            columns: positions(&json["columns"])?,
            is_valid: json["not_valid"].is_null(),
            of_domain: match &json["of_domain"] {
                Json::Null => None,
                id => Some(ObjectId(read_u32(id)?)),
            },
        },
        (Some(_), Some(_)) => return None,
    };
    let name = json["name"].as_str()?.to_string();
    // Constraints had no ids when the fields of version 9 were set. Its readers pass over this one.
    let id = match &json["id"] {
        Json::Null => Constraint::NO_ID,
        id => ObjectId(read_u32(id)?),
    };
    Some(Constraint { id, name, kind })
}

fn read_index(table: ObjectId, json: &Json) -> Option<IndexEntry> {
    let keys = json["keys"].as_array()?.iter().map(|key| {
        Some(IndexKey {
            column: position(&key["column"])?,
            descending: key["descending"].as_bool()?,
            nulls_first: key["nulls_first"].as_bool()?,
        })
    });
    Some(IndexEntry {
        id: ObjectId(read_u32(&json["id"])?),
        name: json["name"].as_str()?.to_string(),
        table,
        keys: keys.collect::<Option<_>>()?,
        include: positions(&json["include"])?,
        unique: json["unique"].as_bool()?,
        nulls_distinct: json["nulls_distinct"].as_bool()?,
        constraint: match &json["constraint"] {
            Json::Null => None,
            name => Some(name.as_str()?.to_string()),
        },
        condition: match &json["condition"] {
            Json::Null => None,
            condition => Some(position(condition)?),
        },
        deferral: match &json["deferral"] {
            Json::Null => Deferral::Never,
            name => read_deferral(name)?,
        },
    })
}

fn positions(json: &Json) -> Option<Vec<usize>> {
    json.as_array()?.iter().map(position).collect()
}

fn position(json: &Json) -> Option<usize> {
    json.as_u64()?.try_into().ok()
}

/// Checks that names and ids are given once, and that every name is in a schema that there is. An error says what is
/// wrong.
pub fn check_names(manifest: &Manifest) -> Result<(), String> {
    let mut schemas: BTreeSet<&str> = BTreeSet::new();
    let mut ids: BTreeSet<ObjectId> = BTreeSet::new();
    let public = [Arc::new(SchemaEntry::new(SchemaEntry::PUBLIC_ID, PUBLIC))];
    for schema in manifest.schemas.as_deref().unwrap_or(&public) {
        if !schemas.insert(&schema.name) || !ids.insert(schema.id) {
            return Err(format!(
                "the name or id of schema \"{}\" is given twice",
                schema.name
            ));
        }
    }
    let namespaces = ids.clone();
    let mut names: BTreeSet<(ObjectId, String)> = BTreeSet::new();
    let mut check = |namespace: ObjectId, id: ObjectId, name: &str| {
        if !namespaces.contains(&namespace) {
            return Err(format!("the schema of \"{name}\" is not there"));
        }
        match names.insert((namespace, name.to_string())) && ids.insert(id) {
            true => Ok(()),
            false => Err(format!("the name or id of \"{name}\" is given twice")),
        }
    };
    for view in &manifest.views {
        check(view.namespace, view.id, &view.name)?;
    }
    for table in manifest.tables.iter().map(|t| &t.entry) {
        check(table.namespace, table.id, &table.name)?;
        for index in &table.indexes {
            check(table.namespace, index.id, &index.name)?;
        }
    }
    for table in &manifest.unread {
        check(table.entry().namespace, table.id, &table.name)?;
    }
    for sequence in manifest.sequences.iter().map(|record| &record.entry) {
        check(sequence.namespace, sequence.id, &sequence.name)?;
    }
    for constraint in manifest.tables.iter().flat_map(|t| &t.entry.constraints) {
        if constraint.id != Constraint::NO_ID && !ids.insert(constraint.id) {
            return Err(format!(
                "the id of constraint \"{}\" is given twice",
                constraint.name
            ));
        }
    }
    for entry in &manifest.types {
        if !namespaces.contains(&entry.namespace) {
            return Err(format!("the schema of type \"{}\" is not there", entry.name));
        }
        let checks = entry.as_domain().into_iter().flat_map(|domain| &domain.checks);
        let mut checks = checks.map(|check| check.id).filter(|id| *id != Constraint::NO_ID);
        if !ids.insert(entry.id) || !checks.all(|id| ids.insert(id)) {
            return Err(format!("the id of type \"{}\" is given twice", entry.name));
        }
    }
    Ok(())
}

/// Checks that the columns, indexes and constraints of a table fit each other. An error says what is wrong.
pub fn check_table(table: &TableEntry) -> Result<(), String> {
    check_columns(table)?;
    check_generated(table)?;
    let width = table.schema.columns.len();
    for index in &table.indexes {
        let mut keys = index.stored_keys().map(|k| k.column);
        let is_stored = |column: usize| column < width + table.hidden.len();
        let is_condition = |column: usize| {
            let hidden = table.hidden_column(column);
            hidden.is_some_and(|hidden| hidden.ty == LogicalType::Boolean)
        };
        if index.keys.is_empty()
            || !keys.all(is_stored)
            || index.include.iter().any(|column| *column >= width)
            || !index.condition.is_none_or(is_condition)
            || index.constraint.is_some() && index.is_computed(width)
        {
            return Err(format!(
                "index \"{}\" is not one of columns of the table",
                index.name
            ));
        }
        let made_by = |name: &String| table.constraint(name).and_then(Constraint::index) == Some(index.id);
        if index.constraint.as_ref().is_some_and(|name| !made_by(name)) {
            return Err(format!(
                "index \"{}\" is of a constraint that is not there",
                index.name
            ));
        }
    }
    for constraint in &table.constraints {
        let is_good = match &constraint.kind {
            ConstraintKind::Check { columns, .. } => columns.iter().all(|&c| c < width),
            ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => {
                table.index(*index).is_some_and(|i| i.unique)
            }
            ConstraintKind::ForeignKey(key) => is_whole(table, key),
        };
        if !is_good {
            return Err(format!(
                "constraint \"{}\" has no unique index, or reads columns that the table does not have",
                constraint.name
            ));
        }
    }
    Ok(())
}

/// Checks that generated columns read columns of the table that are not generated.
fn check_generated(table: &TableEntry) -> Result<(), String> {
    if table.hidden.iter().any(|column| !column.is_generated()) {
        return Err("an expression of an index is missing".to_string());
    }
    let generated = table.stored_columns().filter(|c| c.is_generated());
    for column in generated {
        let reads = column.generated_reads().unwrap_or_default();
        let is_plain = |&read: &usize| table.schema.columns.get(read).is_some_and(|c| !c.is_generated());
        if !reads.iter().all(is_plain) {
            return Err(format!(
                "generated column \"{}\" reads columns that the table does not have, or generated ones",
                column.name
            ));
        }
    }
    Ok(())
}

/// Checks that columns are numbered, and that each one can hold the value of the rows that lack it. An error says
/// what is wrong.
fn check_columns(table: &TableEntry) -> Result<(), String> {
    let numbers: BTreeSet<ColumnNumber> = table.schema.numbers().collect();
    if numbers.len() != table.schema.columns.len()
        || numbers.first() == Some(&ColumnNumber(0))
        || numbers.last() > Some(&table.last_column)
    {
        return Err("the numbers of its columns are not those of different columns".to_string());
    }
    let holds = |column: &&ColumnDef| {
        let is_of_type = match &column.missing {
            Value::Null => true,
            Value::Bytes(_) => column.ty.is_binary(),
            Value::Text(_) => !column.ty.is_binary(),
            Value::Interval(_) => column.ty.is_span(),
            Value::Bool(_) | Value::Int(_) | Value::Double(_) => !column.ty.is_span(),
        };
        is_of_type && Constant::new(column.ty.native(), column.missing.clone()).is_ok()
    };
    let hidden: BTreeSet<ColumnNumber> = table.hidden.iter().map(|column| column.number).collect();
    if hidden.len() != table.hidden.len() || !hidden.iter().all(|number| number.is_hidden()) {
        return Err("the numbers of its indexes' expressions are not those of different ones".to_string());
    }
    match table.stored_columns().find(|column| !holds(column)) {
        Some(column) => Err(format!(
            "the value of column \"{}\" in rows that lack it is not one of type {}",
            column.name, column.ty
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format_version::VERSION;
    use crate::manifest::TableRecord;
    use frazil_catalog::{Catalog, NewConstraint, NewConstraintKind, NewIndex, NewTable, TableOptions};
    use frazil_types::{ColumnDefault, Result, Schema};
    use std::path::Path;

    /// A manifest of a table with keys, a check, an index and a computed default.
    fn manifest() -> Manifest {
        let mut columns = ["a", "b c"]
            .map(|n| ColumnDef::new(n, LogicalType::Integer))
            .to_vec();
        columns[1].default = Some(ColumnDefault::Expression("1 + \"ü\"()".to_string()));
        let unnamed = |kind| NewConstraint { name: None, kind };
        let constraints = vec![
            unnamed(NewConstraintKind::PrimaryKey {
                columns: vec![1, 0],
                deferral: Deferral::Never,
            }),
            unnamed(NewConstraintKind::Unique {
                columns: vec![1],
                nulls_distinct: false,
                deferral: Deferral::Never,
            }),
            unnamed(NewConstraintKind::Check {
                expression: "a > 0".to_string(),
                columns: vec![0],
                is_valid: true,
                of_domain: None,
            }),
        ];
        let new = NewTable {
            name: "t".into(),
            schema: Arc::new(Schema::new(columns)),
            options: TableOptions::default(),
            constraints,
        };
        let index = NewIndex {
            name: None,
            if_not_exists: false,
            table: ObjectId(1),
            keys: vec![IndexKey {
                column: 0,
                descending: true,
                nulls_first: false,
            }],
            include: vec![1],
            unique: false,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        let (catalog, _) = Catalog::new().create(new).unwrap();
        let (_, entry, _) = catalog.create_index(index).unwrap().unwrap();
        Manifest {
            tables: vec![TableRecord {
                entry: (*entry).clone(),
                next_chunk: 0,
                distinct: None,
                chunks: Vec::new(),
                behind: None,
            }],
            ..Manifest::default()
        }
    }

    fn read(text: &str) -> Result<Manifest> {
        let body = text.split_once('\n').unwrap().1;
        let crc = crc32c::crc32c(body.trim_end_matches('\n').as_bytes());
        let text = format!("frazil manifest {VERSION} {crc:08x}\n{body}");
        Manifest::from_bytes(Path::new("manifest"), text.as_bytes())
    }

    #[test]
    fn keys_checks_indexes_and_defaults_read_back() {
        let manifest = manifest();
        let text = String::from_utf8(manifest.to_bytes()).unwrap();
        assert_eq!(read(&text).unwrap(), manifest);
    }

    #[test]
    fn damaged_keys_are_named() {
        let text = String::from_utf8(manifest().to_bytes()).unwrap();
        for (good, bad, message) in [
            (
                "\"descending\":true",
                "\"descending\":7",
                "constraints or indexes",
            ),
            (
                "\"column\":0,\"descending\":true",
                "\"column\":9,\"descending\":true",
                "index \"t_a_b c_idx\"",
            ),
            ("\"include\":[1]", "\"include\":[2]", "index \"t_a_b c_idx\""),
            ("\"primary_key\":3", "\"primary_key\":2", "t_pkey"),
            (
                "\"id\":4,\"name\":\"t_pkey\"",
                "\"id\":5,\"name\":\"t_pkey\"",
                "\"t_pkey\" is given twice",
            ),
            (
                "\"name\":\"t_a_b c_idx\"",
                "\"name\":\"t\"",
                "\"t\" is given twice",
            ),
            ("\"number\":2", "\"number\":1", "numbers of its columns"),
            ("\"number\":2", "\"number\":3", "numbers of its columns"),
            ("\"columns\":[0],\"id\"", "\"columns\":[0,4],\"id\"", "t_a_check"),
        ] {
            let damaged = text.replace(good, bad);
            assert_ne!(damaged, text, "{good}");
            match read(&damaged) {
                Err(error) => {
                    assert!(error.message().contains(message), "{bad}: {error}");
                    assert_eq!(error.state(), frazil_types::SqlState::DATA_CORRUPTED);
                }
                // A fault of one table is that table's alone.
                Ok(manifest) => {
                    let unread = &manifest.unread[0];
                    assert!(unread.why.contains(message), "{bad}: {unread:?}");
                    assert_eq!((unread.name.as_str(), manifest.tables.len()), ("t", 0));
                }
            }
        }
    }
}
