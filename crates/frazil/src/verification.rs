//! Whether a database is sound: the checksums and contents of blocks, and every index against the rows of its table.

use crate::connection::Connection;
use frazil_storage::{Snapshot, TableSnapshot};
use frazil_types::{Cancel, Result};

/// What [`Connection::verify`] found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Blocks that were read.
    pub blocks: u64,
    /// One of each index, table by table.
    pub indexes: Vec<IndexVerification>,
    /// What is wrong, each a sentence that names the table and the place. Of many faults of one index the first ones are here.
    pub findings: Vec<String>,
}

/// What an index holds.
#[derive(Clone, Debug)]
pub struct IndexVerification {
    /// The table's name.
    pub table: String,
    /// The index's name.
    pub index: String,
    /// Rows of the table that the connection sees.
    pub rows: u64,
    /// Entries that lead to these rows.
    pub live_entries: u64,
    /// Entries that lead to other rows: deleted ones that a reader may still see, and ones that a transaction has not committed.
    pub other_entries: u64,
    /// Deleted rows of the table whose entries wait until no reader sees the rows: no more entries may lead to other rows, while no
    /// transaction is open.
    pub waiting_rows: u64,
    /// Number of faults; all of them are findings if they are few.
    pub faults: u64,
}

impl Connection {
    /// Reads all blocks and indexes of what the connection sees and looks for faults: a block whose bytes are damaged, a live row
    /// that an index does not find by its key, or finds with another one, two live rows with one key of a unique index. Rows
    /// may be written meanwhile. 25P02 in a failed transaction, 57014, 08003.
    pub fn verify(&self) -> Result<Verification> {
        let session = self.start()?;
        let _inside = self.database().enter()?;
        let _deadline = session.start_deadline()?;
        session.transaction().check()?;
        verify(&session.snapshot(), session.cancel())
    }
}

fn verify(snapshot: &Snapshot, cancel: &Cancel) -> Result<Verification> {
    let mut found = Verification::default();
    for table in snapshot.tables() {
        let damaged = verify_blocks(table, cancel, &mut found)?;
        if !damaged {
            verify_indexes(table, cancel, &mut found)?;
        }
    }
    Ok(found)
}

/// True if a block is damaged.
fn verify_blocks(table: &TableSnapshot, cancel: &Cancel, found: &mut Verification) -> Result<bool> {
    let before = found.findings.len();
    for entry in table.chunks().filter(|entry| entry.block().is_some()) {
        cancel.check()?;
        found.blocks += 1;
        if let Err(damage) = entry.verify(table.table().entry()) {
            found.findings.push(damage.to_string());
        }
    }
    Ok(found.findings.len() > before)
}

fn verify_indexes(table: &TableSnapshot, cancel: &Cancel, found: &mut Verification) -> Result<()> {
    for index in table.indexes().iter() {
        // Before entries are counted, because they leave meanwhile.
        let waiting_rows = table.table().waiting_entries();
        let check = table.check_index(index, cancel)?;
        let (table, index) = (table.table().name(), &index.entry().name);
        let told = check.told.iter();
        (found.findings).extend(told.map(|fault| format!("table \"{table}\", index \"{index}\": {fault}")));
        found.indexes.push(IndexVerification {
            table: table.to_string(),
            index: index.clone(),
            rows: check.rows,
            live_entries: check.live_entries,
            other_entries: check.other_entries,
            waiting_rows,
            faults: check.faults,
        });
    }
    Ok(())
}
