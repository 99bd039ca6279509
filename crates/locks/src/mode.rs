//! Modes of row claims and table locks, and which of them conflict: PostgreSQL's manual, 13.3.1 and 13.3.2.

use std::fmt;

/// Mode of a claim on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// FOR KEY SHARE: the row stays, and so does its key.
    KeyShare,
    /// FOR SHARE: the row stays as it is.
    Share,
    /// FOR NO KEY UPDATE: the row stays as it is but for values that are no key.
    NoKeyUpdate,
    /// FOR UPDATE: nobody else changes or locks the row. Whoever wants its key finds the row as it is.
    ForUpdate,
    /// UPDATE that leaves the unique keys of the row. Conflicts as [`Mode::Update`] does, because the row gets another
    /// id, but a check of a foreign key need not wait to know that the row refers to its parent.
    Rewrite,
    /// DELETE, and UPDATE of a unique key: the row is being deleted, so whoever wants its key waits.
    Update,
    /// A row that its transaction inserted and nobody else can see. Conflicts as [`Mode::Update`] does: only a check
    /// of a unique key meets such a row, and must tell an open insert from an open delete.
    Insert,
}

/// Mode of a table lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TableMode {
    /// SELECT.
    AccessShare,
    /// SELECT FOR UPDATE and the like.
    RowShare,
    /// INSERT, UPDATE, DELETE.
    RowExclusive,
    /// Maintenance that goes on beside writers.
    ShareUpdateExclusive,
    /// CREATE INDEX.
    Share,
    /// One at a time beside readers.
    ShareRowExclusive,
    /// Only readers pass: also a statement that ran again too often.
    Exclusive,
    /// Nobody passes: DROP, ALTER, TRUNCATE.
    AccessExclusive,
}

/// Mode of a claim on a key to which foreign keys refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyMode {
    /// A child that is being written refers to the key: nobody takes the key away. Shared.
    Referenced,
    /// The row that has the key is being deleted, gets another key, or is locked FOR UPDATE: nobody refers to the key.
    /// Exclusive.
    Removed,
}

impl KeyMode {
    /// The mode as one of a row: FOR KEY SHARE, or that of a change. PostgreSQL takes these of the parent's row.
    pub(crate) fn as_mode(self) -> AnyMode {
        AnyMode::Row(match self {
            KeyMode::Referenced => Mode::KeyShare,
            KeyMode::Removed => Mode::Update,
        })
    }
}

/// A mode of either kind. Row modes are bits 0–6 of a set of modes, table modes bits 8–15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnyMode {
    /// Mode of a row.
    Row(Mode),
    /// Mode of a table.
    Table(TableMode),
}

/// A set of modes, a bit each.
pub(crate) type Modes = u16;

/// Bit of the first table mode. Bit 7, before it, is nobody's mode: [`Mode::Rewrite`], [`Mode::Update`] and
/// [`Mode::Insert`] conflict with it, so that a claim of [`Mode::ForUpdate`] does not cover one that says that the row
/// is being changed.
const FIRST_TABLE_BIT: u32 = 8;

impl TableMode {
    /// True if whoever holds this mode keeps away everybody whom `other` would keep away.
    pub fn covers(self, other: TableMode) -> bool {
        let (own, other) = (
            AnyMode::Table(self).conflicts(),
            AnyMode::Table(other).conflicts(),
        );
        other & !own == 0
    }
}

impl AnyMode {
    /// The set of this mode alone.
    pub(crate) fn bit(self) -> Modes {
        match self {
            AnyMode::Row(mode) => 1 << mode as u32,
            AnyMode::Table(mode) => 1 << (FIRST_TABLE_BIT + mode as u32),
        }
    }

    /// The modes that conflict with this one.
    pub(crate) fn conflicts(self) -> Modes {
        match self {
            AnyMode::Row(mode) => ROW_CONFLICTS[mode as usize],
            AnyMode::Table(mode) => TABLE_CONFLICTS[mode as usize] << FIRST_TABLE_BIT,
        }
    }

    /// True if nobody passes a waiter of this mode, whatever the newcomer wants.
    pub(crate) fn stops_everybody(self) -> bool {
        match self {
            AnyMode::Row(mode) => mode >= Mode::ForUpdate,
            AnyMode::Table(mode) => mode == TableMode::AccessExclusive,
        }
    }

    /// True if two transactions cannot hold these modes at once. Symmetric.
    pub fn conflicts_with(self, other: AnyMode) -> bool {
        self.conflicts() & other.bit() != 0
    }
}

/// `ROW_CONFLICTS[m]`: the modes that conflict with row mode `m`; bit 0 is [`Mode::KeyShare`].
const ROW_CONFLICTS: [Modes; 7] = [
    0b0111_1000,
    0b0111_1100,
    0b0111_1110,
    0b0111_1111,
    0b1111_1111,
    0b1111_1111,
    0b1111_1111,
];

/// `TABLE_CONFLICTS[m]`: the modes that conflict with table mode `m`; bit 0 is [`TableMode::AccessShare`].
const TABLE_CONFLICTS: [Modes; 8] = [
    0b1000_0000,
    0b1100_0000,
    0b1111_0000,
    0b1111_1000,
    0b1110_1100,
    0b1111_1100,
    0b1111_1110,
    0b1111_1111,
];

impl fmt::Display for AnyMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AnyMode::Row(Mode::KeyShare) => "KEY SHARE",
            AnyMode::Row(Mode::Share) => "SHARE",
            AnyMode::Row(Mode::NoKeyUpdate) => "NO KEY UPDATE",
            AnyMode::Row(Mode::ForUpdate) => "FOR UPDATE",
            AnyMode::Row(Mode::Rewrite) => "REWRITE",
            AnyMode::Row(Mode::Update) => "UPDATE",
            AnyMode::Row(Mode::Insert) => "INSERT",
            AnyMode::Table(TableMode::AccessShare) => "ACCESS SHARE",
            AnyMode::Table(TableMode::RowShare) => "ROW SHARE",
            AnyMode::Table(TableMode::RowExclusive) => "ROW EXCLUSIVE",
            AnyMode::Table(TableMode::ShareUpdateExclusive) => "SHARE UPDATE EXCLUSIVE",
            AnyMode::Table(TableMode::Share) => "SHARE",
            AnyMode::Table(TableMode::ShareRowExclusive) => "SHARE ROW EXCLUSIVE",
            AnyMode::Table(TableMode::Exclusive) => "EXCLUSIVE",
            AnyMode::Table(TableMode::AccessExclusive) => "ACCESS EXCLUSIVE",
        })
    }
}
