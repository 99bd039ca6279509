//! Checks of foreign keys and deferrable keys that a transaction puts off, and what SET CONSTRAINTS said, in the order
//! of the statements.
//!
//! The list only grows: what was checked in between is an entry, too. So a savepoint is a length of the list, and
//! ROLLBACK TO brings back the checks that SET CONSTRAINTS … IMMEDIATE did behind it. An entry gets more rows or keys
//! only while no savepoint is behind it: rows that ROLLBACK TO undoes are not there to be checked.

use crate::Transaction;
use frazil_types::{ObjectId, Result, RowId, Value};
use std::collections::HashMap;

/// An entry of the list.
#[derive(Clone, Debug, PartialEq)]
pub enum DeferredEntry {
    /// SET CONSTRAINTS.
    Mode {
        /// The constraints; `None` for all.
        constraints: Option<Vec<ObjectId>>,
        /// DEFERRED, not IMMEDIATE.
        is_deferred: bool,
    },
    /// Rows of a child that need a parent.
    Children {
        /// The child.
        child: ObjectId,
        /// The foreign key.
        constraint: ObjectId,
        /// The rows.
        rows: Vec<RowId>,
    },
    /// Keys of a parent that are no longer those of their rows.
    Parents {
        /// The parent.
        parent: ObjectId,
        /// The child.
        child: ObjectId,
        /// The foreign key.
        constraint: ObjectId,
        /// The keys, in the order of the foreign key's columns, as the parent's types.
        keys: Vec<Vec<Value>>,
    },
    /// Rows whose key in a deferrable index another row may have.
    Keys {
        /// The table.
        table: ObjectId,
        /// The constraint that made the index.
        constraint: ObjectId,
        /// The rows.
        rows: Vec<RowId>,
    },
    /// All entries of a constraint before this one were checked.
    Checked {
        /// The constraint.
        constraint: ObjectId,
    },
}

impl DeferredEntry {
    /// The table that has the constraint of a check, a foreign key's child, and the constraint; `None` for other
    /// entries.
    pub fn check(&self) -> Option<(ObjectId, ObjectId)> {
        match self {
            DeferredEntry::Children {
                child, constraint, ..
            }
            | DeferredEntry::Parents {
                child, constraint, ..
            } => Some((*child, *constraint)),
            DeferredEntry::Keys {
                table, constraint, ..
            } => Some((*table, *constraint)),
            DeferredEntry::Mode { .. } | DeferredEntry::Checked { .. } => None,
        }
    }

    /// The table whose rows a check concerns.
    fn table(&self) -> Option<ObjectId> {
        match self {
            DeferredEntry::Children { child, .. } => Some(*child),
            DeferredEntry::Parents { parent, .. } => Some(*parent),
            DeferredEntry::Keys { table, .. } => Some(*table),
            DeferredEntry::Mode { .. } | DeferredEntry::Checked { .. } => None,
        }
    }

    /// Bytes that the entry takes, estimated.
    pub(crate) fn bytes(&self) -> usize {
        const ENTRY: usize = size_of::<DeferredEntry>();
        ENTRY
            + match self {
                DeferredEntry::Children { rows, .. } | DeferredEntry::Keys { rows, .. } => {
                    rows.len() * size_of::<RowId>()
                }
                DeferredEntry::Parents { keys, .. } => {
                    let width = keys.first().map_or(0, Vec::len);
                    keys.len() * (size_of::<Vec<Value>>() + width * size_of::<Value>())
                }
                DeferredEntry::Mode { constraints, .. } => {
                    constraints.as_ref().map_or(0, Vec::len) * size_of::<ObjectId>()
                }
                DeferredEntry::Checked { .. } => 0,
            }
    }
}

/// The list of a transaction.
#[derive(Debug, Default)]
pub struct DeferredChecks {
    entries: Vec<DeferredEntry>,
    /// Number of entries that a savepoint may have counted: they stay as they are.
    fixed: usize,
}

impl DeferredChecks {
    /// True if a constraint is deferred now. `initially`: it is unless SET CONSTRAINTS says otherwise.
    pub fn is_deferred(&self, constraint: ObjectId, initially: bool) -> bool {
        let said = self.entries.iter().rev().find_map(|entry| match entry {
            DeferredEntry::Mode {
                constraints,
                is_deferred,
            } => {
                let is_meant = constraints
                    .as_ref()
                    .is_none_or(|named| named.contains(&constraint));
                is_meant.then_some(*is_deferred)
            }
            DeferredEntry::Children { .. }
            | DeferredEntry::Parents { .. }
            | DeferredEntry::Keys { .. }
            | DeferredEntry::Checked { .. } => None,
        });
        said.unwrap_or(initially)
    }

