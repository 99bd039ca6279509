//! One row of a version of a table, by a key: index, chunk, visibility, cells. No scan is opened, and no memory taken that was not
//! taken for the row before.
//!
//! A candidate that the version shows has the key: UPDATE gives a row another id, and ids are not used again.

use crate::access_counters::LocalAccess;
use crate::chunk_entry::ChunkEntry;
use crate::fetched_column::FetchedColumn;
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndex;
use frazil_block::ColumnBuffer;
use frazil_index::{Direction, KeyRange};
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::key_encoding::after_prefix;
use frazil_types::{Error, KeyPart, NativeType, Result, RowId, StringRef, Value};

/// A row that a version of a table shows.
#[derive(Clone, Copy, Debug)]
pub struct FoundRow<'a> {
    version: &'a TableSnapshot,
    entry: &'a ChunkEntry,
    offset: u16,
}

/// Scratch for cells that must be decoded (frozen or reshaped columns). Reused for every row of a table.
#[derive(Debug)]
pub struct RowCells {
    /// One for each column that is fetched.
    buffers: Vec<ColumnBuffer>,
    /// What was asked of the table's columns; made when the first row is counted.
    access: Option<LocalAccess>,
    /// Rows counted in it.
    counted: u64,
    /// Whether a long string was fetched into a buffer, which keeps its memory.
    has_long: bool,
}

/// Bytes of a string for which no memory is kept.
const LONG: usize = 64 << 10;

/// Rows of which the use of columns is counted together: a count of its own for each costs as much as to fetch it.
const COUNTED_TOGETHER: u64 = 64;

impl TableIndex {
    /// Appends the `i`-th part of a key, which is that of a value. False, and nothing appended, if no row has the value: it is
    /// NULL, or none of the column's type.
    pub fn append_part(&self, i: usize, value: &Value, key: &mut Vec<u8>) -> bool {
        let part = self.part(i);
        let some = has_value(&part.parts()[0], value);
        if some {
            part.encode(std::slice::from_ref(value), key);
        }
        some
    }
}

/// Whether a value is one that the part's type has, and not NULL.
fn has_value(part: &KeyPart, value: &Value) -> bool {
    match (value, part.ty.native()) {
        (Value::Interval(_), NativeType::I128) => true,
        _ => crate::index_lookup::has_value(part, value),
    }
}

impl TableSnapshot {
    /// The row that has a key of a unique index, if the version shows one.
    pub fn find_key(&self, index: &TableIndex, key: &[u8]) -> Option<FoundRow<'_>> {
        let mut found = None;
        index.candidates().get(key, &mut |row| {
            found = self.find_row(row);
            found.is_none()
        });
        index.count_use();
        found
    }

    /// Calls `found` with the rows that the version shows and whose keys in an index begin with some bytes,
    /// in the order of the index, until `found` gives false.
    pub fn rows_of_prefix(&self, index: &TableIndex, prefix: &[u8], found: &mut dyn FnMut(RowId) -> bool) {
        let mut to = prefix.to_vec();
        let range = KeyRange {
            from: Some(prefix),
            to: after_prefix(&mut to).then_some(&to[..]),
        };
        (index.candidates()).range(range, Direction::Ascending, &mut |_, row| {
            !self.shows(row) || found(row)
        });
    }

    /// The row of an id, also one that is deleted. An internal error if there is none.
    pub(crate) fn written_row(&self, id: RowId) -> Result<FoundRow<'_>> {
        let entry = self.entry(id.chunk());
        let entry = entry.filter(|entry| u32::from(id.offset()) < entry.view().rows());
        match entry {
            Some(entry) => Ok(FoundRow {
                version: self,
                entry,
                offset: id.offset(),
            }),
            None => Err(no_such_row(self, id)),
        }
    }

    /// The row of an id, if the version shows it.
    pub fn find_row(&self, id: RowId) -> Option<FoundRow<'_>> {
        let entry = self.entry(id.chunk())?;
        let (view, offset) = (entry.view(), id.offset());
        let is_shown = u32::from(offset) < view.rows() && !view.is_deleted(offset.into());
        is_shown.then_some(FoundRow {
            version: self,
            entry,
            offset,
        })
    }
}

