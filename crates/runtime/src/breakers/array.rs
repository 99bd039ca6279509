//! Arrays on large pages: those of windows and lists are written once and read a few times, so that the faults of small pages would take
//! a fifth of its time.

use crate::memory::Memory;
use frazil_types::{MemoryBudget, Reservation, Result};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Values that count against a budget.
#[derive(Debug)]
pub struct Array<T> {
    memory: Option<Memory>,
    len: usize,
    _held: Reservation,
    values: PhantomData<T>,
}

impl<T: Copy> Array<T> {
    /// No value; takes no memory.
    pub fn empty(budget: &MemoryBudget) -> Array<T> {
        Array {
            memory: None,
            len: 0,
            _held: budget.reservation(),
            values: PhantomData,
        }
    }

    /// Whatever values memory holds. Error 53200.
    ///
    /// # Safety
    /// All bytes are values of `T`.
    pub unsafe fn stale(len: usize, budget: &MemoryBudget) -> Result<Array<T>> {
        let bytes = len * size_of::<T>();
        let held = budget.reserve(bytes)?;
        let memory = match bytes {
            0 => None,
            bytes => Some(Memory::stale(bytes)?),
        };
        Ok(Array {
            memory,
            len,
            _held: held,
            values: PhantomData,
        })
    }
}

impl<T: Copy> Array<T> {
    /// Values whose bytes are 0. Error 53200.
    ///
    /// # Safety
    /// Bytes that are all 0 are a value of `T`.
    pub unsafe fn zeroed(len: usize, budget: &MemoryBudget) -> Result<Array<T>> {
        let bytes = len * size_of::<T>();
        let held = budget.reserve(bytes)?;
        let memory = match bytes {
            0 => None,
            bytes => Some(Memory::zeroed(bytes)?),
        };
        Ok(Array {
            memory,
            len,
            _held: held,
            values: PhantomData,
        })
    }
}

impl Array<u8> {
    /// Bytes of one value. Error 53200.
    pub fn filled(value: u8, len: usize, budget: &MemoryBudget) -> Result<Array<u8>> {
        // SAFETY: every byte is one.
        let mut bytes = unsafe { Array::stale(len, budget)? };
        bytes.fill(value);
        Ok(bytes)
    }
}

impl Array<u64> {
    /// Words of one value. Error 53200.
    pub fn words(value: u64, len: usize, budget: &MemoryBudget) -> Result<Array<u64>> {
        // SAFETY: all bytes are words.
        let mut words = unsafe { Array::stale(len, budget)? };
        words.fill(value);
        Ok(words)
    }
}

impl Array<u32> {
    /// Numbers of whatever value. Error 53200.
    pub fn numbers(len: usize, budget: &MemoryBudget) -> Result<Array<u32>> {
        // SAFETY: all bytes are numbers.
        unsafe { Array::stale(len, budget) }
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            // SAFETY: the memory has room for so many values, all of whose bytes are values.
            Some(memory) => unsafe { std::slice::from_raw_parts(memory.as_ptr().cast(), self.len) },
            None => &[],
        }
    }
}

impl<T> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &self.memory {
            // SAFETY: as above; the memory is this array's alone.
            Some(memory) => unsafe { std::slice::from_raw_parts_mut(memory.as_ptr().cast(), self.len) },
            None => &mut [],
        }
    }
}
