//! Notices to the client: severity, SQLSTATE, text and detail, before the statement's tag.

use crate::client::{Served, bind, execute, parse, query, sync};

#[test]
fn notices_come_before_the_tag() {
    let served = Served::trusting();
    let mut client = served.client();
    assert_eq!(
        client.ask(&[query("drop table if exists nope; drop schema if exists nope")]),
        "N[00000] C[DROP TABLE] N[00000] C[DROP SCHEMA] ZI"
    );
    client.ask(&[query("create table t (a int primary key)")]);
    assert_eq!(
        client.ask(&[query("create table if not exists t (a int)")]),
        "N[42P07] C[CREATE TABLE] ZI"
    );
    // The extended protocol has them, too.
    let messages = [
        parse("", "drop view if exists nope", &[]),
        bind("", "", &[], 0, 0),
        execute("", 0),
        sync(),
    ];
    assert_eq!(client.ask(&messages), "1 2 N[00000] C[DROP VIEW] ZI");
    client.ask(&[query("set client_min_messages = warning")]);
    assert_eq!(
        client.ask(&[query("drop view if exists nope")]),
        "C[DROP VIEW] ZI"
    );
    assert_eq!(client.ask(&[query("commit")]), "N[25P01] C[COMMIT] ZI");
}

#[test]
fn a_notice_has_its_fields() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query(
        "create table t (a int); create view v as select a from t; create view w as select a from v",
    )]);
    client.send(&query("drop table t cascade"));
    let answers = client.until_ready();
    let notice = answers.iter().find(|answer| answer.0 == b'N').expect("a notice");
    let fields = [b'S', b'V', b'C', b'M', b'D'].map(|kind| notice.field(kind).unwrap_or_default());
    assert_eq!(
        fields,
        [
            "NOTICE",
            "NOTICE",
            "00000",
            "drop cascades to 2 other objects",
            "drop cascades to view v\ndrop cascades to view w"
        ]
    );
}

#[test]
fn the_tag_of_a_table_of_a_query_counts_as_select() {
    let served = Served::trusting();
    let mut client = served.client();
    assert_eq!(
        client.ask(&[query("create table w as select generate_series(1, 3) as a")]),
        "C[SELECT 3] ZI"
    );
    assert_eq!(
        client.ask(&[query("create table if not exists w as select 1 as a")]),
        "N[42P07] C[CREATE TABLE AS] ZI"
    );
    assert_eq!(
        client.ask(&[query("create materialized view m as select * from w")]),
        "C[SELECT 3] ZI"
    );
    assert_eq!(
        client.ask(&[query(
            "create materialized view n as select * from w with no data"
        )]),
        "C[CREATE MATERIALIZED VIEW] ZI"
    );
    assert_eq!(
        client.ask(&[query("refresh materialized view n")]),
        "C[REFRESH MATERIALIZED VIEW] ZI"
    );
}
