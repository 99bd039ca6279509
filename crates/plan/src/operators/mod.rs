//! What operators do, a file each.

pub mod write;
