//! The log over a disk that loses, tears and refuses: what is read back is a prefix that holds all that was waited for.

mod damage;
mod durable_end;
mod failures;
mod groups;
mod tail;

use frazil_durability::wal::{DatabaseId, End, Replayed, Wal, WalOptions};
use frazil_storage::{Log, Lsn};
use frazil_testkit::{Failure, Random, SimVfs};
use frazil_types::Result;
use frazil_vfs::Vfs;
use std::path::Path;
use std::sync::Arc;

const DATABASE: DatabaseId = DatabaseId(*b"sixteen of bytes");

fn directory() -> &'static Path {
    Path::new("/log")
}

/// Files of so few sectors that they change often.
const SMALL: WalOptions = WalOptions {
    first_file_bytes: 5 * 4096,
    most_file_bytes: 5 * 4096,
};

/// The payload of the commit with a timestamp: by that alone it is known what was written.
fn payload(timestamp: u64) -> Vec<u8> {
    let mut random = Random::new(timestamp);
    let len = match random.below(20) {
        0 => 1 + random.below(9_000),
        1 => 1 + random.below(40_000),
        _ => 1 + random.below(300),
    };
    (0..len).map(|_| random.bits() as u8).collect()
}

/// Opens the log, and checks that its records from `from` on are those that were written. Returns the last one's timestamp.
fn open(sim: &SimVfs, from: (Lsn, u64)) -> Result<(Wal, Replayed)> {
    let mut last = from.1;
    let (wal, replayed) = Wal::open(sim.vfs(), directory(), DATABASE, from, SMALL, &mut |record| {
        last += 1;
        assert_eq!(record.timestamp, last, "a record is missing, or came twice");
        assert_eq!(record.payload, payload(last));
        assert!(record.position >= from.0.0);
        Ok(())
    })?;
    assert_eq!(replayed.timestamp, last);
    Ok((wal, replayed))
}

/// Appends the next commits, and waits now and then. Returns the timestamp of the last one that was waited for.
fn append(wal: &Wal, first: u64, count: u64, random: &mut Random) -> Result<u64> {
    let mut durable = first - 1;
    for timestamp in first..first + count {
        let reserved = wal.reserve(&payload(timestamp))?;
        assert_eq!(reserved.timestamp, timestamp);
        if random.below(3) == 0 {
            wal.wait(reserved.lsn)?;
            durable = timestamp;
        }
    }
    Ok(durable)
}

#[test]
fn what_was_written_is_read_back_across_files_and_openings() {
    let mut sim = SimVfs::new(1);
    let (mut next, mut random) = (1, Random::new(1));
    for count in [0, 1, 40, 3, 200, 0, 17] {
        let (wal, replayed) = open(&sim, (Lsn(0), 0)).unwrap();
        assert_eq!(replayed.records, next - 1);
        append(&wal, next, count, &mut random).unwrap();
        next += count;
        wal.flush().unwrap();
        assert_eq!(wal.counters().records, count);
        drop(wal);
        sim = sim.restart_after_kill();
    }
}

#[test]
fn records_before_the_checkpoint_are_not_visited_and_their_files_come_again() {
    let sim = SimVfs::new(1);
    let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
    let mut random = Random::new(2);
    let mut next = 1;
    let mut files = Vec::new();
    for _ in 0..30 {
        append(&wal, next, 20, &mut random).unwrap();
        next += 20;
        wal.flush().unwrap();
        let from = wal.end();
        append(&wal, next, 5, &mut random).unwrap();
        next += 5;
        wal.flush().unwrap();
        wal.release(from);
        files.push(sim.list(directory()).unwrap().len());
    }
    assert!(files.iter().all(|n| *n <= 9), "{files:?}");
    let renamed = sim.trace().iter().filter(|op| op.starts_with("rename")).count();
    assert!(renamed > 20, "files are used again: {renamed}");
    let from = (wal.end(), next - 1);
    append(&wal, next, 5, &mut random).unwrap();
    wal.flush().unwrap();
    drop(wal);
    let sim = sim.restart_after_power_cut();
    let (_, replayed) = open(&sim, from).unwrap();
    assert_eq!((replayed.records, replayed.timestamp), (5, next + 4));
}

