//! Aggregates of frames: what each keeps of a range of rows, and what it makes of that.

use super::input::{self, Column};
use super::range_aggregate::{self, Aggregator};
use super::segment::Segment;
use super::spread;
use super::texts;
use super::{CallSpec, WindowInput};
use crate::breakers::groups::double_sums::{check_overflow, summed};
use crate::row_layout::{FieldPlace, SqlOrder};
use frazil_plan::AggregateFunction;
use frazil_plan::aggregates::{End, GroupState, OfRows};
use frazil_types::{Error, LogicalType, Native, NativeType, Result, SqlState, decimal, dispatch_native};
use std::cmp::Ordering;

/// Computes a call. Error 22003.
pub fn compute(segment: &Segment<'_>, call: &CallSpec, function: AggregateFunction) -> Result<()> {
    let filter = call.filter.as_ref();
    let argument = || {
        let argument = call.arguments.first();
        argument.ok_or_else(|| Error::internal("an aggregate without its argument"))
    };
    let state = function.info().state;
    match state {
        GroupState::Count => count(segment, call, call.arguments.first()),
        GroupState::Sum | GroupState::Average => {
            let argument = argument()?;
            match native(segment, argument, call.argument_type) {
                NativeType::F64 => {
                    let values = input::column::<f64>(segment, argument, filter)?;
                    let output = Output::new(segment, call, state);
                    range_aggregate::compute(segment, call, &DoubleSum { values, output })
                }
                NativeType::I16 => sum::<i16>(segment, call, argument, state),
                NativeType::I32 => sum::<i32>(segment, call, argument, state),
                NativeType::I64 => sum::<i64>(segment, call, argument, state),
                _ => {
                    let values = input::column::<i128>(segment, argument, filter)?;
                    exact::<i128, Sum192>(segment, call, values, state)
                }
            }
        }
        GroupState::End(end) => {
            let place = *segment.result(call);
            let argument = argument()?;
            dispatch_native!(place.native, T => {
                let values = input::column::<T>(segment, argument, filter)?;
                let extreme = Extreme { segment, values, wanted: order_to(end), place };
                range_aggregate::compute(segment, call, &extreme)
            })
        }
        GroupState::Bits(bits) => spread::bits(segment, call, argument()?, bits),
        GroupState::Deviations => spread::deviations(segment, call),
        GroupState::Rows(OfRows::Concatenation) => texts::compute(segment, call),
        GroupState::Picked(end) => {
            let [_, by] = &call.arguments[..] else {
                return Err(Error::internal("an aggregate without its second argument"));
            };
            dispatch_native!(native(segment, by, None), T => {
                let values = input::column::<T>(segment, by, filter)?;
                range_aggregate::compute(segment, call, &Picked { segment, call, values, wanted: order_to(end) })
            })
        }
        GroupState::Rows(
            OfRows::Array
            | OfRows::Continuous
            | OfRows::Discrete
            | OfRows::Mode
            | OfRows::First
            | OfRows::Last,
        )
        | GroupState::Squares
        | GroupState::Sketch => Err(Error::internal(format!("a window of {}", function.name()))),
    }
}

/// How a value compares with those that it replaces at an end of the order.
fn order_to(end: End) -> Ordering {
    match end {
        End::Least => Ordering::Less,
        End::Greatest => Ordering::Greater,
    }
}

/// The form in which an argument is held.
fn native(segment: &Segment<'_>, argument: &WindowInput, ty: Option<LogicalType>) -> NativeType {
    match argument {
        WindowInput::Field(index) => segment.order.layout.fields[*index].native,
        WindowInput::Constant(_) => ty.map_or(NativeType::I64, LogicalType::native),
    }
}

fn count(segment: &Segment<'_>, call: &CallSpec, argument: Option<&WindowInput>) -> Result<()> {
    let present = input::presence(segment, argument, call.filter.as_ref())?;
    let place = *segment.result(call);
    if !present.has_nulls() {
        return range_aggregate::count_rows(segment, call, &place);
    }
    let count = Count {
        segment,
        present,
        place,
    };
    range_aggregate::compute(segment, call, &count)
}

