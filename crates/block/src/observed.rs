//! What is known of a column's use, and what the weights of the choice make of it.
//!
//! A balanced choice weighs scans and accesses as most columns need them. Where it was observed how a
//! column is used, the weights move: **the mix** of values scanned and values fetched at positions replaces the
//! one that is taken for granted, to the degree that there were visits to trust it; **heat**, the column's
//! share of the visits of its table, takes weight off time, so that bytes decide how a column is held that nobody
//! reads. The weight of time never grows beyond that of the purpose: a column that is always read
//! is what the purpose is made for.
//!
//! Few visits change little: so many as [`PRIOR_VISITS`] count as much as what was taken for granted. A cost under
//! other weights is another number, so columns are compared under one set of them; and a block is
//! worth building anew only if the weights moved far from those it was built for ([`Weights::is_far_from`]).

use crate::cost_model::Weights;

/// Visits of a block that the mix taken for granted counts for.
pub const PRIOR_VISITS: f64 = 16.0;

/// What was observed of a column, per block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Values scanned; one that is tested or unpacked alone is half of one.
    pub scanned: f64,
    /// Values fetched at positions.
    pub fetched: f64,
    /// Visits of a block that asked for the column.
    pub visits: f64,
    /// Visits that might have: those of the whole table, of a block on average, or of this one if it has more. Not less than
    /// `visits`.
    pub of_visits: f64,
}

impl Observed {
    /// Nothing.
    pub const NOTHING: Observed = Observed {
        scanned: 0.0,
        fetched: 0.0,
        visits: 0.0,
        of_visits: 0.0,
    };

    /// Share of accesses among the values asked for; `None` if none was.
    pub fn access_share(&self) -> Option<f64> {
        let all = self.scanned + self.fetched;
        (all > 0.0).then(|| self.fetched / all)
    }

    /// How often the column is asked for: 1 always, towards 0 never.
    pub fn heat(&self) -> f64 {
        (PRIOR_VISITS + self.visits) / (PRIOR_VISITS + self.of_visits)
    }
}

impl Weights {
    /// The weights of a column of which something was observed. With nothing observed those of the purpose.
    pub fn blend(prior: &Weights, observed: &Observed) -> Weights {
        let time = prior.scan + prior.access;
        let granted = prior.access / time;
        let trust = observed.visits / (PRIOR_VISITS + observed.visits);
        let seen = observed.access_share().unwrap_or(granted);
        let share = granted + trust * (seen - granted);
        let time = time * observed.heat();
        Weights {
            scan: time * (1.0 - share),
            access: time * share,
            byte: prior.byte,
        }
    }

    /// The weight of time, as a share of that of other weights.
    pub fn time_share(&self, of: &Weights) -> f64 {
        (self.scan + self.access) / (of.scan + of.access)
    }

    /// Whether a choice by these weights may well differ from one by others: half of the weight of time came, went, or changed
    /// sides, or bytes are worth something else.
    pub fn is_far_from(&self, other: &Weights) -> bool {
        let time = (self.scan + self.access).max(other.scan + other.access);
        let moved = (self.scan - other.scan).abs() + (self.access - other.access).abs();
        2.0 * moved > time || self.byte != other.byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_options::Purpose;
    use crate::cost_model::Calibration;

    fn balanced() -> Weights {
        *Calibration::default().weights(Purpose::Balanced)
    }

    fn blend(scanned: f64, fetched: f64, visits: f64, of_visits: f64) -> Weights {
        let observed = Observed {
            scanned,
            fetched,
            visits,
            of_visits,
        };
        Weights::blend(&balanced(), &observed)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn nothing_observed_changes_nothing() {
        let (prior, blended) = (balanced(), Weights::blend(&balanced(), &Observed::NOTHING));
        assert!(
            close(prior.scan, blended.scan) && close(prior.access, blended.access),
            "{blended:?}"
        );
        assert_eq!(prior.byte, blended.byte);
        assert!(!blended.is_far_from(&prior));
    }

    #[test]
    fn few_accesses_change_little_and_many_decide() {
        let prior = balanced();
        assert!(!blend(0.0, 2.0, 2.0, 2.0).is_far_from(&prior));
        let many = blend(0.0, 1e6, 1e4, 1e4);
        assert!(many.is_far_from(&prior), "{many:?}");
        assert!(many.access > 100.0 * many.scan, "{many:?}");
        // The weight of time changes sides, and does not grow.
        assert!(close(many.time_share(&prior), 1.0));
        // More of the same moves weights one way.
        let access: Vec<f64> = (0..9)
            .map(|i| blend(0.0, 1.0, f64::from(1 << i), f64::from(1 << i)).access)
            .collect();
        assert!(access.is_sorted(), "{access:?}");
    }

    #[test]
    fn the_mix_goes_by_values() {
        // A thousand fetches beside one scan of the block are a scan's small change.
        let scans = blend(65_536.0, 1_000.0, 1_001.0, 1_001.0);
        assert!(!scans.is_far_from(&balanced()), "{scans:?}");
        assert!(scans.access < balanced().access);
    }

    #[test]
    fn what_nobody_reads_leans_to_size() {
        let prior = balanced();
        let cold = blend(0.0, 0.0, 0.0, 256.0);
        assert!(
            cold.time_share(&prior) < 0.1 && cold.is_far_from(&prior),
            "{cold:?}"
        );
        // The mix of what is left is as it was, having not been observed.
        assert!(close(cold.access / cold.scan, prior.access / prior.scan));
        assert_eq!(cold.byte, prior.byte);
        // Every other visit is enough for half of the weight.
        assert!(blend(1.0, 0.05, 128.0, 256.0).time_share(&prior) > 0.5);
    }
}
