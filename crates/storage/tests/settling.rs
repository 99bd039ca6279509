//! Transactions that begin with the visible version, beside commits that are not durable: what they see, and what they
//! wait for. The test decides how far the log is durable.

mod support;

use frazil_catalog::{Catalog, IndexKey, NewIndex, TableOptions};
use frazil_storage::{
    Durability, Log, Lsn, NamedBlocks, Reserved, RowLock, ScanOptions, Snapshot, Store, TableMode,
    Transaction,
};
use frazil_types::{Cancel, ColumnDef, Error, LogicalType, ObjectId, Result, RowId, Schema, SqlState, Value};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use support::{batch, delete, insert, scan};

/// Places in a log, which are durable as far as the test says.
#[derive(Debug, Default)]
struct Places {
    reserved: u64,
    durable: u64,
    waiting: usize,
}

/// A log of records that nobody reads.
#[derive(Debug, Default)]
struct DecidedLog {
    places: Mutex<Places>,
    changed: Condvar,
}

impl DecidedLog {
    fn sync_all(&self) {
        let mut places = self.places.lock().unwrap();
        places.durable = places.reserved;
        self.changed.notify_all();
    }

    fn until_waiting(&self, count: usize) {
        let mut places = self.places.lock().unwrap();
        while places.waiting != count {
            places = self.changed.wait(places).unwrap();
        }
    }

    fn reserve_next(&self) -> u64 {
        let mut places = self.places.lock().unwrap();
        places.reserved += 1;
        places.reserved
    }
}

impl Log for DecidedLog {
    fn reserve(&self, _redo: &[u8]) -> Result<Reserved> {
        let place = self.reserve_next();
        Ok(Reserved {
            lsn: Lsn(place),
            timestamp: place,
        })
    }

    fn append_beside(&self, _redo: &[u8]) -> Result<Lsn> {
        Err(Error::internal("nothing is appended beside commits"))
    }

    fn wait(&self, lsn: Lsn) -> Result<()> {
        let mut places = self.places.lock().unwrap();
        if places.durable >= lsn.0 {
            return Ok(());
        }
        places.waiting += 1;
        self.changed.notify_all();
        while places.durable < lsn.0 {
            places = self.changed.wait(places).unwrap();
        }
        places.waiting -= 1;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Durability for DecidedLog {
    fn commit_whole(&self, _next: &Snapshot) -> Result<Lsn> {
        Ok(Lsn(self.reserve_next()))
    }

    fn catalog_change(&self, _before: &Catalog, _after: &Catalog) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn no_catalog_change(&self, _catalog: &Catalog) -> Vec<u8> {
        Vec::new()
    }

    fn make_room(&self, _redo: usize) {}

    fn write_blocks(self: Arc<Self>) -> Result<Box<dyn NamedBlocks>> {
        Err(Error::internal("no blocks are written"))
    }

    fn follow(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }
}

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        ColumnDef::new("a", LogicalType::Integer).not_null(),
    ]))
}

struct Database {
    store: Arc<Store>,
    log: Arc<DecidedLog>,
    table: ObjectId,
}

