//! Compressed files that are small and hold gigabytes, or ask for gigabytes to be read: under a memory limit they are refused by name, or
//! streamed, and the process does not grow by what they hold.

use crate::hostile::{MEGABYTE, growth};
use crate::{directory, memory, rows};
use frazil::{Connection, Database, SqlState};
use std::path::{Path, PathBuf};

/// Most bytes that a process may grow by beyond the limit of a statement: buffers, threads, and what other tests do at the time.
const BESIDE: usize = 160 * MEGABYTE;

/// A zstd frame of one byte repeated: four bytes of file for each 131,072 bytes. Its window is 2^`window_log` bytes.
fn repeated(byte: u8, blocks: usize, window_log: u8) -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    const RUN: u32 = 1 << 1;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (window_log - 10) << 3];
    for block in 0..blocks {
        let is_last = u32::from(block + 1 == blocks);
        frame.extend(&(BLOCK << 3 | RUN | is_last).to_le_bytes()[..3]);
        frame.push(byte);
    }
    frame
}

fn limited(limit: &str) -> Connection {
    let c = memory();
    rows(
        &c,
        &format!("set memory_limit = '{limit}'; create table t (a text, b text)"),
    );
    c
}

/// The statement must be refused for memory, with the file in its message, and grow the process little.
fn refused(c: &Connection, sql: &str, path: &Path) -> String {
    let (error, grown) = growth(|| c.execute(sql).map(|_| ()).expect_err(sql));
    assert_eq!(error.state(), SqlState::OUT_OF_MEMORY, "{sql}: {error:?}");
    assert!(grown < 64 * MEGABYTE + BESIDE, "{sql}: {} MB", grown / MEGABYTE);
    assert_eq!(rows(c, "select count(*) from t"), "0", "{sql}");
    assert!(std::fs::metadata(path).expect("it is there").len() < 4 * MEGABYTE as u64);
    error.message().to_owned()
}

fn folder(name: &str) -> PathBuf {
    let path = directory(name);
    std::fs::create_dir_all(&path).expect("it can be made");
    path
}

#[test]
fn a_field_of_two_gigabytes_does_not_fit() {
    let folder = folder("bomb-field");
    let c = limited("64MB");
    let field = repeated(b'x', 1 << 14, 20);
    for name in ["field.csv.zst", "field.jsonl.zst"] {
        let path = folder.join(name);
        std::fs::write(&path, &field).expect("it is small");
        for sql in [
            "copy t from 'PATH'",
            "copy t (a) from 'PATH'",
            "select * from 'PATH'",
        ] {
            let sql = sql.replace("PATH", &path.display().to_string());
            refused(&c, &sql, &path);
        }
    }
    // One that fits is read, though no record ends within the first megabyte.
    let path = folder.join("fits.csv.zst");
    std::fs::write(&path, repeated(b'x', 20, 20)).expect("it is small");
    let sql = format!(
        "select length(column0) from read_csv('{}', header => false)",
        path.display()
    );
    assert_eq!(rows(&c, &sql), "2621440");
    std::fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn a_window_of_gigabytes_is_refused() {
    let folder = folder("bomb-window");
    let c = limited("64MB");
    for name in ["window.csv.zst", "window.json.zst"] {
        let path = folder.join(name);
        std::fs::write(&path, repeated(b'1', 1, 31)).expect("it is small");
        for sql in ["copy t (a) from 'PATH'", "select * from 'PATH'"] {
            let sql = sql.replace("PATH", &path.display().to_string());
            let message = refused(&c, &sql, &path);
            assert!(message.contains(name), "{message}");
            assert!(message.contains("zstd frame takes 2148007936 bytes"), "{message}");
        }
    }
    std::fs::remove_dir_all(folder).expect("it is there");
}

/// A file is loaded into blocks, batch by batch.
fn loaded(path: &Path) {
    let kept = directory("bomb-loaded");
    let database = Database::open(&kept).expect("an empty directory opens");
    let c = database.connect();
    rows(
        &c,
        "set memory_limit = '200MB'; set threads = 1; create table t (a text, b text)",
    );
    let copy = format!("copy t from '{}'", path.display());
    let (done, grown) = growth(|| rows(&c, &copy));
    assert_eq!(done, "COPY 400000");
    assert!(grown < 200 * MEGABYTE + BESIDE, "{} MB", grown / MEGABYTE);
    drop((c, database));
    std::fs::remove_dir_all(kept).expect("it is there");
}

/// Files of rows, compressed, one behind the other: 400 MB of rows in each file.
fn rows_compressed(folder: &Path) -> Vec<PathBuf> {
    let c = memory();
    let made = |name: &str| {
        let path = folder.join(name);
        let row = "select 'a' as a, repeat('y', 1000) as b from generate_series(1, 20000)";
        rows(&c, &format!("copy ({row}) to '{}'", path.display()));
        let member = std::fs::read(&path).expect("it was written");
        std::fs::write(&path, member.repeat(20)).expect("it is small");
        path
    };
    ["rows.csv.gz", "rows.csv.zst", "rows.jsonl.gz", "rows.jsonl.zst"]
        .map(made)
        .to_vec()
}

#[test]
fn rows_beyond_the_limit_are_refused_or_streamed() {
    let folder = folder("bomb-rows");
    let c = limited("64MB");
    for path in rows_compressed(&folder) {
        let shown = path.display().to_string();
        refused(&c, &format!("select count(*) from '{shown}'"), &path);
        if shown.contains("json") {
            refused(&c, &format!("copy t from '{shown}'"), &path);
        } else {
            loaded(&path);
            // Rows that are left out take no memory.
            rows(&c, "create table n (a integer, b text)");
            let skipping = format!("copy n from '{shown}' (on_error ignore)");
            let (done, grown) = growth(|| rows(&c, &skipping));
            assert_eq!(done, "COPY 0");
            assert!(grown < BESIDE, "{} MB", grown / MEGABYTE);
            rows(&c, "drop table n");
        }
    }
    std::fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn empty_lines_are_passed_over_however_many_there_are() {
    let folder = folder("bomb-lines");
    let path = folder.join("lines.csv.zst");
    let mut bytes = repeated(b'\n', 1 << 10, 17);
    bytes.extend(repeated(b' ', 1, 17));
    std::fs::write(&path, bytes).expect("it is small");
    let c = limited("64MB");
    let copy = format!("copy t from '{}'", path.display());
    let error = c.execute(&copy).map(|_| ()).expect_err("blanks are one field");
    assert_eq!(error.state(), SqlState::BAD_COPY_FORMAT);
    assert!(error.message().contains("line 134217729"), "{error}");
    std::fs::remove_dir_all(folder).expect("it is there");
}
