//! What unnested subqueries run on: first rows of groups, single values, values bound by Let, and limits known when the
//! pipeline opens.

mod support;

use frazil_plan::operators::{Limit, Map, Sort, TopPerGroup};
use frazil_plan::{Expr, ExprKind, Operator, RowCount, ScalarFunction, SortKey, SubqueryId};
use frazil_types::{LogicalType, SqlState, Value};
use support::{Maker, int, sorted};

const INT: LogicalType = LogicalType::Integer;
const BIG: LogicalType = LogicalType::BigInt;

fn key(column: frazil_plan::ColumnId, descending: bool) -> SortKey {
    SortKey {
        column,
        descending,
        nulls_first: false,
    }
}

#[test]
fn first_rows_of_each_group_nulls_among_them() {
    let mut m = Maker::default();
    let group = |i: i128| {
        if i % 7 == 3 {
            Value::Null
        } else {
            Value::Int(i % 7)
        }
    };
    let rows: Vec<Vec<Value>> = (0..2000)
        .map(|i| vec![group(i), Value::Int((i * 37) % 2003)])
        .collect();
    let (input, c) = m.values(&[INT, INT], &rows);
    for (limit, offset) in [(Some(2), 0), (Some(3), 1), (None, 280), (Some(0), 0)] {
        let root = Operator::TopPerGroup(TopPerGroup {
            input: Box::new(input.clone()),
            groups: vec![c[0]],
            keys: vec![key(c[1], true)],
            limit: limit.map(RowCount::Constant),
            offset: RowCount::Constant(offset),
        });
        let mut want = Vec::new();
        for g in 0..7 {
            let mut of_group: Vec<_> = rows.iter().filter(|r| r[0] == group(g)).cloned().collect();
            of_group.sort_by_key(|r| r[1].as_int().map(|v| -v));
            let kept = limit.map_or(usize::MAX, |n| n as usize);
            want.extend(of_group.into_iter().skip(offset as usize).take(kept));
        }
        assert_eq!(
            sorted(&m.run(root, &c).unwrap()),
            sorted(&want),
            "{limit:?} {offset}"
        );
    }
}

#[test]
fn a_single_value_fails_where_there_are_more() {
    let mut m = Maker::default();
    let rows = |n: i128| {
        vec![
            vec![Value::Int(5), Value::Int(n)],
            vec![Value::Null, Value::Int(0)],
        ]
    };
    for (n, fails) in [(1, false), (2, true)] {
        let (input, c) = m.values(&[INT, BIG], &rows(n));
        let kind = ExprKind::Function(ScalarFunction::Single, vec![m.column(c[0]), m.column(c[1])]);
        let made = m.add(INT, true);
        let root = Operator::Map(Map {
            input: Box::new(input),
            expressions: vec![(made, Expr::new(kind, INT, true))],
        });
        match m.run(root, &[made]) {
            Ok(rows) => assert_eq!(
                (rows, fails),
                (vec![vec![Value::Int(5)], vec![Value::Null]], false)
            ),
            Err(e) => assert_eq!((e.state(), fails), (SqlState::CARDINALITY_VIOLATION, true)),
        }
    }
}

#[test]
fn a_let_computes_its_value_once_for_its_body() {
    let mut m = Maker::default();
    let (input, c) = m.values(&[INT], &[vec![Value::Int(5)], vec![Value::Null]]);
    let (bound, made) = (m.add(INT, true), m.add(INT, true));
    let is_null = Expr::boolean(ExprKind::IsNull(Box::new(m.column(bound))), false);
    let body = Expr::new(
        ExprKind::Case {
            branches: vec![(is_null, int(-1, INT))],
            otherwise: Some(Box::new(m.column(bound))),
        },
        INT,
        true,
    );
    let negated = Expr::new(ExprKind::Negate(Box::new(m.column(c[0]))), INT, true);
    let kind = ExprKind::Let {
        column: bound,
        value: Box::new(negated),
        body: Box::new(body),
    };
    let root = Operator::Map(Map {
        input: Box::new(input),
        expressions: vec![(made, Expr::new(kind, INT, true))],
    });
    let rows = m.run(root, &[made]).unwrap();
    assert_eq!(rows, [vec![Value::Int(-5)], vec![Value::Int(-1)]]);
}

#[test]
fn limits_are_looked_up_when_the_pipeline_opens() {
    let limited = |limit: Option<i128>, offset: Option<i128>, sorted: bool| {
        let mut m = Maker::default();
        let count = |m: &mut Maker, n: Option<i128>| {
            let value = n.map_or(Value::Null, Value::Int);
            let (tree, ids) = m.values(&[BIG], &[vec![value]]);
            m.subqueries.push((tree, ids[0]));
            let kind = ExprKind::ScalarSubquery(SubqueryId(m.subqueries.len() - 1));
            RowCount::Value(Box::new(Expr::new(kind, BIG, true)))
        };
        let (limit, offset) = (Some(count(&mut m, limit)), count(&mut m, offset));
        let rows: Vec<Vec<Value>> = (0..9).map(|i| vec![Value::Int(i)]).collect();
        let (input, c) = m.values(&[INT], &rows);
        let input = Box::new(input);
        let root = match sorted {
            true => Operator::Sort(Sort {
                input,
                keys: vec![key(c[0], false)],
                limit,
                offset,
            }),
            false => Operator::Limit(Limit { input, limit, offset }),
        };
        m.run(root, &c)
            .map(|rows| rows.iter().filter_map(|r| r[0].as_int()).collect::<Vec<_>>())
            .map_err(|e| e.state().0)
    };
    for sorted in [false, true] {
        assert_eq!(limited(Some(2), Some(3), sorted), Ok(vec![3, 4]));
        assert_eq!(limited(None, Some(7), sorted), Ok(vec![7, 8]));
        assert_eq!(limited(Some(1), None, sorted), Ok(vec![0]));
        assert_eq!(limited(Some(-1), None, sorted), Err("2201W"));
        assert_eq!(limited(None, Some(-1), sorted), Err("2201X"));
    }
}
