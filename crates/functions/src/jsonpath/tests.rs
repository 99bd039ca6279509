//! What paths find, PostgreSQL's answers; more of them stand in `tests/slt/types/jsonpath.slt`.

use super::evaluate::{Clock, Evaluation, Fault, Setting};
use super::{Compiled, List};
use frazil_types::json;
use frazil_types::{LogicalType, Value, Zone};

/// The items as one text, or the SQLSTATE of an error.
fn found(document: &str, path: &str, variables: &str, clock: Option<Clock>) -> String {
    let document = json::binary_of_text(document).unwrap();
    let variables = json::binary_of_text(variables).unwrap();
    let compiled = match Compiled::new(path) {
        Ok(compiled) => compiled,
        Err(e) => return e.state().0.to_string(),
    };
    let setting = Setting {
        document: &document,
        variables: Some(&variables),
        throws: true,
        clock,
        poll: &|| Ok(()),
    };
    let mut evaluation = Evaluation::new(&compiled, &setting);
    let mut list = List::default();
    match evaluation.run(Some(&mut list)) {
        Ok(_) => {
            let shown = list.items().iter().map(|item| {
                let value = Value::Bytes(item.to_binary().into_owned());
                value.display(LogicalType::Jsonb).to_string()
            });
            shown.collect::<Vec<_>>().join(" ")
        }
        Err(Fault::Raised(e)) => e.state().0.to_string(),
        Err(Fault::Suppressed) => "suppressed".to_string(),
    }
}

