//! A cancel from another thread is heard wherever a statement spends its time: while files are looked for, looked at and read, and
//! within functions of one large value.

use crate::{directory, memory, process_of_its_own, rows};
use frazil::{Connection, SqlState};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How late a cancel may be heard: the less of the time that passed and of the processor time that the process took,
/// so that other processes do not count. Users get a tenth of it; code without optimization takes longer.
const HEARD: Duration = Duration::from_secs(1);

/// Longest time until a statement ends that waits, and takes no processor time, when it is cancelled.
const NOT_STUCK: Duration = Duration::from_secs(20);

/// Times at which statements are cancelled: they are in different steps then.
const AFTER: [u64; 3] = [20, 120, 400];

/// Processor time that this process has taken.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one `timespec`, which `time` is.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "the system tells");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How late a statement hears a cancel after some time, and whether it has heard one at all.
fn late(c: &Connection, sql: &str, after: u64) -> (Duration, Result<(), SqlState>) {
    let handle = c.cancel_handle();
    let (over, is_over) = channel::<()>();
    let canceller = std::thread::spawn(move || {
        let _ = is_over.recv_timeout(Duration::from_millis(after));
        let begun = (Instant::now(), processor_time());
        handle.cancel();
        begun
    });
    let outcome = c.execute(sql).map(|_| ()).map_err(|e| e.state());
    let (ended, taken) = (Instant::now(), processor_time());
    drop(over);
    let (begun, taken_before) = canceller.join().expect("it cancels");
    let passed = ended.saturating_duration_since(begun);
    let late = match passed > NOT_STUCK {
        true => passed,
        false => passed.min(taken.saturating_sub(taken_before)),
    };
    (late, outcome)
}

