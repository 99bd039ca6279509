//! Where a log breaks off: damage of what was durable is told from what a crash leaves.

use crate::{DATABASE, SMALL, directory, open};
use frazil_durability::wal::log_file::{Header, SECTOR};
use frazil_durability::wal::record::{Chain, Record, Version};
use frazil_durability::wal::{End, Wal, WalOptions};
use frazil_storage::{Log, Lsn};
use frazil_testkit::{Failure, SimVfs};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{Access, Vfs};
use std::ops::Range;
use std::path::PathBuf;

fn file(generation: u64) -> PathBuf {
    directory().join(format!("{generation:016}.log"))
}

/// A file that takes all groups of these tests.
const LARGE: WalOptions = WalOptions {
    first_file_bytes: 32 * SECTOR,
    most_file_bytes: 32 * SECTOR,
};

/// Opens the log. Returns the lengths of the payloads that were read.
fn lengths(sim: &SimVfs, options: WalOptions) -> Result<(Vec<usize>, End)> {
    let mut lengths = Vec::new();
    let mut visit = |record: &Record<'_>| {
        lengths.push(record.payload.len());
        Ok(())
    };
    let opened = Wal::open(sim.vfs(), directory(), DATABASE, (Lsn(0), 0), options, &mut visit);
    opened.map(|(_, replayed)| (lengths, replayed.end))
}

/// Writes groups of records whose payloads have these lengths.
fn write(sim: &SimVfs, groups: &[&[usize]], options: WalOptions) {
    try_write(sim, groups, options).unwrap();
}

fn try_write(sim: &SimVfs, groups: &[&[usize]], options: WalOptions) -> Result<()> {
    let from = (Lsn(0), 0);
    let (wal, _) = Wal::open(sim.vfs(), directory(), DATABASE, from, options, &mut |_| Ok(()))?;
    for group in groups {
        for length in *group {
            wal.reserve(&vec![7; *length])?;
        }
        wal.flush()?;
    }
    Ok(())
}

/// Groups, each with the offset of its first sector and the one behind its last in a file that has them alone.
fn places(groups: &[&[usize]]) -> Vec<(usize, usize)> {
    let mut at = SECTOR as usize;
    let place = |group: &&[usize]| {
        let first = at;
        at += group.iter().map(|n| Version::Three.size(*n)).sum::<usize>();
        at = at.next_multiple_of(SECTOR as usize);
        (first, at)
    };
    groups.iter().map(place).collect()
}

/// XX001 that names the file and the place. Returns that: the offset behind what is whole, and one up to which the file was durable.
fn check(error: &Error, generation: u64) -> Range<usize> {
    assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
    assert!(error.hint().is_some(), "{error:?}");
    let front = format!("log file \"{}\" is damaged ", file(generation).display());
    let rest = error.message().strip_prefix(&front);
    let rest = rest.unwrap_or_else(|| panic!("{error}"));
    if rest.starts_with("at offset 0: ") {
        return 0..1;
    }
    let place = (rest.strip_prefix("between offsets ")).and_then(|rest| rest.split_once(", up to which"));
    let place = place.and_then(|(place, _)| place.split_once(" and "));
    let (from, to) = place.unwrap_or_else(|| panic!("{error}"));
    from.parse().unwrap()..to.parse().unwrap()
}

const GROUPS: &[&[usize]] = &[
    &[10],
    &[100, 3000, 5000, 20],
    &[9000],
    &[1],
    &[4064],
    // The second record has a sector of a disk alone.
    &[480, 100],
    &[50, 60],
];

