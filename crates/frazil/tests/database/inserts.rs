//! A prepared INSERT finds the memory of the one before: nothing of that one shows.

use crate::{memory, rows, state};
use frazil::{Connection, RawValue as Value, SqlState};

fn int(n: i128) -> Value {
    Value::Int(n)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn two_tables() -> Connection {
    let c = memory();
    rows(
        &c,
        "create table many (k bigint primary key, t text unique, a integer, b smallint unique nulls not distinct, unique (a, t))",
    );
    rows(&c, "create index many_desc on many (a desc, k)");
    rows(
        &c,
        "create table few (t varchar(40) primary key, n numeric(30, 2))",
    );
    rows(&c, "create table bare (x integer, s text)");
    c
}

#[test]
fn inserts_into_tables_of_many_indexes_and_of_none_take_turns() {
    let c = two_tables();
    let many = c
        .prepare("insert into many values ($1, $2, $3, $4)")
        .expect("it is one");
    let pair = c.prepare("insert into many values ($1, $2, 1, $3), ($4, 'constant', null, 7)");
    let pair = pair.expect("it is one");
    let few = c.prepare("insert into few values ($1, $2)").expect("it is one");
    let bare = c.prepare("insert into bare values ($1, $2)").expect("it is one");
    let long = "a text that is longer than what a reference holds ";
    for n in 0..300i128 {
        let key = if n % 3 == 0 {
            format!("{long}{n}")
        } else {
            format!("k{n}")
        };
        let given = [
            int(n),
            text(&key),
            if n % 4 == 0 { Value::Null } else { int(n / 2) },
            int(n + 100),
        ];
        many.execute(&given).expect("it is new");
        few.execute(&[text(&format!("few{n}")), int(n)])
            .expect("it is new");
        bare.execute(&[if n % 2 == 0 { Value::Null } else { int(n) }, text(long)])
            .expect("it has no key");
        // A key that is taken in the first index, in a later one, and by a row of the same statement.
        for given in [
            [int(n), text("new"), Value::Null, int(-1)],
            [int(n + 1000), text(&key), Value::Null, int(-1)],
            [int(n + 1000), text("new"), Value::Null, int(n + 100)],
        ] {
            let taken = many.execute(&given).expect_err("a key is taken");
            assert_eq!(taken.state(), SqlState::UNIQUE_VIOLATION);
        }
        let taken = pair
            .execute(&[int(5000), text("constant"), int(9), int(5001)])
            .expect_err("twice in it");
        assert_eq!(taken.state(), SqlState::UNIQUE_VIOLATION);
        let null = few.execute(&[Value::Null, int(1)]).expect_err("a key");
        assert_eq!(null.state(), SqlState::NOT_NULL_VIOLATION);
    }
    pair.execute(&[int(5000), text("other"), int(9), int(5001)])
        .expect("both are new");
    assert_eq!(
        rows(
            &c,
            "select count(*), count(t), count(a), min(b), max(b) from many"
        ),
        "302|302|226|7|399"
    );
    assert_eq!(rows(&c, "select count(*), sum(n) from few"), "300|44850.00");
    assert_eq!(
        rows(&c, "select count(*), count(x), count(distinct s) from bare"),
        "300|150|1"
    );
    assert_eq!(
        rows(&c, &format!("select k from many where t = '{long}297'")),
        "297"
    );
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
}

#[test]
fn inserts_after_large_ones_and_after_savepoints_find_their_rows() {
    let c = two_tables();
    let few = c.prepare("insert into few values ($1, $2)").expect("it is one");
    let many = c
        .prepare("insert into many values ($1, $2, 0, null)")
        .expect("it is one");
    let one = |n: i128| few.execute(&[text(&format!("{n}")), int(n)]);
    let digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    rows(
        &c,
        &format!(
            "insert into few select 'large' || i, i from
                (select a.v + b.v * 10 + c.v * 100 + d.v * 1000 + e.v * 10000 as i
                    from {digits} a (v), {digits} b (v), {digits} c (v), {digits} d (v), (values (0), (1), (2), (3), (4), (5), (6)) e (v)) n"
        ),
    );
    one(1).expect("it is new");
    rows(&c, "begin");
    one(2).expect("it is new");
    rows(&c, "savepoint s");
    one(3).expect("it is new");
    one(4).expect("it is new");
    many.execute(&[int(1), text("one")]).expect("it is new");
    rows(&c, "delete from few where t in ('large5', 'large3', '4')");
    one(4).expect("it was deleted");
    rows(&c, "rollback to s");
    one(3).expect("it was undone");
    assert_eq!(one(3).expect_err("taken").state(), SqlState::UNIQUE_VIOLATION);
    assert_eq!(state(&c, "select 1"), SqlState::IN_FAILED_TRANSACTION);
    rows(&c, "rollback to s");
    many.execute(&[int(1), text("one")]).expect("it was undone");
    one(4).expect("it was undone");
    rows(&c, "commit");
    assert_eq!(
        rows(
            &c,
            "select count(*) from few where t in ('1', '2', '3', '4', 'large3', 'large5')"
        ),
        "5"
    );
    assert_eq!(one(4).expect_err("taken").state(), SqlState::UNIQUE_VIOLATION);
    one(3).expect("it was undone");
    assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
}
