//! What the rules make of hand-built plans, as golden texts.

mod shop;

use frazil_optimizer::{Estimates, Settings, explain, optimize, pipelines};
use frazil_plan::operators::{Aggregate, Join};
use frazil_plan::pipeline::StagePolicy;
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Expr, ExprKind, JoinKind, Operator, Plan,
    display, verify,
};
use frazil_types::{Cancel, CompareOp, LogicalType, Span, Value};
use shop::{Shop, all_of, any_of, compare, filter, is_between, join, like};

fn optimized(plan: Plan) -> Plan {
    verify::plan(&plan).unwrap();
    optimize(plan, &Shop::statistics(), &Settings::default(), &Cancel::new()).unwrap()
}

#[track_caller]
fn assert_plan(plan: &Plan, expected: &str) {
    let text = display::plan(plan);
    assert!(
        text.trim() == expected.trim(),
        "got\n{text}\nexpected\n{expected}"
    );
}

#[test]
fn joins_start_where_few_rows_are() {
    let mut shop = Shop::default();
    let (customer, c) = shop.customer();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    // As written the two large tables meet first.
    let large = join(
        JoinKind::Inner,
        item,
        orders,
        vec![(shop.column(i.order), shop.column(o.key))],
    );
    let all = join(
        JoinKind::Inner,
        large,
        customer,
        vec![(shop.column(o.customer), shop.column(c.key))],
    );
    let segment = shop.equals_text(c.segment, "BUILDING");
    let day = compare(CompareOp::Lt, shop.column(o.day), shop.date("1995-03-15"));
    let root = filter(all, all_of(vec![segment, day]));
    let plan = optimized(shop.plan(root, &[i.order, i.price]));
    assert_plan(
        &plan,
        "
Output order = i_order, price = i_price
Join inner on o_key = i_order
  build: Join inner on c_key = o_customer
    build: Scan customer (c_key, c_segment) where c_segment = 'BUILDING'
    probe: Scan orders (o_key, o_customer, o_day) where o_day <= date '1995-03-14'
  probe: Scan item (i_order, i_price)
",
    );
    let text = explain(&plan, &Shop::statistics(), &Settings::default(), Estimates::Shown);
    assert!(
        text.contains("where c_segment = 'BUILDING'  [3000 rows]"),
        "{text}"
    );
    let cut = pipelines(
        plan,
        &Shop::statistics(),
        &Settings::default(),
        StagePolicy::Staged,
        &Cancel::new(),
    )
    .unwrap();
    verify::pipelines(&cut).unwrap();
    let expected = "
Pipeline 0
  stage 0
    from scan customer (c_key, c_segment) where c_segment = 'BUILDING'
    into join 0 on (c_key) with (), about 3000 rows
Pipeline 1
  stage 0
    from scan orders (o_key, o_customer, o_day) where o_day <= date '1995-03-14', o_customer early in join 0
    probe join 0, inner on o_customer
  stage 1, of vectors (o_key)
    into join 1 on (o_key) with (), about 14576 rows
Pipeline 2
  stage 0
    from scan item (i_order, i_price), i_order early in join 1
    probe join 1, inner on i_order
    into result (i_order, i_price)
";
    let text = display::stages(&cut);
    assert!(
        text.trim() == expected.trim(),
        "got\n{text}\nexpected\n{expected}"
    );
}

