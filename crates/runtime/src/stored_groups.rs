//! Cells of groups by the stored bytes of compressed strings.
//!
//! Equal bytes mean equal strings where symbol tables are equal, as those of most blocks of a column are. So a hash
//! table of stored bytes leads to the cell of a group, and a string is decompressed once for each table in which it
//! occurs. If most rows of a block are the first of their strings, that does not pay, and the table is given up.

use crate::breakers::array::Array;
use frazil_block::Block;
use frazil_kernels::hash::HashKey;
use frazil_kernels::prefetch::prefetch_read;
use frazil_storage::ScanCursor;
use frazil_types::{Error, MemoryBudget, Result, StringRef};
use std::mem::offset_of;

/// A place of the hash table.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Slot {
    /// A word of [`Block::stored_words`] with the number of its symbol table; 0 if the place is free.
    word: u128,
    /// The address of the group's row; 0 if it is not known.
    cell: u64,
}

/// Places at first, and at most: 8 MB, which two of three strings of a dictionary's size fill.
const FEWEST_SLOTS: usize = 1 << 11;
const MOST_SLOTS: usize = 1 << 18;
/// Symbol tables that are told apart.
const MOST_TABLES: usize = 8;
/// Bits of a word behind its stored bytes, where the number of the symbol table is.
const TABLE_SHIFT: u32 = 96;
/// A table that is full becomes larger by this factor.
const GROWTH: usize = 4;
/// Places that are on their way while one is looked at.
const AHEAD: usize = 32;
/// Bytes of a page of decompressed strings. It holds any string of a word.
const PAGE: usize = 16 << 10;

/// The cells of one worker's groups.
#[derive(Debug)]
pub(crate) struct StoredGroups {
    budget: MemoryBudget,
    /// Blocks that hold the symbol tables, by their numbers, with the column.
    tables: Vec<(Block, usize)>,
    /// The block of the open chunk, and the number of its symbol table.
    block: Option<(Block, usize)>,
    slots: Array<Slot>,
    taken: usize,
    /// Rows of the open chunk, and how many of them took a place.
    rows: usize,
    fresh: usize,
    /// Chunks before the open one.
    chunks: usize,
    is_given_up: bool,
    words: Vec<u128>,
    /// The place at which each row of the vector in hand is looked for first.
    firsts: Vec<u32>,
    /// The addresses of the cells of these rows; null for rows without one.
    places: Vec<*mut u64>,
    /// Strings that were decompressed for the vector in hand.
    pages: Vec<Vec<u8>>,
}

impl StoredGroups {
    /// No cells yet. Their memory is taken from a budget.
    pub fn new(budget: &MemoryBudget) -> StoredGroups {
        StoredGroups {
            budget: budget.clone(),
            tables: Vec::new(),
            block: None,
            slots: Array::empty(budget),
            taken: 0,
            rows: 0,
            fresh: 0,
            chunks: 0,
            is_given_up: false,
            words: Vec::new(),
            firsts: Vec::new(),
            places: Vec::new(),
            pages: Vec::new(),
        }
    }

    /// Takes up the chunk that a cursor has opened, whose column (an index into the scan's columns) is the key.
    /// Returns false if its rows have no cells. XX001 if the column is damaged.
    pub fn open(&mut self, cursor: &ScanCursor, index: usize) -> Result<bool> {
        let mostly_fresh = self.chunks > 1 && self.fresh * 2 > self.rows;
        self.is_given_up |= mostly_fresh;
        if self.is_given_up {
            (self.slots, self.block) = (Array::empty(&self.budget), None);
            return Ok(false);
        }
        let Some((block, column)) = cursor.stored_strings(index)? else {
            return Ok(false);
        };
        let symbols = block.stored_symbols(column)?;
        let mut number = None;
        for (i, (known, column)) in self.tables.iter().enumerate() {
            if known.stored_symbols(*column)? == symbols {
                number = Some(i);
            }
        }
        let table = match number {
            Some(number) => number,
            None if self.tables.len() == MOST_TABLES => return Ok(false),
            None => {
                self.tables.push((block.clone(), column));
                self.tables.len() - 1
            }
        };
        self.block = Some((block, table));
        (self.rows, self.fresh) = (0, 0);
        self.chunks += 1;
        Ok(true)
    }

