//! Rows by value, restrictions evaluated the slow way, and a scan's answer in the same terms.
#![allow(dead_code)]

use frazil_catalog::TableOptions;
use frazil_storage::{
    Conflict, FetchedColumn, NewRows, ScanOptions, Store, TableScan, TableSnapshot, Transaction,
};
use frazil_types::{
    Cancel, ColumnDef, ColumnVector, Disjunction, LogicalType, NativeType, ObjectId, Restriction,
    RestrictionKind, RowBatch, RowId, Schema, StringRef, Value,
};
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// One column of each native type, nullable, and a NOT NULL number.
pub fn schema() -> Arc<Schema> {
    let types = [
        LogicalType::BigInt,
        LogicalType::Boolean,
        LogicalType::SmallInt,
        LogicalType::Date,
        LogicalType::Decimal {
            precision: 15,
            scale: 2,
        },
        LogicalType::Decimal {
            precision: 30,
            scale: 2,
        },
        LogicalType::Double,
        LogicalType::Text,
        LogicalType::Char(1),
    ];
    let mut columns: Vec<ColumnDef> = (types.iter().enumerate())
        .map(|(i, &ty)| ColumnDef::new(format!("c{i}"), ty))
        .collect();
    columns[0].nullable = false;
    Arc::new(Schema::new(columns))
}

pub use frazil_testkit::Random;

/// Random rows and restrictions of a schema.
pub trait RandomRows {
    /// A value of a column, NULL at times where the column allows it.
    fn value(&mut self, column: &ColumnDef) -> Value;
    /// `count` rows.
    fn rows(&mut self, schema: &Schema, count: usize) -> Vec<Vec<Value>>;
    /// A restriction of one of the columns.
    fn restriction(&mut self, schema: &Schema) -> Restriction;
}

impl RandomRows for Random {
    fn value(&mut self, column: &ColumnDef) -> Value {
        if column.nullable && self.below(9) == 0 {
            return Value::Null;
        }
        let n = self.below(50) as i128 - 10;
        match column.ty {
            LogicalType::Boolean => Value::Bool(self.below(2) == 1),
            LogicalType::Char(1) => Value::Int(i128::from(b'A') + n.abs() % 5),
            LogicalType::SmallInt if self.below(30) == 0 => Value::Int(i16::MIN.into()),
            LogicalType::Decimal { precision: 30, .. } => Value::Int(n * (1 << 70)),
            LogicalType::Double => Value::Double(match self.below(20) {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                3 => -0.0,
                _ => n as f64 / 4.0,
            }),
            LogicalType::Text => Value::Text(match self.below(3) {
                0 => format!("s{}", n.abs() % 7),
                1 => format!("a longer string, number {n}, of more than twelve bytes"),
                _ => "x".repeat(n.unsigned_abs() as usize % 20),
            }),
            _ => Value::Int(n),
        }
    }

    fn rows(&mut self, schema: &Schema, count: usize) -> Vec<Vec<Value>> {
        (0..count)
            .map(|_| schema.columns.iter().map(|c| self.value(c)).collect())
            .collect()
    }

    fn restriction(&mut self, schema: &Schema) -> Restriction {
        use frazil_types::CompareOp::*;
        let column = self.below(schema.columns.len() as u64) as usize;
        let def = &schema.columns[column];
        let kind = match self.below(if def.ty.native() == NativeType::String {
            13
        } else {
            10
        }) {
            0 => RestrictionKind::IsNull,
            1 => RestrictionKind::IsNotNull,
            2 => RestrictionKind::Between(self.value(def), self.value(def)),
            3 => {
                // Long ones are searched, short ones compared.
                let values = [self.below(4), 20, 600][[0, 0, 0, 0, 0, 0, 1, 2][self.below(8) as usize]];
                RestrictionKind::In((0..values).map(|_| self.value(def)).collect())
            }
            10 => RestrictionKind::Prefix("s".into()),
            11 => RestrictionKind::Like {
                pattern: "%number 1%twelve_bytes".into(),
                negated: self.below(2) == 0,
            },
            12 => RestrictionKind::Like {
                pattern: "s_".into(),
                negated: self.below(2) == 0,
            },
            n => RestrictionKind::Compare([Eq, Ne, Lt, Le, Gt, Ge][n as usize - 4], self.value(def)),
        };
        Restriction { column, kind }
    }
}

/// Order of two values of one type, as PostgreSQL orders them.
pub fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (a, b) => a.as_int().cmp(&b.as_int()),
    }
}

fn like(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|i| like(rest, &text[i..])),
        Some((p, rest)) => text.first().is_some_and(|t| *p == '_' || p == t) && like(rest, &text[1..]),
    }
}

