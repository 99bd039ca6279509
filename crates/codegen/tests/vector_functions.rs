//! Functions that run as vector kernels, in every place an expression can stand.

mod support;

use frazil_plan::vector_function::{VectorFunction, VectorFunctionRef};
use frazil_plan::{AggregateCall, AggregateFunction, ColumnId, Expr, ExprKind, Operator};
use frazil_types::{ColumnVector, CompareOp, LogicalType, Result, Span, Value};
use std::sync::Arc;
use support::{Maker, compare, int};

/// Adds its two integers, and says how as a long text.
struct Add {
    text: bool,
}

impl VectorFunction for Add {
    fn name(&self) -> &str {
        "add"
    }

    fn evaluate(&self, arguments: &[ColumnVector], rows: usize, result: LogicalType) -> Result<ColumnVector> {
        let values: Vec<Value> = (0..rows)
            .map(|r| match (arguments[0].value(r), arguments[1].value(r)) {
                (Value::Int(a), Value::Int(b)) if self.text => Value::Text(sum_text(a, b)),
                (Value::Int(a), Value::Int(b)) => Value::Int(a + b),
                _ => Value::Null,
            })
            .collect();
        Ok(ColumnVector::from_values(result, &values))
    }
}

fn sum_text(a: i128, b: i128) -> String {
    format!("the sum of {a} and {b} is {}", a + b)
}

const BIG: LogicalType = LogicalType::BigInt;

fn add(a: Expr, b: Expr, text: bool) -> Expr {
    let f = VectorFunctionRef(Arc::new(Add { text }));
    Expr {
        kind: ExprKind::VectorFunction(f, vec![a, b]),
        ty: if text { LogicalType::Text } else { BIG },
        nullable: true,
        span: Span::NONE,
    }
}

type Pairs = Vec<(Option<i128>, i128)>;

fn input(m: &mut Maker) -> (Operator, Vec<ColumnId>, Pairs) {
    let data: Pairs = (0..2500).map(|i| ((i % 10 != 3).then_some(i % 97), i)).collect();
    let rows: Vec<Vec<Value>> = data
        .iter()
        .map(|(a, b)| vec![a.map_or(Value::Null, Value::Int), Value::Int(*b)])
        .collect();
    let (values, c) = m.values(&[BIG, BIG], &rows);
    (values, c, data)
}

#[test]
fn in_filters_and_maps_nested() {
    let mut m = Maker::default();
    let (values, c, data) = input(&mut m);
    let (a, b) = (m.column(c[0]), m.column(c[1]));
    let inner = add(a.clone(), b.clone(), false);
    let filtered = Operator::Filter {
        input: Box::new(values),
        predicate: compare(CompareOp::Gt, inner.clone(), int(500, BIG)),
    };
    let x = m.add(LogicalType::Text, true);
    let root = Operator::Map {
        input: Box::new(filtered),
        expressions: vec![(x, add(inner, int(7, BIG), true))],
    };
    let want: Vec<Vec<Value>> = data
        .iter()
        .filter_map(|(a, b)| a.map(|a| (a, *b)))
        .filter(|(a, b)| a + b > 500)
        .map(|(a, b)| vec![Value::Text(sum_text(a + b, 7)), Value::Int(b)])
        .collect();
    assert_eq!(m.run(root, &[x, c[1]]).unwrap(), want);
}

#[test]
fn in_groups_and_aggregates() {
    let mut m = Maker::default();
    let (values, c, data) = input(&mut m);
    let (a, b) = (m.column(c[0]), m.column(c[1]));
    let (group, count) = (m.add(LogicalType::Text, true), m.add(BIG, false));
    let call = AggregateCall {
        function: AggregateFunction::Count,
        argument: Some(add(a.clone(), b, false)),
        distinct: false,
        filter: None,
        ty: BIG,
    };
    let root = Operator::Aggregate {
        input: Box::new(values),
        groups: vec![(group, add(a.clone(), a, true))],
        aggregates: vec![(count, call)],
    };
    let got = m.run(root, &[group, count]).unwrap();
    assert_eq!(got.len(), 98);
    for row in got {
        let rows = data.iter().filter(|(a, _)| match (&row[0], a) {
            (Value::Null, None) => true,
            (Value::Text(t), Some(a)) => *t == sum_text(*a, *a),
            _ => false,
        });
        let rows = rows.count() as i128;
        assert_eq!(row[1], Value::Int(if row[0].is_null() { 0 } else { rows }));
    }
}

/// Let s = add(a, b) in add(s, s), in a filter and in a map: the column is read by a call of its body.
#[test]
fn in_the_value_and_the_body_of_a_let() {
    let mut m = Maker::default();
    let (values, c, data) = input(&mut m);
    let (a, b) = (m.column(c[0]), m.column(c[1]));
    let twice = |m: &mut Maker| {
        let column = m.add(BIG, true);
        let read = || Expr::new(ExprKind::Column(column), BIG, true);
        let let_it_be = ExprKind::Let {
            column,
            value: Box::new(add(a.clone(), b.clone(), false)),
            body: Box::new(add(read(), read(), false)),
        };
        Expr::new(let_it_be, BIG, true)
    };
    let filtered = Operator::Filter {
        input: Box::new(values),
        predicate: compare(CompareOp::Gt, twice(&mut m), int(1000, BIG)),
    };
    let x = m.add(BIG, true);
    let root = Operator::Map {
        input: Box::new(filtered),
        expressions: vec![(x, twice(&mut m))],
    };
    let want: Vec<Vec<Value>> = data
        .iter()
        .filter_map(|(a, b)| a.map(|a| 2 * (a + b)))
        .filter(|doubled| *doubled > 1000)
        .map(|doubled| vec![Value::Int(doubled)])
        .collect();
    assert_eq!(
        support::sorted(&m.run(root, &[x]).unwrap()),
        support::sorted(&want)
    );
}
