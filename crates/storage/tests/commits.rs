//! Commits and a log whose syncs the test decides about: what the next writer sees, what readers see, and when anybody hears of it.

use frazil_block::Block;
use frazil_catalog::{Catalog, TableOptions};
use frazil_storage::redo::{Change, changes};
use frazil_storage::{
    Acknowledge, ChunkEntry, Conflict, Durability, Freezer, Log, Lsn, NamedBlocks, NewRows, RedoPlace,
    Reserved, SegmentPlace, Snapshot, Store, Transaction,
};
use frazil_types::{
    Cancel, ColumnDef, ColumnVector, Error, LogicalType, ObjectId, Result, RowBatch, RowId, Schema, SqlState,
    Value,
};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A log in memory that is durable as far as the test says.
#[derive(Debug, Default)]
struct TestLog {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    records: Vec<Vec<u8>>,
    durable: u64,
    /// Whoever waits.
    waiting: usize,
    /// True if the next one who waits stops when what it waits for is durable; true if one has stopped.
    stops: bool,
    stopped: bool,
    failed: bool,
    whole: u64,
    timestamp: u64,
    /// Files of blocks that are there.
    files: usize,
    /// The chunks that the last record named.
    kept: Vec<u32>,
    /// Redo in files.
    redo: Vec<Vec<u8>>,
    /// True if no file can be made.
    is_full: bool,
    /// Bytes for which room was made last.
    room: usize,
}

impl TestLog {
    fn sync(&self, lsn: u64) {
        self.state.lock().unwrap().durable = lsn;
        self.changed.notify_all();
    }

    fn fail(&self) {
        self.state.lock().unwrap().failed = true;
        self.changed.notify_all();
    }

    /// Stops the next one who waits, until `go_on`, when what it waits for is durable.
    fn stop_next(&self) {
        self.state.lock().unwrap().stops = true;
    }

    fn go_on(&self) {
        self.state.lock().unwrap().stopped = false;
        self.changed.notify_all();
    }

    /// Returns when so many wait.
    fn until_waiting(&self, count: usize) {
        let mut state = self.state.lock().unwrap();
        while state.waiting != count {
            state = self.changed.wait(state).unwrap();
        }
    }

    /// Number of files of blocks, and the chunks that the last record named.
    fn files(&self) -> (usize, Vec<u32>) {
        let state = self.state.lock().unwrap();
        (state.files, state.kept.clone())
    }

    fn records(&self) -> usize {
        self.state.lock().unwrap().records.len()
    }

    /// What the last record says.
    fn last(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let text = |change: Result<Change<'_>>| match change.unwrap() {
            Change::Insert { first, columns, .. } => {
                format!(
                    "insert {} at {}/{}",
                    columns.rows(),
                    first.chunk(),
                    first.offset()
                )
            }
            Change::Delete { rows, .. } => format!("delete {}", rows.len()),
            Change::Catalog(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            Change::Truncate(_) => "truncate".to_string(),
            Change::Held(_) => "held".to_string(),
            Change::Load { block, .. } => format!("chunk {} of {} rows", block.chunk, block.rows),
            Change::Removed { chunks, .. } => format!("without {chunks:?}"),
            other => format!("{other:?}"),
        };
        changes(state.records.last().unwrap()).map(text).collect()
    }
}

impl Log for TestLog {
    fn reserve(&self, redo: &[u8]) -> Result<Reserved> {
        self.check()?;
        let mut state = self.state.lock().unwrap();
        // Room was made before the commit had its turn.
        assert!(redo.len() < 5_000 || state.room >= redo.len());
        state.records.push(redo.to_vec());
        state.timestamp += 1;
        Ok(Reserved {
            lsn: Lsn(state.records.len() as u64),
            timestamp: state.timestamp,
        })
    }

    fn append_beside(&self, redo: &[u8]) -> Result<Lsn> {
        self.check()?;
        let mut state = self.state.lock().unwrap();
        state.records.push(redo.to_vec());
        Ok(Lsn(state.records.len() as u64))
    }

