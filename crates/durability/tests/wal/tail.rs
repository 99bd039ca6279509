//! The end of a log that is being written: whoever follows it sees every record once, in order, and never a part of
//! one.

use crate::{DATABASE, SMALL, append, directory, open, payload};
use frazil_durability::wal::log_file::path_of;
use frazil_durability::wal::record::Record;
use frazil_durability::wal::{LogOpening, LogTail, Reached, Visitor, Wal};
use frazil_storage::Lsn;
use frazil_testkit::{Random, SimVfs};
use frazil_types::Result;
use frazil_vfs::{Access, Vfs};

/// A reader that follows, and the last record that it saw.
struct Follower {
    tail: LogTail,
    last: u64,
}

/// The records that were visited behind a last one.
struct Next(u64);

impl Visitor for Next {
    fn begins(&mut self, _most: Lsn) {}

    fn visit(&mut self, record: &Record<'_>) -> Result<()> {
        self.0 += 1;
        assert_eq!(record.timestamp, self.0, "a record is missing, or came twice");
        assert_eq!(record.payload, payload(self.0));
        Ok(())
    }
}

impl Follower {
    /// Reads the log behind a checkpoint.
    fn begin(sim: &SimVfs, (from, timestamp): (Lsn, u64)) -> Follower {
        let opening = LogOpening {
            database: DATABASE,
            from,
            timestamp,
            access: Access::Read,
            ends_at_damage: false,
            options: SMALL,
        };
        let mut next = Next(timestamp);
        let (_, replayed) = Wal::open_for(sim.vfs(), directory(), opening, &mut next).unwrap();
        Follower {
            tail: LogTail::behind(&sim.vfs(), directory(), DATABASE, &replayed),
            last: next.0,
        }
    }

    fn read_on(&mut self) -> Reached {
        let mut next = Next(self.last);
        let (ahead, end) = self.tail.look_ahead().unwrap();
        if ahead == Reached::Cut {
            return Reached::Cut;
        }
        let reached = self.tail.read_on(end, &mut next).unwrap();
        assert_eq!((reached, self.tail.position()), (Reached::End, end));
        if reached == Reached::End {
            self.last = next.0;
        }
        reached
    }
}

/// A writer that appends, makes checkpoints, goes and comes, and followers that look now and then.
fn history(seed: u64) -> u64 {
    let (sim, mut random) = (SimVfs::new(seed), Random::new(seed));
    let (mut wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
    let (mut next, mut checkpoint, mut cuts) = (1, (Lsn(0), 0), 0);
    let mut followers: Vec<Follower> = (0..3).map(|_| Follower::begin(&sim, checkpoint)).collect();
    for _ in 0..300 {
        match random.below(12) {
            0 => {
                wal.flush().unwrap();
                checkpoint = (wal.end(), next - 1);
                wal.release(checkpoint.0);
            }
            1 => {
                wal.flush().unwrap();
                drop(wal);
                (wal, _) = open(&sim, checkpoint).unwrap();
            }
            _ => {
                let count = random.below(8);
                append(&wal, next, count, &mut random).unwrap();
                next += count;
            }
        }
        let is_flushed = random.below(2) == 0;
        if is_flushed {
            wal.flush().unwrap();
        }
        for (nth, follower) in followers.iter_mut().enumerate() {
            if random.below([1, 8, 50][nth]) != 0 {
                continue;
            }
            if follower.read_on() == Reached::Cut {
                assert!(follower.last < checkpoint.1, "seed {seed}: nothing was cut");
                *follower = Follower::begin(&sim, checkpoint);
                cuts += 1;
                assert_eq!(follower.read_on(), Reached::End);
            }
            assert!(
                !is_flushed || follower.last == next - 1,
                "seed {seed}: {} of {}",
                follower.last,
                next - 1
            );
        }
    }
    cuts
}

#[test]
fn whoever_follows_sees_each_record_once_or_that_the_log_was_cut() {
    let cuts: u64 = (0..8).map(history).sum();
    assert!(cuts > 5, "{cuts} cuts");
}

/// Wherever writing has got to when somebody looks, what is there whole is seen, and the rest later.
#[test]
fn a_group_that_is_being_written_is_seen_as_far_as_it_is_whole() {
    let sim = SimVfs::new(3);
    let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
    let mut random = Random::new(3);
    append(&wal, 1, 6, &mut random).unwrap();
    wal.flush().unwrap();
    let before = sim.copy(1);
    append(&wal, 7, 9, &mut random).unwrap();
    wal.flush().unwrap();
    let files = before.list(directory()).unwrap().len() as u64;
    for generation in 1..=files + 4 {
        let path = path_of(directory(), generation);
        let (Some(old), Some(new)) = (before.read(&path), sim.read(&path)) else {
            continue;
        };
        let changed: Vec<usize> = (0..new.len()).filter(|at| old[*at] != new[*at]).collect();
        for at in changed.iter().step_by(97) {
            let live = before.copy(2);
            let mut follower = Follower::begin(&live, (Lsn(0), 0));
            assert_eq!(follower.last, 6);
            live.tamper(&path, |bytes| bytes[..*at].copy_from_slice(&new[..*at]));
            assert_eq!(follower.read_on(), Reached::End);
            let seen = follower.last;
            live.tamper(&path, |bytes| bytes.copy_from_slice(&new));
            assert_eq!(follower.read_on(), Reached::End);
            assert!((6..=15).contains(&seen) && follower.last >= seen);
        }
    }
}
