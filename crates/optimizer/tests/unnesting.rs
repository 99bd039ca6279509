//! What becomes of subqueries, as golden texts: the shapes of TPC-H's correlated queries, and those that take a domain.

mod shop;

use frazil_optimizer::{Settings, optimize};
use frazil_plan::operators::{Aggregate, DependentJoin, Join, Map, Scan, Sort};
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, Change, ColumnId, Expr, ExprKind, JoinKind, Operator,
    Plan, RowCount, SortKey, Subquery, SubqueryKind, Write, WriteKind, display,
};
use frazil_types::{Cancel, CompareOp, LogicalType};
use shop::{Orders, Shop, compare, filter, join};

const BIGINT: LogicalType = LogicalType::BigInt;

fn optimized(plan: Plan) -> Plan {
    optimize(plan, &Shop::statistics(), &Settings::default(), &Cancel::new()).unwrap()
}

#[track_caller]
fn assert_plan(plan: Plan, expected: &str) {
    let text = display::plan(&optimized(plan));
    assert!(
        text.trim() == expected.trim(),
        "got\n{text}\nexpected\n{expected}"
    );
}

fn subquery(kind: SubqueryKind, root: Operator, column: ColumnId, ty: LogicalType) -> Expr {
    let columns = vec![column];
    let nullable = kind != SubqueryKind::Exists;
    Expr::new(
        ExprKind::Subquery(Box::new(Subquery::new(kind, root, columns))),
        ty,
        nullable,
    )
}

fn exists(root: Operator, column: ColumnId) -> Expr {
    subquery(SubqueryKind::Exists, root, column, LogicalType::Boolean)
}

fn not(e: Expr) -> Expr {
    Expr::boolean(ExprKind::Not(Box::new(e)), true)
}

/// Items of an order of the query around them.
fn items_of(shop: &mut Shop, o: &Orders) -> (Operator, ColumnId, ColumnId) {
    let (item, i) = shop.item();
    let of_order = compare(CompareOp::Eq, shop.column(i.order), shop.column(o.key));
    (filter(item, of_order), i.order, i.price)
}

fn aggregated(
    shop: &mut Shop,
    input: Operator,
    function: AggregateFunction,
    of: Option<ColumnId>,
) -> (Operator, ColumnId) {
    let argument = of.map(|id| shop.column(id));
    let ty = argument.as_ref().map_or(BIGINT, |e| e.ty);
    let id = shop.columns.add("aggregate", ty, true);
    let call = AggregateCall {
        function,
        argument,
        second: None,
        distinct: false,
        order: Vec::new(),
        filter: None,
        ty,
    };
    let op = Operator::Aggregate(Aggregate {
        input: Box::new(input),
        groups: vec![],
        aggregates: vec![(id, call)],
    });
    (op, id)
}

#[test]
fn exists_is_a_semi_join() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (items, order, _) = items_of(&mut shop, &o);
    let root = filter(orders, exists(items, order));
    assert_plan(
        shop.plan(root, &[o.key]),
        "
Output key = o_key
Join build semi on o_key = i_order
  build: Scan orders (o_key)
  probe: Scan item (i_order)
",
    );
}

#[test]
fn not_exists_is_an_anti_join() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (items, order, _) = items_of(&mut shop, &o);
    let root = filter(orders, not(exists(items, order)));
    assert_plan(
        shop.plan(root, &[o.key]),
        "
Output key = o_key
Join build anti on o_key = i_order
  build: Scan orders (o_key)
  probe: Scan item (i_order)
",
    );
}

