//! Functions that run as vector kernels, in every place an expression can stand.

mod support;

use frazil_plan::operators::{Aggregate, Filter, Map};
use frazil_plan::vector_function::{CallContext, VectorFunction, VectorFunctionRef};
use frazil_plan::{AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Expr, ExprKind, Operator};
use frazil_types::{ColumnVector, CompareOp, Error, LogicalType, Result, Span, SqlState, Value};
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

    fn can_fail(&self) -> bool {
        true
    }

    fn is_volatile(&self) -> bool {
        false
    }

    fn evaluate(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        _: &CallContext<'_>,
    ) -> Result<ColumnVector> {
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
    let filtered = Operator::Filter(Filter {
        input: Box::new(values),
        predicate: compare(CompareOp::Gt, inner.clone(), int(500, BIG)),
    });
    let x = m.add(LogicalType::Text, true);
    let root = Operator::Map(Map {
        input: Box::new(filtered),
        expressions: vec![(x, add(inner, int(7, BIG), true))],
    });
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
        second: None,
        distinct: false,
        order: Vec::new(),
        filter: None,
        ty: BIG,
    };
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(values),
        groups: vec![(group, add(a.clone(), a, true))],
        aggregates: vec![(count, call)],
    });
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

/// Gives its argument back; fails for those above a limit, panics above twice that.
struct Below(i128);

impl VectorFunction for Below {
    fn name(&self) -> &str {
        "below"
    }

    fn can_fail(&self) -> bool {
        true
    }

    fn is_volatile(&self) -> bool {
        false
    }

    fn evaluate(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        context: &CallContext<'_>,
    ) -> Result<ColumnVector> {
        context.check()?;
        assert!(rows > 0);
        let values: Vec<Value> = (0..rows).map(|r| arguments[0].value(r)).collect();
        for value in values.iter().filter_map(Value::as_int) {
            assert!(value <= 2 * self.0, "{value} is far too much");
            if value > self.0 {
                return Err(Error::new(SqlState::INVALID_PARAMETER, "too much"));
            }
        }
        Ok(ColumnVector::from_values(result, &values))
    }
}

fn below(limit: i128, e: Expr) -> Expr {
    let f = VectorFunctionRef(Arc::new(Below(limit)));
    let ty = e.ty;
    Expr::new(ExprKind::VectorFunction(f, vec![e]), ty, true)
}

fn case(branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    let ty = otherwise.ty;
    let otherwise = Some(Box::new(otherwise));
    Expr::new(ExprKind::Case { branches, otherwise }, ty, true)
}

/// Rows with b = 0 to 2499; a is NULL where b % 10 = 3. `make` gets a and b.
fn mapped(make: impl FnOnce(Expr, Expr) -> Expr) -> Result<Vec<(Value, i128)>> {
    let mut m = Maker::default();
    let (values, c, _) = input(&mut m);
    let e = make(m.column(c[0]), m.column(c[1]));
    let x = m.add(e.ty, true);
    let root = Operator::Map(Map {
        input: Box::new(values),
        expressions: vec![(x, e)],
    });
    let rows = m.run(root, &[x, c[1]])?;
    let pair = |row: Vec<Value>| (row[0].clone(), row[1].as_int().unwrap());
    Ok(rows.into_iter().map(pair).collect())
}

#[test]
fn case_guards_its_branches() {
    // Nested calls, a call in a condition, arguments that fail themselves outside the guard.
    let rows = mapped(|_, b| {
        let rest = compare(CompareOp::Gt, below(3000, b.clone()), int(1000, BIG));
        let quotient = Expr::new(
            ExprKind::Arithmetic(
                ArithmeticOp::Div,
                Box::new(int(1000, BIG)),
                Box::new(Expr::new(
                    ExprKind::Arithmetic(ArithmeticOp::Sub, Box::new(b.clone()), Box::new(int(1500, BIG))),
                    BIG,
                    false,
                )),
            ),
            BIG,
            false,
        );
        let low = compare(CompareOp::Le, b.clone(), int(100, BIG));
        let zero = compare(CompareOp::Eq, b.clone(), int(1500, BIG));
        case(
            vec![
                (low, below(100, below(100, b.clone()))),
                (zero, int(-1, BIG)),
                (rest, below(1000, quotient)),
            ],
            below(1000, b),
        )
    });
    for (x, b) in rows.unwrap() {
        let want = match b {
            1500 => -1,
            1001.. => 1000 / (b - 1500),
            b => b,
        };
        assert_eq!(x, Value::Int(want), "{b}");
    }
}

