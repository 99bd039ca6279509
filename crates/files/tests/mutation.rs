//! Hostile CSV: mutated files never panic, every error names its line, and what is read without an error is
//! what a naive reader, character by character, finds. `FRAZIL_MUTATIONS` sets their number (default 800).

use frazil_files::{BatchReader, CsvOptions, CsvReader, Origin, ReadLimits};
use frazil_testkit::Random;
use frazil_types::{ColumnDef, Error, LogicalType, Value};
use std::path::PathBuf;

struct TempFile(PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn columns() -> Vec<ColumnDef> {
    let price = LogicalType::Decimal {
        precision: 15,
        scale: 2,
    };
    vec![
        ColumnDef::new("id", LogicalType::Integer).not_null(),
        ColumnDef::new("price", price),
        ColumnDef::new("day", LogicalType::Date),
        ColumnDef::new("note", LogicalType::Text),
    ]
}

const SOUND: &str = "1,2.50,2026-01-31,plain\n\
    -7,,1999-12-31,\"with, comma\"\n\
    2147483647,-0.01,,\"a \"\"quoted\"\" word\"\n\
    0,9999999999999.99,0001-01-01,\"two\nlines\"\r\n\
    42,12,2000-02-29,\n\
    5,0.5,2024-02-29,\"\"\n\
    6,1.10,1970-01-01,größer\n";

/// What mutations put in: marks, digits, signs, letters, bytes that are no UTF-8.
const SPICE: &[&[u8]] = &[
    b",",
    b"\"",
    b"\"\"",
    b"\n",
    b"\r\n",
    b"\r",
    b"",
    b"-",
    b"+",
    b".",
    b"e",
    b"9",
    b"0",
    b" ",
    b"\0",
    b"\xff",
    b"\xc3",
    b"x",
    b"NULL",
    b"99999999999",
    b"-2147483649",
    b"2026-02-30",
    b"1e5",
    b"\xef\xbb\xbf",
];

fn mutated(random: &mut Random) -> Vec<u8> {
    let mut bytes = SOUND.as_bytes().to_vec();
    for _ in 0..1 + random.index(4) {
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

fn read(file: &TempFile, content: &[u8]) -> Result<Vec<Vec<Value>>, Error> {
    std::fs::write(&file.0, content).expect("a temporary file");
    let mut reader = CsvReader::open(
        Origin::File(&file.0),
        &columns(),
        CsvOptions::default(),
        ReadLimits::default(),
    )?;
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        rows.extend((0..batch.rows).map(|row| batch.columns.iter().map(|c| c.value(row)).collect()));
    }
    Ok(rows)
}

/// Bytes, and whether they were quoted.
type Field = (Vec<u8>, bool);

/// Records by RFC 4180; `None` if a quote stays open.
fn naive_split(content: &[u8]) -> Option<Vec<Vec<Field>>> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let mut records = Vec::new();
    let mut at = 0;
    while at < content.len() {
        let mut record = Vec::new();
        loop {
            let (mut field, mut quoted) = (Vec::new(), false);
            if content.get(at) == Some(&b'"') {
                quoted = true;
                at += 1;
                loop {
                    match (content.get(at)?, content.get(at + 1)) {
                        (b'"', Some(b'"')) => {
                            field.push(b'"');
                            at += 2;
                        }
                        (b'"', _) => break,
                        (&byte, _) => {
                            field.push(byte);
                            at += 1;
                        }
                    }
                }
                at += 1;
            }
            while content.get(at).is_some_and(|b| !b",\n\r".contains(b)) {
                field.push(content[at]);
                at += 1;
            }
            record.push((field, quoted));
            let end = content.get(at).copied();
            at += 1;
            match end {
                Some(b',') => continue,
                Some(b'\r') if content.get(at) == Some(&b'\n') => at += 1,
                _ => {}
            }
            break;
        }
        if record != [(Vec::new(), false)] {
            records.push(record);
        }
    }
    Some(records)
}

/// True for `YYYY-MM-DD`, perhaps with a sign.
fn is_iso_date(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).bytes().enumerate();
    let shape = |(at, c): (usize, u8)| {
        if matches!(at, 4 | 7) {
            c == b'-'
        } else {
            c.is_ascii_digit()
        }
    };
    text.len() >= 10 && digits.clone().count() == 10 && digits.into_iter().all(shape)
}

