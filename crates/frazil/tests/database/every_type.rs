//! What a type must be able to do, for every type: its values are written and read, ordered, grouped, joined, found by indexes and
//! restrictions, and kept: in hot rows, in blocks of every encoding and layout, in CSV, Parquet and JSON, in the log and in a directory.

use crate::edge_values::{Edges, TYPES, value};
use crate::{directory, memory, rows};
use frazil::{Connection, Database, LogicalType, Outcome, RawValue as Value};
use frazil_types::CompareOp;
use frazil_types::value_ops::{CastLength, cast, order_as, written};
use std::cmp::Ordering;

/// Encodings and layouts of a table's columns; those that a type cannot have give way.
const FORMS: [&str; 11] = [
    "",
    "with (encoding = constant)",
    "with (encoding = dictionary)",
    "with (encoding = 'frame of reference')",
    "with (encoding = 'patched frame of reference')",
    "with (encoding = raw)",
    "with (layout = 'byte-packed')",
    "with (layout = 'bit-packed')",
    "with (layout = byteslice)",
    "with (layout = vbp)",
    "with (layout = hbp)",
];

/// Each value so often.
const COPIES: usize = 3;

/// Types that columns can have.
fn stored() -> impl Iterator<Item = &'static Edges> {
    TYPES.iter().filter(|t| t.ty.info().is_stored)
}

/// The values of a table `t (i, v)` by `i`: every edge in turn, then NULL, all of it several times.
fn contents(edges: &Edges) -> Vec<Value> {
    let round = edges.values().into_iter().chain([Value::Null]);
    let round: Vec<Value> = round.collect();
    round.iter().cycle().take(COPIES * round.len()).cloned().collect()
}

/// Makes the table and fills it.
fn fill(c: &Connection, edges: &Edges, options: &str) {
    rows(
        c,
        &format!("create table t (i integer not null, v {}) {options}", edges.ty),
    );
    let round = edges.texts.len() + 1;
    let row = |i: usize| format!("({i}, {})", edges.literal(i % round));
    let all: Vec<String> = (0..COPIES * round).map(row).collect();
    rows(c, &format!("insert into t values {}", all.join(", ")));
}

/// The first column of a query's rows.
#[track_caller]
fn column(c: &Connection, sql: &str) -> Vec<Value> {
    let response = c.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    match response.outcome {
        Outcome::Rows(rows) => rows.raw().map(|mut row| row.remove(0)).collect(),
        Outcome::Command { .. } => panic!("{sql}: a command"),
    }
}

fn ints(values: impl IntoIterator<Item = usize>) -> Vec<Value> {
    values.into_iter().map(|i| Value::Int(i as i128)).collect()
}

/// Whether a text shows an array that is more than a list: of several dimensions, or of other bounds.
fn has_dimensions(text: &str, ty: LogicalType) -> bool {
    ty.element().is_some() && (text.contains("{{") || text.starts_with('['))
}

/// The order in which results stand: NULLs last.
fn place(a: &Value, b: &Value, ty: LogicalType) -> Ordering {
    order_as(a, b, ty).unwrap_or_else(|| a.is_null().cmp(&b.is_null()))
}

/// What a query over the table must give, whatever form the rows have.
fn ask(c: &Connection, edges: &Edges, what: &str) {
    let all = contents(edges);
    assert_eq!(column(c, "select v from t order by i"), all, "{what}");
    let nulls = (0..all.len()).filter(|&i| all[i].is_null());
    let found = column(c, "select i from t where v is null order by i");
    assert_eq!(found, ints(nulls), "{what}");
    if !edges.ty.is_comparable() {
        return incomparable(c, what);
    }
    let mut sorted: Vec<usize> = (0..all.len()).collect();
    sorted.sort_by(|&a, &b| place(&all[a], &all[b], edges.ty));
    let by_value = column(c, "select i from t order by v, i");
    assert_eq!(by_value, ints(sorted.iter().copied()), "{what}");
    sorted.sort_by(|&a, &b| place(&all[b], &all[a], edges.ty).then(a.cmp(&b)));
    let down = column(c, "select i from t order by v desc, i");
    assert_eq!(down, ints(sorted), "{what}");
    grouped(c, edges.ty, &all, what);
    for (text, v) in edges.texts.iter().zip(edges.values()) {
        compared(c, edges.ty, text, &v, &all, what);
    }
}

