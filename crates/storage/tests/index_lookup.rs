//! A scan whose rows an index names returns what a scan of all rows returns, and looks at few.

mod support;

use frazil_block::BuildOptions;
use frazil_catalog::{IndexKey, NewIndex};
use frazil_storage::{ScanOptions, Store, TableScan, TableSnapshot};
use frazil_types::{Cancel, CompareOp, ObjectId, Restriction, RestrictionKind, RowId, Schema, Value};
use std::sync::Arc;
use support::*;

fn options(use_indexes: bool) -> ScanOptions {
    ScanOptions {
        use_indexes,
        ..ScanOptions::default()
    }
}

/// Indexes over a number, a date and a text, ascending and descending, alone and with another column.
fn create_indexes(store: &Arc<Store>, columns: usize) {
    let mut transaction = begin(store);
    for column in [0, 3, 7] {
        let descending = column % 2 == 1;
        let key = IndexKey {
            column,
            descending,
            nulls_first: descending,
        };
        for keys in [vec![key], vec![key, IndexKey::ascending((column + 2) % columns)]] {
            let new = NewIndex {
                name: None,
                if_not_exists: false,
                table: ObjectId(1),
                keys,
                include: Vec::new(),
                unique: false,
                nulls_distinct: true,
                hidden: Vec::new(),
                condition: None,
            };
            transaction.create_index(new, &Cancel::new()).unwrap();
        }
    }
    transaction.commit().unwrap();
}

/// 70,000 rows whose first column is their number, the first half frozen if asked for.
fn table(schema: &Arc<Schema>, frozen: bool) -> (Arc<Store>, ObjectId) {
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut random = Random::new(7);
    let mut rows = random.rows(schema, 70_000);
    for (number, row) in rows.iter_mut().enumerate() {
        row[0] = Value::Int(number as i128);
        if number % 7 != 0 {
            // Most values are rare, so that an index is worth it.
            row[3] = Value::Int(number as i128 / 3);
            row[7] = Value::Text(format!("text {number}"));
        }
    }
    let mut transaction = begin(&store);
    insert(&mut transaction, id, &batch(schema, &rows));
    if frozen {
        transaction
            .freeze_table(id, None, BuildOptions::default(), &Cancel::new())
            .unwrap();
    }
    transaction.commit().unwrap();
    create_indexes(&store, schema.columns.len());
    let gone: Vec<RowId> = (0..70_000).step_by(11).map(RowId).collect();
    let mut transaction = begin(&store);
    delete(&mut transaction, id, &gone);
    transaction.commit().unwrap();
    (store, id)
}

fn uses_index(version: &Arc<TableSnapshot>, restrictions: &[Restriction]) -> bool {
    let scan = TableScan::new(version.clone(), vec![0], restrictions.to_vec(), options(true)).unwrap();
    scan.index().is_some()
}

#[test]
fn with_an_index_a_scan_returns_what_it_returns_without() {
    let schema = schema();
    for frozen in [false, true] {
        let (store, id) = table(&schema, frozen);
        let version = store.snapshot().table(id).unwrap().clone();
        let mut random = Random::new(3);
        let mut used = 0;
        for round in 0..150 {
            let mut restrictions: Vec<Restriction> =
                (0..1 + round % 2).map(|_| random.restriction(&schema)).collect();
            let number = random.below(70_000) as i128;
            let kind = match round % 5 {
                0 => RestrictionKind::Compare(CompareOp::Eq, Value::Int(number)),
                1 => RestrictionKind::Between(Value::Int(number), Value::Int(number + 40)),
                2 => RestrictionKind::In((0..8).map(|i| Value::Int(number + i * 700)).collect()),
                3 => RestrictionKind::Compare(CompareOp::Gt, Value::Int(69_980)),
                _ => RestrictionKind::Compare(CompareOp::Eq, Value::Int(i128::from(i64::MAX) + 1)),
            };
            restrictions.push(Restriction {
                column: [0, 3, 0][round % 3],
                kind,
            });
            if random.below(3) == 0 {
                restrictions.swap_remove(0);
            }
            used += usize::from(uses_index(&version, &restrictions));
            let with = scan(&version, &restrictions, options(true));
            let without = scan(&version, &restrictions, options(false));
            assert!(with.len() == without.len(), "{restrictions:?}");
            assert!(
                with.iter().zip(&without).all(|(a, b)| a.0 == b.0),
                "{restrictions:?}"
            );
        }
        assert!(used > 60, "{used} of 150 scans used an index");
    }
}

#[test]
fn a_row_that_is_found_by_its_key_is_all_that_is_looked_at() {
    let schema = schema();
    for frozen in [false, true] {
        let (store, id) = table(&schema, frozen);
        let version = store.snapshot().table(id).unwrap().clone();
        let key = |n: i128| Restriction {
            column: 0,
            kind: RestrictionKind::Compare(CompareOp::Eq, Value::Int(n)),
        };
        for (number, found) in [(69_999, 1), (66_000, 0), (70_000, 0)] {
            let scan =
                Arc::new(TableScan::new(version.clone(), vec![0], vec![key(number)], options(true)).unwrap());
            let mut cursor = scan.cursor();
            let mut rows = 0;
            for morsel in 0..scan.morsels() {
                cursor.open(morsel).unwrap();
                while let Some(count) = cursor.next().unwrap() {
                    rows += count;
                }
            }
            drop(cursor);
            assert_eq!(rows, found, "key {number}");
            assert!(scan.counters().rows_scanned <= 64);
        }
        // Half of the table is read by a scan.
        let wide = Restriction {
            column: 0,
            kind: RestrictionKind::Compare(CompareOp::Lt, Value::Int(35_000)),
        };
        assert!(!uses_index(&version, &[wide]));
    }
}
