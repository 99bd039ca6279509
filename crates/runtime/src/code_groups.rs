//! Groups of strings found by their codes in a block.
//!
//! If the keys of an aggregation are string columns of a scan, and a block holds them in dictionaries, the scan
//! hands out a cell for each row instead of the strings: the address of a word that is the same for all rows with
//! the same keys. Generated code keeps the address of the group's row in that word. It looks for a group by its
//! strings only where the word is still 0, once for each combination of strings that occurs in a block; blocks with
//! equal dictionaries share the cells. Rows of hot chunks, and of blocks whose strings have no codes, have no cell:
//! their address is null.

use crate::abi::VectorColumn;
use frazil_storage::{CodedStrings, ScanCursor};
use frazil_types::{Error, Result, StringRef};

/// The key columns of an aggregation that are found by codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeKeys {
    /// Indices into the scan's columns, in the order of the keys.
    pub columns: Vec<usize>,
    /// Those of the columns that nothing but the keys reads: they are not fetched where rows have cells.
    pub unread: Vec<usize>,
}

/// Rows of a block for each combination of its strings from which on cells are made: below that, most rows would be
/// the first of theirs.
const ROWS_OF_COMBINATION: usize = 4;

/// One worker's cells.
#[derive(Debug)]
pub struct CodeGroups {
    keys: CodeKeys,
    /// The columns whose numbers the cells go by.
    coded: Option<CodedStrings>,
    /// Addresses of groups by the number of their strings; 0 where none is known.
    cells: Vec<u64>,
    /// True if the rows of the open chunk have cells.
    is_open: bool,
    numbers: Vec<u32>,
    /// The address of the cell of each row of the vector in hand.
    places: Vec<*mut u64>,
}

/// The cell of rows that have none.
static NO_CELL: u64 = 0;

impl CodeGroups {
    /// No cells yet.
    pub fn new(keys: CodeKeys) -> CodeGroups {
        CodeGroups {
            keys,
            coded: None,
            cells: Vec::new(),
            is_open: false,
            numbers: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Takes up the chunk that a cursor has opened. XX001 if a column is damaged.
    pub(crate) fn open(&mut self, cursor: &ScanCursor) -> Result<()> {
        self.is_open = false;
        let Some(coded) = cursor.coded_strings(&self.keys.columns)? else {
            return Ok(());
        };
        let is_known = (self.coded.as_ref()).is_some_and(|known| known.has_strings_of(&coded));
        if !is_known {
            if coded.count() * ROWS_OF_COMBINATION > cursor.chunk_rows() {
                return Ok(());
            }
            self.cells.clear();
            self.cells.resize(coded.count(), 0);
        }
        self.coded = Some(coded);
        self.is_open = true;
        Ok(())
    }

    /// Returns true if a column of the scan need not be fetched for the vectors of the open chunk.
    pub(crate) fn replaces(&self, column: usize) -> bool {
        self.is_open && self.keys.unread.contains(&column)
    }

    /// The cells of the rows of the cursor's vector, as a column of addresses. It lives until the next call. An
    /// internal error if a code is beyond the dictionary.
    pub(crate) fn column(&mut self, cursor: &mut ScanCursor, rows: usize) -> Result<VectorColumn> {
        let Some(coded) = self.coded.as_ref().filter(|_| self.is_open) else {
            return Ok(VectorColumn::constant((&raw const NO_CELL).cast()));
        };
        cursor.fetch_numbers(coded, rows, &mut self.numbers);
        let greatest = self.numbers.iter().copied().max().unwrap_or(0);
        if greatest as usize >= self.cells.len() {
            return Err(Error::internal("a code beyond its dictionary"));
        }
        let first = self.cells.as_mut_ptr();
        let place = |&number: &u32| first.wrapping_add(number as usize);
        self.places.clear();
        self.places.extend(self.numbers.iter().map(place));
        Ok(VectorColumn::flat(self.places.as_ptr().cast()))
    }

    /// The string of a key in the combination of a cell; `None` for NULL. It lives as long as the chunk is open.
    /// Panics if the cell is not one of these.
    pub(crate) fn string(&self, key: usize, cell: *const u64) -> Option<StringRef> {
        let number = (cell.addr() - self.cells.as_ptr().addr()) / size_of::<u64>();
        assert!(number < self.cells.len(), "a cell of another dictionary");
        self.coded.as_ref().and_then(|coded| coded.string(key, number))
    }
}
