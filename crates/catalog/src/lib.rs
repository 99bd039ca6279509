//! Frazil's catalog stratum.
