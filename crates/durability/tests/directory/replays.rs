//! Recovery of long logs: several tables beside each other, with what is not about rows between their changes.

use crate::{Temporary, batch, begin, define, insert, read, segments};
use frazil_catalog::{DropRelations, QualifiedName};
use frazil_durability::Directory;
use frazil_storage::redo::RedoBuffer;
use frazil_storage::{Acknowledge, Freezer, Log, Transaction};
use frazil_testkit::Random;
use frazil_types::{Cancel, ObjectId, RowId, SqlState};
use frazil_vfs::{SystemVfs, Vfs};
use std::sync::Arc;

fn commit(directory: &Directory, work: impl FnOnce(&mut Transaction)) {
    let mut transaction = begin(directory.store());
    work(&mut transaction);
    transaction.commit_as(Acknowledge::Placed).unwrap();
}

/// The ids and numbers of each table's rows.
fn contents(directory: &Directory) -> Vec<(String, Vec<(RowId, i128)>)> {
    let snapshot = directory.store().snapshot();
    let names = snapshot.catalog().tables().map(|t| t.name.clone());
    names
        .map(|name| (name.clone(), read(directory.store(), &name).unwrap()))
        .collect()
}

#[test]
fn tables_are_recovered_beside_each_other_and_definitions_between() {
    let temporary = Temporary::new("beside");
    let directory = temporary.open();
    let mut random = Random::new(8);
    let mut tables: Vec<(String, ObjectId, i128)> = Vec::new();
    for step in 0..260 {
        let place = random.index(tables.len());
        match random.below(40) {
            _ if tables.len() < 3 => {
                let name = format!("t{step}");
                let mut id = ObjectId(0);
                commit(&directory, |t| id = define(t, &name));
                tables.push((name, id, 0));
            }
            0 if tables.len() > 4 => {
                let (name, ..) = tables.swap_remove(place);
                commit(&directory, |t| {
                    t.drop_relations(&DropRelations::table(QualifiedName::in_public(&name)))
                        .unwrap()
                });
            }
            1 => {
                let (_, id, _) = tables[place];
                commit(&directory, |t| t.truncate(id).unwrap());
            }
            2 => {
                let (_, id, next) = &mut tables[place];
                commit(&directory, |t| {
                    let table = t.view().table(*id).unwrap().table().clone();
                    let block = Freezer::default().freeze_batch(&table, &batch(*next..*next + 50));
                    t.writer(*id).unwrap().block(block.unwrap()).unwrap();
                });
                *next += 50;
            }
            3 => {
                let (_, id, next) = tables[place];
                let mut rolled_back = begin(directory.store());
                insert(&mut rolled_back, id, next..next + 7);
            }
            4..9 => {
                let (name, id, _) = tables[place].clone();
                let rows = read(directory.store(), &name).unwrap();
                let some: Vec<RowId> = rows
                    .iter()
                    .filter(|_| random.below(3) == 0)
                    .map(|r| r.0)
                    .collect();
                commit(&directory, |t| drop(t.writer(id).unwrap().delete(&some).unwrap()));
            }
            _ => {
                // Some commits of few rows, then one of many.
                let (_, id, next) = &mut tables[place];
                for rows in [1, 1, 2, 1, 1_500] {
                    commit(&directory, |t| insert(t, *id, *next..*next + rows));
                    *next += rows;
                }
            }
        }
    }
    directory.flush(directory.wal().end()).unwrap();
    let expected = contents(&directory);
    assert!(directory.wal().end().0 > 8 << 20, "{:?}", directory.wal().end());
    drop(directory);
    for _ in 0..2 {
        let directory = temporary.open();
        assert!(contents(&directory) == expected);
    }
    temporary.open().close().unwrap();
    assert!(contents(&temporary.open()) == expected);
}