#[test]
fn steps_find_what_lies_in_a_document() {
    let document = r#"{"a": {"b": [1, 2.50, "x", null]}, "n": 7, "l": [[1, [2]], {"c": 3}]}"#;
    for (path, wanted) in [
        ("$.a.b", r#"[1, 2.50, "x", null]"#),
        ("$.a.b[*]", r#"1 2.50 "x" null"#),
        ("$.a.b[last, 0 to 1]", r#"null 1 2.50"#),
        ("$.a.b[last - 1]", r#""x""#),
        ("$.n[0][last]", "7"),
        ("strict $.n[0]", "22039"),
        ("$.z", ""),
        ("strict $.z", "2203A"),
        ("$.l.c", "3"),
        ("$.l.**{last}", "1 2 3"),
        ("$.l.**{2}", "1 [2] 3"),
        ("$.l[*].size()", "2 1"),
        ("$.*.type()", r#""object" "array" "number""#),
        ("$.a.b[*] ? (@ > 1)", "2.50"),
        ("$.a.b ? (@[*] > $min)", "2.50"),
        ("$.a.b[*] ? ((@ > 1) is unknown)", r#""x""#),
        ("$.a.b[*] ? (@ starts with \"x\")", r#""x""#),
        ("$.a.b[*] ? (@ like_regex \"^X$\" flag \"i\")", r#""x""#),
        ("$.n + 1.50", "8.50"),
        ("-$.n / 2", "-3.5000000000000000"),
        ("$.n / 0", "22012"),
        ("$.a + 1", "22038"),
        ("$.a[true]", "22033"),
        ("$.l[$.n]", ""),
        ("strict $.l[$.n]", "22033"),
        ("$none", "42704"),
        ("$.a.keyvalue()", r#"{"id": "#),
        ("exists ($.a) && !($.n == 8)", "true"),
        ("$.n == \"x\"", "null"),
    ] {
        let given = found(document, path, r#"{"min": 2}"#, None);
        match path {
            "$.a.keyvalue()" => assert!(given.starts_with(wanted), "{path}: {given}"),
            _ => assert_eq!(given, wanted, "{path}"),
        }
    }
}

#[test]
fn plain_steps_end_as_others_do() {
    let document = r#"{"a": {"b": [1, 2]}, "n": [[7]], "": {"": 0}, "aa": null, "s": "x"}"#;
    for (path, wanted) in [
        ("$.a.b[1]", "2"),
        ("$.a.b[2]", ""),
        ("strict $.a.b[2]", "22033"),
        ("$.n[0]", "[7]"),
        ("$.n[0][0]", "7"),
        ("$.n[0][0][0]", "7"),
        ("$.n[0][0][1]", ""),
        ("strict $.n[0][0][0]", "22039"),
        ("strict $.s[0]", "22039"),
        ("$.n[0].x", ""),
        ("strict $.n[0].x", "2203A"),
        ("$.\"\".\"\"", "0"),
        ("$.aa", "null"),
        ("$.aaa", ""),
        ("$.s.x", ""),
        ("strict $.s.x", "2203A"),
        ("$.a.keyvalue().key", r#""b""#),
        ("$.a.keyvalue().value[1]", "2"),
        ("$.a.keyvalue()[0].key", r#""b""#),
        ("$.a.keyvalue()[1]", ""),
        ("$v.b[0]", "1"),
        ("$v.c", ""),
        ("strict $v.c", "2203A"),
        ("$ ? (@.a.b[1] == $v.b[1])", document),
        ("$.a.b ? (@ == 2)", "2"),
        ("strict $.a ? (@.b == 2)", ""),
        ("$.a ? (@.b == 2)", r#"{"b": [1, 2]}"#),
        ("$ ? (@.n[0] == 7)", document),
        ("strict $.n[0] ? (@[0] == 7.0)", "[7]"),
    ] {
        let given = found(document, path, r#"{"v": {"b": [1, 2]}}"#, None);
        let wanted = match wanted == document {
            true => found(document, "$", "{}", None),
            false => wanted.to_string(),
        };
        assert_eq!(given, wanted, "{path}");
    }
}

#[test]
fn moments_are_read_shown_and_compared() {
    let zone = Zone::named("Europe/Berlin").unwrap();
    let clock = Some(Clock { zone, now: 0 });
    for (document, path, clock, wanted) in [
        (r#""2020-1-2""#, "$.datetime()", None, r#""2020-01-02""#),
        (
            r#""12:34:56.5 +3""#,
            "$.datetime()",
            None,
            r#""12:34:56.5+03:00""#,
        ),
        (
            r#""2020-01-02T12:34:56-05:30""#,
            "$.datetime()",
            None,
            r#""2020-01-02T12:34:56-05:30""#,
        ),
        (r#""2020-13-02""#, "$.datetime()", None, "22031"),
        (
            r#""10-03-2017""#,
            "$.datetime(\"dd-mm-yyyy\")",
            None,
            r#""2017-03-10""#,
        ),
        (r#""10/03/2017""#, "$.datetime(\"dd-mm-yyyy\")", None, "22007"),
        (
            r#""12:34""#,
            "$.datetime(\"HH24:MI\").type()",
            None,
            r#""time without time zone""#,
        ),
        (
            r#"["2017-03-10", "2017-03-09 23:00:00+00"]"#,
            "$[*].datetime() ? (@ == \"2017-03-10 00:00:00+01\".datetime())",
            clock,
            r#""2017-03-10" "2017-03-09T23:00:00+00:00""#,
        ),
        (
            r#""2017-03-10""#,
            "$.datetime() < \"2017-03-10 00:00:00+01\".datetime()",
            None,
            "0A000",
        ),
    ] {
        assert_eq!(found(document, path, "{}", clock), wanted, "{document} {path}");
    }
}

#[test]
fn paths_that_restart_in_nested_filters_end() {
    let document = format!("{}1{}", "[".repeat(900), "]".repeat(900));
    for (filters, wanted) in [(5, "1"), (20, "54001")] {
        let path = (0..filters).fold("$.**".to_string(), |inner, _| {
            format!("$.**{{last}} ? (exists ({inner}))")
        });
        assert_eq!(found(&document, &path, "{}", None), wanted);
    }
}
