//! The simulated file system keeps what was synced, and loses the rest in every way it should.

use frazil_testkit::sim_vfs::FAILURES;
use frazil_testkit::{Failure, SimVfs};
use frazil_vfs::{Access, Holder, Locking, Vfs, replace_file};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;

fn file() -> &'static Path {
    Path::new("/file")
}

/// A file system with one durable file of these bytes.
fn with_file(seed: u64, bytes: &[u8]) -> SimVfs {
    let sim = SimVfs::new(seed);
    let made = sim.create(file()).unwrap();
    made.write_at(0, bytes).unwrap();
    made.sync().unwrap();
    sim.sync_directory(Path::new("/")).unwrap();
    sim
}

#[test]
fn what_was_synced_survives_a_power_cut_and_a_kill() {
    for seed in 0..20 {
        let sim = with_file(seed, &[7; 1500]);
        assert_eq!(sim.restart_after_kill().read(file()).unwrap(), [7; 1500]);
        let sim = with_file(seed, &[7; 1500]);
        assert_eq!(sim.restart_after_power_cut().read(file()).unwrap(), [7; 1500]);
    }
}

#[test]
fn each_unsynced_sector_of_its_own_is_kept_or_lost() {
    let mut seen = HashSet::new();
    for seed in 0..300 {
        let sim = with_file(seed, &[0; 1536]);
        let open = sim.open(file(), Access::Write).unwrap();
        open.write_at(0, &[1; 1536]).unwrap();
        open.write_at(512, &[2; 1024]).unwrap();
        let kept = sim.restart_after_power_cut().read(file()).unwrap();
        assert_eq!(kept.len(), 1536);
        let sectors: Vec<u8> = kept
            .chunks(512)
            .map(|s| {
                assert!(s.iter().all(|b| *b == s[0]), "a torn sector");
                s[0]
            })
            .collect();
        seen.insert(sectors);
    }
    // Two contents of the first sector times three of each other one.
    assert_eq!(seen.len(), 18, "{seen:?}");
}

#[test]
fn an_unsynced_end_may_be_there_be_lost_or_be_zeros() {
    let mut seen = HashSet::new();
    for seed in 0..200 {
        let sim = with_file(seed, &[1; 10]);
        sim.open(file(), Access::Write)
            .unwrap()
            .write_at(10, &[2; 1000])
            .unwrap();
        let kept = sim.restart_after_power_cut().read(file()).unwrap();
        assert_eq!(kept[..10], [1; 10]);
        assert!(kept.iter().all(|b| *b <= 2));
        seen.insert((kept.len(), kept.get(10).copied(), kept.get(512).copied()));
    }
    for expected in [
        (10, None, None),
        (512, Some(2), None),
        (1010, Some(2), Some(2)),
        (1010, Some(0), Some(2)),
        (1010, Some(2), Some(0)),
        (1010, Some(0), Some(0)),
    ] {
        assert!(seen.contains(&expected), "{expected:?} is not among {seen:?}");
    }
}