#[test]
fn and_or_and_filter_guard_what_stands_behind_them() {
    let small = |b: &Expr| compare(CompareOp::Le, b.clone(), int(100, BIG));
    let call = |b: &Expr| compare(CompareOp::Ge, below(100, b.clone()), int(50, BIG));
    let rows = mapped(|_, b| Expr::boolean(ExprKind::And(vec![small(&b), call(&b)]), true)).unwrap();
    assert!(
        rows.iter()
            .all(|(x, b)| *x == Value::Bool((50..=100).contains(b)))
    );
    let large = |b: &Expr| compare(CompareOp::Gt, b.clone(), int(100, BIG));
    let rows = mapped(|_, b| Expr::boolean(ExprKind::Or(vec![large(&b), call(&b)]), true)).unwrap();
    assert!(rows.iter().all(|(x, b)| *x == Value::Bool(*b >= 50)));
    // NULL decides neither: the call is evaluated, and fails.
    let unknown = |a: &Expr| compare(CompareOp::Lt, a.clone(), int(-1, BIG));
    let failed = mapped(|a, b| Expr::boolean(ExprKind::And(vec![unknown(&a), call(&b)]), true));
    assert_eq!(failed.unwrap_err().state(), SqlState::INVALID_PARAMETER);
    let mut m = Maker::default();
    let (values, c, _) = input(&mut m);
    let b = m.column(c[1]);
    let root = Operator::Filter(Filter {
        input: Box::new(values),
        predicate: Expr::boolean(ExprKind::And(vec![small(&b), call(&b)]), true),
    });
    assert_eq!(m.run(root, &[c[1]]).unwrap().len(), 51);
}

#[test]
fn let_is_computed_where_it_is_reached() {
    let mut m = Maker::default();
    let (values, c, _) = input(&mut m);
    let (a, b) = (m.column(c[0]), m.column(c[1]));
    let (x, own) = (m.add(BIG, true), m.add(BIG, true));
    let value = below(100, b.clone());
    let body = add(m.column(own), m.column(own), false);
    let shared = Expr::new(
        ExprKind::Let {
            column: own,
            value: Box::new(value),
            body: Box::new(body),
        },
        BIG,
        true,
    );
    let root = Operator::Map(Map {
        input: Box::new(values),
        expressions: vec![(
            x,
            case(vec![(compare(CompareOp::Le, b, int(100, BIG)), shared)], a),
        )],
    });
    let rows = m.run(root, &[x, c[1]]).unwrap();
    for row in rows.iter().filter(|r| r[1].as_int() <= Some(100)) {
        assert_eq!(row[0].as_int(), row[1].as_int().map(|b| 2 * b));
    }
}

#[test]
fn a_filter_guards_the_argument_of_its_aggregate() {
    let mut m = Maker::default();
    let (values, c, _) = input(&mut m);
    let b = m.column(c[1]);
    let count = m.add(BIG, false);
    let call = AggregateCall {
        function: AggregateFunction::Count,
        argument: Some(below(100, b.clone())),
        second: None,
        distinct: false,
        order: Vec::new(),
        filter: Some(compare(CompareOp::Le, b, int(100, BIG))),
        ty: BIG,
    };
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(values),
        groups: vec![],
        aggregates: vec![(count, call)],
    });
    assert_eq!(m.run(root, &[count]).unwrap(), [[Value::Int(101)]]);
}

#[test]
fn errors_and_panics_are_errors_of_the_statement() {
    let failed = mapped(|_, b| below(2000, b)).unwrap_err();
    assert_eq!(failed.state(), SqlState::INVALID_PARAMETER);
    let panicked = mapped(|_, b| below(-1, b)).unwrap_err();
    assert_eq!(panicked.state(), SqlState::INTERNAL_ERROR);
    assert!(
        panicked.message().contains("the function below panicked"),
        "{panicked}"
    );
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
    let filtered = Operator::Filter(Filter {
        input: Box::new(values),
        predicate: compare(CompareOp::Gt, twice(&mut m), int(1000, BIG)),
    });
    let x = m.add(BIG, true);
    let root = Operator::Map(Map {
        input: Box::new(filtered),
        expressions: vec![(x, twice(&mut m))],
    });
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