/// What asks for an order or equality that a type lacks is refused.
fn incomparable(c: &Connection, what: &str) {
    for sql in [
        "select i from t order by v",
        "select distinct v from t",
        "select distinct on (v) i from t",
        "select v from t group by v",
        "select v from t group by rollup (v)",
        "select count(distinct v) from t",
        "select string_agg('x', '' order by v) from t",
        "select rank() over (partition by v) from t",
        "select rank() over (order by v) from t",
        "select v from t union select v from t",
        "select v from t except select v from t",
        "select v from t intersect all select v from t",
        "with recursive r as (select v from t union select v from r) select i from t, r",
        "select i from t where v = v",
        "select i from t where v is distinct from v",
        "select i from t where v in (select v from t)",
        "select i from t where array[v] = array[v]",
        "select array[v] from t group by 1",
        "select max(v) from t",
    ] {
        let state = c.execute(sql).map_err(|e| e.state().0).err();
        assert_eq!(state, Some("42883"), "{what}: {sql}");
    }
}

/// Groups, distinct values and joins: equal values are those whose order is.
fn grouped(c: &Connection, ty: LogicalType, all: &[Value], what: &str) {
    let same = |a: &Value, b: &Value| place(a, b, ty).is_eq();
    let first = |i: &usize| !all[..*i].iter().any(|b| same(b, &all[*i]));
    let firsts: Vec<usize> = (0..all.len()).filter(first).collect();
    let groups = column(c, "select min(i) from t group by v order by 1");
    assert_eq!(groups, ints(firsts.iter().copied()), "{what}");
    let values = firsts.iter().filter(|&&i| !all[i].is_null()).count();
    assert_eq!(
        column(c, "select count(distinct v) from t"),
        ints([values]),
        "{what}"
    );
    let rest = column(c, "select count(*) from (select distinct v from t) d");
    assert_eq!(rest, ints([firsts.len()]), "{what}");
    let is_pair = |a: &Value, b: &Value| order_as(a, b, ty) == Some(Ordering::Equal);
    let pairs = all.iter().map(|a| all.iter().filter(|b| is_pair(a, b)).count());
    let joined = column(c, "select count(*) from t a join t b on a.v = b.v");
    assert_eq!(joined, ints([pairs.sum::<usize>()]), "{what}");
}

/// Comparisons with a literal, which restrict the scan, and with values of other rows, which do not.
fn compared(c: &Connection, ty: LogicalType, text: &str, v: &Value, all: &[Value], what: &str) {
    for op in [CompareOp::Eq, CompareOp::Lt, CompareOp::Ge, CompareOp::Ne] {
        let holds = |i: &usize| order_as(&all[*i], v, ty).is_some_and(|o| op.holds(o));
        let wanted = ints((0..all.len()).filter(holds));
        let sql = format!(
            "select i from t where v {} cast('{text}' as {ty}) order by i",
            op.symbol()
        );
        assert_eq!(column(c, &sql), wanted, "{what}: {sql}");
    }
}

#[test]
fn in_rows_hot_and_frozen() {
    for edges in stored() {
        for options in FORMS {
            let c = memory();
            fill(&c, edges, options);
            let what = format!("{} {options}", edges.ty);
            if options.is_empty() {
                ask(&c, edges, &format!("{what}, hot"));
            }
            rows(&c, "freeze t");
            ask(&c, edges, &format!("{what}, frozen"));
            if options.is_empty() {
                rows(&c, &format!("insert into t values (-1, {})", edges.literal(0)));
                rows(&c, "delete from t where i = -1");
                ask(&c, edges, &format!("{what}, frozen and hot"));
            }
        }
    }
}

