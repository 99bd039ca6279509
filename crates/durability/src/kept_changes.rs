//! Changes of a table that could not be done again, kept as the log had them.
//!
//! While a table cannot be read, checkpoints go on, and give up the log behind them. So what the log has about the
//! table goes into a segment, which the table's record in the manifest names. When the table can be read again, these
//! changes are done again before those that the log has by then.

use crate::manifest::{read_entry, read_place, read_u32, write_entry, write_place};
use frazil_catalog::{TableEntry, TypeEntry};
use frazil_storage::SegmentPlace;
use frazil_types::{Error, Result, SqlState};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Changes of a table that its chunks in the manifest do not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Behind {
    /// The table when its chunks were written. The changes lead from there to its entry of now.
    pub entry: TableEntry,
    /// The places of the changes, in their order, each with its checksum.
    pub places: Vec<(SegmentPlace, u32)>,
    /// The segments of the blocks that they name.
    pub segments: BTreeSet<u64>,
}

impl Behind {
    pub(crate) fn write(&self) -> Json {
        let places = self.places.iter();
        json!({
            "entry": write_entry(&self.entry),
            "places": places.map(|(place, crc)| write_kept(place, *crc)).collect::<Vec<_>>(),
            "segments": self.segments,
        })
    }

    /// Reads what [`Behind::write`] wrote; the outer `None` means that it is something else. Directories before
    /// version 8 have none.
    pub(crate) fn read(json: &Json, types: &[Arc<TypeEntry>]) -> Option<Option<Behind>> {
        if json.is_null() {
            return Some(None);
        }
        let places = json["places"].as_array()?.iter();
        let places = places.map(|kept| Some((read_place(&kept["place"])?, read_u32(&kept["crc"])?)));
        let segments = json["segments"].as_array()?.iter();
        Some(Some(Behind {
            entry: read_entry(&json["entry"], types)?,
            places: places.collect::<Option<_>>()?,
            segments: segments.map(Json::as_u64).collect::<Option<_>>()?,
        }))
    }
}

pub(crate) fn write_kept(place: &SegmentPlace, crc: u32) -> Json {
    json!({ "place": write_place(place), "crc": crc })
}

/// Changes of one table, in order, as bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptChanges {
    bytes: Vec<u8>,
    /// The segments of the blocks that they name.
    pub segments: BTreeSet<u64>,
}

/// A change, and where the log had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptChange<'a> {
    /// Position and timestamp of its commit.
    pub place: (u64, u64),
    /// Its first byte in the redo of the commit.
    pub offset: usize,
    /// Its redo.
    pub bytes: &'a [u8],
}

impl KeptChanges {
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn add(&mut self, change: &KeptChange<'_>) {
        let (position, timestamp) = change.place;
        for number in [
            position,
            timestamp,
            change.offset as u64,
            change.bytes.len() as u64,
        ] {
            self.bytes.extend(number.to_le_bytes());
        }
        self.bytes.extend(change.bytes);
    }
}

/// The changes in bytes that [`KeptChanges::add`] made. XX001 for others.
pub(crate) fn kept_changes(mut bytes: &[u8]) -> Result<Vec<KeptChange<'_>>> {
    let cut_off = || {
        Error::new(
            SqlState::DATA_CORRUPTED,
            "changes that were kept of it are cut off",
        )
    };
    let mut changes = Vec::new();
    while !bytes.is_empty() {
        let mut numbers = [0; 4];
        for number in &mut numbers {
            let (first, rest) = bytes.split_first_chunk().ok_or_else(cut_off)?;
            (*number, bytes) = (u64::from_le_bytes(*first), rest);
        }
        let [position, timestamp, offset, length] = numbers;
        let (change, rest) = (usize::try_from(length).ok())
            .and_then(|length| bytes.split_at_checked(length))
            .ok_or_else(cut_off)?;
        bytes = rest;
        changes.push(KeptChange {
            place: (position, timestamp),
            offset: offset as usize,
            bytes: change,
        });
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back_and_those_that_are_cut_off_are_told() {
        let changes = [(1, 2, 3, &b"abc"[..]), (4, 5, 0, b""), (6, 7, 9, b"x")];
        let changes = changes.map(|(position, timestamp, offset, bytes)| KeptChange {
            place: (position, timestamp),
            offset,
            bytes,
        });
        let mut kept = KeptChanges::default();
        assert!(kept.is_empty());
        changes.iter().for_each(|change| kept.add(change));
        assert_eq!(kept_changes(kept.bytes()).unwrap(), changes);
        let mut whole = 0;
        for end in 0..kept.bytes().len() {
            match kept_changes(&kept.bytes()[..end]) {
                Ok(read) => {
                    assert_eq!(read, changes[..read.len()]);
                    whole += 1;
                }
                Err(e) => assert_eq!(e.state(), SqlState::DATA_CORRUPTED),
            }
        }
        // Nothing, one change, and two.
        assert_eq!(whole, 3);
    }
}
