//! About how many different values there are: HyperLogLog, with Ertl's estimate.
//!
//! A sketch keeps the hashes of few values as they are, and counts exactly. Beyond [`FEW`] it becomes registers: the upper
//! bits of a hash choose one, which keeps the most zeros that the other bits began with. A standard error of 1.04 / √4096.
//!
//! P. Flajolet et al., HyperLogLog (AofA 2007); O. Ertl, New cardinality estimation algorithms for HyperLogLog sketches (2017).

use super::lists::Chunk;
use crate::string_heap::StringHeap;
use frazil_types::Result;

/// Hashes that are kept as they are.
const FEW: usize = 32;
/// Hashes that a new sketch has room for.
const FIRST_HASHES: usize = 2;
/// Bits that choose a register.
const REGISTER_BITS: u32 = 12;
const REGISTERS: usize = 1 << REGISTER_BITS;
/// The bits that are left, of which registers keep a number of zeros, and one.
const REST_BITS: usize = 64 - REGISTER_BITS as usize;
/// Capacity of a chunk that holds registers.
const DENSE: u32 = u32::MAX;

type Registers = [u8; REGISTERS];

/// Adds the hash of a value to the sketch that `cell` points to. Error 53200.
///
/// # Safety
/// The cell is that of a sketch, in a live row; the heap is that of its chunks.
pub(super) unsafe fn add(heap: &mut StringHeap, cell: *mut *mut Chunk, hash: u64) -> Result<()> {
    let hash = mixed(hash);
    // SAFETY: by contract.
    unsafe {
        let chunk = cell.read_unaligned();
        if chunk.is_null() {
            let chunk = Chunk::new(heap, FIRST_HASHES, size_of::<u64>())?;
            (*chunk).used = 1;
            hashes(chunk)[0] = hash;
            cell.write_unaligned(chunk);
            return Ok(());
        }
        if (*chunk).capacity == DENSE {
            note(registers(chunk), hash);
            return Ok(());
        }
        if hashes(chunk).contains(&hash) {
            return Ok(());
        }
        if (*chunk).used == (*chunk).capacity {
            cell.write_unaligned(grown(heap, chunk)?);
            return add_new(cell.read_unaligned(), hash);
        }
        add_new(chunk, hash)
    }
}

/// # Safety
/// A chunk of registers, or with room for a hash that it does not have.
unsafe fn add_new(chunk: *mut Chunk, hash: u64) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        match (*chunk).capacity {
            DENSE => note(registers(chunk), hash),
            _ => {
                (*chunk).used += 1;
                if let Some(last) = hashes(chunk).last_mut() {
                    *last = hash;
                }
            }
        }
    }
    Ok(())
}

/// A larger sketch of the same hashes.
///
/// # Safety
/// A chunk of hashes.
unsafe fn grown(heap: &mut StringHeap, chunk: *mut Chunk) -> Result<*mut Chunk> {
    // SAFETY: by contract; a new chunk is this function's alone.
    unsafe {
        let known = hashes(chunk);
        if known.len() < FEW {
            let larger = Chunk::new(heap, known.len() * 2, size_of::<u64>())?;
            (*larger).used = known.len() as u32;
            hashes(larger).copy_from_slice(known);
            return Ok(larger);
        }
        let dense = Chunk::new(heap, REGISTERS / 8, 8)?;
        (*dense).capacity = DENSE;
        Chunk::start(dense).write_bytes(0, REGISTERS);
        known.iter().for_each(|hash| note(registers(dense), *hash));
        Ok(dense)
    }
}

/// How many values the sketches of a ring have seen.
///
/// # Safety
/// Null, or a chunk of a ring of sketches that nobody writes.
pub(super) unsafe fn estimate(last: *mut Chunk) -> i64 {
    let mut few: Vec<u64> = Vec::new();
    let mut all: Registers = [0; REGISTERS];
    let mut is_dense = false;
    // SAFETY: by contract.
    unsafe {
        for chunk in Chunk::ring(last) {
            if (*chunk).capacity == DENSE {
                is_dense = true;
                for (all, seen) in all.iter_mut().zip(registers(chunk)) {
                    *all = (*all).max(*seen);
                }
            } else {
                few.extend_from_slice(hashes(chunk));
            }
        }
    }
    few.sort_unstable();
    few.dedup();
    if !is_dense && few.len() <= FEW {
        return few.len() as i64;
    }
    few.iter().for_each(|hash| note(&mut all, *hash));
    of_registers(&all).round() as i64
}

/// Ertl's estimate: no corrections by ranges, no tables.
fn of_registers(registers: &Registers) -> f64 {
    let mut counts = [0_u32; REST_BITS + 2];
    registers.iter().for_each(|r| counts[usize::from(*r)] += 1);
    let m = REGISTERS as f64;
    let mut z = m * tau(1.0 - f64::from(counts[REST_BITS + 1]) / m);
    for count in counts[1..=REST_BITS].iter().rev() {
        z = 0.5 * (z + f64::from(*count));
    }
    z += m * sigma(f64::from(counts[0]) / m);
    m * m / (2.0 * std::f64::consts::LN_2 * z)
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

fn note(registers: &mut Registers, hash: u64) {
    let register = &mut registers[(hash >> REST_BITS) as usize];
    let zeros = (hash << REGISTER_BITS).leading_zeros().min(REST_BITS as u32);
    *register = (*register).max(zeros as u8 + 1);
}

/// Spreads the bits of a hash, which may be a multiple of the value: MurmurHash3's finalizer.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

/// # Safety
/// A chunk of hashes, used by nobody else.
unsafe fn hashes<'a>(chunk: *mut Chunk) -> &'a mut [u64] {
    // SAFETY: by contract; so many hashes were written.
    unsafe { std::slice::from_raw_parts_mut(Chunk::start(chunk).cast(), (*chunk).used as usize) }
}

/// # Safety
/// A chunk of registers, used by nobody else.
unsafe fn registers<'a>(chunk: *mut Chunk) -> &'a mut Registers {
    // SAFETY: by contract.
    unsafe { &mut *Chunk::start(chunk).cast() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_kernels::hash::hash_u64;
    use frazil_types::MemoryBudget;
    use std::ptr::null_mut;

    #[test]
    fn few_values_are_counted_and_many_estimated() {
        for parts in [1, 3] {
            for values in [0, 1, 31, 32, 33, 64, 1000, 10_000, 20_000, 1_000_000] {
                let mut heap = StringHeap::new(&MemoryBudget::unlimited());
                let mut cells = vec![null_mut::<Chunk>(); parts];
                for i in 0..values * 2_u64 {
                    let cell = &mut cells[i as usize % parts];
                    // SAFETY: the cell's chunks are in the heap.
                    unsafe { add(&mut heap, cell, hash_u64(i % values)).unwrap() };
                }
                // SAFETY: the chunks are used by nobody else.
                let found = unsafe {
                    let ring = cells.iter().fold(null_mut(), |all, cell| Chunk::link(all, *cell));
                    estimate(ring)
                };
                let error = (found as f64 / values.max(1) as f64 - values.min(1) as f64).abs();
                let most = if values <= FEW as u64 { 0.0 } else { 0.05 };
                assert!(error <= most, "{values} values in {parts} parts: {found}");
            }
        }
    }
}
