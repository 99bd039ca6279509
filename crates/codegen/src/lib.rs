//! Frazil's codegen stratum.
