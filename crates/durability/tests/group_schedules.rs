//! Group commit under every schedule of a few threads.

/// The locks whose schedules are explored.
mod sync {
    pub use loom::sync::{Condvar, Mutex};
}

#[path = "../src/wal/group.rs"]
#[allow(dead_code)]
mod group;

use group::{Failed, GroupCommit, Waited};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// A disk: numbers that were written, in order.
type Disk = Mutex<Vec<u64>>;

/// What was appended, and the number appended last.
#[derive(Default)]
struct Pending {
    numbers: Vec<u64>,
    last: u64,
}

/// Appends the next number and waits for it. Returns the number, which is its position, too.
fn commit(log: &GroupCommit<Pending>, disk: &Disk, works: bool) -> Result<(u64, Waited), Failed> {
    let position = log.append(|pending| {
        pending.last += 1;
        pending.numbers.push(pending.last);
        pending.last
    })?;
    let take = |pending: &mut Pending| (std::mem::take(&mut pending.numbers), pending.last);
    let write = |group: Vec<u64>| {
        if works {
            disk.lock().unwrap().extend(group);
        }
        works
    };
    log.wait(position, take, write).map(|waited| (position, waited))
}

/// Threads that each commit once. Their numbers are given under a lock, in the order of their appends.
fn run(threads: u64, works: fn(u64) -> bool) {
    let mut schedules = loom::model::Builder::new();
    // All schedules in which a thread is stopped at most twice where it could go on: some seconds.
    schedules.preemption_bound = Some(2);
    schedules.check(move || {
        let log = Arc::new(GroupCommit::new(Pending::default(), 0));
        let disk = Arc::new(Mutex::new(Vec::new()));
        let commits = |thread: u64| {
            let (log, disk) = (log.clone(), disk.clone());
            move || {
                let result = commit(&log, &disk, works(thread));
                if let Ok((position, _)) = result {
                    let disk = disk.lock().unwrap();
                    assert_eq!(disk[..], (1..=disk.len() as u64).collect::<Vec<_>>(), "a hole");
                    assert!(disk.len() as u64 >= position, "acknowledged, but not on the disk");
                }
                result
            }
        };
        let others: Vec<_> = (1..threads).map(|t| thread::spawn(commits(t))).collect();
        let mut results = vec![commits(0)()];
        results.extend(others.into_iter().map(|t| t.join().unwrap()));
        let led = results
            .iter()
            .filter(|r| matches!(r, Ok((_, Waited::Led))))
            .count();
        if (0..threads).all(works) {
            assert!(results.iter().all(Result::is_ok));
            assert!(led >= 1 && log.durable() == threads);
        }
        if results.contains(&Err(Failed)) {
            assert!(log.append(|_| ()).is_err(), "nothing is appended after a failure");
        }
    });
}

#[test]
fn acknowledged_commits_are_on_the_disk_without_a_hole() {
    run(3, |_| true);
}

#[test]
fn a_write_that_fails_ends_the_log_for_all_who_wait() {
    run(3, |thread| thread != 1);
}
