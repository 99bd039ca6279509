//! Filters, arithmetic and aggregation, against sums done by hand.

mod support;

use frazil_plan::operators::{Aggregate, Filter, Map};
use frazil_plan::{AggregateCall, AggregateFunction, ArithmeticOp, Bounds, Expr, ExprKind, Operator};
use frazil_types::numeric::Numeric;
use frazil_types::{CompareOp, LogicalType, Span, Value};
use std::collections::BTreeMap;
use support::{Maker, compare, int};

const MONEY: LogicalType = LogicalType::Decimal {
    precision: 15,
    scale: 2,
};
const WIDE: LogicalType = LogicalType::Decimal {
    precision: 38,
    scale: 2,
};

fn call(function: AggregateFunction, argument: Option<Expr>, ty: LogicalType) -> AggregateCall {
    AggregateCall {
        function,
        argument,
        second: None,
        distinct: false,
        order: Vec::new(),
        filter: None,
        ty,
    }
}

fn rows(n: i128) -> Vec<Vec<Value>> {
    (0..n)
        .map(|i| {
            let text = ["red", "green", "a colour with a long name", "blue"][(i % 4) as usize];
            vec![
                Value::Int(i % 7),
                if i % 11 == 0 {
                    Value::Null
                } else {
                    Value::Int(i * 3)
                },
                if i % 5 == 0 {
                    Value::Null
                } else {
                    Value::Text(text.into())
                },
                Value::Double(i as f64 / 2.0),
            ]
        })
        .collect()
}

const TYPES: [LogicalType; 4] = [
    LogicalType::Integer,
    MONEY,
    LogicalType::Text,
    LogicalType::Double,
];

#[test]
fn filter_and_global_sum_as_in_query_6() {
    let mut m = Maker::default();
    let data = rows(3000);
    let (input, c) = m.values(&TYPES, &data);
    m.columns[c[0]].bounds = Some(Bounds { min: 0, max: 6 });
    let predicate = Expr::conjunction(vec![
        compare(CompareOp::Ge, m.column(c[0]), int(2, LogicalType::Integer)),
        compare(CompareOp::Lt, m.column(c[1]), int(6000, MONEY)),
    ]);
    let filtered = Operator::Filter(Filter {
        input: Box::new(input),
        predicate: predicate.unwrap(),
    });
    let (sum, count, avg, max) = (
        m.add(WIDE, true),
        m.add(LogicalType::BigInt, false),
        m.add(LogicalType::Numeric, true),
        m.add(LogicalType::Text, true),
    );
    let root = Operator::Aggregate(Aggregate {
        aggregates: vec![
            (sum, call(AggregateFunction::Sum, Some(m.column(c[1])), WIDE)),
            (
                count,
                call(AggregateFunction::CountRows, None, LogicalType::BigInt),
            ),
            (
                avg,
                call(AggregateFunction::Avg, Some(m.column(c[1])), LogicalType::Numeric),
            ),
            (
                max,
                call(AggregateFunction::Max, Some(m.column(c[2])), LogicalType::Text),
            ),
        ],
        input: Box::new(filtered),
        groups: vec![],
    });
    let kept: Vec<_> = data
        .iter()
        .filter(|r| r[0].as_int() >= Some(2) && r[1].as_int().is_some_and(|v| v < 6000))
        .collect();
    let total: i128 = kept.iter().map(|r| r[1].as_int().unwrap()).sum();
    let average = Numeric::new(total, 2).unwrap();
    let average = average
        .divided(Numeric::new(kept.len() as i128, 0).unwrap())
        .unwrap();
    let expected = vec![vec![
        Value::Int(total),
        Value::Int(kept.len() as i128),
        average.into(),
        Value::Text("red".into()),
    ]];
    assert_eq!(m.run(root, &[sum, count, avg, max]).unwrap(), expected);
}

#[test]
fn nothing_in_gives_one_row() {
    let mut m = Maker::default();
    let (input, c) = m.values(&TYPES, &[]);
    let (sum, count) = (m.add(WIDE, true), m.add(LogicalType::BigInt, false));
    let root = Operator::Aggregate(Aggregate {
        aggregates: vec![
            (sum, call(AggregateFunction::Sum, Some(m.column(c[1])), WIDE)),
            (
                count,
                call(
                    AggregateFunction::Count,
                    Some(m.column(c[1])),
                    LogicalType::BigInt,
                ),
            ),
        ],
        input: Box::new(input),
        groups: vec![],
    });
    assert_eq!(
        m.run(root, &[sum, count]).unwrap(),
        [[Value::Null, Value::Int(0)]]
    );
}

