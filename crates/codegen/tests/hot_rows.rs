//! Hot chunks in memPAX(k) read by generated code: gathered, with k known when the code is made, and with k known at
//! run time, against the rows that were written.

mod support;

use frazil_catalog::TableOptions;
use frazil_codegen::PaxCode;
use frazil_plan::operators::{Filter, Map, Scan};
use frazil_plan::pipeline::StagePolicy;
use frazil_plan::pipeline_builder::build;
use frazil_plan::{ColumnId, Expr, ExprKind, Operator};
use frazil_storage::{Conflict, NewRows, ScanOptions, Store, TableSnapshot, Transaction};
use frazil_types::{
    CHUNK_ROWS, Cancel, ColumnDef, ColumnVector, CompareOp, LogicalType, ObjectId, RowBatch, RowId, Schema,
    Span, Value,
};
use std::sync::Arc;
use std::time::Duration;
use support::{Ground, Maker, compare, int, run_over};

const WIDE: LogicalType = LogicalType::Decimal {
    precision: 30,
    scale: 2,
};
const TYPES: [(LogicalType, bool); 7] = [
    (LogicalType::Integer, false),
    (LogicalType::Boolean, true),
    (LogicalType::SmallInt, true),
    (LogicalType::Text, true),
    (WIDE, true),
    (LogicalType::Double, false),
    (LogicalType::BigInt, true),
];
const KS: [u32; 9] = [1, 2, 3, 7, 8, 512, 1000, 4096, 65_536];
const CODES: [PaxCode; 3] = [PaxCode::Gathered, PaxCode::CompileTime, PaxCode::RunTime];

fn row(i: i128) -> Vec<Value> {
    let or_null = |every: i128, value: Value| if i % every == 1 { Value::Null } else { value };
    let text = match i % 3 {
        0 => format!("s{}", i % 50),
        _ => format!("longer than twelve bytes {}", i % 50),
    };
    vec![
        Value::Int(i * 31 % 1009),
        or_null(5, Value::Bool(i % 2 == 0)),
        or_null(6, Value::Int(i % 300 - 150)),
        or_null(7, Value::Text(text)),
        or_null(8, Value::Int((i - 100) << 65)),
        Value::Double(i as f64 / 3.0),
        or_null(9, Value::Int(i << 33)),
    ]
}

fn batch(rows: std::ops::Range<i128>) -> RowBatch {
    let count = (rows.end - rows.start) as usize;
    let rows: Vec<Vec<Value>> = rows.map(row).collect();
    let column = |c: usize| rows.iter().map(|r| r[c].clone()).collect::<Vec<_>>();
    RowBatch {
        columns: (TYPES.iter().enumerate())
            .map(|(c, ty)| ColumnVector::from_values(ty.0, &column(c)))
            .collect(),
        rows: count,
    }
}

fn insert(transaction: &mut Transaction, table: ObjectId, rows: &RowBatch) {
    let mut writer = transaction.writer(table).unwrap();
    writer.insert(&NewRows::of(rows), Conflict::Fail).unwrap();
}

/// A table of `rows` rows with chunks of memPAX(k), the second one of memPAX(then).
fn table(rows: usize, k: u32, then: u32) -> (Transaction, ObjectId) {
    let columns = (TYPES.iter().enumerate()).map(|(c, (ty, nullable))| {
        let column = ColumnDef::new(format!("c{c}"), *ty);
        if *nullable { column } else { column.not_null() }
    });
    let schema = Arc::new(Schema::new(columns.collect()));
    let store = Store::new();
    let mut transaction = store.begin(Duration::ZERO, &Cancel::new()).unwrap();
    let options = |pax_rows| TableOptions {
        pax_rows,
        ..TableOptions::default()
    };
    let entry = transaction.create_table("t", schema, options(k)).unwrap();
    let first = rows.min(CHUNK_ROWS);
    insert(&mut transaction, entry.id, &batch(0..first as i128));
    if rows > first {
        transaction.set_options(entry.id, options(then)).unwrap();
        let rest = batch(first as i128..rows as i128);
        insert(&mut transaction, entry.id, &rest);
    }
    (transaction, entry.id)
}

fn snapshot(transaction: &Transaction, id: ObjectId) -> Arc<TableSnapshot> {
    transaction.snapshot().table(id).unwrap().clone()
}

