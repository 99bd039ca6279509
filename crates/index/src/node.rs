//! Nodes of the tree: how their words are laid out, and the latch that is also their version.
//!
//! A node is an array of atomic words, all of which are read and written relaxed. Word 0 is the **version**: a counter of changes
//! above two bits, LOCKED and OBSOLETE. Word 1 holds level (0: a leaf) and number of entries, together, so that no reader ever
//! takes a number for that of another level and leaves the array. Then come the entries, column by column: first words of all
//! keys, second words, …, addresses of tails (in trees whose keys may be long), row ids; and in inner nodes the children.
//!
//! **The version latch** is a sequence lock. A writer changes the version from even to LOCKED (acquire), fences (release), changes
//! words, and unlocks by storing the next version (release). A reader loads the version (acquire), reads words, fences
//! (acquire), and loads the version again: if it is the same, all that was read is what the node held at one moment. For, had
//! one of the reads seen a word of a later writer, the two fences would let the second load see that writer's LOCKED.

use crate::memory::Pieces;
use crate::sync::{Ordering, Word, fence, wait};
use frazil_kernels::prefetch::prefetch_read;

const LOCKED: u64 = 1;
const OBSOLETE: u64 = 2;
const CHANGE: u64 = 4;

/// Words of a cache line.
const LINE_WORDS: usize = 8;

const VERSION: usize = 0;
const HEADER: usize = 1;
const FIRST: usize = 2;

/// How the nodes of one tree are laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Words of a key that stand in the node.
    pub key_words: usize,
    /// True if keys may have more words; a column holds the address of the rest, or 0.
    pub tailed: bool,
    /// Most entries of a leaf.
    pub leaf_entries: usize,
    /// Most entries of an inner node, which has one child more than entries.
    pub inner_entries: usize,
}

impl Layout {
    /// The layout of nodes of `node_words` words. Panics if an inner node would not hold three entries.
    pub fn new(key_words: usize, tailed: bool, node_words: usize) -> Layout {
        let columns = key_words + usize::from(tailed) + 1;
        let layout = Layout {
            key_words,
            tailed,
            leaf_entries: (node_words - FIRST) / columns,
            inner_entries: (node_words - FIRST - 1) / (columns + 1),
        };
        assert!(
            layout.inner_entries >= 3,
            "nodes of {node_words} words are too small"
        );
        layout
    }

    /// Columns of an entry, children apart.
    pub fn columns(&self) -> usize {
        self.key_words + usize::from(self.tailed) + 1
    }

    /// Most entries of a node of a level.
    pub fn capacity(&self, level: u32) -> usize {
        if level == 0 {
            self.leaf_entries
        } else {
            self.inner_entries
        }
    }

    /// Where column `c` of a node of a level begins.
    fn column(&self, level: u32, c: usize) -> usize {
        FIRST + c * self.capacity(level)
    }

    fn children(&self) -> usize {
        FIRST + self.columns() * self.inner_entries
    }
}

/// A node. The reference says that its memory is there, not that the node still belongs to the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'t> {
    words: &'t [Word],
    /// Its address in the tree's memory.
    pub address: u64,
}

/// A node at a moment: what was read under a version, or is read and written under the latch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit<'t> {
    pub node: Node<'t>,
    version: u64,
    pub level: u32,
    pub count: usize,
}

impl<'t> Node<'t> {
    /// The node at an address.
    ///
    /// # Safety
    /// As [`Pieces::words`].
    pub unsafe fn at(pieces: &'t Pieces, address: u64) -> Node<'t> {
        Node {
            // SAFETY: by contract.
            words: unsafe { pieces.words(address) },
            address,
        }
    }

    /// Begins to read, when nobody changes the node; `None` if the node has left the tree.
    #[inline]
    pub fn visit(self) -> Option<Visit<'t>> {
        let mut round = 0;
        loop {
            let version = self.words[VERSION].load(Ordering::Acquire);
            if version & OBSOLETE != 0 {
                return None;
            }
            if version & LOCKED == 0 {
                return Some(self.with(version));
            }
            wait(&mut round);
        }
    }

    /// Asks for the lines that a visit to a node of a level reads, before they are read: version, header and first words, and
    /// of a leaf all columns, because a lookup reads a row id next, and an insertion moves entries.
    #[inline]
    pub fn prefetch(self, layout: &Layout, level: u32) {
        let words = match level {
            0 => self.words.len(),
            _ => FIRST + layout.capacity(level),
        };
        for at in (0..words).step_by(LINE_WORDS) {
            prefetch_read(self.words[at..].as_ptr());
        }
    }

    fn with(self, version: u64) -> Visit<'t> {
        let header = self.words[HEADER].read();
        Visit {
            node: self,
            version,
            level: (header >> 32) as u32,
            count: header as u32 as usize,
        }
    }

    /// Takes the latch if it is free and the node belongs to the tree.
    pub fn try_latch(self) -> Option<Visit<'t>> {
        let version = self.words[VERSION].load(Ordering::Relaxed);
        let free = version & (LOCKED | OBSOLETE) == 0;
        let visit = Visit {
            node: self,
            version,
            level: 0,
            count: 0,
        };
        free.then(|| visit.latch()).flatten()
    }

    /// Makes an unused node an empty one of a level, latched: nothing leads to it yet, though readers may linger in it who came when
    /// it was another.
    pub fn claim(self, level: u32) -> Visit<'t> {
        let version = (self.words[VERSION].load(Ordering::Relaxed) & !(LOCKED | OBSOLETE)) + CHANGE;
        self.words[VERSION].store(version | LOCKED, Ordering::Relaxed);
        fence(Ordering::Release);
        let mut visit = Visit {
            node: self,
            version: version | LOCKED,
            level,
            count: 0,
        };
        visit.set_count(0);
        visit
    }

    #[inline]
    fn get(&self, at: usize) -> u64 {
        self.words[at].read()
    }

    fn set(&self, at: usize, word: u64) {
        self.words[at].write(word);
    }

    /// Moves `words` words from `from` to `to`, in the same node.
    fn shift(&self, from: usize, to: usize, words: usize) {
        if from < to {
            (0..words)
                .rev()
                .for_each(|i| self.set(to + i, self.get(from + i)));
        } else {
            (0..words).for_each(|i| self.set(to + i, self.get(from + i)));
        }
    }
}

