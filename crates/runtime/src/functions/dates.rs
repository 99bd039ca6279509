//! Fields of dates and timestamps, and adding intervals.

use crate::abi::{STATUS_FAILED, STATUS_OK};
use frazil_plan::DatePart;
use frazil_types::date::{add_interval_to_date, add_interval_to_timestamp};
use frazil_types::{Interval, Result, value_ops};

const PARTS: [DatePart; 11] = [
    DatePart::Year,
    DatePart::Quarter,
    DatePart::Month,
    DatePart::Week,
    DatePart::Day,
    DatePart::DayOfWeek,
    DatePart::DayOfYear,
    DatePart::Hour,
    DatePart::Minute,
    DatePart::Second,
    DatePart::Epoch,
];

/// The number by which generated code names a part.
pub fn date_part_code(part: DatePart) -> u32 {
    PARTS.iter().position(|&p| p == part).map_or(0, |i| i as u32)
}

/// # Safety
/// `part` must be a [`date_part_code`].
pub unsafe fn date_part(part: u32, days: i32) -> i64 {
    value_ops::date_part(PARTS[part as usize % PARTS.len()], days)
}

/// # Safety
/// As [`date_part`].
pub unsafe fn timestamp_part(part: u32, micros: i64) -> i64 {
    value_ops::timestamp_part(PARTS[part as usize % PARTS.len()], micros)
}

/// # Safety
/// `out` must be valid for a write.
unsafe fn put<T>(value: Result<T>, out: *mut T) -> u32 {
    match value {
        Ok(v) => {
            // SAFETY: by contract.
            unsafe { out.write_unaligned(v) };
            STATUS_OK
        }
        Err(_) => STATUS_FAILED,
    }
}

/// # Safety
/// `out` must be valid for a write.
pub unsafe fn date_add(date: i32, months: i32, days: i32, micros: i64, out: *mut i32) -> u32 {
    // SAFETY: by contract.
    unsafe { put(add_interval_to_date(date, Interval { months, days, micros }), out) }
}

/// # Safety
/// `out` must be valid for a write.
pub unsafe fn timestamp_add(time: i64, months: i32, days: i32, micros: i64, out: *mut i64) -> u32 {
    // SAFETY: by contract.
    unsafe {
        put(
            add_interval_to_timestamp(time, Interval { months, days, micros }),
            out,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::date::MICROS_PER_DAY;
    use frazil_types::date_input::{parse_date, parse_timestamp};

    fn part(part: DatePart, text: &str) -> i64 {
        // SAFETY: the code is one.
        unsafe { date_part(date_part_code(part), parse_date(text).unwrap()) }
    }

    #[test]
    fn fields_of_dates() {
        assert_eq!(part(DatePart::Year, "1995-12-31"), 1995);
        assert_eq!(part(DatePart::Quarter, "1995-12-31"), 4);
        assert_eq!(part(DatePart::Month, "1995-12-31"), 12);
        assert_eq!(part(DatePart::Day, "1995-12-31"), 31);
        assert_eq!(part(DatePart::DayOfYear, "1996-12-31"), 366);
        assert_eq!(part(DatePart::DayOfWeek, "2024-02-29"), 4);
        assert_eq!(part(DatePart::Epoch, "1970-01-02"), 86_400);
        // As PostgreSQL's documentation has it, and the turns of some years.
        for (date, week) in [
            ("2005-01-01", 53),
            ("2006-01-01", 52),
            ("2012-12-31", 1),
            ("2013-01-01", 1),
            ("1992-06-15", 25),
        ] {
            assert_eq!(part(DatePart::Week, date), week, "{date}");
        }
    }

    #[test]
    fn fields_of_timestamps() {
        for (text, expected) in [
            ("1969-12-31 23:59:58", [1969, 23, 59, 58_000_000, -2_000_000]),
            (
                "2001-02-16 20:38:40",
                [2001, 20, 38, 40_000_000, 982_355_920_000_000],
            ),
        ] {
            let micros = parse_timestamp(text).unwrap();
            let parts = [
                DatePart::Year,
                DatePart::Hour,
                DatePart::Minute,
                DatePart::Second,
                DatePart::Epoch,
            ];
            // SAFETY: the codes are codes.
            let found = parts.map(|p| unsafe { timestamp_part(date_part_code(p), micros) });
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn adds_intervals() {
        let (mut day, mut time) = (0, 0);
        // SAFETY: locals.
        unsafe {
            assert_eq!(
                date_add(parse_date("2024-01-31").unwrap(), 1, 0, 0, &mut day),
                STATUS_OK
            );
            assert_eq!(day, parse_date("2024-02-29").unwrap());
            assert_eq!(date_add(0, i32::MAX, 0, 0, &mut day), STATUS_FAILED);
            assert_eq!(timestamp_add(0, 0, 1, -1, &mut time), STATUS_OK);
            assert_eq!(time, MICROS_PER_DAY - 1);
        }
    }
}
