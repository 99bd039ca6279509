//! Frazil's kernels stratum.
