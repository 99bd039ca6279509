//! The values that a call gives for `$1`, `$2` and so on, each with its own type.
//!
//! A parameter has the type of the place where it stands. Where nothing types it, it has its value's own type, as with
//! psycopg 3: NULL and texts have none, so that another operand may type them.

use frazil_types::{LogicalType, Value, Zone};

/// Values in the order of the parameters.
#[derive(Clone, Copy, Debug)]
pub struct GivenValues<'a> {
    /// The values.
    pub values: &'a [Value],
    /// `types[i]` is the own type of `values[i]`, `None` for NULL and texts. Empty if the values tell their own types
    /// ([`LogicalType::of_value`]).
    types: &'a [Option<LogicalType>],
}

impl<'a> GivenValues<'a> {
    /// No values.
    pub const NONE: GivenValues<'static> = GivenValues {
        values: &[],
        types: &[],
    };

    /// Values that tell their own types.
    pub fn raw(values: &'a [Value]) -> GivenValues<'a> {
        GivenValues { values, types: &[] }
    }

    /// Values of these own types, as many as there are values.
    pub fn typed(values: &'a [Value], types: &'a [Option<LogicalType>]) -> GivenValues<'a> {
        debug_assert_eq!(values.len(), types.len());
        GivenValues { values, types }
    }

    /// The own type of the value at a position. `None` for NULL, for texts, and beyond the last value.
    pub fn own_type(&self, at: usize) -> Option<LogicalType> {
        match (self.types.get(at), self.values.get(at)) {
            (Some(ty), _) => *ty,
            (None, None | Some(Value::Null | Value::Text(_))) => None,
            (None, Some(value)) => Some(LogicalType::of_value(value)),
        }
    }

    /// The own types of all values.
    pub fn own_types(&self) -> impl ExactSizeIterator<Item = Option<LogicalType>> {
        (0..self.values.len()).map(|at| self.own_type(at))
    }

    /// True if the values bring types that [`LogicalType::of_value`] does not tell.
    pub fn is_typed(&self) -> bool {
        !self.types.is_empty()
    }

    /// The type that the value at a position is converted from, text for NULL and texts. The clock of `zone` shows
    /// instants.
    pub fn converted_from(&self, at: usize, zone: Zone) -> LogicalType {
        let own = self.own_type(at).unwrap_or(LogicalType::UNTYPED);
        own.in_zone(zone)
    }
}
