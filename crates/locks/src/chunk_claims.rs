//! The claims on the rows of one chunk: a hash of offsets first, a bitmap for each transaction that claims many of the
//! rows.
//!
//! A row may have several claims: of several transactions (shared modes), and of one transaction at several levels,
//! because a claim that is raised after a savepoint must fall back to what it was. So a stronger claim of a later
//! level stands beside the weaker one, and whoever frees a level finds the earlier one untouched.

use crate::hashing::IdMap;
use crate::held::{Held, Placed, TxnId};
use crate::mode::{AnyMode, Mode, Modes};
use std::collections::hash_map::Entry;

/// Words of a bitmap of a chunk's rows.
const WORDS: usize = frazil_types::CHUNK_ROWS / 64;
/// Bytes of a bitmap.
pub(crate) const BITMAP_BYTES: usize = WORDS * 8;
/// Claims of one transaction, level and mode from which on a bitmap takes less memory: with its note in the owner's
/// log, a claim in the hash takes about 40 bytes.
pub(crate) const GATHER: usize = 256;

/// Claims of one transaction in one mode at one level.
struct ClaimBitmap {
    by: Held,
    /// Bit `i % 64` of `bits[i / 64]`: the row at offset `i` is claimed.
    bits: Box<[u64; WORDS]>,
}

impl ClaimBitmap {
    fn new(by: Held) -> ClaimBitmap {
        ClaimBitmap {
            by,
            bits: Box::new([0; WORDS]),
        }
    }

    fn has(&self, offset: u16) -> bool {
        self.bits[usize::from(offset) / 64] >> (offset % 64) & 1 == 1
    }

    fn set(&mut self, offset: u16) {
        self.bits[usize::from(offset) / 64] |= 1 << (offset % 64);
    }

    /// Offsets that are claimed.
    fn count(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The least offset that is claimed.
    fn first(&self) -> Option<u16> {
        let word = self.bits.iter().position(|&word| word != 0)?;
        Some((word * 64) as u16 + self.bits[word].trailing_zeros() as u16)
    }
}

/// The claims on the rows of a chunk.
#[derive(Default)]
pub(crate) struct ChunkClaims {
    /// The first claim on each row that is in no bitmap.
    sparse: IdMap<u16, Held>,
    /// Further claims on rows of `sparse`.
    more: IdMap<u16, Vec<Held>>,
    bitmaps: Vec<ClaimBitmap>,
    /// The transaction that moves the chunk's rows: it holds them all.
    mover: Option<TxnId>,
    /// Rows somebody waits for. Who wants one of them asks the queues first.
    waited: IdMap<u16, ()>,
    /// Size of `sparse` at which to look next whether a bitmap would be smaller.
    look_at: usize,
}

impl ChunkClaims {
    /// True if the chunk need not be kept.
    pub fn is_empty(&self) -> bool {
        self.sparse.is_empty() && self.bitmaps.is_empty() && self.mover.is_none() && self.waited.is_empty()
    }

    /// Rows that the hash has room for.
    pub fn capacity(&self) -> usize {
        self.sparse.capacity()
    }

    /// Calls `each` with every claim on a row.
    pub fn holders(&self, offset: u16, mut each: impl FnMut(Held)) {
        if let Some(txn) = self.mover {
            each(Held::of_mover(txn));
        }
        let of_bitmaps = self.bitmaps.iter().filter(|bitmap| bitmap.has(offset));
        of_bitmaps.for_each(|bitmap| each(bitmap.by));
        if let Some(held) = self.sparse.get(&offset) {
            each(*held);
            self.more
                .get(&offset)
                .into_iter()
                .flatten()
                .for_each(|held| each(*held));
        }
    }

    /// Claims a row if no other transaction's claim conflicts and nobody waits for the row.
    pub fn place(&mut self, offset: u16, held: Held) -> Placed {
        let is_plain = self.bitmaps.is_empty() && self.mover.is_none() && self.waited.is_empty();
        if is_plain && let Entry::Vacant(vacant) = self.sparse.entry(offset) {
            vacant.insert(held);
            return match self.is_crowded(held) {
                true => Placed::Crowded,
                false => Placed::New,
            };
        }
        let (mut own, mut others): (Modes, bool) = (0, false);
        self.holders(offset, |other| match other.txn == held.txn {
            true => own |= other.mode.conflicts(),
            false => others |= other.mode.conflicts_with(held.mode),
        });
        if held.mode.conflicts() & !own == 0 {
            return Placed::Covered;
        }
        if others || self.is_waited(offset) {
            return Placed::Contended;
        }
        match self.add(offset, held) {
            Placed::New if self.is_crowded(held) => Placed::Crowded,
            placed => placed,
        }
    }

    /// Records a claim, which does not conflict with others. Returns [`Placed::Covered`] where the claim took the
    /// place of a weaker one of its level, which its owner has noted.
    pub fn add(&mut self, offset: u16, held: Held) -> Placed {
        if let Some(bitmap) = self.bitmaps.iter_mut().find(|bitmap| bitmap.by == held) {
            bitmap.set(offset);
            return Placed::Covered;
        }
        let Some(first) = self.sparse.get_mut(&offset) else {
            self.sparse.insert(offset, held);
            return Placed::New;
        };
        let further = self.more.get_mut(&offset).into_iter().flatten();
        let mut all = std::iter::once(first).chain(further);
        if let Some(weaker) = all.find(|other| (other.txn, other.level) == (held.txn, held.level)) {
            *weaker = held;
            return Placed::Covered;
        }
        self.more.entry(offset).or_default().push(held);
        Placed::New
    }