/// A bit anywhere, a sector of a disk and one of the log: what is damaged before the last group is named with a place in front of
/// the damage or in it; behind it nothing is lost silently but that group.
#[test]
fn damage_before_the_last_group_is_named() {
    let sim = SimVfs::new(3);
    write(&sim, GROUPS, LARGE);
    let places = places(GROUPS);
    let all: Vec<usize> = GROUPS.concat();
    let (last, end) = places[places.len() - 1];
    let before_last = all.len() - GROUPS[GROUPS.len() - 1].len();
    let (mut named, mut shorter) = (0, 0);
    for at in (SECTOR as usize..end).step_by(24) {
        for size in [1, 512, SECTOR as usize] {
            let sim = sim.copy(1);
            let (mut changed, from) = (false, at - at % size);
            sim.tamper(&file(1), |bytes| {
                let before = bytes.clone();
                match size {
                    1 => bytes[at + at / 8 % 8] ^= 1 << (at % 7),
                    _ => bytes[from..from + size].fill(0),
                }
                changed = before != *bytes;
            });
            match lengths(&sim, LARGE) {
                Ok((found, _)) if found == all => {}
                Ok((found, _)) => {
                    assert!(changed && from >= last, "{at} {size}: {found:?}");
                    assert!(found.len() >= before_last, "{at} {size}: {found:?}");
                    shorter += 1;
                }
                Err(e) => {
                    assert!(changed && at < last, "{at} {size}: {e}");
                    let place = check(&e, 1);
                    assert!(
                        place.start < from + size.max(8) && from < place.end,
                        "{at} {size}: {e}"
                    );
                    named += 1;
                }
            }
        }
    }
    assert!(named > 1_500 && shorter > 10, "{named} {shorter}");
}

/// A group of which a crash left the last records but not the first ones ends the log, as does one whose first sectors came through.
#[test]
fn a_torn_group_ends_the_log_silently() {
    let groups: &[&[usize]] = &[&[10], &[4064, 4064, 4064, 9000, 4064, 100]];
    let sim = SimVfs::new(3);
    write(&sim, groups, LARGE);
    let (first, end) = places(groups)[1];
    for lost in (first..end).step_by(512) {
        for sectors in 1..12 {
            let sim = sim.copy(1);
            let to = end.min(lost + sectors * 512);
            sim.tamper(&file(1), |bytes| bytes[lost..to].fill(0));
            let (found, _) = lengths(&sim, LARGE).unwrap_or_else(|e| panic!("{lost} {to}: {e}"));
            assert!(!found.is_empty() && groups.concat().starts_with(&found));
        }
    }
}

/// A process died at the sync of its last group, and the power is cut at any operation of the next one, which opens the log: the group is there
/// or not, and nothing is damaged.
#[test]
fn a_power_cut_while_recovery_keeps_what_it_read_is_no_damage() {
    let groups = [GROUPS, &[&[3000, 3000, 9000]]].concat();
    let all = groups.concat();
    let whole = SimVfs::new(0);
    write(&whole, &groups, LARGE);
    let sync = whole.operations() - 1;
    assert!(
        whole
            .trace()
            .last()
            .is_some_and(|op| op.starts_with("sync /log/"))
    );
    let (mut there, mut gone) = (0, 0);
    for seed in 0..40 {
        for cut in 0.. {
            let sim = SimVfs::new(seed);
            sim.fail_at(sync, Failure::PowerCut);
            try_write(&sim, &groups, LARGE).unwrap_err();
            let sim = sim.restart_after_kill();
            sim.fail_at(cut, Failure::PowerCut);
            let opened = lengths(&sim, LARGE);
            let sim = sim.restart_after_power_cut();
            for _ in 0..2 {
                let found =
                    lengths(&sim, LARGE).unwrap_or_else(|e| panic!("seed {seed}, operation {cut}: {e}"));
                assert!(found.0.len() >= GROUPS.concat().len() && all.starts_with(&found.0));
                match found.0.len() == all.len() {
                    true => there += 1,
                    false => gone += 1,
                }
                if let Ok((before, _)) = &opened {
                    assert_eq!(*before, found.0, "what was read once stays");
                }
            }
            if opened.is_ok() {
                break;
            }
        }
    }
    assert!(there > 100 && gone > 100, "{there} {gone}");
}