/// Whether a value satisfies a restriction.
pub fn satisfies(value: &Value, kind: &RestrictionKind) -> bool {
    if value.is_null() {
        return matches!(kind, RestrictionKind::IsNull);
    }
    match kind {
        RestrictionKind::IsNull => false,
        RestrictionKind::IsNotNull => true,
        RestrictionKind::Compare(op, x) => !x.is_null() && op.holds(order(value, x)),
        RestrictionKind::Between(a, b) => {
            !a.is_null() && !b.is_null() && order(value, a).is_ge() && order(value, b).is_le()
        }
        RestrictionKind::In(list) => list.iter().any(|x| !x.is_null() && order(value, x).is_eq()),
        RestrictionKind::Prefix(p) => value.as_text().unwrap().starts_with(p.as_str()),
        RestrictionKind::Like { pattern, negated } => {
            let pattern: Vec<char> = pattern.chars().collect();
            let text: Vec<char> = value.as_text().unwrap().chars().collect();
            like(&pattern, &text) != *negated
        }
    }
}

/// Rows as a batch of the schema's columns.
pub fn batch(schema: &Schema, rows: &[Vec<Value>]) -> RowBatch {
    let column = |i: usize| {
        let values: Vec<Value> = rows.iter().map(|r| r[i].clone()).collect();
        ColumnVector::from_values(schema.columns[i].ty, &values)
    };
    RowBatch {
        columns: (0..schema.columns.len()).map(column).collect(),
        rows: rows.len(),
    }
}

/// One value of a fetched column.
pub fn value(ty: LogicalType, column: &FetchedColumn, row: usize) -> Value {
    let row = if column.constant { 0 } else { row };
    // SAFETY: for all reads: the scan returned a vector with more rows than `row`, and it is still current.
    unsafe {
        if column.validity.is_some_and(|v| v.add(row).read() == 0) {
            return Value::Null;
        }
        let at = column.values.add(row * ty.native().size());
        match ty.native() {
            NativeType::Bool => Value::Bool(at.read() == 1),
            NativeType::I16 => Value::Int(at.cast::<i16>().read().into()),
            NativeType::I32 => Value::Int(at.cast::<i32>().read().into()),
            NativeType::I64 => Value::Int(at.cast::<i64>().read().into()),
            NativeType::I128 => Value::Int(at.cast::<i128>().read()),
            NativeType::F64 => Value::Double(at.cast::<f64>().read()),
            NativeType::String => {
                let string = at.cast::<StringRef>().read();
                Value::Text(String::from_utf8(string.bytes().to_vec()).unwrap())
            }
        }
    }
}

/// All rows a scan returns, with their ids.
pub fn scan(
    snapshot: &Arc<TableSnapshot>,
    restrictions: &[Restriction],
    options: ScanOptions,
) -> Vec<(RowId, Vec<Value>)> {
    let schema = snapshot.schema().clone();
    let columns: Vec<usize> = (0..schema.columns.len()).rev().collect();
    let scan = TableScan::new(snapshot.clone(), columns, restrictions.to_vec(), options).unwrap();
    run(scan)
}

/// What a scan of all columns, the last one first, returns.
pub fn run(scan: TableScan) -> Vec<(RowId, Vec<Value>)> {
    let schema = scan.snapshot().schema().clone();
    let stage_rows = scan.options().stage_rows;
    let scan = Arc::new(scan);
    let mut cursor = scan.cursor();
    let mut out = Vec::new();
    for morsel in 0..scan.morsels() {
        cursor.open(morsel).unwrap();
        while let Some(n) = cursor.next().unwrap() {
            assert!(n as usize <= stage_rows.max(64));
            let ids: Vec<RowId> = cursor.row_ids().iter().map(|&i| RowId::from_tid(i)).collect();
            assert_eq!(ids.len(), n as usize);
            let mut rows: Vec<Vec<Value>> = vec![vec![Value::Null; schema.columns.len()]; n as usize];
            for index in 0..schema.columns.len() {
                let column = schema.columns.len() - 1 - index;
                let fetched = cursor.fetch(index).unwrap();
                for (i, row) in rows.iter_mut().enumerate() {
                    row[column] = value(schema.columns[column].ty, &fetched, i);
                }
            }
            out.extend(ids.into_iter().zip(rows));
        }
    }
    assert_eq!(scan.counters().rows_returned as usize, out.len());
    out
}

/// Rows equal by value; NaN equals NaN and −0 is not 0.
pub fn same(a: &[Vec<Value>], b: &[Vec<Value>]) -> bool {
    let equal = |a: &Value, b: &Value| match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    };
    a.len() == b.len()
        && a.iter()
            .flatten()
            .zip(b.iter().flatten())
            .all(|(a, b)| equal(a, b))
}

