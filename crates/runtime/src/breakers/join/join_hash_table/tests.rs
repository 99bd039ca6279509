//! Join tables against a map of vectors.

use super::*;
use frazil_kernels::hash::hash_u64;
use std::collections::HashMap;

fn spec() -> JoinSpec {
    let key = RowField::new(NativeType::I64, false);
    JoinSpec::new(&[key], &[RowField::new(NativeType::I32, true)], true)
}

/// Rows without a mark, which may be in an array.
fn unmarked() -> JoinSpec {
    let key = RowField::new(NativeType::I64, false);
    JoinSpec::new(&[key], &[RowField::new(NativeType::I32, true)], false)
}

/// As [`unmarked`], of rows whose keys nobody reads.
fn without_keys() -> JoinSpec {
    JoinSpec {
        reads_keys: false,
        ..unmarked()
    }
}

fn build(spec: &JoinSpec, keys: &[i64], track: bool) -> JoinBuild {
    let mut build = JoinBuild::new(spec, &MemoryBudget::unlimited());
    for (i, &key) in keys.iter().enumerate() {
        let row = build.pages.allocate().unwrap();
        // SAFETY: a fresh row of the spec's layout.
        unsafe {
            assert!(!spec.stores_hash());
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
            KIND_ARRAY | KIND_FULL_ARRAY => {
                let i = key.wrapping_sub(h.min_key) as u64;
                let stride = match h.kind {
                    KIND_FULL_ARRAY => table.spec.payload_stride(),
                    _ => table.spec.array_stride(),
                };
                if i < h.slots {
                    h.directory as u64 + i * stride as u64
                } else {
                    0
                }
            }
            _ => h.first as u64,
        } as *mut u8;
        while !row.is_null() {
            if h.kind == KIND_FULL_ARRAY || fields[0].get::<i64>(row) == key {
                found.push(fields[1].get::<i32>(row));
                if let Some(mark) = table.spec.layout.mark {
                    *row.offset(mark as isize) = 1;
                }
            }
            if table.is_array() {
                break;
            }
            row = row.cast::<u64>().read() as *mut u8;
        }
    }
    found.sort_unstable();
    found
}

fn check(keys: &[i64], kind: u64, track: bool) {
    check_rows(spec(), keys, kind, track);
}

