//! Early probing: of the rows a scan returns, those whose key is among the build keys, whatever the state
//! of their chunks; and a probe that drops little is given up.

mod support;

use frazil_block::BuildOptions;
use frazil_kernels::{Isa, KeyFilter};
use frazil_storage::{EarlyProbe, ScanOptions, TableScan};
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
            let mut expected = scan(&table, &restrictions, options.clone());
            expected.retain(|r| contains(&r.1[column]));
            let columns: Vec<usize> = (0..schema.columns.len()).rev().collect();
            let probe = EarlyProbe {
                column: columns.len() - 1 - column,
                filter,
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
            filter: keys(step).0,
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
        let filter = keys(3).0;
        let scan = TableScan::new(table.clone(), columns, vec![], ScanOptions::default())
            .unwrap()
            .with_early_probes(vec![EarlyProbe { column, filter }]);
        assert_eq!(run(scan).len(), rows.len());
    }
}