impl Database {
    /// A table with the keys 1 to 3, which are durable.
    fn new() -> Database {
        let (store, log) = (Store::new(), Arc::new(DecidedLog::default()));
        store.set_log(log.clone());
        let mut first = store.begin(Duration::ZERO, &Cancel::new()).unwrap();
        let table = (first.create_table("t", schema(), TableOptions::default())).unwrap();
        let index = NewIndex {
            name: Some("by_a".into()),
            if_not_exists: false,
            table: table.id,
            keys: vec![IndexKey::ascending(0)],
            include: Vec::new(),
            unique: true,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        first.create_index(index, &Cancel::new()).unwrap();
        let database = Database {
            store,
            log,
            table: table.id,
        };
        database.add(&mut first, &[1, 2, 3]);
        let first = database.commit(first);
        database.log.sync_all();
        first.join().unwrap().unwrap();
        database
    }

    /// A transaction as one of a block is begun.
    fn begin(&self) -> Transaction {
        let mut begun = (self.store)
            .begin_visible(Duration::ZERO, &Cancel::new())
            .unwrap();
        begun.begin_statement();
        begun
    }

    fn add(&self, by: &mut Transaction, keys: &[i128]) {
        let rows: Vec<_> = keys.iter().map(|&key| vec![Value::Int(key)]).collect();
        insert(by, self.table, &batch(&schema(), &rows));
    }

    /// A commit on a thread, which has its place in the log when this returns, and waits for the log.
    fn commit(&self, transaction: Transaction) -> JoinHandle<Result<u64>> {
        let waiting = self.log.places.lock().unwrap().waiting;
        let committed = std::thread::spawn(move || transaction.commit());
        self.log.until_waiting(waiting + 1);
        committed
    }

    fn rows(&self, by: &Transaction) -> Vec<(RowId, i128)> {
        let version = by.view().table(self.table).unwrap().clone();
        let rows = scan(&version, &[], ScanOptions::default());
        let mut rows: Vec<_> = (rows.into_iter())
            .map(|(id, row)| (id, row[0].as_int().unwrap()))
            .collect();
        rows.sort_by_key(|row| row.1);
        rows
    }

    fn keys(&self, by: &Transaction) -> Vec<i128> {
        self.rows(by).into_iter().map(|row| row.1).collect()
    }

    fn row(&self, by: &Transaction, key: i128) -> RowId {
        let rows = self.rows(by);
        rows.into_iter().find(|row| row.1 == key).unwrap().0
    }

    fn lock(&self, by: &mut Transaction, key: i128) {
        let row = self.row(by, key);
        by.lock_table(self.table, TableMode::RowShare).unwrap();
        by.lock_rows(self.table, &[row], RowLock::Update).unwrap();
    }
}

#[test]
fn what_a_transaction_begins_with_is_durable_and_not_waited_for() {
    let database = Database::new();
    let mut first = database.begin();
    database.add(&mut first, &[4]);
    let first = database.commit(first);
    let mut second = database.begin();
    second
        .lock_table(database.table, TableMode::RowExclusive)
        .unwrap();
    database.add(&mut second, &[5]);
    assert_eq!(database.keys(&second), [1, 2, 3, 5]);
    second.settle().unwrap();
    // Its next statement sees what readers see.
    second.see_visible().unwrap();
    assert_eq!(database.keys(&second), [1, 2, 3, 5]);
    database.log.sync_all();
    first.join().unwrap().unwrap();
    second.see_visible().unwrap();
    assert_eq!(database.keys(&second), [1, 2, 3, 4, 5]);
    second.settle().unwrap();
}

#[test]
fn who_holds_a_row_sees_the_commit_of_whoever_held_it_before() {
    let database = Database::new();
    let mut first = database.begin();
    database.lock(&mut first, 1);
    database.add(&mut first, &[4]);
    let first = database.commit(first);
    let mut other = database.begin();
    database.lock(&mut other, 2);
    other.see_visible().unwrap();
    assert_eq!(database.keys(&other), [1, 2, 3]);
    let mut next = database.begin();
    database.lock(&mut next, 1);
    // What this statement shows is visible.
    next.settle().unwrap();
    next.see_visible().unwrap();
    assert_eq!(database.keys(&next), [1, 2, 3, 4]);
    // Nobody hears of the row before it is durable.
    let settled = std::thread::spawn(move || next.settle().map(|()| next));
    database.log.until_waiting(2);
    database.log.sync_all();
    settled.join().unwrap().unwrap();
    first.join().unwrap().unwrap();
}

#[test]
fn who_waited_for_a_row_sees_the_commit_of_whoever_held_it() {
    let database = Database::new();
    let mut first = database.begin();
    database.lock(&mut first, 1);
    database.add(&mut first, &[4]);
    let mut next = database.begin();
    next.set_patience(Duration::from_secs(60), &Cancel::new());
    let row = database.row(&next, 1);
    next.lock_table(database.table, TableMode::RowShare).unwrap();
    let table = database.table;
    let waiter = std::thread::spawn(move || {
        next.lock_rows(table, &[row], RowLock::Update).unwrap();
        next
    });
    let locks = database.store.locks().unwrap();
    while locks.counters().waits == 0 {
        std::thread::yield_now();
    }
    let first = database.commit(first);
    let mut next = waiter.join().unwrap();
    next.see_visible().unwrap();
    assert_eq!(database.keys(&next), [1, 2, 3, 4]);
    database.log.sync_all();
    first.join().unwrap().unwrap();
}

#[test]
fn a_key_that_was_free_is_not_shown_twice() {
    let database = Database::new();
    let mut first = database.begin();
    let row = database.row(&first, 2);
    first.claim(database.table, &[row]).unwrap();
    delete(&mut first, database.table, &[row]);
    let first = database.commit(first);
    let mut second = database.begin();
    database.add(&mut second, &[2]);
    second.see_visible().unwrap();
    assert_eq!(database.keys(&second), [1, 2, 3]);
    let second = database.commit(second);
    database.log.sync_all();
    first.join().unwrap().unwrap();
    second.join().unwrap().unwrap();
}

#[test]
fn a_row_that_a_later_commit_changed_is_met_on_the_newest_version() {
    let database = Database::new();
    let mut first = database.begin();
    let row = database.row(&first, 2);
    first.claim(database.table, &[row]).unwrap();
    delete(&mut first, database.table, &[row]);
    let first = database.commit(first);
    let mut second = database.begin();
    let row = database.row(&second, 2);
    let newer = second.claim(database.table, &[row]).unwrap_err();
    assert_eq!(newer.state(), SqlState::SERIALIZATION_FAILURE);
    assert!(second.runs_again().unwrap());
    assert_eq!(database.keys(&second), [1, 3]);
    // Whoever hears of the end of the transaction may rely on what it saw.
    let rolled_back = std::thread::spawn(move || second.rollback_settled());
    database.log.until_waiting(2);
    database.log.sync_all();
    rolled_back.join().unwrap().unwrap();
    first.join().unwrap().unwrap();
}

#[test]
fn what_was_done_to_a_whole_table_is_seen_by_the_next_writer() {
    let database = Database::new();
    let mut first = database.begin();
    first.truncate(database.table).unwrap();
    let first = database.commit(first);
    let second = database.begin();
    assert_eq!(database.keys(&second), []);
    drop(second);
    database.log.sync_all();
    first.join().unwrap().unwrap();
}
