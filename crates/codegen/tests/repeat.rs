//! Rows given several times, over stage vectors, joins and strings.

mod support;

use frazil_plan::operators::{Aggregate, Join, Map, Repeat};
use frazil_plan::{AggregateCall, AggregateFunction, Expr, ExprKind, JoinKind, Operator, ScalarFunction};
use frazil_types::{LogicalType, Value};
use support::Maker;

const INT: LogicalType = LogicalType::Integer;
const BIG: LogicalType = LogicalType::BigInt;
const TEXT: LogicalType = LogicalType::Text;

fn repeated(input: Operator, count: frazil_plan::ColumnId) -> Operator {
    Operator::Repeat(Repeat {
        input: Box::new(input),
        count,
    })
}

fn call(function: AggregateFunction, argument: Option<Expr>) -> AggregateCall {
    AggregateCall {
        function,
        argument,
        second: None,
        distinct: false,
        filter: None,
        ty: BIG,
    }
}

#[test]
fn null_zero_and_less_give_no_row() {
    let mut m = Maker::default();
    let rows = [
        (1, Some(2)),
        (2, None),
        (3, Some(0)),
        (4, Some(-3)),
        (5, Some(1)),
        (6, Some(i64::MIN)),
    ]
    .map(|(v, n)| vec![Value::Int(v), n.map_or(Value::Null, |n| Value::Int(n.into()))]);
    let (input, c) = m.values(&[INT, BIG], &rows);
    let found = m.run(repeated(input, c[1]), &c[..1]).unwrap();
    let found: Vec<_> = found.iter().filter_map(|r| r[0].as_int()).collect();
    assert_eq!(found, [1, 1, 5]);
}

#[test]
fn many_repetitions_pass_vectors_strings_and_joins() {
    const TIMES: i128 = 70_000;
    let mut m = Maker::default();
    let word = |n: i128| Value::Text(format!("a word long enough for the heap {n}"));
    let rows: Vec<Vec<Value>> = (0..3)
        .map(|n| vec![Value::Int(n), Value::Int(TIMES + n), word(n)])
        .collect();
    let (input, c) = m.values(&[INT, BIG, TEXT], &rows);
    let (build, b) = m.values(
        &[INT],
        &[vec![Value::Int(0)], vec![Value::Int(2)], vec![Value::Int(2)]],
    );
    let joined = Operator::Join(Join {
        kind: JoinKind::Inner,
        build: Box::new(build),
        probe: Box::new(repeated(input, c[1])),
        keys: vec![(m.column(b[0]), m.column(c[0]))],
        residual: None,
        null_aware: false,
    });
    let twice = m.add(TEXT, false);
    let kind = ExprKind::Function(ScalarFunction::Concat, vec![m.column(c[2]), m.column(c[2])]);
    let mapped = Operator::Map(Map {
        input: Box::new(joined),
        expressions: vec![(twice, Expr::new(kind, TEXT, false))],
    });
    let (group, rows, sum) = (m.add(TEXT, false), m.add(BIG, false), m.add(BIG, true));
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(mapped),
        groups: vec![(group, m.column(twice))],
        aggregates: vec![
            (rows, call(AggregateFunction::CountRows, None)),
            (sum, call(AggregateFunction::Sum, Some(m.column(c[0])))),
        ],
    });
    let mut found = m.run(root, &[group, rows, sum]).unwrap();
    found.sort_by_key(|r| r[1].as_int());
    let text = |n: i128| match word(n) {
        Value::Text(t) => Value::Text(format!("{t}{t}")),
        other => other,
    };
    let expected = [(0, TIMES, 0), (2, 2 * (TIMES + 2), 4 * (TIMES + 2))];
    let expected = expected.map(|(n, rows, sum)| vec![text(n), Value::Int(rows), Value::Int(sum)]);
    assert_eq!(found, expected);
}
