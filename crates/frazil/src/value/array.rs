//! Arrays.

use super::{Date, Time, Timestamp, TimestampTz, Uuid, Value};
use crate::parameters;
use frazil_types::array::{self, ArrayRef, Dimension};
use frazil_types::{Error, Interval, LogicalType, Result, SqlState};

/// An array of values of one type, of any number of dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// As cells hold it; empty if a Rust vector has more elements than an array can have.
    bytes: Vec<u8>,
    element: LogicalType,
}

/// A Rust type whose vectors are arrays. All its values are of one SQL type.
pub trait ArrayElement: Into<Value> {
    /// The type of the array's elements.
    fn element_type() -> LogicalType;
}

impl Array {
    /// An array of one dimension, whose elements have the type that all values fit: of numbers the widest, of NULLs
    /// and texts text. 42804 if there is no such type, 0A000 for arrays as elements.
    pub fn new(values: &[Value]) -> Result<Array> {
        Array::of(common_type(values)?, values)
    }

    /// An array of one dimension with elements of a type. 42804 for values of other types, 0A000 for arrays as
    /// elements; the errors of a text that does not show a value of the type.
    pub fn of(element: LogicalType, values: &[Value]) -> Result<Array> {
        let length = values.len() as u32;
        let line = Dimension { length, lower: 1 };
        Array::of_dimensions(
            element,
            if length == 0 {
                &[]
            } else {
                std::slice::from_ref(&line)
            },
            values,
        )
    }

    /// An array with elements of a type, in row-major order: as many as the lengths of the dimensions multiply to
    /// (22023). The other errors are those of [`Array::of`].
    pub fn of_dimensions(element: LogicalType, dimensions: &[Dimension], values: &[Value]) -> Result<Array> {
        let count = dimensions
            .iter()
            .try_fold(1_usize, |count, d| count.checked_mul(d.length as usize));
        if count.filter(|_| !dimensions.is_empty()).unwrap_or(0) != values.len() {
            let message = format!("{} values do not fill the dimensions of an array", values.len());
            return Err(Error::new(SqlState::INVALID_PARAMETER, message));
        }
        if element.element().is_some() {
            return Err(Error::unsupported("an array whose elements are arrays"));
        }
        let raw = values.iter().map(|value| match value.ty() {
            Some(ty) if ty.kind() != element.kind() && !(ty.is_numeric() && element.is_numeric()) => {
                let message = format!(
                    "an array of {} cannot have an element of type {}",
                    element.name(),
                    ty.name()
                );
                Err(Error::new(SqlState::DATATYPE_MISMATCH, message))
            }
            ty => parameters::convert(&value.to_raw()?, ty.unwrap_or(LogicalType::Text), element),
        });
        let raw = raw.collect::<Result<Vec<_>>>()?;
        let bytes = array::encode(dimensions, &raw, element)?;
        Ok(Array { bytes, element })
    }

    /// The type of the elements.
    pub fn element_type(&self) -> LogicalType {
        self.element
    }

    /// Its elements in row-major order. XX001 if a damaged file gave them.
    pub fn values(&self) -> Result<Vec<Value>> {
        let array = ArrayRef::new(&self.bytes, self.element)?;
        array
            .elements()
            .map(|raw| Ok(Value::of_raw(&raw?, self.element)))
            .collect()
    }

    /// Its dimensions, outermost first: the number of elements, and the subscript of the first one. None for an empty
    /// array.
    pub fn dimensions(&self) -> Result<Vec<Dimension>> {
        Ok(ArrayRef::new(&self.bytes, self.element)?.dimensions().collect())
    }

    pub(super) fn of_raw(bytes: Vec<u8>, element: LogicalType) -> Array {
        Array { bytes, element }
    }

    /// As cells hold it. 54000 for more elements than an array has, 22021 for a text that holds character 0.
    pub(super) fn checked(&self) -> Result<&[u8]> {
        if self.bytes.is_empty() {
            let message = format!("array size exceeds the maximum allowed ({})", array::MAX_ELEMENTS);
            return Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        }
        if self.element.is_text() {
            let mut elements = ArrayRef::new(&self.bytes, self.element)?.elements();
            elements.try_for_each(|element| parameters::refuse_zero(&element?))?;
        }
        Ok(&self.bytes)
    }

    pub(super) fn ty(&self) -> LogicalType {
        self.element.array().unwrap_or(LogicalType::TEXT_ARRAY)
    }
}

/// The type that all values fit: of numbers the widest, of NULLs and texts text. 42804 if there is none.
fn common_type(values: &[Value]) -> Result<LogicalType> {
    let mut types = values.iter().filter_map(Value::ty);
    let Some(first) = types.next() else {
        return Ok(LogicalType::Text);
    };
    types.try_fold(first, |common, ty| match (common, ty) {
        (common, ty) if common == ty => Ok(common),
        (common, ty) if common.is_numeric() && ty.is_numeric() => Ok(wider(common, ty)),
        (common, ty) => {
            let message = format!(
                "an array cannot have elements of types {} and {}",
                common.name(),
                ty.name()
            );
            Err(Error::new(SqlState::DATATYPE_MISMATCH, message))
        }
    })
}

/// The type of numbers that holds those of two others, with all digits but where one is a float.
fn wider(a: LogicalType, b: LogicalType) -> LogicalType {
    let scale = |ty| match ty {
        LogicalType::Decimal { scale, .. } => Some(scale),
        _ => None,
    };
    match (a.is_float() || b.is_float(), scale(a).max(scale(b))) {
        (true, _) => LogicalType::Double,
        (false, Some(scale)) => LogicalType::widest_exact(scale),
        (false, None) if [a, b].contains(&LogicalType::BigInt) => LogicalType::BigInt,
        (false, None) => LogicalType::Integer,
    }
}

/// The array of a Rust vector.
pub(super) fn of_elements<T: ArrayElement>(elements: Vec<T>) -> Array {
    let element = T::element_type();
    let raw = elements.into_iter().map(|value| value.into().to_raw());
    let bytes = raw
        .collect::<Result<Vec<_>>>()
        .and_then(|raw| array::encode_list(&raw, element));
    Array {
        bytes: bytes.unwrap_or_default(),
        element,
    }
}

macro_rules! elements {
    ($($rust:ty: $ty:expr;)*) => {$(
        impl ArrayElement for $rust {
            fn element_type() -> LogicalType {
                $ty
            }
        }
    )*};
}

elements! {
    bool: LogicalType::Boolean;
    i16: LogicalType::SmallInt;
    i32: LogicalType::Integer;
    i64: LogicalType::BigInt;
    f32: LogicalType::Real;
    f64: LogicalType::Double;
    &str: LogicalType::Text;
    String: LogicalType::Text;
    Vec<u8>: LogicalType::Bytea;
    Date: LogicalType::Date;
    Time: LogicalType::TIME;
    Timestamp: LogicalType::TIMESTAMP;
    TimestampTz: LogicalType::TIMESTAMPTZ;
    Interval: LogicalType::Interval;
    Uuid: LogicalType::Uuid;
}

impl<T: ArrayElement> ArrayElement for Option<T> {
    fn element_type() -> LogicalType {
        T::element_type()
    }
}
