//! Errors of binding beside those that PostgreSQL 15 gives: SQLSTATE and position of each.

mod support;

use support::try_bind;

/// `errors.txt`: SQLSTATE (00000: none), position (-: none) and statement, as PostgreSQL answered.
const RECORDED: &str = include_str!("errors.txt");

#[test]
fn states_and_positions_are_postgresqls() {
    let mut wrong = Vec::new();
    for line in RECORDED.lines() {
        let mut parts = line.splitn(3, ' ');
        let (Some(state), Some(position), Some(sql)) = (parts.next(), parts.next(), parts.next()) else {
            panic!("{line}");
        };
        let (got, at) = match try_bind(sql) {
            Ok(_) => ("00000".to_string(), None),
            Err(e) => (e.state().0.to_string(), e.position()),
        };
        let expected = position.parse::<usize>().ok();
        if got != state || expected.is_some() && expected != at {
            wrong.push(format!("{sql}: {got} at {at:?}, not {state} at {position}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_refused_is_named() {
    for (sql, what) in [
        ("select distinct a from t for update", "FOR UPDATE"),
        ("select count(distinct a) over () from t", "DISTINCT"),
        (
            "with recursive a(n) as (select 1 union all select n from b), b(n) as (select 2 union all select n from a) select n from a",
            "mutual recursion",
        ),
        ("select w collate \"de\" from t", "COLLATE"),
        ("create table n as select t from t", "a column of type record"),
        ("select * from t with ordinality", "WITH ORDINALITY"),
        ("select * from rows from (1)", "ROWS FROM"),
        ("select b'101'", "bit string"),
        ("select a into n from t", "SELECT INTO"),
        ("comment on function f is 'x'", "COMMENT ON FUNCTION"),
        ("merge into t using u on a = id when matched then delete", "MERGE"),
    ] {
        let error = try_bind(sql).expect_err(sql);
        assert_eq!(error.state().0, "0A000", "{sql}: {error}");
        assert!(error.message().contains(what), "{sql}: {error}");
    }
}

#[test]
fn hints_name_what_is_nearest() {
    for (sql, hint) in [
        ("select l_quantty from lineitem", "did you mean \"l_quantity\"?"),
        ("select 1 from lineitme", "did you mean \"lineitem\"?"),
        ("select x.id from u y join t xx on true", "did you mean \"y\"?"),
        ("insert into u (nott) values ('x')", "did you mean \"note\"?"),
        (
            "select id from u union select a from t order by ids",
            "did you mean \"id\"?",
        ),
    ] {
        assert_eq!(try_bind(sql).expect_err(sql).hint(), Some(hint), "{sql}");
    }
}

#[test]
fn positions_count_characters_of_the_script() {
    let parsed = frazil_frontend::parse(
        "select 1;\n select 'größe', nope from t",
        &frazil_frontend::Limits::none(),
    )
    .unwrap();
    let tables = support::Tables::new();
    let error = frazil_frontend::bind(&parsed[1], &tables, &Default::default(), &[]).unwrap_err();
    assert_eq!(error.position(), Some(28));
}