    /// The addresses of the cells of the rows of the cursor's vector; null for strings of too many bytes. `None` if
    /// there is no room for cells. The second result is true if no address is null.
    pub fn places(
        &mut self,
        cursor: &mut ScanCursor,
        index: usize,
        rows: usize,
    ) -> Option<(&[*mut u64], bool)> {
        self.pages.truncate(1);
        self.pages.iter_mut().for_each(Vec::clear);
        if self.is_given_up || !self.has_room(rows) {
            return None;
        }
        let (block, table) = self.block.as_ref()?;
        cursor.fetch_words(index, block, rows, &mut self.words);
        let table = (*table as u128) << TABLE_SHIFT;
        let slots = &mut self.slots[..];
        let count = slots.len();
        let first = |word: &mut u128| {
            *word |= if *word == 0 { 0 } else { table };
            first_place(*word, count) as u32
        };
        self.firsts.clear();
        self.firsts.extend(self.words.iter_mut().map(first));
        let cells = slots.as_mut_ptr().wrapping_byte_add(offset_of!(Slot, cell));
        self.places.clear();
        let mut is_whole = true;
        let mut fresh = 0;
        for (row, (&word, &first)) in self.words.iter().zip(&self.firsts).enumerate() {
            if let Some(&ahead) = self.firsts.get(row + AHEAD) {
                prefetch_read(&raw const slots[ahead as usize]);
            }
            if word == 0 {
                is_whole = false;
                self.places.push(std::ptr::null_mut());
                continue;
            }
            let place = place_of(slots, first as usize, word);
            let slot = &mut slots[place];
            if slot.word == 0 {
                slot.word = word;
                fresh += 1;
            }
            prefetch_read(slot.cell as *const u8);
            self.places.push(cells.wrapping_add(place).cast());
        }
        self.taken += fresh;
        self.fresh += fresh;
        self.rows += rows;
        Some((&self.places, is_whole))
    }

    /// The string of a cell that was handed out for the vector in hand. It is transient: it lives until the next
    /// vector. An internal error for another address.
    pub fn string(&mut self, cell: *const u64) -> Result<StringRef> {
        let slots = self.slots.as_ptr().addr();
        let place = (cell.addr() - slots) / size_of::<Slot>();
        let slot = self.slots.get(place).filter(|slot| slot.word != 0);
        let word = slot.map(|slot| slot.word);
        let word = word.ok_or_else(|| Error::internal("a cell that holds no group"))?;
        let (block, column) = &self.tables[(word >> TABLE_SHIFT) as u8 as usize];
        let longest = frazil_block::string_codes::STORED_BYTES * 8 + 8;
        if self
            .pages
            .last()
            .is_none_or(|page| page.capacity() - page.len() < longest)
        {
            self.pages.push(Vec::with_capacity(PAGE));
        }
        let page = self.pages.last_mut();
        let page = page.ok_or_else(|| Error::internal("strings without a page"))?;
        let start = page.len();
        block.text_of_word(*column, word, page)?;
        // SAFETY: a page does not grow beyond its capacity, so that its bytes stay where they are until the next vector,
        // which is what the transient mark says.
        Ok(unsafe { StringRef::new(&page[start..]) }.as_transient())
    }

    /// Makes room for `rows` more strings; false if there would be too many, or memory is short.
    fn has_room(&mut self, rows: usize) -> bool {
        let needed = ((self.taken + rows) * 2).next_power_of_two();
        if needed <= self.slots.len() {
            return true;
        }
        let wanted = needed
            .max(self.slots.len() * GROWTH)
            .clamp(FEWEST_SLOTS, MOST_SLOTS);
        // SAFETY: a free place is all 0.
        let grown = (needed <= wanted).then(|| unsafe { Array::<Slot>::zeroed(wanted, &self.budget) });
        let Some(Ok(mut slots)) = grown else {
            self.is_given_up = true;
            return false;
        };
        for slot in self.slots.iter().filter(|slot| slot.word != 0) {
            let place = place_of(&slots, first_place(slot.word, wanted), slot.word);
            slots[place] = *slot;
        }
        self.slots = slots;
        true
    }
}

/// The first place at which a word is looked for among a power of two of them.
#[inline]
fn first_place(word: u128, slots: usize) -> usize {
    (word.cast_signed().fold(0) >> 32) as usize & (slots - 1)
}

/// The place that holds a word, or the free one that it may take, from the first place on at which it is looked
/// for. At least one place is free.
#[inline]
fn place_of(slots: &[Slot], first: usize, word: u128) -> usize {
    let mut place = first;
    while slots[place].word != word && slots[place].word != 0 {
        place = (place + 1) & (slots.len() - 1);
    }
    place
}
