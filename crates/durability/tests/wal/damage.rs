//! Files that were changed, cut, swapped or taken from another database: a named error, or a prefix of what was written.

use crate::{DATABASE, SMALL, append, directory, open, payload};
use frazil_durability::wal::record::{Chain, Found, Record, Version};
use frazil_durability::wal::{DatabaseId, End, Wal, WalOptions};
use frazil_storage::{Log, Lsn};
use frazil_testkit::{Failure, Random, SimVfs};
use frazil_types::{Result, SqlState};
use std::path::PathBuf;

fn file(generation: u64) -> PathBuf {
    directory().join(format!("{generation:016}.log"))
}

/// A log of several files. Returns the number of its records and the files' generations, in order.
fn written(seed: u64) -> (SimVfs, u64, Vec<u64>) {
    let sim = SimVfs::new(seed);
    let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
    append(&wal, 1, 60, &mut Random::new(seed)).unwrap();
    wal.flush().unwrap();
    drop(wal);
    let files = used(&sim);
    assert!(files.len() >= 3);
    (sim, 60, files)
}

/// Reads a log whatever it holds; what is read is what was written.
fn read(sim: &SimVfs) -> Result<u64> {
    open(sim, (Lsn(0), 0)).map(|(_, replayed)| replayed.timestamp)
}

#[test]
fn flipped_bits_give_a_named_error_or_a_prefix() {
    let (mut errors, mut prefixes) = (0, 0);
    for seed in 0..400 {
        let (sim, records, files) = written(seed % 4);
        let mut random = Random::new(seed);
        let generation = files[random.index(files.len())];
        sim.tamper(&file(generation), |bytes| {
            let at = random.index(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        });
        match read(&sim) {
            Ok(found) => {
                assert!(
                    found == records || files.ends_with(&[generation]),
                    "seed {seed}: {found}"
                );
                prefixes += 1;
            }
            Err(e) => {
                let codes = [SqlState::DATA_CORRUPTED, SqlState::FEATURE_NOT_SUPPORTED];
                assert!(codes.contains(&e.state()), "{e}");
                assert!(e.message().contains("/log/0000"), "{e}");
                errors += 1;
            }
        }
    }
    assert!(errors > 50 && prefixes > 50, "{errors} {prefixes}");
}

#[test]
fn truncated_files_are_named() {
    for seed in 0..60 {
        let (sim, records, files) = written(1);
        let mut random = Random::new(seed);
        let generation = files[random.index(files.len())];
        sim.tamper(&file(generation), |bytes| {
            bytes.truncate(1 + random.index(bytes.len() - 1))
        });
        match read(&sim) {
            Err(e) => assert!(e.message().contains("/log/0000"), "{e}"),
            Ok(found) => panic!("{found} of {records} records from a truncated file {generation}"),
        }
    }
}

#[test]
fn missing_swapped_renamed_and_foreign_files_are_named() {
    let (sim, _, files) = written(2);
    let (one, two) = (files[0], files[1]);
    let bytes = |generation: u64| sim.read(&file(generation)).unwrap();
    let (first, second) = (bytes(one), bytes(two));
    let refused = |what: &str| {
        let error = read(&sim).unwrap_err();
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
        assert!(error.message().contains(what), "{error}");
    };
    sim.tamper(&file(one), |b| b.clone_from(&second));
    refused(&format!("it is the file of generation {two}, renamed"));
    sim.tamper(&file(one), |b| b.clone_from(&first));
    read(&sim).unwrap();
    let error = Wal::open(
        sim.vfs(),
        directory(),
        DatabaseId(*b"another database"),
        (Lsn(0), 0),
        WalOptions::default(),
        &mut |_| Ok(()),
    );
    assert!(error.unwrap_err().message().contains("another database"));
    frazil_vfs::Vfs::remove(&sim, &file(two)).unwrap();
    refused("goes on elsewhere");
    frazil_vfs::Vfs::remove(&sim, &file(one)).unwrap();
    refused("a file is missing");
}

#[test]
fn a_log_that_ends_before_the_checkpoint_is_refused() {
    let sim = SimVfs::new(1);
    let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
    wal.wait(wal.reserve(&payload(1)).unwrap().lsn).unwrap();
    drop(wal);
    let error = open(&sim, (Lsn(1 << 20), 1)).unwrap_err();
    assert!(
        error.message().contains("before the last checkpoint's 1048576"),
        "{error}"
    );
}

/// A file that was used before holds whole records of its former life behind what was written to it since.
#[test]
fn records_of_a_files_former_life_stay_dead() {
    let mut ends_at_old_records = 0;
    for seed in 0..60 {
        let sim = SimVfs::new(seed);
        let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
        let mut random = Random::new(seed);
        let mut next = 1;
        let mut from = (Lsn(0), 0);
        for _ in 0..12 {
            append(&wal, next, 15, &mut random).unwrap();
            next += 15;
            wal.flush().unwrap();
            wal.release(from.0);
            from = (wal.end(), next - 1);
        }
        drop(wal);
        let sim = sim.restart_after_power_cut();
        let (_, replayed) = open(&sim, from).unwrap();
        assert_eq!(replayed.timestamp, next - 1);
        ends_at_old_records += u32::from(replayed.end != frazil_durability::wal::End::Clean);
    }
    assert!(ends_at_old_records > 10, "{ends_at_old_records}");
}

/// Zeros look like the end of a group. Where they took a record's place, a whole one that begins on the next border counts
/// for nothing, because the record before it is missing.
#[test]
fn a_whole_record_behind_a_lost_one_stays_dead() {
    let sim = SimVfs::new(1);
    let open = |sim: &SimVfs, visited: &mut Vec<usize>| {
        let mut visit = |record: &Record<'_>| {
            visited.push(record.payload.len());
            Ok(())
        };
        Wal::open(sim.vfs(), directory(), DATABASE, (Lsn(0), 0), SMALL, &mut visit).unwrap()
    };
    // Records of 32 bytes and the payload: the second one ends on a border.
    let payloads = [992, 3040, 500];
    let (wal, _) = open(&sim, &mut Vec::new());
    for bytes in payloads {
        wal.reserve(&vec![7; bytes]).unwrap();
    }
    wal.flush().unwrap();
    drop(wal);
    let mut visited = Vec::new();
    open(&sim.copy(1), &mut visited);
    assert_eq!(visited, payloads);
    sim.tamper(&file(1), |bytes| bytes[4096 + 1024..2 * 4096].fill(0));
    visited.clear();
    let (_, replayed) = open(&sim, &mut visited);
    assert_eq!(visited, payloads[..1]);
    assert!(
        matches!(replayed.end, End::At { offset: 8192, .. }),
        "{replayed:?}"
    );
}

