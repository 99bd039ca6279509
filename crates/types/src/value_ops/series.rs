//! `generate_series`: the values between two ends, a step apart.

use super::interval_span;
use crate::date::{MICROS_PER_DAY, add_interval_to_instant, add_interval_to_timestamp};
use crate::{Error, Interval, Result, SqlState, Zone};

/// The rows of a series that are left. Values are integers, unscaled decimals or microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Series {
    /// The value of the next row, if there is one.
    pub value: i128,
    /// What is added to come to the one after; of an uneven series anything.
    pub step: i128,
    /// Rows left. Of an uneven series 0 where there is none, else anything above.
    pub left: u64,
    /// 1 if the step has months, or days by a zone's calendar, so that only [`Series::advance`] comes to the next value; else 0.
    pub is_uneven: u64,
    stop: i128,
    interval: Interval,
    zone: Zone,
}

impl Series {
    /// No rows.
    pub const EMPTY: Series = Series {
        value: 0,
        step: 1,
        left: 0,
        is_uneven: 0,
        stop: 0,
        interval: Interval {
            months: 0,
            days: 0,
            micros: 0,
        },
        zone: Zone::UTC,
    };

    /// Of integers, or of decimals of one scale. 22023 for a step of 0.
    pub fn of_integers(start: i128, stop: i128, step: i128) -> Result<Series> {
        if step == 0 {
            return Err(step_of_zero());
        }
        let is_empty = if step > 0 { start > stop } else { start < stop };
        if is_empty {
            return Ok(Series::EMPTY);
        }
        let distance = match step > 0 {
            true => stop.wrapping_sub(start),
            false => start.wrapping_sub(stop),
        };
        // The distance of two values of 128 bits has as many without a sign.
        let more = distance as u128 / step.unsigned_abs();
        Ok(Series {
            value: start,
            step,
            left: u64::try_from(more).map_or(u64::MAX, |more| more.saturating_add(1)),
            stop,
            ..Series::EMPTY
        })
    }

    /// Of timestamps, or of instants by the calendar of a zone; that of UTC is the one of timestamps. 22023 for a step that is as long
    /// as none.
    pub fn of_timestamps(start: i64, stop: i64, step: Interval, zone: Zone) -> Result<Series> {
        let (start, stop) = (i128::from(start), i128::from(stop));
        if step.months == 0 && (step.days == 0 || zone == Zone::UTC) {
            let days = i128::from(step.days) * i128::from(MICROS_PER_DAY);
            return Series::of_integers(start, stop, days + i128::from(step.micros));
        }
        let length = interval_span(step);
        if length == 0 {
            return Err(step_of_zero());
        }
        let series = Series {
            value: start,
            step: length.signum(),
            left: u64::MAX,
            is_uneven: 1,
            stop,
            interval: step,
            zone,
        };
        Ok(if series.is_beyond(start) {
            Series::EMPTY
        } else {
            series
        })
    }

    fn is_beyond(&self, value: i128) -> bool {
        match self.step > 0 {
            true => value > self.stop,
            false => value < self.stop,
        }
    }

    /// Comes to the next row; without rows it stays. 22008 outside the calendar.
    pub fn advance(&mut self) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        if self.is_uneven == 0 {
            self.skip(1);
            return Ok(());
        }
        let next = match self.zone {
            Zone::UTC => add_interval_to_timestamp(self.value as i64, self.interval)?,
            zone => add_interval_to_instant(self.value as i64, self.interval, zone)?,
        };
        self.value = i128::from(next);
        if self.is_beyond(self.value) {
            self.left = 0;
        }
        Ok(())
    }

    /// Passes so many rows of an even series, or all that are left.
    pub fn skip(&mut self, rows: u64) {
        let rows = rows.min(self.left);
        self.value = (self.value).wrapping_add(self.step.wrapping_mul(i128::from(rows)));
        self.left -= rows;
    }

    /// The last value of an even series that has rows.
    pub fn last(&self) -> Option<i128> {
        let mut last = *self;
        last.skip(self.left.checked_sub(1)?);
        (self.is_uneven == 0).then_some(last.value)
    }
}

fn step_of_zero() -> Error {
    Error::new(SqlState::INVALID_PARAMETER, "step size cannot equal zero")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date_input::parse_timestamp;

    fn values(mut series: Series) -> Vec<i128> {
        let mut found = Vec::new();
        while series.left > 0 {
            found.push(series.value);
            series.advance().unwrap();
        }
        found
    }

    #[test]
    fn ends_are_in_it_if_a_step_comes_to_them() {
        let of = |start, stop, step| values(Series::of_integers(start, stop, step).unwrap());
        assert_eq!(of(1, 5, 2), [1, 3, 5]);
        assert_eq!(of(1, 4, 2), [1, 3]);
        assert_eq!(of(5, 1, -3), [5, 2]);
        assert_eq!(of(7, 7, -1), [7]);
        assert!(of(5, 1, 1).is_empty() && of(1, 5, -1).is_empty());
        let max = i128::from(i64::MAX);
        assert_eq!(of(max - 1, max, 1), [max - 1, max]);
        let most = 10i128.pow(38) - 1;
        assert_eq!(of(-most, most, most), [-most, 0, most]);
        assert_eq!(Series::of_integers(-most, most, 1).unwrap().left, u64::MAX);
        assert_eq!(Series::of_integers(1, 10, 4).unwrap().last(), Some(9));
        for step in [1, -1] {
            assert_eq!(Series::of_integers(1, 1 - step, step).unwrap().last(), None);
        }
    }

    #[test]
    fn months_are_added_one_by_one() {
        let at = |text: &str| parse_timestamp(text).unwrap();
        let step = |months, days| Interval {
            months,
            days,
            micros: 0,
        };
        let months =
            Series::of_timestamps(at("2024-01-31"), at("2024-05-31"), step(1, 0), Zone::UTC).unwrap();
        let expected = [
            "2024-01-31",
            "2024-02-29",
            "2024-03-29",
            "2024-04-29",
            "2024-05-29",
        ];
        assert_eq!(values(months), expected.map(|text| i128::from(at(text))));
        let back = Series::of_timestamps(at("2024-03-03"), at("2024-02-25"), step(0, -3), Zone::UTC).unwrap();
        assert_eq!(values(back).len(), 3);
        let none = Series::of_timestamps(at("2024-01-01"), at("2024-02-25"), step(-1, 0), Zone::UTC).unwrap();
        assert_eq!(none, Series::EMPTY);
    }

    #[test]
    fn a_step_goes_somewhere() {
        let state = |series: Result<Series>| series.unwrap_err().state().0;
        assert_eq!(state(Series::of_integers(1, 2, 0)), "22023");
        for step in [
            Interval::default(),
            Interval {
                months: 1,
                days: -30,
                micros: 0,
            },
        ] {
            assert_eq!(state(Series::of_timestamps(0, 1, step, Zone::UTC)), "22023");
        }
    }
}