/// What was read once and kept is missed later, be it the last group.
#[test]
fn what_recovery_has_read_is_missed_if_it_is_damaged_then() {
    let sim = SimVfs::new(3);
    write(&sim, GROUPS, LARGE);
    let sim = sim.restart_after_kill();
    let (wal, _) = Wal::open(sim.vfs(), directory(), DATABASE, (Lsn(0), 0), LARGE, &mut |_| {
        Ok(())
    })
    .unwrap();
    drop(wal);
    let all: Vec<usize> = GROUPS.concat();
    assert_eq!(lengths(&sim, LARGE).unwrap(), (all, End::Clean));
    let (last, end) = places(GROUPS)[GROUPS.len() - 1];
    for at in (last..last + 184).chain([end - 1]) {
        let damaged = sim.copy(1);
        damaged.tamper(&file(1), |bytes| bytes[at] ^= 1);
        match lengths(&damaged, LARGE) {
            Ok((found, _)) => assert_eq!(found, GROUPS.concat(), "byte {at} is padding"),
            Err(e) => assert!(check(&e, 1).contains(&at), "{at}: {e}"),
        }
    }
    let zeros = sim.copy(1);
    zeros.tamper(&file(1), |bytes| bytes[last..end].fill(0));
    assert!(check(&lengths(&zeros, LARGE).unwrap_err(), 1).contains(&last));
    // Whoever only reads says nothing, and finds the same.
    let opening = |access| frazil_durability::wal::LogOpening {
        database: DATABASE,
        from: Lsn(0),
        timestamp: 0,
        access,
        ends_at_damage: false,
        options: LARGE,
    };
    let mut none = Lengths(Vec::new());
    Wal::open_for(sim.vfs(), directory(), opening(Access::Read), &mut none).unwrap();
    sim.tamper(&file(1), |bytes| bytes[last + 40] ^= 1);
    let read = Wal::open_for(sim.vfs(), directory(), opening(Access::Read), &mut none);
    check(&read.unwrap_err(), 1);
}

/// Whatever happens to a file, a log that is to end at damage ends there, and nothing is changed.
#[test]
fn a_damaged_log_is_read_up_to_the_damage() {
    let sim = SimVfs::new(6);
    write(
        &sim,
        &[&[10], &[20], &[9000], &[30, 31], &[40], &[12000], &[50]],
        SMALL,
    );
    let all = [10, 20, 9000, 30, 31, 40, 12000, 50];
    let used: Vec<u64> = (1..20)
        .filter(|g| sim.read(&file(*g)).is_some_and(|bytes| bytes[0] != 0))
        .collect();
    assert!(used.len() >= 3, "{used:?}");
    let salvaged = |sim: &SimVfs, from: u64| {
        let opening = frazil_durability::wal::LogOpening {
            database: DATABASE,
            from: Lsn(from),
            timestamp: 0,
            access: Access::Read,
            ends_at_damage: true,
            options: SMALL,
        };
        let mut lengths = Lengths(Vec::new());
        let (_, replayed) = Wal::open_for(sim.vfs(), directory(), opening, &mut lengths).unwrap();
        assert!(replayed.position.0 >= from);
        lengths.0
    };
    let mut shortest = all.len();
    for generation in &used {
        let end = sim.read(&file(*generation)).unwrap().len();
        for at in (0..end).step_by(200) {
            for truncates in [false, true] {
                let damaged = sim.copy(1);
                damaged.tamper(&file(*generation), |bytes| match truncates {
                    true => bytes.truncate(at),
                    false => bytes[at] ^= 1,
                });
                let before = damaged.read(&file(*generation));
                let found = salvaged(&damaged, 0);
                assert!(
                    all.starts_with(&found),
                    "{generation} {at} {truncates}: {found:?}"
                );
                shortest = shortest.min(found.len());
                salvaged(&damaged, 4096);
                assert_eq!(damaged.read(&file(*generation)), before);
            }
        }
        let gone = sim.copy(1);
        gone.remove(&file(*generation)).unwrap();
        assert!(all.starts_with(&salvaged(&gone, 0)));
        salvaged(&gone, 1 << 20);
    }
    assert_eq!((salvaged(&sim, 0).len(), shortest), (all.len(), 0));
}

