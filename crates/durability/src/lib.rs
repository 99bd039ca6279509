//! Frazil's durability stratum.
