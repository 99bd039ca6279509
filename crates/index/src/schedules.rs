//! Models for loom: all programs of three threads with up to four operations among insert-unique, remove and get of a key
//! are run through their schedules, in trees of one leaf and in trees that split and lose leaves, and every outcome must be that of
//! some order of the operations one after the other.
//!
//! Schedules are tried with data words outside of loom's sight, so that versions and latches alone are where threads take turns;
//! one small model tracks every word, and checks the fences.

use crate::ordered_index::{Direction, Inserted, KeyRange, OrderedIndex, Verdict};
use crate::sync::TRACK_DATA;
use crate::tree::Tree;
use frazil_types::RowId;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Times that a thread is preempted in a run where it could go on: what short windows hide shows with one, and all programs run
/// within a second. `LOOM_MAX_PREEMPTIONS` sets another number.
const PREEMPTIONS: usize = 1;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
    /// Inserts a row with a key, unless another row has the key.
    Insert(u64, u64),
    /// Removes a row with a key.
    Remove(u64, u64),
    /// Reads the rows of a key.
    Get(u64),
}

/// What the operation gave.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Inserted(bool),
    Removed(bool),
    Rows(Vec<u64>),
}

/// The entries before the threads start, and what each does.
#[derive(Clone, Debug)]
struct Program {
    before: Vec<(u64, u64)>,
    threads: Vec<Vec<Operation>>,
}

/// Outcomes by thread, and the entries in the end.
type Run = (Vec<Vec<Outcome>>, BTreeSet<(u64, u64)>);

fn apply(entries: &mut BTreeSet<(u64, u64)>, operation: Operation) -> Outcome {
    let rows = |k: u64| {
        entries
            .iter()
            .filter(|e| e.0 == k)
            .map(|e| e.1)
            .collect::<Vec<_>>()
    };
    match operation {
        Operation::Insert(key, row) => {
            let free = rows(key).is_empty();
            if free {
                entries.insert((key, row));
            }
            Outcome::Inserted(free)
        }
        Operation::Remove(key, row) => Outcome::Removed(entries.remove(&(key, row))),
        Operation::Get(key) => Outcome::Rows(rows(key)),
    }
}

/// All runs of the program in which operations go one after the other.
fn serial(program: &Program) -> BTreeSet<Run> {
    fn go(
        program: &Program,
        next: &[usize],
        entries: &BTreeSet<(u64, u64)>,
        so_far: &Run,
        out: &mut BTreeSet<Run>,
    ) {
        let mut done = true;
        for (thread, operations) in program.threads.iter().enumerate() {
            if let Some(&operation) = operations.get(next[thread]) {
                done = false;
                let (mut next, mut entries, mut run) = (next.to_vec(), entries.clone(), so_far.clone());
                run.0[thread].push(apply(&mut entries, operation));
                next[thread] += 1;
                go(program, &next, &entries, &run, out);
            }
        }
        if done {
            out.insert((so_far.0.clone(), entries.clone()));
        }
    }
    let threads = program.threads.len();
    let mut out = BTreeSet::new();
    let entries = program.before.iter().copied().collect();
    let empty = (vec![Vec::new(); threads], BTreeSet::new());
    go(program, &vec![0; threads], &entries, &empty, &mut out);
    out
}

fn run(tree: &Tree, operation: Operation) -> Outcome {
    match operation {
        Operation::Insert(key, row) => {
            let inserted = tree.insert(&key.to_be_bytes(), RowId(row), Some(&mut |_| Verdict::Rival));
            Outcome::Inserted(inserted == Inserted::Added)
        }
        Operation::Remove(key, row) => {
            Outcome::Removed(tree.remove(&key.to_be_bytes(), RowId(row), &|| true))
        }
        Operation::Get(key) => {
            let mut rows = Vec::new();
            tree.get(&key.to_be_bytes(), &mut |row| {
                rows.push(row.0);
                true
            });
            Outcome::Rows(rows)
        }
    }
}

