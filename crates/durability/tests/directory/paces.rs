//! Checkpoints that rest between chunks: how far they are can be seen, commits go on, and who waits is noticed.

use crate::{Temporary, append, create, freeze, numbers};
use frazil_durability::CheckpointCause;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[test]
fn a_checkpoint_says_how_far_it_is_and_hears_who_waits() {
    let temporary = Temporary::new("pace");
    let directory = temporary.open();
    let store = directory.store();
    for n in 0..4 {
        let id = create(store, &format!("t{n}"));
        append(store, id, 0..100);
    }
    let id = create(store, "t");
    append(store, id, 0..10);
    freeze(store, id);
    assert!(directory.running_checkpoint().is_none());
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let pace = |progress: &frazil_durability::CheckpointProgress| {
            let running = directory.running_checkpoint().expect("it runs");
            assert_eq!((running.done, running.chunks), (progress.done, progress.chunks));
            assert_eq!(running.cause, CheckpointCause::Time);
            // Whoever commits need not wait.
            append(
                directory.store(),
                id,
                10 * i128::from(progress.done)..10 * i128::from(progress.done) + 10,
            );
            if progress.done == 2 {
                assert!(!directory.is_checkpoint_awaited());
                let directory = &directory;
                scope.spawn(move || directory.checkpoint().expect("it is made"));
                let start = Instant::now();
                while !directory.is_checkpoint_awaited() {
                    assert!(start.elapsed() < Duration::from_secs(60));
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            seen.lock()
                .unwrap()
                .push((progress.done, progress.chunks, progress.bytes));
        };
        let report = directory.checkpoint_at(CheckpointCause::Time, &pace).unwrap();
        assert_eq!(report.blocks, 5);
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(
        seen.iter().all(|s| s.1 == 5) && seen.is_sorted_by_key(|s| s.2),
        "{seen:?}"
    );
    assert!(directory.running_checkpoint().is_none() && !directory.is_checkpoint_awaited());
    let causes: Vec<_> = directory.checkpoints().iter().map(|made| made.cause).collect();
    assert_eq!(causes, [CheckpointCause::Time, CheckpointCause::Request]);
    drop(directory);
    assert_eq!(numbers(temporary.open().store()).len(), 60);
}