/// An enumeration, whose values are numbers that its database chose, and arrays of it.
#[test]
fn enumerations_hot_and_frozen_and_in_indexes() {
    const LABELS: &[&str] = &["tiny", "huge", "medium", "it is"];
    const ARRAYS: &[&str] = &["{tiny,huge}", "{}", "{NULL,medium}", "{medium}"];
    for (array, texts) in [("", LABELS), ("[]", ARRAYS)] {
        for options in FORMS {
            let c = memory();
            rows(
                &c,
                "create type size as enum ('tiny', 'it is', 'huge'); alter type size add value 'medium' before 'huge'",
            );
            let ty = match c.execute(&format!("select null::size{array}")).unwrap().outcome {
                Outcome::Rows(found) => found.schema().columns[0].ty,
                Outcome::Command { .. } => panic!("a command"),
            };
            let edges = Edges { ty, texts };
            let what = format!("{ty} {options}");
            fill(&c, &edges, options);
            if options.is_empty() {
                rows(&c, "create index on t (v desc)");
                ask(&c, &edges, &format!("{what}, hot"));
            }
            rows(&c, "freeze t");
            ask(&c, &edges, &format!("{what}, frozen"));
            if options.is_empty() {
                c.verify().unwrap_or_else(|e| panic!("{what}: {e:?}"));
            }
        }
    }
}

#[test]
fn a_block_of_one_value_and_one_of_nulls() {
    for edges in stored() {
        for (text, v) in edges.texts.iter().zip(edges.values()) {
            let c = memory();
            rows(&c, &format!("create table t (v {})", edges.ty));
            rows(&c, &format!("insert into t values ('{text}'), ('{text}')"));
            rows(&c, "freeze t");
            assert_eq!(
                column(&c, "select v from t"),
                [v.clone(), v],
                "{text} of {}",
                edges.ty
            );
        }
        let c = memory();
        rows(&c, &format!("create table t (v {})", edges.ty));
        rows(&c, "insert into t values (null), (null)");
        rows(&c, "freeze t");
        assert_eq!(column(&c, "select v from t"), [Value::Null, Value::Null]);
    }
}

#[test]
fn keys_of_indexes() {
    for edges in stored() {
        if !edges.ty.is_comparable() {
            let c = memory();
            fill(&c, edges, "");
            for sql in [
                "create index on t (v)".to_owned(),
                format!("create table u (v {} primary key)", edges.ty),
            ] {
                assert_eq!(c.execute(&sql).unwrap_err().state().0, "42704", "{sql}");
            }
            continue;
        }
        for options in ["", ", v desc"] {
            let c = memory();
            fill(&c, edges, "");
            rows(&c, &format!("create index on t (v{options})"));
            ask(&c, edges, &format!("{} with an index", edges.ty));
            rows(&c, "freeze t");
            ask(&c, edges, &format!("{} with an index, frozen", edges.ty));
            c.verify().unwrap_or_else(|e| panic!("{}: {e:?}", edges.ty));
        }
        let c = memory();
        rows(&c, &format!("create table t (v {} primary key)", edges.ty));
        for (i, v) in edges.values().iter().enumerate() {
            let taken = edges.values()[..i]
                .iter()
                .any(|other| order_as(v, other, edges.ty).is_some_and(Ordering::is_eq));
            let inserted = c.execute(&format!("insert into t values ({})", edges.literal(i)));
            assert_eq!(
                inserted.err().map(|e| e.state().0),
                taken.then_some("23505"),
                "{v:?} of {}",
                edges.ty
            );
            let sql = format!(
                "select v from t where v = cast({} as {})",
                edges.literal(i),
                edges.ty
            );
            assert_eq!(column(&c, &sql).len(), 1, "{sql}");
        }
    }
}

