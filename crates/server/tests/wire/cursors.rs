//! Portals that pause, and cursors of DECLARE. The answers are PostgreSQL 15's.

use crate::client::{Served, bind, describe, execute, message, parse, query, sync};
use frazil_testkit::Random;

/// More rows than any memory holds: a result that is taken whole would never end.
const ENDLESS: &str = "select generate_series(1, 1000000000000)";

#[test]
fn a_portal_computes_no_more_than_it_is_asked_for() {
    let served = Served::trusting();
    let mut client = served.client();
    let run = [parse("", ENDLESS, &[]), bind("p", "", &[], 0, 0), execute("p", 2)].concat();
    assert_eq!(
        client.ask(&[run.clone(), execute("p", 1), sync()]),
        "1 2 D[1] D[2] s D[3] s ZI"
    );
    // Several at a time, in a transaction, beside other statements and a cursor.
    client.ask(&[query("begin")]);
    assert_eq!(client.ask(&[run, sync()]), "1 2 D[1] D[2] s ZT");
    assert_eq!(
        client.ask(&[query(&format!("declare c cursor for {ENDLESS}"))]),
        "C[DECLARE CURSOR] ZT"
    );
    let other = [
        parse("", ENDLESS, &[]),
        bind("q", "", &[], 0, 1),
        execute("q", 1),
        sync(),
    ];
    assert_eq!(client.ask(&other), "1 2 D[0000000000000001] s ZT");
    assert_eq!(
        client.ask(&[query("fetch 2 from c; move 3 in c; fetch c")]),
        "T D[1] D[2] C[FETCH 2] C[MOVE 3] T D[6] C[FETCH 1] ZT"
    );
    assert_eq!(
        client.ask(&[execute("p", 1), execute("q", 1), sync()]),
        "D[3] s D[0000000000000002] s ZT"
    );
    // The end of a portal before its rows are.
    assert_eq!(
        client.ask(&[message(b'C', b"Pp\0"), execute("p", 1), sync()]),
        "3 E[34000] ZE"
    );
    assert_eq!(
        client.ask(&[query("rollback"), execute("q", 1), sync()]),
        "C[ROLLBACK] ZI"
    );
    assert_eq!(client.short(), "E[34000] ZI");
}

#[test]
fn a_portal_is_suspended_whenever_it_gave_as_many_rows_as_were_wanted() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("begin; create table t (a integer primary key)")]);
    let run = |text: &str| [parse("", text, &[]), bind("", "", &[], 0, 0), execute("", 3)].concat();
    assert_eq!(
        client.ask(&[
            run("select generate_series(1, 3)"),
            execute("", 3),
            execute("", 1),
            sync()
        ]),
        "1 2 D[1] D[2] D[3] s C[SELECT 0] C[SELECT 0] ZT"
    );
    // Commands that return rows, and a query that finds its row by a key.
    assert_eq!(
        client.ask(&[
            run("insert into t values (1), (2), (3), (4) returning a"),
            execute("", 0),
            sync()
        ]),
        "1 2 D[1] D[2] D[3] s D[4] C[INSERT 0 1] ZT"
    );
    assert_eq!(
        client.ask(&[run("select a from t where a = 2"), sync()]),
        "1 2 D[2] C[SELECT 1] ZT"
    );
}

#[test]
fn an_error_of_a_portal_fails_its_transaction() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("begin")]);
    let text = "select 1 / (3 - a) from generate_series(1, 1000000) g (a)";
    let run = [
        parse("", text, &[]),
        bind("p", "", &[], 0, 0),
        execute("p", 1),
        sync(),
    ];
    let answers = client.ask(&run);
    assert!(answers.ends_with("E[22012] ZE"), "{answers}");
    assert_eq!(client.ask(&[execute("p", 1), sync()]), "E[25P02] ZE");
    client.ask(&[query("rollback; begin; savepoint s")]);
    client.ask(&run);
    assert_eq!(
        client.ask(&[query("rollback to s"), execute("p", 1), sync()]),
        "C[ROLLBACK] ZT"
    );
    assert_eq!(client.short(), "E[55000] ZE");
}

