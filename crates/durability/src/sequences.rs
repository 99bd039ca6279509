//! Sequences in the manifest and in changes of the catalog.

use crate::type_names::{read_name, read_type_name, write_name};
use frazil_catalog::{Catalog, Position, SequenceDefinition, SequenceEntry, SequenceOwner, SequenceState};
use frazil_types::{ColumnNumber, ObjectId};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A sequence, and where it stood when the manifest was written.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceRecord {
    /// The sequence. Its state is not the manifest's.
    pub entry: Arc<SequenceEntry>,
    /// The position at which it stood.
    pub position: Position,
}

/// The sequences of a catalog, for a manifest: from now on their values are logged anew, behind it.
pub(crate) fn sequences_of(catalog: &Catalog) -> Vec<SequenceRecord> {
    let record = |entry: &Arc<SequenceEntry>| SequenceRecord {
        position: entry.state.checkpointed(),
        entry: entry.clone(),
    };
    catalog.sequences().map(record).collect()
}

impl SequenceRecord {
    /// The sequence with a state of its own, which stands where the manifest says.
    pub(crate) fn restored(&self) -> Arc<SequenceEntry> {
        Arc::new(SequenceEntry {
            state: SequenceState::restored(self.position),
            ..SequenceEntry::clone(&self.entry)
        })
    }

    pub(crate) fn write(&self) -> Json {
        let mut json = write_sequence(&self.entry);
        json["value"] = json!(self.position.value);
        json["is_called"] = json!(self.position.is_called);
        json
    }

    pub(crate) fn read(json: &Json) -> Option<SequenceRecord> {
        Some(SequenceRecord {
            entry: Arc::new(read_sequence(json)?),
            position: Position {
                value: json["value"].as_i64()?,
                is_called: json["is_called"].as_bool()?,
            },
        })
    }
}

/// A sequence without where it stands.
pub(crate) fn write_sequence(entry: &SequenceEntry) -> Json {
    let definition = &entry.definition;
    let owner = |owner: SequenceOwner| json!([owner.table.0, owner.column.0, owner.is_identity]);
    json!({
        "id": entry.id.0,
        "name": write_name(entry.namespace, &entry.name),
        "type": definition.ty.stored_name(),
        "start": definition.start,
        "increment": definition.increment,
        "min": definition.min,
        "max": definition.max,
        "cache": definition.cache,
        "cycle": definition.cycle,
        "owner": entry.owner.map(owner),
    })
}

fn read_u32(json: &Json) -> Option<u32> {
    json.as_u64()?.try_into().ok()
}

/// Reads the JSON of [`write_sequence`]. The sequence stands at its beginning.
pub(crate) fn read_sequence(json: &Json) -> Option<SequenceEntry> {
    let (namespace, name) = read_name(&json["name"])?;
    let definition = SequenceDefinition {
        ty: read_type_name(json["type"].as_str()?, &[])?,
        start: json["start"].as_i64()?,
        increment: json["increment"].as_i64().filter(|increment| *increment != 0)?,
        min: json["min"].as_i64()?,
        max: json["max"].as_i64()?,
        cache: json["cache"].as_i64()?,
        cycle: json["cycle"].as_bool()?,
    };
    let owner = &json["owner"];
    Some(SequenceEntry {
        id: ObjectId(read_u32(&json["id"])?),
        namespace,
        name,
        definition,
        owner: match owner.is_null() {
            true => None,
            false => Some(SequenceOwner {
                table: ObjectId(read_u32(&owner[0])?),
                column: ColumnNumber(read_u32(&owner[1])?),
                is_identity: owner[2].as_bool()?,
            }),
        },
        state: SequenceState::restored(definition.beginning()),
    })
}