#[test]
fn an_aggregate_of_each_order_is_a_join_with_groups() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    let orders = join(
        JoinKind::Inner,
        orders,
        item,
        vec![(shop.column(o.key), shop.column(i.order))],
    );
    let (items, _, price) = items_of(&mut shop, &o);
    let (most, id) = aggregated(&mut shop, items, AggregateFunction::Max, Some(price));
    let ty = shop.columns[id].ty;
    let most = subquery(SubqueryKind::Scalar, most, id, ty);
    let root = filter(orders, compare(CompareOp::Eq, shop.column(i.price), most));
    assert_plan(
        shop.plan(root, &[i.order, i.price]),
        "
Output order = i_order#4, price = i_price#5
Join inner on o_key = i_order#4 and aggregate = i_price#5
  build: Join inner on i_order#11 = o_key
    build: Aggregate by i_order#11 := i_order#7: aggregate := max(i_price#8)
      Scan item (i_order#7, i_price#8)
    probe: Scan orders (o_key)
  probe: Scan item (i_order#4, i_price#5)
",
    );
}

#[test]
fn not_in_of_nullable_values_is_a_null_aware_anti_join() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    shop.columns[i.order].nullable = true;
    let equal = compare(CompareOp::Eq, shop.column(o.key), shop.column(i.order));
    let any = subquery(SubqueryKind::Any(equal), item, i.order, LogicalType::Boolean);
    let root = filter(orders, not(any));
    assert_plan(
        shop.plan(root, &[o.key]),
        "
Output key = o_key
Join probe anti on i_order = o_key, null aware
  build: Scan item (i_order)
  probe: Scan orders (o_key)
",
    );
}

#[test]
fn an_aggregate_without_groups_always_has_a_row() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (items, ..) = items_of(&mut shop, &o);
    let (count, id) = aggregated(&mut shop, items, AggregateFunction::CountRows, None);
    let root = filter(orders, exists(count, id));
    assert_plan(
        shop.plan(root, &[o.key]),
        "
Output key = o_key
Scan orders (o_key)
",
    );
}

#[test]
fn a_count_of_no_rows_is_compared_as_zero() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (items, ..) = items_of(&mut shop, &o);
    let (count, id) = aggregated(&mut shop, items, AggregateFunction::CountRows, None);
    let zero = Expr::constant(frazil_types::Value::Int(0), BIGINT);
    let equal = compare(CompareOp::Eq, zero, shop.column(id));
    let any = subquery(SubqueryKind::Any(equal), count, id, LogicalType::Boolean);
    let root = filter(orders, any);
    assert_plan(
        shop.plan(root, &[o.key]),
        "
Output key = o_key
Filter case when count is null then 0 else count end = 0
  Join probe outer on i_order#9 = o_key
    build: Aggregate by i_order#9 := i_order#4: count := count(*)
      Scan item (i_order#4)
    probe: Scan orders (o_key)
",
    );
}

