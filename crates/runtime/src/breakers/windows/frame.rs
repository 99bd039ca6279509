//! Frames: for each row the range of rows that it sees.
//!
//! Offsets are the same for all rows of a partition, so both ends of the range only move forward from row to row, but
//! among rows whose key is NULL: these are each other's range.

use super::input::{self, Column};
use super::segment::{Piece, Segment};
use super::{BoundSpec, CallSpec, FrameSpec, WindowInput};
use frazil_plan::{FrameExclusion, FrameUnit};
use frazil_types::date::{MICROS_PER_DAY, add_interval_to_instant, add_interval_to_timestamp};
use frazil_types::value_ops::{interval_span, negate_interval};
use frazil_types::{Category, Error, Interval, LogicalType, NativeType, Result, SqlState, Value};
use std::ops::Range;

/// Which end of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    End,
}

/// An offset of a partition.
#[derive(Clone, Copy)]
enum Offset {
    Whole(i128),
    Double(f64),
    Interval(Interval),
}

/// 22004 and 22013 for constant offsets: as in PostgreSQL, also where there is no row.
pub fn check_constant_offsets(call: &CallSpec, key: Option<LogicalType>) -> Result<()> {
    let ends = [(End::Start, &call.frame.start), (End::End, &call.frame.end)];
    for (end, bound) in ends {
        if let Some(WindowInput::Constant(value)) = bound.offset() {
            let offset = match value {
                Value::Null => None,
                Value::Double(v) => Some(Offset::Double(*v)),
                Value::Interval(v) => Some(Offset::Interval(counted(*v, key))),
                Value::Int(v) => Some(Offset::Whole(*v)),
                Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => None,
            };
            checked(offset, call.frame.unit, end)?;
        }
    }
    Ok(())
}

/// What of an interval moves a key of a type: times have neither days nor months.
fn counted(offset: Interval, key: Option<LogicalType>) -> Interval {
    match key.is_some_and(LogicalType::is_time_of_day) {
        true => Interval {
            micros: offset.micros,
            ..Interval::default()
        },
        false => offset,
    }
}

fn checked(offset: Option<Offset>, unit: FrameUnit, end: End) -> Result<Offset> {
    let name = match end {
        End::Start => "starting",
        End::End => "ending",
    };
    let Some(offset) = offset else {
        let message = format!("frame {name} offset must not be null");
        return Err(Error::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
    };
    let is_negative = match offset {
        Offset::Whole(v) => v < 0,
        Offset::Double(v) => v.is_nan() || v < 0.0,
        Offset::Interval(v) => interval_span(v) < 0,
    };
    if !is_negative {
        return Ok(offset);
    }
    let message = match unit {
        FrameUnit::Range => "invalid preceding or following size in window function".to_string(),
        FrameUnit::Rows | FrameUnit::Groups => format!("frame {name} offset must not be negative"),
    };
    Err(Error::new(SqlState::INVALID_PRECEDING_OR_FOLLOWING, message))
}

/// The keys that a range counts in, so that their order is that of the rows: where that is descending, their bits are
/// turned round, which keeps differences.
enum Keys {
    None,
    /// Integers, decimals, dates, timestamps; doubles as integers of their order.
    Narrow(Column<i64>),
    Wide(Column<i128>),
}

/// The frame of a call over a segment.
pub struct Frames<'a> {
    segment: &'a Segment<'a>,
    frame: &'a FrameSpec,
    keys: Keys,
    key_type: Option<LogicalType>,
    descending: bool,
    nulls_first: bool,
}

/// The frames of a block's rows.
pub struct Parts {
    first: usize,
    /// First row of each frame, and the row behind its last one.
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Rows of each frame that do not count; none: all count.
    holes: Vec<(u32, u32)>,
    /// True for EXCLUDE TIES: the current row stays although its peers are excluded.
    keeps_row: bool,
}

impl Parts {
    /// Frame of a row, hole and all.
    #[inline]
    pub fn whole(&self, row: usize) -> Range<usize> {
        self.starts[row - self.first] as usize..self.ends[row - self.first] as usize
    }

    /// The rows that count, in order: before the hole, the row in it, behind it. Without a hole the first range has all.
    #[inline]
    pub fn of(&self, row: usize) -> [Range<usize>; 3] {
        let whole = self.whole(row);
        if self.holes.is_empty() {
            return [whole, 0..0, 0..0];
        }
        let hole = self.holes[row - self.first];
        let (from, to) = (hole.0 as usize, hole.1 as usize);
        let own = match self.keeps_row && whole.contains(&row) {
            true => row..row + 1,
            false => 0..0,
        };
        let before = whole.start..whole.end.min(from).max(whole.start);
        let behind = whole.start.max(to).min(whole.end)..whole.end;
        [before, own, behind]
    }

