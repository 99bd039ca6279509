//! Versions of the directory format.

/// The version of the directory format. Version 1 knows no views, version 2 neither constraints nor indexes nor defaults
/// that are computed, version 3 no numbers of columns, nor chunks that store other columns than their table has, version
/// 4 no log, version 5 no types that statements define: a program that reads one of them alone would lose them. Version 6
/// has ends of each element in arrays of numbers.
///
/// A manifest says the version that it needs: this one, or a later one for what the constants below name.
pub const VERSION: u32 = 7;
/// The version of a manifest in which a table has changes beside its chunks ([`crate::kept_changes::Behind`]).
pub(crate) const WITH_CHANGES: u32 = 8;
/// The version of a manifest with other schemas than `public`.
pub(crate) const WITH_SCHEMAS: u32 = 9;
/// The version of a manifest with sequences, generated columns, foreign keys, or a column or domain of `numeric`
/// without precision.
pub(crate) const WITH_REFERENCES: u32 = 10;
/// The version of a manifest with a deferrable key or a comment.
pub(crate) const WITH_COMMENTS: u32 = 11;
/// The version of a manifest with an index on an expression, a partial index, or a check that is NOT VALID.
pub(crate) const WITH_PARTIAL_INDEXES: u32 = 12;
/// The version of a manifest with a materialized view.
pub(crate) const WITH_MATERIALIZED_VIEWS: u32 = 13;
/// The version of a manifest with roles, owners or privileges that statements gave.
pub(crate) const WITH_ROLES: u32 = 14;
/// The version of a manifest in a folder that PUBLISH wrote: programs that write directories must not take it for one.
pub(crate) const PUBLISHED: u32 = 15;
/// The greatest version that is read.
pub const NEWEST: u32 = PUBLISHED;
/// The oldest version that is read.
pub(crate) const OLDEST: u32 = 1;
