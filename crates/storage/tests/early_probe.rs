//! Early probing: of the rows a scan returns, those whose key is among the build keys, whatever the state
//! of their chunks; and a probe that drops little is given up.

mod support;

use frazil_block::BuildOptions;
use frazil_kernels::early_probe::hash_filter::HashFilter;
use frazil_kernels::hash::{HashKey, hash_bytes};
use frazil_kernels::{Isa, KeyFilter};
use frazil_storage::{BuildKeys, EarlyProbe, ScanOptions, TableScan};
use frazil_types::{Cancel, NativeType, Restriction, Value};
use std::sync::Arc;
use support::*;

/// Keys `-300..=300` of which one in `step` is there.
fn keys(step: i64) -> (Arc<KeyFilter>, impl Fn(&Value) -> bool) {
    let mut filter = KeyFilter::new(-300, 300);
    (-300..=300)
        .step_by(step as usize)
        .for_each(|key| filter.insert(key));
    let contains = move |value: &Value| {
        value
            .as_int()
            .is_some_and(|v| (-300..=300).contains(&v) && (v + 300) % i128::from(step) == 0)
    };
    (Arc::new(filter), contains)
}

#[test]
fn rows_without_a_partner_stay_in_the_scan() {
    let mut random = Random::new(23);
    let schema = schema();
    for (k, half) in [(65_536, false), (65_536, true), (100, true)] {
        let (store, id) = store_with(schema.clone(), k);
        let mut transaction = begin(&store);
        let rows = random.rows(&schema, 9_000);
        insert(&mut transaction, id, &batch(&schema, &rows));
        if half {
            transaction
                .freeze_table(id, None, BuildOptions::default(), &Cancel::new())
                .unwrap();
            let more = random.rows(&schema, 4_000);
            insert(&mut transaction, id, &batch(&schema, &more));
        }
        transaction.commit().unwrap();
        let table = store.snapshot().table(id).unwrap().clone();
        let all = scan(&table, &[], ScanOptions::default());
        let gone = all.iter().step_by(5).map(|r| r.0).collect::<Vec<_>>();
        let mut transaction = begin(&store);
        delete(&mut transaction, id, &gone);
        transaction.commit().unwrap();
        let table = store.snapshot().table(id).unwrap().clone();
        for round in 0..12 {
            let restrictions: Vec<Restriction> =
                (0..round % 3).map(|_| random.restriction(&schema)).collect();
            let isas = Isa::available();
            let options = ScanOptions {
                isa: isas[round % isas.len()],
                stage_rows: [64, 1000][round % 2],
                ..ScanOptions::default()
            };
            // A bigint, a smallint, a date: as positions from the end, for columns are scanned backwards.
            let column = [0, 2, 3][round % 3];
            let (filter, contains) = keys(2 + round as i64 % 5);
            let mut expected = scan(&table, &restrictions, options);
            expected.retain(|r| contains(&r.1[column]));
            let columns: Vec<usize> = (0..schema.columns.len()).rev().collect();
            let probe = EarlyProbe {
                column: columns.len() - 1 - column,
                filter: BuildKeys::Range(filter),
            };
            let probed = TableScan::new(table.clone(), columns, restrictions, options)
                .unwrap()
                .with_early_probes(vec![probe]);
            let found = run(probed);
            assert_eq!(found.len(), expected.len(), "round {round}, k {k}");
            assert!(found.iter().map(|r| r.0).eq(expected.iter().map(|r| r.0)));
        }
    }
}

#[test]
fn a_probe_that_drops_little_is_given_up() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut random = Random::new(5);
    let mut transaction = begin(&store);
    for _ in 0..10 {
        let rows = random.rows(&schema, 20_000);
        insert(&mut transaction, id, &batch(&schema, &rows));
    }
    transaction.commit().unwrap();
    let table = store.snapshot().table(id).unwrap().clone();
    let dropped = |step: i64| {
        let probe = EarlyProbe {
            column: 0,
            filter: BuildKeys::Range(keys(step).0),
        };
        let scan = TableScan::new(table.clone(), vec![0], vec![], ScanOptions::default())
            .unwrap()
            .with_early_probes(vec![probe]);
        let scan = Arc::new(scan);
        let mut cursor = scan.cursor();
        for morsel in 0..scan.morsels() {
            cursor.open(morsel).unwrap();
            while cursor.next().unwrap().is_some() {}
        }
        drop(cursor);
        scan.counters()
    };
    let (few, most) = (dropped(3), dropped(1));
    assert_eq!(few.rows_dropped_early + few.rows_returned, 200_000);
    assert!(few.rows_dropped_early > 100_000, "{few:?}");
    // Only NULLs are dropped, and only until the probe has been judged.
    assert!(most.rows_dropped_early < 10_000, "{most:?}");
}

