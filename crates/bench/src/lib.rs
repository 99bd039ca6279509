//! Frazil's bench stratum.