#[test]
fn a_record_counts_in_its_place_alone() {
    for version in [Version::One, Version::Two, Version::Three] {
        let chain = |database, generation, previous| Chain {
            version,
            database,
            generation,
            previous,
        };
        let record = Record {
            position: 64,
            durable: if version.proves() { 40 } else { 0 },
            timestamp: 9,
            payload: b"redo",
        };
        let mut bytes = Vec::new();
        let mut written = chain(DATABASE, 5, 77);
        written.write(&mut bytes, &record);
        let mut read = chain(DATABASE, 5, 77);
        assert_eq!(read.read(&bytes, 64), Found::Record(record, bytes.len()));
        assert_eq!(read.previous, written.previous);
        let elsewhere = [
            (chain(DatabaseId::random(), 5, 77), 64),
            (chain(DATABASE, 6, 77), 64),
            (chain(DATABASE, 5, 78), 64),
            (chain(DATABASE, 5, 77), 72),
        ];
        for (mut chain, position) in elsewhere {
            let found = chain.read(&bytes, position);
            assert!(
                matches!(found, Found::Other(_)),
                "{chain:?} {position}: {found:?}"
            );
        }
        // What it proves, it proves behind whatever record.
        let proven = version.proves().then_some(40);
        for previous in [0, 77, 78] {
            assert_eq!(chain(DATABASE, 5, previous).durable_before(&bytes, 64), proven);
        }
        for (chain, position) in [
            (chain(DatabaseId::random(), 5, 77), 64),
            (chain(DATABASE, 6, 77), 64),
            (chain(DATABASE, 5, 77), 72),
        ] {
            assert_eq!(chain.durable_before(&bytes, position), None);
        }
    }
}

/// The generations of the files that hold records, ascending.
fn used(sim: &SimVfs) -> Vec<u64> {
    let is_used = |g: &u64| sim.read(&file(*g)).is_some_and(|bytes| bytes[0] != 0);
    (1..200).filter(is_used).collect()
}

/// Whichever files are gone, as long as one is there that another one followed.
#[test]
fn the_last_file_is_missed() {
    for lives in 1..5 {
        let sim = SimVfs::new(lives);
        let mut next = 1;
        for life in 0..lives {
            let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
            // Of one record, or of several files.
            let count = if life % 2 == 0 { 40 } else { 1 };
            append(&wal, next, count, &mut Random::new(life)).unwrap();
            wal.flush().unwrap();
            next += count;
        }
        let files = used(&sim);
        assert!(files.len() >= 2, "{files:?}");
        for first_gone in 1..files.len() {
            let sim = sim.copy(1);
            for generation in &files[first_gone..] {
                frazil_vfs::Vfs::remove(&sim, &file(*generation)).unwrap();
            }
            let error = read(&sim).unwrap_err();
            assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
            let (last, gone) = (file(files[first_gone - 1]), file(files[first_gone]));
            for path in [last, gone] {
                assert!(
                    error.message().contains(&format!("\"{}\"", path.display())),
                    "{error}"
                );
            }
            assert!(error.message().contains("missing"), "{error}");
            // It is told every time.
            read(&sim).unwrap_err();
        }
        assert_eq!(read(&sim).unwrap(), next - 1);
    }
}

/// A file that another one was to follow when the power was cut is the last one: it says so no more when that one is removed.
#[test]
fn a_file_that_was_never_used_is_not_missed() {
    let run = |cut: Option<u64>| {
        let sim = SimVfs::new(9);
        if let Some(operation) = cut {
            sim.fail_at(operation, Failure::PowerCut);
        }
        let opened =
            open(&sim, (Lsn(0), 0)).map(|(wal, _)| append(&wal, 1, 25, &mut Random::new(9)).and(wal.flush()));
        (sim, opened.is_ok_and(|written| written.is_ok()))
    };
    let operations = run(None).0.operations();
    for cut in 0..operations {
        let (sim, is_whole) = run(Some(cut));
        assert!(!is_whole || cut + 1 >= operations);
        let sim = sim.restart_after_power_cut();
        let opens = |sim: &SimVfs| read(sim).unwrap_or_else(|e| panic!("operation {cut}: {e}"));
        let found = opens(&sim);
        let sim = sim.restart_after_power_cut();
        for next in found + 1..found + 4 {
            assert_eq!(opens(&sim), next - 1);
            let (wal, _) = open(&sim, (Lsn(0), 0)).unwrap();
            append(&wal, next, 1, &mut Random::new(cut)).unwrap();
            wal.flush().unwrap();
        }
    }
}
