//! The statistics of Runtime Fragility, section 3: what may be said about run times that vary.
//!
//! A mean of five runs is no result: section 3.1 shows two layouts whose means are in one order and
//! whose confidence intervals say that nothing can be said. So every sample has its **confidence
//! interval** (3.2, Student's t, as samples are small), a run that does not fit is named an **outlier**
//! (3.3, Grubbs' test, held back by an extra condition), and two samples are compared in **three steps**
//! (3.4) whose answer may be that they are indistinguishable. Many samples are sorted into **classes** of the
//! indistinguishable (4.2).
//!
//! Ratios are treated on logarithms: the logarithm of a ratio is a difference, for which Welch's test
//! gives an interval without assuming equal variances; its ends are raised back.

mod classes;
mod comparison;
mod grubbs;
mod sample;
mod student_t;
mod welch;

pub use classes::classes;
pub use comparison::{Comparison, Verdict, compare, compare_exact, compare_pairs};
pub use grubbs::outlier;
pub use sample::{Interval, Sample};
pub use welch::{Welch, welch};

/// Significance level of all tests and intervals: they hold with a confidence of 95 %.
pub const ALPHA: f64 = 0.05;