#[test]
fn relaxed_stages_end_before_tables_larger_than_the_cache() {
    let boundaries = |policy, repeats| {
        let mut shop = Shop::default();
        let (orders, o) = shop.orders();
        let (item, i) = shop.item();
        let key = if repeats { o.customer } else { o.key };
        let keys = vec![(shop.column(key), shop.column(i.order))];
        let root = join(JoinKind::Inner, orders, item, keys);
        let plan = optimized(shop.plan(root, &[o.day, i.price]));
        let cut = pipelines(
            plan,
            &Shop::statistics(),
            &Settings::default(),
            policy,
            &Cancel::new(),
        )
        .unwrap();
        cut.pipelines
            .iter()
            .map(|p| p.boundaries.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(boundaries(StagePolicy::Fused, true), [vec![], vec![]]);
    assert_eq!(boundaries(StagePolicy::Relaxed, true), [vec![], vec![0]]);
    // The result takes vectors by itself.
    assert_eq!(boundaries(StagePolicy::Staged, true), [vec![], vec![0]]);
    // Keys that are dense and differ are in an array of less than 16 MB: a probe is one read.
    for policy in [StagePolicy::Fused, StagePolicy::Relaxed, StagePolicy::Staged] {
        assert_eq!(boundaries(policy, false), [vec![], vec![]], "{policy:?}");
    }
}

#[test]
fn groups_by_a_column_of_many_build_rows_have_a_boundary() {
    let boundaries = |of_build_rows: bool| {
        let mut shop = Shop::default();
        let (orders, o) = shop.orders();
        let (item, i) = shop.item();
        let keys = vec![(shop.column(o.key), shop.column(i.order))];
        let input = join(JoinKind::Inner, orders, item, keys);
        let key = shop.column(if of_build_rows { o.day } else { i.price });
        let group = shop.columns.add("group", key.ty, false);
        let root = Operator::Aggregate(Aggregate {
            input: Box::new(input),
            groups: vec![(group, key)],
            aggregates: vec![],
        });
        let plan = optimized(shop.plan(root, &[group]));
        let statistics = Shop::statistics();
        let settings = Settings::default();
        let cut = pipelines(plan, &statistics, &settings, StagePolicy::Relaxed, &Cancel::new()).unwrap();
        cut.pipelines[1].boundaries.clone()
    };
    assert_eq!(boundaries(true), [1]);
    assert_eq!(boundaries(false), Vec::<usize>::new());
}

#[test]
fn groups_of_an_integer_have_a_boundary_if_rows_come_in_no_order_of_it() {
    let boundaries = |of_items: bool| {
        let mut shop = Shop::default();
        let (rows, key) = if of_items {
            let (item, i) = shop.item();
            (item, i.order)
        } else {
            let (orders, o) = shop.orders();
            (orders, o.key)
        };
        let key = shop.column(key);
        let group = shop.columns.add("group", key.ty, false);
        // Each group has 92 bytes, so that they do not fit into the cache.
        let sums = [1, 2, 3, 4].map(|n| {
            let one = Expr::constant(Value::Int(n), LogicalType::BigInt);
            let ty = LogicalType::Decimal {
                precision: 38,
                scale: 0,
            };
            (shop.columns.add("sum", ty, false), AggregateCall::sum(one, ty))
        });
        let output = [group, sums[0].0, sums[1].0, sums[2].0, sums[3].0];
        let root = Operator::Aggregate(Aggregate {
            input: Box::new(rows),
            groups: vec![(group, key)],
            aggregates: sums.to_vec(),
        });
        let plan = optimized(shop.plan(root, &output));
        let statistics = Shop::statistics();
        let settings = Settings::default();
        let cut = pipelines(plan, &statistics, &settings, StagePolicy::Relaxed, &Cancel::new()).unwrap();
        cut.pipelines[0].boundaries.clone()
    };
    assert_eq!(boundaries(false), Vec::<usize>::new());
    assert_eq!(boundaries(true), [0]);
}

#[test]
fn conjuncts_become_restrictions() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let root = filter(
        orders,
        all_of(vec![
            is_between(&shop, o.day, "1994-01-01", "1995-01-01"),
            like(shop.column(o.comment), "special%", false),
            any_of(vec![shop.equals(o.customer, 1), shop.equals(o.customer, 7)]),
            compare(CompareOp::Lt, shop.column(o.key), shop.column(o.customer)),
        ]),
    );
    assert_plan(
        &optimized(shop.plan(root, &[o.key])),
        "
Output key = o_key
Filter o_key < o_customer
  Scan orders (o_key, o_customer, o_day, o_comment) where o_comment begins with 'special' and o_customer in (1, 7) and o_day between date '1994-01-01' and date '1994-12-31'
",
    );
}

#[test]
fn disjunctions_of_restrictions_go_to_the_scan() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let few = |shop: &Shop| compare(CompareOp::Lt, shop.column(o.key), shop.int(10));
    let root = filter(
        orders,
        all_of(vec![
            any_of(vec![
                few(&shop),
                all_of(vec![
                    shop.equals(o.customer, 7),
                    is_between(&shop, o.day, "1994-01-01", "1995-01-01"),
                ]),
            ]),
            any_of(vec![
                few(&shop),
                compare(CompareOp::Lt, shop.column(o.key), shop.column(o.customer)),
            ]),
            any_of(vec![
                all_of(vec![shop.equals(o.key, 1), shop.equals(o.customer, 2)]),
                all_of(vec![shop.equals(o.key, 3), shop.equals(o.customer, 4)]),
            ]),
        ]),
    );
    // What compares columns stays behind; what a disjunction says of each column stands beside it.
    assert_plan(
        &optimized(shop.plan(root, &[o.key])),
        "
Output key = o_key
Filter o_key < 10 or o_key < o_customer
  Scan orders (o_key, o_customer, o_day) where o_key in (1, 3) and o_customer in (2, 4) and (o_key <= 9 or o_customer = 7 and o_day between date '1994-01-01' and date '1994-12-31') and (o_key = 1 and o_customer = 2 or o_key = 3 and o_customer = 4)
",
    );
}

