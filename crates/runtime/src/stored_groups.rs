//! Cells of groups by the stored bytes of compressed strings of one or two columns.
//!
//! Equal bytes mean equal strings where symbol tables are equal, as those of most blocks of a column are. So a hash
//! table of stored bytes leads to the cell of a group, and a string is decompressed once for each table in which it
//! occurs. If most rows of a block are the first of their strings, that does not pay, and the table is given up.
//!
//! Strings lie side by side, and an index of four bytes a place, with a part of each hash, leads to them: it stays in
//! the second-level cache, and what a row fetches from farther away are its string and its group. A vector first goes
//! through the index, which brings the strings on their way, and then compares them.

use crate::breakers::array::Array;
use frazil_block::Block;
use frazil_block::string_codes::is_null_word;
use frazil_kernels::hash::HashKey;
use frazil_kernels::prefetch::prefetch_read;
use frazil_storage::ScanCursor;
use frazil_types::{Error, MemoryBudget, Result, StringRef};
use std::mem::offset_of;

/// The string of the first key, and the cell.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Slot {
    /// A word of [`Block::stored_words`] with the number of its symbol table.
    word: u128,
    /// The address of the group's row; 0 if it is not known.
    cell: u64,
}

/// Keys that groups have at most.
pub(crate) const MOST_KEYS: usize = 2;
/// Strings for which there is room at first, and at most: they take 8 MB, and their index 2.
const FEWEST_SLOTS: usize = 1 << 11;
const MOST_SLOTS: usize = 1 << 18;
/// Places of the index for each string, at least.
const ROOM: usize = 2;
/// Bits of a place of the index that hold the number of a string plus one; 0 if the place is free. Those above
/// are of the string's hash.
const NUMBER: u32 = (1 << 19) - 1;
/// Symbol tables that are told apart.
const MOST_TABLES: usize = 8;
/// Bits of a word behind its stored bytes, where the number of the symbol table is.
const TABLE_SHIFT: u32 = 96;
/// Places of the index that are on their way while one is looked at.
const AHEAD: usize = 32;
/// A table that is full becomes larger by this factor.
const GROWTH: usize = 4;
/// Bytes of a page of decompressed strings. It holds any string of a word.
const PAGE: usize = 16 << 10;

