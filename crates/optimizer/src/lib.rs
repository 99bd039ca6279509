//! Frazil's optimizer stratum.