#[test]
fn a_key_that_is_no_integer_drops_nothing() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut transaction = begin(&store);
    let rows = Random::new(7).rows(&schema, 1_001);
    insert(&mut transaction, id, &batch(&schema, &rows));
    transaction.commit().unwrap();
    let table = store.snapshot().table(id).unwrap().clone();
    for column in 0..schema.columns.len() {
        let native = schema.columns[schema.columns.len() - 1 - column].ty.native();
        if matches!(native, NativeType::I16 | NativeType::I32 | NativeType::I64) {
            continue;
        }
        let columns = (0..schema.columns.len()).rev().collect();
        let filter = BuildKeys::Range(keys(3).0);
        let scan = TableScan::new(table.clone(), columns, vec![], ScanOptions::default())
            .unwrap()
            .with_early_probes(vec![EarlyProbe { column, filter }]);
        assert_eq!(run(scan).len(), rows.len());
    }
}

/// The hash of a value in a column of a type; `None` for NULL.
fn hash_of(value: &Value, native: NativeType) -> Option<u64> {
    let whole = || value.as_int().expect("an integer");
    Some(match (native, value) {
        (_, Value::Null) => return None,
        (NativeType::F64, Value::Double(v)) => v.fold(0),
        (NativeType::String, value) => hash_bytes(value.as_bytes().expect("a string")),
        (NativeType::I128, Value::Interval(interval)) => interval.to_native().fold(0),
        (NativeType::I128, _) => whole().fold(0),
        (NativeType::Bool, value) => u8::from(*value == Value::Bool(true)).fold(0),
        _ => (whole() as i64).fold(0),
    })
}

#[test]
fn rows_whose_keys_have_no_hash_stay_in_the_scan() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut random = Random::new(31);
    let mut transaction = begin(&store);
    insert(
        &mut transaction,
        id,
        &batch(&schema, &random.rows(&schema, 9_000)),
    );
    transaction
        .freeze_table(id, None, BuildOptions::default(), &Cancel::new())
        .unwrap();
    insert(
        &mut transaction,
        id,
        &batch(&schema, &random.rows(&schema, 4_000)),
    );
    transaction.commit().unwrap();
    let table = store.snapshot().table(id).unwrap().clone();
    let all = scan(&table, &[], ScanOptions::default());
    for (column, definition) in schema.columns.iter().enumerate() {
        let native = definition.ty.native();
        let hash = |value: &Value| hash_of(value, native);
        // About half of the values.
        let wanted = |value: &Value| hash(value).is_some_and(|hash| hash % 2 == 0);
        let mut filter = HashFilter::new(13_000);
        all.iter()
            .filter_map(|row| hash(&row.1[column]))
            .filter(|hash| hash % 2 == 0)
            .for_each(|hash| {
                filter.insert(hash);
            });
        let probe = EarlyProbe {
            column: schema.columns.len() - 1 - column,
            filter: BuildKeys::Hashed(Arc::new(filter)),
        };
        let columns = (0..schema.columns.len()).rev().collect();
        let probed = TableScan::new(table.clone(), columns, vec![], ScanOptions::default())
            .unwrap()
            .with_early_probes(vec![probe]);
        let found = run(probed);
        let expected: Vec<_> = all.iter().filter(|row| wanted(&row.1[column])).collect();
        let ids: std::collections::HashSet<_> = found.iter().map(|row| row.0).collect();
        assert!(expected.iter().all(|row| ids.contains(&row.0)), "column {column}");
        assert!(
            found.iter().all(|row| row.1[column] != Value::Null),
            "column {column}"
        );
        let others = found.len() - expected.len();
        assert!(others * 10 <= all.len(), "column {column}: {others} others");
    }
}
