//! Directories: closed and reopened, abandoned, damaged, opened twice.

mod faults;
mod files;
mod left_entries;
mod loads;
mod openings;
mod paces;
mod replays;

use frazil_block::{BuildOptions, Layout};
use frazil_catalog::{DropRelations, QualifiedName, TableOptions};
use frazil_durability::Directory;
use frazil_durability::format_version::VERSION;
use frazil_storage::{Conflict, NewRows, ScanOptions, Snapshot, Store, TableScan, Transaction};
use frazil_types::{
    Cancel, ColumnDef, ColumnDefault, ColumnVector, LogicalType, ObjectId, RowBatch, RowId, Schema, SqlState,
    StringRef, Value,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A directory that is removed at the end of its test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let path = std::env::temp_dir().join(format!("frazil-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Temporary(path)
    }

    fn open(&self) -> Directory {
        Directory::open(&self.0).unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn begin(store: &Arc<Store>) -> Transaction {
    store.begin(Duration::ZERO, &Cancel::new()).unwrap()
}

fn create(store: &Arc<Store>, name: &str) -> ObjectId {
    let mut transaction = begin(store);
    let id = define(&mut transaction, name);
    transaction.commit().unwrap();
    id
}

/// A table of a number and the name that belongs to it.
fn define(transaction: &mut Transaction, name: &str) -> ObjectId {
    let mut columns = vec![
        ColumnDef::new("id", LogicalType::Integer).not_null(),
        ColumnDef::new("name", LogicalType::Varchar(60)),
    ];
    columns[1].default = Some(ColumnDefault::Value(Value::Text("nobody".into())));
    let schema = Arc::new(Schema::new(columns));
    let entry = transaction
        .create_table(QualifiedName::in_public(name), schema, TableOptions::default())
        .unwrap();
    entry.id
}

fn row(i: i128) -> (Value, Value) {
    let name = match i % 5 {
        0 => Value::Null,
        _ => Value::Text(format!("the name of the person with number {i}")),
    };
    (Value::Int(i), name)
}

fn append(store: &Arc<Store>, id: ObjectId, numbers: std::ops::Range<i128>) {
    let mut transaction = begin(store);
    insert(&mut transaction, id, numbers);
    transaction.commit().unwrap();
}

fn insert(transaction: &mut Transaction, id: ObjectId, numbers: std::ops::Range<i128>) {
    (transaction.writer(id).unwrap())
        .insert(&NewRows::of(&batch(numbers)), Conflict::Fail)
        .unwrap();
}

fn batch(numbers: std::ops::Range<i128>) -> RowBatch {
    let (ids, names): (Vec<_>, Vec<_>) = numbers.map(row).unzip();
    let rows = ids.len();
    let columns = vec![
        ColumnVector::from_values(LogicalType::Integer, &ids),
        ColumnVector::from_values(LogicalType::Varchar(60), &names),
    ];
    RowBatch { columns, rows }
}

fn freeze(store: &Arc<Store>, id: ObjectId) {
    let mut transaction = begin(store);
    transaction
        .freeze_table(id, None, BuildOptions::default(), &Cancel::new())
        .unwrap();
    transaction.commit().unwrap();
}

/// Reads a whole table: the numbers in order; every name is checked.
fn read(store: &Arc<Store>, name: &str) -> frazil_types::Result<Vec<(RowId, i128)>> {
    read_of(&store.snapshot(), name)
}

fn read_of(snapshot: &Snapshot, name: &str) -> frazil_types::Result<Vec<(RowId, i128)>> {
    let table = snapshot.table_named(QualifiedName::in_public(name))?.clone();
    let scan = Arc::new(TableScan::new(table, vec![0, 1], vec![], ScanOptions::default())?);
    let mut cursor = scan.cursor();
    let mut out = Vec::new();
    for morsel in 0..scan.morsels() {
        cursor.open(morsel)?;
        while let Some(rows) = cursor.next()? {
            let ids = cursor.row_ids().to_vec();
            let (numbers, names) = (cursor.fetch(0)?, cursor.fetch(1)?);
            for (i, id) in ids.iter().enumerate().take(rows as usize) {
                let at = |c: &frazil_storage::FetchedColumn| if c.constant { 0 } else { i };
                // SAFETY: the vector has that many rows and is current.
                unsafe {
                    let number = *numbers.values.cast::<i32>().add(at(&numbers));
                    let valid = names.validity.is_none_or(|v| *v.add(at(&names)) == 1);
                    let text = names.values.cast::<StringRef>().add(at(&names));
                    let name = valid.then(|| String::from_utf8((*text).bytes().to_vec()).unwrap());
                    assert_eq!(row(number.into()).1.as_text(), name.as_deref());
                    out.push((RowId::from_tid(*id), number.into()));
                }
            }
        }
    }
    Ok(out)
}

fn numbers(store: &Arc<Store>) -> Vec<i128> {
    read(store, "t").unwrap().into_iter().map(|r| r.1).collect()
}

fn delete(store: &Arc<Store>, id: ObjectId, wanted: impl Fn(i128) -> bool) {
    let rows: Vec<RowId> = (read(store, "t").unwrap().into_iter())
        .filter(|r| wanted(r.1))
        .map(|r| r.0)
        .collect();
    let mut transaction = begin(store);
    let written = transaction.writer(id).unwrap().delete(&rows).unwrap();
    assert_eq!(written.count, rows.len() as u64);
    transaction.commit().unwrap();
}

fn segments(path: &Path) -> usize {
    std::fs::read_dir(path.join("segments")).unwrap().count()
}

#[test]
fn closed_properly_it_opens_with_all_its_data() {
    let temporary = Temporary::new("reopen");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    create(directory.store(), "empty");
    append(directory.store(), id, 0..70_000);
    freeze(directory.store(), id);
    append(directory.store(), id, 70_000..70_100);
    delete(directory.store(), id, |n| n % 7 == 0);
    let expected = numbers(directory.store());
    directory.close().unwrap();

    for _ in 0..2 {
        let directory = temporary.open();
        assert_eq!(numbers(directory.store()), expected);
        assert_eq!(read(directory.store(), "empty").unwrap().len(), 0);
        let snapshot = directory.store().snapshot();
        let table = snapshot.table_named("t").unwrap();
        assert!(table.tail().is_some_and(|t| t.is_hot()));
        assert_eq!(
            table.schema().columns[1].default,
            Some(ColumnDefault::Value(Value::Text("nobody".into())))
        );
        directory.close().unwrap();
    }

    // It goes on as a database: the tail takes rows, tables come and go.
    let directory = temporary.open();
    append(directory.store(), id, 80_000..80_010);
    delete(directory.store(), id, |n| n < 1_000);
    let other = create(directory.store(), "other");
    assert!(other > id);
    let expected = numbers(directory.store());
    directory.close().unwrap();
    let directory = temporary.open();
    assert_eq!(numbers(directory.store()), expected);
    assert_eq!(directory.store().snapshot().catalog().tables().count(), 3);
}

#[test]
fn abandoned_it_opens_with_all_that_was_committed() {
    let temporary = Temporary::new("abandoned");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..1_000);
    let report = directory.checkpoint().unwrap();
    assert_eq!(report.blocks, 1);
    assert_eq!(directory.checkpoint().unwrap().blocks, 0);
    append(directory.store(), id, 1_000..2_000);
    delete(directory.store(), id, |n| n < 10);
    // A checkpoint that died between its segment and its manifest leaves a file behind.
    std::fs::write(temporary.0.join("segments/00000099.seg"), b"half a segment").unwrap();
    std::fs::write(temporary.0.join("manifest.new"), b"half a manifest").unwrap();
    drop(directory);
    for _ in 0..2 {
        let directory = temporary.open();
        let recovery = directory.recovery();
        assert_eq!((recovery.commits, recovery.rows), (2, 1_010));
        assert_eq!(numbers(directory.store()), (10..2_000).collect::<Vec<_>>());
        assert_eq!(segments(&temporary.0), 1);
    }
    temporary.open().close().unwrap();
    let directory = temporary.open();
    assert_eq!(directory.recovery().commits, 0, "the checkpoint has them");
    assert_eq!(numbers(directory.store()), (10..2_000).collect::<Vec<_>>());
}

#[test]
fn a_checkpoint_writes_what_is_new_and_frees_what_is_old() {
    let temporary = Temporary::new("incremental");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    // In two transactions: what one of them filled would have a segment already.
    append(directory.store(), id, 0..65_000);
    append(directory.store(), id, 65_000..65_536);
    freeze(directory.store(), id);
    let whole = directory.checkpoint().unwrap();
    append(directory.store(), id, 65_536..65_600);
    let little = directory.checkpoint().unwrap();
    assert_eq!((whole.blocks, little.blocks), (1, 1));
    assert!(little.bytes * 20 < whole.bytes);
    let reader = directory.store().snapshot();
    for round in 0..5 {
        append(directory.store(), id, 70_000 + round..70_001 + round);
        directory.checkpoint().unwrap();
    }
    assert_eq!(
        segments(&temporary.0),
        2,
        "each checkpoint's tail replaces the one before"
    );
    let mut transaction = begin(directory.store());
    transaction.drop_relations(&DropRelations::table("t")).unwrap();
    transaction.commit().unwrap();
    directory.checkpoint().unwrap();
    assert_eq!(segments(&temporary.0), 0);
    assert_eq!(reader.table(id).unwrap().rows(), 65_600);
}

#[test]
fn blocks_built_anew_are_written_by_the_next_checkpoint() {
    let temporary = Temporary::new("refreeze");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..3_000);
    freeze(directory.store(), id);
    directory.checkpoint().unwrap();
    let set_layout = |store: &Arc<Store>, layout: Layout| {
        let mut transaction = begin(store);
        let mut options = TableOptions::default();
        options.blocks.layout = Some(layout.to_string());
        transaction.set_options(id, options).unwrap();
        transaction.commit().unwrap();
    };
    let layout = |store: &Arc<Store>| {
        let table = store.snapshot().table(id).unwrap().clone();
        table.chunk(0).block().unwrap().entry(0).layout
    };
    let held_at_first = layout(directory.store());
    set_layout(directory.store(), Layout::Vbp);
    // That a block is not what is asked for outlives the process.
    assert_eq!(directory.checkpoint().unwrap().blocks, 0);
    delete(directory.store(), id, |n| n < 10);
    assert!(directory.store().refreeze_step().unwrap().unwrap().rebuilt);
    drop(directory);
    let directory = temporary.open();
    // The log has rows, not blocks.
    assert_eq!(numbers(directory.store()), (10..3_000).collect::<Vec<_>>());
    assert_eq!(layout(directory.store()), held_at_first);
    delete(directory.store(), id, |n| n < 20);
    assert!(directory.store().refreeze_step().unwrap().unwrap().rebuilt);
    assert_eq!(directory.store().refreeze_step().unwrap(), None);
    assert_eq!(directory.checkpoint().unwrap().blocks, 1);
    drop(directory);
    let directory = temporary.open();
    assert_eq!(numbers(directory.store()), (20..3_000).collect::<Vec<_>>());
    assert_eq!(layout(directory.store()), Layout::Vbp);
    assert_eq!(directory.store().refreeze_step().unwrap(), None);
    assert_eq!(segments(&temporary.0), 1);
}

/// Indexes, and one day a log, hold row ids: they survive closing and opening, of hot rows and of frozen ones.
#[test]
fn rows_keep_their_ids() {
    let temporary = Temporary::new("row_ids");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..66_000);
    delete(directory.store(), id, |n| n % 3 == 0 && n > 100);
    let mut expected = read(directory.store(), "t").unwrap();
    directory.close().unwrap();
    for round in 0..3 {
        let directory = temporary.open();
        assert_eq!(read(directory.store(), "t").unwrap(), expected);
        // The tail goes on behind its last row, deleted or not.
        append(directory.store(), id, 70_000 + round..70_001 + round);
        let appended = read(directory.store(), "t").unwrap();
        assert_eq!(appended.last().unwrap().0, RowId::new(1, 464 + round as u16));
        delete(directory.store(), id, |n| n == 70_000 + round || n == round);
        expected.retain(|row| row.1 != round);
        directory.close().unwrap();
    }
}

