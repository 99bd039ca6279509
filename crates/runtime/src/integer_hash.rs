//! A hash of integers for sets whose members one statement chooses: cheaper than the standard library's, without its defence
//! against keys made to collide.

use std::hash::Hasher;

/// Hashes 128 bits by two multiplications.
#[derive(Debug, Default)]
pub(crate) struct Mixing(u64);

impl Hasher for Mixing {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u128(u128::from(*b)));
    }

    fn write_u64(&mut self, v: u64) {
        self.write_u128(v.into());
    }

    fn write_u128(&mut self, v: u128) {
        let folded = (v as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (v >> 64) as u64;
        self.0 = (self.0 ^ folded).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
