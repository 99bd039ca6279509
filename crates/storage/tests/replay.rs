//! Recovery does changes again in the order of their commits, which is not the order of the slots that their rows
//! have: the orders here are those of many writers, which one writer cannot make.

mod support;

use frazil_catalog::{TableEntry, TableOptions};
use frazil_storage::{
    BuiltFor, ChunkEntry, DeletedRows, Freezer, FrozenChunk, ScanOptions, Table, TableSnapshot,
};
use frazil_types::{CHUNK_ROWS, ColumnDef, LogicalType, ObjectId, RowBatch, RowId, Schema, SqlState, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use support::*;

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        ColumnDef::new("a", LogicalType::BigInt).not_null(),
        ColumnDef::new("b", LogicalType::Text),
    ]))
}

/// A row that its number determines; every third one has NULL.
fn row(number: i128) -> Vec<Value> {
    let text = match number % 3 {
        0 => Value::Null,
        1 => Value::Text(format!("{number}")),
        _ => Value::Text(format!("a text of more than twelve bytes, number {number}")),
    };
    vec![Value::Int(number), text]
}

fn rows(numbers: &[i128]) -> RowBatch {
    batch(&schema(), &numbers.iter().copied().map(row).collect::<Vec<_>>())
}

fn table(pax_rows: u32) -> Arc<Table> {
    let options = TableOptions {
        pax_rows,
        ..TableOptions::default()
    };
    Table::new(Arc::new(TableEntry::new(ObjectId(1), "t", schema(), options)), 0)
}

fn contents(version: &TableSnapshot) -> BTreeMap<RowId, Vec<Value>> {
    let found = scan(&Arc::new(version.clone()), &[], ScanOptions::default());
    let count = found.len();
    let found: BTreeMap<RowId, Vec<Value>> = found.into_iter().collect();
    assert_eq!((found.len(), version.rows()), (count, count as u64));
    found
}

/// The table as a checkpoint writes it and opening reads it: each chunk with rows is a block, and the tail is hot
/// again.
fn restored(version: &TableSnapshot) -> TableSnapshot {
    let table = Table::new(
        version.table().entry().clone(),
        version.table().next_chunk_number(),
    );
    let (mut sealed, mut tail) = (Vec::new(), None);
    for entry in version.chunks().filter(|entry| entry.view().live_rows() > 0) {
        let block = Freezer::of_table(version).freeze_in_place(&table, entry).unwrap();
        let frozen = FrozenChunk {
            block,
            origin: None,
            visits: Arc::default(),
            built_for: BuiltFor::new(None),
        };
        let marks = entry
            .view()
            .deleted()
            .map(|marks| DeletedRows::from_words(marks.words()));
        let block = ChunkEntry::frozen(entry.number(), frozen, table.numbers().clone());
        let block = block.with_deleted(marks.unwrap_or_default()).unwrap();
        match version.tail().is_some_and(|tail| Arc::ptr_eq(tail, entry)) {
            true => tail = Some(block.thaw(&table).unwrap()),
            false => sealed.push(block),
        }
    }
    TableSnapshot::new(table, sealed, tail)
}

/// An open transaction.
#[derive(Default)]
struct Open {
    /// First ids and numbers of rows that it inserted side by side.
    inserted: Vec<(RowId, Vec<i128>)>,
    /// Rows that it deleted: committed ones, which it has claimed, and its own.
    deleted: Vec<RowId>,
}

/// Several writers of one table, seen from the log.
struct Writers {
    random: Random,
    open: Vec<Open>,
    /// The next slot of the tail.
    next: RowId,
    next_number: i128,
    committed: BTreeMap<RowId, i128>,
    version: TableSnapshot,
    commits: u64,
    /// Runs that came to slots before others of their chunk which were there already.
    late: u64,
    /// Those of them whose chunk a checkpoint had written as a block.
    thawed: u64,
}

impl Writers {
    fn insert(&mut self, by: usize) {
        if self.random.below(9) == 0 {
            // The tail rolls over; numbers that others took are left out.
            self.next = RowId::new(self.next.chunk() + 1 + self.random.below(2) as u32, 0);
        }
        let most = [3, 3, 40, 700][self.random.index(4)];
        let room = CHUNK_ROWS - usize::from(self.next.offset());
        let count = (1 + self.random.index(most)).min(room - 1) as i128;
        let numbers = (self.next_number..self.next_number + count).collect();
        self.open[by].inserted.push((self.next, numbers));
        self.next = RowId(self.next.0 + count as u64);
        self.next_number += count;
    }

    fn delete(&mut self, by: usize) {
        let own = self.open[by].inserted.last().map(|(first, _)| *first);
        let place = self.random.index(self.committed.len().max(1));
        let theirs = self.committed.keys().nth(place).copied();
        let row = if self.random.below(4) == 0 { own } else { theirs };
        if let Some(row) = row.filter(|row| self.open.iter().all(|open| !open.deleted.contains(row))) {
            self.open[by].deleted.push(row);
        }
    }