/// The cells of one worker's groups.
#[derive(Debug)]
pub(crate) struct StoredGroups {
    budget: MemoryBudget,
    /// Blocks that hold the symbol tables, by their numbers, with the column.
    tables: Vec<(Block, usize)>,
    /// The block of the open chunk, and the number of the symbol table of each key.
    block: Option<(Block, [usize; MOST_KEYS])>,
    /// Places that lead to strings: see [`NUMBER`].
    index: Array<u32>,
    /// The strings, and room for more of them.
    slots: Array<Slot>,
    /// For each slot the word of its second key; empty if groups have one key.
    seconds: Array<u128>,
    /// Number of strings.
    taken: usize,
    /// Rows of the open chunk, and how many of them took a place.
    rows: usize,
    fresh: usize,
    /// Chunks before the open one.
    chunks: usize,
    is_given_up: bool,
    /// The words of the rows of the vector in hand, by key.
    words: [Vec<u128>; MOST_KEYS],
    /// The hash of each row of the vector in hand.
    hashes: Vec<u64>,
    /// The number plus one of the string that is perhaps that of the row; 0 for none.
    numbers: Vec<u32>,
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
            index: Array::empty(budget),
            slots: Array::empty(budget),
            seconds: Array::empty(budget),
            taken: 0,
            rows: 0,
            fresh: 0,
            chunks: 0,
            is_given_up: false,
            words: Default::default(),
            hashes: Vec::new(),
            numbers: Vec::new(),
            places: Vec::new(),
            pages: Vec::new(),
        }
    }

    /// Takes up the chunk that a cursor has opened, whose columns (indices into the scan's columns, at most
    /// [`MOST_KEYS`]) are the keys. Returns false if its rows have no cells. XX001 if a column is damaged.
    pub fn open(&mut self, cursor: &ScanCursor, keys: &[usize]) -> Result<bool> {
        let mostly_fresh = self.chunks > 1 && self.fresh * 2 > self.rows;
        self.is_given_up |= mostly_fresh;
        self.block = None;
        if self.is_given_up {
            (self.index, self.slots) = (Array::empty(&self.budget), Array::empty(&self.budget));
            self.seconds = Array::empty(&self.budget);
            return Ok(false);
        }
        let mut numbers = [0; MOST_KEYS];
        let mut opened = None;
        for (&key, number) in keys.iter().zip(&mut numbers) {
            let Some((block, column)) = cursor.stored_strings(key)? else {
                return Ok(false);
            };
            let Some(table) = self.table_of(&block, column)? else {
                return Ok(false);
            };
            *number = table;
            opened = Some(block);
        }
        let Some(block) = opened else {
            return Ok(false);
        };
        self.block = Some((block, numbers));
        (self.rows, self.fresh) = (0, 0);
        self.chunks += 1;
        Ok(true)
    }

    /// The number of the symbol table of a column; `None` if there are too many tables.
    fn table_of(&mut self, block: &Block, column: usize) -> Result<Option<usize>> {
        let symbols = block.stored_symbols(column)?;
        for (number, (known, column)) in self.tables.iter().enumerate() {
            if known.stored_symbols(*column)? == symbols {
                return Ok(Some(number));
            }
        }
        if self.tables.len() == MOST_TABLES {
            return Ok(None);
        }
        self.tables.push((block.clone(), column));
        Ok(Some(self.tables.len() - 1))
    }

    /// The addresses of the cells of the rows of the cursor's vector, whose keys are those of [`StoredGroups::open`];
    /// null for rows with a string of too many bytes. `None` if the cells have no room. The second result is true if no
    /// address is null.
    pub fn places(
        &mut self,
        cursor: &mut ScanCursor,
        keys: &[usize],
        rows: usize,
    ) -> Option<(&[*mut u64], bool)> {
        self.pages.truncate(1);
        self.pages.iter_mut().for_each(Vec::clear);
        if self.is_given_up || !self.has_room(rows, keys.len()) {
            return None;
        }
        let (block, tables) = self.block.as_ref()?;
        for ((&key, &table), words) in keys.iter().zip(tables).zip(&mut self.words) {
            cursor.fetch_words(key, block, rows, words);
            let table = (table as u128) << TABLE_SHIFT;
            words
                .iter_mut()
                .for_each(|word| *word |= if *word == 0 { 0 } else { table });
        }
        let known = self.taken;
        let is_whole = match keys.len() {
            1 => self.find::<false>(rows),
            _ => self.find::<true>(rows),
        };
        self.fresh += self.taken - known;
        self.rows += rows;
        Some((&self.places, is_whole))
    }

    /// Finds the places of the rows of the vector in hand by their words: of two keys, or of the first one alone.
    /// Returns true if each row has a place.
    fn find<const TWO: bool>(&mut self, rows: usize) -> bool {
        let slots = &mut self.slots[..];
        let [firsts, others] = &self.words;
        let words = |row: usize| (firsts[row], if TWO { others[row] } else { 0 });
        self.hashes.clear();
        self.hashes
            .extend((0..rows).map(|row| hash_of::<TWO>(words(row))));
        self.numbers.clear();
        for (row, &hash) in self.hashes.iter().enumerate() {
            if let Some(&ahead) = self.hashes.get(row + AHEAD) {
                prefetch_read(&raw const self.index[first_place(ahead, self.index.len())]);
            }
            let number = likely_number(&self.index, hash);
            prefetch_read(slots.as_ptr().wrapping_add((number as usize).wrapping_sub(1)));
            self.numbers.push(number);
        }
        let cells = slots.as_mut_ptr().wrapping_byte_add(offset_of!(Slot, cell));
        self.places.clear();
        let mut is_whole = true;
        for ((row, &hash), &number) in self.hashes.iter().enumerate().zip(&self.numbers) {
            let (word, second) = words(row);
            if word == 0 || TWO && second == 0 {
                is_whole = false;
                self.places.push(std::ptr::null_mut());
                continue;
            }
            let likely = (number as usize).wrapping_sub(1);
            let place = match slots.get(likely) {
                Some(slot) if slot.word == word && (!TWO || self.seconds[likely] == second) => likely,
                _ => {
                    let tables = (&mut self.index[..], &mut *slots, &mut self.seconds[..]);
                    place_of::<TWO>(tables, &mut self.taken, (word, second), hash)
                }
            };
            prefetch_read(slots[place].cell as *const u8);
            self.places.push(cells.wrapping_add(place).cast());
        }
        is_whole
    }

    /// The string of a key at a cell that was handed out for the vector in hand; `None` for NULL. It is transient: it
    /// lives until the next vector. An internal error for another address.
    pub fn string(&mut self, key: usize, cell: *const u64) -> Result<Option<StringRef>> {
        let slots = self.slots.as_ptr().addr();
        let place = (cell.addr() - slots) / size_of::<Slot>();
        let slot = self.slots[..self.taken].get(place);
        let word = match key {
            0 => slot.map(|slot| slot.word),
            _ => slot.and_then(|_| self.seconds.get(place).copied()),
        };
        let word = word.ok_or_else(|| Error::internal("a cell that holds no group"))?;
        if is_null_word(word) {
            return Ok(None);
        }
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
        Ok(Some(unsafe { StringRef::new(&page[start..]) }.as_transient()))
    }

    /// Makes room for `rows` more strings of a number of keys; false if there would be too many, or memory is short.
    fn has_room(&mut self, rows: usize, keys: usize) -> bool {
        let needed = self.taken + rows;
        if needed <= self.slots.len() {
            return true;
        }
        let wanted = needed.max(self.taken * GROWTH).next_power_of_two();
        let wanted = wanted.clamp(FEWEST_SLOTS, MOST_SLOTS);
        let Some((mut index, mut slots, mut seconds)) =
            (needed <= wanted).then(|| self.tables(wanted, keys)).flatten()
        else {
            self.is_given_up = true;
            return false;
        };
        let taken = self.taken;
        slots[..taken].copy_from_slice(&self.slots[..taken]);
        if keys > 1 {
            seconds[..taken].copy_from_slice(&self.seconds[..taken]);
        }
        for (number, slot) in slots[..taken].iter().enumerate() {
            let hash = match keys {
                1 => hash_of::<false>((slot.word, 0)),
                _ => hash_of::<true>((slot.word, seconds[number])),
            };
            let mut place = first_place(hash, index.len());
            while index[place] != 0 {
                place = (place + 1) & (index.len() - 1);
            }
            index[place] = entry_of(hash, number);
        }
        (self.index, self.slots, self.seconds) = (index, slots, seconds);
        true
    }

    /// An index and room for strings of a number of keys; `None` if memory is short.
    #[allow(clippy::type_complexity)]
    fn tables(&self, strings: usize, keys: usize) -> Option<(Array<u32>, Array<Slot>, Array<u128>)> {
        // SAFETY: a free place is 0.
        let index = unsafe { Array::zeroed(strings * ROOM, &self.budget) }.ok()?;
        // SAFETY: all bits are a string's or an address', and those of a number that is taken are written.
        let slots = unsafe { Array::stale(strings, &self.budget) }.ok()?;
        let seconds = match keys {
            1 => Array::empty(&self.budget),
            // SAFETY: all bits are a word, and those of a number that is taken are written.
            _ => unsafe { Array::stale(strings, &self.budget) }.ok()?,
        };
        Some((index, slots, seconds))
    }
}

