//! Places of errors: characters of the text that was run, whatever stands before the statement in it.

use crate::memory;
use frazil::{Connection, Error};

/// Texts before a statement.
const BEFORE: [&str; 5] = ["", "  \n\t", "-- größe\n", "/* a\n b */ ", "select 'größe'; "];

/// Statements whose error is at the sign `@`, which is left out.
const STATEMENTS: [&str; 13] = [
    "select 1 frmo @t",
    "select a, @nope from t",
    "select 'ü', @a / (a - a) from t",
    "select 1 where @2 / (select a - a from t limit 1) = 1",
    "update t set a = @a / (a - a)",
    "insert into t values (@'x')",
    "insert into t values (@1 / 0)",
    "select @'x'::integer",
    "select @1 / $1::integer",
    "copy (select @nope from t) to '/absent/file'",
    "explain select @nope from t",
    "create view v as select @nope from t",
    "create table u (a integer check (@nope > 0))",
];

fn error(c: &Connection, text: &str) -> Error {
    let values: &[frazil::Value] = match text.contains('$') {
        true => &[frazil::Value::Integer(0)],
        false => &[],
    };
    c.execute_with(text, values).map(drop).expect_err(text)
}

#[test]
fn a_place_is_in_the_text_that_was_run() {
    let c = memory();
    c.execute("create table t (a integer); insert into t values (1)")
        .expect("it runs");
    let mut wrong = Vec::new();
    for statement in STATEMENTS {
        for before in BEFORE {
            // Parameters belong to a single statement.
            if statement.contains('$') && before.contains(';') {
                continue;
            }
            let text = format!("{before}{statement}");
            let at = text.chars().take_while(|c| *c != '@').count() + 1;
            let text = text.replace('@', "");
            // Compiled anew, then as the plan cache has it, then prepared.
            let found = [error(&c, &text), error(&c, &text)].map(|e| e.position());
            if found != [Some(at); 2] {
                wrong.push(format!("{text:?}: {found:?}, not {at}"));
            }
            if before.contains(';') {
                continue;
            }
            let prepared = c.prepare(&text);
            let value = |_| frazil::Value::Integer(0);
            let values: Vec<_> = text.matches('$').map(value).collect();
            let run = |_| match &prepared {
                Ok(prepared) => prepared
                    .execute(&values[..])
                    .map(drop)
                    .expect_err(&text)
                    .position(),
                Err(error) => error.position(),
            };
            let found = [0, 1].map(run);
            if found != [Some(at); 2] {
                wrong.push(format!("prepared {text:?}: {found:?}, not {at}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_prepared_statement_has_no_place_in_execute() {
    let c = memory();
    for prepare in [
        "prepare q (integer) as select 'long enough', 1 / $1",
        "prepare r as select 1 / $1::integer",
    ] {
        c.execute(prepare).expect("it is prepared");
    }
    for execute in ["execute q(0)", "execute r(0)", "execute r(0)"] {
        assert_eq!(error(&c, execute).position(), None, "{execute}");
    }
    assert_eq!(error(&c, "execute q(nope)").position(), Some(11));
}
