//! How rows are held as a table's options ask: pins, purposes, PAX(k), and EXPLAIN FREEZE.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};

/// A table of 5,000 rows with these options.
fn table(c: &Connection, options: &str) {
    let columns = "k integer not null, d integer, s varchar(20) not null, u varchar(40) not null, x double precision not null";
    rows(c, &format!("create table t ({columns}) {options}"));
    fill(c, 5_000);
}

fn fill(c: &Connection, count: i64) {
    let row = |i: i64| {
        let d = if i % 11 == 0 {
            "null".to_string()
        } else {
            (i % 40).to_string()
        };
        let unlike = (i * 7919) % 1_000_003;
        format!(
            "({i}, {d}, 's{}', 'unlike the others {unlike}', {unlike}.375e-7)",
            i % 9
        )
    };
    let values: Vec<String> = (0..count).map(row).collect();
    rows(c, &format!("insert into t values {}", values.join(", ")));
}

fn held(c: &Connection, what: &str) -> String {
    let query =
        format!("select {what} from frazil_blocks where table_name = 't' order by chunk, column_name");
    rows(c, &query).replace('\n', " ")
}

const ANSWERS: &str = "select s, count(*), count(d), sum(d), min(u), max(k) from t where k >= 100 and d < 30 group by s order by s";

