//! Joins whose build rows are in order, against nested loops over the same rows: every kind, every native type,
//! NULLs, equal keys, empty sides, one end or two, included or not, with a further condition and without.

mod support;

use frazil_plan::operators::{Join, TopPerGroup};
use frazil_plan::{ColumnId, Expr, FirstMatches, JoinKind, Operator, RowCount, SortKey};
use frazil_testkit::Random;
use frazil_types::{CompareOp, LogicalType, Value};
use support::{Maker, compare};

/// Types of keys: each native type, decimals in both of their forms.
fn key_types() -> Vec<LogicalType> {
    vec![
        LogicalType::Boolean,
        LogicalType::SmallInt,
        LogicalType::Integer,
        LogicalType::BigInt,
        LogicalType::Decimal {
            precision: 10,
            scale: 2,
        },
        LogicalType::Decimal {
            precision: 30,
            scale: 4,
        },
        LogicalType::Double,
        LogicalType::Text,
        LogicalType::Date,
        LogicalType::TIMESTAMP,
    ]
}

/// A key. Few are different, some lie at the ends of their type, and a tenth are NULL.
fn key(ty: LogicalType, random: &mut Random) -> Value {
    let n = random.below(24) as i128 - 9;
    let extreme = random.below(12) == 0;
    if random.below(10) == 0 {
        return Value::Null;
    }
    match ty {
        LogicalType::Boolean => Value::Bool(n > 0),
        LogicalType::Double if extreme => {
            Value::Double([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0][random.index(4)])
        }
        LogicalType::Double => Value::Double(n as f64 / 4.0),
        LogicalType::Text if extreme => Value::Text(["", "\u{ff}", "key\0"][random.index(3)].to_owned()),
        LogicalType::Text => Value::Text(format!(
            "{}{n}",
            ["key ", "a key of more than twelve bytes "][random.index(2)]
        )),
        LogicalType::SmallInt if extreme => Value::Int(i16::MIN.into()),
        LogicalType::Integer if extreme => Value::Int(i32::MAX.into()),
        LogicalType::BigInt if extreme => Value::Int([i64::MIN, i64::MAX][random.index(2)].into()),
        _ => Value::Int(n),
    }
}

/// Conditions on pairs: bounds of the build side's key by the two keys of the probe side, and perhaps a further one.
struct Conditions {
    low: Option<CompareOp>,
    high: Option<CompareOp>,
    has_rest: bool,
}

impl Conditions {
    fn new(random: &mut Random) -> Conditions {
        let shape = random.index(3);
        let low = [CompareOp::Ge, CompareOp::Gt][random.index(2)];
        let high = [CompareOp::Le, CompareOp::Lt][random.index(2)];
        Conditions {
            low: (shape != 0).then_some(low),
            high: (shape != 1).then_some(high),
            has_rest: random.below(2) == 0,
        }
    }

    fn expressions(&self, m: &Maker, b: &[ColumnId], p: &[ColumnId], random: &mut Random) -> Vec<Expr> {
        let mut all = vec![];
        for (op, value) in [(self.low, p[0]), (self.high, p[1])] {
            let Some(op) = op else { continue };
            let (key, value) = (m.column(b[0]), m.column(value));
            all.push(match random.below(2) {
                0 => compare(op, key, value),
                _ => compare(op.flip(), value, key),
            });
        }
        if self.has_rest {
            all.push(compare(CompareOp::Ne, m.column(b[1]), m.column(p[2])));
        }
        all
    }
}

/// Rows of `keys` keys of a type, and a number of few values.
fn rows(count: usize, keys: usize, ty: LogicalType, random: &mut Random) -> Vec<Vec<Value>> {
    let row = |random: &mut Random| {
        let mut row: Vec<Value> = (0..keys).map(|_| key(ty, random)).collect();
        row.push(Value::Int(random.below(5).into()));
        row
    };
    (0..count).map(|_| row(random)).collect()
}

/// Runs a join twice, with build rows in order and as they come, and compares the rows.
fn check(mark: bool, kind: JoinKind, ty: LogicalType, counts: [usize; 2], random: &mut Random) {
    let mut m = Maker::default();
    let kind = match mark {
        true => JoinKind::ProbeMark(m.add(LogicalType::Boolean, false)),
        false => kind,
    };
    let build_rows = rows(counts[0], 1, ty, random);
    let probe_rows = rows(counts[1], 2, ty, random);
    let (build, b) = m.values(&[ty, LogicalType::Integer], &build_rows);
    let (probe, p) = m.values(&[ty, ty, LogicalType::Integer], &probe_rows);
    let mut conditions = Conditions::new(random);
    let keys = match random.below(2) {
        0 => vec![],
        _ => {
            conditions.has_rest = false;
            vec![(m.column(b[1]), m.column(p[2]))]
        }
    };
    let conditions = conditions.expressions(&m, &b, &p, random);
    let join = |in_order| {
        Operator::Join(Join {
            kind,
            build: Box::new(build.clone()),
            probe: Box::new(probe.clone()),
            keys: keys.clone(),
            residual: Expr::conjunction(conditions.clone()),
            null_aware: false,
            in_order,
            first: None,
        })
    };
    let output = join(false).visible();
    let got = m.run(join(true), &output).expect("it runs");
    let want = m.run(join(false), &output).expect("it runs");
    assert_eq!(
        support::sorted(&got),
        support::sorted(&want),
        "{kind:?} of {build_rows:?} and {probe_rows:?} if {conditions:?}"
    );
}