    fn wait(&self, lsn: Lsn) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        let stops = std::mem::take(&mut state.stops);
        state.stopped |= stops;
        self.changed.notify_all();
        while state.durable < lsn.0 && !state.failed || stops && state.stopped {
            state = self.changed.wait(state).unwrap();
        }
        state.waiting -= 1;
        self.changed.notify_all();
        match state.durable >= lsn.0 {
            true => Ok(()),
            false => Err(Error::new(SqlState::TRANSACTION_RESOLUTION_UNKNOWN, "unknown")),
        }
    }

    fn check(&self) -> Result<()> {
        match self.state.lock().unwrap().failed {
            true => Err(Error::new(SqlState::IO_ERROR, "failed")),
            false => Ok(()),
        }
    }
}

impl Durability for TestLog {
    fn commit_whole(&self, next: &Snapshot) -> Result<Lsn> {
        let mut state = self.state.lock().unwrap();
        state.whole += 1;
        state.timestamp += 1;
        assert_eq!(state.timestamp, next.timestamp());
        Ok(Lsn(state.records.len() as u64))
    }

    fn no_catalog_change(&self, _catalog: &Catalog) -> Vec<u8> {
        Vec::new()
    }

    fn catalog_change(&self, before: &Catalog, after: &Catalog) -> Result<Vec<u8>> {
        let change = format!(
            "catalog {} to {}",
            before.relations().count(),
            after.relations().count()
        );
        Ok(change.into_bytes())
    }

    fn write_blocks(self: Arc<Self>) -> Result<Box<dyn NamedBlocks>> {
        let mut state = self.state.lock().unwrap();
        if state.is_full {
            return Err(Error::new(SqlState::DISK_FULL, "full"));
        }
        state.files += 1;
        drop(state);
        Ok(Box::new(TestBlocks {
            log: self,
            bytes: 0,
            is_durable: false,
            is_kept: false,
        }))
    }

    fn make_room(&self, redo: usize) {
        self.state.lock().unwrap().room = redo;
    }

    fn follow(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }
}

/// A file of blocks that is nowhere.
#[derive(Debug)]
struct TestBlocks {
    log: Arc<TestLog>,
    bytes: u64,
    is_durable: bool,
    is_kept: bool,
}

impl NamedBlocks for TestBlocks {
    fn write(&mut self, block: &Block) -> Result<SegmentPlace> {
        assert!(!self.is_durable);
        let offset = self.bytes;
        self.bytes += block.bytes().len() as u64;
        Ok(SegmentPlace {
            segment: 1,
            offset,
            bytes: block.bytes().len() as u64,
        })
    }

    fn write_redo(&mut self, redo: &[u8]) -> Result<RedoPlace> {
        assert!(!self.is_durable);
        let mut state = self.log.state.lock().unwrap();
        state.redo.push(redo.to_vec());
        Ok(RedoPlace {
            place: SegmentPlace {
                segment: 1,
                offset: state.redo.len() as u64 - 1,
                bytes: redo.len() as u64,
            },
            checksum: 0,
            used: redo.len() as u64,
        })
    }

    fn sync(&mut self) -> Result<()> {
        self.is_durable = true;
        Ok(())
    }

    fn keep(mut self: Box<Self>, lsn: Lsn, chunks: &[(Arc<ChunkEntry>, SegmentPlace)]) {
        let mut state = self.log.state.lock().unwrap();
        // The record came behind the blocks.
        assert!(self.is_durable && lsn.0 == state.records.len() as u64);
        state.kept = chunks.iter().map(|(entry, _)| entry.number()).collect();
        drop(state);
        self.is_kept = true;
    }
}

impl Drop for TestBlocks {
    fn drop(&mut self) {
        if !self.is_kept {
            self.log.state.lock().unwrap().files -= 1;
        }
    }
}

/// A store of a table, whose creation is durable.
fn store() -> (Arc<Store>, Arc<TestLog>, ObjectId) {
    let (store, log) = (Store::new(), Arc::new(TestLog::default()));
    store.set_log(log.clone());
    let mut transaction = begin(&store);
    let schema = Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]));
    let table = transaction
        .create_table("t", schema, TableOptions::default())
        .unwrap();
    log.sync(1);
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["catalog 0 to 1"]);
    (store, log, table.id)
}

fn begin(store: &Arc<Store>) -> Transaction {
    store.begin(Duration::from_secs(60), &Cancel::new()).unwrap()
}

fn insert(transaction: &mut Transaction, table: ObjectId, rows: usize) -> Vec<RowId> {
    let column = ColumnVector::from_values(LogicalType::Integer, &vec![Value::Int(1); rows]);
    let batch = RowBatch {
        columns: vec![column],
        rows,
    };
    let written = (transaction.writer(table).unwrap()).insert(&NewRows::of(&batch), Conflict::Fail);
    written.unwrap().rows.into_iter().flatten().collect()
}