/// An id that no row of a version has.
fn no_such_row(version: &TableSnapshot, id: RowId) -> Error {
    Error::internal(format!(
        "row {} of chunk {}, which table \"{}\" does not have",
        id.offset(),
        id.chunk(),
        version.table().name()
    ))
}

impl<'a> FoundRow<'a> {
    /// Its id.
    pub fn id(&self) -> RowId {
        RowId::new(self.entry.number(), self.offset)
    }

    /// The entry of its chunk.
    pub(crate) fn entry(&self) -> &'a ChunkEntry {
        self.entry
    }
}

impl RowCells {
    /// Room for so many columns.
    pub fn new(columns: usize) -> RowCells {
        RowCells {
            buffers: (0..columns).map(|_| ColumnBuffer::new()).collect(),
            access: None,
            counted: 0,
            has_long: false,
        }
    }

    /// Gives back what memory long strings have taken; what was fetched is gone.
    pub fn rest(&mut self) {
        if self.has_long {
            self.buffers.fill_with(ColumnBuffer::new);
            self.has_long = false;
        }
    }

    /// Counts that these columns were asked for of a row: as visits of its chunk, in which single values were fetched.
    pub fn count(&mut self, row: FoundRow<'_>, columns: impl Iterator<Item = usize>) {
        let table = row.version.table();
        let of_table = || LocalAccess::new(table.schema().columns.len());
        let access = self.access.get_or_insert_with(of_table);
        columns.for_each(|column| access.column(column).fetched += 1);
        if let Some(frozen) = row.entry.frozen_chunk() {
            frozen.visits.count();
        }
        self.counted += 1;
        if self.counted == COUNTED_TOGETHER {
            access.flush_visits(table.access(), std::mem::take(&mut self.counted));
        }
    }

    /// Several columns of a row, each by the number it is fetched as and its position in the table, as [`RowCells::fetch`] does.
    pub fn fetch_all(
        &mut self,
        row: FoundRow<'_>,
        columns: &[(usize, usize)],
        mut each: impl FnMut(usize, FetchedColumn),
    ) -> Result<()> {
        let view = row.entry.view();
        let Some(hot) = view.hot() else {
            let positions = columns.iter().map(|(_, column)| *column);
            (view.expect_cells(positions, row.offset))
                .map_err(|e| row.entry.blame(row.version.table().entry(), e))?;
            let mut columns = columns.iter();
            return columns.try_for_each(|&(i, column)| {
                each(i, self.fetch(row, i, column)?);
                Ok(())
            });
        };
        for &(i, column) in columns {
            let (values, validity) = hot.cell(column, row.offset.into());
            // The cells of a row may lie in as many lines, and are read when all are found.
            prefetch_read(values);
            let fetched = FetchedColumn {
                values,
                validity,
                constant: false,
            };
            each(i, fetched);
        }
        Ok(())
    }

    /// A column (its position in the table) of a row, as the `i`-th one fetched: a vector of one row. It lives as long as the row
    /// is borrowed and nothing else is fetched as the `i`-th.
    pub fn fetch(&mut self, row: FoundRow<'_>, i: usize, column: usize) -> Result<FetchedColumn> {
        let cell = row.entry.view().cell(column, row.offset, &mut self.buffers[i]);
        let (values, validity) = cell.map_err(|e| row.entry.blame(row.version.table().entry(), e))?;
        let buffer = &self.buffers[i];
        if !buffer.is_empty() && buffer.native() == NativeType::String {
            self.has_long |= buffer.values::<StringRef>()[0].len() > LONG;
        }
        Ok(FetchedColumn {
            values,
            validity,
            constant: false,
        })
    }
}
