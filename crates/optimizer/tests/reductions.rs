//! What the rules that leave rows out early make of plans, as golden texts: what readers ask of shared subplans, constants
//! across outer joins, outer joins that are anti joins, and scalar subqueries as restrictions.

mod shop;

use frazil_optimizer::{Settings, optimize};
use frazil_plan::operators::{Aggregate, Map, Shared, UnionAll};
use frazil_plan::subquery::has_subquery;
use frazil_plan::{
    AggregateCall, ColumnId, Expr, ExprKind, JoinKind, Operator, Plan, SharedId, Subquery, SubqueryKind,
    display, nullable_columns, verify,
};
use frazil_types::{Cancel, CompareOp, LogicalType};
use shop::{Shop, all_of, any_of, compare, filter, join};

#[track_caller]
fn assert_plan(mut plan: Plan, expected: &str) {
    if plan
        .trees()
        .all(|tree| !tree.expressions().into_iter().any(has_subquery))
    {
        nullable_columns::recompute(&mut plan);
        verify::plan(&plan).unwrap();
    }
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

/// A reading of the first shared subplan.
fn reading<const N: usize>(
    shop: &mut Shop,
    letter: &str,
    stored: [ColumnId; N],
) -> (Operator, [ColumnId; N]) {
    let made = stored.map(|id| {
        let info = shop.columns[id].clone();
        let name = info.label.split_once('_').map_or(info.label.as_str(), |l| l.1);
        shop.columns
            .add(format!("{letter}_{name}"), info.ty, info.nullable)
    });
    let columns = made.iter().copied().zip(stored).collect();
    let id = SharedId(0);
    (Operator::Shared(Shared { id, columns }), made)
}

fn on_day(shop: &Shop, id: ColumnId, day: &str) -> Expr {
    compare(CompareOp::Eq, shop.column(id), shop.date(day))
}

#[test]
fn a_shared_subplan_has_the_rows_that_its_readers_ask_for() {
    let mut shop = Shop::default();
    let (shared, stored) = counted(&mut shop, "s");
    let (a, [a_customer, a_day, a_count]) = reading(&mut shop, "a", stored);
    let (b, [b_customer, b_day, b_count]) = reading(&mut shop, "b", stored);
    let many = Expr::constant(frazil_types::Value::Int(2), LogicalType::BigInt);
    let many = compare(CompareOp::Gt, shop.column(a_count), many);
    let a = filter(a, all_of(vec![on_day(&shop, a_day, "1995-03-15"), many]));
    let b = filter(b, on_day(&shop, b_day, "1996-03-15"));
    let keys = vec![(shop.column(a_customer), shop.column(b_customer))];
    let root = join(JoinKind::Inner, a, b, keys);
    let mut plan = shop.plan(root, &[a_customer, a_count, b_count]);
    plan.shared.push(shared);
    assert_plan(
        plan,
        "
Output customer = a_customer, count = a_count, count = b_count
Join inner on a_customer = b_customer
  build: Filter a_day = date '1995-03-15' and a_count > 2
    Shared 0 (a_customer := s_customer, a_day := s_day, a_count := s_count)
  probe: Filter b_day = date '1996-03-15'
    Shared 0 (b_customer := s_customer, b_day := s_day, b_count := s_count)
Shared 0:
  Filter s_day = date '1995-03-15' and s_count > 2 or s_day = date '1996-03-15'
    Aggregate by s_customer := o_customer, s_day := o_day: s_count := count(*)
      Scan orders (o_customer, o_day) where o_day in (date '1995-03-15', date '1996-03-15')
",
    );
}

#[test]
fn a_reader_that_asks_nothing_has_all_rows() {
    let mut shop = Shop::default();
    let (shared, stored) = counted(&mut shop, "s");
    let (a, [a_customer, a_day, a_count]) = reading(&mut shop, "a", stored);
    let (b, [b_customer, _, b_count]) = reading(&mut shop, "b", stored);
    let a = filter(a, on_day(&shop, a_day, "1995-03-15"));
    let keys = vec![(shop.column(a_customer), shop.column(b_customer))];
    let root = join(JoinKind::Inner, a, b, keys);
    let mut plan = shop.plan(root, &[a_customer, a_count, b_count]);
    plan.shared.push(shared);
    assert_plan(
        plan,
        "
Output customer = a_customer, count = a_count, count = b_count
Join inner on a_customer = b_customer
  build: Filter a_day = date '1995-03-15'
    Shared 0 (a_customer := s_customer, a_day := s_day, a_count := s_count)
  probe: Shared 0 (b_customer := s_customer, b_count := s_count)
Shared 0:
  Aggregate by s_customer := o_customer, s_day := o_day: s_count := count(*)
    Scan orders (o_customer, o_day)
",
    );
}

#[test]
fn branches_of_a_union_are_shared_one_by_one() {
    let mut shop = Shop::default();
    let mut inputs = Vec::new();
    for (letter, kind) in [("s", 1), ("t", 2)] {
        let (input, [customer, day, count]) = counted(&mut shop, letter);
        let id = shop
            .columns
            .add(format!("{letter}_kind"), LogicalType::Integer, false);
        let map = Operator::Map(Map {
            input: Box::new(input),
            expressions: vec![(id, shop.int(kind))],
        });
        inputs.push((map, vec![customer, day, count, id]));
    }
    let mut made = |name: &str, ty| shop.columns.add(format!("u_{name}"), ty, false);
    let stored = [
        made("customer", LogicalType::Integer),
        made("day", LogicalType::Date),
        made("count", LogicalType::BigInt),
        made("kind", LogicalType::Integer),
    ];
    let union = Operator::UnionAll(UnionAll {
        inputs,
        columns: stored.to_vec(),
    });
    let (a, [a_customer, a_day, a_count, a_kind]) = reading(&mut shop, "a", stored);
    let (b, [b_customer, b_day, b_count, b_kind]) = reading(&mut shop, "b", stored);
    let a = filter(
        a,
        all_of(vec![on_day(&shop, a_day, "1995-03-15"), shop.equals(a_kind, 1)]),
    );
    let b = filter(
        b,
        all_of(vec![on_day(&shop, b_day, "1996-03-15"), shop.equals(b_kind, 2)]),
    );
    let keys = vec![(shop.column(a_customer), shop.column(b_customer))];
    let root = join(JoinKind::Inner, a, b, keys);
    let mut plan = shop.plan(root, &[a_customer, a_count, b_count]);
    plan.shared.push(union);
    assert_plan(
        plan,
        "
Output customer = a_customer, count = a_count, count = b_count
Join inner on a_customer = b_customer
  build: Map a_kind := 1
    Filter a_day = date '1995-03-15'
      Shared 0 (a_customer := s_customer, a_day := s_day, a_count := s_count)
  probe: Map b_kind := 2
    Filter b_day = date '1996-03-15'
      Shared 1 (b_customer := t_customer, b_day := t_day, b_count := t_count)
Shared 0:
  Map s_kind := 1
    Aggregate by s_customer := o_customer#1, s_day := o_day#2: s_count := count(*)
      Scan orders (o_customer#1, o_day#2) where o_day#2 = date '1995-03-15'
Shared 1:
  Map t_kind := 2
    Aggregate by t_customer := o_customer#9, t_day := o_day#10: t_count := count(*)
      Scan orders (o_customer#9, o_day#10) where o_day#10 = date '1996-03-15'
",
    );
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

#[test]
fn a_scalar_subquery_of_several_rows_is_a_restriction_and_a_check() {
    let mut shop = Shop::default();
    let (item, i) = shop.item();
    let (orders, o) = shop.orders();
    let (customer, c) = shop.customer();
    let subquery = |kind, root, column, ty| {
        let columns = vec![column];
        Expr::new(
            ExprKind::Subquery(Box::new(Subquery::new(kind, root, columns))),
            ty,
            true,
        )
    };
    let named = filter(customer, shop.equals_text(c.segment, "BUILDING"));
    let key = subquery(SubqueryKind::Scalar, named, c.key, LogicalType::Integer);
    let of_customer = filter(orders, compare(CompareOp::Eq, shop.column(o.customer), key));
    let equal = compare(CompareOp::Eq, shop.column(o.key), shop.column(i.order));
    let any = subquery(SubqueryKind::Any(equal), of_customer, o.key, LogicalType::Boolean);
    let root = filter(item, any);
    assert_plan(
        shop.plan(root, &[i.price]),
        "
Output price = i_price#1
Join probe semi on o_key#3 = i_order#0
  build: Scan orders (o_key#3, o_customer#4) where o_customer#4 = subquery 0
  probe: Scan item (i_order#0, i_price#1)
Subquery 0: c_key#11
  Shared 0 (c_key#11 := c_key#9)
Subquery 1: rows#12
  Shared 0 (rows#12 := rows#10)
Subquery 2: rows#20
  Aggregate rows#20 := count(*)
    Filter o_customer#17 = single(subquery 0, subquery 1)
      Join inner
        build: Some rows, limit 1
          Join inner
            build: Filter subquery 1 > 1
              Values (): ()
            probe: Scan item ()
        probe: Scan orders (o_customer#17)
Shared 0:
  Aggregate c_key#9 := min(c_key#7), rows#10 := count(*)
    Scan customer (c_key#7, c_segment) where c_segment = 'BUILDING'
",
    );
}