/// A commit of rows in a thread of its own.
fn commit(
    store: &Arc<Store>,
    table: ObjectId,
    rows: usize,
    acknowledge: Acknowledge,
) -> std::thread::JoinHandle<Result<u64>> {
    let mut transaction = begin(store);
    insert(&mut transaction, table, rows);
    std::thread::spawn(move || transaction.commit_as(acknowledge))
}

fn visible(store: &Store, table: ObjectId) -> u64 {
    store.snapshot().table(table).unwrap().rows()
}

#[test]
fn a_commit_is_visible_when_it_is_durable_and_the_next_writer_does_not_wait_for_that() {
    let (store, log, table) = store();
    let first = commit(&store, table, 1, Acknowledge::Durable);
    log.until_waiting(1);
    // The next one begins with what the first one left.
    let second = commit(&store, table, 10, Acknowledge::Durable);
    log.until_waiting(2);
    let mut third = begin(&store);
    assert_eq!(third.view().table(table).unwrap().rows(), 11);
    assert_eq!(visible(&store, table), 0);
    // Nobody hears of what it saw.
    let settled = std::thread::spawn(move || third.settle().map(|()| third));
    log.until_waiting(3);
    log.sync(2);
    first.join().unwrap().unwrap();
    assert_eq!(visible(&store, table), 1);
    log.until_waiting(2);
    log.sync(3);
    second.join().unwrap().unwrap();
    settled.join().unwrap().unwrap();
    assert_eq!(visible(&store, table), 11);
}

#[test]
fn what_a_transaction_saw_is_visible_to_its_next_statement() {
    let (store, log, table) = store();
    log.stop_next();
    let first = commit(&store, table, 1, Acknowledge::Durable);
    log.until_waiting(1);
    // One that saw the row and changed nothing, and one that an error ends which tells of the row.
    let unchanged = begin(&store);
    let mut failed = begin(&store);
    assert_eq!(unchanged.view().table(table).unwrap().rows(), 1);
    // The commit is durable, but its own thread has not made it visible yet.
    log.sync(2);
    unchanged.commit().unwrap();
    assert_eq!(visible(&store, table), 1);
    failed.settle().unwrap();
    log.go_on();
    first.join().unwrap().unwrap();
    assert_eq!(visible(&store, table), 1);
}

#[test]
fn what_a_statement_looked_at_beyond_its_version_is_visible_behind_its_error() {
    let (store, log, table) = store();
    log.sync(2);
    let mut first = begin(&store);
    let rows = insert(&mut first, table, 1);
    first.commit().unwrap();
    let mut failed = begin(&store);
    let mut other = begin(&store);
    other.claim(table, &rows).unwrap();
    other.writer(table).unwrap().delete(&rows).unwrap();
    log.stop_next();
    let other = std::thread::spawn(move || other.commit());
    log.until_waiting(1);
    log.sync(3);
    // The error tells that the row is gone.
    let error = failed.claim(table, &rows).unwrap_err();
    assert_eq!(error.state(), SqlState::SERIALIZATION_FAILURE);
    assert_eq!(visible(&store, table), 1);
    failed.settle().unwrap();
    assert_eq!(visible(&store, table), 0);
    log.go_on();
    other.join().unwrap().unwrap();
}

#[test]
fn of_commits_that_become_durable_together_the_last_one_stays_visible() {
    let (store, log, table) = store();
    for _ in 0..50 {
        let before = visible(&store, table);
        let end = log.records() as u64 + 4;
        let commits = [1, 1, 1, 1].map(|rows| commit(&store, table, rows, Acknowledge::Durable));
        log.until_waiting(4);
        log.sync(end);
        for commit in commits {
            let timestamp = commit.join().unwrap().unwrap();
            assert!(store.snapshot().timestamp() >= timestamp);
        }
        assert_eq!(visible(&store, table), before + 4);
    }
}

#[test]
fn a_placed_commit_is_visible_at_once_but_behind_those_that_are_waited_for() {
    let (store, log, table) = store();
    commit(&store, table, 1, Acknowledge::Placed)
        .join()
        .unwrap()
        .unwrap();
    assert_eq!(visible(&store, table), 1);
    let durable = commit(&store, table, 10, Acknowledge::Durable);
    log.until_waiting(1);
    let placed = commit(&store, table, 100, Acknowledge::Placed);
    log.until_waiting(2);
    assert_eq!(visible(&store, table), 1);
    log.sync(3);
    durable.join().unwrap().unwrap();
    placed.join().unwrap().unwrap();
    assert_eq!(visible(&store, table), 111);
}

