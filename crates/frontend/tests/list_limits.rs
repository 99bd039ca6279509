//! The longest lists of a statement, each with PostgreSQL 15's limit: the longest is bound, a longer one is refused with
//! its place before it takes memory.

mod support;

use frazil_frontend::{Limits, PlanSettings, bind, parse};
use frazil_types::{Error, Result, SqlState};
use support::Tables;

/// A form of list: its name, the text before and after the elements, an element by its number, the limit, and how
/// PostgreSQL 15 refuses one element more.
struct Form {
    name: &'static str,
    before: &'static str,
    element: fn(usize) -> String,
    after: &'static str,
    most: usize,
    state: SqlState,
    message: &'static str,
}

const TARGETS: &str = "target lists can have at most 1664 entries";
const COLUMNS: &str = "tables can have at most 1600 columns";
const ARGUMENTS: &str = "cannot pass more than 100 arguments to a function";
const INDEX: &str = "cannot use more than 32 columns in an index";

/// A form that PostgreSQL refuses with 54011.
fn form(
    name: &'static str,
    (before, element, after): (&'static str, fn(usize) -> String, &'static str),
    (most, message): (usize, &'static str),
) -> Form {
    let state = SqlState::TOO_MANY_COLUMNS;
    Form {
        name,
        before,
        element,
        after,
        most,
        state,
        message,
    }
}

fn number(i: usize) -> String {
    i.to_string()
}

fn sum(i: usize) -> String {
    format!("a + {i}")
}

fn definition(i: usize) -> String {
    format!("c{i} int")
}

fn alias(i: usize) -> String {
    format!("{i} as c{i}")
}

fn forms() -> Vec<Form> {
    let targets = (1_664, TARGETS);
    let columns = (1_600, COLUMNS);
    let mut all = vec![
        form("select list", ("select ", number, ""), targets),
        form("list over a table", ("select ", sum, " from t"), targets),
        form("subquery", ("select 1 from (select ", number, ") q"), targets),
        form(
            "common table",
            ("with q as (select ", number, ") select 1 from q"),
            targets,
        ),
        form("exists", ("select exists (select ", number, ")"), targets),
        form(
            "set operation",
            ("select 1 union all select 1 from (select ", number, ") q"),
            targets,
        ),
        form(
            "returning",
            ("insert into u (id) values (1) returning ", number, ""),
            targets,
        ),
        form("values", ("values (", number, ")"), targets),
        form(
            "values in FROM",
            ("select 1 from (values (", number, ")) v"),
            targets,
        ),
        form("order by", ("select from t order by ", sum, ""), targets),
        form(
            "order by with an item",
            ("select b from t order by ", sum, ""),
            (1_663, TARGETS),
        ),
        form("group by", ("select 1 from t group by ", sum, ""), targets),
        form(
            "distinct on",
            ("select distinct on (", sum, ") 1 from t"),
            targets,
        ),
        form(
            "partition",
            ("select count(*) over (partition by ", sum, ") from t"),
            targets,
        ),
        form(
            "row",
            ("select row(", number, ") is null"),
            (1_664, "ROW expressions can have at most 1664 entries"),
        ),
        form("table", ("create table n (", definition, ")"), columns),
        form(
            "table of a query",
            ("create table n as select ", alias, ""),
            columns,
        ),
        form("view", ("create view n as select ", alias, ""), columns),
        form(
            "records",
            ("select 1 from json_to_recordset('[]') as x(", definition, ")"),
            (1_600, "column definition lists can have at most 1600 entries"),
        ),
    ];
    for (name, call) in [
        ("concat", "select concat("),
        ("format", "select format('', "),
        ("json_build_array", "select json_build_array("),
        ("abs", "select abs("),
        ("count", "select count("),
        ("string_agg", "select string_agg("),
    ] {
        all.push(Form {
            state: SqlState::TOO_MANY_ARGUMENTS,
            ..form(name, (call, number, ") from t"), (100, ARGUMENTS))
        });
    }
    all
}

fn outcome(sql: &str) -> Result<()> {
    let parsed = parse(sql, &Limits::none())?;
    bind(&parsed[0], &Tables::new(), &PlanSettings::default(), &[]).map(|_| ())
}

fn is_placed(e: &Error, state: SqlState) -> bool {
    e.state() == state && e.position().is_some()
}

fn text(form: &Form, count: usize) -> String {
    let elements: Vec<String> = (0..count).map(form.element).collect();
    format!("{}{}{}", form.before, elements.join(", "), form.after)
}

#[test]
fn the_longest_list_is_bound_and_a_longer_one_is_refused_with_its_place() {
    let mut failed = String::new();
    for form in forms() {
        if form.state == SqlState::TOO_MANY_COLUMNS
            && let Err(e) = outcome(&text(&form, form.most))
        {
            failed += &format!("{} of {}: {} {e}\n", form.name, form.most, e.state().0);
        }
        let one_more = outcome(&text(&form, form.most + 1));
        let is_refused = one_more
            .as_ref()
            .is_err_and(|e| e.message() == form.message && is_placed(e, form.state));
        // The query of a table or view that is longer still is refused as a query.
        let many_more = outcome(&text(&form, 20_000));
        if !is_refused || !many_more.as_ref().is_err_and(|e| is_placed(e, form.state)) {
            failed += &format!("{}: {one_more:?}, {many_more:?}\n", form.name);
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn keys_have_32_columns_at_most() {
    let columns = |count: usize| (0..count).map(|i| format!("c{i}")).collect::<Vec<_>>().join(", ");
    let definitions = |count: usize| (0..count).map(definition).collect::<Vec<_>>().join(", ");
    for kind in ["primary key", "unique"] {
        let table = |count: usize| {
            let (of, key) = (definitions(count), columns(count));
            outcome(&format!("create table n ({of}, {kind} ({key}))"))
        };
        table(32).unwrap();
        let refused = table(33).unwrap_err();
        assert_eq!(refused.state(), SqlState::TOO_MANY_COLUMNS, "{kind}");
        assert_eq!(refused.message(), INDEX, "{kind}");
        assert!(refused.position().is_some(), "{kind}");
    }
    let index = |count: usize| {
        let list = vec!["a"; count].join(", ");
        outcome(&format!("create index on t ({list})"))
    };
    index(32).unwrap();
    let refused = index(33).unwrap_err();
    assert_eq!(
        (refused.state(), refused.message()),
        (SqlState::TOO_MANY_COLUMNS, INDEX)
    );
}

#[test]
fn stars_that_are_too_wide_together_are_refused() {
    let wide = vec!["t.*"; 200].join(", ");
    let refused = outcome(&format!("select {wide} from t")).unwrap_err();
    assert_eq!(
        (refused.state(), refused.message()),
        (SqlState::TOO_MANY_COLUMNS, TARGETS)
    );
    assert!(refused.position().is_some());
    outcome(&format!("select {} from t", vec!["t.*"; 138].join(", "))).unwrap();
}