#[test]
fn a_pinned_column_is_held_so_and_the_answer_stays() {
    let c = memory();
    table(
        &c,
        "with (layout.k = 'byteslice', encoding.k = 'frame of reference', encoding.d = dictionary, \
         layout.d = vbp, layout.s = 'bit-packed')",
    );
    let expected = rows(&c, ANSWERS);
    assert_eq!(held(&c, "layout").split(' ').next(), Some("memPAX(65536)"));
    rows(&c, "freeze table t");
    // 5,000 numbers take 13 bits; 40 values and NULL take 6; 9 strings take 4.
    let text = held(
        &c,
        "column_name || ':' || encoding || ':' || layout || ':' || cast(bits as text)",
    );
    for wanted in [
        "k:frame of reference:byteslice:13",
        "d:dictionary:vbp:6",
        "s:dictionary:bit-packed:4",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert_eq!(rows(&c, ANSWERS), expected);
}

#[test]
fn a_layout_for_the_whole_table_is_taken_where_it_can_be() {
    for layout in ["byte-packed", "bit-packed", "byteslice", "vbp", "hbp"] {
        let c = memory();
        table(&c, &format!("with (layout = '{layout}')"));
        let expected = rows(&c, ANSWERS);
        rows(&c, "freeze table t");
        let text = held(&c, "column_name || ':' || layout");
        for wanted in ["d", "k", "s"].map(|c| format!("{c}:{layout}")) {
            assert!(text.contains(&wanted), "{wanted}: {text}");
        }
        // Strings and doubles that are all different have no codes that pay.
        assert!(text.contains("u:none"), "{text}");
        assert_eq!(rows(&c, ANSWERS), expected, "{layout}");
    }
}

#[test]
fn what_cannot_be_held_is_refused_by_name_and_kept() {
    let path = directory("refused");
    let database = Database::open(&path).expect("an empty directory opens");
    let c = database.connect();
    table(&c, "with (encoding.u = constant)");
    let error = c.execute("freeze table t").expect_err("the strings differ");
    assert_eq!(error.state(), SqlState::INVALID_PARAMETER);
    assert!(error.to_string().contains("column \"u\""), "{error}");
    assert!(
        error
            .hint()
            .is_some_and(|h| h.contains("raw") && h.contains("dictionary")),
        "{error:?}"
    );
    let shown = rows(&c, "explain freeze t");
    assert!(
        shown
            .lines()
            .filter(|l| l.starts_with("u|"))
            .all(|l| l.contains("excluded")),
        "{shown}"
    );
    // A checkpoint keeps the rows all the same.
    rows(&c, "checkpoint");
    let expected = rows(&c, ANSWERS);
    database.close().expect("it closes");
    let database = Database::open(&path).expect("it opens again");
    let c = database.connect();
    assert_eq!(rows(&c, ANSWERS), expected);
    rows(&c, "alter table t set (encoding.u = default); freeze table t");
    assert_eq!(rows(&c, ANSWERS), expected);
    database.close().expect("it closes");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn rows_that_are_frozen_on_their_way_in_are_held_as_asked_or_refused() {
    let path = directory("pinned-load");
    let database = Database::open(&path).expect("an empty directory opens");
    let c = database.connect();
    let file = path.with_extension("csv");
    let lines: String = (0..65_536).map(|i| format!("{i}\n")).collect();
    std::fs::write(&file, lines).expect("it can be written");
    rows(
        &c,
        "create table t (a integer) with (layout.a = vbp); create table u (a text) with (encoding.a = constant)",
    );
    rows(&c, &format!("copy t from '{}'", file.display()));
    assert_eq!(held(&c, "layout"), "vbp");
    let copy = format!("copy u from '{}'", file.display());
    assert_eq!(state(&c, &copy), SqlState::INVALID_PARAMETER);
    assert_eq!(rows(&c, "select count(*) from u"), "0");
    database.close().expect("it closes");
    let _ = std::fs::remove_file(&file);
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn options_outlive_the_database_that_set_them() {
    let path = directory("options");
    let database = Database::open(&path).expect("an empty directory opens");
    let c = database.connect();
    table(
        &c,
        "with (pax_rows = 3, freeze_for = size, layout.k = hbp, layout = byteslice)",
    );
    rows(&c, "alter table t set (layout.k = vbp)");
    database.close().expect("it closes");
    let database = Database::open(&path).expect("it opens again");
    let c = database.connect();
    assert_eq!(held(&c, "layout").split(' ').next(), Some("memPAX(3)"));
    rows(&c, "freeze table t");
    let text = held(&c, "column_name || ':' || layout");
    assert!(text.contains("k:vbp") && text.contains("d:byteslice"), "{text}");
    database.close().expect("it closes");
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn purposes_differ() {
    let bytes = |purpose: &str| -> i64 {
        let c = memory();
        table(&c, &format!("with (freeze_for = {purpose})"));
        rows(&c, "freeze table t");
        rows(&c, "select sum(bytes) from frazil_blocks")
            .parse()
            .expect("a number")
    };
    let (size, point) = (bytes("size"), bytes("point"));
    assert!(size < point, "{size} bytes for size, {point} for point access");
}

#[test]
fn options_change_for_rows_to_come() {
    let c = memory();
    table(&c, "");
    rows(&c, "begin; alter table t set (pax_rows = 1); rollback");
    rows(&c, "alter table t set (pax_rows = 512, layout = vbp)");
    // The chunk that is being filled stays as it is.
    assert_eq!(held(&c, "layout").split(' ').next(), Some("memPAX(65536)"));
    rows(&c, "freeze table t");
    assert!(held(&c, "layout").contains("vbp"));
    fill(&c, 10);
    assert!(held(&c, "layout").contains("memPAX(512)"));
    assert_eq!(rows(&c, "select count(*) from t where k < 10"), "20");
    assert_eq!(
        state(&c, "alter table t set (paxrows = 1)"),
        SqlState::UNDEFINED_OBJECT
    );
    assert_eq!(
        state(&c, "alter table frazil_blocks set (pax_rows = 1)"),
        SqlState::UNDEFINED_TABLE
    );
}

#[test]
fn every_k_holds_the_same_rows() {
    let mut answers: Option<String> = None;
    for k in [1, 2, 3, 4, 5, 63, 64, 65, 511, 512, 1000, 4999, 65_535, 65_536] {
        let c = memory();
        table(&c, &format!("with (pax_rows = {k})"));
        rows(&c, "delete from t where k % 17 = 3");
        let wanted = format!("memPAX({k})");
        assert_eq!(held(&c, "layout").split(' ').next(), Some(wanted.as_str()));
        let found = rows(&c, ANSWERS);
        assert_eq!(&found, answers.get_or_insert(found.clone()), "k = {k}");
        rows(&c, "freeze table t");
        assert_eq!(Some(rows(&c, ANSWERS)), answers, "k = {k}, frozen");
    }
}

/// Hot, with rows deleted, half frozen, and after the option changed: whoever reads hot chunks, and however.
#[test]
fn every_way_to_read_every_k_gives_the_same_answers() {
    const QUERIES: [&str; 3] = [
        ANSWERS,
        "select k, d, s, u, x from t where d between 3 and 25 or s = 's4' order by k",
        "select a.s, count(*), min(b.u), sum(b.d) from t a join t b on a.k = b.d where b.k > 40 group by a.s order by a.s",
    ];
    let mut answers: Vec<String> = Vec::new();
    for k in [1, 3, 7, 8, 512, 1000, 65_536] {
        let c = memory();
        table(&c, &format!("with (pax_rows = {k})"));
        let mut step = 0;
        for change in [
            "set threads = 1",
            "delete from t where k % 17 = 3",
            "freeze table t",
            "alter table t set (pax_rows = 5)",
        ] {
            rows(&c, change);
            if change.starts_with("freeze") {
                rows(&c, "insert into t select k + 5000, d, s, u, x from t");
            }
            for query in QUERIES {
                for code in ["gathered", "compile_time", "run_time"] {
                    rows(&c, &format!("set frazil.pax_code = {code}"));
                    for scan in ["compiled", "vectorized", "sarg", "psma"] {
                        rows(&c, &format!("set frazil.scan = {scan}"));
                        let found = rows(&c, query);
                        if answers.len() == step {
                            answers.push(found.clone());
                        }
                        assert_eq!(
                            found, answers[step],
                            "k {k}, {code}, {scan}, after {change}: {query}"
                        );
                    }
                }
                step += 1;
            }
        }
    }
}

#[test]
fn explain_tells_how_hot_chunks_are_read() {
    let c = memory();
    table(&c, "with (pax_rows = 512)");
    let stages = |code: &str| {
        rows(&c, &format!("set frazil.pax_code = {code}"));
        rows(&c, "explain (stages) select sum(d) from t")
    };
    assert!(stages("compile_time").contains("compiled for memPAX(512)"));
    assert!(stages("run_time").contains("where they lie, by their k"));
    assert!(!stages("gathered").contains("where they lie"));
    // Few rows are not worth more code, and blocks want none of it.
    assert!(!stages("auto").contains("where they lie"));
    rows(&c, "insert into t select a.* from t a, t b where b.k < 13");
    assert!(stages("auto").contains("compiled for memPAX(512)"));
    rows(&c, "freeze table t");
    assert!(!stages("auto").contains("where they lie") && !stages("compile_time").contains("where they lie"));
    let error = c
        .execute("set frazil.pax_code = 'never'")
        .expect_err("no such way");
    assert!(
        error.message().contains("auto, gathered, compile_time, run_time"),
        "{error}"
    );
}

#[test]
fn explain_freeze_shows_what_freeze_would_choose() {
    let c = memory();
    rows(&c, "create table e (a integer)");
    assert_eq!(rows(&c, "explain freeze e"), "");
    table(&c, "with (freeze_for = size, layout.d = hbp)");
    let before = held(&c, "encoding");
    let shown = rows(&c, "explain freeze t");
    assert_eq!(held(&c, "encoding"), before, "it freezes nothing");
    let chosen = |shown: &str| -> Vec<String> {
        let lines = shown.lines().filter(|l| l.contains("|chosen"));
        let mut lines: Vec<String> = lines
            .map(|l| l.split('|').take(4).collect::<Vec<_>>().join(":"))
            .collect();
        lines.sort();
        lines
    };
    // Of each column one is chosen, and there were others; what a pin rules out is shown as well.
    assert_eq!(chosen(&shown).len(), 5, "{shown}");
    assert!(shown.lines().count() > 20, "{shown}");
    assert!(
        shown.contains("d|frame of reference|byteslice|6|") && shown.contains("|excluded"),
        "{shown}"
    );
    let measured = rows(&c, "explain analyze freeze t order by d");
    for line in measured.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        assert_eq!(cells.len(), 15, "{line}");
        let scan: f64 = cells[10].parse().expect("it was measured");
        assert!(scan >= 0.0 && cells[9].parse::<u64>().is_ok(), "{line}");
    }
    let expected = chosen(&shown);
    rows(&c, "freeze table t");
    let frozen = held(
        &c,
        "column_name || ':' || replace(encoding, ', FSST', '') || ':' || layout || ':' || cast(bits as text) || ';'",
    );
    let mut frozen: Vec<String> = frozen
        .split(';')
        .map(|l| l.trim().to_string())
        .filter(|l| !l.is_empty())
        .collect();
    frozen.sort();
    assert_eq!(frozen, expected);
}

#[test]
fn a_column_of_nulls_has_one_way_to_be_held() {
    let c = memory();
    rows(&c, "create table n (a integer, b text) with (layout.a = vbp)");
    rows(&c, "insert into n values (null, null), (null, null)");
    let shown = rows(&c, "explain analyze freeze n");
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(
        shown
            .lines()
            .all(|l| l.contains("|constant|none|0|") && l.contains("|chosen|")),
        "{shown}"
    );
    rows(&c, "freeze table n");
    assert_eq!(rows(&c, "select count(*), count(a), count(b) from n"), "2|0|0");
}

/// Most values take 45 bits, some lie at both ends of bigint: on byte-packed codes the window of patched codes is wider
/// than it was planned.
#[test]
fn extremes_beside_patched_codes_are_found_before_and_after_reopening() {
    let path = directory("patched-extremes");
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    rows(
        &c,
        "create table t (x bigint) with (encoding = 'patched frame of reference')",
    );
    let value = |i: i64| match i % 25 {
        3 | 11 | 19 => "null".to_owned(),
        7 => (i64::MIN + i).to_string(),
        8 => (i64::MAX - i).to_string(),
        _ => (i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 19)
            .abs()
            .to_string(),
    };
    let values: Vec<String> = (0..4000).map(|i| format!("({})", value(i))).collect();
    rows(&c, &format!("insert into t values {}", values.join(", ")));
    let questions = [
        "select count(*) from t where x < -1",
        "select count(*) from t where x >= 0",
        "select count(*) from t where x is null",
        "select count(*) from t where x > 9223372036854770000",
        "select min(x), max(x), count(x), sum(x) from t",
    ];
    let answers = |c: &Connection| questions.map(|q| rows(c, q));
    let hot = answers(&c);
    assert_eq!(hot[0], "160");
    rows(&c, "freeze table t");
    let encoding = "select distinct encoding from frazil_blocks";
    assert_eq!(rows(&c, encoding), "patched frame of reference");
    assert_eq!(answers(&c), hot);
    drop(c);
    database.close().expect("it closes");
    let database = Database::open(&path).expect("it opens again");
    assert_eq!(answers(&database.connect()), hot);
    drop(database);
    let _ = std::fs::remove_dir_all(&path);
}