    /// Whether frames have holes.
    pub fn have_holes(&self) -> bool {
        !self.holes.is_empty()
    }
}

impl<'a> Frames<'a> {
    /// Gathers the keys, if the frame counts in them. Error 53200.
    pub fn new(segment: &'a Segment<'a>, call: &'a CallSpec) -> Result<Frames<'a>> {
        let frame = &call.frame;
        let counts = frame.start.offset().is_some() || frame.end.offset().is_some();
        let mut frames = Frames {
            segment,
            frame,
            keys: Keys::None,
            key_type: segment.window.key_type,
            descending: false,
            nulls_first: false,
        };
        if frame.unit == FrameUnit::Range && counts {
            let key = segment.order.fields[segment.window.partition];
            frames.descending = key.descending;
            frames.nulls_first = key.nulls_first;
            frames.keys = keys(segment, key.field, key.descending)?;
        }
        Ok(frames)
    }

    /// Whether all frames begin with the first row of the partition.
    pub fn begin_at_first(&self) -> bool {
        matches!(self.frame.start, BoundSpec::UnboundedPreceding)
            || self.all_are_peers() && matches!(self.frame.start, BoundSpec::CurrentRow)
    }

    /// Whether all frames end with the last row of the partition.
    pub fn end_at_last(&self) -> bool {
        matches!(self.frame.end, BoundSpec::UnboundedFollowing)
            || self.all_are_peers() && matches!(self.frame.end, BoundSpec::CurrentRow)
    }

    /// Whether the current row stands for the whole partition.
    fn all_are_peers(&self) -> bool {
        self.segment.window.order == 0 && self.frame.unit != FrameUnit::Rows
    }

    /// The frames of a block. Errors: 22004, 22013.
    pub fn parts(&self, block: Range<usize>) -> Result<Parts> {
        let mut parts = Parts {
            first: block.start,
            starts: vec![0; block.len()],
            ends: vec![0; block.len()],
            holes: Vec::new(),
            keeps_row: self.frame.exclusion == FrameExclusion::Ties,
        };
        for piece in self.segment.pieces(block.clone()) {
            let at = piece.rows.start - block.start..piece.rows.end - block.start;
            self.ends(&piece, End::Start, &mut parts.starts[at.clone()])?;
            self.ends(&piece, End::End, &mut parts.ends[at.clone()])?;
            for at in at {
                parts.ends[at] = parts.ends[at].max(parts.starts[at]);
            }
        }
        if self.frame.exclusion != FrameExclusion::NoOthers {
            parts.holes.reserve(block.len());
            for piece in self.segment.pieces(block) {
                for row in piece.rows {
                    let hole = match self.frame.exclusion {
                        FrameExclusion::CurrentRow => row..row + 1,
                        _ => self.segment.peers(&piece.partition, row),
                    };
                    parts.holes.push((hole.start as u32, hole.end as u32));
                }
            }
        }
        Ok(parts)
    }

    /// One end of the frames of a piece.
    fn ends(&self, piece: &Piece, end: End, out: &mut [u32]) -> Result<()> {
        let Piece { partition, rows } = piece;
        let bound = match end {
            End::Start => &self.frame.start,
            End::End => &self.frame.end,
        };
        let (input, sign) = match bound {
            BoundSpec::UnboundedPreceding => {
                out.fill(partition.start as u32);
                return Ok(());
            }
            BoundSpec::UnboundedFollowing => {
                out.fill(partition.end as u32);
                return Ok(());
            }
            BoundSpec::CurrentRow => {
                self.current(piece, end, out);
                return Ok(());
            }
            BoundSpec::Preceding(input) => (input, -1),
            BoundSpec::Following(input) => (input, 1),
        };
        let offset = checked(self.offset(input, partition.start), self.frame.unit, end)?;
        match (self.frame.unit, offset) {
            (FrameUnit::Range, offset) => self.in_range(piece, end, sign, offset, out),
            (unit, Offset::Whole(count)) => {
                let by = sign * i64::try_from(count).unwrap_or(i64::MAX);
                let past = i64::from(end == End::End);
                for (out, row) in out.iter_mut().zip(rows.clone()) {
                    let at = match unit {
                        FrameUnit::Rows => {
                            let at = (row as i64).saturating_add(by).saturating_add(past);
                            usize::try_from(at)
                                .unwrap_or(0)
                                .clamp(partition.start, partition.end)
                        }
                        _ => self.segment.group_start(partition, row, by.saturating_add(past)),
                    };
                    *out = at as u32;
                }
            }
            _ => return Err(Error::internal("an offset of rows that is no number")),
        }
        Ok(())
    }

    fn current(&self, piece: &Piece, end: End, out: &mut [u32]) {
        for (out, row) in out.iter_mut().zip(piece.rows.clone()) {
            let here = match self.frame.unit {
                FrameUnit::Rows => row..row + 1,
                FrameUnit::Range | FrameUnit::Groups => self.segment.peers(&piece.partition, row),
            };
            *out = match end {
                End::Start => here.start as u32,
                End::End => here.end as u32,
            };
        }
    }

    fn offset(&self, input: &WindowInput, row: usize) -> Option<Offset> {
        let segment = self.segment;
        let native = match (self.frame.unit, self.key_type) {
            (FrameUnit::Range, Some(ty)) if ty.native() == NativeType::F64 => NativeType::F64,
            (FrameUnit::Range, Some(ty)) if ty.info().category == Category::DateTime => {
                let interval = input::of_row::<i128>(segment, input, row)?;
                let interval = Interval::from_native(interval);
                return Some(Offset::Interval(counted(interval, self.key_type)));
            }
            (FrameUnit::Range, Some(ty)) if ty.decimal_digits().is_some() => NativeType::I128,
            _ => NativeType::I64,
        };
        Some(match native {
            NativeType::F64 => Offset::Double(input::of_row(segment, input, row)?),
            NativeType::I128 => Offset::Whole(input::of_row(segment, input, row)?),
            _ => Offset::Whole(input::of_row::<i64>(segment, input, row)?.into()),
        })
    }

    // --- RANGE with an offset ------------------------------------------------------------------

    fn in_range(&self, piece: &Piece, end: End, sign: i64, offset: Offset, out: &mut [u32]) {
        match &self.keys {
            Keys::None => {}
            Keys::Wide(keys) => {
                let by = match offset {
                    Offset::Whole(by) => by,
                    Offset::Double(_) | Offset::Interval(_) => 0,
                };
                let moved = |key: i128| match sign {
                    -1 => key.checked_sub(by),
                    _ => key.checked_add(by),
                };
                self.search(piece, (end, sign), keys, moved, out);
            }
            Keys::Narrow(keys) => match offset {
                Offset::Whole(by) => {
                    let by = i64::try_from(by).unwrap_or(i64::MAX);
                    let moved = |key: i64| match sign {
                        -1 => key.checked_sub(by),
                        _ => key.checked_add(by),
                    };
                    self.search(piece, (end, sign), keys, moved, out);
                }
                Offset::Double(by) => {
                    let by = if (sign < 0) == self.descending { by } else { -by };
                    let first = (end == End::Start) != self.descending;
                    let moved = |key: i64| Some(self.turned(moved_double(self.turned(key), by, first)));
                    self.search(piece, (end, sign), keys, moved, out);
                }
                Offset::Interval(by) => {
                    let forward = (sign > 0) != self.descending;
                    let by = if forward { Ok(by) } else { negate_interval(by) };
                    // The frame begins with keys from the bound on, in the order of the rows.
                    let up = (end == End::Start) != self.descending;
                    let ty = self.key_type.unwrap_or(LogicalType::TIMESTAMP);
                    let moved = |key: i64| {
                        let by = by.as_ref().ok().copied();
                        let bound = by.and_then(|by| moved_time(self.turned(key), by, ty, up));
                        bound.map(|bound| self.turned(bound))
                    };
                    self.search(piece, (end, sign), keys, moved, out);
                }
            },
        }
    }

    /// A key as it was, or as it is held.
    fn turned(&self, key: i64) -> i64 {
        if self.descending { !key } else { key }
    }

    /// The places of bounds among the keys of a partition: of the first key that is not below, or of the first above. A key that
    /// moves beyond all keys, in the direction of the sign, gives no bound.
    fn search<K: Copy + Ord + frazil_types::Native>(
        &self,
        piece: &Piece,
        (end, sign): (End, i64),
        keys: &Column<K>,
        moved: impl Fn(K) -> Option<K>,
        out: &mut [u32],
    ) {
        let values = self.values(&piece.partition, keys);
        let is_behind = |at: usize, bound: Option<K>| match (bound, end) {
            (None, _) => sign > 0,
            (Some(bound), End::Start) => keys.value(at) < bound,
            (Some(bound), End::End) => keys.value(at) <= bound,
        };
        let mut place: Option<usize> = None;
        for (out, row) in out.iter_mut().zip(piece.rows.clone()) {
            if !keys.is_valid(row) {
                let peers = self.segment.peers(&piece.partition, row);
                *out = match end {
                    End::Start => peers.start as u32,
                    End::End => peers.end as u32,
                };
                continue;
            }
            let bound = moved(keys.value(row));
            let mut at = match place {
                Some(at) => at,
                None => {
                    let (mut low, mut high) = (values.start, values.end);
                    while low < high {
                        let middle = low + (high - low) / 2;
                        match is_behind(middle, bound) {
                            true => low = middle + 1,
                            false => high = middle,
                        }
                    }
                    low
                }
            };
            while at < values.end && is_behind(at, bound) {
                at += 1;
            }
            place = Some(at);
            *out = at as u32;
        }
    }

    /// Rows of a partition whose key is not NULL.
    fn values<K: frazil_types::Native>(&self, partition: &Range<usize>, keys: &Column<K>) -> Range<usize> {
        if !keys.has_nulls() {
            return partition.clone();
        }
        let of = |row: usize| keys.is_valid(row) != self.nulls_first;
        let (mut low, mut high) = (partition.start, partition.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match of(middle) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        match self.nulls_first {
            true => low..partition.end,
            false => partition.start..low,
        }
    }
}

/// The keys of a segment, turned round where they descend.
fn keys(segment: &Segment<'_>, field: usize, descending: bool) -> Result<Keys> {
    let native = segment.order.layout.fields[field].native;
    let input = WindowInput::Field(field);
    let budget = segment.budget;
    let turn = |key: i64| if descending { !key } else { key };
    let narrow = |column: Column<i64>| Ok(Keys::Narrow(column));
    match native {
        NativeType::I16 => {
            narrow(input::column::<i16>(segment, &input, None)?.map(budget, |k| turn(k.into()))?)
        }
        NativeType::I32 => {
            narrow(input::column::<i32>(segment, &input, None)?.map(budget, |k| turn(k.into()))?)
        }
        NativeType::I64 => narrow(input::column::<i64>(segment, &input, None)?.map(budget, turn)?),
        NativeType::F64 => {
            narrow(input::column::<f64>(segment, &input, None)?.map(budget, |k| turn(ordered_double(k)))?)
        }
        NativeType::I128 => {
            let turn = |key: i128| if descending { !key } else { key };
            let keys = input::column::<i128>(segment, &input, None)?;
            Ok(Keys::Wide(keys.map(budget, turn)?))
        }
        NativeType::Bool | NativeType::String => {
            Err(Error::internal("a range over keys without differences"))
        }
    }
}

const SIGN: u64 = 1 << 63;

/// A double as an integer of its SQL order.
fn ordered_double(v: f64) -> i64 {
    let bits = frazil_kernels::hash::double_word(v);
    let ordered = if bits & SIGN != 0 { !bits } else { bits | SIGN };
    (ordered ^ SIGN) as i64
}

fn double_of(ordered: i64) -> f64 {
    let ordered = ordered as u64 ^ SIGN;
    f64::from_bits(if ordered & SIGN != 0 {
        ordered & !SIGN
    } else {
        !ordered
    })
}

/// A key moved by an offset. Where an infinite key is moved infinitely towards the others, all values are in the frame, as in
/// PostgreSQL: the bound is the `first` one there is, or the last.
fn moved_double(key: i64, by: f64, first: bool) -> i64 {
    let key = double_of(key);
    let moved = key + by;
    if moved.is_nan() && !key.is_nan() {
        return ordered_double(if first { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    ordered_double(moved)
}

/// A date or timestamp moved by an interval, an instant by its zone's calendar; a date to the nearest one above (`up`) or below. `None`
/// outside of the calendar.
fn moved_time(key: i64, by: Interval, ty: LogicalType, up: bool) -> Option<i64> {
    if ty.is_zoned() {
        return add_interval_to_instant(key, by, ty.zone()).ok();
    }
    if ty.is_time_of_day() {
        return key.checked_add(by.micros);
    }
    if !ty.is_day() {
        return add_interval_to_timestamp(key, by).ok();
    }
    let days = Interval { micros: 0, ..by };
    let day = frazil_types::date::add_interval_to_date(i32::try_from(key).ok()?, days).ok()?;
    let whole = i64::from(day).checked_add(by.micros.div_euclid(MICROS_PER_DAY))?;
    let has_rest = by.micros.rem_euclid(MICROS_PER_DAY) != 0;
    Some(whole + i64::from(up && has_rest))
}
