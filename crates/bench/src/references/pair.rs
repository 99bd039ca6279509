//! A pair of the experiment, and the sizes of its tables.

use super::side::Side;
use crate::arguments::BenchArgs;
use frazil_types::Result;

/// Rows of the large tables at scale factor 1.
const ROWS: usize = 5_000_000;
/// Rows of the small tables, and the least that the large ones have.
const FEW_ROWS: usize = 5_000;
/// Statements of a run that names a row by its key, at scale factor 1.
const UNITS: usize = 20_000;

/// Sizes of a run.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Rows of the large tables.
    pub rows: usize,
    /// Rows of the small tables.
    pub few: usize,
    /// Statements of a run that names a row by its key.
    pub units: usize,
    /// Runs, with the one that warms up.
    pub rounds: usize,
}

impl Sizes {
    pub fn of(args: &BenchArgs) -> Sizes {
        let share = args.scale_factor.min(1.0);
        let few = ((FEW_ROWS as f64 * share) as usize).max(200);
        let rows = args.rows.unwrap_or((ROWS as f64 * share) as usize);
        Sizes {
            rows: rows.max(few),
            few,
            units: ((UNITS as f64 * share) as usize).max(20),
            rounds: args.runs + 1,
        }
    }
}

/// A cost and its baseline.
pub struct Pair {
    /// Its name.
    pub name: &'static str,
    /// The baseline of the cost, for the report.
    pub over: &'static str,
    /// The greatest ratio that is intended.
    pub most: f64,
    /// Makes the case, then its baseline.
    pub sides: fn(&Sizes) -> Result<[Side; 2]>,
}
