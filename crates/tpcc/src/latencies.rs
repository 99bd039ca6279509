//! Distributions of times.

use std::time::Duration;

/// Parts of each power of two, so that a percentile is at most 1/64 too high.
const PARTS: usize = 64;
/// Powers of two of nanoseconds that are told apart: up to 18 minutes.
const POWERS: usize = 40;

/// Counts of times by their length. Its size does not depend on the number of times.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// `counts[power * PARTS + part]` counts times from 2^power × (1 + part / 64) ns.
    counts: Vec<u64>,
    total: u64,
    sum: Duration,
    longest: Duration,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies {
            counts: vec![0; POWERS * PARTS],
            total: 0,
            sum: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }
}

impl Latencies {
    /// Adds a time.
    pub fn add(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        let power = ns.ilog2() as usize;
        // The six bits behind the leading one.
        let part = match power {
            0..6 => (ns << (6 - power)) as usize % PARTS,
            _ => (ns >> (power - 6)) as usize % PARTS,
        };
        let place = (power * PARTS + part).min(self.counts.len() - 1);
        self.counts[place] += 1;
        self.total += 1;
        self.sum += time;
        self.longest = self.longest.max(time);
    }

    /// Adds all times of others.
    pub fn merge(&mut self, others: &Latencies) {
        for (count, other) in self.counts.iter_mut().zip(&others.counts) {
            *count += other;
        }
        self.total += others.total;
        self.sum += others.sum;
        self.longest = self.longest.max(others.longest);
    }

    /// The number of times.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// All times together.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// The longest time.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// The time that a share of all times, from 0 to 1, does not exceed. Zero if there are none.
    pub fn percentile(&self, share: f64) -> Duration {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                let (power, part) = (place / PARTS, place % PARTS);
                let end = (1u64 << power) as f64 * (1.0 + (part + 1) as f64 / PARTS as f64);
                return Duration::from_nanos(end as u64).min(self.longest);
            }
        }
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_near_the_times() {
        let mut latencies = Latencies::default();
        for micros in 1..=1_000 {
            latencies.add(Duration::from_micros(micros));
        }
        assert_eq!(latencies.count(), 1_000);
        for (share, micros) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0), (0.001, 1.0)] {
            let found = latencies.percentile(share).as_secs_f64() * 1e6;
            assert!((micros..=micros * 1.017).contains(&found), "{share}: {found}");
        }
        assert_eq!(latencies.percentile(1.0), Duration::from_millis(1));
        assert_eq!(latencies.longest(), Duration::from_millis(1));
        assert_eq!(latencies.sum(), Duration::from_micros(500_500));
        assert_eq!(Latencies::default().percentile(0.5), Duration::ZERO);
    }

    #[test]
    fn merged_times_are_those_of_both() {
        let (mut one, mut other) = (Latencies::default(), Latencies::default());
        one.add(Duration::from_nanos(3));
        other.add(Duration::from_secs(100_000));
        one.merge(&other);
        assert_eq!(one.count(), 2);
        assert_eq!(one.percentile(0.5), Duration::from_nanos(3));
        assert_eq!(one.longest(), Duration::from_secs(100_000));
    }
}
