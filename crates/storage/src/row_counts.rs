//! Rows that statements wrote to a table, and scans of it, since the database was opened. Statements that are rolled
//! back count, too, as in PostgreSQL.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of a table.
#[derive(Debug, Default)]
pub struct RowCounts {
    inserted: AtomicU64,
    updated: AtomicU64,
    deleted: AtomicU64,
    scans: AtomicU64,
}

impl RowCounts {
    /// Rows that were inserted.
    pub fn inserted(&self) -> u64 {
        self.inserted.load(Ordering::Relaxed)
    }

    /// Rows that were updated.
    pub fn updated(&self) -> u64 {
        self.updated.load(Ordering::Relaxed)
    }

    /// Rows that were deleted.
    pub fn deleted(&self) -> u64 {
        self.deleted.load(Ordering::Relaxed)
    }

    /// Scans that no index served.
    pub fn scans(&self) -> u64 {
        self.scans.load(Ordering::Relaxed)
    }

    /// Counts anew.
    pub fn reset(&self) {
        for count in [&self.inserted, &self.updated, &self.deleted, &self.scans] {
            count.store(0, Ordering::Relaxed);
        }
    }

    pub(crate) fn insert(&self, rows: u64) {
        self.inserted.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn update(&self, rows: u64) {
        self.updated.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn delete(&self, rows: u64) {
        self.deleted.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn scan(&self) {
        self.scans.fetch_add(1, Ordering::Relaxed);
    }
}
