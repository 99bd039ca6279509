//! Answers are PostgreSQL 15's.

use super::*;

fn shown(text: &str) -> String {
    let binary = binary_of_text(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let mut out = String::new();
    write_compact(&mut out, &binary).unwrap();
    out
}

#[test]
fn jsonb_is_shown_as_postgresql_shows_it() {
    for (text, expected) in [
        ("null", "null"),
        (" [ ] ", "[]"),
        ("{}", "{}"),
        ("[1,true , false,null]", "[1, true, false, null]"),
        (
            r#"{"bb": 1, "a": 2, "c": 3, "aa": 4, "a": 5}"#,
            r#"{"a": 5, "c": 3, "aa": 4, "bb": 1}"#,
        ),
        (
            r#"{"home": {"city": "Ulm", "zip": null}}"#,
            r#"{"home": {"zip": null, "city": "Ulm"}}"#,
        ),
        (r#""a\u00e9\n\u001f\/\ud83d\ude00""#, "\"aé\\n\\u001f/😀\""),
        ("1e2", "100"),
        ("1.50E+1", "15.0"),
        ("1.50e2", "150"),
        ("1e-3", "0.001"),
        ("12.5e-1", "1.25"),
        ("0.05e1", "0.5"),
        ("0.05e3", "50"),
        ("-0.50", "-0.50"),
        ("-0", "0"),
        ("-0.00", "0.00"),
        ("0e5", "0"),
        ("7.50", "7.50"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
    let long = format!("-{}.{}", "9".repeat(400), "10".repeat(200));
    assert_eq!(shown(&long), long);
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    for (text, detail) in [
        (
            "",
            "The input string ended unexpectedly. JSON data, line 1, column 1.",
        ),
        (
            "[1, 2",
            "The input string ended unexpectedly. JSON data, line 1, column 6.",
        ),
        (
            "{\"a\": }",
            "Expected JSON value, but found \"}\". JSON data, line 1, column 7.",
        ),
        ("{a: 1}", "Token \"a\" is invalid. JSON data, line 1, column 2."),
        ("nope", "Token \"nope\" is invalid. JSON data, line 1, column 1."),
        ("[1,\n é]", "Token \"é\" is invalid. JSON data, line 2, column 2."),
        ("01", "Token \"01\" is invalid. JSON data, line 1, column 1."),
        ("1.", "Token \"1.\" is invalid. JSON data, line 1, column 1."),
        ("1x", "Token \"1x\" is invalid. JSON data, line 1, column 1."),
        (
            "\"a\nb\"",
            "Character with value 0x0a must be escaped. JSON data, line 1, column 3.",
        ),
        (
            "\"\\x\"",
            "Escape sequence \"\\x\" is invalid. JSON data, line 1, column 2.",
        ),
        ("[1] 2", "Token \"2\" is invalid. JSON data, line 1, column 5."),
        (
            "[1,]",
            "Expected JSON value, but found \"]\". JSON data, line 1, column 4.",
        ),
        (
            "{\"a\":1,}",
            "Expected string, but found \"}\". JSON data, line 1, column 8.",
        ),
    ] {
        for error in [check(text).unwrap_err(), binary_of_text(text).unwrap_err()] {
            assert_eq!(
                (error.state().0, error.detail()),
                ("22P02", Some(detail)),
                "{text}"
            );
        }
    }
    for text in [
        "",
        "-",
        "+1",
        ".5",
        "\"",
        "\"\\",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "tru",
        "[",
        "{",
        "{\"a\"",
        "{\"a\":",
        "'a'",
        "\u{a0}1",
    ] {
        assert_eq!(check(text).unwrap_err().state().0, "22P02", "{text}");
    }
}

#[test]
fn bytes_that_are_no_binary_form_are_refused() {
    for text in ["null", "[1, {\"a\": \"b\"}]", "{}", "7.50"] {
        let binary = binary_of_text(text).unwrap();
        check_binary(&binary).unwrap();
        for cut in 0..binary.len() {
            // What is left of a number's digits is another number.
            if text == "7.50" && [2, 4].contains(&cut) {
                continue;
            }
            assert!(check_binary(&binary[..cut]).is_err(), "{text} cut to {cut}");
        }
        assert!(check_binary(&[&binary[..], &[0]].concat()).is_err(), "{text}");
    }
    // An array of an array, and so on, beyond what a text may nest.
    let mut deep = vec![0];
    for _ in 0..=MAX_DEPTH {
        let length = (deep.len() as u32).to_le_bytes();
        deep = [&[5, 1, 0, 0, 0][..], &length, &deep].concat();
    }
    assert_eq!(check_binary(&deep).unwrap_err().state().0, "22P03");
}

#[test]
fn what_jsonb_has_no_room_for_is_refused() {
    for (text, state) in [
        (r#""\u0000""#, "22P05"),
        (r#""\ud83d""#, "22P02"),
        (r#""\ude00\ud83d""#, "22P02"),
        (r#""\ud83d\ud83d""#, "22P02"),
        ("1e131072", "22003"),
        ("1e-16384", "22003"),
        ("1e99999999999999999999", "22003"),
    ] {
        assert!(check(text).is_ok(), "{text}");
        assert_eq!(binary_of_text(text).unwrap_err().state().0, state, "{text}");
    }
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(shown(&nested(MAX_DEPTH)), nested(MAX_DEPTH));
    for text in [nested(MAX_DEPTH + 1), nested(1_000_000)] {
        assert_eq!(check(&text).unwrap_err().state().0, "54001");
        assert_eq!(binary_of_text(&text).unwrap_err().state().0, "54001");
    }
}

#[test]
fn values_are_ordered_as_in_postgresql() {
    let ascending = [
        "[]",
        "null",
        r#""""#,
        r#""a""#,
        r#""ab""#,
        r#""b""#,
        "-1e20",
        "-12",
        "-1.2",
        "-1.19",
        "-0.01",
        "0",
        "0.001",
        "0.01",
        "1",
        "1.01",
        "9",
        "10",
        "1e20",
        "false",
        "true",
        "[null]",
        "[1]",
        "[[]]",
        "[1, 1]",
        "[1, 2]",
        "{}",
        r#"{"a": 1}"#,
        r#"{"a": 2}"#,
        r#"{"b": 1}"#,
        r#"{"a": 1, "b": 1}"#,
    ];
    let values = ascending.map(|text| binary_of_text(text).unwrap());
    let keys = values.each_ref().map(|value| order_key(value));
    for (pair, texts) in keys.windows(2).zip(ascending.windows(2)) {
        assert!(pair[0] < pair[1], "{texts:?}");
    }
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate() {
            assert_eq!(compare(a, b), i.cmp(&j), "{} {}", ascending[i], ascending[j]);
        }
    }
    for (a, b) in [
        ("1.0", "1"),
        ("0.00", "-0"),
        ("1e2", "100.0"),
        (r#"{"a": 1, "b": [1, 2]}"#, r#"{ "b":[1.0,2], "a":1.00 }"#),
    ] {
        let [a_value, b_value] = [a, b].map(|text| binary_of_text(text).unwrap());
        assert_eq!(order_key(&a_value), order_key(&b_value), "{a} {b}");
        assert!(compare(&a_value, &b_value).is_eq(), "{a} {b}");
    }
}

#[test]
fn members_are_found_where_they_lie() {
    let binary = binary_of_text(r#"{"tags": ["x", "y"], "age": 7.50, "": null}"#).unwrap();
    let Json::Object(object) = Json::new(&binary) else {
        panic!("not an object");
    };
    assert_eq!(
        object.members().map(|(key, _)| key).collect::<Vec<_>>(),
        ["", "age", "tags"]
    );
    assert!(matches!(
        object.get("age").map(Json::new),
        Some(Json::Number("7.50"))
    ));
    assert!(matches!(object.get("").map(Json::new), Some(Json::Null)));
    assert!(object.get("ag").is_none());
    let Some(Json::Array(tags)) = object.get("tags").map(Json::new) else {
        panic!("not an array");
    };
    assert!(matches!(tags.get(-1).map(Json::new), Some(Json::String("y"))));
    assert!(matches!(tags.get(0).map(Json::new), Some(Json::String("x"))));
    for index in [2, -3, i64::MIN, i64::MAX] {
        assert!(tags.get(index).is_none());
    }
    assert_eq!(Json::new(&binary).kind(), "object");
}

#[test]
fn keys_are_found_among_few_and_many() {
    for count in [0, 1, 2, 23, 24, 25, 100] {
        // Prefixes of one another, and keys of one length.
        let keys: Vec<String> = (0..count).map(|n| format!("{}{n}", "k".repeat(n % 7))).collect();
        let members = keys.iter().map(|key| (key.clone(), string_of(key)));
        // The last of equal keys stays.
        let twice = keys.iter().map(|key| (key.clone(), number_of("0")));
        let binary = object_of(twice.chain(members).collect());
        for key in &keys {
            assert_eq!(
                member(&binary, key),
                Some(&string_of(key)[..]),
                "{key} of {count}"
            );
            for other in [
                format!("{key}k"),
                format!("k{key}k"),
                format!("é{key}"),
                key[1..].to_string() + "x",
            ] {
                assert_eq!(member(&binary, &other), None, "{other} of {count}");
            }
        }
        assert_eq!(member(&binary, ""), None);
    }
}

#[test]
fn damaged_bytes_give_a_value() {
    let whole = binary_of_text(r#"{"a": [1, {"b": "c"}], "dd": [[], null, true]}"#).unwrap();
    for at in 0..whole.len() {
        for byte in [0, 1, 5, 6, 127, 255] {
            let mut damaged = whole.clone();
            damaged[at] = byte;
            for bytes in [&damaged[..], &whole[..at]] {
                order_key(bytes);
                let _ = (compare(bytes, &whole), compare(&whole, bytes));
                for key in ["", "a", "dd", "dda"] {
                    member(bytes, key);
                }
                write_compact(&mut String::new(), bytes).unwrap();
            }
        }
    }
}

#[test]
fn containment_is_postgresqls() {
    for (whole, part, expected) in [
        (r#"{"a": {"b": 1, "c": 2}}"#, r#"{"a": {"b": 1}}"#, true),
        ("[1, 2, 3]", "[3, 1]", true),
        ("[1, [2]]", "[2]", false),
        ("[1, [2]]", "[[2]]", true),
        ("[1, 2]", "1", true),
        ("[1, [2]]", "2", false),
        ("1", "[1]", false),
        ("1", "1.0", true),
        (r#"{"a": 1.0}"#, r#"{"a": 1}"#, true),
        (r#"{"a": [1]}"#, r#"{"a": 1}"#, false),
        (r#"{"a": []}"#, r#"{"a": {}}"#, false),
        ("[]", "[]", true),
        ("[]", "{}", false),
        (r#"["a"]"#, r#"["a", "a"]"#, true),
    ] {
        let [whole_binary, part_binary] = [whole, part].map(|text| binary_of_text(text).unwrap());
        assert_eq!(
            contains(&whole_binary, &part_binary),
            expected,
            "{whole} @> {part}"
        );
    }
}

#[test]
fn paths_end_where_postgresqls_do() {
    let binary = binary_of_text(r#"{"home": {"city": "Ulm"}, "tags": ["x", {"k": null}]}"#).unwrap();
    let text = |found: Option<&[u8]>| {
        found.map(|binary| {
            let mut out = String::new();
            write_compact(&mut out, binary).unwrap();
            out
        })
    };
    for (path, expected) in [
        (&["home", "city"][..], Some("\"Ulm\"")),
        (&["tags", "1", "k"], Some("null")),
        (&["tags", "-2"], Some("\"x\"")),
        (&["tags", " +0"], Some("\"x\"")),
        (&["tags", "2"], None),
        (&["tags", "x"], None),
        (&["home", "city", "0"], None),
    ] {
        assert_eq!(text(at_path(&binary, path)).as_deref(), expected, "{path:?}");
    }
    assert_eq!(at_path(&binary, &[]), Some(&binary[..]));
    let lone = binary_of_text("\"lone\"").unwrap();
    assert_eq!(text(element(&lone, -1)).as_deref(), Some("\"lone\""));
    assert_eq!(
        (element(&lone, 1), member(&lone, "lone"), element(&binary, 0)),
        (None, None, None)
    );
    assert!(has_key(&lone, "lone") && has_key(&binary, "tags") && !has_key(&binary, "city"));
    assert!(has_key(member(&binary, "tags").unwrap(), "x"));
}

#[test]
fn parts_of_a_text_are_as_they_were_written() {
    let text = " { \"a\\u0062\" : [1, {\"x\": \"]}\\\"\"}] ,\"c\":1.00,\"c\": null } ";
    let members = raw_members(text).unwrap().unwrap();
    let named = |at: usize| (members[at].0.as_str(), members[at].1);
    assert_eq!(named(0), ("ab", "[1, {\"x\": \"]}\\\"\"}]"));
    assert_eq!(
        (named(1), named(2), members.len()),
        (("c", "1.00"), ("c", "null"), 3)
    );
    assert_eq!(raw_elements(members[0].1).unwrap(), ["1", "{\"x\": \"]}\\\"\"}"]);
    assert_eq!(raw_elements(" [ ] ").unwrap(), [""; 0]);
    assert_eq!((raw_elements("{}"), raw_members("[]").unwrap()), (None, None));
    assert_eq!(raw_string(" \"\\n\"").unwrap().unwrap(), "\n");
    let kinds = ["{}", "[]", "\"\"", "true", "null", "-1"].map(raw_kind);
    assert_eq!(kinds, ["object", "array", "string", "boolean", "null", "number"]);
}
