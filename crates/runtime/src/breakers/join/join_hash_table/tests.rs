//! Join tables against a map of vectors.

use super::*;
use frazil_kernels::hash::hash_u64;
use std::collections::HashMap;

fn spec() -> JoinSpec {
    let key = RowField::new(NativeType::I64, false);
    JoinSpec::new(&[key], &[RowField::new(NativeType::I32, true)], true)
}

fn build(spec: &JoinSpec, keys: &[i64], track: bool) -> JoinBuild {
    let mut build = JoinBuild::new(spec, &MemoryBudget::unlimited());
    for (i, &key) in keys.iter().enumerate() {
        let row = build.pages.allocate().unwrap();
        // SAFETY: a fresh row of the spec's layout.
        unsafe {
            row.add(8).cast::<u64>().write(hash_u64(key as u64));
            spec.layout.fields[0].set::<i64>(row, key);
            spec.layout.fields[1].set::<i32>(row, i as i32);
            spec.layout.fields[1].set_valid(row, true);
        }
        if track {
            build.min_key = build.min_key.min(key);
            build.max_key = build.max_key.max(key);
        }
    }
    build
}

/// What generated code does.
fn probe(table: &JoinTable, key: i64) -> Vec<i32> {
    let h = &table.header;
    let hash = hash_u64(key as u64);
    let fields = &table.spec.layout.fields;
    let mut found = Vec::new();
    // SAFETY: as the module's essay says.
    unsafe {
        let mut row = match h.kind {
            KIND_HASH => {
                let entry = *h.directory.add((hash >> h.shift) as usize);
                if entry & tags(hash) == tags(hash) {
                    entry & POINTER_MASK
                } else {
                    0
                }
            }
            KIND_DIRECT => {
                let i = key.wrapping_sub(h.min_key) as u64;
                if i < h.slots {
                    *h.directory.add(i as usize)
                } else {
                    0
                }
            }
            _ => h.first as u64,
        } as *mut u8;
        while !row.is_null() {
            if fields[0].get::<i64>(row) == key {
                found.push(fields[1].get::<i32>(row));
                *row.offset(table.spec.layout.mark.unwrap() as isize) = 1;
            }
            row = row.cast::<u64>().read() as *mut u8;
        }
    }
    found.sort_unstable();
    found
}

fn check(keys: &[i64], kind: u64, track: bool) {
    let spec = spec();
    let half = keys.len() / 2;
    let builds = vec![
        build(&spec, &keys[..half], track),
        build(&spec, &keys[half..], track),
    ];
    let table = JoinTable::new(spec, builds, &MemoryBudget::unlimited()).unwrap();
    std::thread::scope(|s| {
        for worker in 0..2 {
            let table = &table;
            s.spawn(move || (worker..table.parts()).step_by(2).for_each(|p| table.link(p)));
        }
    });
    assert_eq!(table.header.kind, kind);
    let mut oracle: HashMap<i64, Vec<i32>> = HashMap::new();
    for (i, &key) in keys.iter().enumerate() {
        let payload = if i < half { i } else { i - half };
        oracle.entry(key).or_default().push(payload as i32);
    }
    let mut wanted: Vec<i64> = keys.iter().step_by(2).copied().collect();
    wanted.extend([-1, 0, 1, i64::MAX, i64::MIN, 1 << 40]);
    for &key in &wanted {
        let mut expected = oracle.get(&key).cloned().unwrap_or_default();
        expected.sort_unstable();
        assert_eq!(probe(&table, key), expected, "key {key}");
    }
    check_heads(&table, &wanted, &oracle);
    let matched: usize = wanted
        .iter()
        .filter(|k| oracle.contains_key(k))
        .collect::<std::collections::HashSet<_>>()
        .iter()
        .map(|k| oracle[k].len())
        .sum();
    let mut rows = Vec::new();
    (0..table.parts()).for_each(|p| table.rows_of(p, Which::Matched, &mut rows));
    assert_eq!(rows.len(), matched);
    (0..table.parts()).for_each(|p| table.rows_of(p, Which::Unmatched, &mut rows));
    assert_eq!(rows.len(), keys.len());
}

fn check_heads(table: &JoinTable, keys: &[i64], oracle: &HashMap<i64, Vec<i32>>) {
    let mut heads = vec![std::ptr::null(); keys.len()];
    if table.header.kind == KIND_HASH {
        let hashes: Vec<u64> = keys.iter().map(|&k| hash_u64(k as u64)).collect();
        table.heads_by_hash(&hashes, &mut heads);
    } else {
        table.heads_by_key(keys, &mut heads);
        for (key, head) in keys.iter().zip(&heads) {
            assert_eq!(head.is_null(), !oracle.contains_key(key));
        }
    }
    for (key, head) in keys.iter().zip(&heads) {
        assert!(!head.is_null() || !oracle.contains_key(key));
    }
}

#[test]
fn dense_keys_are_addressed_directly() {
    let keys: Vec<i64> = (0..20_000).map(|i| (i * 7) % 15_000 - 3000).collect();
    check(&keys, KIND_DIRECT, true);
    check(&keys, KIND_DIRECT, false);
    check(&[5], KIND_DIRECT, true);
}

#[test]
fn sparse_keys_are_hashed() {
    let keys: Vec<i64> = (0..30_000i64)
        .map(|i| (i % 20_000).wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64))
        .collect();
    check(&keys, KIND_HASH, true);
    check(&[i64::MIN, i64::MAX], KIND_HASH, true);
    check(&[], KIND_HASH, true);
}

#[test]
fn without_keys_all_rows_hang_in_one_chain() {
    let with_key = spec();
    let listed = JoinSpec {
        keys: 0,
        ..with_key.clone()
    };
    let builds = vec![build(&with_key, &[1, 2, 3], false), build(&with_key, &[2], false)];
    let table = JoinTable::build(listed, builds, &MemoryBudget::unlimited()).unwrap();
    assert_eq!(table.header.kind, KIND_LIST);
    assert_eq!(probe(&table, 2), [0, 1]);
    assert_eq!(table.header.rows, 4);
}

#[test]
fn the_directory_counts_against_the_budget() {
    let spec = spec();
    let keys: Vec<i64> = (0..100_000).map(|i| i * 1_000_003).collect();
    let builds = vec![build(&spec, &keys, true)];
    let error = JoinTable::build(spec, builds, &MemoryBudget::new(1000)).unwrap_err();
    assert_eq!(error.state().0, "53200");
}
