//! Kinds of types, as PostgreSQL tells them apart, and which become which without being asked.

use crate::CastContext;
use frazil_types::LogicalType;

/// A type without its length or digits: what operators and functions are declared on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// boolean.
    Boolean,
    /// smallint.
    SmallInt,
    /// integer.
    Integer,
    /// bigint.
    BigInt,
    /// numeric of any precision.
    Numeric,
    /// double precision.
    Double,
    /// date.
    Date,
    /// timestamp.
    Timestamp,
    /// interval.
    Interval,
    /// char(n).
    Char,
    /// varchar(n).
    Varchar,
    /// text.
    Text,
}

/// Families of types. A literal is taken for a string where it could be several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// boolean.
    Boolean,
    /// Numbers.
    Numeric,
    /// Dates and timestamps.
    DateTime,
    /// Intervals.
    Timespan,
    /// Strings.
    String,
}

impl Kind {
    /// The kind of a type.
    pub fn of(ty: LogicalType) -> Kind {
        match ty {
            LogicalType::Boolean => Kind::Boolean,
            LogicalType::SmallInt => Kind::SmallInt,
            LogicalType::Integer => Kind::Integer,
            LogicalType::BigInt => Kind::BigInt,
            LogicalType::Double => Kind::Double,
            LogicalType::Decimal { .. } => Kind::Numeric,
            LogicalType::Date => Kind::Date,
            LogicalType::Timestamp => Kind::Timestamp,
            LogicalType::Interval => Kind::Interval,
            LogicalType::Char(_) => Kind::Char,
            LogicalType::Varchar(_) => Kind::Varchar,
            LogicalType::Text => Kind::Text,
        }
    }

    /// Its family.
    pub fn category(self) -> Category {
        match self {
            Kind::Boolean => Category::Boolean,
            Kind::SmallInt | Kind::Integer | Kind::BigInt | Kind::Numeric | Kind::Double => Category::Numeric,
            Kind::Date | Kind::Timestamp => Category::DateTime,
            Kind::Interval => Category::Timespan,
            Kind::Char | Kind::Varchar | Kind::Text => Category::String,
        }
    }

    /// Whether it is the preferred type of its family.
    pub fn is_preferred(self) -> bool {
        matches!(
            self,
            Kind::Boolean | Kind::Double | Kind::Timestamp | Kind::Interval | Kind::Text
        )
    }

    /// Place among the numbers, narrow first; `None` for others.
    pub fn number_rank(self) -> Option<u8> {
        match self {
            Kind::SmallInt => Some(0),
            Kind::Integer => Some(1),
            Kind::BigInt => Some(2),
            Kind::Numeric => Some(3),
            Kind::Double => Some(4),
            _ => None,
        }
    }

    /// Its name in messages, PostgreSQL's.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Boolean => "boolean",
            Kind::SmallInt => "smallint",
            Kind::Integer => "integer",
            Kind::BigInt => "bigint",
            Kind::Numeric => "numeric",
            Kind::Double => "double precision",
            Kind::Date => "date",
            Kind::Timestamp => "timestamp without time zone",
            Kind::Interval => "interval",
            Kind::Char => "character",
            Kind::Varchar => "character varying",
            Kind::Text => "text",
        }
    }
}

/// The name of a type in messages; `unknown` for what has none yet.
pub fn name_of(ty: Option<LogicalType>) -> &'static str {
    ty.map_or("unknown", |ty| Kind::of(ty).name())
}

/// The least context in which a value of one kind becomes another; `None` if none does.
pub fn cast_context(from: Kind, to: Kind) -> Option<CastContext> {
    use CastContext::*;
    if from == to {
        return Some(Implicit);
    }
    if let (Some(a), Some(b)) = (from.number_rank(), to.number_rank()) {
        return Some(if a < b { Implicit } else { Assignment });
    }
    let strings = (
        from.category() == Category::String,
        to.category() == Category::String,
    );
    match (from, to) {
        _ if strings == (true, true) => Some(Implicit),
        _ if strings == (false, true) => Some(Assignment),
        _ if strings == (true, false) => Some(Explicit),
        (Kind::Date, Kind::Timestamp) => Some(Implicit),
        (Kind::Timestamp, Kind::Date) => Some(Assignment),
        (Kind::Boolean, Kind::Integer) | (Kind::Integer, Kind::Boolean) => Some(Explicit),
        _ => None,
    }
}

/// Whether a value becomes `to` without being asked.
pub fn is_implicit(from: Kind, to: Kind) -> bool {
    cast_context(from, to) == Some(CastContext::Implicit)
}
