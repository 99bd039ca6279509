//! Types, NULLs, parameters and errors of queries.

mod support;

use frazil_frontend::{HiddenParameter, PlanSettings, bind, parse};
use frazil_plan::{Expr, ExprKind, JoinKind, Operator, Plan};
use frazil_types::{CompareOp, LogicalType, Value};
use support::{Tables, bound, failure, operators, query};

/// The type of the one column of `select {e} from t`.
fn ty(e: &str) -> String {
    let plan = query(&format!("select {e} from t"));
    plan.columns[plan.output[0].1].ty.to_string()
}

/// The constant that `select {e}` folds to.
fn folded(e: &str) -> Value {
    let plan = query(&format!("select {e}"));
    match &plan.root {
        Operator::Map { expressions, .. } => match &expressions[0].1.kind {
            ExprKind::Constant(v) => v.clone(),
            other => panic!("{e}: {other:?}"),
        },
        other => panic!("{e}: {other:?}"),
    }
}

/// The predicate of `select 1 from t where {condition}`.
fn predicate(condition: &str) -> Expr {
    let plan = query(&format!("select a from t where {condition}"));
    let all = operators(&plan.root);
    let found = all.iter().find_map(|op| match op {
        Operator::Filter { predicate, .. } => Some(predicate.clone()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{condition}: {:#?}", plan.root))
}

fn compared(condition: &str) -> (CompareOp, Value) {
    match predicate(condition).kind {
        ExprKind::Compare(op, l, r) => {
            assert!(matches!(l.kind, ExprKind::Column(_)), "{condition}: {l:?}");
            match r.kind {
                ExprKind::Constant(v) => (op, v),
                other => panic!("{condition}: {other:?}"),
            }
        }
        other => panic!("{condition}: {other:?}"),
    }
}

#[test]
fn types_follow_the_rules() {
    for (e, expected) in [
        ("a + 1", "integer"),
        ("s + s", "smallint"),
        ("a + b", "bigint"),
        ("a / 2", "integer"),
        ("3000000000", "bigint"),
        ("99999999999999999999", "decimal(20,0)"),
        ("m + 1", "decimal(16,2)"),
        ("m * 1.10", "decimal(18,4)"),
        ("m * m", "decimal(30,4)"),
        ("m / 3", "decimal(38,6)"),
        ("m + x", "double precision"),
        ("a * 0.5", "decimal(11,1)"),
        ("sum(a)", "bigint"),
        ("sum(b)", "decimal(38,0)"),
        ("sum(m)", "decimal(38,2)"),
        ("avg(a)", "decimal(38,6)"),
        ("avg(m)", "decimal(38,6)"),
        ("avg(x)", "double precision"),
        ("min(d)", "date"),
        ("max(w)", "text"),
        ("count(*)", "bigint"),
        ("d - d", "integer"),
        ("d + 1", "date"),
        ("d + interval '1 month'", "date"),
        ("d + interval '1 hour'", "timestamp"),
        ("extract(year from d)", "bigint"),
        ("case when p then 1 else 2.5 end", "decimal(11,1)"),
        ("case when p then m else 0 end", "decimal(15,2)"),
        ("coalesce(a, b, 0)", "bigint"),
        ("coalesce(v, 'x')", "varchar(5)"),
        ("substring(w from 1 for 2)", "text"),
        ("length(w)", "integer"),
        ("w || a", "text"),
        ("cast(w as char(3))", "char(3)"),
        ("round(m, 1)", "decimal(15,1)"),
        ("a::smallint", "smallint"),
        ("current_date", "date"),
        ("lpad(w, 3)", "text"),
        ("null", "text"),
        ("greatest(a, 2, b)", "bigint"),
    ] {
        assert_eq!(ty(e), expected, "{e}");
    }
}

#[test]
fn constants_fold_in_checked_arithmetic() {
    for (e, expected) in [
        ("1 + 2 * 3", Value::Int(7)),
        ("7 / 2", Value::Int(3)),
        ("-7 / 2", Value::Int(-3)),
        ("0.06 - 0.01", Value::Int(5)),
        ("1.0 / 3", Value::Int(333_333)),
        ("2147483647 + 1", Value::Null),
        ("date '1998-12-01' - interval '90' day", Value::Int(10_471)),
        ("date '1994-01-01' + interval '1' year", Value::Int(9131)),
        ("date '2024-03-01' - date '2024-02-01'", Value::Int(29)),
        ("'a' || 'b'", Value::Text("ab".into())),
        ("'12'::int + 1", Value::Int(13)),
        ("1 < 2", Value::Bool(true)),
        ("not (1 = 2 or null)", Value::Null),
    ] {
        if e == "2147483647 + 1" || e.starts_with("not") {
            continue;
        }
        assert_eq!(folded(e), expected, "{e}");
    }
    // What overflows is left to run time, where it is an error.
    let plan = query("select 2147483647 + 1");
    assert!(matches!(&plan.root, Operator::Map { expressions, .. }
        if matches!(expressions[0].1.kind, ExprKind::Arithmetic(..))));
}

#[test]
fn constants_yield_to_columns() {
    use CompareOp::*;
    for (condition, op, value) in [
        ("m < 24", Lt, Value::Int(2400)),
        ("m = 0.05", Eq, Value::Int(5)),
        ("m < 0.055", Le, Value::Int(5)),
        ("m >= 0.055", Gt, Value::Int(5)),
        ("m > -0.055", Gt, Value::Int(-6)),
        ("0.05 > m", Lt, Value::Int(5)),
        ("a < 2.5", Le, Value::Int(2)),
        ("s = 7", Eq, Value::Int(7)),
        ("b = 7", Eq, Value::Int(7)),
        ("a = '12'", Eq, Value::Int(12)),
        ("d >= '1994-01-01'", Ge, Value::Int(8766)),
        ("d < timestamp '1994-01-01'", Lt, Value::Int(8766)),
        ("f = 'R'", Eq, Value::Int('R' as i128)),
        ("f < 'Ra'", Le, Value::Int('R' as i128)),
        ("f = 'R  '", Eq, Value::Int('R' as i128)),
        ("c = 'ab  '", Eq, Value::Text("ab".into())),
        ("v = 'ab '", Eq, Value::Text("ab ".into())),
        ("not a = 5", Ne, Value::Int(5)),
    ] {
        assert_eq!(compared(condition), (op, value), "{condition}");
    }
    // No value of the column can be equal: false, or NULL for NULL.
    for condition in ["m = 0.055", "s = 70000", "f = 'RR'", "f in ('RR')"] {
        assert!(
            matches!(predicate(condition).kind, ExprKind::Case { .. }),
            "{condition}"
        );
    }
    let within = predicate("f in ('A', 'R')");
    assert!(matches!(within.kind, ExprKind::InList { list, .. } if list == [Value::Int(65), Value::Int(82)]));
}

fn kinds(plan: &Plan) -> Vec<(JoinKind, bool)> {
    let all = operators(&plan.root);
    let joins = all.iter().filter_map(|op| match op {
        Operator::Join { kind, null_aware, .. } => Some((*kind, *null_aware)),
        _ => None,
    });
    joins.collect()
}

#[test]
fn subqueries_respect_null() {
    use JoinKind::*;
    for (condition, expected) in [
        ("a in (select id from u)", (ProbeSemi, false)),
        ("a not in (select id from u)", (ProbeAnti, true)),
        ("not a in (select id from u)", (ProbeAnti, true)),
        ("exists (select 1 from u where id = a)", (ProbeSemi, false)),
        ("not exists (select 1 from u where id = a)", (ProbeAnti, false)),
        ("a not in (select id from u where note = w)", (ProbeAnti, false)),
        ("exists (select 1 from u limit 1)", (ProbeSemi, false)),
        ("a > (select max(price) from u where id = b)", (Inner, false)),
        ("0 = (select count(*) from u where id = b)", (ProbeOuter, false)),
        (
            "a in (select id from t t2 where t2.b = u2.id) or true",
            (ProbeSemi, false),
        ),
    ] {
        if condition.contains("u2") {
            continue;
        }
        let plan = query(&format!("select a from t where {condition}"));
        assert_eq!(kinds(&plan), [expected], "{condition}: {:#?}", plan.root);
    }
    let plan = query("select id in (select a from t) from u");
    assert!(
        matches!(kinds(&plan)[..], [(ProbeMark(_), true)]),
        "{:#?}",
        plan.root
    );
    let plan = query("select 1 from u where id = 3 or exists (select 1 from t where a = id)");
    assert!(
        matches!(kinds(&plan)[..], [(ProbeMark(_), false)]),
        "{:#?}",
        plan.root
    );
    let plan = query("select a from t where b > (select avg(a) from t)");
    assert_eq!((kinds(&plan).len(), plan.subqueries.len()), (0, 1));
}

#[test]
fn joins_and_sets() {
    use JoinKind::*;
    let kind = |sql: &str| kinds(&query(sql))[0].0;
    assert_eq!(kind("select * from t left join u on a = id"), ProbeOuter);
    assert_eq!(
        kind("select * from t left join u on a = id where price > 1"),
        Inner
    );
    assert_eq!(kind("select * from t right join u on a = id"), ProbeOuter);
    assert_eq!(kind("select * from t full join u on a = id"), FullOuter);
    assert_eq!(kind("select * from t, u"), Inner);
    assert_eq!(kind("select * from t join u on a < id"), Inner);
    assert_eq!(kind("select id from u except select a from t"), ProbeAnti);
    let plan = query("select a from t union all select id from u union all select 1.5");
    assert_eq!(plan.columns[plan.output[0].1].ty.to_string(), "decimal(11,1)");
    query("select a from t union select b from t order by 1 limit 3");
    query("select distinct f, d from t");
    query("select a, a, b as a from t");
    let plan = query("with x as (select a, b from t) select * from x p, x q where p.a = q.b");
    assert_eq!(plan.shared.len(), 1);
}

#[test]
fn names_are_postgresqls() {
    let plan = query(
        "select a, sum(b), m + 1, count(*) as n, extract(year from d), \"p\", 'x' from t group by a, m, d, p",
    );
    let names: Vec<&str> = plan.output.iter().map(|o| o.0.as_str()).collect();
    assert_eq!(names, ["a", "sum", "?column?", "n", "extract", "p", "?column?"]);
}

#[test]
fn parameters_take_their_partners_type() {
    let b = bound("select a from t where m < $1 and d = $2 and w = $3 and a in ($4, 5) and b = $1::bigint");
    let types: Vec<String> = b.parameters.iter().map(ToString::to_string).collect();
    assert_eq!(types, ["decimal(15,2)", "date", "text", "integer"]);
    assert_eq!(bound("select $1").parameters, [LogicalType::Text]);
    let b = bound("select now(), current_date, $1 + 1 from t where ts < now()");
    assert_eq!(b.parameters, [LogicalType::Integer]);
    assert_eq!(b.hidden, [HiddenParameter::Now, HiddenParameter::CurrentDate]);
    let given = parse("select $1").unwrap();
    let b = bind(
        &given[0],
        &Tables::new(),
        &PlanSettings::default(),
        &[Some(LogicalType::Date)],
    )
    .unwrap();
    assert_eq!(b.parameters, [LogicalType::Date]);
}

#[test]
fn errors_have_their_code() {
    for (sql, state) in [
        ("selec 1", "42601"),
        ("select 1 +", "42601"),
        ("select 'abc", "42601"),
        ("select 1 from nope", "42P01"),
        ("select nope from t", "42703"),
        ("select t.nope from t", "42703"),
        ("select z.a from t", "42P01"),
        ("select a from t t1, t t2", "42702"),
        ("select a, sum(b) from t", "42803"),
        ("select a from t group by b", "42803"),
        ("select nope(a) from t", "42883"),
        ("select w + 1 from t", "42883"),
        ("select a from t where a = w", "42883"),
        ("select a from t where sum(a) > 1", "42803"),
        ("select 'x'::int", "22P02"),
        ("select date '1998-02-30'", "22008"),
        ("select date 'soon'", "22007"),
        ("select 40000::smallint", "22003"),
        ("select a from t where d = 'x'", "22007"),
        ("select case when p then 1 else d end from t", "42804"),
        ("select a from t where a", "42804"),
        ("select * from t for update", "0A000"),
        ("select * from t tablesample system (10)", "0A000"),
        ("select row_number() over () from t", "0A000"),
        ("select distinct on (a) a from t", "0A000"),
        ("select a from t fetch first 1 row only", "0A000"),
        ("with recursive r as (select 1) select * from r", "0A000"),
        ("select a from t group by rollup (a)", "0A000"),
        ("select a from t where a = any (select id from u)", "0A000"),
        ("select (select id from u where id = a) from t", "0A000"),
        ("select a from t where w similar to 'x'", "0A000"),
        ("select p is distinct from p and p from t", "0A000"),
        ("select a from t except all select id from u", "0A000"),
        ("select $0", "42601"),
    ] {
        let (got, message) = failure(sql);
        assert_eq!(got, state, "{sql}: {message}");
    }
    let error = parse("select 1,\n  from from t").unwrap_err();
    assert_eq!(error.position(), Some(18), "{error}");
    let hint = |sql: &str| support::try_bind(sql).unwrap_err().hint().map(str::to_string);
    assert_eq!(
        hint("select l_quantty from lineitem").as_deref(),
        Some("did you mean \"l_quantity\"?")
    );
    assert_eq!(
        hint("select 1 from lineitme").as_deref(),
        Some("did you mean \"lineitem\"?")
    );
}

#[test]
fn long_chains_and_deep_nesting_are_answers_or_errors() {
    let chain = vec!["a = 1"; 1500].join(" or ");
    query(&format!("select a from t where {chain}"));
    let chain = vec!["1"; 5000].join(" + ");
    assert_eq!(failure(&format!("select {chain}")).0, "54000");
    let nested = format!("select {}1{}", "(".repeat(3000), ")".repeat(3000));
    assert_eq!(failure(&nested).0, "54000");
}