const KINDS: [JoinKind; 8] = [
    JoinKind::Inner,
    JoinKind::ProbeOuter,
    JoinKind::BuildOuter,
    JoinKind::FullOuter,
    JoinKind::ProbeSemi,
    JoinKind::ProbeAnti,
    JoinKind::BuildSemi,
    JoinKind::BuildAnti,
];

#[test]
fn every_kind_and_type_agrees_with_nested_loops() {
    let mut random = Random::new(52);
    for ty in key_types() {
        for kind in KINDS {
            let counts = [20 + random.index(60), 20 + random.index(60)];
            check(false, kind, ty, counts, &mut random);
        }
        check(true, JoinKind::Inner, ty, [30, 40], &mut random);
    }
}

#[test]
fn empty_sides_and_single_rows_agree() {
    let mut random = Random::new(53);
    for counts in [[0, 5], [5, 0], [0, 0], [1, 1], [1, 30], [30, 1]] {
        for kind in KINDS {
            check(false, kind, LogicalType::Integer, counts, &mut random);
        }
        check(true, JoinKind::Inner, LogicalType::Text, counts, &mut random);
    }
}

/// Runs a join that gives the first matches of each probe row, and one that gives all matches, of which the first are
/// taken.
fn check_first(ty: LogicalType, counts: [usize; 2], random: &mut Random) {
    let mut m = Maker::default();
    let numbered = |rows: Vec<Vec<Value>>| -> Vec<Vec<Value>> {
        let number = |(i, mut row): (usize, Vec<Value>)| {
            row.push(Value::Int(i as i128));
            row
        };
        rows.into_iter().enumerate().map(number).collect()
    };
    let build_rows = numbered(rows(counts[0], 1, ty, random));
    let probe_rows = numbered(rows(counts[1], 2, ty, random));
    let int = LogicalType::Integer;
    let (build, b) = m.values(&[ty, int, int], &build_rows);
    let (probe, p) = m.values(&[ty, ty, int, int], &probe_rows);
    let mut conditions = Conditions::new(random);
    let keys = match random.below(2) {
        0 => vec![],
        _ => vec![(m.column(b[1]), m.column(p[2]))],
    };
    conditions.has_rest &= keys.is_empty();
    let conditions = conditions.expressions(&m, &b, &p, random);
    let sort_key = |column, random: &mut Random| SortKey {
        column,
        descending: random.below(2) == 0,
        nulls_first: random.below(2) == 0,
    };
    let order: Vec<SortKey> = b.iter().map(|id| sort_key(*id, random)).collect();
    let limit = (random.below(4) > 0).then(|| 1 + random.below(3));
    let offset = random.below(3);
    let join = |first: Option<FirstMatches>| {
        Operator::Join(Join {
            kind: JoinKind::Inner,
            build: Box::new(build.clone()),
            probe: Box::new(probe.clone()),
            keys: keys.clone(),
            residual: Expr::conjunction(conditions.clone()),
            null_aware: false,
            in_order: first.is_some(),
            first,
        })
    };
    let all = Operator::TopPerGroup(TopPerGroup {
        input: Box::new(join(None)),
        groups: vec![p[3]],
        keys: order.clone(),
        limit: limit.map(RowCount::Constant),
        offset: RowCount::Constant(offset),
    });
    let first = join(Some(FirstMatches {
        by: Some(b[0]),
        descending: order[0].descending,
        then: order[1..].to_vec(),
        limit,
        offset,
    }));
    let output = first.visible();
    let got = m.run(first, &output).expect("it runs");
    let want = m.run(all, &output).expect("it runs");
    assert_eq!(
        support::sorted(&got),
        support::sorted(&want),
        "{order:?} limit {limit:?} offset {offset} of {build_rows:?} and {probe_rows:?} if {conditions:?}"
    );
}

#[test]
fn first_matches_are_those_of_all() {
    let mut random = Random::new(54);
    for ty in key_types() {
        for _ in 0..3 {
            let counts = [20 + random.index(60), 10 + random.index(30)];
            check_first(ty, counts, &mut random);
        }
    }
    for counts in [[0, 5], [5, 0], [1, 1], [1, 30], [30, 1]] {
        check_first(LogicalType::Integer, counts, &mut random);
    }
}

#[test]
fn a_join_in_order_without_a_band_is_refused() {
    let mut m = Maker::default();
    let rows = [vec![Value::Int(1)]];
    let (build, b) = m.values(&[LogicalType::Integer], &rows);
    let (probe, p) = m.values(&[LogicalType::Integer], &rows);
    let equal = compare(CompareOp::Eq, m.column(b[0]), m.column(p[0]));
    let join = Operator::Join(Join {
        kind: JoinKind::Inner,
        build: Box::new(build),
        probe: Box::new(probe),
        keys: vec![],
        residual: Some(equal),
        null_aware: false,
        in_order: true,
        first: None,
    });
    let plan = m.plan(join, &b);
    let error = frazil_plan::verify::plan(&plan).expect_err("it has no band");
    assert!(error.message().contains("no band"), "{error}");
}
