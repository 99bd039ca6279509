//! Frazil's python stratum.
