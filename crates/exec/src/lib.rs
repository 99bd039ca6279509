//! Frazil's exec stratum.