#[test]
fn a_value_of_several_rows_fails_where_it_is_read() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (items, _, price) = items_of(&mut shop, &o);
    let ty = shop.columns[price].ty;
    let value = subquery(SubqueryKind::Scalar, items, price, ty);
    let id = shop.columns.add("o_value", ty, true);
    let root = Operator::Map(Map {
        input: Box::new(orders),
        expressions: vec![(id, value)],
    });
    assert_plan(
        shop.plan(root, &[o.key, id]),
        "
Output key = o_key, value = o_value
Map o_value := single(i_price#8, case when count is null then 0 else count end)
  Join probe outer on i_order#11 = o_key
    build: Aggregate by i_order#11 := i_order#4: i_price#8 := min(i_price#5), count := count(*)
      Scan item (i_order#4, i_price#5)
    probe: Scan orders (o_key)
",
    );
}

#[test]
fn a_limit_counts_for_each_outer_row() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (items, _, price) = items_of(&mut shop, &o);
    let first = Operator::Sort(Sort {
        input: Box::new(items),
        keys: vec![SortKey {
            column: price,
            descending: true,
            nulls_first: true,
        }],
        limit: Some(RowCount::Constant(2)),
        offset: RowCount::Constant(0),
    });
    let root = Operator::DependentJoin(DependentJoin {
        outer: Box::new(orders),
        inner: Box::new(first),
        condition: None,
        keep_outer: false,
    });
    assert_plan(
        shop.plan(root, &[o.key, price]),
        "
Output key = o_key#0, price = i_price
Join inner on o_key#0 = o_key#12
  build: Scan orders (o_key#0)
  probe: First rows for each (o_key#12) by i_price desc, limit 2
    Join inner on o_key#12 = i_order
      build: Map o_key#12 := o_key#11
        Aggregate by o_key#11 := o_key#7
          Scan orders (o_key#7)
      probe: Scan item (i_order, i_price)
",
    );
}

#[test]
fn joins_on_what_is_not_distinct_have_keys() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    shop.columns[i.order].nullable = true;
    shop.columns[o.customer].nullable = true;
    let same = ExprKind::Distinct {
        left: Box::new(shop.column(o.customer)),
        right: Box::new(shop.column(i.order)),
        negated: true,
    };
    let pairs = join(JoinKind::ProbeSemi, item, orders, vec![]);
    let Operator::Join(Join {
        kind, build, probe, ..
    }) = pairs
    else {
        panic!("not a join")
    };
    let root = Operator::Join(Join {
        kind,
        build,
        probe,
        keys: vec![],
        residual: Some(Expr::boolean(same, false)),
        null_aware: false,
        in_order: false,
        first: None,
    });
    assert_plan(
        shop.plan(root, &[o.key]),
        "
Output key = o_key
Join build semi on case when o_customer is null then 0 else o_customer end = case when i_order is null then 0 else i_order end and o_customer is null = i_order is null
  build: Scan orders (o_key, o_customer)
  probe: Scan item (i_order)
",
    );
}

#[test]
fn a_delete_takes_the_rows_that_are_in() {
    let mut shop = Shop::default();
    let (mut orders, o) = shop.orders();
    let row = shop.columns.add("o_row", BIGINT, false);
    let (item, i) = shop.item();
    if let Operator::Scan(Scan { row_id, .. }) = &mut orders {
        *row_id = Some(row);
    }
    let equal = compare(CompareOp::Eq, shop.column(o.customer), shop.column(i.order));
    let any = subquery(SubqueryKind::Any(equal), item, i.order, LogicalType::Boolean);
    let change = Change {
        table: frazil_types::ObjectId(1),
        name: "orders".into(),
        kind: WriteKind::Delete { row_id: row },
        checks: Vec::new(),
        returning: Vec::new(),
    };
    let root = Operator::Write(Box::new(Write::new(filter(orders, any), change)));
    assert_plan(
        shop.plan(root, &[]),
        "
Delete orders by o_row
  Join build semi on o_customer = i_order
    build: Scan orders (o_customer, o_row)
    probe: Scan item (i_order)
",
    );
}

#[test]
fn what_may_fail_is_computed_for_the_rows_its_guard_passes() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    let ty = LogicalType::Integer;
    let quotient = Expr::new(
        ExprKind::Arithmetic(
            ArithmeticOp::Div,
            Box::new(shop.column(i.order)),
            Box::new(shop.column(o.customer)),
        ),
        ty,
        false,
    );
    let id = shop.columns.add("i_quotient", ty, false);
    let items = Operator::Map(Map {
        input: Box::new(item),
        expressions: vec![(id, quotient)],
    });
    let (most, id) = aggregated(&mut shop, items, AggregateFunction::Max, Some(id));
    let value = subquery(SubqueryKind::Scalar, most, id, ty);
    let guard = compare(CompareOp::Ne, shop.column(o.customer), shop.int(0));
    let case = ExprKind::Case {
        branches: vec![(guard, value)],
        otherwise: None,
    };
    let made = shop.columns.add("o_most", ty, true);
    let root = Operator::Map(Map {
        input: Box::new(orders),
        expressions: vec![(made, Expr::new(case, ty, true))],
    });
    assert_plan(
        shop.plan(root, &[o.key, made]),
        "
Output key = o_key#0, most = o_most
Map o_most := case when o_customer#1 <> 0 then aggregate end
  Join probe outer on o_customer#17 = o_customer#1
    build: Aggregate by o_customer#17 := o_customer#16: aggregate := max(argument)
      Map argument := i_quotient
        Map i_quotient := i_order / o_customer#16
          Join inner
            build: Map o_customer#16 := o_customer#15
              Aggregate by o_customer#15 := o_customer#12
                Scan orders (o_customer#12) where o_customer#12 <> 0
            probe: Scan item (i_order)
    probe: Scan orders (o_key#0, o_customer#1)
",
    );
}

#[test]
fn constants_do_not_keep_a_condition_from_being_lifted() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (items, order, price) = items_of(&mut shop, &o);
    let two = ExprKind::Arithmetic(ArithmeticOp::Div, Box::new(shop.int(4)), Box::new(shop.int(2)));
    let two = Expr::new(two, LogicalType::Integer, false);
    let items = filter(items, compare(CompareOp::Ne, shop.column(order), two));
    let (most, id) = aggregated(&mut shop, items, AggregateFunction::Max, Some(price));
    let ty = shop.columns[id].ty;
    let value = subquery(SubqueryKind::Scalar, most, id, ty);
    let made = shop.columns.add("o_most", ty, true);
    let root = Operator::Map(Map {
        input: Box::new(orders),
        expressions: vec![(made, value)],
    });
    assert_plan(
        shop.plan(root, &[o.key, made]),
        "
Output key = o_key, most = o_most
Map o_most := aggregate
  Join probe outer on i_order#9 = o_key
    build: Aggregate by i_order#9 := i_order#4: aggregate := max(i_price)
      Scan item (i_order#4, i_price) where i_order#4 <> 2
    probe: Scan orders (o_key)
",
    );
}

/// A CASE whose branch `i` asks for a subquery that may fail, and so stands behind those before it.
fn chain_of_subqueries(links: usize) -> Plan {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let ty = LogicalType::Integer;
    let mut branches = Vec::new();
    for _ in 0..links {
        let (item, i) = shop.item();
        let (left, right) = (shop.column(i.order), shop.column(o.customer));
        let quotient = ExprKind::Arithmetic(ArithmeticOp::Div, Box::new(left), Box::new(right));
        let id = shop.columns.add("i_quotient", ty, false);
        let items = Operator::Map(Map {
            input: Box::new(item),
            expressions: vec![(id, Expr::new(quotient, ty, false))],
        });
        let (most, id) = aggregated(&mut shop, items, AggregateFunction::Max, Some(id));
        let value = subquery(SubqueryKind::Scalar, most, id, ty);
        let is_null = Expr::boolean(ExprKind::IsNull(Box::new(value)), false);
        branches.push((is_null, shop.int(branches.len() as i128)));
    }
    let case = ExprKind::Case {
        branches,
        otherwise: None,
    };
    let made = shop.columns.add("o_first", ty, true);
    let root = Operator::Map(Map {
        input: Box::new(orders),
        expressions: vec![(made, Expr::new(case, ty, true))],
    });
    shop.plan(root, &[made])
}

#[test]
fn a_chain_of_subqueries_copies_only_what_is_read() {
    let links = 48;
    let plan = optimized(chain_of_subqueries(links));
    // A link copies the values before it once, and one guard in four.
    let most = links * links * 3 / 2;
    assert!(
        plan.columns.len() < most,
        "{} columns of {most}",
        plan.columns.len()
    );
}

#[test]
fn too_long_a_chain_of_subqueries_is_refused() {
    let chain = chain_of_subqueries(1500);
    let outcome = optimize(chain, &Shop::statistics(), &Settings::default(), &Cancel::new());
    let error = outcome.map(|_| ()).unwrap_err();
    assert_eq!(error.state().0, "54001", "{error:?}");
}
