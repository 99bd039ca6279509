//! Which files of a directory are ours: to be removed, to be named, to be locked.

use crate::{Temporary, append, begin, create, freeze, numbers};
use frazil_catalog::DropRelations;
use frazil_durability::Directory;
use frazil_types::SqlState;

/// A table in a segment that is mapped, not in memory.
fn mapped(temporary: &Temporary) -> Directory {
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..3_000);
    freeze(directory.store(), id);
    directory.close().unwrap();
    temporary.open()
}

#[test]
fn a_reader_that_outlives_its_database_removes_no_file_of_the_next_one() {
    for remove in [true, false] {
        let temporary = Temporary::new(&format!("outlived-{remove}"));
        let directory = mapped(&temporary);
        let reader = directory.store().snapshot();
        let mut transaction = begin(directory.store());
        transaction.drop_relations(&DropRelations::table("t")).unwrap();
        transaction.commit().unwrap();
        // The segment is to go once the reader has.
        directory.close().unwrap();
        if remove {
            std::fs::remove_dir_all(&temporary.0).unwrap();
        }
        let directory = mapped(&temporary);
        let files = || {
            let entries = std::fs::read_dir(temporary.0.join("segments")).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = files();
        assert_eq!(before.len(), 1);
        drop(reader);
        assert_eq!(files(), before);
        drop(directory);
        assert_eq!(numbers(temporary.open().store()).len(), 3_000);
    }
}

#[test]
fn a_reader_of_a_dropped_table_keeps_its_file_until_it_ends() {
    let temporary = Temporary::new("kept");
    let directory = mapped(&temporary);
    let reader = directory.store().snapshot();
    let mut transaction = begin(directory.store());
    transaction.drop_relations(&DropRelations::table("t")).unwrap();
    transaction.commit().unwrap();
    directory.checkpoint().unwrap();
    let path = temporary.0.join("segments/00000001.seg");
    assert!(path.exists());
    drop(reader);
    assert!(!path.exists());
}

#[test]
fn only_files_whose_whole_name_is_ours_are_removed() {
    let temporary = Temporary::new("names");
    mapped(&temporary).close().unwrap();
    let ours = ["00000099.seg", "123456789.seg"];
    let theirs = [
        "2024.backup",
        "2024",
        "7.seg",
        "000000099.seg",
        "+0000007.seg",
        "00000098.seg.bak",
    ];
    let path = |name: &str| temporary.0.join("segments").join(name);
    for name in ours.iter().chain(&theirs) {
        std::fs::write(path(name), "something").unwrap();
    }
    mapped_again(&temporary);
    for name in theirs {
        assert!(path(name).exists(), "{name}");
    }
    for name in ours {
        assert!(!path(name).exists(), "{name}");
    }
}

fn mapped_again(temporary: &Temporary) {
    let directory = temporary.open();
    assert_eq!(numbers(directory.store()).len(), 3_000);
    directory.close().unwrap();
}

#[test]
fn a_removed_lock_file_lets_no_second_process_in() {
    let temporary = Temporary::new("unlocked");
    let directory = mapped(&temporary);
    std::fs::remove_file(temporary.0.join("lock")).unwrap();
    let error = Directory::open(&temporary.0).unwrap_err();
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    directory.close().unwrap();
    mapped_again(&temporary);
}
