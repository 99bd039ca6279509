//! `union_by_name`: the columns of several CSV files, matched by name.

use crate::{directory, memory, rows, state};
use frazil::{Connection, SqlState};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A directory with files.
fn files(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = directory(name);
    for (name, text) in files {
        let file = path.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("it is made");
        std::fs::write(file, text).expect("it is written");
    }
    path
}

/// Names and types of the columns of a query.
fn columns(c: &Connection, from: &str) -> Vec<String> {
    let response = c.execute(&format!("select * from {from} limit 0")).expect(from);
    let frazil::Outcome::Rows(rows) = response.outcome else {
        panic!("{from} gives rows");
    };
    let columns = rows.schema().columns.iter();
    columns.map(|c| format!("{} {}", c.name, c.ty)).collect()
}

fn message(c: &Connection, sql: &str) -> String {
    match c.execute(sql) {
        Ok(_) => panic!("{sql} succeeds"),
        Err(e) => format!("{} {}", e.message(), e.hint().unwrap_or_default()),
    }
}

#[test]
fn columns_of_all_files_are_united_by_name() {
    let c = memory();
    let path = files(
        "united",
        &[
            ("1.csv", "a,b\n1,x\n2,y\n"),
            ("2.csv", "c,A\ntrue,2.5\nfalse,\n"),
            ("3.csv", "b,d\n9,31/12/2023\n"),
            ("4.csv", "b,a\n"),
            ("5.csv", ""),
            ("6.csv", "d,c\n,\n2024-01-02 03:04:05,\n"),
            ("h/y=1/x.csv", "a,b\n1,x\n"),
            ("h/y=2/x.csv", "c\n7\n"),
        ],
    );
    let from = |part: &str, options: &str| {
        format!(
            "read_csv('{}/{part}', union_by_name => true{options})",
            path.display()
        )
    };
    let all = from("[1-6].csv", ", header => true");
    assert_eq!(
        columns(&c, &all),
        ["a double precision", "b text", "c boolean", "d timestamp"]
    );
    assert_eq!(
        rows(&c, &format!("select * from {all}")),
        "1|x||\n2|y||\n2.5||t|\n||f|\n|9||2023-12-31 00:00:00\n|||\n|||2024-01-02 03:04:05"
    );
    assert_eq!(
        rows(&c, &format!("select b from {all} where c is null and a > 1")),
        "y"
    );
    let named = from("[1-3].csv", ", filename => 'file'");
    let last = format!("select a, file like '%/3.csv' from {named} where b = '9'");
    assert_eq!(rows(&c, &last), "|t");
    // Types that a statement gives are those of the united columns.
    let typed = from(
        "[1-3].csv",
        ", types => {'c': 'text', 'd': 'text', 'a': 'decimal(5,2)'}",
    );
    assert_eq!(
        columns(&c, &typed),
        ["a decimal(5,2)", "b text", "c text", "d text"]
    );
    assert_eq!(
        rows(&c, &format!("select * from {typed} where b is null or b = '9'")),
        "2.50||true|\n||false|\n|9||31/12/2023"
    );
    let ordered = from("[12].csv", ", types => ['text', 'text', 'text']");
    assert_eq!(columns(&c, &ordered), ["a text", "b text", "c text"]);
    let lacking = format!("select * from {}", from("[12].csv", ", types => {'zz': 'text'}"));
    assert_eq!(state(&c, &lacking), SqlState::UNDEFINED_COLUMN);
    assert!(message(&c, &lacking).contains("the union of 2 files has no column \"zz\"; it has a, b, c"));
    let many = from("[12].csv", ", types => ['text', 'text', 'text', 'text']");
    assert_eq!(
        state(&c, &format!("select * from {many}")),
        SqlState::INVALID_PARAMETER
    );
    // Folders are columns as well, and rule files out.
    let folders = from("h/*/x.csv", "");
    assert_eq!(
        columns(&c, &folders),
        ["a bigint", "b text", "c bigint", "y bigint"]
    );
    assert_eq!(rows(&c, &format!("select * from {folders} where y = 2")), "||7|2");
    assert_eq!(
        rows(&c, &format!("select * from {folders} order by y")),
        "1|x||1\n||7|2"
    );
    // Without the option the error names it.
    let other = format!("select * from '{}/[12].csv'", path.display());
    assert_eq!(state(&c, &other), SqlState::BAD_COPY_FORMAT);
    assert!(message(&c, &other).contains("union_by_name => true"));
}