#[test]
fn what_can_fail_stays_above_the_join_that_guards_it() {
    let mut shop = Shop::default();
    let (customer, c) = shop.customer();
    let (orders, o) = shop.orders();
    let joined = join(
        JoinKind::Inner,
        customer,
        orders,
        vec![(shop.column(c.key), shop.column(o.customer))],
    );
    let quotient = Expr {
        kind: ExprKind::Arithmetic(
            ArithmeticOp::Div,
            Box::new(shop.int(100)),
            Box::new(shop.column(o.key)),
        ),
        ty: LogicalType::Integer,
        nullable: false,
        span: Span::NONE,
    };
    let root = filter(joined, compare(CompareOp::Gt, quotient, shop.int(1)));
    assert_plan(
        &optimized(shop.plan(root, &[c.key])),
        "
Output key = c_key
Filter 100 / o_key > 1
  Join inner on c_key = o_customer
    build: Scan customer (c_key)
    probe: Scan orders (o_key, o_customer)
",
    );
}

#[test]
fn a_semi_join_builds_the_smaller_side() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    let few = filter(orders, is_between(&shop, o.day, "1994-01-01", "1994-01-10"));
    let root = join(
        JoinKind::ProbeSemi,
        item,
        few,
        vec![(shop.column(i.order), shop.column(o.key))],
    );
    assert_plan(
        &optimized(shop.plan(root, &[o.key])),
        "
Output key = o_key
Join build semi on o_key = i_order
  build: Scan orders (o_key, o_day) where o_day between date '1994-01-01' and date '1994-01-09'
  probe: Scan item (i_order)
",
    );
}

#[test]
fn an_outer_join_whose_nulls_cannot_survive_is_inner() {
    let mut shop = Shop::default();
    let (customer, c) = shop.customer();
    let (orders, o) = shop.orders();
    let keys = vec![(shop.column(o.customer), shop.column(c.key))];
    let outer = join(JoinKind::ProbeOuter, orders, customer, keys);
    let root = filter(outer, shop.equals(o.customer, 5));
    let text = display::plan(&optimized(shop.plan(root, &[c.key, o.key])));
    assert!(
        text.contains("Join inner") && text.contains("where o_customer = 5"),
        "{text}"
    );
}

