//! Functions that give the value of another row: lag, lead, first_value, last_value, nth_value.

use super::frame::{Frames, Parts};
use super::input::{self, Column};
use super::segment::{Piece, Segment};
use super::{CallSpec, WindowInput};
use crate::row_layout::FieldPlace;
use frazil_plan::WindowFunction;
use frazil_types::{Error, Native, Reservation, Result, SqlState, dispatch_native};
use std::ops::Range;

/// Computes a call. Error 22016 of nth_value.
pub fn compute(segment: &Segment<'_>, call: &CallSpec) -> Result<()> {
    let place = *segment.result(call);
    dispatch_native!(place.native, T => of_type::<T>(segment, call, &place))
}

fn of_type<T: Native>(segment: &Segment<'_>, call: &CallSpec, place: &FieldPlace) -> Result<()> {
    let values: Column<T> = input::column(segment, &call.arguments[0], None)?;
    let known = match call.ignore_nulls && values.has_nulls() {
        true => Some(Known::of(segment, &values)?),
        false => None,
    };
    let known = known.as_ref();
    if matches!(call.function, WindowFunction::Lag | WindowFunction::Lead) {
        return segment.for_blocks(&|block| {
            for piece in segment.pieces(block) {
                shifted(segment, call, place, &values, known, &piece);
            }
            Ok(())
        });
    }
    let frames = Frames::new(segment, call)?;
    segment.for_blocks(&|block| {
        let parts = frames.parts(block.clone())?;
        for row in block {
            let value = of_frame(segment, call, &values, known, &parts, row)?;
            segment.put(place, row, value);
        }
        Ok(())
    })
}

/// Rows whose value is not NULL.
struct Known {
    /// How many of them lie before each row, and before the end.
    before: Vec<u32>,
    rows: Vec<u32>,
    _held: Reservation,
}

impl Known {
    fn of<T: Native>(segment: &Segment<'_>, values: &Column<T>) -> Result<Known> {
        let rows = segment.entries.len();
        let held = segment.budget.reserve((2 * rows + 1) * size_of::<u32>())?;
        let (mut before, mut known) = (Vec::with_capacity(rows + 1), Vec::new());
        for row in 0..rows {
            before.push(known.len() as u32);
            if values.is_valid(row) {
                known.push(row as u32);
            }
        }
        before.push(known.len() as u32);
        Ok(Known {
            before,
            rows: known,
            _held: held,
        })
    }

    fn before(&self, row: usize) -> i64 {
        i64::from(self.before[row])
    }

    /// The row of a number, if it lies in a range.
    fn row(&self, number: i64, within: &Range<usize>) -> Option<usize> {
        let row = *self.rows.get(usize::try_from(number).ok()?)? as usize;
        within.contains(&row).then_some(row)
    }
}

/// lag and lead.
fn shifted<T: Native>(
    segment: &Segment<'_>,
    call: &CallSpec,
    place: &FieldPlace,
    values: &Column<T>,
    known: Option<&Known>,
    piece: &Piece,
) {
    let sign = if call.function == WindowFunction::Lag {
        -1
    } else {
        1
    };
    let offset = |row: usize| match call.arguments.get(1) {
        None => Some(1),
        Some(offset) => input::of_row::<i32>(segment, offset, row),
    };
    let constant = match call.arguments.get(1) {
        Some(WindowInput::Field(_)) => None,
        _ => Some(offset(piece.rows.start)),
    };
    let partition = &piece.partition;
    for row in piece.rows.clone() {
        let Some(by) = constant.unwrap_or_else(|| offset(row)) else {
            segment.put::<T>(place, row, None);
            continue;
        };
        let by = sign * i64::from(by);
        let from = match known {
            Some(known) if by < 0 => known.row(known.before(row) + by, partition),
            // A row whose value is not NULL is one of those from it on.
            Some(known) if by > 0 => {
                let own = i64::from(values.is_valid(row));
                known.row(known.before(row) + own + by - 1, partition)
            }
            _ => usize::try_from(row as i64 + by)
                .ok()
                .filter(|from| partition.contains(from)),
        };
        let value = match (from, call.arguments.get(2)) {
            (Some(from), _) => values.get(from),
            (None, Some(default)) => input::of_row::<T>(segment, default, row),
            (None, None) => None,
        };
        segment.put(place, row, value);
    }
}

/// first_value, last_value and nth_value.
fn of_frame<T: Native>(
    segment: &Segment<'_>,
    call: &CallSpec,
    values: &Column<T>,
    known: Option<&Known>,
    parts: &Parts,
    row: usize,
) -> Result<Option<T>> {
    // From the frame's end where it is negative, -1 being the last row.
    let nth = match call.function {
        WindowFunction::FirstValue => 0,
        WindowFunction::LastValue => -1,
        _ => match input::of_row::<i32>(segment, &call.arguments[1], row) {
            None => return Ok(None),
            Some(n @ 1..) => i64::from(n) - 1,
            Some(_) => {
                let message = "argument of nth_value must be greater than zero";
                return Err(Error::new(SqlState::INVALID_NTH_VALUE_ARGUMENT, message));
            }
        },
    };
    let ranges = parts.of(row);
    let count = |range: &Range<usize>| match known {
        Some(known) => known.before(range.end) - known.before(range.start),
        None => range.len() as i64,
    };
    let all: i64 = ranges.iter().map(count).sum();
    let mut left = if nth < 0 { all + nth } else { nth };
    if left < 0 {
        return Ok(None);
    }
    for range in ranges.iter().filter(|r| !r.is_empty()) {
        let here = count(range);
        if left < here {
            let from = match known {
                Some(known) => known.row(known.before(range.start) + left, range),
                None => Some(range.start + left as usize),
            };
            return Ok(from.and_then(|from| values.get(from)));
        }
        left -= here;
    }
    Ok(None)
}
