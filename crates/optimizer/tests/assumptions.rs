//! What plans rely on: rounded outward as far as nothing is lost, and nothing at all where eliding is off.

mod shop;

use frazil_optimizer::{Settings, optimize, pipelines};
use frazil_plan::breakers::Breaker;
use frazil_plan::operators::Aggregate;
use frazil_plan::pipeline::{PipelinePlan, StagePolicy};
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, Assumption, Bounds, Expr, ExprKind, IndexInfo, Operator,
    Plan, SampleSize, SampledRows, Statistics, StoredExpression,
};
use frazil_types::{Cancel, KeySketch, LogicalType, MatchBits, NativeType, ObjectId, Restriction, Value};
use shop::Shop;
use std::sync::Arc;

/// The shop, with other prices.
struct Prices(i128);

impl Statistics for Prices {
    fn row_count(&self, table: ObjectId) -> u64 {
        Shop::statistics().row_count(table)
    }
    fn exact_row_count(&self, _: ObjectId) -> Option<u64> {
        None
    }
    fn bounds(&self, table: ObjectId, column: usize) -> Option<Bounds> {
        match (table.0, column) {
            (2, 1) => Some(Bounds { min: 1, max: self.0 }),
            _ => Shop::statistics().bounds(table, column),
        }
    }
    fn distinct(&self, table: ObjectId, column: usize) -> Option<u64> {
        Shop::statistics().distinct(table, column)
    }
    fn spread(&self, table: ObjectId, column: usize) -> Option<f64> {
        Shop::statistics().spread(table, column)
    }
    fn null_count(&self, table: ObjectId, column: usize) -> u64 {
        Shop::statistics().null_count(table, column)
    }
    fn indexes(&self, _: ObjectId) -> Vec<IndexInfo> {
        Vec::new()
    }

    fn sample(&self, _: ObjectId) -> Option<SampleSize> {
        None
    }

    fn sampled(&self, _: SampledRows, _: &Restriction) -> Option<Arc<MatchBits>> {
        None
    }

    fn key_sketch(&self, _: ObjectId, _: usize) -> Option<Arc<KeySketch>> {
        None
    }

    fn stored_expressions(&self, _: ObjectId) -> Vec<StoredExpression> {
        Vec::new()
    }
}

/// select sum(price * 3) from item
fn sum_of_prices() -> Plan {
    let mut shop = Shop::default();
    let (item, i) = shop.item();
    let ty = LogicalType::Decimal {
        precision: 38,
        scale: 2,
    };
    let sum = shop.columns.add("i_sum", ty, true);
    let three = Expr::constant(
        Value::Int(3),
        LogicalType::Decimal {
            precision: 1,
            scale: 0,
        },
    );
    let price = Expr::column(i.price, &shop.columns);
    let tripled = ExprKind::Arithmetic(ArithmeticOp::Mul, Box::new(price), Box::new(three));
    let call = AggregateCall {
        function: AggregateFunction::Sum,
        argument: Some(Expr::new(
            tripled,
            LogicalType::Decimal {
                precision: 17,
                scale: 2,
            },
            false,
        )),
        second: None,
        distinct: false,
        order: Vec::new(),
        filter: None,
        ty,
    };
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(item),
        groups: vec![],
        aggregates: vec![(sum, call)],
    });
    shop.plan(root, &[sum])
}

fn cut(statistics: &dyn Statistics, elide_checks: bool) -> PipelinePlan {
    let settings = Settings {
        elide_checks,
        ..Settings::default()
    };
    let plan = optimize(sum_of_prices(), statistics, &settings, &Cancel::new()).unwrap();
    pipelines(
        plan,
        statistics,
        &Settings::default(),
        StagePolicy::Fused,
        &Cancel::new(),
    )
    .unwrap()
}

/// How the sum is held, and what is assumed of the prices.
fn sum_and_prices(plan: &PipelinePlan) -> (NativeType, Option<Bounds>) {
    let mut sums = plan.breakers.iter().filter_map(|breaker| match breaker {
        Breaker::Groups(table) => Some(table.aggregates[0].0),
        _ => None,
    });
    let sum = sums.next_back().unwrap();
    let prices = plan.assumptions.iter().find_map(|a| match a {
        Assumption::Bounds {
            table,
            column: 1,
            bounds,
        } if table.0 == 2 => Some(*bounds),
        _ => None,
    });
    (plan.columns[sum].native(), prices)
}

#[test]
fn a_sum_relies_on_bounds_and_rows_rounded_outward() {
    let plan = cut(&Shop::statistics(), true);
    let wide = Bounds {
        min: 1,
        max: (1 << 24) - 1,
    };
    assert_eq!(sum_and_prices(&plan), (NativeType::I64, Some(wide)));
    let table = ObjectId(2);
    let rows = Assumption::Rows {
        table,
        ceiling: 1 << 20,
    };
    assert!(plan.assumptions.contains(&rows), "{:?}", plan.assumptions);
    assert!(
        plan.assumptions
            .contains(&Assumption::NotNull { table, column: 1 })
    );
}

#[test]
fn the_grid_is_as_fine_as_the_proof_needs() {
    // A sum of 2^20 times 3 such prices fits in 64 bits up to 2^41.4; rounded to 2^42 it does not.
    let at_most = |max| sum_and_prices(&cut(&Prices(max), true));
    let eighths = Bounds {
        min: 1,
        max: 10 * (1 << 38) - 1,
    };
    assert_eq!(at_most(2_500_000_000_000), (NativeType::I64, Some(eighths)));
    // Money of 15 digits ends at 10^15: the next power of two is beyond the type.
    let most = 10i128.pow(15) - 1;
    assert_eq!(
        at_most(most),
        (NativeType::I128, Some(Bounds { min: 1, max: most }))
    );
}

#[test]
fn with_eliding_off_nothing_is_assumed_of_values() {
    let plan = cut(&Shop::statistics(), false);
    assert_eq!(sum_and_prices(&plan), (NativeType::I128, None));
    assert!(plan.columns.proofs_forgotten());
}
