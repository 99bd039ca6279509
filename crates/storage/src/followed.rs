//! Following: a store whose commits another process makes shows them when they are read in its log.
//!
//! The one who follows takes the versions of the tables that the log changes ([`Store::version_to_follow`]), does the
//! changes again on these ([`crate::replay`]), and shows all of them as one version ([`Store::show_followed`]): so a
//! statement sees each commit whole or not at all, and the versions that it began with stay as they are. Nobody else
//! writes to the store.
//!
//! Entries of rows that are gone leave the indexes as they do beside a writer in the same process
//! ([`crate::entry_collector`]): the version that is replaced is handed over before the first row is noted.

use crate::entry_collector::MOST_COLLECTED;
use crate::log::Lsn;
use crate::persistent_map::PersistentMap;
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::store::Store;
use frazil_catalog::Catalog;
use frazil_types::{Error, ObjectId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The changes that a store shows next.
#[derive(Debug)]
pub struct Followed {
    /// The catalog, if it is another one.
    pub catalog: Option<Catalog>,
    /// The tables that are new, or have others rows than before.
    pub tables: Vec<TableSnapshot>,
    /// The end of the last commit in the log.
    pub lsn: Lsn,
    /// Its timestamp.
    pub timestamp: u64,
}

impl Store {
    /// The version of a table that is to be changed, as `base` has it, which is visible and the newest. `None` if
    /// `base` does not have the table.
    pub fn version_to_follow(&self, base: &Snapshot, id: ObjectId) -> Option<TableSnapshot> {
        let version = base.tables.get(id.0)?;
        if !version.indexes().is_empty() {
            let collector = version.table().collector();
            collector.add(base.timestamp + 1, (Some(version), None), Vec::new());
        }
        Some((**version).clone())
    }

    /// Shows what comes behind `base`.
    pub fn show_followed(&self, base: &Snapshot, followed: Followed) {
        let mut next = Snapshot {
            timestamp: followed.timestamp,
            lsn: followed.lsn,
            visible_at: followed.lsn,
            ..base.clone()
        };
        if let Some(catalog) = followed.catalog {
            let is_gone = |id: &ObjectId| catalog.table_by_id(*id).is_none();
            let tables: Vec<ObjectId> = next.tables().map(|table| table.table().id()).collect();
            let gone = tables.into_iter().filter(is_gone);
            gone.for_each(|id| next.tables.remove(id.0));
            next.catalog = Arc::new(catalog);
        }
        let mut changed = Vec::new();
        for table in followed.tables {
            let id = table.table().id();
            if next.catalog.table_by_id(id).is_none() {
                continue;
            }
            changed.push(table.table().clone());
            next.tables.insert(id.0, Arc::new(table.at(followed.timestamp)));
        }
        self.show_alone(next);
        (changed.iter()).for_each(|table| table.collector().collect(MOST_COLLECTED));
    }

    /// Shows tables that were read anew from a directory: see [`Store::restore`].
    pub fn show_restored(
        &self,
        catalog: Catalog,
        end: (Lsn, u64),
        tables: Vec<TableSnapshot>,
        damaged: BTreeMap<ObjectId, Error>,
    ) {
        self.show_alone(Snapshot::restored(catalog, end, tables, damaged));
    }

    fn show_alone(&self, next: Snapshot) {
        let next = Arc::new(next);
        let before = self.install(next.clone());
        self.publish(&next);
        drop(before);
    }
}

impl Snapshot {
    /// The version of these tables: see [`Store::restore`].
    pub(crate) fn restored(
        mut catalog: Catalog,
        (lsn, timestamp): (Lsn, u64),
        tables: Vec<TableSnapshot>,
        damaged: BTreeMap<ObjectId, Error>,
    ) -> Snapshot {
        let identified = catalog.identify_constraints();
        let mut map = PersistentMap::default();
        for table in tables {
            let id = table.table().id();
            let table = match identified.iter().find(|entry| entry.id == id) {
                Some(entry) => table.renamed(entry.clone()),
                None => table,
            };
            map.insert(id.0, Arc::new(table));
        }
        Snapshot {
            timestamp,
            lsn,
            visible_at: lsn,
            catalog: Arc::new(catalog),
            tables: map,
            damaged: Arc::new(damaged),
        }
    }
}