#[test]
fn distinct_counts_become_two_aggregations() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let count = |argument: Expr| AggregateCall {
        function: AggregateFunction::Count,
        argument: Some(argument),
        second: None,
        distinct: true,
        order: Vec::new(),
        filter: None,
        ty: LogicalType::BigInt,
    };
    let (group, n) = (
        shop.columns.add("day", LogicalType::Date, false),
        shop.columns.add("n", LogicalType::BigInt, false),
    );
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(orders),
        groups: vec![(group, shop.column(o.day))],
        aggregates: vec![(n, count(shop.column(o.customer)))],
    });
    assert_plan(
        &optimized(shop.plan(root, &[group, n])),
        "
Output day, n
Aggregate by day := o_day#6: n := count(o_customer#7)
  Aggregate by o_day#6 := o_day#2, o_customer#7 := o_customer#1
    Scan orders (o_customer#1, o_day#2)
",
    );
}

/// The sum of `case when o_comment like '%s' then n end`.
fn sum_if(shop: &Shop, o: &shop::Orders, n: i128, filter: Option<Expr>) -> AggregateCall {
    let chosen = Expr::constant(Value::Int(n), LogicalType::BigInt);
    let case = ExprKind::Case {
        branches: vec![(like(shop.column(o.comment), "%s", false), chosen)],
        otherwise: None,
    };
    AggregateCall {
        filter,
        ..AggregateCall::sum(Expr::new(case, LogicalType::BigInt, true), LogicalType::BigInt)
    }
}

#[test]
fn a_condition_of_two_aggregates_is_asked_once() {
    for (is_filtered, expected) in [
        (
            false,
            "
Output a, b
Aggregate a := sum(case when condition then 1 end), b := sum(case when condition then 2 end)
  Map condition := o_comment like '%s'
    Scan orders (o_comment)
",
        ),
        (
            true,
            "
Output a, b
Aggregate a := sum(case when o_comment like '%s' then 1 end) filter (where o_key > 9), \
             b := sum(case when o_comment like '%s' then 2 end)
  Scan orders (o_key, o_comment)
",
        ),
    ] {
        let mut shop = Shop::default();
        let (orders, o) = shop.orders();
        let nine = Expr::constant(Value::Int(9), LogicalType::Integer);
        let above = compare(CompareOp::Gt, shop.column(o.key), nine);
        let calls = [
            sum_if(&shop, &o, 1, is_filtered.then_some(above)),
            sum_if(&shop, &o, 2, None),
        ];
        let made = ["a", "b"].map(|name| shop.columns.add(name, LogicalType::BigInt, true));
        let root = Operator::Aggregate(Aggregate {
            input: Box::new(orders),
            groups: vec![],
            aggregates: made.into_iter().zip(calls).collect(),
        });
        assert_plan(&optimized(shop.plan(root, &made)), expected);
    }
}

#[test]
fn keys_that_follow_from_others_are_computed_for_groups() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let one = Expr::constant(Value::Int(1), LogicalType::Integer);
    let after = |id, shop: &Shop| {
        let sides = [shop.column(id), one.clone()].map(Box::new);
        let [left, right] = sides;
        let ty = LogicalType::BigInt;
        Expr::new(ExprKind::Arithmetic(ArithmeticOp::Add, left, right), ty, false)
    };
    let keys = [
        shop.column(o.key),
        after(o.key, &shop),
        one.clone(),
        after(o.customer, &shop),
        shop.column(o.key),
    ];
    let groups: Vec<(ColumnId, Expr)> = (["k", "next", "one", "other", "again"].into_iter().zip(keys))
        .map(|(name, key)| (shop.columns.add(name, key.ty, false), key))
        .collect();
    let made: Vec<ColumnId> = groups.iter().map(|g| g.0).collect();
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(orders),
        groups,
        aggregates: vec![],
    });
    assert_plan(
        &optimized(shop.plan(root, &made)),
        "
Output k, next, one, other, again
Map next := k + 1, one := 1, again := k
  Aggregate by k := o_key, other := o_customer + 1
    Scan orders (o_key, o_customer)
",
    );
    // Without a key there would be a group of no rows.
    let mut shop = Shop::default();
    let (orders, _) = shop.orders();
    let made = ["a", "b"].map(|name| shop.columns.add(name, LogicalType::Integer, false));
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(orders),
        groups: made.iter().map(|id| (*id, one.clone())).collect(),
        aggregates: vec![],
    });
    assert_plan(
        &optimized(shop.plan(root, &made)),
        "
Output a, b
Map b := 1
  Aggregate by a := 1
    Scan orders ()
",
    );
}