fn grouped(bounded: bool) {
    let mut m = Maker::default();
    let data = rows(5000);
    let (input, c) = m.values(&TYPES, &data);
    if bounded {
        m.columns[c[0]].bounds = Some(Bounds { min: 0, max: 6 });
    }
    let keys: Vec<_> = if bounded { vec![c[0]] } else { vec![c[0], c[2]] };
    let groups: Vec<_> = keys
        .iter()
        .map(|&k| {
            let e = m.column(k);
            let id = m.add(e.ty, e.nullable);
            m.columns[id].bounds = m.columns[k].bounds;
            (id, e)
        })
        .collect();
    let (sum, n, least, avg) = (
        m.add(WIDE, true),
        m.add(LogicalType::BigInt, false),
        m.add(LogicalType::Double, true),
        m.add(LogicalType::Double, true),
    );
    let root = Operator::Aggregate(Aggregate {
        aggregates: vec![
            (sum, call(AggregateFunction::Sum, Some(m.column(c[1])), WIDE)),
            (
                n,
                call(
                    AggregateFunction::Count,
                    Some(m.column(c[1])),
                    LogicalType::BigInt,
                ),
            ),
            (
                least,
                call(AggregateFunction::Min, Some(m.column(c[3])), LogicalType::Double),
            ),
            (
                avg,
                call(AggregateFunction::Avg, Some(m.column(c[3])), LogicalType::Double),
            ),
        ],
        input: Box::new(input),
        groups: groups.clone(),
    });
    /// Key, sum and count of the integers, smallest and sum of the doubles, rows.
    type Expected = (Vec<Value>, i128, i128, f64, f64, f64);
    let mut expected: BTreeMap<String, Expected> = BTreeMap::new();
    for r in &data {
        let key: Vec<Value> = if bounded {
            vec![r[0].clone()]
        } else {
            vec![r[0].clone(), r[2].clone()]
        };
        let Value::Double(d) = r[3] else { unreachable!() };
        let e = expected
            .entry(format!("{key:?}"))
            .or_insert((key, 0, 0, d, 0.0, 0.0));
        if let Some(v) = r[1].as_int() {
            e.1 += v;
            e.2 += 1;
        }
        e.3 = e.3.min(d);
        e.4 += d;
        e.5 += 1.0;
    }
    let expected: Vec<Vec<Value>> = expected
        .into_values()
        .map(|(mut key, sum, n, least, total, rows)| {
            key.extend([
                Value::Int(sum),
                Value::Int(n),
                Value::Double(least),
                Value::Double(total / rows),
            ]);
            key
        })
        .collect();
    let output: Vec<_> = groups.iter().map(|g| g.0).chain([sum, n, least, avg]).collect();
    let got = m.run(root, &output).unwrap();
    assert_eq!(support::sorted(&got), support::sorted(&expected));
}

#[test]
fn groups_by_array() {
    grouped(true);
}

#[test]
fn a_group_outside_the_bounds_is_damage() {
    let mut m = Maker::default();
    let (input, c) = m.values(
        &[LogicalType::Integer],
        &[vec![Value::Int(3)], vec![Value::Int(7)]],
    );
    m.columns[c[0]].bounds = Some(Bounds { min: 0, max: 6 });
    let group = m.add(LogicalType::Integer, false);
    m.columns[group].bounds = m.columns[c[0]].bounds;
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(input),
        groups: vec![(group, m.column(c[0]))],
        aggregates: vec![],
    });
    assert_eq!(m.run(root, &[group]).unwrap_err().state().0, "XX001");
}

#[test]
fn groups_by_hash_with_null_and_long_keys() {
    grouped(false);
}

#[test]
fn overflow_and_division_are_errors() {
    let mut m = Maker::default();
    let (input, c) = m.values(
        &[LogicalType::Integer],
        &[vec![Value::Int(2_000_000_000)], vec![Value::Int(0)]],
    );
    let x = m.add(LogicalType::Integer, false);
    for (op, r, state) in [
        (
            ArithmeticOp::Add,
            int(2_000_000_000, LogicalType::Integer),
            "22003",
        ),
        (ArithmeticOp::Div, m.column(c[0]), "22012"),
    ] {
        let e = Expr {
            kind: ExprKind::Arithmetic(op, Box::new(m.column(c[0])), Box::new(r)),
            ty: LogicalType::Integer,
            nullable: false,
            span: Span::NONE,
        };
        let root = Operator::Map(Map {
            input: Box::new(input.clone()),
            expressions: vec![(x, e)],
        });
        assert_eq!(m.run(root, &[x]).unwrap_err().state().0, state);
    }
}

#[test]
fn clif_is_stable() {
    let mut m = Maker::default();
    let (input, c) = m.values(&[LogicalType::Integer], &[vec![Value::Int(1)]]);
    let predicate = compare(CompareOp::Lt, m.column(c[0]), int(24, LogicalType::Integer));
    let root = Operator::Filter(Filter {
        input: Box::new(input),
        predicate,
    });
    let plan = frazil_plan::pipeline_builder::build(m.plan(root, &c), &support::Few);
    let options = frazil_codegen::CompileOptions {
        optimize: false,
        verify: true,
        text: true,
        ..Default::default()
    };
    let first = frazil_codegen::compile(&plan, &options, &|_| None).unwrap();
    let second = frazil_codegen::compile(&plan, &options, &|_| None).unwrap();
    assert_eq!(first.clif(), second.clif());
    assert!(first.clif().contains("frazil_buffer_append"), "{}", first.clif());
}

#[test]
fn keys_that_come_in_runs() {
    let mut m = Maker::default();
    let key = |i: i128| (i / 4 % 300) * 1_000_000_007;
    let data: Vec<Vec<Value>> = (0..3000)
        .map(|i| vec![Value::Int(key(i)), Value::Int(i)])
        .collect();
    let (input, c) = m.values(&[LogicalType::BigInt, LogicalType::BigInt], &data);
    let (group, sum) = (m.add(LogicalType::BigInt, false), m.add(WIDE, true));
    let root = Operator::Aggregate(Aggregate {
        groups: vec![(group, m.column(c[0]))],
        aggregates: vec![(sum, call(AggregateFunction::Sum, Some(m.column(c[1])), WIDE))],
        input: Box::new(input),
    });
    let mut expected: BTreeMap<i128, i128> = BTreeMap::new();
    (0..3000).for_each(|i| *expected.entry(key(i)).or_default() += i);
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(k, s)| vec![Value::Int(k), Value::Int(s)])
        .collect();
    let got = m.run(root, &[group, sum]).unwrap();
    assert_eq!(support::sorted(&got), support::sorted(&expected));
}