    fn commit(&mut self, by: usize) {
        let done = self.open.swap_remove(by);
        self.commits += 1;
        for (first, numbers) in done.inserted {
            let entry = self.version.entry(first.chunk());
            if let Some(entry) = entry.filter(|e| e.view().rows() > u32::from(first.offset())) {
                self.late += 1;
                self.thawed += u64::from(!entry.is_hot());
            }
            self.version
                .replay_insert(first, &rows(&numbers), self.commits)
                .unwrap();
            let ids = (0..).map(|i| RowId(first.0 + i));
            self.committed.extend(ids.zip(numbers));
        }
        let deleted = self.version.replay_delete(&done.deleted, self.commits);
        deleted.map_err(|(_, error)| error).unwrap();
        for row in &done.deleted {
            self.committed.remove(row);
        }
    }

    fn check(&self) {
        let expected = self.committed.iter().map(|(id, number)| (*id, row(*number)));
        assert_eq!(contents(&self.version), expected.collect());
    }
}

#[test]
fn slots_and_chunks_come_in_any_order() {
    let (mut late, mut thawed) = (0, 0);
    for seed in 0..24 {
        let pax_rows = [1, 7, 64, 65_536][seed as usize % 4];
        let mut writers = Writers {
            random: Random::new(seed),
            open: Vec::new(),
            next: RowId::new(0, 0),
            next_number: 0,
            committed: BTreeMap::new(),
            version: TableSnapshot::new(table(pax_rows), Vec::new(), None),
            commits: 0,
            late: 0,
            thawed: 0,
        };
        for _ in 0..300 {
            let by = writers.random.index(writers.open.len().max(1));
            match writers.random.below(20) {
                0..3 if writers.open.len() < 6 => writers.open.push(Open::default()),
                _ if writers.open.is_empty() => {}
                0..11 => writers.insert(by),
                11..15 => writers.delete(by),
                15..18 => writers.commit(by),
                18 => drop(writers.open.swap_remove(by)),
                _ => writers.version = restored(&writers.version),
            }
        }
        while !writers.open.is_empty() {
            writers.commit(0);
        }
        writers.check();
        writers.version = restored(&writers.version);
        writers.check();
        late += writers.late;
        thawed += writers.thawed;
    }
    // Else the orders are too tame.
    assert!(late > 200 && thawed > 15, "{late} {thawed}");
}

#[test]
fn a_row_comes_to_a_slot_once() {
    for is_block in [false, true] {
        let mut version = TableSnapshot::new(table(64), Vec::new(), None);
        version
            .replay_insert(RowId::new(2, 5), &rows(&[5, 6, 7]), 1)
            .unwrap();
        version
            .replay_delete(&[RowId::new(2, 6)], 2)
            .map_err(|(_, e)| e)
            .unwrap();
        if is_block {
            version = restored(&version);
        }
        let before = contents(&version);
        assert_eq!(before.len(), 2);
        for (first, count) in [(3, 3), (5, 1), (7, 4)] {
            let numbers: Vec<i128> = (100..100 + count).collect();
            let error = version
                .replay_insert(RowId::new(2, first), &rows(&numbers), 3)
                .unwrap_err();
            assert_eq!(error.state(), SqlState::DATA_CORRUPTED);
            let taken = if first == 7 { 7 } else { 5 };
            let what = format!("row {taken} of chunk 2 is there already");
            assert!(error.message().contains(&what), "{error}");
            assert_eq!(contents(&version), before);
        }
        let beyond = version
            .replay_insert(RowId::new(2, 65_535), &rows(&[1, 2]), 3)
            .unwrap_err();
        assert_eq!(beyond.state(), SqlState::DATA_CORRUPTED);
        version
            .replay_insert(RowId::new(2, 0), &rows(&[0, 1, 2, 3, 4]), 3)
            .unwrap();
        version
            .replay_insert(RowId::new(2, 65_534), &rows(&[8, 9]), 3)
            .unwrap();
        let numbers: Vec<Value> = contents(&version)
            .into_values()
            .map(|mut row| row.remove(0))
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 7, 8, 9].map(Value::Int));
    }
}

/// Rows of a chunk that began before the table allowed NULLs in a column: its cells have no room for them.
#[test]
fn slots_of_a_chunk_that_has_no_cells_for_the_rows_come_to_a_chunk_that_has() {
    let mut version = TableSnapshot::new(table(64), Vec::new(), None);
    version
        .replay_insert(RowId::new(0, 2), &rows(&[2, 3]), 1)
        .unwrap();
    let mut columns = version.schema().columns.clone();
    columns[0].nullable = true;
    let entry = TableEntry {
        schema: Arc::new(Schema::new(columns)),
        ..(**version.table().entry()).clone()
    };
    version.replay_entry(Arc::new(entry)).unwrap();
    let mut late = rows(&[0, 1]);
    late.columns[0].set_null(1);
    version.replay_insert(RowId::new(0, 0), &late, 2).unwrap();
    let first: Vec<Value> = contents(&version)
        .into_values()
        .map(|mut row| row.remove(0))
        .collect();
    assert_eq!(first, [Value::Int(0), Value::Null, Value::Int(2), Value::Int(3)]);
}
