//! What becomes of grouping sets, as golden texts.

mod shop;

use frazil_optimizer::{Settings, optimize};
use frazil_plan::operators::{Aggregate, GROUPING, GroupingSets};
use frazil_plan::{AggregateCall, AggregateFunction, ColumnId, Expr, Operator, Plan, display, verify};
use frazil_types::{Cancel, CompareOp, LogicalType, Value};
use shop::{Shop, compare, filter};

#[track_caller]
fn assert_optimized(plan: Plan, expected: &str) {
    verify::plan(&plan).unwrap();
    let plan = optimize(plan, &Shop::statistics(), &Settings::default(), &Cancel::new()).unwrap();
    let text = display::plan(&plan);
    assert!(
        text.trim() == expected.trim(),
        "got\n{text}\nexpected\n{expected}"
    );
}

/// Orders by customer and day, how many there are, and `grouping(customer, day)`.
struct Orders {
    shop: Shop,
    op: Operator,
    customer: ColumnId,
    grouping: ColumnId,
    output: Vec<ColumnId>,
}

/// Orders grouped by sets of customer and day, with an aggregate.
fn orders(sets: Vec<Vec<usize>>, call: impl FnOnce(&Shop, ColumnId) -> AggregateCall) -> Orders {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let call = call(&shop, o.key);
    let keys = [o.customer, o.day].map(|id| shop.column(id));
    let mut add = |label: &str, ty| shop.columns.add(label, ty, true);
    let ids = [add("customer", keys[0].ty), add("day", keys[1].ty)];
    let (made, grouping) = (add("made", call.ty), add("grouping", GROUPING));
    let all = Aggregate {
        input: Box::new(orders),
        groups: ids.into_iter().zip(keys).collect(),
        aggregates: vec![(made, call)],
    };
    Orders {
        shop,
        op: Operator::GroupingSets(GroupingSets {
            all,
            sets,
            grouping: vec![(grouping, vec![0, 1])],
        }),
        customer: ids[0],
        grouping,
        output: vec![ids[0], ids[1], made, grouping],
    }
}

fn rows(_: &Shop, _: ColumnId) -> AggregateCall {
    AggregateCall::count(None)
}

fn average(shop: &Shop, of: ColumnId) -> AggregateCall {
    AggregateCall {
        function: AggregateFunction::Avg,
        ty: LogicalType::Numeric,
        ..AggregateCall::count(Some(shop.column(of)))
    }
}

fn keys_once(shop: &Shop, of: ColumnId) -> AggregateCall {
    AggregateCall {
        distinct: true,
        ..AggregateCall::count(Some(shop.column(of)))
    }
}