/// A record that is whole and does not fit is named by its position, wherever it is done.
/// Redo of more than a megabyte is in a segment that the log names, until a checkpoint has the commit.
#[test]
fn large_redo_is_in_a_segment_that_the_log_names() {
    let temporary = Temporary::new("large-redo");
    let directory = temporary.open();
    let mut id = ObjectId(0);
    commit(&directory, |transaction| {
        id = define(transaction, "t");
        insert(transaction, id, 0..10);
    });
    let log = directory.wal().counters().bytes;
    commit(&directory, |transaction| {
        for from in 0..12 {
            // Else a block could stand for the rows.
            transaction.savepoint();
            insert(transaction, id, 3_000 * from + 10..3_000 * (from + 1) + 10);
        }
        let savepoint = transaction.savepoint();
        insert(transaction, id, 90_000..91_000);
        transaction.rollback_to(savepoint);
        let other = define(transaction, "other");
        insert(transaction, other, 0..5);
    });
    commit(&directory, |transaction| insert(transaction, id, 95_000..95_010));
    assert!(directory.checkpoints().is_empty());
    directory.flush(directory.wal().end()).unwrap();
    assert!(directory.wal().counters().bytes - log < 64 << 10);
    assert!(directory.redo_in_segments() > 1 << 20);
    let expected = contents(&directory);
    assert_eq!(expected[1].1.len(), 36_020);
    drop(directory);
    let path = temporary.0.join("segments/00000001.seg");
    let bytes = std::fs::read(&path).unwrap();
    for _ in 0..2 {
        let directory = temporary.open();
        assert_eq!(contents(&directory), expected);
        assert_eq!(segments(&temporary.0), 1);
        // As long a log as before, for the checkpoint to come.
        assert!(directory.redo_in_segments() > 1 << 20);
    }
    let inspect = || {
        let vfs: Arc<dyn Vfs> = Arc::new(SystemVfs::default());
        frazil_durability::inspect(&vfs, &temporary.0, &Cancel::new(), &|_, _| ()).unwrap()
    };
    assert_eq!(inspect().findings, Vec::<String>::new());
    for damaged in [bytes[..bytes.len() - 9].to_vec(), {
        let mut flipped = bytes.clone();
        flipped[1_000] ^= 4;
        flipped
    }] {
        std::fs::write(&path, damaged).unwrap();
        let error = Directory::open(&temporary.0).unwrap_err();
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
        assert!(error.message().contains("00000001.seg\""), "{error}");
        assert!(
            inspect()
                .findings
                .iter()
                .any(|finding| finding.contains("00000001.seg\""))
        );
    }
    std::fs::write(&path, &bytes).unwrap();
    let directory = temporary.open();
    assert_eq!(contents(&directory), expected);
    directory.checkpoint().unwrap();
    assert!(!path.exists());
    assert_eq!(directory.redo_in_segments(), 0);
    drop(directory);
    assert_eq!(contents(&temporary.open()), expected);
}