fn check(c: &Connection, statements: &[String]) {
    let mut failed = String::new();
    for sql in statements {
        for after in AFTER {
            let (late, outcome) = late(c, sql, after);
            println!("{late:?} after {after} ms, {outcome:?}: {sql:.110}");
            if late > HEARD {
                let _ = writeln!(failed, "{late:?} after {after} ms, {outcome:?}: {sql:.110}");
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

fn write(path: &Path, parts: usize, part: &str) {
    let file = std::fs::File::create(path).expect("it is made");
    let mut out = std::io::BufWriter::new(file);
    for _ in 0..parts {
        out.write_all(part.as_bytes()).expect("it is written");
    }
}

#[test]
fn a_cancel_is_heard_while_files_are_found_and_read() {
    process_of_its_own("heard::files_are_found_and_read");
}

#[test]
#[ignore = "run by a_cancel_is_heard_while_files_are_found_and_read in a process of its own"]
fn files_are_found_and_read() {
    let folder = directory("heard");
    std::fs::create_dir_all(&folder).expect("it is made");
    let at = |name: &str| folder.join(name);
    write(&at("line.csv"), 4 << 20, "a long line,'with \"quotes ");
    write(&at("quote.csv"), 4 << 20, "\"a,b\nc,d;e\t");
    write(
        &at("rows.csv"),
        1 << 20,
        "1,2.5,some text,2024-01-01,\"quoted\"\n",
    );
    write(
        &at("rows.json"),
        1 << 19,
        "{\"a\": 1, \"b\": \"some text\", \"c\": [1, 2], \"d\": \"2024-01-01\"}\n",
    );
    write(
        &at("wide.json"),
        1,
        &format!("[{{{}\"z\": 1}}]", "\"a\": \"text\", ".repeat(1 << 16)),
    );
    write(
        &at("array.json"),
        1,
        &format!("[{}{{\"a\": 1}}]", "{\"a\": 1, \"b\": null},".repeat(1 << 20)),
    );
    for i in 0..40 {
        let inner = at(&format!("tree/d{i}/e/f"));
        std::fs::create_dir_all(&inner).expect("it is made");
        for j in 0..100 {
            write(&inner.join(format!("{j}.csv")), 2, "a,b\n1,2\n");
        }
    }
    let pipe = at("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let c = memory();
    let files = [
        "line.csv",
        "quote.csv",
        "rows.csv",
        "rows.json",
        "wide.json",
        "array.json",
        "pipe.csv",
    ];
    let mut statements: Vec<String> = files
        .iter()
        .map(|name| format!("select count(*) from '{}'", at(name).display()))
        .collect();
    statements.push(format!(
        "select count(*) from '{}/tree/**/*.csv'",
        folder.display()
    ));
    statements.push(format!(
        "select count(*) from '{}/**/*none.csv'",
        folder.display()
    ));
    statements.push("select count(*) from '/usr/**/*.csv'".to_owned());
    statements.push("select count(*) from read_csv('/dev/zero')".to_owned());
    statements.push("select count(*) from read_json('/dev/zero')".to_owned());
    statements.push(format!(
        "create table made as select * from '{}'",
        at("rows.csv").display()
    ));
    check(&c, &statements);
    let _ = std::fs::remove_dir_all(&folder);
}

/// Makes a table of one row with values of up to 12 MB. They are shorter where code is slow, so that a function that
/// only passes over a value once needs no look at the flag.
fn large_values(c: &Connection) {
    const PASSED: Duration = Duration::from_millis(150);
    const MOST: usize = 2 << 20;
    let mut parts = 1 << 16;
    loop {
        rows(
            c,
            "drop table if exists t; create table t (s text, w text, b bytea)",
        );
        rows(
            c,
            &format!(
                "insert into t select s, replace(s, 'b', 'ü'), s::bytea from (select repeat('abc 1,', {parts}) s) q"
            ),
        );
        let begun = Instant::now();
        rows(c, &format!("select substring(w, {}, 5) from t", parts * 6 - 5));
        if begun.elapsed() > PASSED || parts == MOST {
            println!("values of {} bytes", parts * 6);
            return;
        }
        parts *= 2;
    }
}

#[test]
fn a_cancel_is_heard_within_functions_of_one_large_value() {
    process_of_its_own("heard::functions_of_one_large_value");
}

#[test]
#[ignore = "run by a_cancel_is_heard_within_functions_of_one_large_value in a process of its own"]
fn functions_of_one_large_value() {
    let c = memory();
    large_values(&c);
    // A text of many elements that is cast to jsonb or to an array is read to its end before the flag is looked at.
    let calls = [
        "upper(s)",
        "lower(w)",
        "upper(w)",
        "initcap(s)",
        "reverse(w)",
        "length(w)",
        "replace(s, 'a', 'xyz')",
        "replace(s, 'none', 'x')",
        "replace(repeat('a', length(s) * 2), 'a', 'b')",
        "translate(w, 'abc', 'xyz')",
        "substring(w, length(w) - 5, 5)",
        "left(w, -5)",
        "right(w, 5)",
        "position('none' in w)",
        "strpos(s, 'ab 1')",
        "split_part(s, ',', length(s) / 7)",
        "lpad(w, length(w) * 5 / 4, 'ab')",
        "rpad(w, length(w) * 5 / 4, 'ab')",
        "trim(s, 'abc 1,')",
        "md5(s)",
        "sha256(b)",
        "sha512(b)",
        "encode(b, 'hex')",
        "encode(b, 'base64')",
        "encode(b, 'escape')",
        "s like '%none%'",
        "s like '%a%b%c%1%none'",
        "s ilike '%NONE%'",
        "s ~ 'none$'",
        "regexp_replace(s, '[abc]+', 'x', 'g')",
        "regexp_count(s, 'b')",
        "cardinality(string_to_array(s, ','))",
        "cardinality(regexp_split_to_array(s, ','))",
        "array_to_string(string_to_array(s, ','), ';')",
        "quote_literal(s)",
        "quote_ident(s)",
        "to_json(s)",
        "to_jsonb(s)",
        "s || s",
        "concat(s, w, s)",
        "format('%s %L', s, s)",
        "concat_ws(',', s, w)",
        "ascii(s)",
        "octet_length(w)",
        "s < w",
        "hash(s)",
        "s::bytea",
        "('\"' || s || '\"')::jsonb",
        "normalize(w)",
        "unaccent(w)",
        "repeat(s, 2)",
        "overlay(s placing 'x' from 5)",
        "starts_with(s, 'none')",
        "cardinality(array_agg(s) over ())",
        "set_byte(b, 0, 1)",
        "bit_count(b)",
        "convert_from(b, 'UTF8')",
    ];
    let known = |call: &&&str| {
        let sql = format!("explain select {call} from t");
        c.execute(&sql).is_ok()
    };
    let calls: Vec<&&str> = calls.iter().filter(known).collect();
    assert!(calls.len() > 45, "{calls:?}");
    let statements: Vec<String> = calls
        .iter()
        .map(|call| format!("select max(length(({call})::text)) from t"))
        .collect();
    check(&c, &statements);
}
