//! Foreign keys in the manifest and in the log.

use frazil_catalog::{Deferral, ForeignKey, ReferentialAction, TableEntry};
use frazil_types::{ColumnNumber, ObjectId};
use serde_json::{Value as Json, json};

/// A foreign key as JSON.
pub fn write_foreign_key(key: &ForeignKey) -> Json {
    let numbers = |numbers: &[ColumnNumber]| numbers.iter().map(|n| n.0).collect::<Vec<_>>();
    json!({
        "columns": numbers(&key.columns),
        "parent": key.parent.0,
        "parent_columns": numbers(&key.parent_columns),
        "index": key.index.0,
        "match_full": key.match_full,
        "on_delete": key.on_delete.words(),
        "on_update": key.on_update.words(),
        "set_columns": numbers(&key.set_columns),
        "is_valid": key.is_valid,
        "deferral": deferral_name(key.deferral),
    })
}

/// The foreign key that [`write_foreign_key`] wrote.
pub fn read_foreign_key(json: &Json) -> Option<ForeignKey> {
    let numbers = |json: &Json| -> Option<Vec<ColumnNumber>> {
        let numbers = json.as_array()?.iter();
        numbers.map(|n| read_u32(n).map(ColumnNumber)).collect()
    };
    let action = |json: &Json| {
        let words = json.as_str()?;
        ReferentialAction::ALL.into_iter().find(|a| a.words() == words)
    };
    Some(ForeignKey {
        columns: numbers(&json["columns"])?,
        parent: ObjectId(read_u32(&json["parent"])?),
        parent_columns: numbers(&json["parent_columns"])?,
        index: ObjectId(read_u32(&json["index"])?),
        match_full: json["match_full"].as_bool()?,
        on_delete: action(&json["on_delete"])?,
        on_update: action(&json["on_update"])?,
        set_columns: numbers(&json["set_columns"])?,
        is_valid: json["is_valid"].as_bool()?,
        deferral: read_deferral(&json["deferral"])?,
    })
}

/// The name of a deferral in JSON.
pub fn deferral_name(deferral: Deferral) -> &'static str {
    match deferral {
        Deferral::Never => "never",
        Deferral::Immediate => "immediate",
        Deferral::Deferred => "deferred",
    }
}

/// The deferral that [`deferral_name`] names.
pub fn read_deferral(json: &Json) -> Option<Deferral> {
    let all = [Deferral::Never, Deferral::Immediate, Deferral::Deferred];
    let name = json.as_str()?;
    all.into_iter().find(|deferral| deferral_name(*deferral) == name)
}

/// True if the columns of a table's foreign key are columns of the table, as many as the parent's.
pub fn is_whole(table: &TableEntry, key: &ForeignKey) -> bool {
    let has = |number: &ColumnNumber| table.position_of(*number).is_some();
    !key.columns.is_empty()
        && key.columns.len() == key.parent_columns.len()
        && key.columns.iter().chain(&key.set_columns).all(has)
}

/// Checks that the parents of foreign keys are there, with their columns and indexes. `unread`: tables whose
/// columns are not known. An error says what is wrong.
pub fn check_references(tables: &[&TableEntry], unread: &[ObjectId]) -> Result<(), String> {
    for child in tables {
        for (constraint, key) in child.foreign_keys() {
            let parent = tables.iter().find(|table| table.id == key.parent);
            let is_there = match parent {
                Some(parent) => {
                    let has = |number: &ColumnNumber| parent.position_of(*number).is_some();
                    let index = parent.index(key.index);
                    index.is_some_and(|index| index.is_key()) && key.parent_columns.iter().all(has)
                }
                None => unread.contains(&key.parent),
            };
            if !is_there {
                return Err(format!(
                    "foreign key \"{}\" of table \"{}\" refers to a key that is not there",
                    constraint.name, child.name
                ));
            }
        }
    }
    Ok(())
}

fn read_u32(json: &Json) -> Option<u32> {
    json.as_u64()?.try_into().ok()
}
