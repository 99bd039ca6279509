//! Frazil's storage stratum.