#[test]
fn a_portal_ends_with_its_transaction_also_within_a_pipeline() {
    let served = Served::trusting();
    let mut client = served.client();
    let of = |portal: &str, text: &str| [parse("", text, &[]), bind(portal, "", &[], 0, 0)].concat();
    let begun = [of("p", ENDLESS), execute("p", 1)].concat();
    for (end, tag) in [
        ("commit", "COMMIT"),
        ("rollback", "ROLLBACK"),
        ("commit and chain", "COMMIT"),
    ] {
        client.ask(&[query("begin")]);
        let answers = client.ask(&[
            begun.clone(),
            of("", end),
            execute("", 0),
            execute("p", 1),
            sync(),
        ]);
        let ready = if end == "commit and chain" { "ZE" } else { "ZI" };
        assert_eq!(
            answers,
            format!("1 2 D[1] s 1 2 C[{tag}] E[34000] {ready}"),
            "{end}"
        );
        client.ask(&[query("rollback")]);
    }
    // A transaction that only the pipeline holds together, and one that a simple query ends and another begins.
    assert_eq!(
        client.ask(&[
            begun.clone(),
            of("", "commit"),
            execute("", 0),
            execute("p", 1),
            sync()
        ]),
        "1 2 D[1] s 1 2 N[25P01] C[COMMIT] E[34000] ZI"
    );
    client.ask(&[query("begin")]);
    assert_eq!(client.ask(&[begun, sync()]), "1 2 D[1] s ZT");
    client.ask(&[query("commit; begin")]);
    assert_eq!(client.ask(&[execute("p", 1), sync()]), "E[34000] ZE");
}

#[test]
fn a_cursor_is_a_portal_too() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("begin")]);
    let text = "declare c binary cursor for select $1::integer + 1, 'x'::text";
    let run = [
        parse("", text, &[23]),
        bind("", "", &[Some(b"41")], 0, 0),
        execute("", 0),
        sync(),
    ];
    assert_eq!(client.ask(&run), "1 2 C[DECLARE CURSOR] ZT");
    assert_eq!(client.ask(&[describe('P', "c"), sync()]), "T ZT");
    assert_eq!(client.ask(&[query("fetch c")]), "T D[0000002a,x] C[FETCH 1] ZT");
    assert_eq!(client.ask(&[describe('P', "d"), sync()]), "E[34000] ZE");
    client.ask(&[query("rollback")]);
}

/// A model of a cursor over the numbers 1 to `rows`: answers a direction as the manual's page on FETCH says.
struct Model {
    rows: i64,
    /// 0: before the first row; `rows + 1`: behind the last one.
    position: i64,
}

impl Model {
    /// Goes by steps, and returns the numbers that it passes.
    fn steps(&mut self, count: i64) -> Vec<i64> {
        let mut passed = Vec::new();
        for _ in 0..count.abs() {
            self.position = (self.position + count.signum()).clamp(0, self.rows + 1);
            match self.here()[..] {
                [number] => passed.push(number),
                _ => break,
            }
        }
        passed
    }

    fn here(&self) -> Vec<i64> {
        let is_row = (1..=self.rows).contains(&self.position);
        is_row.then_some(self.position).into_iter().collect()
    }

    fn absolute(&mut self, row: i64) -> Vec<i64> {
        let row = if row < 0 { self.rows + 1 + row } else { row };
        self.position = row.clamp(0, self.rows + 1);
        self.here()
    }

    /// The text of a direction, and its rows.
    fn fetch(&mut self, random: &mut Random) -> (String, Vec<i64>) {
        let n = random.below(7) as i64 - 3;
        match random.below(8) {
            0 if n == 0 => ("forward 0".to_owned(), self.here()),
            0 => (format!("forward {n}"), self.steps(n)),
            1 => (format!("backward {}", n.abs() + 1), self.steps(-n.abs() - 1)),
            2 => (format!("absolute {n}"), self.absolute(n)),
            3 => (format!("relative {n}"), self.absolute((self.position + n).max(0))),
            4 if n < -1 => ("all".to_owned(), self.steps(self.rows + 1)),
            4 if n > 1 => ("backward all".to_owned(), self.steps(-self.rows - 1)),
            5 => ("last".to_owned(), self.absolute(-1)),
            6 => ("prior".to_owned(), self.steps(-1)),
            _ => ("next".to_owned(), self.steps(1)),
        }
    }
}

#[test]
fn generated_moves_go_where_a_model_goes() {
    let served = Served::trusting();
    let mut client = served.client();
    let mut random = Random::new(1_128);
    for rows in [0, 1, 7, 2_500] {
        client.ask(&[query("begin")]);
        client.ask(&[query(&format!(
            "declare c scroll cursor for select generate_series(1, {rows})"
        ))]);
        let mut model = Model { rows, position: 0 };
        for _ in 0..60 {
            let (direction, numbers) = model.fetch(&mut random);
            let count = numbers.len();
            let (text, answer) = match random.below(3) {
                0 => (format!("move {direction} in c"), format!("C[MOVE {count}] ZT")),
                _ => {
                    let rows: String = numbers.iter().map(|number| format!("D[{number}] ")).collect();
                    (
                        format!("fetch {direction} from c"),
                        format!("T {rows}C[FETCH {count}] ZT"),
                    )
                }
            };
            assert_eq!(client.ask(&[query(&text)]), answer, "{text}, {rows} rows");
        }
        client.ask(&[query("rollback")]);
    }
}

