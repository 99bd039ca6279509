//! Verifies that a database is sound: the checksums and contents of blocks, every index against the rows of its table,
//! and the rows against the constraints of the table, foreign keys among them.

use crate::connection::Connection;
use crate::constraint_check::{check_constraints, check_foreign_keys};
use crate::query::Runner;
use frazil_catalog::TableEntry;
use frazil_storage::{Snapshot, TableSnapshot};
use frazil_types::{Cancel, Result};
use std::sync::Arc;

/// What [`Connection::verify`] found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Blocks that were read.
    pub blocks: u64,
    /// One of each table, by name.
    pub tables: Vec<TableVerification>,
    /// One of each index, table by table.
    pub indexes: Vec<IndexVerification>,
    /// What is wrong, each a sentence that names the table and the place. Of many faults of one index, or of one
    /// table's constraints, the first ones are here.
    pub findings: Vec<String>,
}

/// What was checked of a table.
#[derive(Clone, Debug)]
pub struct TableVerification {
    /// Its name.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// Its blocks.
    pub blocks: u64,
    /// Its chunks that are no blocks.
    pub hot_chunks: u64,
    /// Its indexes, those of keys included.
    pub indexes: u64,
    /// Those of them that no two rows may share a key in.
    pub unique: u64,
    /// Its columns that are NOT NULL.
    pub not_null: u64,
    /// Its CHECK constraints.
    pub checks: u64,
    /// Its foreign keys that were checked: not those that are NOT VALID, nor, inside a transaction, deferrable ones.
    pub foreign_keys: u64,
    /// Number of faults. Of a table of which a block is damaged nothing else was checked.
    pub faults: u64,
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
    /// Entries that lead to other rows: deleted ones that a reader may still see, and ones that a transaction has not
    /// committed.
    pub other_entries: u64,
    /// Deleted rows of the table whose entries wait until no reader sees the rows: no more entries may lead to other
    /// rows, while no transaction is open.
    pub waiting_rows: u64,
    /// Number of faults; all of them are findings if they are few.
    pub faults: u64,
}

impl Connection {
    /// Reads all blocks, indexes and rows of what the connection sees and looks for faults: a block whose bytes are
    /// damaged, a live row that an index does not find by its key, or finds with another one, two live rows with one
    /// key of a unique index, a row that violates NOT NULL, CHECK or a foreign key. Rows may be written meanwhile.
    /// 25P02 in a failed transaction, 57014, 08003.
    pub fn verify(&self) -> Result<Verification> {
        let session = self.start()?;
        let _inside = self.database().enter()?;
        let _deadline = session.start_deadline()?;
        session.transaction().check()?;
        let is_in_transaction = session.transaction().is_open();
        verify(&Runner::new(&session), &session.snapshot(), is_in_transaction)
    }
}

fn verify(runner: &Runner, snapshot: &Arc<Snapshot>, is_in_transaction: bool) -> Result<Verification> {
    let mut found = Verification::default();
    for (entry, damage) in snapshot.damaged() {
        found.findings.push(damage.message().to_string());
        found.tables.push(TableVerification::of_damaged(entry));
    }
    let passes = |table: &TableSnapshot| 1 + table.indexes().iter().count() as u64;
    let rows = snapshot.tables().map(|table| table.rows() * passes(table));
    runner.progress().expect(rows.sum());
    let mut tables: Vec<&Arc<TableSnapshot>> = snapshot.tables().collect();
    tables.sort_by(|a, b| a.table().name().cmp(b.table().name()));
    for table in tables {
        runner
            .progress()
            .enter(format!("verifying table {}", table.table().name()));
        let verified = verify_table(runner, (snapshot, is_in_transaction), table, &mut found)?;
        found.tables.push(verified);
    }
    found.tables.sort_by(|a, b| a.table.cmp(&b.table));
    Ok(found)
}

impl TableVerification {
    /// A table that could not be read when the directory was opened: nothing of it was checked.
    fn of_damaged(entry: &TableEntry) -> TableVerification {
        TableVerification {
            table: entry.name.clone(),
            rows: 0,
            blocks: 0,
            hot_chunks: 0,
            indexes: 0,
            unique: 0,
            not_null: 0,
            checks: 0,
            foreign_keys: 0,
            faults: 1,
        }
    }
}

fn verify_table(
    runner: &Runner,
    (snapshot, is_in_transaction): (&Arc<Snapshot>, bool),
    table: &TableSnapshot,
    found: &mut Verification,
) -> Result<TableVerification> {
    let blocks = table.chunks().filter(|entry| entry.block().is_some()).count() as u64;
    let mut verified = TableVerification {
        table: table.table().name().to_string(),
        rows: table.rows(),
        blocks,
        hot_chunks: table.chunks().count() as u64 - blocks,
        indexes: table.indexes().iter().count() as u64,
        unique: table
            .indexes()
            .iter()
            .filter(|index| index.entry().unique)
            .count() as u64,
        not_null: 0,
        checks: 0,
        foreign_keys: 0,
        faults: verify_blocks(table, runner.cancel(), found)?,
    };
    if verified.faults > 0 {
        return Ok(verified);
    }
    let mut constraints = check_constraints(runner, snapshot, table)?;
    let child = table.table().entry();
    check_foreign_keys(runner, snapshot, child, is_in_transaction, &mut constraints)?;
    let told = constraints.told.iter();
    (found.findings).extend(told.map(|fault| format!("table \"{}\": {fault}", verified.table)));
    verified.not_null = constraints.not_null;
    verified.checks = constraints.checks;
    verified.foreign_keys = constraints.foreign_keys;
    verified.faults = constraints.faults + verify_indexes(runner, table, found)?;
    Ok(verified)
}

/// Returns how many blocks are damaged.
fn verify_blocks(table: &TableSnapshot, cancel: &Cancel, found: &mut Verification) -> Result<u64> {
    let before = found.findings.len();
    for entry in table.chunks().filter(|entry| entry.block().is_some()) {
        cancel.check()?;
        found.blocks += 1;
        if let Err(damage) = entry.verify(table.table().entry()) {
            found.findings.push(damage.to_string());
        }
    }
    Ok((found.findings.len() - before) as u64)
}

/// Returns how many faults the indexes have.
fn verify_indexes(runner: &Runner, table: &TableSnapshot, found: &mut Verification) -> Result<u64> {
    let mut faults = 0;
    for index in table.indexes().iter() {
        // Before entries are counted, because they leave meanwhile.
        let waiting_rows = table.table().waiting_entries();
        let check = table.check_index(index, runner.cancel())?;
        runner.progress().advance(table.rows());
        let (table, index) = (table.table().name(), &index.entry().name);
        let told = check.told.iter();
        (found.findings).extend(told.map(|fault| format!("table \"{table}\", index \"{index}\": {fault}")));
        faults += check.faults;
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
    Ok(faults)
}