#[test]
fn what_could_not_be_made_durable_is_never_seen() {
    let (store, log, table) = store();
    let unknown = commit(&store, table, 1, Acknowledge::Durable);
    log.until_waiting(1);
    let mut reader = begin(&store);
    assert_eq!(reader.view().table(table).unwrap().rows(), 1);
    log.fail();
    let error = unknown.join().unwrap().unwrap_err();
    assert_eq!(error.state(), SqlState::TRANSACTION_RESOLUTION_UNKNOWN);
    assert_eq!(visible(&store, table), 0);
    // What failed is another one's outcome.
    assert_eq!(reader.settle().unwrap_err().state(), SqlState::IO_ERROR);
    drop(reader);
    let mut next = begin(&store);
    insert(&mut next, table, 1);
    assert_eq!(next.commit().unwrap_err().state(), SqlState::IO_ERROR);
    // A transaction that wrote nothing saw what is not durable all the same.
    assert_eq!(begin(&store).commit().unwrap_err().state(), SqlState::IO_ERROR);
    assert_eq!(visible(&store, table), 0);
}

#[test]
fn the_log_has_what_was_done_and_not_what_was_taken_back() {
    let (store, log, table) = store();
    log.sync(100);
    let mut transaction = begin(&store);
    let rows = insert(&mut transaction, table, 3);
    let savepoint = transaction.savepoint();
    insert(&mut transaction, table, 7);
    transaction.writer(table).unwrap().delete(&rows).unwrap();
    transaction.truncate(table).unwrap();
    transaction.rollback_to(savepoint);
    transaction.writer(table).unwrap().delete(&rows[..1]).unwrap();
    // A row that is deleted already counts nothing.
    transaction.writer(table).unwrap().delete(&rows[..1]).unwrap();
    insert(&mut transaction, table, 2);
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["insert 3 at 0/0", "delete 1", "insert 2 at 0/10"]);
    let mut transaction = begin(&store);
    transaction.truncate(table).unwrap();
    insert(&mut transaction, table, 65_535);
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["truncate", "insert 65535 at 1/0"]);
    let mut transaction = begin(&store);
    let freeze = transaction.freeze_table(table, None, Default::default(), &Cancel::new());
    assert_eq!(freeze.unwrap().blocks, 1);
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["held"]);
}

/// Adds a block, as a bulk load does.
fn load(transaction: &mut Transaction, table: ObjectId, rows: usize) {
    let version = transaction.view().table(table).unwrap().clone();
    let values: Vec<Value> = (0..rows).map(|n| Value::Int(n as i128)).collect();
    let columns =
        (version.schema().columns.iter()).map(|column| ColumnVector::from_values(column.ty, &values));
    let batch = RowBatch {
        columns: columns.collect(),
        rows,
    };
    let block = Freezer::default().freeze_batch(version.table(), &batch).unwrap();
    transaction.writer(table).unwrap().block(block).unwrap();
}

#[test]
fn blocks_lie_in_a_file_before_the_record_that_names_them() {
    let (store, log, table) = store();
    log.sync(100);
    let mut transaction = begin(&store);
    load(&mut transaction, table, 50);
    let savepoint = transaction.savepoint();
    load(&mut transaction, table, 60);
    transaction.rollback_to(savepoint);
    load(&mut transaction, table, 70);
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["chunk 0 of 50 rows", "chunk 2 of 70 rows"]);
    assert_eq!(log.files(), (1, vec![0, 2]));
    // Rows that move lie in new blocks, too.
    let mut transaction = begin(&store);
    insert(&mut transaction, table, 3);
    let freeze = transaction.freeze_table(table, Some(0), Default::default(), &Cancel::new());
    freeze.unwrap();
    insert(&mut transaction, table, 1);
    transaction.commit().unwrap();
    let moved = [
        "insert 3 at 3/0",
        "held",
        "chunk 4 of 123 rows",
        "without [0, 2, 3]",
        "insert 1 at 5/0",
    ];
    assert_eq!(log.last(), moved);
    assert_eq!(log.files(), (2, vec![4]));
    // A block that is not there any more when the transaction ends is named, but nobody need know it.
    let mut transaction = begin(&store);
    load(&mut transaction, table, 8);
    transaction.truncate(table).unwrap();
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["chunk 6 of 8 rows", "truncate"]);
    assert_eq!(log.files(), (3, vec![]));
    // What is rolled back leaves no file.
    let mut transaction = begin(&store);
    let savepoint = transaction.savepoint();
    load(&mut transaction, table, 8);
    assert_eq!(log.files().0, 4);
    transaction.rollback_to(savepoint);
    insert(&mut transaction, table, 1);
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["insert 1 at 8/0"]);
    let mut transaction = begin(&store);
    load(&mut transaction, table, 8);
    transaction.rollback();
    let mut transaction = begin(&store);
    load(&mut transaction, table, 8);
    log.fail();
    assert_eq!(transaction.commit().unwrap_err().state(), SqlState::IO_ERROR);
    assert_eq!(log.files().0, 3);
}