    /// True if the hash has enough claims like `held` for a bitmap to be smaller. Asked after a claim; counts only
    /// each time the hash has grown by twice [`GATHER`].
    fn is_crowded(&mut self, held: Held) -> bool {
        self.look_at = self.look_at.max(2 * GATHER);
        if self.sparse.len() < self.look_at {
            return false;
        }
        self.look_at = self.sparse.len() + 2 * GATHER;
        self.sparse.values().filter(|other| **other == held).count() >= GATHER
    }

    /// True if there is a bitmap of claims like `held`.
    pub fn has_bitmap(&self, held: Held) -> bool {
        self.bitmaps.iter().any(|bitmap| bitmap.by == held)
    }

    /// Makes a bitmap of the claims like `held`, which may be none.
    pub fn gather(&mut self, held: Held) {
        let mut bitmap = ClaimBitmap::new(held);
        let more = &self.more;
        self.sparse.retain(|offset, other| {
            let moves = *other == held && !more.contains_key(offset);
            if moves {
                bitmap.set(*offset);
            }
            !moves
        });
        self.sparse.shrink_to(2 * GATHER);
        self.look_at = self.sparse.len() + 2 * GATHER;
        self.bitmaps.push(bitmap);
    }

    /// Claims rows that go to the bitmap of claims like `held`, in order, up to the first one that cannot be claimed
    /// at once. Returns the index of that one.
    pub fn place_all(&mut self, offsets: &[u16], held: Held) -> Option<usize> {
        let Some(at) = self.bitmaps.iter().position(|bitmap| bitmap.by == held) else {
            return Some(0);
        };
        let is_alone = self.sparse.is_empty()
            && self.waited.is_empty()
            && self.mover.is_none()
            && self.bitmaps.iter().all(|bitmap| bitmap.by.txn == held.txn);
        if is_alone {
            offsets.iter().for_each(|&offset| self.bitmaps[at].set(offset));
            return None;
        }
        offsets
            .iter()
            .position(|&offset| self.place(offset, held) == Placed::Contended)
    }

    /// Takes away the claims of a transaction on a row from a level on, those in bitmaps apart. Returns true if
    /// somebody waits for the row.
    pub fn free(&mut self, offset: u16, txn: TxnId, from: u32) -> bool {
        let goes = |held: &Held| held.txn == txn && held.level >= from;
        let Entry::Occupied(mut first) = self.sparse.entry(offset) else {
            return self.is_waited(offset);
        };
        if self.more.is_empty() {
            if goes(first.get()) {
                first.remove();
            }
            return self.is_waited(offset);
        }
        let mut more = self.more.remove(&offset).unwrap_or_default();
        more.retain(|held| !goes(held));
        if goes(first.get()) {
            match more.pop() {
                Some(next) => drop(first.insert(next)),
                None => drop(first.remove()),
            }
        }
        if !more.is_empty() {
            self.more.insert(offset, more);
        }
        self.is_waited(offset)
    }

    /// Takes away the bitmaps of a transaction from a level on. Returns all rows that somebody waits for.
    pub fn free_bitmaps(&mut self, txn: TxnId, from: u32) -> Vec<u16> {
        self.bitmaps
            .retain(|bitmap| bitmap.by.txn != txn || bitmap.by.level < from);
        self.waited.keys().copied().collect()
    }

    /// Claims the whole chunk, unless a row of it is claimed.
    pub fn begin_move(&mut self, txn: TxnId) -> bool {
        let is_free = self.is_empty();
        if is_free {
            self.mover = Some(txn);
        }
        is_free
    }

    /// Ends a move. Returns all rows that somebody waits for.
    pub fn end_move(&mut self) -> Vec<u16> {
        self.mover = None;
        self.waited.keys().copied().collect()
    }

    /// True if somebody waits for the row.
    pub fn is_waited(&self, offset: u16) -> bool {
        !self.waited.is_empty() && self.waited.contains_key(&offset)
    }

    /// Notes whether somebody waits for the row.
    pub fn set_waited(&mut self, offset: u16, is_waited: bool) {
        match is_waited {
            true => drop(self.waited.insert(offset, ())),
            false => drop(self.waited.remove(&offset)),
        }
    }

    /// Calls `each` with groups of claims of one transaction and mode: the least offset, and the number of rows.
    pub fn summary(&self, mut each: impl FnMut(TxnId, AnyMode, u16, usize)) {
        let mut groups: IdMap<(TxnId, Mode), (u16, usize)> = IdMap::default();
        let single = self.sparse.iter().map(|(offset, held)| (*offset, held));
        let further = self
            .more
            .iter()
            .flat_map(|(offset, more)| more.iter().map(|held| (*offset, held)));
        for (offset, held) in single.chain(further) {
            if let AnyMode::Row(mode) = held.mode {
                let group = groups.entry((held.txn, mode)).or_insert((offset, 0));
                *group = (group.0.min(offset), group.1 + 1);
            }
        }
        let of_bitmaps = self
            .bitmaps
            .iter()
            .filter_map(|bitmap| Some((bitmap, bitmap.first()?)));
        for (bitmap, first) in of_bitmaps {
            each(bitmap.by.txn, bitmap.by.mode, first, bitmap.count());
        }
        for ((txn, mode), (first, rows)) in groups {
            each(txn, AnyMode::Row(mode), first, rows);
        }
        if let Some(txn) = self.mover {
            each(txn, Held::of_mover(txn).mode, 0, frazil_types::CHUNK_ROWS);
        }
    }
}