/// A hot chunk with as many rows and deleted ones as before may hold others: an UPDATE that is rolled back to its
/// savepoint and done again, say.
#[test]
fn a_checkpoint_goes_by_when_rows_were_changed_not_by_how_many_there_are() {
    let temporary = Temporary::new("modified");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    // So many that the segment is not written anew for the marks of deleted rows alone.
    append(directory.store(), id, 0..3_000);
    delete(directory.store(), id, |n| n == 3);
    assert_eq!(directory.checkpoint().unwrap().blocks, 1);
    // Another row is deleted instead, and the same number written.
    append(directory.store(), id, 3_000..3_002);
    delete(directory.store(), id, |n| n == 5);
    assert_eq!(directory.checkpoint().unwrap().blocks, 1);
    let expected = read(directory.store(), "t").unwrap();
    create(directory.store(), "other");
    assert_eq!(directory.checkpoint().unwrap().blocks, 0, "no row was changed");
    directory.close().unwrap();
    let directory = temporary.open();
    assert_eq!(read(directory.store(), "t").unwrap(), expected);
    create(directory.store(), "more");
    assert_eq!(
        directory.checkpoint().unwrap().blocks,
        0,
        "no row was changed since"
    );
}

#[test]
fn a_second_process_is_refused_and_a_foreign_directory_left_alone() {
    let temporary = Temporary::new("locked");
    let directory = temporary.open();
    let error = Directory::open(&temporary.0).unwrap_err();
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    assert!(error.message().contains("in use by process"));
    drop(directory);

    let foreign = Temporary::new("foreign");
    std::fs::create_dir_all(&foreign.0).unwrap();
    std::fs::write(foreign.0.join("letter.txt"), "dear").unwrap();
    let error = Directory::open(&foreign.0).unwrap_err();
    assert!(error.message().contains("letter.txt"), "{error}");
    assert_eq!(std::fs::read_dir(&foreign.0).unwrap().count(), 1);
}

