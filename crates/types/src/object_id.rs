//! The identity of an object of the catalog.

use std::fmt;

/// One number for every object of a database: table, view, index, sequence, type. PostgreSQL calls it oid.
/// Counted from 1 in the order of creation, never used again, whatever becomes of the object or its name.
/// Temporary objects count from [`FIRST_TEMPORARY`]; system tables count down from `u32::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// PostgreSQL's number of the first object that a user makes; smaller ones are built-in types, functions and tables.
pub const FIRST_USER_OID: u32 = 16384;

/// The first number of a temporary object: of a session's own tables, views and sequences, and of what is in them. Such
/// objects are not in any file, so that their numbers begin anew when a database is opened.
pub const FIRST_TEMPORARY: u32 = 1 << 30;

/// The number behind those of temporary objects.
const END_OF_TEMPORARY: u32 = 1 << 31;

/// The bit that makes the oid of a type that a statement defined the oid of its arrays.
const ARRAY_OFFSET: u32 = 1 << 31;

impl ObjectId {
    /// True for a temporary object, also for a schema of such.
    pub const fn is_temporary(self) -> bool {
        self.0 >= FIRST_TEMPORARY && self.0 < END_OF_TEMPORARY
    }

    /// The number of the object in `pg_catalog`, and as an `oid`. Wraps around for system tables, whose oids are their
    /// own rows' affair.
    pub const fn oid(self) -> u32 {
        self.0.wrapping_add(FIRST_USER_OID)
    }

    /// The number of the arrays of a type that a statement defined.
    pub const fn array_oid(self) -> u32 {
        self.oid() | ARRAY_OFFSET
    }

    /// The type of whose arrays the oid is, if a statement defined it.
    pub const fn of_array_oid(oid: u32) -> Option<ObjectId> {
        match oid & ARRAY_OFFSET != 0 {
            true => ObjectId::of_oid(oid & !ARRAY_OFFSET),
            false => None,
        }
    }

    /// The object of an oid; `None` for oids of what is built in.
    pub const fn of_oid(oid: u32) -> Option<ObjectId> {
        match oid.checked_sub(FIRST_USER_OID) {
            None | Some(0) => None,
            Some(id) => Some(ObjectId(id)),
        }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_by_its_oid_and_nothing_built_in_is_one() {
        for id in [1, 2, 70_000, u32::MAX - FIRST_USER_OID] {
            assert_eq!(ObjectId::of_oid(ObjectId(id).oid()), Some(ObjectId(id)));
        }
        for oid in [0, 1, 23, 16_383, 16_384] {
            assert_eq!(ObjectId::of_oid(oid), None, "{oid}");
        }
    }
}
