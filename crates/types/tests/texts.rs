//! Texts against PostgreSQL's answers, which `python -m judge.texts` records: dates in every form, and texts of all
//! types with prefixes
//! and suffixes.

use frazil_types::statement_clock::{self, StatementClock};
use frazil_types::value_ops::read;
use frazil_types::{LogicalType, Value, Zone};

const DATES: &str = include_str!("recorded/date_texts.tsv");
const SUFFIXES: &str = include_str!("recorded/suffixes.tsv");

/// Texts of which `docs/sql.md` says that Frazil reads them otherwise: years before 1 by their number, timestamps up
/// to the year 294247
/// and from the calendar's first day on.
const DIFFERENT: &[&str] = &[
    "0000-01-01",
    "294276-12-31",
    "294276-12-31 23:59:59.999999",
    "294247-01-10 04:00:54.775807",
    "290000-01-01 10:00+02",
    "4714-11-23 23:59:59 BC",
    "-2024-01-01",
    "-2024-01-05",
    "-2024-01-05T10:11:12.5",
    "-2024-01-05 10:11:12",
    "-2024-01-05 10:11:12.345",
    "-2024-01-05T10:11:12.5Z",
    "-2024-01-05 10:11:12+02",
];

/// A text of the file without its escapes.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('v') => '\x0b',
                Some('f') => '\x0c',
                other => other.expect("an escaped character"),
            },
            c => c,
        });
    }
    out
}

/// Frazil's answer for a text: the value as text, or the SQLSTATE behind `!`.
fn answer(text: &str, ty: LogicalType) -> String {
    match read(text, ty) {
        Ok(value) => value.display(ty).to_string(),
        Err(error) => format!("!{}", error.state().0),
    }
}

#[test]
fn texts_of_dates_are_read_as_postgresql_reads_them() {
    let zone = Zone::named("America/New_York").expect("a zone");
    let types = [
        LogicalType::Date,
        LogicalType::TIME,
        LogicalType::TIMESTAMP,
        LogicalType::TIMESTAMPTZ.in_zone(zone),
        LogicalType::Interval,
    ];
    let lines = DATES.lines().filter(|line| !line.starts_with("# "));
    let (mut count, mut wrong) = (0, Vec::new());
    for line in lines {
        let mut columns = line.split('\t');
        let text = plain(columns.next().expect("a text"));
        if DIFFERENT.contains(&text.as_str()) {
            continue;
        }
        for (ty, recorded) in types.into_iter().zip(columns) {
            count += 1;
            let own = answer(&text, ty);
            let expected = match recorded {
                "now" if !own.starts_with('!') => continue,
                recorded => recorded.to_owned(),
            };
            if own != expected {
                wrong.push(format!("{text:?} as {ty}: {own}, PostgreSQL {expected}"));
            }
        }
    }
    assert!(count > 10_000, "{count} answers are recorded");
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Written values are read again, unchanged, in every zone.
#[test]
fn values_are_read_as_they_are_written() {
    let days = [
        i32::MIN,
        -2_440_588,
        -800_000,
        -719_529,
        -719_162,
        -1,
        0,
        19_000,
        2_145_042_905,
        i32::MAX,
    ];
    for day in days {
        let value = Value::Int(day.into());
        assert_eq!(
            read(&value.display(LogicalType::Date).to_string(), LogicalType::Date).ok(),
            Some(value)
        );
    }
    let zones = [
        "UTC",
        "America/New_York",
        "Asia/Kolkata",
        "+02:30:15",
        "Europe/Berlin",
    ];
    for zone in zones.map(|name| Zone::named(name).expect("a zone")) {
        for micros in [
            i64::MIN,
            -99_999_999_999_999_999,
            -1,
            0,
            951_782_400_123_456,
            9_000_000_000_000_000_000,
            i64::MAX,
        ] {
            for ty in [LogicalType::TIMESTAMP, LogicalType::TIMESTAMPTZ.in_zone(zone)] {
                let value = Value::Int(micros.into());
                let text = value.display(ty).to_string();
                assert_eq!(read(&text, ty).ok(), Some(value), "{text} in {zone}");
            }
        }
    }
}

#[test]
fn words_of_the_present_are_read_by_the_statements_clock() {
    let zone = Zone::named("Asia/Tokyo").expect("a zone");
    // 2021-01-04 20:30 UTC is the fifth in Tokyo.
    let start = 1_609_792_200_000_000;
    let shown = |text: &str, ty: LogicalType| {
        statement_clock::during(Some(StatementClock::new(Some(start), zone)), || answer(text, ty))
    };
    for (text, day) in [
        ("today", "2021-01-05"),
        ("YESTERDAY", "2021-01-04"),
        ("tomorrow", "2021-01-06"),
        ("now", "2021-01-05"),
    ] {
        assert_eq!(shown(text, LogicalType::Date), day);
    }
    assert_eq!(shown("now", LogicalType::TIME), "05:30:00");
    assert_eq!(
        shown("today 10:00", LogicalType::TIMESTAMP),
        "2021-01-05 10:00:00"
    );
    assert_eq!(
        shown("tomorrow allballs", LogicalType::TIMESTAMP),
        "2021-01-06 00:00:00"
    );
    let instants = LogicalType::TIMESTAMPTZ.in_zone(zone);
    assert_eq!(shown("now", instants), "2021-01-05 05:30:00+09");
    assert_eq!(shown("today", instants), "2021-01-05 00:00:00+09");
    for wrong in ["today 2021-01-05", "now 10:00", "today today"] {
        assert_eq!(shown(wrong, LogicalType::TIMESTAMP), "!22007", "{wrong}");
    }
    let asked = statement_clock::during(Some(StatementClock::default()), || {
        let before = statement_clock::was_asked();
        assert!(read("2021-01-05", LogicalType::Date).is_ok());
        assert!(!before && !statement_clock::was_asked());
        assert!(read("today", LogicalType::Date).is_ok());
        statement_clock::was_asked()
    });
    assert!(asked);
}

/// Every reader of a text takes all of it: what stands in front of a value or behind it is an error unless PostgreSQL
/// reads it.
#[test]
fn texts_are_taken_as_a_whole() {
    let zone = Zone::named("America/New_York").expect("a zone");
    let (mut count, mut wrong) = (0, Vec::new());
    for line in SUFFIXES.lines().filter(|line| !line.starts_with("# ")) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, text, recorded] = cells[..] else {
            panic!("{line}");
        };
        let ty = LogicalType::parse(name).expect(name).in_zone(zone);
        let text = plain(text);
        count += 1;
        let own = answer(&text, ty);
        if DIFFERENT.contains(&text.as_str()) {
            continue;
        }
        if own.starts_with('!') != recorded.starts_with('!') {
            wrong.push(format!("{text:?} as {ty}: {own}, PostgreSQL {recorded}"));
        }
    }
    assert!(count > 4_500, "{count} answers are recorded");
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