    /// The checks that are still to be done, in their order.
    pub fn pending(&self) -> impl Iterator<Item = &DeferredEntry> {
        let mut checked: HashMap<ObjectId, usize> = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if let DeferredEntry::Checked { constraint } = entry {
                checked.insert(*constraint, at);
            }
        }
        let entries = self.entries.iter().enumerate();
        let is_pending = move |(at, entry): &(usize, &DeferredEntry)| {
            let check = entry.check();
            check.is_some_and(|(_, key)| checked.get(&key).is_none_or(|checked| checked < at))
        };
        entries.filter(is_pending).map(|(_, entry)| entry)
    }

    /// The tables whose rows are still to be checked. A table may come several times.
    pub fn tables(&self) -> impl Iterator<Item = ObjectId> {
        self.pending().filter_map(DeferredEntry::table)
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: DeferredEntry) {
        match (self.entries[self.fixed..].last_mut(), entry) {
            (
                Some(DeferredEntry::Children { constraint, rows, .. }),
                DeferredEntry::Children {
                    constraint: same,
                    rows: more,
                    ..
                },
            ) if *constraint == same => rows.extend(more),
            (
                Some(DeferredEntry::Parents { constraint, keys, .. }),
                DeferredEntry::Parents {
                    constraint: same,
                    keys: more,
                    ..
                },
            ) if *constraint == same => keys.extend(more),
            (
                Some(DeferredEntry::Keys { constraint, rows, .. }),
                DeferredEntry::Keys {
                    constraint: same,
                    rows: more,
                    ..
                },
            ) if *constraint == same => rows.extend(more),
            (_, entry) => self.entries.push(entry),
        }
    }

    /// The number of entries, for a savepoint.
    pub(crate) fn mark(&mut self) -> usize {
        self.fixed = self.entries.len();
        self.fixed
    }

    /// Goes back to a number of entries.
    pub(crate) fn truncate(&mut self, entries: usize) {
        self.entries.truncate(entries);
        self.fixed = self.entries.len();
    }
}

impl Transaction {
    /// The checks of constraints that it put off.
    pub fn deferred(&self) -> &DeferredChecks {
        &self.deferred
    }

    /// Takes the checks that it put off, in order to do some of them; to be given back before anything else is put off.
    pub fn take_deferred(&mut self) -> DeferredChecks {
        std::mem::take(&mut self.deferred)
    }

    /// Gives back what [`Transaction::take_deferred`] took.
    pub fn give_back_deferred(&mut self, taken: DeferredChecks) {
        self.deferred = taken;
    }

    /// Adds to the checks that it puts off. 53200, 57014.
    pub fn put_off(&mut self, entry: DeferredEntry) -> Result<()> {
        self.wrote(0, entry.bytes())?;
        self.deferred.push(entry);
        Ok(())
    }

    /// True if the transaction itself wrote a row: what it began with does not show it.
    pub fn is_own(&self, table: ObjectId, row: RowId) -> bool {
        let base = self.base.as_ref().and_then(|base| base.tables.get(table.0));
        base.is_none_or(|base| !base.shows(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(constraint: u32, row: u16) -> DeferredEntry {
        DeferredEntry::Children {
            child: ObjectId(1),
            constraint: ObjectId(constraint),
            rows: vec![RowId::new(0, row)],
        }
    }

    fn mode(constraints: Option<&[u32]>, is_deferred: bool) -> DeferredEntry {
        DeferredEntry::Mode {
            constraints: constraints.map(|all| all.iter().map(|id| ObjectId(*id)).collect()),
            is_deferred,
        }
    }

    #[test]
    fn a_length_brings_back_modes_and_checks() {
        let mut list = DeferredChecks::default();
        let (a, b) = (ObjectId(7), ObjectId(8));
        assert_eq!(
            [list.is_deferred(a, true), list.is_deferred(a, false)],
            [true, false]
        );
        list.push(mode(None, true));
        list.push(children(7, 1));
        list.push(children(7, 2));
        list.push(children(8, 3));
        let savepoint = list.mark();
        assert_eq!((savepoint, list.pending().count()), (3, 2));
        list.push(mode(Some(&[7]), false));
        list.push(DeferredEntry::Checked { constraint: a });
        list.push(children(8, 4));
        assert_eq!(
            [list.is_deferred(a, true), list.is_deferred(b, false)],
            [false, true]
        );
        let keys: Vec<_> = list.pending().filter_map(|entry| entry.check()).collect();
        assert_eq!(keys, [(ObjectId(1), b), (ObjectId(1), b)]);
        assert!(list.tables().all(|table| table == ObjectId(1)));
        list.truncate(savepoint);
        assert!(list.is_deferred(a, false));
        assert_eq!(list.pending().count(), 2);
    }
}
