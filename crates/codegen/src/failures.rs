//! The points at which generated code can fail, and the errors behind them.

use frazil_types::{Error, LogicalType, Span, SqlState, array, value_ops};
use std::collections::HashMap;

/// What is known of an expression that can fail: the error is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FailurePoint {
    /// The condition.
    pub state: SqlState,
    /// Type of the result that did not fit.
    pub ty: Option<LogicalType>,
}

impl FailurePoint {
    /// A number or date beyond its type.
    pub fn range(ty: LogicalType) -> FailurePoint {
        let state = ty.info().overflow_state;
        FailurePoint { state, ty: Some(ty) }
    }

    /// An infinite date, of which no days are counted as a number of a type.
    pub fn infinite_day(number: LogicalType) -> FailurePoint {
        FailurePoint {
            state: SqlState::DATETIME_OVERFLOW,
            ty: Some(number),
        }
    }

    /// A date whose midnight is not a timestamp.
    pub const NO_MIDNIGHT: FailurePoint = FailurePoint {
        state: SqlState::DATETIME_OVERFLOW,
        ty: None,
    };
    /// Division by zero.
    pub const DIVISION: FailurePoint = FailurePoint {
        state: SqlState::DIVISION_BY_ZERO,
        ty: None,
    };
    /// A double too near to 0.
    pub const UNDERFLOW: FailurePoint = FailurePoint {
        state: SqlState::NUMERIC_OUT_OF_RANGE,
        ty: None,
    };
    /// A negative length in substring.
    pub const SUBSTRING: FailurePoint = FailurePoint {
        state: SqlState::SUBSTRING_ERROR,
        ty: None,
    };
    /// A scalar subquery with several rows.
    pub const SEVERAL_ROWS: FailurePoint = FailurePoint {
        state: SqlState::CARDINALITY_VIOLATION,
        ty: None,
    };
    /// A value outside the bounds that its column has.
    pub const BOUNDS: FailurePoint = FailurePoint {
        state: SqlState::DATA_CORRUPTED,
        ty: None,
    };
    /// Bytes that are not those of an array of such elements.
    pub fn damaged_array(element: LogicalType) -> FailurePoint {
        FailurePoint {
            state: SqlState::DATA_CORRUPTED,
            ty: Some(element),
        }
    }

    /// A runtime function that notes its own error.
    pub const CALL: FailurePoint = FailurePoint {
        state: SqlState::INTERNAL_ERROR,
        ty: None,
    };

    /// The error.
    pub fn error(self) -> Error {
        let message = match (self.state, self.ty) {
            (SqlState::DIVISION_BY_ZERO, _) => "division by zero".to_string(),
            (SqlState::SUBSTRING_ERROR, _) => "negative substring length not allowed".to_string(),
            (SqlState::CARDINALITY_VIOLATION, _) => {
                "more than one row returned by a subquery used as an expression".to_string()
            }
            (SqlState::DATA_CORRUPTED, Some(element)) => return array::damaged(element),
            (SqlState::DATA_CORRUPTED, None) => {
                "a value is outside the bounds of its column: a block is damaged".to_string()
            }
            (SqlState::INTERNAL_ERROR, _) => {
                return Error::internal("a runtime function failed without a reason");
            }
            (SqlState::DATETIME_OVERFLOW, Some(ty)) if ty.is_integer() => {
                return value_ops::infinite_difference();
            }
            (_, Some(ty)) => return ty.overflow(),
            (SqlState::DATETIME_OVERFLOW, None) => return value_ops::beyond_timestamps(),
            (_, None) => "value out of range: underflow".to_string(),
        };
        Error::new(self.state, message)
    }
}

/// The points at which a plan's code can fail, each with the place of its expression in the statement.
#[derive(Debug)]
pub(crate) struct Failures {
    points: Vec<(FailurePoint, Span)>,
    indexes: HashMap<(FailurePoint, Span), usize>,
}

impl Default for Failures {
    /// The point 0 is that of a failure that nobody noted.
    fn default() -> Failures {
        let unknown = (FailurePoint::CALL, Span::NONE);
        Failures {
            points: vec![unknown],
            indexes: HashMap::from([(unknown, 0)]),
        }
    }
}

impl Failures {
    /// The number of a point and place.
    pub fn index(&mut self, point: FailurePoint, span: Span) -> usize {
        *self.indexes.entry((point, span)).or_insert_with(|| {
            self.points.push((point, span));
            self.points.len() - 1
        })
    }

    /// The error of a point. `noted`: what a runtime function knew of it.
    pub fn error(&self, point: u64, noted: Option<Error>) -> Error {
        let found = self.points.get(point as usize).copied();
        let (point, span) = found.unwrap_or((FailurePoint::CALL, Span::NONE));
        noted.unwrap_or_else(|| point.error()).at_span(span)
    }
}
