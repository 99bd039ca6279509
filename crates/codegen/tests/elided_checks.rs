//! Sums as in TPC-H 1 and 6: what is proved to fit is computed in 64 bits without a check, and with proofs forgotten
//! every check is there.

mod support;

use frazil_codegen::{CompileOptions, compile};
use frazil_plan::operators::{Aggregate, Values};
use frazil_plan::pipeline_builder::build;
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, Bounds, ColumnId, Expr, ExprKind, Operator,
};
use frazil_types::{LogicalType, Value};
use support::{Few, Maker};

const fn decimal(precision: u8, scale: u8) -> LogicalType {
    LogicalType::Decimal { precision, scale }
}

const MONEY: LogicalType = decimal(15, 2);

fn arithmetic(op: ArithmeticOp, l: Expr, r: Expr, ty: LogicalType) -> Expr {
    Expr::new(ExprKind::Arithmetic(op, Box::new(l), Box::new(r)), ty, false)
}

/// Sums over prices, discounts and taxes: the tree and its columns.
fn sums(m: &mut Maker) -> (Operator, Vec<ColumnId>) {
    let rows = [[9_000_000, 4, 2], [12_345, 10, 8]].map(|row| row.map(Value::Int).to_vec());
    let (input, c) = m.values(&[MONEY; 3], &rows);
    // As statistics of scale factor 1 are rounded.
    for (id, max) in c.iter().zip([(1 << 24) - 1, 15, 15]) {
        m.columns[*id].bounds = Some(Bounds { min: 0, max });
    }
    let [price, discount, tax] = [0, 1, 2].map(|i| m.column(c[i]));
    let one = || Expr::constant(Value::Int(100), MONEY);
    let kept = arithmetic(ArithmeticOp::Sub, one(), discount.clone(), decimal(16, 2));
    let taxed = arithmetic(ArithmeticOp::Add, one(), tax, decimal(16, 2));
    let discounted = arithmetic(ArithmeticOp::Mul, price.clone(), kept, decimal(31, 4));
    let charged = arithmetic(ArithmeticOp::Mul, discounted.clone(), taxed, decimal(38, 6));
    let revenue = arithmetic(ArithmeticOp::Mul, price.clone(), discount, decimal(30, 4));
    let aggregates: Vec<(ColumnId, AggregateCall)> = [price, discounted, charged, revenue]
        .into_iter()
        .map(|argument| {
            let ty = decimal(38, argument.ty.scale().unwrap());
            let call = AggregateCall {
                function: AggregateFunction::Sum,
                argument: Some(argument),
                second: None,
                distinct: false,
                order: Vec::new(),
                filter: None,
                ty,
            };
            (m.add(ty, true), call)
        })
        .collect();
    let made = aggregates.iter().map(|a| a.0).collect();
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(input),
        groups: vec![],
        aggregates,
    });
    (root, made)
}

fn clif(m: &Maker, root: Operator, output: &[ColumnId]) -> String {
    let plan = build(m.plan(root, output), &Few);
    let options = CompileOptions {
        verify: true,
        text: true,
        ..CompileOptions::default()
    };
    compile(&plan, &options, &|_| None).unwrap().clif().to_owned()
}

#[test]
fn proved_sums_have_no_checks() {
    let mut m = Maker::default();
    let (root, made) = sums(&mut m);
    let text = clif(&m, root.clone(), &made);
    for check in ["_overflow", "decimal_mul", "decimal_rescale", "icmp sgt"] {
        assert!(!text.contains(check), "{check} in\n{text}");
    }
    m.columns.forget_proofs();
    let text = clif(&m, root, &made);
    for check in ["sadd_overflow", "decimal_mul"] {
        assert!(text.contains(check), "no {check} in\n{text}");
    }
}

#[test]
fn sums_are_the_same_without_proofs() {
    let rows = |forget: bool| {
        let mut m = Maker::default();
        let (root, made) = sums(&mut m);
        // Within the bounds that were claimed.
        let Operator::Aggregate(Aggregate {
            input,
            groups,
            aggregates,
        }) = root
        else {
            panic!("no aggregation");
        };
        let Operator::Values(Values { columns, .. }) = *input else {
            panic!("no values");
        };
        let rows = (0..2000).map(|i| {
            let values = [i * 7919 % (1 << 24), i % 11, i % 9];
            values.map(|v| Expr::constant(Value::Int(v), MONEY)).to_vec()
        });
        let values = Operator::Values(Values {
            columns,
            rows: rows.collect(),
        });
        let root = Operator::Aggregate(Aggregate {
            input: Box::new(values),
            groups,
            aggregates,
        });
        if forget {
            m.columns.forget_proofs();
        }
        m.run(root, &made).unwrap()
    };
    assert_eq!(rows(false), rows(true));
}
