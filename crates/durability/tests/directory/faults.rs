//! Every operation on a file fails once: what was committed is written by the next checkpoint all the same.

use crate::{Temporary, append, create, delete, freeze, numbers, segments};
use frazil_durability::Directory;
use frazil_vfs::faults::{Fault, Strike};
use std::path::Path;

/// Copies a directory as a crash would leave it.
fn copy_of(directory: &Path, name: &str) -> Temporary {
    let copy = Temporary::new(name);
    std::fs::create_dir_all(copy.0.join("segments")).unwrap();
    for folder in ["", "segments"] {
        for entry in std::fs::read_dir(directory.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                std::fs::copy(&path, copy.0.join(folder).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    copy
}

/// Has one operation of a checkpoint fail. Returns whether it came to that.
fn fail_in_checkpoint(nth: u64, strike: Strike) -> bool {
    let temporary = Temporary::new(&format!("fault-{nth}-{strike:?}"));
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..500);
    freeze(directory.store(), id);
    append(directory.store(), id, 500..600);
    directory.checkpoint().unwrap();
    let before = numbers(directory.store());
    append(directory.store(), id, 600..700);
    delete(directory.store(), id, |n| n < 20);
    let after = numbers(directory.store());

    let fault = Fault::after(nth, strike);
    let result = directory.checkpoint();
    if !fault.struck() {
        result.unwrap();
        return false;
    }
    drop(fault);
    let error = result.expect_err("an operation failed");
    assert!(error.message().contains("a test asked for it"), "{error}");

    let crashed = copy_of(&temporary.0, &format!("fault-copy-{nth}-{strike:?}"));
    let found = numbers(crashed.open().store());
    assert!(found == before || found == after, "operation {nth}: {error}");

    append(directory.store(), id, 700..710);
    let expected = numbers(directory.store());
    directory
        .checkpoint()
        .unwrap_or_else(|e| panic!("after operation {nth} failed ({error}): {e}"));
    append(directory.store(), id, 710..720);
    directory.checkpoint().unwrap();
    assert!(
        segments(&temporary.0) <= 3,
        "failed checkpoints leave no files behind"
    );
    directory.close().unwrap();
    let directory = temporary.open();
    assert_eq!(numbers(directory.store()).len(), expected.len() + 10);
    true
}

#[test]
fn whatever_fails_in_a_checkpoint_the_next_one_holds_everything() {
    for strike in [Strike::Undone, Strike::Done] {
        let failed = (0..).take_while(|&nth| fail_in_checkpoint(nth, strike)).count();
        assert!(failed > 10, "{failed} operations");
    }
}

#[test]
fn whatever_fails_while_opening_the_next_one_opens() {
    for strike in [Strike::Undone, Strike::Done] {
        let temporary = Temporary::new(&format!("fault-open-{strike:?}"));
        let directory = temporary.open();
        let id = create(directory.store(), "t");
        append(directory.store(), id, 0..500);
        directory.close().unwrap();
        for nth in 0.. {
            let fault = Fault::after(nth, strike);
            let opened = Directory::open(&temporary.0);
            let struck = fault.struck();
            drop(fault);
            assert_eq!(opened.is_err(), struck, "operation {nth}");
            drop(opened);
            assert_eq!(numbers(temporary.open().store()), (0..500).collect::<Vec<_>>());
            if !struck {
                break;
            }
        }
    }
}

/// The names of a new directory are durable only once the directories above are synced.
#[test]
fn the_directories_above_a_new_one_are_synced() {
    let temporary = Temporary::new("fault-new");
    std::fs::create_dir_all(&temporary.0).unwrap();
    let mut synced = Vec::new();
    for nth in 0.. {
        let path = temporary.0.join(format!("{nth}")).join("deep");
        let fault = Fault::after(nth, Strike::Undone);
        let opened = Directory::open(&path);
        if !fault.struck() {
            opened.unwrap();
            break;
        }
        drop(fault);
        let message = opened.expect_err("an operation failed").message().to_owned();
        let relative = message.replace(temporary.0.to_str().unwrap(), "DIR");
        if relative.contains("could not sync") {
            synced.push(relative.replace(&format!("/{nth}"), "/new"));
        }
        // What was left half made opens now.
        Directory::open(&path).unwrap().close().unwrap();
    }
    for parent in ["DIR", "DIR/new", "DIR/new/deep"] {
        let wanted = format!("could not sync \"{parent}\": a test asked for it");
        assert!(synced.contains(&wanted), "{wanted} is not among {synced:#?}");
    }
}
