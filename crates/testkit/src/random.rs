//! The one source of random numbers in tests and benchmarks.

/// Pseudo-random numbers that follow from a seed: xorshift64* (Vigna, An experimental exploration of Marsaglia's xorshift
/// generators, 2016). Golden files hold values drawn from it, so its numbers never change.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// The state in place of 0, which xorshift never leaves. An arbitrary constant.
const STATE_FOR_ZERO: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The generator of a seed. Every seed, 0 included, has numbers of its own.
    pub fn new(seed: u64) -> Random {
        Random(if seed == 0 { STATE_FOR_ZERO } else { seed })
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from 0 to `bound` - 1.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// An index into `len` things; 0 if there are none.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len.max(1) as u64) as usize
    }

    /// A number from 0 to 1, 1 excluded.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_follow_from_the_seed() {
        let mut random = Random::new(2026);
        let first: Vec<u64> = (0..3).map(|_| random.below(1000)).collect();
        let mut again = Random::new(2026);
        assert_eq!(first, (0..3).map(|_| again.below(1000)).collect::<Vec<_>>());
        assert_ne!(Random::new(0).bits(), 0);
        assert_ne!(Random::new(0).bits(), Random::new(1).bits());
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let mut random = Random::new(7);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.index(5)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
        assert_eq!(random.index(0), 0);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.share())));
    }
}