#[test]
fn a_set_is_grouped_from_the_groups_of_a_finer_one() {
    let of = orders(vec![vec![0, 1], vec![0], vec![]], average);
    let expected = "
Output customer = customer#4, day = day#5, made = made#6, grouping = grouping#7
Union all (customer#4, day#5, made#6, grouping#7) of (customer#12, day#13, made#16, grouping#17), (customer#24, day#27, made#28, grouping#29), (customer#34, day#35, made#36, grouping#37)
  Map made#16 := case when count#15 > 0 then cast(sum#14 as decimal(38,0)) / cast(count#15 as decimal(38,0)) end, grouping#17 := 0
    Shared 0 (customer#12 := customer#8, day#13 := day#9, sum#14 := sum#10, count#15 := count#11)
  Map day#27 := null, made#28 := case when count#26 > 0 then cast(sum#25 as decimal(38,0)) / cast(count#26 as decimal(38,0)) end, grouping#29 := 1
    Shared 1 (customer#24 := customer#21, sum#25 := sum#22, count#26 := count#23)
  Map customer#34 := null, day#35 := null, made#36 := case when count#33 > 0 then cast(sum#32 as decimal(38,0)) / cast(count#33 as decimal(38,0)) end, grouping#37 := 3
    Aggregate sum#32 := sum(sum#30), count#33 := sum(count#31)
      Shared 1 (sum#30 := sum#22, count#31 := count#23)
Shared 0:
  Aggregate by customer#8 := o_customer, day#9 := o_day: sum#10 := sum(o_key), count#11 := count(o_key)
    Scan orders (o_key, o_customer, o_day)
Shared 1:
  Aggregate by customer#21 := customer#18: sum#22 := sum(sum#19), count#23 := sum(count#20)
    Shared 0 (customer#18 := customer#8, sum#19 := sum#10, count#20 := count#11)
";
    assert_optimized(of.shop.plan(of.op, &of.output), expected);
}

#[test]
fn sets_of_which_none_is_finer_come_from_the_rows_where_groups_are_many() {
    let of = orders(vec![vec![0], vec![1]], rows);
    let expected = "
Output customer = customer#4, day = day#5, made, grouping = grouping#7
Union all (customer#4, day#5, made, grouping#7) of (customer#10, day#12, count#11, grouping#13), (customer#16, day#14, count#15, grouping#17)
  Map day#12 := null, grouping#13 := 1
    Aggregate by customer#10 := o_customer#1: count#11 := count(*)
      Scan orders (o_customer#1)
  Map customer#16 := null, grouping#17 := 2
    Aggregate by day#14 := o_day#9: count#15 := count(*)
      Scan orders (o_day#9)
";
    assert_optimized(of.shop.plan(of.op, &of.output), expected);
}

#[test]
fn a_condition_on_grouping_leaves_the_sets_that_satisfy_it() {
    let of = orders(vec![vec![0, 1], vec![0], vec![1], vec![]], rows);
    let one = Expr::constant(Value::Int(1), GROUPING);
    let op = filter(of.op, compare(CompareOp::Eq, of.shop.column(of.grouping), one));
    let expected = "
Output customer = customer#4, day = day#5, made = made#6, grouping = grouping#7
Union all (customer#4, day#5, made#6, grouping#7) of (customer#17, day#19, count#18, grouping#20)
  Map day#19 := null, grouping#20 := 1
    Aggregate by customer#17 := customer#15: count#18 := sum(count#16)
      Shared 0 (customer#15 := customer#8, count#16 := count#10)
Shared 0:
  Aggregate by customer#8 := o_customer, day#9 := o_day: count#10 := count(*)
    Scan orders (o_customer, o_day)
";
    assert_optimized(of.shop.plan(op, &of.output), expected);
}

#[test]
fn a_condition_on_a_group_of_all_sets_goes_to_the_rows() {
    let of = orders(vec![vec![0, 1], vec![0]], rows);
    let one = Expr::constant(Value::Int(1), of.shop.column(of.customer).ty);
    let op = filter(of.op, compare(CompareOp::Eq, of.shop.column(of.customer), one));
    let expected = "
Output customer = customer#4, day = day#5, made, grouping = grouping#7
Union all (customer#4, day#5, made, grouping#7) of (customer#11, day#12, count#13, grouping#14), (customer#17, day#19, count#18, grouping#20)
  Map grouping#14 := 0
    Shared 0 (customer#11 := customer#8, day#12 := day#9, count#13 := count#10)
  Map day#19 := null, grouping#20 := 1
    Aggregate by customer#17 := customer#15: count#18 := sum(count#16)
      Shared 0 (customer#15 := customer#8, count#16 := count#10)
Shared 0:
  Aggregate by customer#8 := o_customer, day#9 := o_day: count#10 := count(*)
    Scan orders (o_customer, o_day) where o_customer = 1
";
    assert_optimized(of.shop.plan(op, &of.output), expected);
}

#[test]
fn what_does_not_come_from_parts_is_aggregated_from_the_rows() {
    let of = orders(vec![vec![0], vec![]], keys_once);
    let expected = "
Output customer = customer#4, day = day#5, made, grouping = grouping#7
Union all (customer#4, day#5, made, grouping#7) of (customer#11, day#13, count#12, grouping#14), (customer#16, day#17, count#15, grouping#18)
  Map day#13 := null, grouping#14 := 1
    Aggregate by customer#11 := o_customer#19: count#12 := count(o_key#20)
      Aggregate by o_customer#19 := o_customer#1, o_key#20 := o_key#0
        Scan orders (o_key#0, o_customer#1)
  Map customer#16 := null, day#17 := null, grouping#18 := 3
    Aggregate count#15 := count(o_key#21)
      Aggregate by o_key#21 := o_key#8
        Scan orders (o_key#8)
";
    assert_optimized(of.shop.plan(of.op, &of.output), expected);
}
