//! A set of keys, which are strings of bytes: one piece of memory for the bytes, and a table of places by hash, both on huge pages where
//! they are large. A vector of keys is added at a time, so that the memory that they lead to is on its way before it is looked at.

use crate::memory::Memory;
use frazil_kernels::hash::hash_bytes;
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::{Error, MemoryBudget, Reservation, Result, SqlState};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Slots of a table at first.
const FEWEST_SLOTS: usize = 1024;
/// Keys that are looked for together.
const VECTOR: usize = 64;
/// Bits of a slot that are a place in the bytes; the others are the highest of the hash, which tell most keys apart, and by which a
/// table of twice as many slots is filled without a look at the keys.
const PLACE_BITS: u32 = 36;
const PLACE: u64 = (1 << PLACE_BITS) - 1;
/// Slots of the largest table for which those bits suffice.
const MOST_BY_MARK: usize = 1 << (u64::BITS - PLACE_BITS);
/// Bytes before a key that say how long it is.
const LENGTH_BYTES: usize = size_of::<u32>();

/// The keys that were there.
#[derive(Debug)]
pub struct SeenKeys {
    /// By the highest bits of the hash, a power of two, at most two thirds of them used: one more than the place of the key's
    /// length, below bits of the hash; 0 is free.
    slots: Piece<u64>,
    /// Keys, the length of each before it; then room.
    bytes: Piece<u8>,
    /// Bytes that hold keys.
    used: usize,
    keys: usize,
    reservation: Reservation,
}

impl SeenKeys {
    /// No key yet.
    pub fn new(budget: &MemoryBudget) -> SeenKeys {
        SeenKeys {
            slots: Piece::default(),
            bytes: Piece::default(),
            used: 0,
            keys: 0,
            reservation: budget.reservation(),
        }
    }

