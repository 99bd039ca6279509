//! Aggregates of frames: bits, and sums of products of deviations.

use super::input::{self, Column};
use super::range_aggregate::{self, Aggregator};
use super::segment::Segment;
use super::{CallSpec, WindowInput};
use crate::breakers::groups::double_sums::Deviations;
use crate::row_layout::FieldPlace;
use frazil_plan::aggregates::Bits;
use frazil_types::{Error, Native, NativeType, Result};
use std::ops::{BitAnd, BitOr, BitXor};

/// bit_and, bit_or, bit_xor.
pub fn bits(segment: &Segment<'_>, call: &CallSpec, argument: &WindowInput, bits: Bits) -> Result<()> {
    match segment.result(call).native {
        NativeType::I16 => bits_of::<i16>(segment, call, argument, bits),
        NativeType::I32 => bits_of::<i32>(segment, call, argument, bits),
        _ => bits_of::<i64>(segment, call, argument, bits),
    }
}

fn bits_of<T>(segment: &Segment<'_>, call: &CallSpec, argument: &WindowInput, bits: Bits) -> Result<()>
where
    T: Native + BitAnd<Output = T> + BitOr<Output = T> + BitXor<Output = T>,
{
    let folded = BitFold {
        segment,
        values: input::column::<T>(segment, argument, call.filter.as_ref())?,
        both: match bits {
            Bits::And => |a, b| a & b,
            Bits::Or => |a, b| a | b,
            Bits::Xor => |a, b| a ^ b,
        },
        place: *segment.result(call),
    };
    range_aggregate::compute(segment, call, &folded)
}

struct BitFold<'a, T> {
    segment: &'a Segment<'a>,
    values: Column<T>,
    both: fn(T, T) -> T,
    place: FieldPlace,
}

impl<T: Native> Aggregator for BitFold<'_, T> {
    type State = Option<T>;
    const REMOVES: bool = false;

    fn empty(&self) -> Option<T> {
        None
    }

    #[inline]
    fn add(&self, state: &mut Option<T>, row: usize) {
        *state = self.merge(*state, self.values.get(row));
    }

    fn remove(&self, _: &mut Option<T>, _: usize) {}

    #[inline]
    fn merge(&self, before: Option<T>, behind: Option<T>) -> Option<T> {
        match (before, behind) {
            (Some(a), Some(b)) => Some((self.both)(a, b)),
            (a, b) => a.or(b),
        }
    }

    #[inline]
    fn finish(&self, state: Option<T>, row: usize) -> Result<()> {
        self.segment.put(&self.place, row, state);
        Ok(())
    }
}

/// The sum of products of the deviations of one or two columns of doubles. Error 22003.
pub fn deviations(segment: &Segment<'_>, call: &CallSpec) -> Result<()> {
    let column = |argument| input::column::<f64>(segment, argument, call.filter.as_ref());
    let [x, rest @ ..] = &call.arguments[..] else {
        return Err(Error::internal("an aggregate without its argument"));
    };
    let products = Products {
        segment,
        x: column(x)?,
        y: rest.first().map(column).transpose()?,
        place: *segment.result(call),
    };
    range_aggregate::compute(segment, call, &products)
}

struct Products<'a> {
    segment: &'a Segment<'a>,
    x: Column<f64>,
    y: Option<Column<f64>>,
    place: FieldPlace,
}

impl Aggregator for Products<'_> {
    type State = Deviations;
    const REMOVES: bool = false;

    fn empty(&self) -> Deviations {
        Deviations::default()
    }

    #[inline]
    fn add(&self, state: &mut Deviations, row: usize) {
        let pair = (self.x.get(row), self.y.as_ref().map(|y| y.get(row)));
        match pair {
            (Some(x), None) => state.add(x),
            (Some(x), Some(Some(y))) => state.add_pair(x, y),
            _ => {}
        }
    }

    fn remove(&self, _: &mut Deviations, _: usize) {}

    #[inline]
    fn merge(&self, before: Deviations, behind: Deviations) -> Deviations {
        before.merged(behind)
    }

    #[inline]
    fn finish(&self, state: Deviations, row: usize) -> Result<()> {
        let products = state.products()?;
        let value = (state.count > 0).then_some(products);
        self.segment.put(&self.place, row, value);
        Ok(())
    }
}
