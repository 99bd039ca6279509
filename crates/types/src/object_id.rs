//! The identity of an object of the catalog.

use std::fmt;

/// One number for every object of a database: table, view, index, sequence, type. PostgreSQL calls it oid.
/// Counted from 1 in the order of creation, never used again, whatever becomes of the object or its name.
/// System tables count down from `u32::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
