//! Every join kind against nested loops: duplicate keys, NULL keys, long strings, residuals, no keys.

mod support;

use frazil_plan::operators::Join;
use frazil_plan::{ColumnId, Expr, JoinKind, Operator};
use frazil_types::{CompareOp, LogicalType, Value};
use support::{Maker, compare};

const BUILD: [LogicalType; 3] = [LogicalType::Integer, LogicalType::Text, LogicalType::BigInt];
const PROBE: [LogicalType; 3] = [LogicalType::Integer, LogicalType::Text, LogicalType::BigInt];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Keys {
    None,
    Integer,
    Text,
    Both,
}

fn rows(n: i128, step: i128, nulls: bool) -> Vec<Vec<Value>> {
    (0..n)
        .map(|i| {
            let key = (i * step) % 23;
            let number = if nulls && i % 9 == 4 {
                Value::Null
            } else {
                Value::Int(key)
            };
            let text = match key % 3 {
                0 => format!("k{key}"),
                _ => format!("a key of more than twelve bytes {key}"),
            };
            let text = if nulls && i % 7 == 3 {
                Value::Null
            } else {
                Value::Text(text)
            };
            vec![number, text, Value::Int(i)]
        })
        .collect()
}

fn is_match(keys: Keys, residual: bool, b: &[Value], p: &[Value]) -> bool {
    let equal = |i: usize| !b[i].is_null() && b[i] == p[i];
    let keys = match keys {
        Keys::None => true,
        Keys::Integer => equal(0),
        Keys::Text => equal(1),
        Keys::Both => equal(0) && equal(1),
    };
    keys && (!residual || b[2].as_int() < p[2].as_int())
}

fn oracle(
    kind: JoinKind,
    keys: Keys,
    residual: bool,
    build: &[Vec<Value>],
    probe: &[Vec<Value>],
) -> Vec<Vec<Value>> {
    let hit = |b: &[Value], p: &[Value]| is_match(keys, residual, b, p);
    let nulls = || vec![Value::Null; 3];
    let both = |b: &[Value], p: &[Value]| [b, p].concat();
    let mut out = Vec::new();
    let pairs = matches!(
        kind,
        JoinKind::Inner | JoinKind::ProbeOuter | JoinKind::BuildOuter | JoinKind::FullOuter
    );
    for p in probe {
        let matches: Vec<_> = build.iter().filter(|b| hit(b, p)).collect();
        if pairs {
            out.extend(matches.iter().map(|b| both(b, p)));
        }
        match kind {
            JoinKind::ProbeOuter | JoinKind::FullOuter if matches.is_empty() => out.push(both(&nulls(), p)),
            JoinKind::ProbeSemi if !matches.is_empty() => out.push(p.clone()),
            JoinKind::ProbeAnti if matches.is_empty() => out.push(p.clone()),
            JoinKind::ProbeMark(_) => out.push([p.clone(), vec![Value::Bool(!matches.is_empty())]].concat()),
            _ => {}
        }
    }
    for b in build {
        let found = probe.iter().any(|p| hit(b, p));
        match kind {
            JoinKind::BuildOuter | JoinKind::FullOuter if !found => out.push(both(b, &nulls())),
            JoinKind::BuildSemi if found => out.push(b.clone()),
            JoinKind::BuildAnti if !found => out.push(b.clone()),
            _ => {}
        }
    }
    out
}

struct Sides {
    build: Vec<Vec<Value>>,
    probe: Vec<Vec<Value>>,
}

fn join(
    m: &mut Maker,
    sides: &Sides,
    kind: JoinKind,
    keys: Keys,
    residual: bool,
    null_aware: bool,
) -> (Operator, Vec<ColumnId>) {
    let (build, b) = m.values(&BUILD, &sides.build);
    let (probe, p) = m.values(&PROBE, &sides.probe);
    let pairs = match keys {
        Keys::None => vec![],
        Keys::Integer => vec![0],
        Keys::Text => vec![1],
        Keys::Both => vec![0, 1],
    };
    let keys = pairs.iter().map(|&i| (m.column(b[i]), m.column(p[i]))).collect();
    let residual = residual.then(|| compare(CompareOp::Lt, m.column(b[2]), m.column(p[2])));
    let op = Operator::Join(Join {
        kind,
        build: Box::new(build),
        probe: Box::new(probe),
        keys,
        residual,
        null_aware,
        in_order: false,
        first: None,
    });
    let output = match kind {
        JoinKind::ProbeSemi | JoinKind::ProbeAnti => p,
        JoinKind::BuildSemi | JoinKind::BuildAnti => b,
        JoinKind::ProbeMark(mark) => [p, vec![mark]].concat(),
        _ => [b, p].concat(),
    };
    (op, output)
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
fn every_kind_agrees_with_nested_loops() {
    for nulls in [false, true] {
        let sides = Sides {
            build: rows(60, 5, nulls),
            probe: rows(90, 7, nulls),
        };
        for keys in [Keys::Integer, Keys::Text, Keys::Both, Keys::None] {
            for residual in [false, true] {
                for kind in KINDS {
                    check(&sides, kind, keys, residual);
                }
            }
        }
    }
}

/// Their build rows are in an array, unless the join marks them.
#[test]
fn integer_keys_that_differ_agree_with_nested_loops() {
    for (nulls, skipped) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        // There are 23 keys, so that none of 20 repeats; some are missing, among them 0 if the first row is skipped.
        let sides = Sides {
            build: rows(20, 5, nulls).split_off(skipped),
            probe: rows(90, 7, nulls),
        };
        for residual in [false, true] {
            for kind in KINDS {
                check(&sides, kind, Keys::Integer, residual);
            }
        }
    }
}

