//! Several transactions that are open side by side, which only a test begins: each sees its base and what it did, a
//! commit is merged with the others, a transaction goes over to a later base, and recovery makes of their records what
//! the store has.
//!
//! Claims, which would keep two of them from one row, are the test's: nobody deletes a row that another one deleted.

use crate::freeze::{self, Freezer};
use crate::log::Acknowledge;
use crate::new_rows::NewRows;
use crate::other_writers::OtherWriters;
use crate::redo::{Change, changes};
use crate::snapshot::{Snapshot, Table, TableSnapshot};
use crate::store::Store;
use crate::table_writer::Conflict;
use crate::transaction::{Savepoint, Transaction};
use crate::writer_memory::WriterMemory;
use frazil_catalog::{DropRelations, IndexKey, NewIndex, TableOptions};
use frazil_testkit::Random;
use frazil_types::{
    CHUNK_ROWS, Cancel, ColumnDef, ColumnVector, LogicalType, ObjectId, Result, RowBatch, RowId, Schema,
    SqlState, Value,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

const TYPES: [LogicalType; 2] = [LogicalType::BigInt, LogicalType::Text];

/// Rows by their ids; a row's number determines its text.
type Rows = BTreeMap<RowId, i128>;

fn text(number: i128) -> Value {
    match number % 3 {
        0 => Value::Null,
        _ => Value::Text(format!("the text of the row with number {number}")),
    }
}

fn batch(numbers: &[i128]) -> RowBatch {
    let ids: Vec<Value> = numbers.iter().map(|&number| Value::Int(number)).collect();
    let texts: Vec<Value> = numbers.iter().map(|&number| text(number)).collect();
    RowBatch {
        columns: vec![
            ColumnVector::from_values(TYPES[0], &ids),
            ColumnVector::from_values(TYPES[1], &texts),
        ],
        rows: numbers.len(),
    }
}

fn contents(version: &TableSnapshot) -> Rows {
    let mut rows = Rows::new();
    for entry in version.chunks() {
        let view = entry.view();
        for offset in (0..view.rows()).filter(|&offset| !view.is_deleted(offset as usize)) {
            let value = |column: usize| view.value(column, TYPES[column], offset as u16).unwrap();
            let Value::Int(number) = value(0) else {
                panic!("{:?}", value(0))
            };
            assert_eq!(value(1), text(number));
            rows.insert(RowId::new(entry.number(), offset as u16), number);
        }
    }
    assert_eq!(version.rows(), rows.len() as u64);
    rows
}

/// Each row of a version is found by its key in every index; with `exact`, there are no entries of other rows.
fn check_indexes(version: &TableSnapshot, exact: bool) {
    for index in version.indexes().iter() {
        let check = version.check_index(index, &Cancel::new()).unwrap();
        assert_eq!(check.told, [""; 0]);
        assert!(!exact || check.other_entries == 0, "{check:?}");
    }
}

/// A transaction, and what it did.
struct Open {
    transaction: Transaction,
    /// Rows of the version that it goes on from.
    base: Rows,
    inserted: Rows,
    deleted: BTreeSet<RowId>,
    savepoints: Vec<(Savepoint, Rows, BTreeSet<RowId>)>,
}

impl Open {
    /// The rows that it should see.
    fn sees(&self) -> Rows {
        let mut sees = self.base.clone();
        sees.extend(self.inserted.clone());
        sees.retain(|id, _| !self.deleted.contains(id));
        sees
    }
}

struct Writers {
    random: Random,
    store: Arc<Store>,
    table: ObjectId,
    committed: Rows,
    open: Vec<Open>,
    next_number: i128,
    /// The table as recovery makes it of the records; `None` without a log.
    recovered: Option<TableSnapshot>,
    /// Commits that were merged with one that their transaction does not see.
    merged: u64,
}

impl Writers {
    fn new(seed: u64, has_log: bool) -> Writers {
        let store = Store::new();
        let mut transaction = store.begin(Duration::ZERO, &Cancel::new()).unwrap();
        let columns = vec![
            ColumnDef::new("a", TYPES[0]).not_null(),
            ColumnDef::new("b", TYPES[1]),
        ];
        let schema = Arc::new(Schema::new(columns));
        let table = transaction
            .create_table("t", schema, TableOptions::default())
            .unwrap();
        for (name, column, unique) in [("by_a", 0, true), ("by_b", 1, false)] {
            let index = NewIndex {
                name: Some(name.into()),
                if_not_exists: false,
                table: table.id,
                keys: vec![IndexKey::ascending(column)],
                include: Vec::new(),
                unique,
                nulls_distinct: true,
                hidden: Vec::new(),
                condition: None,
            };
            transaction.create_index(index, &Cancel::new()).unwrap();
        }
        transaction.commit().unwrap();
        let recovered = TableSnapshot::new(Table::new(table.clone(), 0), Vec::new(), None);
        Writers {
            random: Random::new(seed),
            store,
            table: table.id,
            committed: Rows::new(),
            open: Vec::new(),
            next_number: 0,
            recovered: has_log.then_some(recovered),
            merged: 0,
        }
    }

    fn version(&self, of: &Snapshot) -> Arc<TableSnapshot> {
        of.table(self.table).unwrap().clone()
    }

    fn begin(&mut self) {
        let memory = WriterMemory::default();
        let has_log = self.recovered.is_some();
        self.open.push(Open {
            transaction: Transaction::new(
                self.store.clone(),
                OtherWriters::ignored(),
                self.store.newest(),
                (memory, has_log),
            ),
            base: self.committed.clone(),
            inserted: Rows::new(),
            deleted: BTreeSet::new(),
            savepoints: Vec::new(),
        });
    }

    fn insert(&mut self, by: usize) {
        // Without a log, some inserts fill chunks.
        let most = match self.recovered {
            None if self.random.below(8) == 0 => 50_000,
            _ => [2, 2, 30][self.random.index(3)],
        };
        let count = 1 + self.random.index(most) as i128;
        let first = self.next_number;
        self.next_number += count;
        self.insert_numbers(by, first..first + count);
    }

    fn insert_numbers(&mut self, by: usize, numbers: Range<i128>) {
        let numbers: Vec<i128> = numbers.collect();
        let open = &mut self.open[by];
        let mut writer = open.transaction.writer(self.table).unwrap();
        let written = writer
            .insert(&NewRows::of(&batch(&numbers)), Conflict::Fail)
            .unwrap();
        let ids: Vec<RowId> = written.rows.into_iter().flatten().collect();
        open.inserted.extend(ids.into_iter().zip(numbers));
    }

    /// Adds a block.
    fn load(&mut self, by: usize) {
        let numbers: Vec<i128> = (self.next_number..self.next_number + 40).collect();
        self.next_number += 40;
        let open = &mut self.open[by];
        let table = open.transaction.view().table(self.table).unwrap().table().clone();
        let block = Freezer::default().freeze_batch(&table, &batch(&numbers)).unwrap();
        open.transaction.writer(self.table).unwrap().block(block).unwrap();
        let before = open.sees();
        let new: Rows = (contents(open.transaction.view().table(self.table).unwrap()).into_iter())
            .filter(|(id, _)| !before.contains_key(id))
            .collect();
        assert_eq!(new.values().copied().collect::<Vec<_>>(), numbers);
        open.inserted.extend(new);
    }

    fn delete(&mut self, by: usize) {
        let claimed: BTreeSet<RowId> = self
            .open
            .iter()
            .flat_map(|open| open.deleted.iter().copied())
            .collect();
        let open = &mut self.open[by];
        let is_free = |id: &RowId| {
            let newest = self.committed.contains_key(id) || open.inserted.contains_key(id);
            newest && !claimed.contains(id)
        };
        let sees = open.sees();
        let from = self.random.index(sees.len().max(1));
        let count = 1 + self.random.index(6);
        let some = sees.keys().copied().skip(from).filter(is_free).take(count);
        let some: Vec<RowId> = some.collect();
        let written = open
            .transaction
            .writer(self.table)
            .unwrap()
            .delete(&some)
            .unwrap();
        assert_eq!(written.count, some.len() as u64);
        open.deleted.extend(some);
    }

    /// Goes over to what is committed by now.
    fn renew(&mut self, by: usize) {
        let open = &mut self.open[by];
        open.transaction.renew().unwrap();
        open.base = self.committed.clone();
    }

    fn savepoint(&mut self, by: usize) {
        let open = &mut self.open[by];
        let point = open.transaction.savepoint();
        let moment = (point, open.inserted.clone(), open.deleted.clone());
        open.savepoints.push(moment);
    }

    fn rollback_to(&mut self, by: usize) {
        let open = &mut self.open[by];
        if open.savepoints.is_empty() {
            return;
        }
        let at = self.random.index(open.savepoints.len());
        open.savepoints.truncate(at + 1);
        let (point, inserted, deleted) = open.savepoints[at].clone();
        open.transaction.rollback_to(point);
        (open.inserted, open.deleted) = (inserted, deleted);
    }

    fn commit(&mut self, by: usize) -> Result<()> {
        self.commit_beside(by, |_| Ok(()))
    }

    /// Commits a transaction; something happens after its changes were merged, and before the commit has its turn.
    fn commit_beside(&mut self, by: usize, between: impl FnOnce(&mut Writers) -> Result<()>) -> Result<()> {
        let mut done = self.open.swap_remove(by);
        if done.transaction.has_no_changes() {
            between(self)?;
            return done.transaction.commit().map(drop);
        }
        let base = done.transaction.view().timestamp();
        let ahead = done.transaction.merge_ahead()?;
        between(self)?;
        if let (Some(recovered), Some(record)) = (&mut self.recovered, done.transaction.redo().record()) {
            let timestamp = self.store.snapshot().timestamp() + 1;
            for change in changes(record) {
                match change? {
                    Change::Insert { first, columns, .. } => {
                        recovered.replay_insert(first, &columns.read(&TYPES)?, timestamp)?;
                    }
                    Change::Delete { rows, .. } => {
                        recovered
                            .replay_delete(&rows, timestamp)
                            .map_err(|(_, error)| error)?;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        self.merged += u64::from(base < self.store.snapshot().timestamp());
        done.transaction.commit_merged(ahead, Acknowledge::Durable)?;
        self.committed.append(&mut done.inserted);
        self.committed.retain(|id, _| !done.deleted.contains(id));
        Ok(())
    }

    /// With `exact`, entries of deleted rows have left the indexes.
    fn check(&self, exact: bool) {
        let version = self.version(&self.store.snapshot());
        assert_eq!(contents(&version), self.committed);
        check_indexes(&version, exact);
        for open in &self.open {
            let own = self.version(open.transaction.view());
            assert_eq!(contents(&own), open.sees());
            check_indexes(&own, false);
        }
        if let Some(recovered) = &self.recovered {
            assert_eq!(contents(recovered), self.committed);
        }
    }

    fn step(&mut self) {
        let by = self.random.index(self.open.len().max(1));
        match self.random.below(40) {
            0..6 if self.open.len() < 5 => self.begin(),
            _ if self.open.is_empty() => {}
            0..15 => self.insert(by),
            15..24 => self.delete(by),
            24..28 => self.savepoint(by),
            28..31 => self.rollback_to(by),
            31..33 => self.renew(by),
            33..36 => self.commit(by).unwrap(),
            36..38 => {
                let between = |writers: &mut Writers| match writers.open.len() {
                    0 => Ok(()),
                    open => {
                        let by = writers.random.index(open);
                        writers.commit(by)
                    }
                };
                self.commit_beside(by, between).unwrap();
            }
            // Its record would name a file.
            38 if self.recovered.is_none() => self.load(by),
            _ => drop(self.open.swap_remove(by)),
        }
    }
}

#[test]
fn commits_of_transactions_side_by_side_are_merged() {
    let mut merged = 0;
    for seed in 0..26 {
        // One that fills chunks takes as long as all others.
        let has_log = seed != 7;
        let mut writers = Writers::new(seed, has_log);
        for step in 0..if has_log { 160 } else { 60 } {
            writers.step();
            if step % if has_log { 8 } else { 30 } == 0 {
                writers.check(false);
            }
        }
        while !writers.open.is_empty() {
            writers.commit(0).unwrap();
        }
        let version = writers.version(&writers.store.snapshot());
        version.table().collector().collect(usize::MAX);
        drop(version);
        writers.check(true);
        merged += writers.merged;
    }
    // Else the histories are too tame.
    assert!(merged > 100, "{merged}");
}

/// A block is built of a full chunk, one row of which is an open transaction's. The row is committed before the block
/// takes the place of the chunk: the chunk stays, because the block's statistics do not know the row.
#[test]
fn a_chunk_that_shows_more_rows_than_its_block_stays() {
    let mut writers = Writers::new(1, false);
    // The chunk that both write to.
    writers.begin();
    writers.insert_numbers(0, 2_000_000..2_000_001);
    writers.commit(0).unwrap();
    writers.begin();
    writers.begin();
    writers.insert_numbers(0, 1_000_000..1_000_001);
    writers.insert_numbers(1, 0..CHUNK_ROWS as i128 + 3);
    writers.commit(1).unwrap();
    let version = writers.version(&writers.store.newest());
    let full = version.sealed().next().expect("a chunk is full").clone();
    let mut freezer = Freezer::of_table(&version);
    let held = freezer.hold(&version, &full).unwrap();
    writers.commit(0).unwrap();
    let swapped = writers.store.swap(
        writers.table,
        &full,
        freeze::Change::Hold(held),
        freezer.options(),
    );
    assert!(swapped.unwrap());
    let version = writers.version(&writers.store.newest());
    let now = version.entry(full.number()).expect("it is there");
    assert!(now.is_hot() && !now.view().is_deleted(1));
    assert!(writers.committed.values().any(|number| *number == 1_000_000));
    assert_eq!(version.rows(), writers.committed.len() as u64);
}

/// A large transaction beside another one that writes to the tail goes on in a chunk of its own. Alone, it fills the
/// tail.
#[test]
fn a_large_transaction_beside_others_fills_chunks_of_its_own() {
    let mut writers = Writers::new(1, false);
    let chunks = |open: &Open| -> Vec<u32> {
        let chunks: BTreeSet<u32> = open.inserted.keys().map(|id| id.chunk()).collect();
        chunks.into_iter().collect()
    };
    writers.begin();
    writers.insert_numbers(0, 0..10_000);
    assert_eq!(chunks(&writers.open[0]).len(), 1);
    writers.commit(0).unwrap();
    let shared = writers.committed.keys().next().unwrap().chunk();
    writers.begin();
    writers.begin();
    for step in 0..60 {
        let first = 1_000_000 + 1_000 * step;
        writers.insert_numbers(0, first..first + 100);
        writers.insert_numbers(1, first + 500..first + 502);
    }
    let [large, small] = [0, 1].map(|by| chunks(&writers.open[by]));
    assert_eq!((large.len(), small), (2, vec![shared]));
    let of_its_own = |id: &&RowId| id.chunk() != shared;
    let moved = writers.open[0].inserted.keys().filter(of_its_own).count();
    assert_eq!(moved, 6_000 - 4_100);
    // Undone, the rows do not count.
    writers.begin();
    writers.savepoint(2);
    writers.insert_numbers(2, 5_000_000..5_010_000);
    writers.rollback_to(2);
    writers.insert_numbers(2, 6_000_000..6_000_010);
    assert_eq!(chunks(&writers.open[2]), [shared]);
    for _ in 0..3 {
        writers.check(false);
        writers.commit(0).unwrap();
    }
    writers.check(false);
}

/// Two transactions delete the rows of a block, half each: with the second commit it leaves the table. It does not
/// matter to one that touched the block and went back.
#[test]
fn a_block_leaves_with_the_commit_that_deletes_its_last_rows() {
    for alone in [false, true] {
        let mut writers = Writers::new(1, false);
        writers.begin();
        writers.load(0);
        writers.insert_numbers(0, 1_000..1_010);
        writers.commit(0).unwrap();
        let before = writers.version(&writers.store.newest());
        let block = before.sealed().next().expect("a block").clone();
        let rows: Vec<RowId> = writers.committed.keys().copied().collect();
        let of_block = |id: &RowId| id.chunk() == block.number();
        let rows: Vec<RowId> = rows.into_iter().filter(of_block).collect();
        (0..3).for_each(|_| writers.begin());
        let delete = |writers: &mut Writers, by: usize, rows: &[RowId]| {
            let open = &mut writers.open[by];
            let mut writer = open.transaction.writer(writers.table).unwrap();
            assert_eq!(writer.delete(rows).unwrap().count, rows.len() as u64);
            open.deleted.extend(rows);
        };
        writers.savepoint(0);
        delete(&mut writers, 0, &rows[..1]);
        writers.rollback_to(0);
        writers.insert_numbers(0, 2_000..2_003);
        let (first, second) = rows.split_at(if alone { 0 } else { rows.len() / 2 });
        delete(&mut writers, 1, first);
        delete(&mut writers, 2, second);
        let has_block = |writers: &Writers| {
            let newest = writers.version(&writers.store.newest());
            newest.entry(block.number()).is_some()
        };
        let both = [2, 1].map(|by| {
            writers.commit(by).unwrap();
            has_block(&writers)
        });
        assert_eq!(both, [!alone, false]);
        writers.commit(0).unwrap();
        writers.check(false);
        let sees = contents(&before);
        assert!(rows.iter().all(|row| sees.contains_key(row)));
        drop((before, block));
        let version = writers.version(&writers.store.newest());
        version.table().collector().collect(usize::MAX);
        check_indexes(&version, true);
    }
}

/// A transaction that changes a table as a whole keeps other writers away from it. If one came all the same, the
/// commit would fail, so that nothing is lost silently.
#[test]
fn what_replaces_a_table_is_not_merged_with_other_changes_of_the_table() {
    let mut writers = Writers::new(1, false);
    (0..5).for_each(|_| writers.begin());
    let id = writers.table;
    writers.open[0].transaction.truncate(id).unwrap();
    writers.open[1]
        .transaction
        .drop_relations(&DropRelations::table("t"))
        .unwrap();
    // Nothing is left of these.
    for by in [2, 3] {
        let point = writers.open[by].transaction.savepoint();
        writers.open[by].transaction.truncate(id).unwrap();
        writers.open[by]
            .transaction
            .drop_relations(&DropRelations::table("t"))
            .unwrap();
        writers.open[by].transaction.rollback_to(point);
    }
    for by in 2..5 {
        writers.insert(by);
    }
    for by in (2..5).rev() {
        writers.commit(by).unwrap();
    }
    for _ in 0..2 {
        let open = writers.open.pop().unwrap();
        let error = open.transaction.commit().unwrap_err();
        assert_eq!(error.state(), SqlState::INTERNAL_ERROR, "{error}");
    }
    writers.check(false);
    assert!(!writers.committed.is_empty());
}