#[test]
fn a_record_that_does_not_fit_is_named() {
    type Writes<'a> = &'a dyn Fn(&mut RedoBuffer, ObjectId);
    let wrong: [(&str, Writes<'_>); 5] = [
        ("is not there", &|redo, table| {
            redo.delete(table, &[RowId::new(0, 60_000)])
        }),
        ("is not there", &|redo, table| {
            redo.delete(table, &[RowId::new(0, 3), RowId::new(0, 3)])
        }),
        ("row 4 of chunk 0 is there already", &|redo, table| {
            redo.insert(table, RowId::new(0, 4), &batch(0..2), 0..2);
        }),
        ("table 77 is not there", &|redo, _| {
            redo.truncate_table(ObjectId(77))
        }),
        ("a field of a change of the catalog", &|redo, _| {
            redo.catalog(b"{}")
        }),
    ];
    for (n, (what, write)) in wrong.iter().enumerate() {
        let temporary = Temporary::new(&format!("misfit-{n}"));
        let directory = temporary.open();
        let mut id = ObjectId(0);
        commit(&directory, |t| id = define(t, "t"));
        // So much that a thread does it, or not.
        for n in 0..if n % 2 == 0 { 20 } else { 1 } {
            commit(&directory, |t| insert(t, id, n * 1_000..n * 1_000 + 1_000));
        }
        let mut redo = RedoBuffer::default();
        write(&mut redo, id);
        let position = directory.wal().end().0;
        let reserved = directory.wal().reserve(redo.bytes()).unwrap();
        directory.wal().wait(reserved.lsn).unwrap();
        drop(directory);
        let error = match Directory::open(&temporary.0) {
            // A change of one table is that table's fault alone.
            Ok(directory) if n < 3 => {
                let snapshot = directory.store().snapshot();
                snapshot.table_named("t").unwrap_err()
            }
            opened => opened.map(drop).unwrap_err(),
        };
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
        let place = format!("position {position}");
        for part in [what, "log \"", place.as_str()] {
            assert!(error.message().contains(part), "{part} is not in {error}");
        }
    }
}

/// Appends a record to the log as a transaction does that is not the store's.
fn plant(directory: &Directory, write: impl FnOnce(&mut RedoBuffer)) {
    let mut redo = RedoBuffer::default();
    write(&mut redo);
    let reserved = directory.wal().reserve(redo.bytes()).unwrap();
    directory.wal().wait(reserved.lsn).unwrap();
}

/// Slots of two chunks that commit out of order, with a checkpoint in between that writes the later ones: one chunk
/// is the tail when the checkpoint is made, the other one is full.
#[test]
fn slots_come_that_a_checkpoint_found_open() {
    let temporary = Temporary::new("open-slots");
    let directory = temporary.open();
    let mut id = ObjectId(0);
    commit(&directory, |t| id = define(t, "t"));
    let insert_at = |redo: &mut RedoBuffer, chunk: u32, numbers: std::ops::Range<i128>| {
        let first = RowId::new(chunk, numbers.start as u16);
        let rows = batch(numbers);
        redo.insert(id, first, &rows, 0..rows.rows);
    };
    plant(&directory, |redo| insert_at(redo, 0, 40_000..40_100));
    // Slots 10 to 20 are left out for good: their transaction is rolled back.
    plant(&directory, |redo| insert_at(redo, 1, 20..30));
    plant(&directory, |redo| redo.delete(id, &[RowId::new(1, 25)]));
    drop(directory);
    temporary.open().close().unwrap();

    let at = |chunk: u32, numbers: std::ops::Range<i128>| {
        numbers.map(move |number| (RowId::new(chunk, number as u16), number))
    };
    let rows_of = |directory: &Directory| read(directory.store(), "t").unwrap();
    let directory = temporary.open();
    let early = at(0, 40_000..40_100).chain(at(1, 20..25)).chain(at(1, 26..30));
    assert_eq!(rows_of(&directory), early.collect::<Vec<_>>());
    plant(&directory, |redo| {
        insert_at(redo, 1, 0..10);
        insert_at(redo, 0, 39_990..40_000);
    });
    plant(&directory, |redo| insert_at(redo, 0, 40_100..40_110));
    plant(&directory, |redo| {
        redo.delete(id, &[RowId::new(0, 39_990), RowId::new(1, 0)])
    });
    drop(directory);
    let of_tail = at(1, 1..10).chain(at(1, 20..25)).chain(at(1, 26..30));
    let all: Vec<_> = at(0, 39_991..40_110).chain(of_tail).collect();
    for _ in 0..2 {
        assert_eq!(rows_of(&temporary.open()), all);
    }
    temporary.open().close().unwrap();
    let directory = temporary.open();
    assert_eq!(rows_of(&directory), all);
    // The directory takes further commits.
    commit(&directory, |t| insert(t, id, 7..9));
    let goes_on = [(RowId::new(1, 30), 7), (RowId::new(1, 31), 8)];
    assert!(rows_of(&directory).ends_with(&goes_on));
}
