//! Parameters that nothing in a statement types have the types of their values, and words of the present are read when a statement runs.

use crate::{memory, rows};
use frazil::{Connection, Outcome, RawValue as Value, params};

/// The only value of a query's only row, as text.
fn answer(c: &Connection, sql: &str, values: &[Value]) -> String {
    let response = c
        .execute_with(sql, values)
        .unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    let Outcome::Rows(rows) = response.outcome else {
        panic!("{sql} is a query");
    };
    let ty = rows.schema().columns[0].ty;
    let row = rows.raw().next().expect("a row");
    row[0].display(ty).to_string()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn a_parameter_that_nothing_types_is_of_its_values_type() {
    let c = memory();
    let (nine, ten) = (Value::Int(9), Value::Int(10));
    let cases: &[(&str, &[Value], &str)] = &[
        ("select greatest($1, $2)", &[nine.clone(), ten.clone()], "10"),
        ("select least($1, $2)", &[nine.clone(), ten.clone()], "9"),
        ("select coalesce($1, $2)", &[Value::Null, ten.clone()], "10"),
        (
            "select case when true then $1 else $2 end",
            &[nine.clone(), ten.clone()],
            "9",
        ),
        (
            "select x from (values ($1), ($2)) v(x) order by x limit 1",
            &[ten.clone(), nine.clone()],
            "9",
        ),
        (
            "select max(x) from (values ($1), ($2)) v(x)",
            &[nine.clone(), ten.clone()],
            "10",
        ),
        (
            "select jsonb_build_object('a', $1)",
            std::slice::from_ref(&nine),
            "{\"a\": 9}",
        ),
        (
            "select jsonb_build_array($1, $2)",
            &[Value::Bool(true), text("x")],
            "[true, \"x\"]",
        ),
        (
            "select greatest($1, $2)",
            &[Value::Double(9.5), Value::Double(10.25)],
            "10.25",
        ),
        ("select greatest($1, $2)", &[text("9"), text("10")], "9"),
        // A text is what is needed here, whatever the value is.
        ("select upper($1)", std::slice::from_ref(&nine), "9"),
        ("select $1 || $2", &[nine.clone(), ten.clone()], "910"),
        ("select 'x' = $1", std::slice::from_ref(&nine), "f"),
    ];
    // Each twice, with texts in between: what was compiled for texts does not serve numbers.
    for (sql, values, expected) in cases {
        assert_eq!(answer(&c, sql, values), *expected, "{sql}");
        let texts: Vec<Value> = values.iter().map(|v| text(&format!("{v:?}"))).collect();
        let _ = c.execute_with(sql, &texts);
        assert_eq!(answer(&c, sql, values), *expected, "{sql} again");
        let statement = c.prepare(sql).expect("it parses");
        assert!(
            statement.execute(values).is_ok() && statement.execute(&texts).is_ok(),
            "{sql}"
        );
    }
}

/// A statement that values typed is compiled once for each list of their types.
#[test]
fn statements_typed_by_values_are_kept() {
    let c = memory();
    rows(
        &c,
        "create table t as select g as a from generate_series(1, 10) g",
    );
    let sql = "select max(greatest(coalesce($1, $2), $3)) from t";
    let mut compiled = 0;
    let mut run = |values: &[frazil::Value]| {
        let response = c
            .execute_with(sql, values)
            .unwrap_or_else(|e| panic!("{values:?}: {e:?}"));
        compiled += u32::from(!response.timing.compile.is_zero());
        (
            response
                .outcome
                .into_rows()
                .unwrap()
                .one()
                .unwrap()
                .into_values()
                .remove(0),
            compiled,
        )
    };
    let int = |v| frazil::Value::Integer(v);
    assert_eq!(run(&params![9, 10, 8]), (int(9), 1));
    assert_eq!(run(&params![10, 9, 11]), (int(11), 1));
    // NULL and texts are what the others are.
    assert_eq!(run(&params![None::<i32>, 10, 9]), (int(10), 2));
    assert_eq!(run(&params![None::<i32>, 9, 10]), (int(10), 2));
    assert_eq!(run(&params!["9", 10, 8]), (int(9), 2));
    assert_eq!(run(&params!["9", "10", "8"]), ("9".into(), 3));
    assert_eq!(run(&params![1.5, 10, 1]), (1.5.into(), 4));
    let day = |text: &str| text.parse::<frazil::Date>().unwrap();
    let days = params![day("2024-01-01"), day("2023-01-01"), "2024-05-01"];
    assert_eq!(run(&days), (day("2024-05-01").into(), 5));
    for (values, expected) in [(params![9, 10, 8], int(9)), (params!["9", "10", "8"], "9".into())] {
        assert_eq!(run(&values), (expected, 5));
    }
    assert_eq!(run(&days).1, 5);
    // A statement of its own finds what is kept, for each list of types.
    let statement = c.prepare(sql).unwrap();
    for values in [params![1, 2, 3], params!["1", "2", "3"], params![1, 2, 3]] {
        assert!(statement.execute(values).unwrap().timing.compile.is_zero());
    }
}

/// `now` is not kept with what a statement is compiled to.
#[test]
fn words_of_the_present_are_read_anew() {
    let c = memory();
    let sql = "select 'now'::timestamptz = now()";
    for _ in 0..3 {
        assert_eq!(answer(&c, sql, &[]), "t");
    }
    let shown: Vec<String> = (0..2)
        .map(|_| {
            let now = answer(&c, "select 'now'::timestamptz", &[]);
            std::thread::sleep(std::time::Duration::from_millis(2));
            now
        })
        .collect();
    assert_ne!(shown[0], shown[1]);
    c.execute("set time zone 'Pacific/Kiritimati'").expect("a zone");
    assert_eq!(answer(&c, "select 'today'::date = current_date", &[]), "t");
    c.execute("create table t as select 'now' as t from generate_series(1, 100000)")
        .expect("rows");
    // Also where several workers read texts.
    assert_eq!(
        answer(&c, "select count(distinct t::timestamptz) from t", &[]),
        "1"
    );
    assert_eq!(
        answer(&c, "select bool_and(t::date = current_date) from t", &[]),
        "t"
    );
}