/// Sums of up to 64 bits a value, in 64 bits where the result has no more: then it is known to fit.
fn sum<T: Native + Into<i64>>(
    segment: &Segment<'_>,
    call: &CallSpec,
    argument: &WindowInput,
    state: GroupState,
) -> Result<()> {
    let values = input::column::<T>(segment, argument, call.filter.as_ref())?;
    let is_narrow = state == GroupState::Sum && segment.result(call).native == NativeType::I64;
    match is_narrow {
        true => exact::<T, i64>(segment, call, values, state),
        false => exact::<T, i128>(segment, call, values, state),
    }
}

fn exact<T: Native, S: Accumulator<T>>(
    segment: &Segment<'_>,
    call: &CallSpec,
    values: Column<T>,
    state: GroupState,
) -> Result<()> {
    let output = Output::new(segment, call, state);
    let sum = ExactSum::<T, S> {
        values,
        output,
        sum: std::marker::PhantomData,
    };
    range_aggregate::compute(segment, call, &sum)
}

// --- Counts ------------------------------------------------------------------------------------

struct Count<'a> {
    segment: &'a Segment<'a>,
    present: Column<u8>,
    place: FieldPlace,
}

impl Aggregator for Count<'_> {
    type State = i64;
    const REMOVES: bool = true;

    fn empty(&self) -> i64 {
        0
    }

    #[inline]
    fn add(&self, state: &mut i64, row: usize) {
        *state += i64::from(self.present.is_valid(row));
    }

    #[inline]
    fn remove(&self, state: &mut i64, row: usize) {
        *state -= i64::from(self.present.is_valid(row));
    }

    fn merge(&self, before: i64, behind: i64) -> i64 {
        before + behind
    }

    #[inline]
    fn finish(&self, state: i64, row: usize) -> Result<()> {
        self.segment.put(&self.place, row, Some(state));
        Ok(())
    }
}

// --- Sums --------------------------------------------------------------------------------------

/// What a sum of values of `T` is held in. Adding and taking away are exact as long as the sum of all rows fits.
trait Accumulator<T>: Copy + Default + Send + Sync {
    fn add(&mut self, value: T);
    fn remove(&mut self, value: T);
    fn merge(self, other: Self) -> Self;
    /// The sum; `None` where it has more than 128 bits.
    fn value(self) -> Option<i128>;
}

impl<T: Into<i64>> Accumulator<T> for i64 {
    #[inline]
    fn add(&mut self, value: T) {
        *self = self.wrapping_add(value.into());
    }

    #[inline]
    fn remove(&mut self, value: T) {
        *self = self.wrapping_sub(value.into());
    }

    fn merge(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }

    fn value(self) -> Option<i128> {
        Some(self.into())
    }
}

impl<T: Into<i64>> Accumulator<T> for i128 {
    #[inline]
    fn add(&mut self, value: T) {
        *self += i128::from(value.into());
    }

    #[inline]
    fn remove(&mut self, value: T) {
        *self -= i128::from(value.into());
    }

    fn merge(self, other: i128) -> i128 {
        self + other
    }

    fn value(self) -> Option<i128> {
        Some(self)
    }
}

/// A sum of 128-bit values in 192 bits: the rows of a segment are fewer than 2^32.
#[derive(Clone, Copy, Default)]
struct Sum192 {
    low: u128,
    high: i64,
}

impl Sum192 {
    fn of(value: i128) -> Sum192 {
        Sum192 {
            low: value as u128,
            high: if value < 0 { -1 } else { 0 },
        }
    }

    fn plus(self, other: Sum192) -> Sum192 {
        let (low, carry) = self.low.overflowing_add(other.low);
        Sum192 {
            low,
            high: self.high + other.high + i64::from(carry),
        }
    }
}

impl Accumulator<i128> for Sum192 {
    #[inline]
    fn add(&mut self, value: i128) {
        *self = self.plus(Sum192::of(value));
    }