#[test]
fn sums_that_differ_by_constants_are_computed_from_one() {
    let number = |n| Expr::constant(Value::Int(n), LogicalType::Integer);
    let added = |op, left, right| {
        let sides = [left, right].map(Box::new);
        let [left, right] = sides;
        Expr::new(ExprKind::Arithmetic(op, left, right), LogicalType::Integer, false)
    };
    for (sums, expected) in [
        (
            4,
            "
Output s0, s1, s2, s3
Map s0 := sum, s1 := sum + 1 * count, s2 := sum + -2 * count, s3 := sum + 8 * count
  Aggregate sum := sum(o_customer), count := count(o_customer)
    Scan orders (o_customer)
",
        ),
        (
            2,
            "
Output s0, s1
Aggregate s0 := sum(o_customer), s1 := sum(o_customer + 1)
  Scan orders (o_customer)
",
        ),
    ] {
        let mut shop = Shop::default();
        let (orders, o) = shop.orders();
        let value = || shop.column(o.customer);
        let arguments = [
            value(),
            added(ArithmeticOp::Add, value(), number(1)),
            added(ArithmeticOp::Sub, value(), number(2)),
            added(
                ArithmeticOp::Add,
                number(3),
                added(ArithmeticOp::Add, value(), number(5)),
            ),
        ];
        let aggregates: Vec<(ColumnId, AggregateCall)> = (arguments.into_iter().enumerate().take(sums))
            .map(|(i, argument)| {
                let made = shop.columns.add(format!("s{i}"), LogicalType::BigInt, true);
                (made, AggregateCall::sum(argument, LogicalType::BigInt))
            })
            .collect();
        let made: Vec<ColumnId> = aggregates.iter().map(|a| a.0).collect();
        let root = Operator::Aggregate(Aggregate {
            input: Box::new(orders),
            groups: vec![],
            aggregates,
        });
        assert_plan(&optimized(shop.plan(root, &made)), expected);
    }
}

#[test]
fn a_contradiction_reads_nothing() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let root = filter(orders, Expr::constant(Value::Bool(false), LogicalType::Boolean));
    assert_plan(
        &optimized(shop.plan(root, &[o.key])),
        "
Output key = o_key
Values (o_key): no rows
",
    );
}

#[test]
fn many_relations_are_ordered_in_time() {
    let mut shop = Shop::default();
    let (mut root, first) = shop.customer();
    let mut output: Vec<ColumnId> = vec![first.key];
    // A star of 30: far too many pairs to look at all.
    for _ in 0..30 {
        let (other, c) = shop.customer();
        root = join(
            JoinKind::Inner,
            other,
            root,
            vec![(shop.column(c.key), shop.column(first.key))],
        );
        output.push(c.key);
    }
    let started = std::time::Instant::now();
    let plan = optimized(shop.plan(root, &output));
    assert!(started.elapsed().as_secs() < 5);
    assert_eq!(display::plan(&plan).matches("Join inner on").count(), 30);
    assert_eq!(display::plan(&plan).matches("Scan").count(), 31);
}

#[test]
fn a_full_join_takes_its_keys_from_its_condition() {
    let mut shop = Shop::default();
    let (orders, o) = shop.orders();
    let (item, i) = shop.item();
    let same = compare(CompareOp::Eq, shop.column(i.order), shop.column(o.key));
    let root = Operator::Join(Join {
        kind: JoinKind::FullOuter,
        build: Box::new(orders),
        probe: Box::new(item),
        keys: vec![],
        residual: Some(same),
        null_aware: false,
        in_order: false,
        first: None,
    });
    let mut plan = shop.plan(root, &[o.key, i.price]);
    frazil_plan::nullable_columns::recompute(&mut plan);
    assert_plan(
        &optimized(plan),
        "
Output key = o_key, price = i_price
Join full outer on o_key = i_order
  build: Scan orders (o_key)
  probe: Scan item (i_order, i_price)
",
    );
}