#[test]
fn a_chunk_that_a_transaction_fills_is_named_instead_of_its_rows() {
    let (store, log, table) = store();
    log.sync(100);
    let mut transaction = begin(&store);
    insert(&mut transaction, table, 10);
    transaction.commit().unwrap();
    // The first one is not its own, the last one not full.
    let mut transaction = begin(&store);
    insert(&mut transaction, table, 3 * 65_536);
    transaction.commit().unwrap();
    let rows = "insert 65526 at 0/10";
    let filled = [
        rows,
        "chunk 1 of 65536 rows",
        "chunk 2 of 65536 rows",
        "insert 10 at 3/0",
    ];
    assert_eq!(log.last(), filled);
    assert_eq!(log.files(), (1, vec![1, 2]));
    assert_eq!(visible(&store, table), 3 * 65_536 + 10);
    // In parts, and what comes after it.
    let mut transaction = begin(&store);
    transaction.truncate(table).unwrap();
    insert(&mut transaction, table, 65_000);
    insert(&mut transaction, table, 535);
    let last = insert(&mut transaction, table, 1);
    transaction.writer(table).unwrap().delete(&last).unwrap();
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["truncate", "chunk 4 of 65536 rows", "delete 1"]);
    assert_eq!(log.files(), (2, vec![4]));
    assert_eq!(visible(&store, table), 65_535);
    // What a savepoint may take back stays rows, and so does what something else stands between.
    let mut transaction = begin(&store);
    let rows = insert(&mut transaction, table, 60_000);
    let savepoint = transaction.savepoint();
    insert(&mut transaction, table, 6_000);
    transaction.rollback_to(savepoint);
    transaction.commit().unwrap();
    assert_eq!(log.last(), ["insert 60000 at 5/0"]);
    let mut transaction = begin(&store);
    transaction.truncate(table).unwrap();
    let more = insert(&mut transaction, table, 65_000);
    transaction.writer(table).unwrap().delete(&more[..1]).unwrap();
    insert(&mut transaction, table, 600);
    transaction.commit().unwrap();
    assert_eq!((rows.len(), more[0].chunk()), (60_000, 7));
    let deleted = [
        "truncate",
        "insert 65000 at 7/0",
        "delete 1",
        "insert 536 at 7/65000",
        "insert 64 at 8/0",
    ];
    assert_eq!(log.last(), deleted);
    assert_eq!(log.files().0, 2);
}

/// Inserts texts of a megabyte, one a statement.
fn insert_texts(transaction: &mut Transaction, table: ObjectId, count: usize) {
    let text = ColumnVector::from_values(LogicalType::Text, &[Value::Text("x".repeat(1 << 20))]);
    let batch = RowBatch {
        columns: vec![text],
        rows: 1,
    };
    for _ in 0..count {
        // Else a block would stand for the rows.
        transaction.savepoint();
        (transaction.writer(table).unwrap())
            .insert(&NewRows::of(&batch), Conflict::Fail)
            .unwrap();
    }
}

fn texts(transaction: &mut Transaction) -> ObjectId {
    let schema = Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Text)]));
    let options = TableOptions::default();
    transaction.create_table("texts", schema, options).unwrap().id
}