/// A field's value by the plainest means; `None` if it has none.
fn naive_value(field: &[u8], quoted: bool, column: usize) -> Option<Value> {
    if field.is_empty() && !quoted {
        return (column != 0).then_some(Value::Null);
    }
    let text = std::str::from_utf8(field).ok()?;
    match column {
        0 => Some(Value::Int(text.trim().parse::<i32>().ok()?.into())),
        1 => {
            let (mantissa, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
            // Digits times a power of ten, in cents, half away from zero.
            let shift = exponent.parse::<i32>().ok()? - fraction.len() as i32 + 2;
            let cents = match shift {
                0.. => digits.checked_mul(10_i128.checked_pow(shift as u32)?)?,
                _ => {
                    let unit = 10_i128.checked_pow(shift.unsigned_abs())?;
                    (digits.abs() + unit / 2) / unit * digits.signum()
                }
            };
            (cents.abs() < 10_i128.pow(15)).then_some(Value::Int(cents))
        }
        // Dates in other forms have tests of their own, with PostgreSQL's answers.
        2 if !is_iso_date(text.trim()) => {
            let day = frazil_types::date_input::parse_date(text);
            day.ok().map(|day| Value::Int(day.into()))
        }
        2 => {
            // Years before year 1 have a sign.
            let (sign, text) = text
                .trim()
                .strip_prefix('-')
                .map_or((1, text.trim()), |t| (-1, t));
            let mut parts = text.split('-').map(|p| p.parse::<i64>().ok());
            let (year, month, day) = (sign * parts.next()??, parts.next()??, parts.next()??);
            // Days from civil, counted month by month from the epoch's year.
            let leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
            let length = |y, m| match m {
                2 => 28 + i64::from(leap(y)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            if !(1..=12).contains(&month)
                || !(1..=length(year, month)).contains(&day)
                || parts.next().is_some()
            {
                return None;
            }
            let years = |y: i64| 365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400);
            let before: i64 = (1..month).map(|m| length(year, m)).sum();
            Some(Value::Int(
                (years(year - 1) - years(1969) + before + day - 1).into(),
            ))
        }
        _ => Some(Value::Text(text.to_owned())),
    }
}

#[test]
fn mutated_files_are_read_right_or_refused() {
    let rounds = std::env::var("FRAZIL_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(800);
    let seed = std::env::var("FRAZIL_MUTATION_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let mut random = Random::new(0x2545_f491_4f6c_dd1d_u64.wrapping_add(seed));
    let name = format!("frazil-csv-mutation-{}.csv", std::process::id());
    let file = TempFile(std::env::temp_dir().join(name));
    assert_eq!(read(&file, SOUND.as_bytes()).expect("sound").len(), 7);
    let (mut sound, mut refused) = (0, 0);
    for _ in 0..rounds {
        let content = mutated(&mut random);
        let shown = String::from_utf8_lossy(&content).into_owned();
        let naive = naive_split(&content).and_then(|records| {
            let row = |r: &Vec<Field>| -> Option<Vec<Value>> {
                (r.len() == 4).then_some(())?;
                r.iter()
                    .enumerate()
                    .map(|(i, f)| naive_value(&f.0, f.1, i))
                    .collect()
            };
            records.iter().map(row).collect::<Option<Vec<_>>>()
        });
        match read(&file, &content) {
            Ok(rows) => {
                assert_eq!(Some(rows), naive, "{shown:?}");
                sound += 1;
            }
            Err(error) => {
                assert!(error.to_string().contains("line "), "{error}\n{shown:?}");
                refused += 1;
            }
        }
    }
    assert!(
        sound > rounds / 20 && refused > rounds / 20,
        "{sound} read, {refused} refused"
    );
}
