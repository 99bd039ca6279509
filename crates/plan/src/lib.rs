//! Frazil's plan stratum.
