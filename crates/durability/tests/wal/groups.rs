//! Groups: what a sync takes along, and what it costs.

use crate::{DATABASE, SMALL, directory};
use frazil_durability::wal::{Wal, WalOptions};
use frazil_storage::{Log, Lsn};
use frazil_testkit::SimVfs;
use frazil_types::SqlState;

fn fresh(sim: &SimVfs, options: WalOptions) -> Wal {
    let opened = Wal::open(
        sim.vfs(),
        directory(),
        DATABASE,
        (Lsn(0), 0),
        options,
        &mut |_| Ok(()),
    );
    opened.unwrap().0
}

#[test]
fn one_sync_takes_along_all_that_was_appended() {
    let sim = SimVfs::new(1);
    let wal = fresh(&sim, WalOptions::default());
    let reserved: Vec<_> = (0..10).map(|_| wal.reserve(b"redo").unwrap()).collect();
    let prepared = wal.counters();
    assert_eq!((prepared.syncs, prepared.groups, prepared.bytes), (1, 0, 0));
    wal.wait(reserved[3].lsn).unwrap();
    reserved.iter().for_each(|r| wal.wait(r.lsn).unwrap());
    let counters = wal.counters();
    assert_eq!((counters.syncs, counters.groups, counters.records), (2, 1, 10));
    // The header's sector and that of the records.
    assert_eq!(counters.bytes, 2 * 4096);
    let timestamps: Vec<u64> = reserved.iter().map(|r| r.timestamp).collect();
    assert_eq!(timestamps, (1..=10).collect::<Vec<_>>());
}

#[test]
fn a_commit_writes_once_and_syncs_once_and_no_durable_sector_again() {
    let sim = SimVfs::new(1);
    let wal = fresh(&sim, WalOptions::default());
    wal.wait(wal.reserve(b"first").unwrap().lsn).unwrap();
    let before = sim.operations() as usize;
    for _ in 0..3 {
        wal.wait(wal.reserve(b"redo").unwrap().lsn).unwrap();
    }
    let file = "/log/0000000000000001.log";
    let expected: Vec<String> = (2..5)
        .flat_map(|n| {
            [
                format!("write {file} at {} bytes 4096", n * 4096),
                format!("sync {file}"),
            ]
        })
        .collect();
    assert_eq!(sim.trace()[before..], expected);
    assert_eq!(frazil_vfs::Vfs::counters(&sim).file_syncs(), wal.counters().syncs);
}

/// Commits take turns while a record is appended, so no file is made then.
#[test]
fn a_record_for_which_room_was_made_touches_no_file_before_somebody_waits() {
    for (begins, bytes) in [(false, 100_000), (true, 100_000), (true, 9_000), (true, 10)] {
        let sim = SimVfs::new(1);
        let wal = fresh(&sim, SMALL);
        let mut written: Vec<Vec<u8>> = Vec::new();
        let append = |record: Vec<u8>, written: &mut Vec<Vec<u8>>| {
            let reserved = wal.reserve(&record).unwrap();
            written.push(record);
            reserved.lsn
        };
        if begins {
            wal.wait(append(vec![1; 10], &mut written)).unwrap();
        }
        for round in 2..6 {
            wal.make_room(bytes);
            let before = sim.operations();
            let lsn = append(vec![round; bytes], &mut written);
            assert_eq!(sim.operations(), before, "{bytes} bytes, round {round}");
            wal.wait(lsn).unwrap();
        }
        drop(wal);
        let mut read = Vec::new();
        let mut visit = |record: &frazil_durability::wal::record::Record<'_>| {
            read.push(record.payload.to_vec());
            Ok(())
        };
        Wal::open(sim.vfs(), directory(), DATABASE, (Lsn(0), 0), SMALL, &mut visit).unwrap();
        assert_eq!(read, written);
    }
}

#[test]
fn a_record_may_be_longer_than_a_file_but_not_endless_or_empty() {
    let sim = SimVfs::new(1);
    let wal = fresh(&sim, SMALL);
    let long = vec![7; 100_000];
    wal.wait(wal.reserve(&long).unwrap().lsn).unwrap();
    assert_eq!(
        wal.reserve(&[]).unwrap_err().state(),
        SqlState::PROGRAM_LIMIT_EXCEEDED
    );
    drop(wal);
    let mut seen = 0;
    let mut visit = |record: &frazil_durability::wal::record::Record<'_>| {
        assert_eq!(record.payload, long);
        seen += 1;
        Ok(())
    };
    Wal::open(sim.vfs(), directory(), DATABASE, (Lsn(0), 0), SMALL, &mut visit).unwrap();
    assert_eq!(seen, 1);
}
