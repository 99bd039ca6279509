//! Codes to fill columns with: always the same for the same wish.

use frazil_testkit::Random;

/// `rows` codes below `domain`, of which `share` satisfy a test: drawn by `inside`, the others uniformly
/// among all that do not satisfy `contains`.
pub fn codes_with_share(
    rows: usize,
    domain: u64,
    share: f64,
    inside: impl Fn(&mut Random) -> u64,
    contains: impl Fn(u64) -> bool,
) -> Vec<u64> {
    let mut random = Random::new(domain);
    let code = |_| {
        if random.share() < share {
            return inside(&mut random);
        }
        loop {
            let code = random.below(domain);
            if !contains(code) {
                return code;
            }
        }
    };
    (0..rows).map(code).collect()
}

/// `rows` uniform codes below `domain`.
pub fn uniform(rows: usize, domain: u64) -> Vec<u64> {
    let mut random = Random::new(domain);
    (0..rows).map(|_| random.below(domain)).collect()
}

/// `rows` codes below `domain` whose frequencies fall with the power `skew` of their rank, small codes
/// first: Zipf's distribution, drawn from its continuous form (ByteSlice, section 4.1.2).
pub fn zipf(rows: usize, domain: u64, skew: f64) -> Vec<u64> {
    let mut random = Random::new(domain);
    let top = domain as f64;
    let code = |_| {
        let share = random.share();
        let rank = if (skew - 1.0).abs() < 1e-9 {
            top.powf(share)
        } else {
            let power = 1.0 - skew;
            ((top.powf(power) - 1.0) * share + 1.0).powf(1.0 / power)
        };
        (rank as u64).saturating_sub(1).min(domain - 1)
    };
    (0..rows).map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept() {
        let codes = codes_with_share(20_000, 2, 0.1, |_| 0, |code| code == 0);
        let zeros = codes.iter().filter(|&&code| code == 0).count();
        assert!((1_800..2_200).contains(&zeros), "{zeros}");
        let codes = uniform(20_000, 1 << 12);
        let low = codes.iter().filter(|&&code| code < 1 << 11).count();
        assert!((9_500..10_500).contains(&low), "{low}");
    }

    #[test]
    fn skew_prefers_small_codes() {
        let below_a_tenth = |skew| {
            let codes = zipf(20_000, 4_096, skew);
            assert!(codes.iter().all(|&code| code < 4_096));
            codes.iter().filter(|&&code| code < 409).count() as f64 / 20_000.0
        };
        assert!((below_a_tenth(0.0) - 0.1).abs() < 0.02);
        // ln 409 / ln 4096.
        assert!((below_a_tenth(1.0) - 0.72).abs() < 0.03);
        assert!(below_a_tenth(2.0) > 0.99);
    }
}
