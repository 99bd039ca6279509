//! Calls and lists of any length: each function that takes any number of arguments, and each form of a list, has many
//! elements here. Statements run on a thread with a small stack, and each is over in bounded time.

use crate::{memory, rows};
use frazil::{Connection, SqlState};
use frazil_functions::{FunctionDoc, list};
use std::fmt::Write;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const STACK: usize = 2 << 20;

/// Elements of a call or a list: enough to end a process whose recursion follows them. `FRAZIL_ELEMENTS=100000` runs
/// more of them.
static ELEMENTS: LazyLock<usize> = LazyLock::new(|| match std::env::var("FRAZIL_ELEMENTS") {
    Ok(number) => number.parse().expect("FRAZIL_ELEMENTS is a number"),
    Err(_) => 20_000,
});

/// How long a statement may take, on a machine that does other work as well.
const MOST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 10 });

/// An element of a list by its number, and a name for it.
type Element = (&'static str, fn(usize) -> String);

const CONSTANTS: [Element; 4] = [
    ("integers", |i| i.to_string()),
    ("decimals", |i| format!("{i}.25")),
    ("doubles", |i| format!("{i}.5::float8")),
    ("texts", |i| format!("'element {i}'")),
];

/// Elements that only a row decides. What a compiled function cannot hold of them may be refused.
const COMPUTED: [Element; 2] = [
    ("sums", |i| format!("a + {i}")),
    ("one column among constants", |i| match i {
        7 => "a".to_string(),
        i => i.to_string(),
    }),
];

/// `count` elements with commas between them.
fn elements(count: usize, element: fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(", ")
}

/// Forms of a list of values; `#` is the list.
const LISTS: [&str; 16] = [
    "select cardinality(array[#]) from t",
    "select array[#] from t",
    "select count(*) from t, unnest(array[#]) u",
    "select count(*) from t where a = any (array[#])",
    "select count(*) from t where a + 1 <> all (array[#])",
    "select count(*) from t where a in (#)",
    "select count(*) from t where a not in (#)",
    "select count(*) from t where a + 1 in (#)",
    "select a in (#), a not in (#) from t",
    "select d in (#) from t",
    "select count(*) from t where r + 1 in (#)",
    "select coalesce(#) from t",
    "select greatest(#), least(#) from t",
    "select count(*) from t where (a, 1) = (select max(v), 1 from unnest(array[#]) u (v))",
    "select array[array[#], array[#]] from t",
    "select count(*) from t group by array[#]",
];

/// Statements with a part for each element, whatever their elements are: `#` is its number.
fn repeated() -> Vec<String> {
    let parts = |count: usize, part: &str, between: &str| {
        let part = |i: usize| part.replace('#', &i.to_string());
        (0..count).map(part).collect::<Vec<_>>().join(between)
    };
    let many = |part: &str, between: &str| parts(*ELEMENTS, part, between);
    let few = |part: &str, between: &str| parts(10_000, part, between);
    vec![
        format!("select count(*) from t where {}", many("a = #", " or ")),
        format!("select count(*) from t where {}", many("a <> #", " and ")),
        // Conditions that may fail.
        format!("select count(*) from t where {}", many("b <> b || #", " and ")),
        format!(
            "select count(*) from t x left join t y on x.a = y.a where {}",
            many("x.b <> y.b || #", " and ")
        ),
        format!(
            "select b from t group by b having {}",
            many("b <> max(b) || #", " and ")
        ),
        format!(
            "select count(*) from t where {}",
            many("(a = # and b = '#')", " or ")
        ),
        format!(
            "select count(*) from t where not ({})",
            many("(a = # or b = '#')", " and ")
        ),
        format!("select case {} end from t", many("when a = # then '#'", " ")),
        format!("select case a {} end from t", many("when # then '#'", " ")),
        format!("select count(*) from (values {}) v", many("(#, 'row #')", ", ")),
        format!("insert into t (a) values {}", many("(#)", ", ")),
        format!(
            "select count(*) from t where (a, b) in ({})",
            many("(#, '#')", ", ")
        ),
        format!(
            "select row({}) = row({}) from t",
            many("a", ", "),
            many("#", ", ")
        ),
        format!("select row({}) < row({}) from t", few("a", ", "), few("#", ", ")),
        format!(
            "select row({}) between row({}) and row(1) from t",
            few("a + #", ", "),
            few("#", ", ")
        ),
        format!("select {} from t", many("#", ", ")),
        format!("select {} from t", many("a", " + ")),
        format!("select {} from t", many("b", " || ")),
        format!("select a from t order by {}", many("a + #", ", ")),
        format!("select count(*) from t group by {}", many("a + #", ", ")),
        format!(
            "select count(*) over (partition by {}) from t",
            few("a + #", ", ")
        ),
        format!("select count(*) over (order by {}) from t", few("a + #", ", ")),
        format!("select sum(a) filter (where {}) from t", many("a = #", " or ")),
        format!("select grouping({}) from t group by a", many("a", ", ")),
        format!("select {}", many("#", " union all select ")),
        format!("select {}", few("#", " union select ")),
        format!("select {}", few("#", " except select ")),
        format!("with {} select * from c1", few("c# as (select #)", ", ")),
        format!("select count(*) from {}", few("(select #) q#", ", ")),
        format!("select count(*) from t {}", few("join t t# on t#.a = t.a", " ")),
        format!("select {} from t", few("(select max(a) + # from t)", ", ")),
        format!("select '{{{}}}'::int[] from t limit 1", many("#", ",")),
        format!("select jsonb_array_length('[{}]') from t limit 1", many("#", ",")),
        format!("select a from t where b similar to '{}'", many("#", "|")),
        format!("select a from t where b ~ '{}'", many("#", "|")),
        format!("create table wide ({})", many("c# int", ", ")),
        format!("insert into t (a) select {}", many("#", ", ")),
        format!("update t set {}", many("a = #", ", ")),
        format!("select t.a from t {}", many("", "--\n")),
        many("select #", "; "),
    ]
}

/// The arguments of a call with as many elements as there are, by its signature: `concat_ws(text, any, …) → text`.
fn arguments(function: &FunctionDoc, element: fn(usize) -> String) -> Option<String> {
    let signature = function.signatures.iter().find(|s| s.contains('…'))?;
    let inside = signature.split_once('(')?.1.split(')').next()?;
    let types: Vec<&str> = inside.split(", ").filter(|ty| *ty != "…").collect();
    let before = types[..types.len() - 1].iter().map(|ty| match *ty {
        "text" => "'%s'".to_string(),
        "json" | "jsonb" => format!("'{{}}'::{ty}"),
        _ => element(0),
    });
    let mut all: Vec<String> = before.collect();
    match types.last() {
        Some(&"text") => all.extend((0..*ELEMENTS).map(|i| format!("'{i}'"))),
        _ => all.extend((0..*ELEMENTS).map(element)),
    }
    Some(all.join(", "))
}

/// Calls of every function with any number of arguments.
fn calls(element: fn(usize) -> String) -> Vec<String> {
    let call = |function: &FunctionDoc| {
        let call = format!("{}({})", function.name, arguments(function, element)?);
        let signature = function.signatures.iter().find(|s| s.contains('…'))?;
        Some(match (function.name, signature.contains("within group")) {
            ("grouping", _) => format!("select {call} from t group by a"),
            (_, true) => {
                let keys = arguments(function, |_| "a".to_string())?;
                format!("select {call} within group (order by {keys}) from t")
            }
            _ => format!("select {call} is null from t"),
        })
    };
    list().filter_map(call).collect()
}

/// Runs statements, on a thread with a small stack, and says what is wrong with their outcomes: an error that is not allowed, or too long
/// a time.
fn faults(statements: Vec<(String, String)>, allowed: &'static [SqlState]) -> String {
    let work = move || {
        let c = memory();
        rows(&c, "create table t (a int, b text, d float8, r decimal(12, 2))");
        rows(&c, "insert into t values (1, 'x', 1.5, 2.25), (2, 'y', null, 3)");
        rows(&c, "set memory_limit = '2GB'");
        let mut failed = String::new();
        for (name, sql) in statements {
            if let Some(fault) = fault(&c, &sql, allowed) {
                let _ = writeln!(failed, "{fault}: {name}: {:.90}", sql);
            }
        }
        failed
    };
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(work).unwrap().join().unwrap()
}

fn fault(c: &Connection, sql: &str, allowed: &[SqlState]) -> Option<String> {
    let begun = Instant::now();
    let outcome = c.execute(sql);
    let took = begun.elapsed();
    println!(
        "{:?} in {took:?}: {:.90}",
        outcome.as_ref().map(|_| ()).map_err(|e| e.state()),
        sql
    );
    match outcome {
        _ if took > MOST => Some(format!("{took:?}")),
        Err(e) if !allowed.contains(&e.state()) => Some(format!("{} {}", e.state().0, e.message())),
        _ => None,
    }
}

fn of_lists(kinds: &[Element]) -> Vec<(String, String)> {
    let mut statements = Vec::new();
    for &(name, element) in kinds {
        let all = elements(*ELEMENTS, element);
        statements.extend(LISTS.map(|form| (name.to_string(), form.replace('#', &all))));
    }
    statements
}

#[test]
fn lists_of_constants_are_answered() {
    // Texts are not compared with numbers, and neither are numbers stored in arrays of text.
    let allowed = &[
        SqlState::UNDEFINED_FUNCTION,
        SqlState::INVALID_TEXT,
        SqlState::DATATYPE_MISMATCH,
    ];
    let failed = faults(of_lists(&CONSTANTS), allowed);
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn lists_of_computed_elements_are_answered_or_refused() {
    let failed = faults(of_lists(&COMPUTED), &[SqlState::STATEMENT_TOO_COMPLEX]);
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn functions_of_any_number_of_arguments_are_answered_or_refused() {
    let mut statements = Vec::new();
    for (name, element) in [CONSTANTS[0], CONSTANTS[3]].into_iter().chain(COMPUTED) {
        statements.extend(calls(element).into_iter().map(|sql| (name.to_string(), sql)));
    }
    assert!(statements.len() >= 4 * 17, "{} calls", statements.len());
    let allowed = &[
        SqlState::STATEMENT_TOO_COMPLEX,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::DATATYPE_MISMATCH,
        SqlState::INVALID_PARAMETER,
        SqlState::TOO_MANY_ARGUMENTS,
        SqlState::GROUPING_ERROR,
    ];
    let failed = faults(statements, allowed);
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn statements_of_many_parts_are_answered_or_refused() {
    let allowed = &[
        SqlState::STATEMENT_TOO_COMPLEX,
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        SqlState::SYNTAX_ERROR,
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::TOO_MANY_COLUMNS,
        SqlState::TOO_MANY_ARGUMENTS,
        SqlState::UNDEFINED_OBJECT,
        SqlState::INVALID_REGULAR_EXPRESSION,
    ];
    let statements = repeated().into_iter().map(|sql| (String::new(), sql)).collect();
    let failed = faults(statements, allowed);
    assert!(failed.is_empty(), "{failed}");
}
