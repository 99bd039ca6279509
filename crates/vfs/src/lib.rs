//! Frazil's vfs stratum.