/// Runs a program through its schedules.
fn check(program: &Program) {
    let allowed = Arc::new(serial(program));
    let shared = Arc::new(program.clone());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(PREEMPTIONS));
    builder.max_branches = 20_000;
    builder.check(move || {
        // Nodes of four entries.
        let tree = loom::sync::Arc::new(Tree::with_nodes(1, false, 12));
        for &(key, row) in &shared.before {
            tree.insert(&key.to_be_bytes(), RowId(row), None);
        }
        let outcomes = Arc::new(Mutex::new(vec![Vec::new(); shared.threads.len()]));
        let threads: Vec<_> = (0..shared.threads.len())
            .map(|thread| {
                let (tree, outcomes, program) = (tree.clone(), outcomes.clone(), shared.clone());
                loom::thread::spawn(move || {
                    let own = program.threads[thread].iter().map(|&o| run(&tree, o)).collect();
                    outcomes.lock().unwrap()[thread] = own;
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        let mut entries = BTreeSet::new();
        tree.range(KeyRange::default(), Direction::Ascending, &mut |key, row| {
            entries.insert((u64::from_be_bytes(key.try_into().unwrap()), row.0))
        });
        let outcomes = outcomes.lock().unwrap().clone();
        let run = (outcomes, entries);
        assert!(
            allowed.contains(&run),
            "{:?} from {:?} gave {run:?}",
            shared.threads,
            shared.before
        );
    });
}

/// Programs of three threads with two, one and one operations, each inserting a row of its own with key 1, removing the
/// first thread's, or getting key 1; those that only get are left out.
fn programs(before: &[(u64, u64)]) -> Vec<Program> {
    let mut out = Vec::new();
    for code in 0..3usize.pow(4) {
        let kinds: [usize; 4] = std::array::from_fn(|i| code / 3usize.pow(i as u32) % 3);
        let operation = |kind: usize, thread: u64| match kind {
            0 => Operation::Get(1),
            1 => Operation::Insert(1, 100 + thread),
            _ => Operation::Remove(1, 100),
        };
        // The second and third thread are alike: one order of them is enough.
        if code == 0 || kinds[2] > kinds[3] {
            continue;
        }
        out.push(Program {
            before: before.to_vec(),
            threads: vec![
                vec![operation(kinds[0], 0), operation(kinds[1], 0)],
                vec![operation(kinds[2], 1)],
                vec![operation(kinds[3], 2)],
            ],
        });
    }
    out
}

#[test]
fn in_an_empty_leaf() {
    programs(&[]).iter().for_each(check);
}

#[test]
fn beside_an_entry() {
    programs(&[(1, 100)]).iter().for_each(check);
}

/// Keys around 1 that fill a leaf: the next insertion splits it.
const FULL: [(u64, u64); 5] = [(0, 1), (0, 2), (0, 3), (2, 4), (2, 5)];

#[test]
fn while_a_leaf_is_split() {
    use Operation::{Get, Insert, Remove};
    for threads in [
        vec![vec![Insert(1, 100), Get(1)], vec![Insert(1, 101)], vec![Get(2)]],
        vec![
            vec![Insert(1, 100), Get(0)],
            vec![Remove(2, 5)],
            vec![Insert(1, 102)],
        ],
        vec![
            vec![Insert(1, 100), Remove(1, 100)],
            vec![Insert(3, 101)],
            vec![Get(1)],
        ],
    ] {
        check(&Program {
            before: FULL.to_vec(),
            threads,
        });
    }
}

#[test]
fn while_leaves_are_taken_away() {
    use Operation::{Get, Insert, Remove};
    // Ascending insertion leaves one entry in the last leaf.
    let mut before = FULL.to_vec();
    before.push((3, 6));
    for threads in [
        vec![
            vec![Remove(3, 6), Insert(3, 100)],
            vec![Insert(3, 101)],
            vec![Get(3)],
        ],
        vec![
            vec![Remove(3, 6), Get(3)],
            vec![Insert(4, 101)],
            vec![Insert(3, 102)],
        ],
        vec![
            vec![Remove(3, 6), Get(2)],
            vec![Remove(2, 5)],
            vec![Insert(3, 102)],
        ],
    ] {
        check(&Program {
            before: before.clone(),
            threads,
        });
    }
}

#[test]
fn where_a_key_lies_in_several_leaves() {
    use Operation::{Get, Insert, Remove};
    let before: Vec<_> = (1..8).map(|row| (1, row)).collect();
    for threads in [
        vec![
            vec![Remove(1, 1), Insert(1, 100)],
            vec![Remove(1, 7)],
            vec![Get(1)],
        ],
        vec![
            vec![Insert(1, 100), Insert(2, 100)],
            vec![Insert(2, 101)],
            vec![Remove(1, 5)],
        ],
    ] {
        check(&Program {
            before: before.clone(),
            threads,
        });
    }
}

/// Reads may see old words as long as nothing forbids it: one writer and one reader of a leaf, with every word tracked.
#[test]
fn the_fences_of_a_leaf() {
    TRACK_DATA.set(true);
    check(&Program {
        before: Vec::new(),
        threads: vec![vec![Operation::Insert(1, 100)], vec![Operation::Get(1)]],
    });
}
