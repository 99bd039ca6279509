//! Many claims in one chunk, which become bitmaps, beside a list of what is held.

use crate::reference::{Answer, Model};
use frazil_locks::{AnyMode, Locks, Mark, Mode, Outcome, Owner, Target};
use frazil_testkit::Random;
use frazil_types::{MemoryBudget, ObjectId, RowId};

const TABLE: ObjectId = ObjectId(3);
const OWNERS: usize = 3;
/// Offsets in use: some more than a bitmap is made of.
const ROWS: u64 = 900;

fn target(offset: u16) -> Target {
    Target::Row(TABLE, RowId::new(0, offset))
}

/// Rows of an ascending batch, or a random one.
fn some_offsets(random: &mut Random) -> Vec<u16> {
    let first = random.below(ROWS) as u16;
    match random.below(3) {
        0 => (first..ROWS as u16).take(300 + random.index(300)).collect(),
        1 => (0..ROWS as u16).filter(|_| random.below(2) == 0).collect(),
        _ => (0..1 + random.index(20))
            .map(|_| random.below(ROWS) as u16)
            .collect(),
    }
}

/// One step of an owner. The reference takes rows one by one.
fn step(random: &mut Random, locks: &Locks, owners: &mut [(Owner, Vec<Mark>)], model: &mut Model) {
    let session = random.index(OWNERS);
    let marks = owners[session].1.len();
    match random.below(10) {
        0..=6 => {
            let modes = [Mode::KeyShare, Mode::Share, Mode::NoKeyUpdate, Mode::Update];
            let (mode, offsets) = (modes[random.index(4)], some_offsets(random));
            let found = locks
                .claims(TABLE)
                .claim_all(0, &offsets, mode, &owners[session].0)
                .unwrap();
            let refused = offsets.iter().enumerate().find_map(|(at, offset)| {
                match model.take(session, marks, target(*offset), AnyMode::Row(mode), false) {
                    Answer::Held(holders) => Some((at, holders)),
                    Answer::Done | Answer::Waits => None,
                }
            });
            assert_eq!(
                found.map(|found| found.0),
                refused.as_ref().map(|refused| refused.0)
            );
            if let (Some((_, holder)), Some((_, holders))) = (found, refused) {
                assert!(holders.iter().any(|session| owners[*session].0.id() == holder));
            }
        }
        7 => {
            let mark = owners[session].0.mark();
            owners[session].1.push(mark);
        }
        8 if marks > 0 => {
            let at = random.index(marks);
            let mark = owners[session].1[at];
            owners[session].1.truncate(at + 1);
            owners[session].0.free_since(mark);
            model.free(session, at + 1);
        }
        _ => {
            owners[session] = (locks.begin(), Vec::new());
            model.free(session, 0);
        }
    }
}

#[test]
fn bitmaps_hold_what_a_list_holds() {
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let budget = MemoryBudget::new(1 << 30);
        let locks = Locks::new(budget.clone());
        let mut owners: Vec<_> = (0..OWNERS).map(|_| (locks.begin(), Vec::new())).collect();
        let mut model = Model::default();
        for _ in 0..30 {
            step(&mut random, &locks, &mut owners, &mut model);
            for offset in (0..ROWS as u16).filter(|offset| offset % 7 == (seed % 7) as u16) {
                let strongest = model
                    .held
                    .iter()
                    .filter(|held| held.2 == target(offset))
                    .map(|held| held.3)
                    .max();
                let holder = locks.claims(TABLE).holder(RowId::new(0, offset));
                assert_eq!(
                    holder.map(|(_, mode)| AnyMode::Row(mode)),
                    strongest,
                    "seed {seed}, {offset}"
                );
            }
        }
        assert!(budget.peak() > 0, "no bitmap was made");
        drop(owners);
        assert!(locks.holdings().is_empty());
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn single_claims_become_a_bitmap_and_go_back_by_savepoints() {
    let locks = Locks::new(MemoryBudget::unlimited());
    let claims = locks.claims(TABLE);
    let (mut owner, other) = (locks.begin(), locks.begin());
    let claim =
        |offset: u16, mode: Mode, owner: &Owner| claims.claim(RowId::new(0, offset), mode, owner).unwrap();
    for offset in 0..2000 {
        assert_eq!(claim(offset, Mode::KeyShare, &owner), Outcome::Granted);
    }
    let mark = owner.mark();
    for offset in (0..4000).step_by(2) {
        assert_eq!(claim(offset, Mode::Update, &owner), Outcome::Granted);
    }
    for offset in 0..4000 {
        let is_changed = offset % 2 == 0;
        let expected = match is_changed {
            true => Outcome::Held(owner.id()),
            false => Outcome::Granted,
        };
        assert_eq!(claim(offset, Mode::KeyShare, &other), expected, "{offset}");
    }
    owner.free_since(mark);
    for offset in 0..4000 {
        let expected = match offset < 2000 {
            true => Outcome::Held(owner.id()),
            false => Outcome::Granted,
        };
        assert_eq!(claim(offset, Mode::Update, &other), expected, "{offset}");
    }
    drop(owner);
    assert_eq!(claim(0, Mode::Update, &other), Outcome::Granted);
    drop(other);
    assert!(locks.holdings().is_empty());
}

#[test]
fn a_claim_raised_after_a_savepoint_falls_back() {
    let locks = Locks::new(MemoryBudget::unlimited());
    let (claims, row) = (locks.claims(TABLE), RowId::new(0, 1));
    let mut owner = locks.begin();
    assert_eq!(
        claims.claim(row, Mode::KeyShare, &owner).unwrap(),
        Outcome::Granted
    );
    let mark = owner.mark();
    assert_eq!(claims.claim(row, Mode::Update, &owner).unwrap(), Outcome::Granted);
    assert_eq!(claims.holder(row), Some((owner.id(), Mode::Update)));
    owner.free_since(mark);
    assert_eq!(claims.holder(row), Some((owner.id(), Mode::KeyShare)));
}