    #[inline]
    fn remove(&mut self, value: i128) {
        let value = Sum192::of(value);
        let (low, borrow) = self.low.overflowing_sub(value.low);
        *self = Sum192 {
            low,
            high: self.high - value.high - i64::from(borrow),
        };
    }

    fn merge(self, other: Sum192) -> Sum192 {
        self.plus(other)
    }

    fn value(self) -> Option<i128> {
        let low = self.low as i128;
        let fits = self.high == if low < 0 { -1 } else { 0 };
        fits.then_some(low)
    }
}

/// A sum with the number of its values.
#[derive(Clone, Copy, Default)]
struct Summed<S> {
    sum: S,
    count: i64,
}

struct ExactSum<'a, T, S> {
    values: Column<T>,
    output: Output<'a>,
    sum: std::marker::PhantomData<fn() -> S>,
}

impl<T: Native, S: Accumulator<T>> Aggregator for ExactSum<'_, T, S> {
    type State = Summed<S>;
    const REMOVES: bool = true;

    fn empty(&self) -> Summed<S> {
        Summed {
            sum: S::default(),
            count: 0,
        }
    }

    #[inline]
    fn add(&self, state: &mut Summed<S>, row: usize) {
        if self.values.is_valid(row) {
            state.sum.add(self.values.value(row));
            state.count += 1;
        }
    }

    #[inline]
    fn remove(&self, state: &mut Summed<S>, row: usize) {
        if self.values.is_valid(row) {
            state.sum.remove(self.values.value(row));
            state.count -= 1;
        }
    }

    fn merge(&self, before: Summed<S>, behind: Summed<S>) -> Summed<S> {
        Summed {
            sum: before.sum.merge(behind.sum),
            count: before.count + behind.count,
        }
    }

    #[inline]
    fn finish(&self, state: Summed<S>, row: usize) -> Result<()> {
        self.output.exact(state.sum.value(), state.count, row)
    }
}

/// A sum of doubles, and how many they are.
#[derive(Clone, Copy, Default)]
struct DoublesSummed {
    sum: f64,
    count: i64,
    /// True if the sum became infinite by finite values: 22003 for frames that hold them.
    is_overflown: bool,
}

struct DoubleSum<'a> {
    values: Column<f64>,
    output: Output<'a>,
}

impl Aggregator for DoubleSum<'_> {
    type State = DoublesSummed;
    // What is taken away would leave its rounding behind, and infinity for ever.
    const REMOVES: bool = false;

    fn empty(&self) -> DoublesSummed {
        DoublesSummed::default()
    }

    #[inline]
    fn add(&self, state: &mut DoublesSummed, row: usize) {
        if self.values.is_valid(row) {
            let one = DoublesSummed {
                sum: self.values.value(row),
                count: 1,
                is_overflown: false,
            };
            *state = self.merge(*state, one);
        }
    }

    fn remove(&self, _: &mut DoublesSummed, _: usize) {}

    #[inline]
    fn merge(&self, before: DoublesSummed, behind: DoublesSummed) -> DoublesSummed {
        let (sum, is_overflown) = summed(before.sum, behind.sum);
        DoublesSummed {
            sum,
            count: before.count + behind.count,
            is_overflown: before.is_overflown | behind.is_overflown | is_overflown,
        }
    }

    #[inline]
    fn finish(&self, state: DoublesSummed, row: usize) -> Result<()> {
        check_overflow(state.is_overflown)?;
        let Output { segment, place, .. } = &self.output;
        let value = match self.output.is_average {
            true => state.sum / state.count as f64,
            false => state.sum,
        };
        segment.put(place, row, (state.count > 0).then_some(value));
        Ok(())
    }
}

/// Where sums and averages go.
struct Output<'a> {
    segment: &'a Segment<'a>,
    place: FieldPlace,
    ty: LogicalType,
    is_average: bool,
}