struct Lengths(Vec<usize>);

impl frazil_durability::wal::Visitor for Lengths {
    fn begins(&mut self, _most: Lsn) {}

    fn visit(&mut self, record: &Record<'_>) -> Result<()> {
        self.0.push(record.payload.len());
        Ok(())
    }
}

/// The last file of several, whose header is gone or that is empty.
#[test]
fn a_last_file_without_its_header_is_named() {
    let sim = SimVfs::new(4);
    write(&sim, &[&[10], &[20], &[9000], &[30], &[40], &[50]], SMALL);
    let used = |g: &u64| sim.read(&file(*g)).is_some_and(|bytes| bytes[0] != 0);
    let last = (1..20).filter(used).max().unwrap();
    assert!(last >= 2);
    for bytes in [0, 100, SECTOR as usize] {
        let sim = sim.copy(1);
        sim.tamper(&file(last), |b| {
            b.truncate(bytes);
            b.fill(0);
        });
        let error = lengths(&sim, SMALL).unwrap_err();
        assert_eq!(check(&error, last), 0..1);
        assert!(error.message().contains("truncated"), "{error}");
    }
    sim.tamper(&file(last), |bytes| bytes[..512].fill(0));
    let error = lengths(&sim, SMALL).unwrap_err();
    assert_eq!(check(&error, last), 0..1);
    assert!(error.message().contains("header"), "{error}");
    // It stays where it is.
    lengths(&sim, SMALL).unwrap_err();
    // Also if it is the only one.
    let sim = SimVfs::new(4);
    write(&sim, &[&[10], &[20]], LARGE);
    sim.tamper(&file(1), |bytes| bytes[..512].fill(0));
    check(&lengths(&sim, LARGE).unwrap_err(), 1);
}

/// A file of version 1 is read, kept and followed by one of version 2. It does not say how far it was durable.
#[test]
fn files_of_the_first_version_are_read() {
    let sim = SimVfs::new(1);
    let header = Header {
        version: Version::One,
        database: DATABASE,
        generation: 1,
        start: 0,
        bytes: 8 * SECTOR,
        previous: 0,
    };
    let mut bytes = header.to_bytes();
    assert!(bytes.starts_with(b"frazil log v1\n"));
    let mut chain = Chain {
        version: Version::One,
        database: DATABASE,
        generation: 1,
        previous: 0,
    };
    for timestamp in 1..4 {
        let record = Record {
            position: bytes.len() as u64 - SECTOR,
            durable: 0,
            timestamp,
            payload: &crate::payload(timestamp)[..],
        };
        chain.write(&mut bytes, &record);
        bytes.resize(bytes.len().next_multiple_of(SECTOR as usize), 0);
    }
    let end = bytes.len();
    bytes.resize(8 * SECTOR as usize, 0);
    sim.create_directory(directory()).unwrap();
    drop(sim.create(&file(1)).unwrap());
    sim.tamper(&file(1), |b| *b = bytes);
    let cut = sim.copy(1);
    cut.tamper(&file(1), |b| b[end - 2 * SECTOR as usize] ^= 1);
    assert!(open(&cut, (Lsn(0), 0)).unwrap().1.timestamp < 3);
    for next in 4..7 {
        let (wal, replayed) = open(&sim, (Lsn(0), 0)).unwrap();
        assert_eq!((replayed.timestamp, replayed.end), (next - 1, End::Clean));
        wal.wait(wal.reserve(&crate::payload(next)).unwrap().lsn).unwrap();
    }
    assert!(sim.read(&file(1)).unwrap().starts_with(b"frazil log v1\n"));
    assert!(sim.read(&file(2)).unwrap().starts_with(b"frazil log v3\n"));
}