#[test]
fn files_give_back_what_they_got() {
    let folder = directory("every-type-files");
    std::fs::create_dir_all(&folder).unwrap();
    for edges in stored() {
        for format in ["csv", "parquet", "json"] {
            let c = memory();
            fill(&c, edges, "");
            let file = folder.join(format!("t.{format}"));
            let options = format!("(format {format})");
            if format == "parquet"
                && (edges.ty.is_span() || edges.texts.iter().any(|text| has_dimensions(text, edges.ty)))
            {
                // Parquet's intervals count milliseconds, and are not negative.
                let copied = c.execute(&format!("copy t to '{}' {options}", file.display()));
                let refused = if edges.ty.is_span() { "22008" } else { "0A000" };
                assert_eq!(copied.unwrap_err().state().0, refused);
                continue;
            }
            rows(&c, &format!("copy t to '{}' {options}", file.display()));
            rows(&c, "truncate t");
            rows(&c, &format!("copy t from '{}' {options}", file.display()));
            ask(&c, edges, &format!("{} through {format}", edges.ty));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_log_and_a_checkpoint_give_back_what_they_got() {
    for edges in stored() {
        let path = directory("every-type-log");
        let fill_with_default = |c: &Connection| {
            fill(c, edges, "");
            let default = edges.literal(0);
            rows(
                c,
                &format!("create table u (i integer, v {} default {default})", edges.ty),
            );
            rows(c, "insert into u (i) values (1)");
        };
        for statement in ["show frazil.stages", "checkpoint", "freeze t", "checkpoint"] {
            let database = Database::open(&path).unwrap();
            let c = database.connect();
            if c.tables().is_empty() {
                fill_with_default(&c);
            }
            rows(&c, statement);
            drop(c);
            drop(database);
            let c = Database::open(&path).unwrap().connect();
            ask(&c, edges, &format!("{} reopened after {statement}", edges.ty));
            rows(&c, "delete from u; insert into u (i) values (1)");
            assert_eq!(
                column(&c, "select v from u"),
                [edges.values().remove(0)],
                "{}",
                edges.ty
            );
        }
        std::fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn literals_texts_and_parameters() {
    let c = memory();
    for edges in TYPES {
        let ty = edges.ty;
        let identity = c.prepare(&format!("select $1::{ty}")).unwrap();
        for (text, v) in edges.texts.iter().zip(edges.values()) {
            assert_eq!(
                column(&c, &format!("select cast('{text}' as {ty})")),
                std::slice::from_ref(&v)
            );
            let shown = cast(&v, ty, LogicalType::Text, CastLength::Refuse).unwrap();
            assert_eq!(shown, Value::Text(written(&v, ty).into_owned()));
            let sql = format!("select cast(x as text) from (select cast('{text}' as {ty}) as x limit 1) d");
            assert_eq!(column(&c, &sql), std::slice::from_ref(&shown), "{text} of {ty}");
            assert_eq!(value(shown.as_text().unwrap(), ty), v, "{text} of {ty}");
            let given = identity.execute(&[Value::Text((*text).to_owned())]).unwrap();
            let Outcome::Rows(given) = given.outcome else {
                panic!("a command")
            };
            assert_eq!(given.raw().next(), Some(vec![v]), "{text} of {ty}");
            // Arrow's lists have one dimension that begins with 1.
            assert_eq!(
                given.to_arrow().is_ok(),
                !has_dimensions(text, ty),
                "{text} of {ty}"
            );
        }
    }
}

/// The text of every type and edge value.
#[test]
fn golden_text() {
    let mut text = String::new();
    for edges in TYPES {
        let typname = match edges.ty.element() {
            Some(element) => format!("_{}", element.info().typname),
            None => edges.ty.info().typname.to_owned(),
        };
        text += &format!(
            "{} ({}, {typname}, {})\n",
            edges.ty,
            edges.ty.name(),
            edges.ty.oid()
        );
        for v in edges.values() {
            text += &format!("  '{}'\n", v.display(edges.ty));
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/database/every_type.txt");
    if std::env::var_os("FRAZIL_WRITE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text);
}
