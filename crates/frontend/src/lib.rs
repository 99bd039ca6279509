//! Frazil's frontend stratum.
