//! Tables that cannot be read. The directory opens without them: their statements are errors, and all others go on.
//!
//! Nothing of such a table is thrown away. Checkpoints keep its record in the manifest as it is, and so its segments;
//! and what the log has about it ([`crate::kept_changes`]). So it is there again when its files are put back, or when
//! a program opens the directory that understands it. DROP TABLE gives it up.

use crate::kept_changes::{KeptChanges, write_kept};
use crate::manifest::{TableRecord, read_place, read_u32, write_entry, write_table};
use crate::segment::NewSegment;
use crate::type_names::read_name;
use frazil_catalog::{SchemaEntry, TableEntry, TableOptions};
use frazil_storage::SegmentPlace;
use frazil_types::{Error, ObjectId, Result, Schema, SqlState};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The record of a table in the manifest, as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadTable {
    /// The table's identity.
    pub id: ObjectId,
    /// Its name.
    pub name: String,
    /// Why it is not read.
    pub why: String,
    json: Json,
}

impl UnreadTable {
    /// A record that is not one of a table that this program knows. `None` if not even name and id can be read.
    pub(crate) fn of_json(json: &Json, why: String) -> Option<UnreadTable> {
        Some(UnreadTable {
            id: ObjectId(read_u32(&json["id"])?),
            name: read_name(&json["name"])?.1,
            why,
            json: json.clone(),
        })
    }

    pub(crate) fn json(&self) -> &Json {
        &self.json
    }

    /// The entry that the catalog has for it: a table of the name, without columns.
    pub(crate) fn entry(&self) -> TableEntry {
        let none = Arc::new(Schema::default());
        let namespace = read_name(&self.json["name"]).map_or(SchemaEntry::PUBLIC_ID, |name| name.0);
        TableEntry {
            namespace,
            ..TableEntry::new(self.id, &self.name, none, TableOptions::default())
        }
    }

    /// The places of its chunks and its changes, as far as they can be read.
    pub(crate) fn places(&self) -> impl Iterator<Item = SegmentPlace> {
        let list = |list: &Json, read: &dyn Fn(&Json) -> Vec<SegmentPlace>| -> Vec<SegmentPlace> {
            list.as_array().into_iter().flatten().flat_map(read).collect()
        };
        let chunks = list(&self.json["chunks"], &|chunk| {
            let places = [&chunk["block"], &chunk["deleted"]["place"]];
            places.into_iter().filter_map(read_place).collect()
        });
        let behind = list(&self.json["behind"]["places"], &|kept| {
            read_place(&kept["place"]).into_iter().collect()
        });
        chunks.into_iter().chain(behind)
    }

    /// The segments that it needs, as far as that can be read.
    pub(crate) fn segments(&self) -> impl Iterator<Item = u64> {
        let named = self.json["behind"]["segments"].as_array().into_iter().flatten();
        (self.places().map(|place| place.segment)).chain(named.filter_map(Json::as_u64))
    }
}

/// A table that could not be read when the directory was opened.
#[derive(Clone, Debug)]
pub(crate) struct DamagedTable {
    unread: UnreadTable,
    /// True if the record itself was read.
    is_known: bool,
    /// Changes that the log has of it, until a checkpoint has them.
    pub changes: KeptChanges,
}

impl DamagedTable {
    /// A table whose record is read, and whose files or changes are damaged.
    pub fn of_record(record: &TableRecord, fault: &Error) -> DamagedTable {
        let json = write_table(record);
        let unread = UnreadTable {
            id: record.entry.id,
            name: record.entry.name.clone(),
            why: fault.message().to_string(),
            json,
        };
        DamagedTable::new(unread, true)
    }

    /// A table whose record is not read.
    pub fn of_unread(unread: &UnreadTable) -> DamagedTable {
        DamagedTable::new(unread.clone(), false)
    }

    fn new(unread: UnreadTable, is_known: bool) -> DamagedTable {
        DamagedTable {
            unread,
            is_known,
            changes: KeptChanges::default(),
        }
    }

    /// The error of the statements of the table, which has this name by now: XX001.
    pub fn fault(&self, name: &str) -> Error {
        let message = format!("table \"{name}\" cannot be read: {}", self.unread.why);
        Error::new(SqlState::DATA_CORRUPTED, message)
            .with_hint("frazil verify lists the damage, frazil dump --salvage writes the rest; DROP TABLE abandons it")
            .of_table(name)
    }

    /// The places of the bytes that it needs.
    pub fn places(&self) -> impl Iterator<Item = SegmentPlace> {
        self.unread.places()
    }

    /// The segments of the blocks that its changes name.
    pub fn new_segments(&self) -> impl Iterator<Item = u64> {
        self.changes.segments.iter().copied()
    }

    /// The record for the next manifest, whose changes go to a segment. `entry`: the table in the catalog of now.
    pub fn write(&self, entry: &TableEntry, segment: &mut NewSegment) -> Result<UnreadTable> {
        let mut unread = self.unread.clone();
        if self.changes.is_empty() {
            return Ok(unread);
        }
        let bytes = self.changes.bytes();
        let place = segment.write(bytes)?;
        let json = &mut unread.json;
        if json["behind"].is_null() {
            let keys = [
                "id",
                "name",
                "options",
                "columns",
                "last_column",
                "constraints",
                "indexes",
            ];
            let before = keys.map(|key| (key.to_string(), json[key].clone()));
            json["behind"] = json!({
                "entry": Json::Object(before.into_iter().collect()),
                "places": [],
                "segments": [],
            });
        }
        let places = json["behind"]["places"].as_array_mut().into_iter();
        places.for_each(|places| places.push(write_kept(&place, crc32c::crc32c(bytes))));
        let named = unread.segments_behind();
        let json = &mut unread.json;
        json["behind"]["segments"] = json!(named.union(&self.changes.segments).collect::<Vec<_>>());
        if self.is_known
            && let Json::Object(now) = write_entry(entry)
        {
            now.into_iter().for_each(|(key, value)| json[key] = value);
            unread.name = entry.name.clone();
        }
        Ok(unread)
    }

    /// The next manifest has the record: its changes are there.
    pub fn was_written(&mut self, unread: UnreadTable) {
        self.unread = unread;
        self.changes = KeptChanges::default();
    }
}

impl UnreadTable {
    fn segments_behind(&self) -> BTreeSet<u64> {
        let named = self.json["behind"]["segments"].as_array().into_iter().flatten();
        named.filter_map(Json::as_u64).collect()
    }
}