/// The hash of the words of two keys, or of the first one alone.
#[inline]
fn hash_of<const TWO: bool>((word, second): (u128, u128)) -> u64 {
    let hash = word.cast_signed().fold(0);
    if TWO {
        second.cast_signed().fold(hash)
    } else {
        hash
    }
}

/// The first place at which a hash is looked for among a power of two of them.
#[inline]
fn first_place(hash: u64, places: usize) -> usize {
    (hash >> 32) as usize & (places - 1)
}

/// An entry of the index for a string: the bits of its hash above [`NUMBER`], and its number plus one.
#[inline]
fn entry_of(hash: u64, number: usize) -> u32 {
    hash as u32 & !NUMBER | (number as u32 + 1)
}

/// The number plus one of the first string whose bits in the index are those of a hash; 0 if there is none.
#[inline]
fn likely_number(index: &[u32], hash: u64) -> u32 {
    let mut place = first_place(hash, index.len());
    loop {
        let entry = index[place];
        if entry == 0 || (entry ^ hash as u32) & !NUMBER == 0 {
            return entry & NUMBER;
        }
        place = (place + 1) & (index.len() - 1);
    }
}

/// The number of the strings of words; new ones take the next. At least one place of the index, and of the strings, is
/// free.
fn place_of<const TWO: bool>(
    (index, slots, seconds): (&mut [u32], &mut [Slot], &mut [u128]),
    taken: &mut usize,
    (word, second): (u128, u128),
    hash: u64,
) -> usize {
    let mut place = first_place(hash, index.len());
    loop {
        let entry = index[place];
        if entry == 0 {
            break;
        }
        let number = (entry & NUMBER) as usize - 1;
        let is_likely = (entry ^ hash as u32) & !NUMBER == 0;
        if is_likely && slots[number].word == word && (!TWO || seconds[number] == second) {
            return number;
        }
        place = (place + 1) & (index.len() - 1);
    }
    let number = *taken;
    *taken += 1;
    index[place] = entry_of(hash, number);
    slots[number] = Slot { word, cell: 0 };
    if TWO {
        seconds[number] = second;
    }
    number
}