    /// Adds the keys of some rows; `fresh` gets the rows of those that were not there. Error 53200.
    pub fn add<'a>(
        &mut self,
        rows: usize,
        key: impl Fn(usize) -> &'a [u8],
        fresh: &mut Vec<usize>,
    ) -> Result<()> {
        for first in (0..rows).step_by(VECTOR) {
            let vector = first..rows.min(first + VECTOR);
            self.make_room(
                vector.clone().map(|row| LENGTH_BYTES + key(row).len()).sum(),
                vector.len(),
            )?;
            let mut hashes = [0; VECTOR];
            for (row, hash) in vector.clone().zip(&mut hashes) {
                *hash = hash_bytes(key(row));
                prefetch_read(&raw const self.slots[self.first_slot(*hash)]);
            }
            for hash in &hashes[..vector.len()] {
                let slot = self.slots[self.first_slot(*hash)];
                prefetch_read(self.bytes.as_ptr().wrapping_add((slot & PLACE) as usize));
            }
            for (row, hash) in vector.zip(hashes) {
                if self.insert(key(row), hash) {
                    fresh.push(row);
                }
            }
        }
        Ok(())
    }

    /// Whether a key was not there; then it is. There is room.
    fn insert(&mut self, key: &[u8], hash: u64) -> bool {
        let mark = hash & !PLACE;
        let mut at = self.first_slot(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            if (slot ^ mark) & !PLACE == 0 && self.key_at(slot) == key {
                return false;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = mark | (self.used as u64 + 1);
        let room = &mut self.bytes[self.used..];
        room[..LENGTH_BYTES].copy_from_slice(&(key.len() as u32).to_ne_bytes());
        room[LENGTH_BYTES..][..key.len()].copy_from_slice(key);
        self.used += LENGTH_BYTES + key.len();
        self.keys += 1;
        true
    }

    /// The key of a slot that is not free.
    fn key_at(&self, slot: u64) -> &[u8] {
        let place = (slot & PLACE) as usize - 1;
        let mut length = [0; LENGTH_BYTES];
        length.copy_from_slice(&self.bytes[place..place + LENGTH_BYTES]);
        &self.bytes[place + LENGTH_BYTES..][..u32::from_ne_bytes(length) as usize]
    }

    fn first_slot(&self, hash: u64) -> usize {
        (hash >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    /// Makes room for so many bytes and keys. Error 53200.
    fn make_room(&mut self, bytes: usize, keys: usize) -> Result<()> {
        if (self.used + bytes) as u64 >= PLACE {
            return Err(Error::new(
                SqlState::OUT_OF_MEMORY,
                "the different rows of a recursion take more than 64 GiB: UNION ALL keeps none of them apart",
            ));
        }
        if self.bytes.len() - self.used < bytes {
            let wanted = (self.bytes.len() * 2).max(self.bytes.len() + bytes);
            self.reservation.grow(wanted)?;
            let before = std::mem::replace(&mut self.bytes, Piece::stale(wanted)?);
            self.bytes[..self.used].copy_from_slice(&before[..self.used]);
            self.reservation.shrink(before.len());
        }
        while (self.keys + keys) * 3 > self.slots.len() * 2 {
            let wanted = (self.slots.len() * 2).max(FEWEST_SLOTS);
            self.reservation.grow(wanted * size_of::<u64>())?;
            let before = std::mem::replace(&mut self.slots, Piece::zeroed(wanted)?);
            for slot in before.iter().filter(|slot| **slot != 0) {
                let hash = match wanted <= MOST_BY_MARK {
                    true => *slot,
                    false => hash_bytes(self.key_at(*slot)),
                };
                let mut at = self.first_slot(hash);
                while self.slots[at] != 0 {
                    at = (at + 1) & (wanted - 1);
                }
                self.slots[at] = *slot;
            }
            self.reservation.shrink(before.len() * size_of::<u64>());
        }
        Ok(())
    }
}

/// Plain values in one piece of memory.
#[derive(Debug)]
struct Piece<T> {
    memory: Option<Memory>,
    values: usize,
    of: PhantomData<T>,
}

impl<T> Default for Piece<T> {
    fn default() -> Piece<T> {
        Piece {
            memory: None,
            values: 0,
            of: PhantomData,
        }
    }
}

impl Piece<u64> {
    /// So many zeros. Error 53200.
    fn zeroed(values: usize) -> Result<Piece<u64>> {
        let memory = Some(Memory::zeroed(values * size_of::<u64>())?);
        Ok(Piece {
            memory,
            values,
            ..Piece::default()
        })
    }
}

impl Piece<u8> {
    /// So many bytes of whatever content. Error 53200.
    fn stale(values: usize) -> Result<Piece<u8>> {
        let memory = Some(Memory::stale(values)?);
        Ok(Piece {
            memory,
            values,
            ..Piece::default()
        })
    }
}

impl<T> Deref for Piece<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            // SAFETY: `zeroed` and `stale` took memory for so many values, of which all bytes are initialised; any bytes are a value
            // of the types that they make pieces of.
            Some(memory) => unsafe { std::slice::from_raw_parts(memory.as_ptr().cast(), self.values) },
            None => &[],
        }
    }
}

impl<T> DerefMut for Piece<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &self.memory {
            // SAFETY: as in `deref`; the piece owns its memory and is borrowed alone.
            Some(memory) => unsafe { std::slice::from_raw_parts_mut(memory.as_ptr().cast(), self.values) },
            None => &mut [],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_of_any_length_are_fresh_once() {
        let budget = MemoryBudget::new(usize::MAX);
        let mut seen = SeenKeys::new(&budget);
        let mut model = HashSet::new();
        let mut state = 1_u64;
        for rows in [0, 1, 7, 1_000, 20_000, 33] {
            let keys: Vec<Vec<u8>> = (0..rows)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let (length, value) = ((state >> 60) as usize, (state >> 33) % 5_000);
                    value
                        .to_be_bytes()
                        .into_iter()
                        .cycle()
                        .skip(5)
                        .take(length)
                        .collect()
                })
                .collect();
            let mut fresh = Vec::new();
            seen.add(rows, |row| &keys[row], &mut fresh).unwrap();
            let wanted: Vec<usize> = (0..rows).filter(|&row| model.insert(keys[row].clone())).collect();
            assert_eq!(fresh, wanted);
        }
        assert_eq!(seen.keys, model.len());
        drop(seen);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn the_budget_is_kept() {
        let budget = MemoryBudget::new(64 << 10);
        let mut seen = SeenKeys::new(&budget);
        let keys: Vec<[u8; 8]> = (0..10_000_u64).map(u64::to_be_bytes).collect();
        assert!(seen.add(keys.len(), |row| &keys[row], &mut Vec::new()).is_err());
    }
}
