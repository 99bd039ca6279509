//! Rows of functions: each row several times, over stage vectors, joins and strings; series side by side.

mod support;

use frazil_plan::operators::{Aggregate, Expand, Join, Map};
use frazil_plan::{
    AggregateCall, AggregateFunction, ColumnId, Expansion, Expr, ExprKind, JoinKind, Operator, RowsCall,
    RowsFunction, ScalarFunction,
};
use frazil_types::{LogicalType, Value};
use support::Maker;

const INT: LogicalType = LogicalType::Integer;
const BIG: LogicalType = LogicalType::BigInt;
const TEXT: LogicalType = LogicalType::Text;

fn repeated(m: &mut Maker, input: Operator, count: ColumnId) -> Operator {
    let call = RowsCall::up_to(m.column(count));
    let calls = vec![(m.add(BIG, false), call)];
    expanded(input, calls, None)
}

fn expanded(input: Operator, calls: Vec<(ColumnId, RowsCall)>, ordinality: Option<ColumnId>) -> Operator {
    Operator::Expand(Expand {
        input: Box::new(input),
        expansion: Expansion { calls, ordinality },
    })
}

fn constant(n: i128) -> Expr {
    Expr::constant(Value::Int(n), BIG)
}

fn series(m: &Maker, arguments: [ColumnId; 3], ty: LogicalType) -> RowsCall {
    RowsCall {
        function: RowsFunction::Series,
        arguments: arguments.iter().map(|id| m.column(*id)).collect(),
        ty,
    }
}

fn call(function: AggregateFunction, argument: Option<Expr>) -> AggregateCall {
    AggregateCall {
        function,
        argument,
        second: None,
        distinct: false,
        order: Vec::new(),
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
    let root = repeated(&mut m, input, c[1]);
    let found = m.run(root, &c[..1]).unwrap();
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
        probe: Box::new(repeated(&mut m, input, c[1])),
        keys: vec![(m.column(b[0]), m.column(c[0]))],
        residual: None,
        null_aware: false,
        in_order: false,
        first: None,
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

#[test]
fn series_of_a_row_stand_side_by_side() {
    let mut m = Maker::default();
    let int = |n: i128| Value::Int(n);
    let rows = [
        [1, 5, 2, 10],
        [5, 3, -1, 12],
        [1, 0, 1, 7],
        [i128::from(i64::MAX) - 1, i128::from(i64::MAX), 1, 10],
    ];
    let (input, c) = m.values(&[BIG; 4], &rows.map(|row| row.map(int).to_vec()));
    let (a, b, number) = (m.add(BIG, true), m.add(BIG, true), m.add(BIG, false));
    let calls = vec![
        (a, series(&m, [c[0], c[1], c[2]], BIG)),
        (
            b,
            RowsCall {
                arguments: vec![constant(10), m.column(c[3]), constant(1)],
                ..series(&m, [c[0]; 3], BIG)
            },
        ),
    ];
    let root = expanded(input, calls, Some(number));
    let found = m.run(root, &[c[0], a, b, number]).unwrap();
    let (max, null) = (i128::from(i64::MAX), Value::Null);
    let expected = vec![
        vec![int(1), int(1), int(10), int(1)],
        vec![int(1), int(3), null.clone(), int(2)],
        vec![int(1), int(5), null.clone(), int(3)],
        vec![int(5), int(5), int(10), int(1)],
        vec![int(5), int(4), int(11), int(2)],
        vec![int(5), int(3), int(12), int(3)],
        vec![int(max - 1), int(max - 1), int(10), int(1)],
        vec![int(max - 1), int(max), null, int(2)],
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_step_of_zero_fails_where_it_is_not_null() {
    let mut m = Maker::default();
    for (step, fails) in [(Value::Int(0), true), (Value::Null, false)] {
        let (input, c) = m.values(&[BIG; 3], &[vec![Value::Int(1), Value::Int(2), step]]);
        let made = m.add(BIG, false);
        let call = series(&m, [c[0], c[1], c[2]], BIG);
        let found = m.run(expanded(input, vec![(made, call)], None), &[made]);
        match fails {
            true => assert_eq!(found.unwrap_err().state().0, "22023"),
            false => assert!(found.unwrap().is_empty()),
        }
    }
}
