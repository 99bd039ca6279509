//! Frazil's frazil stratum.
