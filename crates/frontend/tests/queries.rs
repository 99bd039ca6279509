//! Names of results, parameters, scopes.

mod support;

use frazil_frontend::{HiddenParameter, Limits, PlanSettings, bind, parse};
use frazil_plan::Operator;
use frazil_types::{LogicalType, Zone};
use support::{Tables, bound, failure, operators, query};

fn names(sql: &str) -> Vec<String> {
    query(sql).output.into_iter().map(|o| o.0).collect()
}

#[test]
fn names_are_postgresqls() {
    let list = "a, sum(b), m + 1, count(*) as n, extract(year from d), \"p\", 'x', true, null, 1::int, a::bigint, \
                case when p then 1 end, case when p then 1 else a end, date '2020-01-01', -a, coalesce(a, 1), \
                nullif(a, 1), trim(v), exists (select 1), (select max(id) from u), cast('1' as decimal(5,2)), \
                a in (1), interval '1' day, current_date";
    assert_eq!(
        names(&format!("select {list} from t group by all")),
        [
            "a",
            "sum",
            "?column?",
            "n",
            "extract",
            "p",
            "?column?",
            "?column?",
            "?column?",
            "int4",
            "a",
            "case",
            "a",
            "date",
            "?column?",
            "coalesce",
            "nullif",
            "btrim",
            "exists",
            "max",
            "numeric",
            "?column?",
            "interval",
            "current_date",
        ]
    );
    assert_eq!(names("values (1, 2)"), ["column1", "column2"]);
    assert_eq!(
        names("select * from (select sum(a), 1 from t) s"),
        ["sum", "?column?"]
    );
}

#[test]
fn merged_columns_come_first() {
    assert_eq!(
        names("select * from (select 1 as a, 2 as k) l join (select 3 as b, 4 as k) r using (k)"),
        ["k", "a", "b"]
    );
    assert_eq!(
        names("select * from (select 1 as a, 2 as k) l natural full join (select 3 as b, 4 as k) r"),
        ["k", "a", "b"]
    );
    assert_eq!(names("select l.*, r.* from u l join u r using (id)").len(), 6);
    assert_eq!(names("select j.* from (u l join u r using (id)) j").len(), 5);
    for condition in ["id = 1", "l.id = 1 and r.id = 1"] {
        query(&format!(
            "select id from u l full join u r using (id) where {condition}"
        ));
    }
    query("select id from u x join u y using (id) join u z using (id) where id = 1 group by id order by id");
    assert_eq!(failure("select l.id from (u l join u r using (id)) j").0, "42P01");
}

#[test]
fn wildcards_leave_out_and_replace() {
    assert_eq!(names("select * exclude (price) from u"), ["id", "note"]);
    assert_eq!(
        names("select u.* exclude id replace (1 as note) from u"),
        ["price", "note"]
    );
    assert_eq!(failure("select * exclude (nope) from u").0, "42703");
}

#[test]
fn parameters_take_their_partners_type() {
    let b = bound("select a from t where d = $2 and w = $3 and a in ($4, 5) and b = $1");
    let types: Vec<String> = b.parameters.iter().map(ToString::to_string).collect();
    assert_eq!(types, ["bigint", "date", "text", "integer"]);
    assert_eq!(bound("select $1").parameters, [LogicalType::Text]);
    assert_eq!(
        bound("select a from t limit $1 offset $2").parameters,
        [LogicalType::BigInt; 2]
    );
    let b = bound("select now(), current_date, $1 + 1 from t where ts < now()");
    assert_eq!(b.parameters, [LogicalType::Integer]);
    assert_eq!(
        b.hidden,
        [HiddenParameter::Now, HiddenParameter::CurrentDate(Zone::UTC)]
    );
    let given = parse("select $1", &Limits::none()).unwrap();
    let settings = PlanSettings::default();
    let b = bind(&given[0], &Tables::new(), &settings, &[Some(LogicalType::Date)]).unwrap();
    assert_eq!(b.parameters, [LogicalType::Date]);
}

#[test]
fn tables_that_are_read_twice_are_computed_once() {
    let shared = |sql: &str| query(sql).shared.len();
    assert_eq!(
        shared("with x as (select a, b from t) select * from x p, x q where p.a = q.b"),
        1
    );
    assert_eq!(shared("with x as (select a from t) select * from x"), 0);
    assert_eq!(
        shared("with x as (select a from t), y as (select a from x) select * from y, x"),
        1
    );
    assert_eq!(
        shared("with x as not materialized (select a from t) select * from x, x y"),
        0
    );
    let correlated = "select (with x as (select id from u where id = a) select sum(x.id) from x, x y) from t";
    assert_eq!(shared(correlated), 0);
    assert_eq!(failure("with x as (select nope) select 1").0, "42703");
}

#[test]
fn all_of_tpch_binds() {
    for number in 1..=22 {
        let plan = query(&frazil_tpch::query(number, 1.0));
        assert!(!plan.output.is_empty());
        let scans = operators(&plan.root)
            .iter()
            .filter(|op| matches!(op, Operator::Scan(_) | Operator::Shared(_)))
            .count();
        assert!(scans > 0, "Q{number}");
    }
}