/// Begins a transaction that need not wait.
pub fn begin(store: &Arc<Store>) -> Transaction {
    store.begin(Duration::ZERO, &Cancel::new()).unwrap()
}

/// Appends rows to a table without CHECK constraints; returns their ids.
pub fn insert(transaction: &mut Transaction, table: ObjectId, rows: &RowBatch) -> Vec<RowId> {
    let written = (transaction.writer(table).unwrap())
        .insert(&NewRows::of(rows), Conflict::Fail)
        .unwrap();
    assert_eq!(written.count as usize, rows.rows);
    written.rows.into_iter().map(Option::unwrap).collect()
}

/// Deletes rows; returns how many were there.
pub fn delete(transaction: &mut Transaction, table: ObjectId, ids: &[RowId]) -> u64 {
    transaction.writer(table).unwrap().delete(ids).unwrap().count
}

/// A store with one table `t`.
pub fn store_with(schema: Arc<Schema>, pax_rows: u32) -> (Arc<Store>, ObjectId) {
    let store = Store::new();
    let mut transaction = begin(&store);
    let options = TableOptions {
        pax_rows,
        ..TableOptions::default()
    };
    let entry = transaction.create_table("t", schema, options).unwrap();
    transaction.commit().unwrap();
    (store, entry.id)
}

/// Scans and compares with those of `expected` that satisfy the restrictions, in order.
pub fn check(
    snapshot: &Arc<TableSnapshot>,
    expected: &[Vec<Value>],
    restrictions: &[Restriction],
    options: ScanOptions,
) {
    let got: Vec<Vec<Value>> = (scan(snapshot, restrictions, options).into_iter())
        .map(|(_, row)| row)
        .collect();
    let want: Vec<Vec<Value>> = (expected.iter())
        .filter(|row| restrictions.iter().all(|x| satisfies(&row[x.column], &x.kind)))
        .cloned()
        .collect();
    assert_eq!(got.len(), want.len(), "{restrictions:?}");
    assert!(same(&got, &want), "{restrictions:?}");
}

/// The same with a disjunction.
pub fn check_disjunction(
    snapshot: &Arc<TableSnapshot>,
    expected: &[Vec<Value>],
    restrictions: &[Restriction],
    disjunction: &Disjunction,
    options: ScanOptions,
) {
    let columns: Vec<usize> = (0..snapshot.schema().columns.len()).rev().collect();
    let scan = TableScan::new(snapshot.clone(), columns, restrictions.to_vec(), options)
        .and_then(|scan| scan.with_disjunctions(vec![disjunction.clone()]))
        .unwrap();
    let got: Vec<Vec<Value>> = run(scan).into_iter().map(|(_, row)| row).collect();
    let all = |row: &[Value], list: &[Restriction]| list.iter().all(|x| satisfies(&row[x.column], &x.kind));
    let any = |row: &[Value]| disjunction.alternatives.iter().any(|a| all(row, a));
    let want: Vec<Vec<Value>> = (expected.iter())
        .filter(|row| all(row, restrictions) && any(row))
        .cloned()
        .collect();
    assert_eq!(got.len(), want.len(), "{restrictions:?} and {disjunction:?}");
    assert!(same(&got, &want), "{restrictions:?} and {disjunction:?}");
}

/// Checks many random scans.
pub fn check_at_random(
    random: &mut Random,
    snapshot: &Arc<TableSnapshot>,
    expected: &[Vec<Value>],
    rounds: u64,
) {
    let schema = snapshot.schema().clone();
    assert_eq!(snapshot.rows() as usize, expected.len());
    for round in 0..rounds {
        let restrictions: Vec<_> = (0..round % 4).map(|_| random.restriction(&schema)).collect();
        for isa in frazil_kernels::Isa::available() {
            let options = ScanOptions {
                isa,
                window_rows: [64, 1024, 4096, 65_536][random.below(4) as usize],
                stage_rows: [64, 1024, 65_536][random.below(3) as usize],
                lend_columns: round % 2 == 0,
                use_sma: random.below(2) == 0,
                use_psma: random.below(2) == 0,
                push_restrictions: true,
                early_probes: true,
                use_indexes: true,
                count_access: round % 2 == 1,
                codes_travel: round % 2 == 0,
            };
            check(snapshot, expected, &restrictions, options);
            let alternatives = (0..1 + random.below(3))
                .map(|_| {
                    (0..1 + random.below(2))
                        .map(|_| random.restriction(&schema))
                        .collect()
                })
                .collect();
            let few = &restrictions[..restrictions.len().min(1)];
            check_disjunction(snapshot, expected, few, &Disjunction { alternatives }, options);
        }
    }
}
