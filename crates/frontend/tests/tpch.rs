//! The plans of TPC-H: their operators, join kinds and types.

mod support;

use frazil_plan::{Expr, ExprKind, JoinKind, Operator, Plan};
use frazil_types::{LogicalType, Value};
use support::{operators, query};

fn tpch(number: usize) -> Plan {
    query(&frazil_tpch::query(number, 1.0))
}

fn joins(plan: &Plan) -> Vec<(JoinKind, usize, bool)> {
    let all = operators(&plan.root);
    let joins = all.iter().filter_map(|op| match op {
        Operator::Join {
            kind,
            keys,
            null_aware,
            ..
        } => Some((*kind, keys.len(), *null_aware)),
        _ => None,
    });
    joins.collect()
}

#[test]
fn all_22_are_planned_without_a_cross_product() {
    for number in 1..=22 {
        let plan = tpch(number);
        for (kind, keys, _) in joins(&plan) {
            assert!(
                keys > 0,
                "Q{number}: {kind:?} join without keys\n{:#?}",
                plan.root
            );
        }
        assert!(!plan.output.is_empty());
    }
}

#[test]
fn q6_asks_columns_not_casts() {
    let plan = tpch(6);
    let Operator::Aggregate {
        input, aggregates, ..
    } = &plan.root
    else {
        panic!("{:#?}", plan.root);
    };
    assert_eq!(
        aggregates[0].1.ty,
        LogicalType::Decimal {
            precision: 38,
            scale: 4
        }
    );
    let Operator::Filter { input, predicate } = &**input else {
        panic!("{input:#?}");
    };
    let conjuncts = predicate.clone().into_conjuncts();
    let constants: Vec<Value> = conjuncts
        .iter()
        .map(|c| match &c.kind {
            ExprKind::Compare(_, l, r) => {
                assert!(matches!(l.kind, ExprKind::Column(_)), "{c:?}");
                match &r.kind {
                    ExprKind::Constant(v) => v.clone(),
                    other => panic!("{other:?}"),
                }
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [8766, 9131, 5, 7, 2400].map(Value::Int);
    assert_eq!(constants, expected);
    let Operator::Scan { columns, .. } = &**input else {
        panic!("{input:#?}");
    };
    assert_eq!(columns.iter().map(|c| c.1).collect::<Vec<_>>(), [4, 5, 6, 10]);
}

fn scale_of(e: &Expr) -> Option<u8> {
    e.ty.scale()
}

#[test]
fn q1_sums_exact_decimals() {
    let plan = tpch(1);
    let Operator::Sort { input, keys, .. } = &plan.root else {
        panic!("{:#?}", plan.root);
    };
    assert_eq!(keys.len(), 2);
    let Operator::Aggregate {
        groups, aggregates, ..
    } = &**input
    else {
        panic!("{input:#?}");
    };
    assert_eq!(groups.len(), 2);
    let types: Vec<String> = aggregates.iter().map(|a| a.1.ty.to_string()).collect();
    assert_eq!(types[2..4], ["decimal(38,4)", "decimal(38,6)"]);
    assert_eq!(
        types[4..],
        ["decimal(38,6)", "decimal(38,6)", "decimal(38,6)", "bigint"]
    );
    let arguments: Vec<_> = aggregates
        .iter()
        .filter_map(|a| a.1.argument.as_ref())
        .map(scale_of)
        .collect();
    assert_eq!(arguments[..4], [Some(2), Some(2), Some(4), Some(6)]);
    // 1 - l_discount: the constant has the column's scale, nothing is cast.
    let product = aggregates[2].1.argument.as_ref().unwrap();
    let ExprKind::Arithmetic(_, _, difference) = &product.kind else {
        panic!("{product:?}");
    };
    let ExprKind::Arithmetic(_, one, _) = &difference.kind else {
        panic!("{difference:?}");
    };
    assert_eq!(one.kind, ExprKind::Constant(Value::Int(100)));
}

#[test]
fn subqueries_become_joins() {
    use JoinKind::*;
    let kinds = |n| joins(&tpch(n)).into_iter().map(|j| j.0).collect::<Vec<_>>();
    assert_eq!(kinds(4), [ProbeSemi]);
    assert_eq!(kinds(13), [ProbeOuter]);
    assert_eq!(kinds(16), [ProbeAnti, Inner]);
    assert_eq!(kinds(17), [Inner, Inner]);
    assert_eq!(kinds(18), [ProbeSemi, Inner, Inner]);
    assert_eq!(kinds(21)[..2], [ProbeAnti, ProbeSemi]);
    assert_eq!(kinds(22), [ProbeAnti]);
    assert_eq!(tpch(22).subqueries.len(), 1);
    assert_eq!(tpch(11).subqueries.len(), 1);
}

#[test]
fn q15_computes_revenue_once() {
    let plan = tpch(15);
    assert_eq!(plan.shared.len(), 1);
    assert_eq!(plan.subqueries.len(), 1);
    let lineitems = operators(&plan.root)
        .into_iter()
        .filter(|op| matches!(op, Operator::Scan { name, .. } if name == "lineitem"));
    assert_eq!(lineitems.count(), 0);
}

#[test]
fn q19_filters_both_sides_before_the_join() {
    let plan = tpch(19);
    for op in operators(&plan.root) {
        if let Operator::Join { build, probe, .. } = op {
            assert!(matches!(**build, Operator::Filter { .. }), "{build:#?}");
            assert!(matches!(**probe, Operator::Filter { .. }), "{probe:#?}");
        }
    }
}
