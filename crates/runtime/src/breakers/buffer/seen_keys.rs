//! A set of keys, which are strings of bytes: one piece of memory for the bytes, and a table of places by hash. A vector of keys is
//! added at a time, so that the memory that they lead to is on its way before it is looked at.

use frazil_kernels::hash::hash_bytes;
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::{Error, MemoryBudget, Reservation, Result, SqlState};

/// Slots of a table at first.
const FEWEST_SLOTS: usize = 1024;
/// Keys that are looked for together.
const VECTOR: usize = 32;
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
    slots: Vec<u64>,
    /// Keys, the length of each before it.
    bytes: Vec<u8>,
    keys: usize,
    reservation: Reservation,
}

impl SeenKeys {
    /// No key yet.
    pub fn new(budget: &MemoryBudget) -> SeenKeys {
        SeenKeys {
            slots: Vec::new(),
            bytes: Vec::new(),
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
        self.slots[at] = mark | (self.bytes.len() as u64 + 1);
        self.bytes.extend_from_slice(&(key.len() as u32).to_ne_bytes());
        self.bytes.extend_from_slice(key);
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
        if (self.bytes.len() + bytes) as u64 >= PLACE {
            return Err(Error::new(
                SqlState::OUT_OF_MEMORY,
                "the different rows of a recursion take more than 64 GiB: UNION ALL keeps none of them apart",
            ));
        }
        if self.bytes.capacity() - self.bytes.len() < bytes {
            let more = self.bytes.capacity().max(bytes);
            self.reservation.grow(more)?;
            self.bytes
                .reserve_exact(self.bytes.capacity() - self.bytes.len() + more);
        }
        while (self.keys + keys) * 3 > self.slots.len() * 2 {
            let wanted = (self.slots.len() * 2).max(FEWEST_SLOTS);
            self.reservation.grow(wanted * size_of::<u64>())?;
            let before = std::mem::replace(&mut self.slots, vec![0; wanted]);
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
