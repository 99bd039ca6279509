//! Frazil's files stratum.
