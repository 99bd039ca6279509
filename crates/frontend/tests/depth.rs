//! Long chains and deep nests: an answer or 54001, on threads with a small stack too, and in linear time.

mod support;

use frazil_frontend::{Limits, on_deep_stack, parse};
use std::time::{Duration, Instant};
use support::try_bind;

const STACK: usize = 2 << 20;

/// SQLSTATE of binding on a thread with 2 MB.
fn state(sql: String) -> String {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let bound = thread.spawn(move || match parse(&sql, &Limits::none()) {
        Ok(parsed) => {
            let depth = parsed[0].depth();
            match try_bind(&sql) {
                Ok(bound) => {
                    on_deep_stack(depth, || drop(bound));
                    "00000".to_string()
                }
                Err(e) => e.state().0.to_string(),
            }
        }
        Err(e) => e.state().0.to_string(),
    });
    bound.unwrap().join().unwrap()
}

/// `select` of `first` and 2,000 times `more`.
fn chain(first: &str, more: &str, times: usize) -> String {
    format!("select {first}{} from t", more.repeat(times))
}

#[test]
fn chains_of_every_operator_answer() {
    for (first, more) in [
        ("1", " + 1"),
        ("a", " - a"),
        ("x", " * x"),
        ("x", " / x"),
        ("w", " || w"),
        ("p", " and p"),
        ("p", " or a = 1"),
        ("a", "::integer"),
        ("a", " & 1"),
        ("a", " | a"),
        ("a", " # 1"),
        ("a", " << 1"),
        ("p", " is true"),
        ("a", " is null"),
        ("a = 1", " and a between 1 and 2"),
        ("a = 1", " and a in (1, 2)"),
    ] {
        let sql = chain(first, more, 2_000);
        assert_eq!(state(sql), "00000", "{first}{more}");
    }
    for (first, more) in [("1", " = 1"), ("w", " like 'a'")] {
        let got = state(chain(first, more, 2_000));
        assert!(
            ["00000", "42601", "42883"].contains(&got.as_str()),
            "{more}: {got}"
        );
    }
    for more in [" + 1", " is null", "::integer", " = 1"] {
        assert_eq!(state(chain("a", more, 5_000)), "54001", "{more}");
    }
}

#[test]
fn chains_of_and_and_of_or_of_any_length_answer() {
    for (first, more) in [
        ("p", " and p"),
        ("p", " or a = 1"),
        ("p", " or a = 1 and p"),
        ("a = 1", " and a between 1 and 2"),
        ("p", " and not (p or a = 2)"),
    ] {
        let sql = format!("select {first}{} from t", more.repeat(100_000));
        assert_eq!(state(sql), "00000", "{first}{more}");
    }
    let when = " or p".repeat(50_000);
    assert_eq!(
        state(format!(
            "select case when p{when} then 1 end from t where p{when}"
        )),
        "00000"
    );
    // A chain that is balanced still nests what its parts nest.
    let deep = format!(" or {}p{}", "(".repeat(3_000), ")".repeat(3_000));
    assert_eq!(state(chain("p", &deep, 100)), "54001");
}

#[test]
fn nests_answer() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!(
            "select {}{inner}{} from t",
            open.repeat(times),
            close.repeat(times)
        )
    };
    for (open, inner, close, times) in [
        ("(", "1", ")", 500),
        ("- ", "a", "", 500),
        ("not ", "p", "", 1_000),
        ("case when p then 1 else ", "2", " end", 300),
        ("coalesce(a, ", "1", ")", 300),
        ("abs(", "x", ")", 300),
        ("(select ", "1", ")", 60),
        ("cast(", "a", " as integer)", 300),
    ] {
        assert_eq!(state(nested(open, inner, close, times)), "00000", "{open}");
        assert_eq!(state(nested(open, inner, close, 3_000)), "54001", "{open}");
    }
    let unbalanced = format!("select {}1", "floor(".repeat(300));
    assert_eq!(state(unbalanced), "42601");
}

#[test]
fn work_grows_with_the_text() {
    let time = |sql: &str| {
        let start = Instant::now();
        let parsed = parse(sql, &Limits::none()).unwrap();
        for statement in &parsed {
            let tables = support::Tables::new();
            frazil_frontend::bind(statement, &tables, &Default::default(), &[]).unwrap();
        }
        start.elapsed()
    };
    let list = |n: usize, item: &str| vec![item; n].join(", ");
    let texts = |n: usize| {
        [
            format!("select coalesce({}) from t", list(n, "a + 1")),
            format!("select coalesce({}) from t", list(n, "'ü'")),
            format!("select a from t where a in ({})", list(5 * n, "1")),
            format!("values {}", list(n, "(1, 'x')")),
            "insert into u values (1, 2, 'x'); ".repeat(n),
        ]
    };
    // Quadratic work takes 64 times as long in every try, and a machine that is busy with something else in one of them.
    let grows_too_fast = |short: &str, long: &str| {
        let (short_time, long_time) = (time(short), time(long));
        let is_fast = long_time < short_time * 40 + Duration::from_millis(500);
        (!is_fast).then(|| format!("{}…: {short_time:?}, {long_time:?}", &short[..40]))
    };
    for (short, long) in texts(1_000).iter().zip(&texts(8_000)) {
        let tries: Vec<String> = (0..5).map_while(|_| grows_too_fast(short, long)).collect();
        assert!(tries.len() < 5, "{tries:?}");
    }
}

/// A chain or nest that is too deep names the place where it goes beyond the limit; one of several, the deepest place.
#[test]
fn what_is_too_deep_has_a_position() {
    let place = |text: &str| {
        let error = parse(text, &Limits::none()).unwrap_err();
        assert_eq!(error.state().0, "54001");
        let position = error.position().expect("a position");
        text.chars().skip(position - 1).take(2).collect::<String>()
    };
    for (more, sign) in [
        (" + 1", "+ "),
        (" || 'x'", "||"),
        ("::int", "::"),
        (" is null", "is"),
        (" = 1", "= "),
    ] {
        assert_eq!(
            place(&format!("select 1, 2 {}", more.repeat(5_000))),
            sign,
            "{more}"
        );
    }
    for (open, close) in [
        ("(", ")"),
        ("- ", ""),
        ("not ", ""),
        ("case when true then ", " end"),
    ] {
        let text = format!("select {}1{}", open.repeat(5_000), close.repeat(5_000));
        assert!(open.repeat(2).starts_with(place(&text).trim()), "{open}");
    }
    // Half of the levels are parentheses, half are signs.
    let (left, right) = ("(".repeat(1_500), ")".repeat(1_500));
    let text = format!("select 1 and 2 and {left}1{}{right}", " + a".repeat(1_500));
    assert_eq!(place(&text), "+ ");
}
