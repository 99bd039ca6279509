//! Frazil's testkit stratum.
