//! An object as the crate that knows Parquet reads files: by ranges that it asks for one by one. Each of them would be
//! a request to the store, so whole ranges are read and kept: the end of the object, where its footer is, and a column
//! of a row group.

use crate::object_files::ObjectFile;
use bytes::{Buf, Bytes, buf};
use frazil_types::{Cancel, Error, MemoryBudget, Reservation, Result};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes at the end of an object that are read at once. Most footers are shorter.
const END_BYTES: u64 = 256 << 10;

/// Ranges of an object. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct ParquetRanges(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    object: Arc<ObjectFile>,
    cancel: Cancel,
    budget: MemoryBudget,
    /// The ends of ranges by their beginnings, each with the number of its column.
    ranges: BTreeMap<u64, (u64, usize)>,
    held: Mutex<Held>,
}

/// Bytes that were read.
#[derive(Debug, Default)]
struct Held {
    /// For each column, the range that was read last: readers of a column go from front to back.
    columns: BTreeMap<usize, Range>,
    /// The error that reading ended with. The crate's errors would tell it as text.
    failure: Option<Error>,
}

#[derive(Debug)]
struct Range {
    start: u64,
    bytes: Bytes,
    _memory: Reservation,
}

impl ParquetRanges {
    /// The end of an object, for its footer.
    pub(crate) fn of_end(object: &Arc<ObjectFile>, cancel: &Cancel, budget: &MemoryBudget) -> ParquetRanges {
        let bytes = object.bytes();
        let end = bytes.saturating_sub(END_BYTES);
        ParquetRanges::new(object, cancel, budget, BTreeMap::from([(end, (bytes, 0))]))
    }

    /// The columns of all row groups of an object.
    pub(crate) fn of_columns(
        object: &Arc<ObjectFile>,
        cancel: &Cancel,
        budget: &MemoryBudget,
        footer: &ParquetMetaData,
    ) -> ParquetRanges {
        let groups = footer.row_groups().iter();
        let of_group = groups.flat_map(|group| group.columns().iter().enumerate());
        let ranges = of_group.map(|(column, chunk)| {
            let (start, length) = chunk.byte_range();
            (start, (start.saturating_add(length), column))
        });
        ParquetRanges::new(object, cancel, budget, ranges.collect())
    }

    fn new(
        object: &Arc<ObjectFile>,
        cancel: &Cancel,
        budget: &MemoryBudget,
        ranges: BTreeMap<u64, (u64, usize)>,
    ) -> ParquetRanges {
        ParquetRanges(Arc::new(Inner {
            object: object.clone(),
            cancel: cancel.clone(),
            budget: budget.clone(),
            ranges,
            held: Mutex::default(),
        }))
    }

    /// The error that reading ended with, if it was not the file's bytes.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.held().failure.take()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes from `start` on: at least `length`, and to the end of their range.
    fn from(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start
            .checked_add(length as u64)
            .filter(|&end| end <= self.0.object.bytes());
        let Some(end) = end else {
            return Err(ParquetError::EOF(format!(
                "a range at byte {start} ends behind the file"
            )));
        };
        let mut held = self.held();
        let known = (self.0.ranges.range(..=start).next_back())
            .map(|(&first, &(last, column))| (first, last.min(self.0.object.bytes()), column))
            .filter(|&(_, last, _)| last >= end && last > start);
        let read = match known {
            Some((first, last, column)) => match held.columns.get(&column) {
                Some(range) if range.start == first => Ok(range.bytes.clone()),
                _ => self.range(first, last).map(|range| {
                    let bytes = range.bytes.clone();
                    held.columns.insert(column, range);
                    bytes
                }),
            }
            .map(|bytes| bytes.slice((start - first) as usize..)),
            // Bytes outside of the ranges: a long footer.
            None => self.range(start, end).map(|range| range.bytes),
        };
        read.map_err(|error| {
            held.failure = Some(error);
            ParquetError::General("a range could not be read".to_owned())
        })
    }

    fn range(&self, start: u64, end: u64) -> Result<Range> {
        let length = (end - start) as usize;
        let memory = self.0.budget.reserve(length)?;
        let mut bytes = vec![0; length];
        self.0.object.read_at(start, &mut bytes, &self.0.cancel)?;
        Ok(Range {
            start,
            bytes: Bytes::from(bytes),
            _memory: memory,
        })
    }
}

impl Length for ParquetRanges {
    fn len(&self) -> u64 {
        self.0.object.bytes()
    }
}

impl ChunkReader for ParquetRanges {
    type T = buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.from(start, 0)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        Ok(self.from(start, length)?.slice(..length))
    }
}