#[test]
fn names_are_kept_or_lost_until_their_directory_is_synced() {
    let mut seen = HashSet::new();
    for seed in 0..100 {
        let sim = with_file(seed, b"old");
        replace_file(&sim, &Path::new("/file").with_file_name("other"), b"x").unwrap();
        sim.create(Path::new("/new")).unwrap();
        sim.remove(file()).unwrap();
        let after = sim.restart_after_power_cut();
        assert!(after.read(Path::new("/other")).is_some(), "it was synced");
        seen.insert((
            after.read(Path::new("/new")).is_some(),
            after.read(file()).is_some(),
        ));
    }
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_rename_leaves_the_old_file_or_the_new_one() {
    let mut seen = HashSet::new();
    for seed in 0..100 {
        let sim = with_file(seed, b"old");
        let new = Path::new("/new");
        let made = sim.create(new).unwrap();
        made.write_at(0, b"new").unwrap();
        made.sync().unwrap();
        sim.rename(new, file()).unwrap();
        assert_eq!(sim.read(file()).unwrap(), b"new");
        seen.insert(sim.restart_after_power_cut().read(file()).unwrap());
    }
    assert_eq!(seen, HashSet::from([b"old".to_vec(), b"new".to_vec()]));
}

#[test]
fn what_a_failed_sync_lost_no_later_sync_brings_back() {
    let mut seen = HashSet::new();
    for seed in 0..50 {
        let sim = with_file(seed, b"old");
        let open = sim.open(file(), Access::Write).unwrap();
        open.write_at(0, b"new").unwrap();
        sim.fail_at(sim.operations(), Failure::Undone);
        open.sync().unwrap_err();
        assert_eq!(
            sim.read(file()).unwrap(),
            b"new",
            "processes read it all the same"
        );
        open.sync().unwrap();
        seen.insert(sim.restart_after_power_cut().read(file()).unwrap());
    }
    assert_eq!(seen, HashSet::from([b"old".to_vec(), b"new".to_vec()]));
}

#[test]
fn a_short_write_ends_at_a_sector() {
    let mut seen = HashSet::new();
    for seed in 0..100 {
        let sim = with_file(seed, &[0; 2000]);
        sim.fail_at(sim.operations() + 1, Failure::Short);
        let open = sim.open(file(), Access::Write).unwrap();
        open.write_at(100, &[1; 1500]).unwrap_err();
        let bytes = sim.read(file()).unwrap();
        seen.insert(bytes.iter().rposition(|b| *b == 1).map_or(0, |last| last + 1));
    }
    assert_eq!(seen, HashSet::from([0, 512, 1024, 1536]));
}

#[test]
fn a_full_disk_takes_what_fits_and_heals() {
    let sim = with_file(1, &[0; 1000]);
    sim.set_capacity(1500);
    assert_eq!(sim.space(Path::new("/")).unwrap(), 500);
    let open = sim.open(file(), Access::Write).unwrap();
    let error = open.write_at(900, &[1; 700]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(sim.read(file()).unwrap().len(), 1500);
    open.write_at(0, &[2; 1500]).unwrap();
    sim.set_capacity(u64::MAX);
    open.write_at(900, &[1; 700]).unwrap();
    assert_eq!(open.len().unwrap(), 1600);
}

#[test]
fn failures_strike_the_operation_they_are_meant_for() {
    for failure in FAILURES {
        let sim = with_file(3, b"something");
        let before = sim.operations();
        sim.fail_at(before + 1, failure);
        sim.entry(file()).unwrap();
        let removed = sim.remove(file());
        assert_eq!(sim.struck(), [before + 1]);
        let error = removed.unwrap_err();
        let (works, is_there) = (sim.entry(file()).is_ok(), sim.read(file()).is_some());
        match failure {
            Failure::Done => assert!(works && !is_there),
            Failure::Vanished => assert!(works && !is_there && error.kind() == ErrorKind::NotFound),
            Failure::PowerCut => assert!(!works),
            _ => assert!(works && is_there),
        }
        assert_eq!(
            sim.trace()[before as usize..][..2],
            ["look at /file", "remove /file"]
        );
    }
}

#[test]
fn chance_follows_from_the_seed() {
    let run = |seed| {
        let sim = with_file(seed, b"");
        sim.fail_by_chance(0.3, Failure::Undone);
        let file = sim.open(file(), Access::Write).ok();
        for i in 0..100 {
            let _ = file.as_ref().map(|f| f.write_at(i, b"x"));
        }
        sim.struck()
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
    assert!((10..60).contains(&run(5).len()));
    let sim = with_file(5, b"");
    sim.fail_by_chance(1.0, Failure::Undone);
    sim.open(file(), Access::Write).unwrap_err();
    sim.heal();
    sim.open(file(), Access::Write).unwrap();
}

#[test]
fn a_directory_is_locked_once_until_its_holder_ends() {
    let sim = SimVfs::new(1);
    let root = Path::new("/");
    let Locking::Ours(lock) = sim.lock(root, Access::Write).unwrap() else {
        panic!("nobody holds it");
    };
    assert!(matches!(
        sim.lock(root, Access::Write).unwrap(),
        Locking::Theirs(_)
    ));
    assert!(matches!(
        sim.lock(root, Access::Read).unwrap(),
        Locking::Theirs(_)
    ));
    sim.create(Path::new("/x")).unwrap();
    lock.remove(Path::new("x")).unwrap();
    assert_eq!(sim.entry(Path::new("/x")).unwrap(), None);
    let killed = sim.restart_after_kill();
    assert!(matches!(
        killed.lock(root, Access::Write).unwrap(),
        Locking::Ours(_)
    ));
    assert!(lock.remove(Path::new("lock")).is_err(), "its process is dead");
}

#[test]
fn several_read_a_directory_and_nothing_changes_on_a_medium_to_be_read() {
    let sim = with_file(1, b"abc");
    sim.set_medium(Access::Read);
    let root = Path::new("/");
    let read_only = ErrorKind::ReadOnlyFilesystem;
    assert_eq!(sim.lock(root, Access::Write).unwrap_err().kind(), read_only);
    let lock = || match sim.lock(root, Access::Read).unwrap() {
        Locking::Ours(lock) => lock,
        other => panic!("{other:?}"),
    };
    let readers = [lock(), lock()];
    assert_eq!(sim.open(file(), Access::Write).unwrap_err().kind(), read_only);
    let open = sim.open(file(), Access::Read).unwrap();
    assert_eq!(open.len().unwrap(), 3);
    assert!(open.write_at(0, b"x").is_err());
    assert_eq!(sim.remove(file()).unwrap_err().kind(), read_only);
    assert_eq!(sim.create(Path::new("/new")).unwrap_err().kind(), read_only);
    sim.set_medium(Access::Write);
    assert!(open.write_at(0, b"x").is_err(), "it was opened to be read");
    let [first, second] = readers;
    drop(first);
    assert!(matches!(
        sim.lock(root, Access::Write).unwrap(),
        Locking::Theirs(Holder::Readers(_))
    ));
    drop(second);
    assert!(matches!(sim.lock(root, Access::Write).unwrap(), Locking::Ours(_)));
    sim.set_has_locks(false);
    assert!(matches!(
        sim.lock(root, Access::Read).unwrap(),
        Locking::Unsupported
    ));
}
