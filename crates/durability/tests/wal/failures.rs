//! Writes and syncs that fail, and disks that are full.

use crate::{append, open, payload};
use frazil_storage::{Log, Lsn};
use frazil_testkit::sim_vfs::FAILURES;
use frazil_testkit::{Failure, Random, SimVfs};
use frazil_types::SqlState;

#[test]
fn a_sync_that_fails_ends_writing_and_loses_nothing_acknowledged() {
    for seed in 0..40 {
        let sim = SimVfs::new(seed);
        let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
        wal.wait(wal.reserve(&payload(1)).unwrap().lsn).unwrap();
        let second = wal.reserve(&payload(2)).unwrap();
        sim.fail_at(sim.operations() + 1, Failure::Undone);
        let error = wal.wait(second.lsn).unwrap_err();
        assert_eq!(error.state(), SqlState::TRANSACTION_RESOLUTION_UNKNOWN, "{error}");
        assert!(error.message().contains("could not sync \"/log/"), "{error}");
        let error = wal.reserve(&payload(3)).unwrap_err();
        assert_eq!(error.state(), SqlState::IO_ERROR, "{error}");
        assert_eq!(
            wal.wait(second.lsn).unwrap_err().state(),
            SqlState::TRANSACTION_RESOLUTION_UNKNOWN
        );
        drop(wal);
        // The second commit may be there or not; once read, it stays.
        let sim = match seed % 2 {
            0 => sim.restart_after_power_cut(),
            _ => sim.restart_after_kill(),
        };
        let (wal, replayed) = open(&sim, (Lsn(0), 0)).unwrap();
        assert!((1..=2).contains(&replayed.timestamp));
        let next = replayed.timestamp + 1;
        wal.wait(wal.reserve(&payload(next)).unwrap().lsn).unwrap();
        drop(wal);
        let sim = sim.restart_after_power_cut();
        assert_eq!(open(&sim, (Lsn(0), 0)).unwrap().1.timestamp, next);
    }
}

#[test]
fn a_leader_that_panics_ends_writing() {
    let commits = frazil_durability::wal::group::GroupCommit::new(0u64, 0);
    commits.append(|end| *end += 1).unwrap();
    let panics = || commits.wait(1, |end| ((), *end), |()| panic!("in the middle of a write"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert!(commits.append(|_| ()).is_err());
    assert!(
        commits
            .wait(1, |_| unreachable!("nobody leads any more"), |()| true)
            .is_err()
    );
}

#[test]
fn a_full_disk_refuses_commits_until_there_is_room() {
    let mut refused = 0;
    for room in 0..30 {
        let sim = SimVfs::new(room);
        let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
        wal.wait(wal.reserve(&payload(1)).unwrap().lsn).unwrap();
        sim.set_capacity(sim.used() + room * 4096);
        let mut next = 2;
        let error = loop {
            match wal.reserve(&payload(next)) {
                Ok(reserved) => wal.wait(reserved.lsn).unwrap(),
                Err(e) => break e,
            }
            next += 1;
        };
        assert_eq!(error.state(), SqlState::DISK_FULL, "{error}");
        refused += 1;
        sim.set_capacity(u64::MAX);
        let healed = wal.reserve(&payload(next)).unwrap();
        wal.wait(healed.lsn).unwrap();
        drop(wal);
        let sim = sim.restart_after_power_cut();
        assert_eq!(open(&sim, (Lsn(0), 0)).unwrap().1.timestamp, next);
    }
    assert_eq!(refused, 30);
}

/// Each operation of a log's life fails once in each way: a named error or success, and all that was acknowledged is there.
#[test]
fn whatever_fails_the_log_holds_what_was_acknowledged() {
    let life = |sim: &SimVfs, errors: &mut Vec<frazil_types::Error>| {
        let mut durable = 0;
        for _ in 0..2 {
            let wal = match open(sim, (Lsn(0), 0)) {
                Ok((wal, replayed)) => {
                    assert!(replayed.timestamp >= durable);
                    durable = replayed.timestamp;
                    wal
                }
                Err(e) => {
                    errors.push(e);
                    continue;
                }
            };
            let mut random = Random::new(3);
            for _ in 0..12 {
                match append(&wal, durable + 1, 1, &mut random).and_then(|_| wal.flush()) {
                    Ok(()) => durable += 1,
                    Err(e) => {
                        let over = e.state() == SqlState::TRANSACTION_RESOLUTION_UNKNOWN;
                        errors.push(e);
                        if over {
                            break;
                        }
                    }
                }
            }
        }
        durable
    };
    let whole = SimVfs::new(0);
    assert_eq!(life(&whole, &mut Vec::new()), 24);
    for failure in FAILURES {
        for nth in 0..whole.operations() {
            let sim = SimVfs::new(nth);
            sim.fail_at(nth, failure);
            let mut errors = Vec::new();
            let durable = life(&sim, &mut errors);
            assert!(errors.iter().all(|e| e.message().contains(" \"/")), "{errors:?}");
            let sim = sim.restart_after_power_cut();
            match open(&sim, (Lsn(0), 0)) {
                Ok((_, replayed)) => assert!(replayed.timestamp >= durable, "{failure:?} {nth}: {errors:?}"),
                Err(e) => assert_eq!(failure, Failure::Vanished, "{nth}: {e}"),
            }
        }
    }
}
