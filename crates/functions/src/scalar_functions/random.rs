//! Numbers that differ from call to call.

use crate::function::{Function, volatile};
use crate::type_rules::Kind::{Double, Text, Uuid};
use crate::vector::{Output, Row};
use frazil_types::sql_type::uuid_of_bytes;
use frazil_types::{Error, Result, SqlState};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "gen_random_uuid",
        overloads: &[volatile(&[], random_uuid, Uuid)],
        description: "a random UUID of version 4",
    },
    Function {
        name: "random",
        overloads: &[volatile(&[], |_, o| o.double(share(next())), Double)],
        description: "a random number from 0 up to, but not including, 1",
    },
    Function {
        name: "setseed",
        overloads: &[volatile(&[Double], set_seed, Text)],
        description: "seeds `random` with a number from -1 to 1, in all sessions of the process; returns an empty text",
    },
];

/// What the state of a generator advances by: the generator is SplitMix64 (Steele, Lea, Flood, 2014), whose numbers follow from how
/// many were taken, so that threads take theirs by one addition.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The state of [`random`](FUNCTIONS).
static STATE: LazyLock<AtomicU64> = LazyLock::new(|| AtomicU64::new(unpredictable()));

/// 64 bits from the system's random numbers, by way of the keys of a hash map.
fn unpredictable() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The next 64 random bits.
fn next() -> u64 {
    let mut bits = STATE.fetch_add(STEP, Relaxed).wrapping_add(STEP);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Bits as a number from 0 to 1, 1 excluded.
fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Error 22023 for a seed beyond −1 and 1, NaN among them.
fn set_seed(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let seed = row.double(0);
    if !(-1.0..=1.0).contains(&seed) {
        let message = format!("setseed parameter {seed} is out of allowed range [-1,1]");
        return Err(Error::new(SqlState::INVALID_PARAMETER, message));
    }
    STATE.store(seed.to_bits(), Relaxed);
    out.text("")
}

fn random_uuid(_: &Row<'_>, out: &mut Output) -> Result<()> {
    let bits = u128::from(unpredictable()) << 64 | u128::from(unpredictable());
    let mut bytes = bits.to_be_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    out.int(uuid_of_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_spread_from_0_to_1() {
        let shares: Vec<f64> = (0..10_000).map(|_| share(next())).collect();
        assert!(shares.iter().all(|s| (0.0..1.0).contains(s)));
        let mean = shares.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        for tenth in 0..10 {
            let within = |s: &&f64| (**s * 10.0) as usize == tenth;
            assert!((800..1200).contains(&shares.iter().filter(within).count()));
        }
    }
}