/// A directory of two tables whose blocks lie in one segment.
fn two_tables(name: &str) -> Temporary {
    let temporary = Temporary::new(name);
    let directory = temporary.open();
    for table in ["t", "u"] {
        let id = create(directory.store(), table);
        append(directory.store(), id, 0..3_000);
        freeze(directory.store(), id);
    }
    directory.close().unwrap();
    temporary
}

#[test]
fn flipped_bits_are_named_and_harm_nothing_else() {
    let temporary = two_tables("flipped");
    let path = temporary.0.join("segments/00000001.seg");
    let good = std::fs::read(&path).unwrap();
    let (mut refused, mut read_well) = (0, 0);
    for at in (64..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bad).unwrap();
        let directory = Directory::open(&temporary.0).unwrap();
        let results = [read(directory.store(), "t"), read(directory.store(), "u")];
        assert!(results.iter().any(|r| r.is_ok()), "the other table is whole");
        for result in results {
            match result {
                Ok(rows) => {
                    assert_eq!(rows.len(), 3_000);
                    read_well += 1;
                }
                Err(e) => {
                    assert_eq!(e.state(), SqlState::DATA_CORRUPTED, "{e}");
                    assert!(e.message().contains("00000001.seg\", block at offset"), "{e}");
                    let is_column = e.message().contains("column");
                    assert!(is_column || e.message().starts_with("table \""), "{e}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 100 && read_well > 0, "{refused} {read_well}");
}

/// The directory opens, a table is damaged, and the errors of damaged tables name their segment.
fn check_damage(path: &Path) {
    let directory = Directory::open(path).unwrap();
    let snapshot = directory.store().snapshot();
    assert!(snapshot.damaged().count() > 0);
    for (entry, error) in snapshot.damaged() {
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
        assert!(error.message().contains("00000001.seg"), "{error}");
        assert_eq!(
            read(directory.store(), &entry.name).unwrap_err().message(),
            error.message()
        );
    }
    directory.close().unwrap();
}

#[test]
fn truncated_missing_and_foreign_files_are_named() {
    let temporary = two_tables("truncated");
    let path = temporary.0.join("segments/00000001.seg");
    let manifest = temporary.0.join("manifest");
    let good = std::fs::read(&path).unwrap();
    for len in [0, 1, 63, 64, 100, 5_000, good.len() / 2, good.len() - 1] {
        std::fs::write(&path, &good[..len]).unwrap();
        check_damage(&temporary.0);
    }
    std::fs::remove_file(&path).unwrap();
    check_damage(&temporary.0);
    std::fs::write(&path, &good).unwrap();

    let text = std::fs::read(&manifest).unwrap();
    for at in (0..text.len()).step_by(11) {
        let mut bad = text.clone();
        bad[at] ^= 4;
        std::fs::write(&manifest, &bad).unwrap();
        let error = Directory::open(&temporary.0).unwrap_err();
        assert!(
            error.message().contains("manifest") || error.message().contains("version"),
            "{error}"
        );
        std::fs::write(&manifest, &text[..at]).unwrap();
        assert_eq!(
            Directory::open(&temporary.0).unwrap_err().state(),
            SqlState::DATA_CORRUPTED
        );
    }
    let other =
        String::from_utf8(text.clone())
            .unwrap()
            .replacen(&format!("manifest {VERSION}"), "manifest 99", 1);
    std::fs::write(&manifest, other).unwrap();
    let error = Directory::open(&temporary.0).unwrap_err();
    assert!(error.message().contains("version 99"), "{error}");
    std::fs::remove_file(&manifest).unwrap();
    let error = Directory::open(&temporary.0).unwrap_err();
    assert!(error.message().contains("manifest"), "{error}");
    std::fs::write(&manifest, &text).unwrap();
    assert_eq!(numbers(temporary.open().store()).len(), 3_000);
}

/// What the killed process does: it checkpoints rows 0..500, commits more, begins another transaction, and dies.
#[test]
#[ignore = "run by a_killed_process_leaves_all_that_it_committed in a process of its own"]
fn process_to_be_killed() {
    let Some(path) = std::env::var_os("FRAZIL_TEST_DIRECTORY") else {
        return;
    };
    let directory = Directory::open(Path::new(&path)).unwrap();
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..500);
    freeze(directory.store(), id);
    append(directory.store(), id, 500..600);
    directory.checkpoint().unwrap();
    append(directory.store(), id, 600..700);
    delete(directory.store(), id, |n| n < 300);
    let mut transaction = begin(directory.store());
    transaction.truncate(id).unwrap();
    std::process::abort();
}

#[test]
fn a_killed_process_leaves_all_that_it_committed() {
    let temporary = Temporary::new("killed");
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["process_to_be_killed", "--exact", "--ignored"])
        .env("FRAZIL_TEST_DIRECTORY", &temporary.0)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    let directory = temporary.open();
    assert_eq!(numbers(directory.store()), (300..700).collect::<Vec<_>>());
}

#[test]
fn distinct_values_are_known_without_a_look_at_the_blocks() {
    let temporary = Temporary::new("distinct");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..3000);
    freeze(directory.store(), id);
    let known = directory
        .store()
        .snapshot()
        .table(id)
        .unwrap()
        .statistics()
        .unwrap();
    directory.checkpoint().unwrap();
    drop(directory);
    // Whoever looks at a block now fails: all but headers and the segment's first line is gone.
    let segments = std::fs::read_dir(temporary.0.join("segments")).unwrap();
    for segment in segments {
        let path = segment.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let half = bytes.len() / 2;
        bytes[half..].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
    }
    let directory = temporary.open();
    let table = directory.store().snapshot().table(id).unwrap().clone();
    assert_eq!(table.statistics().unwrap(), known);
    assert_eq!(known.columns[0].distinct, 3000.0);
    assert!(
        table
            .chunks()
            .all(|slot| slot.verify(table.table().entry()).is_err())
    );
}
