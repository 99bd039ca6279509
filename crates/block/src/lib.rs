//! Frazil's block stratum.