impl TestLog {
    /// Rows that the last record inserts, and those among them whose redo is in a file.
    fn inserted(&self) -> (usize, usize) {
        let state = self.state.lock().unwrap();
        let count = |redo: &[u8]| -> usize {
            let rows = |change| match change {
                Ok(Change::Insert { columns, .. }) => columns.rows(),
                Ok(_) => 0,
                Err(error) => panic!("{error}"),
            };
            changes(redo).map(rows).sum()
        };
        let record = state.records.last().unwrap();
        let in_files = changes(record).map(|change| match change.unwrap() {
            Change::Elsewhere(redo) => {
                let bytes = &state.redo[redo.place.offset as usize];
                count(&bytes[..redo.used as usize])
            }
            _ => 0,
        });
        let in_files: usize = in_files.sum();
        (count(record) + in_files, in_files)
    }
}

#[test]
fn what_is_large_is_in_a_file_before_its_record() {
    let (store, log, table) = store();
    log.sync(100);
    let mut transaction = begin(&store);
    let texts = texts(&mut transaction);
    // No more than 64 MiB are kept in memory.
    insert_texts(&mut transaction, texts, 70);
    assert_eq!(log.state.lock().unwrap().redo.len(), 1);
    load(&mut transaction, table, 5);
    assert_eq!(log.files().0, 1);
    transaction.commit().unwrap();
    assert_eq!(log.inserted(), (70, 70));
    assert_eq!(log.files(), (1, vec![0]));
    assert_eq!(visible(&store, texts), 70);
    // Nobody waits while the bytes of a large record are copied.
    let mut transaction = begin(&store);
    insert_texts(&mut transaction, texts, 2);
    transaction.commit().unwrap();
    assert_eq!(log.inserted(), (2, 2));
    let mut transaction = begin(&store);
    insert(&mut transaction, table, 1);
    transaction.commit().unwrap();
    assert_eq!((log.inserted(), log.files().0), ((1, 0), 2));
    let state = log.state.lock().unwrap();
    assert!(state.records.iter().all(|record| record.len() < 1 << 10));
    assert_eq!(state.whole, 0);
}

#[test]
fn a_savepoint_cuts_what_is_in_files() {
    let (store, log, _) = store();
    log.sync(100);
    let mut transaction = begin(&store);
    let texts = texts(&mut transaction);
    insert_texts(&mut transaction, texts, 30);
    let early = transaction.savepoint();
    insert_texts(&mut transaction, texts, 70);
    let late = transaction.savepoint();
    insert_texts(&mut transaction, texts, 90);
    assert_eq!(log.state.lock().unwrap().redo.len(), 2);
    transaction.rollback_to(late);
    insert_texts(&mut transaction, texts, 1);
    transaction.rollback_to(early.clone());
    insert_texts(&mut transaction, texts, 3);
    transaction.rollback_to(early);
    insert_texts(&mut transaction, texts, 2);
    transaction.commit().unwrap();
    assert_eq!(log.inserted(), (32, 32));
    assert_eq!(visible(&store, texts), 32);
}

#[test]
fn without_room_for_large_redo_nothing_is_committed() {
    let (store, log, table) = store();
    log.sync(100);
    let records = log.records();
    let mut transaction = begin(&store);
    insert(&mut transaction, table, 1);
    let texts = texts(&mut transaction);
    log.state.lock().unwrap().is_full = true;
    insert_texts(&mut transaction, texts, 70);
    assert_eq!(transaction.commit().unwrap_err().state(), SqlState::DISK_FULL);
    assert_eq!((log.records(), visible(&store, table)), (records, 0));
}

/// A block that could not be written leaves the transaction without redo that says all.
#[test]
fn what_no_redo_says_is_committed_whole() {
    let (store, log, table) = store();
    log.sync(100);
    let records = log.records();
    let mut transaction = begin(&store);
    insert(&mut transaction, table, 2);
    log.state.lock().unwrap().is_full = true;
    let savepoint = transaction.savepoint();
    let version = transaction.view().table(table).unwrap().table().clone();
    let column = ColumnVector::from_values(LogicalType::Integer, &[Value::Int(1)]);
    let batch = RowBatch {
        columns: vec![column],
        rows: 1,
    };
    let block = Freezer::default().freeze_batch(&version, &batch).unwrap();
    let failed = transaction.writer(table).unwrap().block(block);
    assert_eq!(failed.unwrap_err().state(), SqlState::DISK_FULL);
    transaction.rollback_to(savepoint);
    transaction.commit().unwrap();
    assert_eq!((log.records(), log.state.lock().unwrap().whole), (records, 1));
    assert_eq!(visible(&store, table), 2);
}