impl<'t> Visit<'t> {
    /// True if nothing has changed since the visit began: what was read is true of that moment.
    #[inline]
    pub fn is_valid(&self) -> bool {
        fence(Ordering::Acquire);
        self.node.words[VERSION].load(Ordering::Relaxed) == self.version
    }

    /// Takes the latch, if nothing has changed since the visit began.
    pub fn latch(&self) -> Option<Visit<'t>> {
        let locked = self.version | LOCKED;
        if !self.node.words[VERSION].exchange(self.version, locked) {
            return None;
        }
        fence(Ordering::Release);
        Some(self.node.with(locked))
    }

    /// Gives the latch back after changes.
    pub fn unlatch(self) {
        let next = (self.version & !LOCKED) + CHANGE;
        self.node.words[VERSION].store(next, Ordering::Release);
    }

    /// Gives the latch back; nothing was changed, so that readers need not start again.
    pub fn unlatch_unchanged(self) {
        self.node.words[VERSION].store(self.version & !LOCKED, Ordering::Release);
    }

    /// Gives the latch back of a node that has left the tree.
    pub fn unlatch_obsolete(self) {
        let next = (self.version & !LOCKED) + CHANGE;
        self.node.words[VERSION].store(next | OBSOLETE, Ordering::Release);
    }

    /// Sets the number of entries. The node is latched.
    pub fn set_count(&mut self, count: usize) {
        self.count = count;
        self.node.set(HEADER, u64::from(self.level) << 32 | count as u64);
    }

    /// The words of a column, one an entry.
    #[inline]
    pub fn column(&self, layout: &Layout, c: usize) -> &'t [Word] {
        let start = layout.column(self.level, c);
        &self.node.words[start..start + self.count]
    }

    /// Word `c` of an entry's columns.
    #[inline]
    pub fn word(&self, layout: &Layout, c: usize, entry: usize) -> u64 {
        self.node.get(layout.column(self.level, c) + entry)
    }

    /// Row id of an entry.
    #[inline]
    pub fn row(&self, layout: &Layout, entry: usize) -> u64 {
        self.word(layout, layout.columns() - 1, entry)
    }

    /// Address of the tail of an entry's key; 0 without one.
    pub fn tail(&self, layout: &Layout, entry: usize) -> u64 {
        if layout.tailed {
            self.word(layout, layout.key_words, entry)
        } else {
            0
        }
    }

    /// Address of a child.
    #[inline]
    pub fn child(&self, layout: &Layout, child: usize) -> u64 {
        self.node.get(layout.children() + child)
    }

    /// Sets a child. The node is latched.
    pub fn set_child(&self, layout: &Layout, child: usize, address: u64) {
        self.node.set(layout.children() + child, address);
    }

    /// Puts the columns of an entry at a position; later ones move up. The node is latched and not full.
    pub fn insert_entry(&mut self, layout: &Layout, entry: usize, columns: impl Iterator<Item = u64>) {
        for (c, word) in columns.enumerate() {
            let start = layout.column(self.level, c);
            self.node
                .shift(start + entry, start + entry + 1, self.count - entry);
            self.node.set(start + entry, word);
        }
        self.set_count(self.count + 1);
    }

    /// Puts a child at a position, after its entry was put: later ones move up. The node is latched.
    pub fn insert_child(&self, layout: &Layout, child: usize, address: u64) {
        let start = layout.children();
        self.node
            .shift(start + child, start + child + 1, self.count - child);
        self.node.set(start + child, address);
    }

    /// Takes an entry away. The node is latched.
    pub fn remove_entry(&mut self, layout: &Layout, entry: usize) {
        for c in 0..layout.columns() {
            let start = layout.column(self.level, c);
            self.node
                .shift(start + entry + 1, start + entry, self.count - entry - 1);
        }
        self.set_count(self.count - 1);
    }

    /// Takes a child away, before an entry is taken. The node is latched.
    pub fn remove_child(&self, layout: &Layout, child: usize) {
        let start = layout.children();
        self.node
            .shift(start + child + 1, start + child, self.count - child);
    }

    /// Moves the entries from `from` on to the end of another node of the same level, and of an inner node the children behind
    /// them. Both are latched.
    pub fn move_entries(&mut self, layout: &Layout, from: usize, to: &mut Visit<'_>) {
        let moved = self.count - from;
        for c in 0..layout.columns() {
            let start = layout.column(self.level, c);
            for i in 0..moved {
                to.node.set(start + to.count + i, self.node.get(start + from + i));
            }
        }
        if self.level > 0 {
            for i in 0..moved {
                let child = self.child(layout, from + 1 + i);
                to.set_child(layout, to.count + 1 + i, child);
            }
        }
        to.set_count(to.count + moved);
        self.set_count(from);
    }
}