/// c0 < 700, then c2 + 1, then c6 tested: columns are read in every stage.
fn plan(m: &mut Maker) -> (Operator, Vec<ColumnId>) {
    let ids: Vec<ColumnId> = TYPES.iter().map(|(ty, nullable)| m.add(*ty, *nullable)).collect();
    let row_id = m.add(LogicalType::Tid, false);
    let scan = Operator::Scan(Scan {
        table: frazil_types::ObjectId(0),
        name: "t".to_owned(),
        columns: ids.iter().copied().zip(0..).collect(),
        row_id: Some(row_id),
        restrictions: vec![],
        disjunctions: vec![],
        places: vec![],
    });
    let few = Operator::Filter(Filter {
        input: Box::new(scan),
        predicate: compare(CompareOp::Lt, m.column(ids[0]), int(700, LogicalType::Integer)),
    });
    let next = m.add(LogicalType::SmallInt, true);
    let sum = ExprKind::Arithmetic(
        frazil_plan::ArithmeticOp::Add,
        Box::new(m.column(ids[2])),
        Box::new(int(1, LogicalType::SmallInt)),
    );
    let mapped = Operator::Map(Map {
        input: Box::new(few),
        expressions: vec![(
            next,
            Expr {
                kind: sum,
                ty: LogicalType::SmallInt,
                nullable: true,
                span: Span::NONE,
            },
        )],
    });
    let fewer = Operator::Filter(Filter {
        input: Box::new(mapped),
        predicate: compare(CompareOp::Ge, m.column(ids[6]), int(9 << 33, LogicalType::BigInt)),
    });
    let output = ids.iter().copied().chain([next, row_id]).collect();
    (fewer, output)
}

fn expected(rows: usize, gone: &dyn Fn(usize) -> bool) -> Vec<Vec<Value>> {
    let mut out = Vec::new();
    for i in (0..rows).filter(|i| !gone(*i)) {
        let mut row = row(i as i128);
        let less = row[0].as_int().is_some_and(|v| v < 700);
        if less && row[6].as_int().is_some_and(|v| v >= 9 << 33) {
            row.push(row[2].as_int().map_or(Value::Null, |v| Value::Int(v + 1)));
            row.push(Value::Int(RowId(i as u64).to_tid().into()));
            out.push(row);
        }
    }
    out
}

#[test]
fn every_k_and_way_to_read_it_gives_the_rows_written() {
    for k in KS {
        let (mut transaction, id) = table(2500, k, k);
        let mut m = Maker::default();
        let (root, output) = plan(&mut m);
        let pipelines = build(m.plan(root, &output), &support::Few);
        for deletes in [false, true] {
            if deletes {
                let gone: Vec<RowId> = (1300..2500).step_by(7).map(RowId).collect();
                transaction.writer(id).unwrap().delete(&gone).unwrap();
            }
            let gone = |i: usize| deletes && i >= 1300 && (i - 1300).is_multiple_of(7);
            let wanted = expected(2500, &gone);
            for pax_code in CODES {
                for (policy, scan, unoptimized) in [
                    (StagePolicy::Fused, ScanOptions::compiled(), true),
                    (StagePolicy::Fused, ScanOptions::default(), false),
                    (StagePolicy::Staged, ScanOptions::default(), true),
                ] {
                    let ground = Ground {
                        table: Some(snapshot(&transaction, id)),
                        scan,
                        pax_code,
                        unoptimized,
                        ..Ground::default()
                    };
                    let found = run_over(&pipelines, policy, 1, &ground).unwrap();
                    assert!(
                        found == wanted,
                        "k {k}, {pax_code:?}, {policy:?}, deletes {deletes}"
                    );
                }
            }
        }
    }
}

/// Code that was made for one k meets chunks of another.
#[test]
fn chunks_of_another_k_are_read_by_code_for_any() {
    let rows = CHUNK_ROWS + 1500;
    for (k, then) in [(512, 3), (1, 512), (65_536, 1)] {
        let (transaction, id) = table(rows, k, then);
        let mut m = Maker::default();
        let (root, output) = plan(&mut m);
        let pipelines = build(m.plan(root, &output), &support::Few);
        let wanted = expected(rows, &|_| false);
        for pax_code in CODES {
            let ground = Ground {
                table: Some(snapshot(&transaction, id)),
                pax_code,
                ..Ground::default()
            };
            let found = run_over(&pipelines, StagePolicy::Fused, 2, &ground).unwrap();
            assert!(
                support::sorted(&found) == support::sorted(&wanted),
                "k {k} and {then}, {pax_code:?}"
            );
        }
    }
}
