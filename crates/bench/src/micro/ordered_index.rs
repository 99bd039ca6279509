//! The experiment `index`: what an entry of an ordered index costs, keys of eight random bytes, beside a map that is not concurrent
//! (std's) and, with the feature `index-peers`, the fastest kept crate for such keys. At scale factor 1 there are ten million.

use super::trials::{self, Metrics, Trial};
use crate::arguments::BenchArgs;
use crate::report::Report;
use frazil_index::{OrderedIndex, Tree, Verdict};
use frazil_testkit::Random;
use frazil_types::{KeyPart, KeySpec, LogicalType, Result, RowId};
use std::collections::BTreeMap;

/// Keys at scale factor 1.
const KEYS: f64 = 1e7;

/// Names of what is measured.
const PER_KEY: Metrics = Metrics {
    ns: "ns_per_key",
    cycles: "cycles_per_key",
    events: [
        "instructions_per_key",
        "counted_cycles_per_key",
        "cache_misses_per_key",
        "branch_misses_per_key",
    ],
};

/// Runs the experiment.
pub fn run(name: &'static str, args: &BenchArgs) -> Result<Report> {
    let count = (KEYS * args.scale_factor.min(1.0)).max(1000.0) as usize;
    let mut random = Random::new(1);
    let keys: Vec<u64> = (0..count).map(|_| random.bits()).collect();
    let mut probes = keys.clone();
    (1..count).for_each(|i| probes.swap(i, random.index(i + 1)));
    let (tree, map) = (tree_of(&keys), map_of(&keys));
    #[cfg(feature = "index-peers")]
    let peer = peers::map_of(&keys);
    #[cfg(feature = "index-peers")]
    let beside = vec![
        trial("congee/insert", count, || {
            peers::sum_of(&peers::map_of(&keys), &keys[..1])
        }),
        trial("congee/get", count, || peers::sum_of(&peer, &probes)),
    ];
    #[cfg(not(feature = "index-peers"))]
    let beside = Vec::new();
    let mut trials = vec![
        trial("tree/insert", count, || tree_of(&keys).entries()),
        trial("tree/insert_unique", count, || unique_tree_of(&keys).entries()),
        trial("tree/get", count, || sum_of_rows(&tree, &probes)),
        trial("std/insert", count, || map_of(&keys).len() as u64),
        trial("std/get", count, || {
            probes.iter().map(|key| map[key]).fold(0, u64::wrapping_add)
        }),
    ];
    trials.extend(beside);
    let mut report = Report::default();
    for outcome in trials::run(args.runs, trials) {
        outcome.add_to(&mut report, name, PER_KEY);
    }
    let others: &[&str] = if cfg!(feature = "index-peers") {
        &["std", "congee"]
    } else {
        &["std"]
    };
    for other in others {
        for (ours, theirs) in [("insert", "insert"), ("insert_unique", "insert"), ("get", "get")] {
            report.compare(&format!("tree/{ours}"), &format!("{other}/{theirs}"), PER_KEY.ns);
        }
    }
    Ok(report)
}

fn trial<'a>(case: &str, count: usize, work: impl Fn() -> u64 + 'a) -> Trial<'a> {
    Trial {
        case: case.to_string(),
        units: count as f64,
        work: Box::new(move || {
            std::hint::black_box(work());
        }),
    }
}

fn empty_tree() -> Tree {
    Tree::new(&KeySpec::new(vec![KeyPart {
        ty: LogicalType::BigInt,
        nullable: false,
        descending: false,
        nulls_first: false,
    }]))
}

fn tree_of(keys: &[u64]) -> Tree {
    let tree = empty_tree();
    for (row, key) in keys.iter().enumerate() {
        tree.insert(&key.to_be_bytes(), RowId(row as u64), None);
    }
    tree
}

fn unique_tree_of(keys: &[u64]) -> Tree {
    let tree = empty_tree();
    for (row, key) in keys.iter().enumerate() {
        tree.insert(
            &key.to_be_bytes(),
            RowId(row as u64),
            Some(&mut |_| Verdict::Rival),
        );
    }
    tree
}

fn sum_of_rows(tree: &Tree, probes: &[u64]) -> u64 {
    let mut sum = 0u64;
    for key in probes {
        tree.get(&key.to_be_bytes(), &mut |row| {
            sum = sum.wrapping_add(row.0);
            true
        });
    }
    sum
}

fn map_of(keys: &[u64]) -> BTreeMap<u64, u64> {
    let mut map = BTreeMap::new();
    for (row, &key) in keys.iter().enumerate() {
        map.insert(key, row as u64);
    }
    map
}

/// What the tree is measured beside.
#[cfg(feature = "index-peers")]
mod peers {
    use congee::{U64Congee, epoch};

    /// All keys with their places in the list.
    pub fn map_of(keys: &[u64]) -> U64Congee<usize> {
        let map = U64Congee::new();
        for (row, &key) in keys.iter().enumerate() {
            let inserted = map.insert(key, row, &epoch::pin());
            inserted.expect("memory for a node");
        }
        map
    }

    /// The sum of what some keys have.
    pub fn sum_of(map: &U64Congee<usize>, probes: &[u64]) -> u64 {
        let rows = probes.iter().filter_map(|&key| map.get(key, &epoch::pin()));
        rows.fold(0, |sum, row| sum.wrapping_add(row as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found() {
        let keys = [7, 3, u64::MAX, 0];
        assert_eq!(sum_of_rows(&tree_of(&keys), &keys), 6);
        assert_eq!(sum_of_rows(&unique_tree_of(&keys), &keys), 6);
        assert_eq!(map_of(&keys).values().sum::<u64>(), 6);
        let args = BenchArgs {
            scale_factor: 0.0001,
            runs: 2,
            ..BenchArgs::new("index")
        };
        assert!(!run("index", &args).unwrap().ratios().is_empty());
    }
}
