//! Groups of strings found by their codes in a block.
//!
//! If the keys of an aggregation are string columns of a scan, and a block holds them in dictionaries, the scan
//! hands out a cell for each row instead of the strings: the address of a word that is the same for all rows with
//! the same keys. Generated code keeps the address of the group's row in that word. It looks for a group by its
//! strings only where the word is still 0, once for each combination of strings that occurs in a block; blocks with
//! equal dictionaries share the cells. Rows of hot chunks, and of blocks whose strings have no codes, have no cell:
//! their address is null.

use crate::abi::VectorColumn;
use crate::breakers::array::Array;
use crate::stored_groups::{MOST_KEYS, StoredGroups};
use frazil_storage::{CodedStrings, ScanCursor};
use frazil_types::{Error, MemoryBudget, Result, StringRef};

/// The key columns of an aggregation that are found by codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeKeys {
    /// Indices into the scan's columns, in the order of the keys.
    pub columns: Vec<usize>,
    /// Columns that nothing but the keys reads: they are not fetched where rows have cells.
    pub unread: Vec<usize>,
}

/// Rows of a block for each combination of its strings from which on cells are made: below that, most rows would be
/// the first of theirs.
const ROWS_OF_COMBINATION: usize = 4;

/// Rows with cells of one block from which on it counts how many of them were the first of their strings.
const ROWS_OF_VERDICT: usize = 1024;

/// One worker's cells.
#[derive(Debug)]
pub struct CodeGroups {
    keys: CodeKeys,
    budget: MemoryBudget,
    /// The way in which the rows of the open chunk come by their cells.
    open: Open,
    /// The columns whose numbers the cells of [`Open::Coded`] go by.
    coded: Option<CodedStrings>,
    /// Addresses of groups by the number of their strings; 0 where none is known.
    cells: Array<u64>,
    /// Rows that were handed out with the cells of [`Open::Coded`], which go by the dictionaries of one block.
    coded_rows: usize,
    /// True once most rows of a block were the first of their strings: restrictions may leave few of its rows.
    codes_are_given_up: bool,
    stored: StoredGroups,
    /// True if all rows of the vector in hand have cells.
    covers: bool,
    numbers: Vec<u32>,
    /// The address of the cell of each row of the vector in hand.
    places: Vec<*mut u64>,
}

/// A way in which rows come by their cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Rows have none.
    Plain,
    /// By the codes of dictionaries.
    Coded,
    /// By the bytes of compressed strings.
    Stored,
}

/// The cell of rows that have none.
static NO_CELL: u64 = 0;

impl CodeGroups {
    /// No cells yet. Their memory is taken from a budget: rows have none if it has no room.
    pub fn new(keys: CodeKeys, budget: &MemoryBudget) -> CodeGroups {
        CodeGroups {
            keys,
            budget: budget.clone(),
            open: Open::Plain,
            coded: None,
            cells: Array::empty(budget),
            coded_rows: 0,
            codes_are_given_up: false,
            stored: StoredGroups::new(budget),
            covers: false,
            numbers: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Takes up the chunk that a cursor has opened. XX001 if a column is damaged.
    pub(crate) fn open(&mut self, cursor: &ScanCursor) -> Result<()> {
        self.open = match cursor.coded_strings(&self.keys.columns)? {
            Some(coded) => self.open_coded(coded, cursor.chunk_rows()),
            None => self.open_stored(cursor)?,
        };
        Ok(())
    }

    fn open_coded(&mut self, coded: CodedStrings, rows: usize) -> Open {
        let is_known = (self.coded.as_ref()).is_some_and(|known| known.has_strings_of(&coded));
        if !is_known {
            let first = self.cells.iter().filter(|cell| **cell != 0).count();
            self.codes_are_given_up |= self.coded_rows >= ROWS_OF_VERDICT && first * 2 > self.coded_rows;
            self.coded_rows = 0;
            if self.codes_are_given_up || coded.count() * ROWS_OF_COMBINATION > rows {
                return Open::Plain;
            }
            self.coded = None;
            self.cells = Array::empty(&self.budget);
            match Array::words(0, coded.count(), &self.budget) {
                Ok(cells) => self.cells = cells,
                Err(_) => return Open::Plain,
            }
        }
        self.coded = Some(coded);
        Open::Coded
    }

    fn open_stored(&mut self, cursor: &ScanCursor) -> Result<Open> {
        let keys = &self.keys.columns;
        // Strings that are fetched anyway are as quickly hashed.
        let are_unread = self.keys.unread.len() == keys.len();
        Ok(
            match are_unread && keys.len() <= MOST_KEYS && self.stored.open(cursor, keys)? {
                true => Open::Stored,
                false => Open::Plain,
            },
        )
    }

    /// Returns true if a column of the scan need not be fetched for the vector in hand.
    pub(crate) fn replaces(&self, column: usize) -> bool {
        self.covers && self.keys.unread.contains(&column)
    }

    /// The cells of the rows of the cursor's vector, as a column of addresses, which is null for rows without one.
    /// The column lives until the next call. An internal error if a code is beyond the dictionary.
    pub(crate) fn column(&mut self, cursor: &mut ScanCursor, rows: usize) -> Result<VectorColumn> {
        self.covers = false;
        let places = match self.open {
            Open::Plain => None,
            Open::Coded => self.coded_places(cursor, rows)?.then_some(&self.places[..]),
            Open::Stored => {
                let found = self.stored.places(cursor, &self.keys.columns, rows);
                found.map(|(places, covers)| {
                    self.covers = covers;
                    places
                })
            }
        };
        let Some(places) = places else {
            return Ok(VectorColumn::constant((&raw const NO_CELL).cast()));
        };
        cursor.note_rows_by_code(rows);
        Ok(VectorColumn::flat(places.as_ptr().cast()))
    }

    /// Finds the cells of the rows of a vector by their codes; false if there are none.
    fn coded_places(&mut self, cursor: &mut ScanCursor, rows: usize) -> Result<bool> {
        let Some(coded) = &self.coded else {
            return Ok(false);
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
        self.coded_rows += rows;
        self.covers = true;
        Ok(true)
    }

    /// The string of a key in the group of a cell that was handed out for the vector in hand; `None` for NULL. It lives
    /// until the next vector. Panics if the cell is not one of these.
    pub(crate) fn string(&mut self, key: usize, cell: *const u64) -> Option<StringRef> {
        if self.open == Open::Stored {
            return self.stored.string(key, cell).expect("a word that was stored");
        }
        let number = (cell.addr() - self.cells.as_ptr().addr()) / size_of::<u64>();
        assert!(number < self.cells.len(), "a cell of another dictionary");
        self.coded.as_ref().and_then(|coded| coded.string(key, number))
    }
}
