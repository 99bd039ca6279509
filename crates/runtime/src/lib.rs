//! Frazil's runtime stratum.