/// A type that the first megabyte of one file tells is corrected by all of it, for all files.
#[test]
fn a_later_value_widens_the_type_of_all_files() {
    let c = memory();
    let mut long = "n,m\n".to_owned();
    (0..200_000).for_each(|i| writeln!(long, "{i},").expect("a string takes it"));
    long.push_str("0.5,x\n");
    let path = files("united_late", &[("1.csv", "n,k\n7,8\n"), ("2.csv", &long)]);
    let from = format!("read_csv('{}/*.csv', union_by_name => true)", path.display());
    assert_eq!(columns(&c, &from), ["n double precision", "k bigint", "m text"]);
    let sums = format!("select count(*), sum(n) > 199999 * 100000::float8, sum(k), max(m) from {from}");
    assert_eq!(rows(&c, &sums), "200002|t|8|x");
}

/// Texts of one kind each; a column of a file has those of one kind.
const KINDS: [&[&str]; 10] = [
    &["1", "-20", "300"],
    &["0.5", "-1e3", "7"],
    &["99999999999999999999", "5"],
    &["2024-02-29", "1999-12-31"],
    &["2024-02-29 01:02:03", "1999-12-31 00:00:00"],
    &["2024-02-29 01:02:03+02", "1999-12-31 00:00:00Z"],
    &["true", "f"],
    &["007", "08"],
    &["x", "two words", "\"a,b\""],
    &["", ""],
];

/// A small generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }
}

/// The files of a seed, and one file with all their rows, whose columns are in the order of their first appearance.
fn parts_and_whole(seed: u64, folder: &Path) -> (Vec<String>, String) {
    let mut numbers = Numbers(seed);
    let (mut order, mut parts): (Vec<usize>, Vec<String>) = Default::default();
    let mut all: Vec<Vec<(usize, &str)>> = Vec::new();
    let kinds: Vec<usize> = (0..6).map(|_| numbers.below(KINDS.len())).collect();
    for file in 0..1 + numbers.below(4) {
        let mut columns: Vec<usize> = Vec::new();
        (0..1 + numbers.below(5)).for_each(|_| {
            let column = numbers.below(6);
            if !columns.contains(&column) {
                columns.push(column);
            }
        });
        order.extend(
            columns
                .iter()
                .filter(|c| !order.contains(c))
                .copied()
                .collect::<Vec<_>>(),
        );
        let mut text = columns
            .iter()
            .map(|c| format!("c{c}"))
            .collect::<Vec<_>>()
            .join(",")
            + ",id\n";
        let of_file: Vec<usize> = columns
            .iter()
            .map(|&c| {
                if numbers.below(3) == 0 {
                    numbers.below(KINDS.len())
                } else {
                    kinds[c]
                }
            })
            .collect();
        for _ in 0..numbers.below(4) {
            let row = columns.iter().zip(&of_file).map(|(&column, &kind)| {
                let values = KINDS[kind];
                let empty = numbers.below(5) == 0;
                (
                    column,
                    if empty {
                        ""
                    } else {
                        values[numbers.below(values.len())]
                    },
                )
            });
            let row: Vec<(usize, &str)> = row.collect();
            let cells: Vec<&str> = row.iter().map(|cell| cell.1).collect();
            writeln!(text, "{},{}", cells.join(","), all.len()).expect("a string takes it");
            all.push(row);
        }
        let path = folder.join(format!("{file}.csv"));
        std::fs::write(&path, text).expect("it is written");
        parts.push(path.display().to_string());
    }
    let mut text = order
        .iter()
        .map(|c| format!("c{c}"))
        .collect::<Vec<_>>()
        .join(",")
        + ",id\n";
    for (id, row) in all.iter().enumerate() {
        let cell = |column: &usize| {
            row.iter()
                .find(|cell| cell.0 == *column)
                .map_or("", |cell| cell.1)
        };
        let cells: Vec<&str> = order.iter().map(cell).collect();
        writeln!(text, "{},{id}", cells.join(",")).expect("a string takes it");
    }
    let whole = folder.join("whole.csv");
    std::fs::write(&whole, text).expect("it is written");
    (parts, whole.display().to_string())
}

/// Files that are united have the columns, types and rows of one file with all their rows.
#[test]
fn a_union_is_one_file_with_all_rows() {
    let c = memory();
    let folder = files("united_parts", &[("none", "")]);
    for seed in 0..60 {
        let (parts, whole) = parts_and_whole(seed, &folder);
        let parts = parts
            .iter()
            .map(|part| format!("'{part}'"))
            .collect::<Vec<_>>()
            .join(", ");
        let united = format!("read_csv([{parts}], union_by_name => true, header => true, delimiter => ',')");
        let whole = format!("read_csv('{whole}', header => true, delimiter => ',')");
        let (mut mine, mut theirs) = (columns(&c, &united), columns(&c, &whole));
        mine.sort();
        theirs.sort();
        assert_eq!(mine, theirs, "seed {seed}");
        let names: Vec<&str> = theirs
            .iter()
            .filter_map(|column| column.split(' ').next())
            .collect();
        let select = |from: &str| {
            rows(
                &c,
                &format!("select {} from {from} order by id", names.join(", ")),
            )
        };
        assert_eq!(select(&united), select(&whole), "seed {seed}");
    }
}
