//! What the rules that leave rows out early make of plans, as golden texts: constants across
//! outer joins, outer joins that are anti joins, and what OR says of groups.

mod shop;

use frazil_optimizer::{Settings, optimize};
use frazil_plan::operators::Aggregate;
use frazil_plan::{
    AggregateCall, ColumnId, Expr, ExprKind, JoinKind, Operator, Plan, display, nullability, verify,
};
use frazil_types::{Cancel, CompareOp, LogicalType};
use shop::{Shop, all_of, any_of, compare, filter, join};

#[track_caller]
fn assert_plan(mut plan: Plan, expected: &str) {
    nullability::recompute(&mut plan);
    verify::plan(&plan).unwrap();
    let plan = optimize(plan, &Shop::statistics(), &Settings::default(), &Cancel::new()).unwrap();
    let text = display::plan(&plan);
    assert!(
        text.trim() == expected.trim(),
        "got\n{text}\nexpected\n{expected}"
    );
}

/// Orders of each customer and day, and how many.
fn counted(shop: &mut Shop, letter: &str) -> (Operator, [ColumnId; 3]) {
    let (orders, o) = shop.orders();
    let mut made = |name: &str, ty, nullable| shop.columns.add(format!("{letter}_{name}"), ty, nullable);
    let customer = made("customer", LogicalType::Integer, false);
    let day = made("day", LogicalType::Date, false);
    let count = made("count", LogicalType::BigInt, false);
    let op = Operator::Aggregate(Aggregate {
        input: Box::new(orders),
        groups: vec![(customer, shop.column(o.customer)), (day, shop.column(o.day))],
        aggregates: vec![(count, AggregateCall::count(None))],
    });
    (op, [customer, day, count])
}

#[test]
fn what_or_says_of_groups_is_asked_of_rows() {
    let mut shop = Shop::default();
    let (counts, [customer, _, count]) = counted(&mut shop, "s");
    let few = Expr::constant(frazil_types::Value::Int(3), LogicalType::BigInt);
    let few = compare(CompareOp::Lt, shop.column(count), few);
    let parts = vec![
        all_of(vec![few, shop.equals(customer, 7)]),
        shop.equals(customer, 9),
    ];
    let root = filter(counts, any_of(parts));
    assert_plan(
        shop.plan(root, &[customer, count]),
        "
Output customer = s_customer, count = s_count
Filter s_count < 3 and s_customer = 7 or s_customer = 9
  Aggregate by s_customer := o_customer, s_day := o_day: s_count := count(*)
    Scan orders (o_customer, o_day) where o_customer in (7, 9)
",
    );
}

#[test]
fn an_outer_join_whose_other_side_is_null_is_an_anti_join() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    let keys = vec![(shop.column(i.order), shop.column(o.key))];
    let all = join(JoinKind::ProbeOuter, item, orders, keys);
    let key = ExprKind::IsNull(Box::new(shop.column(i.order)));
    let root = filter(all, Expr::boolean(key, false));
    assert_plan(
        shop.plan(root, &[o.key, i.price]),
        "
Output key = o_key, price = i_price#5
Map i_price#5 := null
  Join build anti on o_key = i_order#7
    build: Scan orders (o_key)
    probe: Scan item (i_order#7)
",
    );
}

#[test]
fn constants_cross_the_equality_of_an_outer_join() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (counts, [customer, _, count]) = counted(&mut shop, "s");
    let keys = vec![(shop.column(customer), shop.column(o.customer))];
    let all = join(JoinKind::ProbeOuter, counts, orders, keys);
    let root = filter(all, shop.equals(o.customer, 7));
    assert_plan(
        shop.plan(root, &[o.key, count]),
        "
Output key = o_key#0, count = s_count
Join probe outer on s_customer = o_customer#1
  build: Aggregate by s_customer := o_customer#5, s_day := o_day#6: s_count := count(*)
    Scan orders (o_customer#5, o_day#6) where o_customer#5 = 7
  probe: Scan orders (o_key#0, o_customer#1) where o_customer#1 = 7
",
    );
}
