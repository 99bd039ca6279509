//! Sequences of a store: their definitions in transactions, and the log of their states, which stand beside the
//! versions of the store ([`frazil_catalog::SequenceState`]).

use crate::log::Durability;
use crate::redo::RedoBuffer;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::transaction::Transaction;
use frazil_catalog::{AlterSequence, NewSequence, Position, SequenceEntry, SequenceLog};
use frazil_types::{ObjectId, Result};
use std::sync::{Arc, Weak};

/// The log of a store, as the states of its sequences have it.
#[derive(Debug)]
struct LogOfStore(Weak<Store>);

impl SequenceLog for LogOfStore {
    fn log(&self, sequence: ObjectId, position: Position) -> Result<()> {
        let Some(log) = self.0.upgrade().and_then(|store| store.log()) else {
            return Ok(());
        };
        let mut redo = RedoBuffer::default();
        redo.sequence(sequence, position);
        let lsn = log.append_beside(redo.bytes())?;
        log.wait(lsn)
    }
}

impl Store {
    /// The log of the states of its sequences; `None` if the store has no log.
    fn sequence_log(self: &Arc<Store>) -> Option<Arc<dyn SequenceLog>> {
        self.log()?;
        Some(Arc::new(LogOfStore(Arc::downgrade(self))))
    }

    /// Lets commits, and the states of the sequences that the store was restored with, go to a log: see
    /// [`Store::set_log`].
    pub fn begin_log(self: &Arc<Store>, log: Arc<dyn Durability>) {
        self.set_log(log);
        let log = self.sequence_log();
        for sequence in self.snapshot().catalog().sequences() {
            sequence.state.share(log.clone());
        }
    }
}

impl Transaction {
    /// Creates a sequence: see [`frazil_catalog::Catalog::create_sequence`].
    pub fn create_sequence(&mut self, new: &NewSequence) -> Result<()> {
        self.define_in(&new.name.schema)?;
        let catalog = self.view().catalog().create_sequence(new)?;
        self.set_catalog(catalog)
    }

    /// Does an action of ALTER SEQUENCE: see [`frazil_catalog::Catalog::alter_sequence`].
    pub fn alter_sequence(&mut self, id: ObjectId, action: &AlterSequence) -> Result<()> {
        self.define()?;
        let catalog = self.view().catalog().alter_sequence(id, action)?;
        self.set_catalog(catalog)
    }

    /// Lets the sequences that columns of some tables own begin again: TRUNCATE … RESTART IDENTITY.
    pub fn restart_owned(&mut self, tables: &[ObjectId]) -> Result<()> {
        self.define()?;
        let catalog = self.view().catalog().restart_owned(tables);
        self.set_catalog(catalog)
    }

    /// The sequences that the transaction made or restarted.
    pub(crate) fn private_sequences(&self, before: &Snapshot) -> Vec<Arc<SequenceEntry>> {
        let catalog = self.view().catalog();
        if catalog.version() == before.catalog().version() {
            return Vec::new();
        }
        let sequences = catalog.sequences();
        sequences
            .filter(|sequence| sequence.state.is_private())
            .cloned()
            .collect()
    }

    /// Lets others see the states of the sequences that the transaction made or restarted: it is committed.
    pub(crate) fn share_sequences(&self, before: &Snapshot, private: &[Arc<SequenceEntry>]) {
        if private.is_empty() {
            return;
        }
        let log = self.store().sequence_log();
        for sequence in private {
            sequence
                .state
                .share(log.clone().filter(|_| !sequence.id.is_temporary()));
            if let Some(old) = before.catalog().sequence_of(sequence.id) {
                old.state.replace_by(&sequence.state);
            }
        }
    }
}
