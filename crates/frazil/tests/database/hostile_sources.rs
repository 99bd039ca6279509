//! Many damaged files, by seed: a statement that reads one gives rows, or an error that names the file. It never ends in a
//! panic, and takes no more memory than it may.

use crate::{directory, memory, rows};
use frazil::{Connection, SqlState};
use frazil_testkit::Random;
use std::path::Path;

/// Most faults of a text form show within few files; those of Parquet lie in many places.
const FILES_OF_TEXT: u64 = 1000;
const FILES_OF_PARQUET: u64 = 1000;

/// Changes some bytes: flips bits, cuts off, leaves out, doubles, overwrites, inserts marks.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const MARKS: &[&[u8]] = &[
        b"\"",
        b"'",
        b",",
        b";",
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\\",
        b"\\u",
        b"1e999",
        b"-",
        b"null",
        b"\xff\xff\xff\x7f",
        b"\x80\x80\x80\x80\x80\x80",
        b"\t",
        b"#",
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.index(bytes.len() + 1);
        let end = bytes.len().min(at + 1 + random.index(40));
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 => bytes[at..end].fill(random.bits() as u8),
            4 | 5 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            _ => drop(bytes.splice(at..at, MARKS[random.index(MARKS.len())].iter().copied())),
        }
    }
    bytes
}

/// Reads mutations of files, and checks how each reading ends.
fn read_mutations(c: &Connection, of: &[Vec<u8>], path: &Path, seed: u64, files: u64) {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let (mut read, mut refused) = (0, 0);
    for number in 0..files {
        let mut random = Random::new(seed + number);
        let bytes = mutated(&of[number as usize % of.len()], &mut random);
        std::fs::write(path, &bytes).expect("it is written");
        let sql = match number % 3 {
            0 => format!("select * from '{}'", path.display()),
            1 => format!(
                "select count(*), count(a) from '{}' where a is not null",
                path.display()
            ),
            _ => format!("create table made as select * from '{}'", path.display()),
        };
        match c.execute(&sql) {
            Ok(_) => read += 1,
            // A name that the damage changed.
            Err(error)
                if [SqlState::UNDEFINED_COLUMN, SqlState::DUPLICATE_COLUMN].contains(&error.state()) =>
            {
                refused += 1;
            }
            Err(error) => {
                refused += 1;
                assert_ne!(
                    error.state(),
                    SqlState::INTERNAL_ERROR,
                    "{name} {number}: {error:?}"
                );
                assert!(
                    error.message().contains(&name) || error.state() == SqlState::OUT_OF_MEMORY,
                    "{name} {number}: {error:?}"
                );
            }
        }
        if number % 3 == 2 {
            let _ = c.execute("drop table made");
        }
    }
    assert!(
        read > 50 && refused > 50,
        "{name}: {read} read, {refused} refused"
    );
}

const ROWS: &str = "(select x as a, 'text, \"' || x || '\" of ' || x as b, x * 1.5::double precision as c, \
    date '2024-01-01' + x as d, x % 2 = 0 as e, case when x % 3 = 0 then null else (x * 100.25)::decimal(15,2) end as f, \
    timestamp '2024-01-01' + x * interval '1 hour' as g from generate_series(1, 30) s(x))";

fn originals(c: &Connection, path: &Path, options: &[&str]) -> Vec<Vec<u8>> {
    let write = |options: &&str| {
        rows(c, &format!("copy {ROWS} to '{}' {options}", path.display()));
        std::fs::read(path).expect("it was written")
    };
    options.iter().map(write).collect()
}

fn limited(name: &str) -> (Connection, std::path::PathBuf) {
    let c = memory();
    rows(&c, "set memory_limit = '200MB'");
    let path = directory(name);
    std::fs::create_dir_all(&path).expect("it is made");
    (c, path)
}

#[test]
fn mutated_csv_gives_rows_or_an_error() {
    let (c, path) = limited("hostile-csv");
    let path = path.join("mutant.csv");
    let of = originals(
        &c,
        &path,
        &[
            "(header)",
            "",
            "(header, delimiter ';', quote '''')",
            "(delimiter '|')",
        ],
    );
    read_mutations(&c, &of, &path, 0x0c57, FILES_OF_TEXT);
}

#[test]
fn mutated_json_gives_rows_or_an_error() {
    let (c, path) = limited("hostile-json");
    let path = path.join("mutant.json");
    let of = originals(&c, &path, &["(format json)", "(format json, array)"]);
    read_mutations(&c, &of, &path, 0x7503, FILES_OF_TEXT);
}

#[test]
fn mutated_parquet_gives_rows_or_an_error() {
    let (c, path) = limited("hostile-parquet");
    let path = path.join("mutant.parquet");
    let of = originals(
        &c,
        &path,
        &["(compression none)", "(compression zstd, row_group_size 7)", ""],
    );
    read_mutations(&c, &of, &path, 0xfa4e, FILES_OF_PARQUET);
}