impl<'a> Output<'a> {
    fn new(segment: &'a Segment<'a>, call: &CallSpec, state: GroupState) -> Output<'a> {
        Output {
            segment,
            place: *segment.result(call),
            ty: call.ty,
            is_average: state == GroupState::Average,
        }
    }

    /// Writes an exact sum; NULL for no values. Error 22003 where the type has no room.
    #[inline]
    fn exact(&self, sum: Option<i128>, count: i64, row: usize) -> Result<()> {
        let value = (count > 0).then_some(sum);
        if self.place.native == NativeType::I64 {
            let value = value.map(|v| v.and_then(|v| i64::try_from(v).ok()));
            let value = value.map(|v| v.ok_or_else(|| self.overflow())).transpose()?;
            self.segment.put(&self.place, row, value);
            return Ok(());
        }
        let (precision, scale) = self.ty.decimal_digits().unwrap_or((38, 0));
        let value = match value {
            None => None,
            Some(None) => return Err(self.overflow()),
            Some(Some(v)) => {
                Some(decimal::check_precision(v, precision, scale).map_err(|_| self.overflow())?)
            }
        };
        self.segment.put(&self.place, row, value);
        Ok(())
    }

    #[cold]
    fn overflow(&self) -> Error {
        Error::new(
            SqlState::NUMERIC_OUT_OF_RANGE,
            format!("{} out of range", self.ty),
        )
    }
}

// --- Least and greatest values -----------------------------------------------------------------

struct Extreme<'a, T> {
    segment: &'a Segment<'a>,
    values: Column<T>,
    /// How a value stands to the one that it takes the place of.
    wanted: Ordering,
    place: FieldPlace,
}

impl<T: Native + SqlOrder> Extreme<'_, T> {
    #[inline]
    fn better(&self, a: Option<T>, b: Option<T>) -> Option<T> {
        match (a, b) {
            (Some(a), Some(b)) => {
                // SAFETY: strings of the sorters' rows, which are alive.
                let order = unsafe { b.order(a) };
                Some(if order == self.wanted { b } else { a })
            }
            (a, b) => a.or(b),
        }
    }
}

impl<T: Native + SqlOrder> Aggregator for Extreme<'_, T> {
    type State = Option<T>;
    const REMOVES: bool = false;

    fn empty(&self) -> Option<T> {
        None
    }

    #[inline]
    fn add(&self, state: &mut Option<T>, row: usize) {
        *state = self.better(*state, self.values.get(row));
    }

    fn remove(&self, _: &mut Option<T>, _: usize) {}

    #[inline]
    fn merge(&self, before: Option<T>, behind: Option<T>) -> Option<T> {
        self.better(before, behind)
    }

    #[inline]
    fn finish(&self, state: Option<T>, row: usize) -> Result<()> {
        self.segment.put(&self.place, row, state);
        Ok(())
    }
}

/// The first argument in the row with the least or greatest second one.
struct Picked<'a, T> {
    segment: &'a Segment<'a>,
    call: &'a CallSpec,
    values: Column<T>,
    /// How a value stands to the one that it takes the place of.
    wanted: Ordering,
}

impl<T: Native + SqlOrder> Aggregator for Picked<'_, T> {
    /// The row.
    type State = Option<u32>;
    const REMOVES: bool = false;

    fn empty(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn add(&self, state: &mut Option<u32>, row: usize) {
        if self.values.is_valid(row) {
            *state = self.merge(*state, Some(row as u32));
        }
    }

    fn remove(&self, _: &mut Option<u32>, _: usize) {}

    #[inline]
    fn merge(&self, before: Option<u32>, behind: Option<u32>) -> Option<u32> {
        match (before, behind) {
            (Some(a), Some(b)) => {
                let [x, y] = [a, b].map(|row| self.values.value(row as usize));
                // SAFETY: strings of the sorters' rows, which are alive.
                let order = unsafe { y.order(x) };
                Some(if order == self.wanted { b } else { a })
            }
            (a, b) => a.or(b),
        }
    }

    fn finish(&self, state: Option<u32>, row: usize) -> Result<()> {
        let place = *self.segment.result(self.call);
        dispatch_native!(place.native, T => {
            let from = state.map(|from| from as usize);
            let value = from.and_then(|from| input::of_row::<T>(self.segment, &self.call.arguments[0], from));
            self.segment.put(&place, row, value);
        });
        Ok(())
    }
}