/// What a log went through: some openings, each ended by a power cut or a kill, with checkpoints.
#[test]
fn any_power_cut_leaves_a_prefix_that_holds_all_that_was_waited_for() {
    let (mut cut_off, mut visited) = (0, 0);
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut sim = SimVfs::new(seed);
        let mut from = (Lsn(0), 0);
        let mut durable = 0;
        for life in 0..6 {
            let soon = random.below(if life % 2 == 0 { 90 } else { 25 });
            sim.fail_at(soon, Failure::PowerCut);
            if let Ok((wal, replayed)) = open(&sim, from) {
                assert!(
                    replayed.timestamp >= durable,
                    "seed {seed}, life {life}: {replayed:?}"
                );
                cut_off += u64::from(replayed.end != End::Clean);
                visited += replayed.records;
                durable = replayed.timestamp;
                live(&wal, &mut durable, &mut from, &mut random);
            }
            sim = match random.below(4) {
                0 => sim.restart_after_kill(),
                _ => sim.restart_after_power_cut(),
            };
        }
        let (_, replayed) = open(&sim, from).unwrap();
        assert!(
            replayed.timestamp >= durable,
            "seed {seed}: {replayed:?}, {durable}"
        );
    }
    assert!(cut_off > 50 && visited > 2_000, "{cut_off} {visited}");
}

/// Appends, waits and releases until the power is cut. Keeps what was acknowledged.
fn live(wal: &Wal, durable: &mut u64, from: &mut (Lsn, u64), random: &mut Random) {
    let mut next = *durable + 1;
    loop {
        let Ok(reserved) = wal.reserve(&payload(next)) else {
            return;
        };
        next += 1;
        if random.below(3) == 0 {
            if wal.wait(reserved.lsn).is_err() {
                return;
            }
            *durable = reserved.timestamp;
            if random.below(5) == 0 {
                // A checkpoint of all there is.
                *from = (reserved.lsn, reserved.timestamp);
                wal.release(reserved.lsn);
            }
        }
        // Some operation will be the last one.
        if next > *durable + 40 && wal.flush().is_err() {
            return;
        }
    }
}

/// Some lives, each with a file of its own, then one that only takes a checkpoint: the file in which the log ends stays, whatever is kept to
/// be used again.
#[test]
fn a_checkpoint_of_a_life_that_wrote_nothing_keeps_the_end_of_the_log() {
    for lives in 1..9 {
        let mut sim = SimVfs::new(11);
        for life in 0..lives {
            let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
            append(&wal, life + 1, 1, &mut Random::new(life)).unwrap();
            wal.flush().unwrap();
            drop(wal);
            sim = sim.restart_after_kill();
        }
        let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
        let from = (wal.end(), lives);
        wal.release(from.0);
        drop(wal);
        for _ in 0..2 {
            sim = sim.restart_after_power_cut();
            let (wal, replayed) = open(&sim, from).unwrap();
            assert_eq!((replayed.position, replayed.records), (from.0, 0));
            wal.release(from.0);
        }
    }
}

#[test]
fn threads_append_and_wait_beside_each_other() {
    let sim = SimVfs::new(9);
    let (wal, _) = Wal::open(sim.vfs(), directory(), DATABASE, (Lsn(0), 0), SMALL, &mut |_| {
        Ok(())
    })
    .unwrap();
    let wal = Arc::new(wal);
    let threads: Vec<_> = (0..4u8)
        .map(|thread| {
            let wal = wal.clone();
            std::thread::spawn(move || {
                for i in 0..200u32 {
                    let redo = [&[thread][..], &i.to_le_bytes()].concat();
                    let reserved = wal.reserve(&redo).unwrap();
                    wal.wait(reserved.lsn).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    let counters = wal.counters();
    assert_eq!(counters.records, 800);
    assert!(
        counters.groups <= 800 && counters.syncs >= counters.groups,
        "{counters:?}"
    );
    drop(wal);
    let sim = sim.restart_after_power_cut();
    let mut next = [0; 4];
    let mut visit = |record: &frazil_durability::wal::record::Record<'_>| {
        let at = record.payload[0] as usize;
        let i = u32::from_le_bytes(record.payload[1..].try_into().unwrap());
        assert_eq!(i, next[at], "each thread's commits come in its order");
        next[at] += 1;
        Ok(())
    };
    Wal::open(sim.vfs(), directory(), DATABASE, (Lsn(0), 0), SMALL, &mut visit).unwrap();
    assert_eq!(next, [200; 4]);
}
