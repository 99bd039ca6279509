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
