//! Hostile JSON: mutated files never panic, every error names its place, and what is read without an error is what serde_json's tree
//! of each object says. `FRAZIL_MUTATIONS` sets their number (default 800).

use frazil_files::{BatchReader, JsonReader, OnError, Origin, ReadLimits};
use frazil_testkit::Random;
use frazil_types::{ColumnDef, Error, LogicalType, Value};
use serde_json::Value as Tree;
use std::path::{Path, PathBuf};

struct TempFile(PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const LINES: &str = "{\"id\":1,\"share\":0.5,\"note\":\"plain\"}\n\
    {\"id\":-7,\"share\":1e300,\"note\":\"a \\\"quoted\\\" word\\n\"}\n\
    {\"id\":2147483647,\"share\":-0,\"note\":null}\n\
    {\"note\":\"gr\u{f6}\u{df}er\",\"id\":0}\n\
    {\"id\":5,\"share\":7,\"note\":\"\\u00e9\\ud83d\\ude00\",\"more\":{\"a\":[1,{}]}}\n";

/// What mutations put in: marks, digits, escapes, bytes that are no UTF-8.
const SPICE: &[&[u8]] = &[
    b",",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\n",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"-",
    b".",
    b"e999",
    b"99999999999",
    b"0",
    b"null",
    b"true",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
];

fn sound(random: &mut Random) -> Vec<u8> {
    if random.index(2) == 0 {
        return LINES.as_bytes().to_vec();
    }
    format!("[{}]", LINES.trim_end().replace('\n', ",\n")).into_bytes()
}

fn mutated(random: &mut Random) -> Vec<u8> {
    let mut bytes = sound(random);
    for _ in 0..1 + random.index(3) {
        let at = random.index(bytes.len() + 1);
        let to = bytes.len().min(at + random.index(4));
        match random.index(5) {
            0 => bytes.truncate(at),
            1 => {
                let copy = bytes[at..to].to_vec();
                let place = random.index(bytes.len() + 1);
                bytes.splice(place..place, copy);
            }
            2 => drop(bytes.drain(at..to)),
            _ => drop(bytes.splice(at..to, SPICE[random.index(SPICE.len())].iter().copied())),
        }
    }
    bytes
}

fn read(path: &Path, content: &[u8]) -> Result<Vec<Vec<Value>>, Error> {
    std::fs::write(path, content).expect("a temporary file");
    let columns = [
        ColumnDef::new("id", LogicalType::Integer),
        ColumnDef::new("share", LogicalType::Double),
        ColumnDef::new("note", LogicalType::Text),
    ];
    let mut reader = JsonReader::open(
        Origin::File(path),
        &columns,
        None,
        &OnError::Stop,
        &ReadLimits::default(),
    )?;
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        rows.extend((0..batch.rows).map(|row| batch.columns.iter().map(|c| c.value(row)).collect()));
    }
    Ok(rows)
}

/// The objects of a text as trees; `None` for what is no JSON.
fn trees(content: &[u8]) -> Option<Vec<Tree>> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    match content.trim_ascii_start().starts_with(b"[") {
        true => serde_json::from_slice(content).ok(),
        false => serde_json::Deserializer::from_slice(content)
            .into_iter()
            .collect::<Result<_, _>>()
            .ok(),
    }
}

/// Whether the rows say what the trees say: integers, doubles and texts that are such in the file.
fn agree(rows: &[Vec<Value>], trees: &[Tree]) -> bool {
    let same = |value: &Value, tree: Option<&Tree>| match (value, tree) {
        (value, None | Some(Tree::Null)) => value.is_null(),
        (Value::Int(value), Some(Tree::Number(n))) => n.as_i64().map(i128::from) == Some(*value),
        (Value::Double(value), Some(Tree::Number(n))) => n.as_f64() == Some(*value),
        (Value::Text(value), Some(Tree::String(text))) => **value == **text,
        // A text that stands for a number, and a number or an object that is read as text.
        (value, Some(_)) => !value.is_null(),
    };
    rows.len() == trees.len()
        && rows.iter().zip(trees).all(|(row, tree)| {
            let names = ["id", "share", "note"];
            row.iter()
                .zip(names)
                .all(|(value, name)| same(value, tree.get(name)))
        })
}

#[test]
fn mutated_files_are_read_right_or_refused() {
    let number = |name: &str, usual| {
        let said = std::env::var(name).ok();
        said.and_then(|n| n.parse().ok()).unwrap_or(usual)
    };
    let rounds = number("FRAZIL_MUTATIONS", 800);
    let seed = number("FRAZIL_MUTATION_SEED", 0);
    let mut random = Random::new(0x1f83_d9ab_fb41_bd6b_u64.wrapping_add(seed));
    let name = format!("frazil-json-mutation-{}.json", std::process::id());
    let file = TempFile(std::env::temp_dir().join(name));
    let whole = read(&file.0, LINES.as_bytes()).expect("sound");
    assert!(agree(&whole, &trees(LINES.as_bytes()).expect("JSON")));
    assert_eq!(whole[4][2], Value::Text("\u{e9}\u{1f600}".into()));
    let (mut sound, mut refused) = (0, 0);
    for _ in 0..rounds {
        let content = mutated(&mut random);
        let shown = String::from_utf8_lossy(&content).into_owned();
        match read(&file.0, &content) {
            Ok(rows) => {
                // A number of any length and an escape that means nothing are passed over where no column reads them.
                if let Some(trees) = trees(&content) {
                    assert!(agree(&rows, &trees), "{shown:?}: {rows:?}");
                }
                sound += 1;
            }
            Err(error) => {
                let text = error.to_string();
                let has_place = text.contains("line ") || text.contains("row ") || text.contains("no object");
                assert!(has_place, "{error}\n{shown:?}");
                refused += 1;
            }
        }
    }
    assert!(
        sound > rounds / 20 && refused > rounds / 20,
        "{sound} read, {refused} refused"
    );
}
