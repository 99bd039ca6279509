//! Eight threads on one tree against a map under a lock, and unique keys that threads claim at once. A second each in the tests;
//! `FRAZIL_INDEX_SECONDS=60` runs longer.

use frazil_index::{Direction, Inserted, KeyRange, OrderedIndex, Tree, Verdict};
use frazil_testkit::Random;
use frazil_types::RowId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: u64 = 8;

fn duration() -> Duration {
    let seconds = std::env::var("FRAZIL_INDEX_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    Duration::from_millis(seconds.map_or(1000, |s: u64| s * 1000))
}

fn key(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

/// All entries by key, checked to be in order.
fn entries(tree: &Tree) -> BTreeMap<Vec<u8>, BTreeSet<u64>> {
    let mut found: BTreeMap<Vec<u8>, BTreeSet<u64>> = BTreeMap::new();
    let mut last = None;
    tree.range(KeyRange::default(), Direction::Ascending, &mut |key, row| {
        let entry = Some((key.to_vec(), row.0));
        assert!(last < entry);
        last = entry;
        found.entry(key.to_vec()).or_default().insert(row.0);
        true
    });
    found
}

/// Each thread owns the row ids that leave its number as the rest, and knows which of them are in; all share the keys.
#[test]
fn eight_threads_agree_with_a_map() {
    const KEYS: u64 = 500;
    let tree = Tree::with_nodes(1, false, 16);
    let map: Mutex<BTreeSet<(u64, u64)>> = Mutex::default();
    let until = Instant::now() + duration();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (tree, map) = (&tree, &map);
            scope.spawn(move || {
                let mut random = Random::new(thread + 1);
                let mut own: BTreeSet<(u64, u64)> = BTreeSet::new();
                while Instant::now() < until {
                    for _ in 0..if cfg!(miri) { 5 } else { 200 } {
                        let (k, row) = (random.below(KEYS), random.below(5) * THREADS + thread);
                        match random.below(5) {
                            0 | 1 => {
                                let new = own.insert((k, row));
                                let inserted = tree.insert(&key(k), RowId(row), None);
                                assert_eq!(inserted == Inserted::Added, new);
                            }
                            2 | 3 => {
                                let there = own.remove(&(k, row));
                                assert_eq!(tree.remove(&key(k), RowId(row), &|| true), there);
                            }
                            _ => {
                                let mut mine = BTreeSet::new();
                                tree.get(&key(k), &mut |found| {
                                    if found.0 % THREADS == thread {
                                        assert!(mine.insert((k, found.0)), "shown twice");
                                    }
                                    true
                                });
                                let expected = own.range((k, 0)..(k + 1, 0)).copied().collect();
                                assert_eq!(mine, expected);
                            }
                        }
                    }
                    check_own_range(tree, thread, &own, random.below(KEYS));
                }
                map.lock().unwrap().extend(own);
            });
        }
    });
    let mut found = BTreeSet::new();
    for (key, rows) in entries(&tree) {
        let key = u64::from_be_bytes(key.try_into().unwrap());
        found.extend(rows.into_iter().map(|row| (key, row)));
    }
    assert_eq!(found, map.into_inner().unwrap());
    assert_eq!(tree.entries(), found.len() as u64);
}

/// A thread's own entries are in both directions of a range, whatever the others do.
fn check_own_range(tree: &Tree, thread: u64, own: &BTreeSet<(u64, u64)>, from: u64) {
    let to = from + 30;
    let expected: Vec<(u64, u64)> = own.range((from, 0)..(to, 0)).copied().collect();
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut found = Vec::new();
        let (low, high) = (key(from), key(to));
        let range = KeyRange {
            from: Some(&low),
            to: Some(&high),
        };
        tree.range(range, direction, &mut |key, row| {
            if row.0 % THREADS == thread {
                found.push((u64::from_be_bytes(key.try_into().unwrap()), row.0));
            }
            true
        });
        if direction == Direction::Descending {
            found.reverse();
        }
        assert_eq!(found, expected);
    }
}

/// Threads insert the same keys as unique ones: one of them gets each key. Then they give some back, and claim again.
#[test]
fn of_threads_that_claim_a_key_one_gets_it() {
    let until = Instant::now() + duration();
    while Instant::now() < until {
        claim_keys(until);
    }
}

/// Rows of a round.
const ROWS: u64 = 1 << 18;

/// What the threads of a round share.
struct Claims {
    tree: Tree,
    /// By key: the row that holds it; `ROWS` if none does.
    holders: Vec<AtomicU64>,
    /// By row id: true while the row lives. It does before it is inserted.
    alive: Vec<AtomicBool>,
    next_row: AtomicU64,
}

fn claim_keys(until: Instant) {
    const KEYS: u64 = 64;
    let claims = Claims {
        tree: Tree::with_nodes(1, false, 12),
        holders: (0..KEYS).map(|_| AtomicU64::new(ROWS)).collect(),
        alive: (0..ROWS).map(|_| AtomicBool::new(false)).collect(),
        next_row: AtomicU64::new(0),
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let claims = &claims;
            scope.spawn(move || claims.run(Random::new(100 + thread), until));
        }
    });
}

impl Claims {
    fn run(&self, mut random: Random, until: Instant) {
        let mut held: Vec<(u64, u64)> = Vec::new();
        // Entries of dead rows stay a while, so that those of a key lie in several leaves.
        let mut dead: Vec<(u64, u64)> = Vec::new();
        while Instant::now() < until {
            let (k, row) = (
                random.below(self.holders.len() as u64),
                self.next_row.fetch_add(1, Ordering::Relaxed),
            );
            if row >= ROWS {
                return;
            }
            if self.claim(k, row) {
                held.push((k, row));
            }
            if held.len() > 4 {
                let (k, row) = held.swap_remove(random.index(held.len()));
                self.holders[k as usize].store(ROWS, Ordering::Release);
                self.alive[row as usize].store(false, Ordering::Release);
                dead.push((k, row));
            }
            if dead.len() > 60 {
                let (k, row) = dead.swap_remove(random.index(dead.len()));
                assert!(self.tree.remove(&key(k), RowId(row), &|| true));
            }
        }
    }

    fn claim(&self, k: u64, row: u64) -> bool {
        let mut rivals = |rival: RowId| match self.alive[rival.0 as usize].load(Ordering::Acquire) {
            true => Verdict::Rival,
            false => Verdict::NoRival,
        };
        self.alive[row as usize].store(true, Ordering::Release);
        match self.tree.insert(&key(k), RowId(row), Some(&mut rivals)) {
            Inserted::Added => {
                let before = self.holders[k as usize].swap(row, Ordering::AcqRel);
                assert_eq!(before, ROWS, "two rows hold key {k}");
                true
            }
            Inserted::Refused(_) => {
                self.alive[row as usize].store(false, Ordering::Release);
                false
            }
            Inserted::Present => unreachable!("a new row"),
        }
    }
}