fn check_rows(spec: JoinSpec, keys: &[i64], kind: u64, track: bool) {
    let half = keys.len() / 2;
    let builds = vec![
        build(&spec, &keys[..half], track),
        build(&spec, &keys[half..], track),
    ];
    let mut table = JoinTable::new(spec, builds, &MemoryBudget::unlimited()).unwrap();
    loop {
        std::thread::scope(|s| {
            for worker in 0..2 {
                let table = &table;
                s.spawn(move || (worker..table.parts()).step_by(2).for_each(|p| table.link(p)));
            }
        });
        if table.settle().unwrap() {
            break;
        }
    }
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
    if table.spec.layout.mark.is_none() {
        let mut rows = Vec::new();
        (0..table.parts()).for_each(|p| table.rows_of(p, Which::All, &mut rows));
        assert_eq!(rows.len(), keys.len());
        return;
    }
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
    table.heads_by_key(keys, &mut heads, Ask::Ahead);
    let key_of = &table.spec.layout.fields[0];
    for (key, head) in keys.iter().zip(&heads) {
        match table.header.kind {
            KIND_DIRECT | KIND_FULL_ARRAY => assert_eq!(head.is_null(), !oracle.contains_key(key)),
            // SAFETY: a slot of the array.
            KIND_ARRAY if !head.is_null() => unsafe {
                assert_eq!(key_of.get::<i64>(*head) == *key, oracle.contains_key(key));
            },
            _ => {}
        }
    }
    if table.header.kind == KIND_HASH {
        let hashes: Vec<u64> = keys.iter().map(|&k| hash_u64(k as u64)).collect();
        let mut by_hash = vec![std::ptr::null(); keys.len()];
        table.heads_by_hash(&hashes, &mut by_hash, Ask::Ahead);
        assert_eq!(heads, by_hash);
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
fn dense_keys_that_differ_lie_in_an_array() {
    let keys: Vec<i64> = (0..30_000).map(|i| (i * 7) % 30_000 * 2 - 30_000).collect();
    check_rows(unmarked(), &keys, KIND_ARRAY, true);
    check_rows(unmarked(), &keys, KIND_ARRAY, false);
    // 0 is a key, is not one, and is an end of the keys.
    for keys in [
        vec![5],
        vec![0],
        vec![-1, 1],
        vec![-3, 0, 4],
        vec![0, 7],
        vec![-7, 0],
    ] {
        check_rows(unmarked(), &keys, KIND_ARRAY, true);
    }
    check_rows(unmarked(), &[i64::MIN, i64::MIN + 3], KIND_ARRAY, true);
    check_rows(unmarked(), &[i64::MAX, i64::MAX - 3], KIND_ARRAY, true);
}

#[test]
fn payloads_of_keys_without_gaps_lie_in_a_full_array() {
    let keys: Vec<i64> = (0..30_000).map(|i| (i * 7) % 30_000 - 12_000).collect();
    check_rows(without_keys(), &keys, KIND_FULL_ARRAY, true);
    check_rows(unmarked(), &keys, KIND_ARRAY, true);
    for keys in [
        vec![0],
        vec![5],
        vec![-1, 0, 1],
        vec![i64::MAX, i64::MAX - 1],
        vec![i64::MIN],
    ] {
        check_rows(without_keys(), &keys, KIND_FULL_ARRAY, true);
    }
    check_rows(without_keys(), &[0, 2], KIND_ARRAY, true);
    // One of as many keys as slots repeats.
    let mut keys = keys;
    keys[17] = keys[18];
    check_rows(without_keys(), &keys, KIND_DIRECT, true);
}

#[test]
fn payloads_of_every_width_are_copied() {
    use NativeType::{F64, I16, I32, I64, I128};
    let lists: [&[(NativeType, bool)]; 8] = [
        &[],
        &[(I16, false)],
        &[(I16, true)],
        &[(I32, false), (I16, true)],
        &[(I64, false)],
        &[(F64, true)],
        &[(I128, false), (I16, false)],
        &[(I64, false), (I64, true), (I32, false)],
    ];
    for (key, list) in [I16, I32, I64]
        .iter()
        .flat_map(|key| lists.map(|list| (*key, list)))
    {
        let payload: Vec<RowField> = list
            .iter()
            .map(|(native, null)| RowField::new(*native, *null))
            .collect();
        let spec = JoinSpec {
            reads_keys: false,
            ..JoinSpec::new(&[RowField::new(key, false)], &payload, false)
        };
        let mut build = JoinBuild::new(&spec, &MemoryBudget::unlimited());
        let bytes = |place: &FieldPlace| place.offset as usize..place.offset as usize + place.native.size();
        for i in 0..100u8 {
            let row = build.pages.allocate().unwrap();
            // SAFETY: a fresh row of the spec's layout.
            let row = unsafe { std::slice::from_raw_parts_mut(row, spec.layout.size) };
            row[spec.layout.fields[0].offset as usize..][..2].copy_from_slice(&i16::from(i).to_le_bytes());
            row[bytes(&spec.layout.fields[0])][2..].fill(0);
            for place in &spec.layout.fields[1..] {
                row[bytes(place)].fill(i);
                place.validity.into_iter().for_each(|at| row[at as usize] = i % 2);
            }
            (build.min_key, build.max_key) = (0, i64::from(i));
        }
        let table = JoinTable::build(spec, vec![build], &MemoryBudget::unlimited()).unwrap();
        assert_eq!(table.header.kind, KIND_FULL_ARRAY, "{key:?} {list:?}");
        let mut heads = vec![std::ptr::null(); 101];
        table.heads_by_key(&(0..101).collect::<Vec<i64>>(), &mut heads, Ask::Ahead);
        assert!(heads[100].is_null());
        for (i, head) in heads[..100].iter().enumerate() {
            assert!(!head.is_null());
            for place in &table.spec.layout.fields[1..] {
                // SAFETY: the fields of a row of the table.
                unsafe {
                    bytes(place).for_each(|at| assert_eq!(*head.wrapping_add(at), i as u8));
                    place
                        .validity
                        .into_iter()
                        .for_each(|at| assert_eq!(*head.offset(at as isize), i as u8 % 2));
                }
            }
        }
    }
}

#[test]
fn keys_that_repeat_leave_the_array() {
    let mut keys: Vec<i64> = (-10_000..20_000).collect();
    keys.swap(100, 29_000);
    keys[17] = 5_000;
    check_rows(unmarked(), &keys, KIND_DIRECT, true);
    check_rows(unmarked(), &[3, 3], KIND_DIRECT, true);
    let twice: Vec<i64> = (0..20_000).map(|i| i / 2).collect();
    check_rows(unmarked(), &twice, KIND_DIRECT, true);
}

#[test]
fn an_array_beyond_the_budget_is_a_directory() {
    let keys: Vec<i64> = (0..10_000).collect();
    let made = |bytes| {
        JoinTable::build(
            unmarked(),
            vec![build(&unmarked(), &keys, true)],
            &MemoryBudget::new(bytes),
        )
    };
    assert_eq!(made(200_000).unwrap().header.kind, KIND_ARRAY);
    let table = made(100_000).unwrap();
    assert_eq!(table.header.kind, KIND_DIRECT);
    assert_eq!(probe(&table, 77), [77]);
    assert_eq!(made(50_000).unwrap_err().state().0, "53200");
}

#[test]
fn sparse_keys_are_hashed() {
    let keys: Vec<i64> = (0..30_000i64)
        .map(|i| (i % 20_000).wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64))
        .collect();
    check(&keys, KIND_HASH, true);
    check(&[i64::MIN, i64::MAX], KIND_HASH, true);
    check(&[], KIND_HASH, true);
    // An array of them would take more than 64 bytes a row.
    let sparse: Vec<i64> = (0..20_000).map(|i| i * 7).collect();
    check_rows(unmarked(), &sparse, KIND_DIRECT, true);
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