#[test]
fn portals_and_cursors_have_their_names_together() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("begin")]);
    let bound = |name: &str| [parse("", ENDLESS, &[]), bind(name, "", &[], 0, 0)].concat();
    // Statements find a portal that has run, and one that has not.
    assert_eq!(
        client.ask(&[bound("ran"), execute("ran", 2), sync()]),
        "1 2 D[1] D[2] s ZT"
    );
    assert_eq!(
        client.ask(&[query("move 3 in ran; fetch 2 from ran")]),
        "C[MOVE 3] T D[6] D[7] C[FETCH 2] ZT"
    );
    assert_eq!(client.ask(&[execute("ran", 1), sync()]), "D[8] s ZT");
    assert_eq!(client.ask(&[bound("new"), sync()]), "1 2 ZT");
    assert_eq!(
        client.ask(&[query("fetch 2 from new; fetch 1 from ran")]),
        "T D[1] D[2] C[FETCH 2] T D[9] C[FETCH 1] ZT"
    );
    assert_eq!(client.ask(&[execute("new", 1), sync()]), "D[3] s ZT");
    // CLOSE frees the name, and so does Close.
    assert_eq!(client.ask(&[query("close new")]), "C[CLOSE CURSOR] ZT");
    assert_eq!(
        client.ask(&[bound("new"), execute("new", 1), sync()]),
        "1 2 D[1] s ZT"
    );
    client.ask(&[query("fetch from new")]);
    let again = [message(b'C', b"Pnew\0"), bound("new"), execute("new", 1), sync()];
    assert_eq!(client.ask(&again), "3 1 2 D[1] s ZT");
    // Execute and Close of a cursor of DECLARE.
    let declared = query("declare c cursor for select generate_series(1, 4)");
    assert_eq!(client.ask(&[declared]), "C[DECLARE CURSOR] ZT");
    assert_eq!(
        client.ask(&[execute("c", 2), execute("c", 0), sync()]),
        "D[1] D[2] s D[3] D[4] C[SELECT 2] ZT"
    );
    let closed = [message(b'C', b"Pc\0"), query("declare c cursor for select 1")];
    assert_eq!(client.ask(&closed), "3 C[DECLARE CURSOR] ZT");
    // A name is taken whatever has it.
    client.ask(&[query("savepoint s")]);
    for taken in [
        [bound("c"), sync()].concat(),
        query("declare ran cursor for select 1"),
        query("declare c cursor for select 1"),
    ] {
        let answers = client.ask(&[taken]);
        assert!(answers.contains("E[42P03]"), "{answers}");
        client.ask(&[query("rollback to s")]);
    }
    client.ask(&[query("commit")]);
    assert_eq!(client.ask(&[execute("ran", 1), sync()]), "E[34000] ZI");
}

#[test]
fn portals_that_pause_are_among_the_cursors_and_use_their_tables() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query(
        "create table t (a integer); insert into t select generate_series(1, 5000)",
    )]);
    let begun = || {
        [
            query("begin"),
            parse("", "select a from t where a > 0", &[]),
            bind("p", "", &[], 0, 0),
            execute("p", 1),
            sync(),
        ]
        .concat()
    };
    client.send(&begun());
    assert_eq!(client.short(), "C[BEGIN] ZT");
    assert_eq!(client.short(), "1 2 D[1] s ZT");
    let listed = "select name, statement, is_holdable, is_binary, is_scrollable from pg_cursors";
    assert_eq!(
        client.ask(&[query(listed)]),
        "T D[p,select a from t where a > 0,f,f,f] C[SELECT 1] ZT"
    );
    client.ask(&[query("savepoint s")]);
    for definition in ["drop table t", "alter table t add column b integer", "truncate t"] {
        let answers = client.ask(&[query(definition)]);
        assert!(answers.starts_with("E[55006]"), "{definition}: {answers}");
        client.ask(&[query("rollback to s")]);
    }
    // A portal that was closed uses nothing, and one that has no more rows: in PostgreSQL it uses them until Close.
    client.ask(&[message(b'C', b"Pp\0"), sync()]);
    assert_eq!(client.ask(&[query(listed)]), "T C[SELECT 0] ZT");
    assert_eq!(client.ask(&[query("truncate t")]), "C[TRUNCATE TABLE] ZT");
    client.ask(&[query("rollback")]);
    client.send(&begun());
    client.short();
    client.short();
    client.send(&[execute("p", 0), sync()].concat());
    assert!(client.short().ends_with("C[SELECT 4999] ZT"));
    assert_eq!(client.ask(&[query("truncate t")]), "C[TRUNCATE TABLE] ZT");
    client.ask(&[query("rollback")]);
    // With its transaction goes the portal, also between two statements of a message.
    client.send(&begun());
    client.short();
    client.short();
    assert_eq!(
        client.ask(&[query("commit; drop table t")]),
        "C[COMMIT] C[DROP TABLE] ZI"
    );
}