fn check(sides: &Sides, kind: JoinKind, keys: Keys, residual: bool) {
    let mut m = Maker::default();
    let (root, output) = join(&mut m, sides, kind, keys, residual, false);
    let got = m.run(root, &output).unwrap();
    let want = oracle(kind, keys, residual, &sides.build, &sides.probe);
    assert_eq!(
        support::sorted(&got),
        support::sorted(&want),
        "{kind:?} by {keys:?}, residual {residual}"
    );
}

#[test]
fn mark_joins() {
    let sides = Sides {
        build: rows(10, 5, false),
        probe: rows(40, 7, true),
    };
    let mut m = Maker::default();
    let mark = m.add(LogicalType::Boolean, false);
    let (root, output) = join(&mut m, &sides, JoinKind::ProbeMark(mark), Keys::Text, true, false);
    let got = m.run(root, &output).unwrap();
    let want = oracle(
        JoinKind::ProbeMark(mark),
        Keys::Text,
        true,
        &sides.build,
        &sides.probe,
    );
    assert_eq!(support::sorted(&got), support::sorted(&want));
}

/// SQL's `p NOT IN (build)`: true, false or unknown.
fn not_in(key: &Value, build: &[Vec<Value>]) -> Option<bool> {
    if build.is_empty() {
        return Some(true);
    }
    if !key.is_null() && build.iter().any(|b| b[0] == *key) {
        return Some(false);
    }
    let unknown = key.is_null() || build.iter().any(|b| b[0].is_null());
    (!unknown).then_some(true)
}

#[test]
fn not_in_knows_null() {
    for (build, probe) in [(true, true), (false, true), (true, false), (false, false)] {
        for build_rows in [0, 8] {
            let sides = Sides {
                build: rows(build_rows, 5, build),
                probe: rows(40, 7, probe),
            };
            let mut m = Maker::default();
            let (root, output) = join(&mut m, &sides, JoinKind::ProbeAnti, Keys::Integer, false, true);
            let got = m.run(root, &output).unwrap();
            let keep = |p: &&Vec<Value>| not_in(&p[0], &sides.build) == Some(true);
            let want: Vec<_> = sides.probe.iter().filter(keep).cloned().collect();
            assert_eq!(support::sorted(&got), support::sorted(&want));

            let mut m = Maker::default();
            let mark = m.add(LogicalType::Boolean, true);
            let (root, output) = join(
                &mut m,
                &sides,
                JoinKind::ProbeMark(mark),
                Keys::Integer,
                false,
                true,
            );
            let got = m.run(root, &output).unwrap();
            let is_in = |p: &Vec<Value>| not_in(&p[0], &sides.build).map_or(Value::Null, |n| Value::Bool(!n));
            let want: Vec<_> = sides
                .probe
                .iter()
                .map(|p| [p.clone(), vec![is_in(p)]].concat())
                .collect();
            assert_eq!(support::sorted(&got), support::sorted(&want));

            // The outer side as the build side.
            let flipped = Sides {
                build: sides.probe.clone(),
                probe: sides.build.clone(),
            };
            let mut m = Maker::default();
            let (root, output) = join(&mut m, &flipped, JoinKind::BuildAnti, Keys::Integer, false, true);
            let got = m.run(root, &output).unwrap();
            let want: Vec<_> = sides.probe.iter().filter(keep).cloned().collect();
            assert_eq!(support::sorted(&got), support::sorted(&want), "build side anti");
        }
    }
}

#[test]
fn joins_in_a_row_share_a_pipeline() {
    let mut m = Maker::default();
    let (a, b, c) = (rows(40, 3, true), rows(50, 5, true), rows(3000, 7, true));
    let (first, x) = m.values(&BUILD, &a);
    let (second, y) = m.values(&BUILD, &b);
    let (probe, z) = m.values(&PROBE, &c);
    let inner = Operator::Join(Join {
        kind: JoinKind::ProbeOuter,
        keys: vec![(m.column(y[1]), m.column(z[1]))],
        build: Box::new(second),
        probe: Box::new(probe),
        residual: None,
        null_aware: false,
        in_order: false,
        first: None,
    });
    let root = Operator::Join(Join {
        kind: JoinKind::Inner,
        keys: vec![(m.column(x[0]), m.column(z[0]))],
        build: Box::new(first),
        probe: Box::new(inner),
        residual: Some(compare(
            CompareOp::Ne,
            m.column(x[2]),
            Expr {
                nullable: true,
                ..m.column(y[2])
            },
        )),
        null_aware: false,
        in_order: false,
        first: None,
    });
    let got = m.run(root, &[x[2], y[2], z[2]]).unwrap();
    let mut want = Vec::new();
    for pair in oracle(JoinKind::ProbeOuter, Keys::Text, false, &b, &c) {
        let (q, p) = pair.split_at(3);
        for r in a.iter().filter(|r| is_match(Keys::Integer, false, r, p)) {
            if !q[2].is_null() && r[2] != q[2] {
                want.push(vec![r[2].clone(), q[2].clone(), p[2].clone()]);
            }
        }
    }
    assert_eq!(support::sorted(&got), support::sorted(&want));
}
