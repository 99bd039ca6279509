//! THE table of casts: which types become which, when, how, and what may go wrong. Typing, folding of constants, generated
//! code, and the optimizer's rules (what can fail, what a cast makes of bounds, which comparison says the same without
//! the cast) ask it, and [`cast`](super::cast) does what it says.
//!
//! As in PostgreSQL, a value of any type becomes a string when it is assigned to one, by the text that shows it, and a
//! string becomes a value of any type where that is asked for: a new type needs no rows for that.

use crate::LogicalType;
use crate::date::{INFINITE_DAY, MICROS_PER_DAY, MINUS_INFINITE_DAY, infinite_day_of_micros};
use crate::decimal::{self, POWERS_OF_TEN};
use crate::sql_type::{Category, KINDS, Kind};
use std::sync::LazyLock;

/// Why a value is converted, which decides what conversions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// Without being asked: as an operand or argument.
    Implicit,
    /// Into a column.
    Assignment,
    /// By CAST or `::`.
    Explicit,
    /// Never by what a statement says: plans alone have such casts.
    Internal,
}

/// How a value becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMethod {
    /// It stays as it is.
    Keep,
    /// An exact number at another scale, rounded half away from zero.
    Rescale,
    /// An exact number as a numeric of its own digits after the point.
    ExactToNumeric,
    /// A numeric as another exact number, rounded half away from zero to its digits after the point.
    NumericToExact,
    /// An exact number as the nearest double.
    ExactToDouble,
    /// An exact number as the nearest real.
    ExactToReal,
    /// A double as the nearest real.
    DoubleToReal,
    /// A real as a decimal, by its 6 most significant digits.
    RealToDecimal,
    /// A double as an integer, rounded half to even.
    DoubleToInteger,
    /// A double as a decimal, by its 15 most significant digits.
    DoubleToDecimal,
    /// A string as another string type: cut to its length, or refused.
    Fit,
    /// The text that shows the value, as a string type.
    Write,
    /// The value that a text shows.
    Read,
    /// A date as the timestamp of its midnight.
    DaysToMicros,
    /// A timestamp's day.
    MicrosToDays,
    /// A timestamp's time of day.
    MicrosToTime,
    /// The instant at which the zone's clock shows a timestamp, or the midnight of a date.
    LocalToInstant,
    /// What the zone's clock shows at an instant, as a timestamp, a date or a time.
    InstantToLocal,
    /// A time as the interval since midnight.
    TimeToInterval,
    /// An interval's time without whole days, of which a negative one is counted back from midnight.
    IntervalToTime,
    /// 1 and 0.
    BooleanToInteger,
    /// True for all but 0.
    IntegerToBoolean,
    /// The number of a date's day since 1970-01-01; an infinite date has none (22008).
    DayNumber,
    /// A time or timestamp rounded to the digits of a second that its type has.
    Round,
    /// Each element of an array, by the cast of its type.
    Elements,
    /// The number or boolean that a jsonb is; others are refused (22023).
    OfJson,
    /// The oid of a value that shows its name.
    OidOf,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastFailure {
    /// Nothing.
    Never,
    /// The result may be beyond its type, unless what is known of the value proves that it fits.
    Beyond,
    /// The text may be too long, unless the string type has no length.
    Long,
    /// Any value may be refused.
    Any,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    /// What it is made of.
    pub from: Kind,
    /// What it becomes.
    pub to: Kind,
    /// The least context in which it is done.
    pub context: CastContext,
    /// How.
    pub method: CastMethod,
    /// What can go wrong.
    pub failure: CastFailure,
    /// Whether greater values never become smaller ones.
    pub is_monotone: bool,
}

macro_rules! casts {
    ($($from:ident to $to:ident: $context:ident, $method:ident, $failure:ident, $monotone:expr;)*) => {
        &[$(Cast {
            from: Kind::$from,
            to: Kind::$to,
            context: CastContext::$context,
            method: CastMethod::$method,
            failure: CastFailure::$failure,
            is_monotone: $monotone,
        }),*]
    };
}

/// Casts between types that are no strings, and between strings; those between both are [`between_text_and`].
static CASTS: &[Cast] = casts! {
    // from to: context, method, failure, monotone
    SmallInt to Integer: Implicit, Rescale, Beyond, true;
    SmallInt to BigInt: Implicit, Rescale, Beyond, true;
    SmallInt to Numeric: Implicit, Rescale, Beyond, true;
    SmallInt to Real: Implicit, ExactToReal, Never, true;
    SmallInt to Double: Implicit, ExactToDouble, Never, true;
    Integer to SmallInt: Assignment, Rescale, Beyond, true;
    Integer to BigInt: Implicit, Rescale, Beyond, true;
    Integer to Numeric: Implicit, Rescale, Beyond, true;
    Integer to Real: Implicit, ExactToReal, Never, true;
    Integer to Double: Implicit, ExactToDouble, Never, true;
    Integer to Boolean: Explicit, IntegerToBoolean, Never, false;
    BigInt to SmallInt: Assignment, Rescale, Beyond, true;
    BigInt to Integer: Assignment, Rescale, Beyond, true;
    BigInt to Numeric: Implicit, Rescale, Beyond, true;
    BigInt to Real: Implicit, ExactToReal, Never, true;
    BigInt to Double: Implicit, ExactToDouble, Never, true;
    Numeric to SmallInt: Assignment, Rescale, Beyond, true;
    Numeric to Integer: Assignment, Rescale, Beyond, true;
    Numeric to BigInt: Assignment, Rescale, Beyond, true;
    Numeric to Numeric: Implicit, Rescale, Beyond, true;
    Numeric to Real: Implicit, ExactToReal, Never, true;
    Numeric to Double: Implicit, ExactToDouble, Never, true;
    Real to SmallInt: Assignment, DoubleToInteger, Any, true;
    Real to Integer: Assignment, DoubleToInteger, Any, true;
    Real to BigInt: Assignment, DoubleToInteger, Any, true;
    Real to Numeric: Assignment, RealToDecimal, Any, true;
    Real to Double: Implicit, Keep, Never, true;
    Double to SmallInt: Assignment, DoubleToInteger, Any, true;
    Double to Integer: Assignment, DoubleToInteger, Any, true;
    Double to BigInt: Assignment, DoubleToInteger, Any, true;
    Double to Numeric: Assignment, DoubleToDecimal, Any, true;
    Double to Real: Assignment, DoubleToReal, Any, true;
    Boolean to Integer: Explicit, BooleanToInteger, Never, true;
    Date to Timestamp: Implicit, DaysToMicros, Beyond, true;
    Date to Integer: Internal, DayNumber, Beyond, true;
    Timestamp to Date: Assignment, MicrosToDays, Never, true;
    Timestamp to Time: Assignment, MicrosToTime, Any, false;
    Date to TimestampTz: Implicit, LocalToInstant, Any, true;
    Timestamp to TimestampTz: Implicit, LocalToInstant, Any, false;
    TimestampTz to Timestamp: Assignment, InstantToLocal, Any, false;
    TimestampTz to Date: Assignment, InstantToLocal, Any, false;
    TimestampTz to Time: Assignment, InstantToLocal, Any, false;
    Time to Interval: Implicit, TimeToInterval, Never, true;
    Interval to Time: Assignment, IntervalToTime, Never, false;
    Time to Time: Implicit, Round, Beyond, true;
    Timestamp to Timestamp: Implicit, Round, Beyond, true;
    TimestampTz to TimestampTz: Implicit, Round, Beyond, true;
    Json to Jsonb: Assignment, Read, Any, false;
    Jsonb to Json: Assignment, Read, Never, false;
    Jsonb to Boolean: Explicit, OfJson, Any, false;
    Jsonb to SmallInt: Explicit, OfJson, Any, false;
    Jsonb to Integer: Explicit, OfJson, Any, false;
    Jsonb to BigInt: Explicit, OfJson, Any, false;
    Jsonb to Numeric: Explicit, OfJson, Any, false;
    Jsonb to Real: Explicit, OfJson, Any, false;
    Jsonb to Double: Explicit, OfJson, Any, false;
    Char to Char: Implicit, Fit, Long, false;
    Char to Varchar: Implicit, Fit, Long, false;
    Char to Text: Implicit, Fit, Long, false;
    Varchar to Char: Implicit, Fit, Long, false;
    Varchar to Varchar: Implicit, Fit, Long, false;
    Varchar to Text: Implicit, Fit, Long, false;
    Text to Char: Implicit, Fit, Long, false;
    Text to Varchar: Implicit, Fit, Long, false;
    Name to Char: Assignment, Fit, Long, false;
    Name to Varchar: Assignment, Fit, Long, false;
    Name to Text: Implicit, Fit, Never, true;
    Char to Name: Implicit, Fit, Never, false;
    Varchar to Name: Implicit, Fit, Never, false;
    Text to Name: Implicit, Fit, Never, false;
    InternalChar to Char: Assignment, Fit, Long, false;
    InternalChar to Varchar: Assignment, Fit, Long, false;
    InternalChar to Text: Implicit, Fit, Never, true;
    Char to InternalChar: Assignment, Fit, Never, false;
    Varchar to InternalChar: Assignment, Fit, Never, false;
    Text to InternalChar: Assignment, Fit, Never, false;
    Name to InternalChar: Explicit, Fit, Never, false;
    InternalChar to Name: Assignment, Fit, Never, true;
    SmallInt to Oid: Implicit, Rescale, Beyond, true;
    Integer to Oid: Implicit, Rescale, Beyond, true;
    BigInt to Oid: Implicit, Rescale, Beyond, true;
    Oid to Integer: Assignment, Rescale, Beyond, true;
    Oid to BigInt: Assignment, Rescale, Beyond, true;
    Regclass to Oid: Implicit, OidOf, Never, false;
    Regclass to Integer: Assignment, OidOf, Any, false;
    Regclass to BigInt: Assignment, OidOf, Never, false;
    Regtype to Oid: Implicit, OidOf, Never, false;
    Regtype to Integer: Assignment, OidOf, Any, false;
    Regtype to BigInt: Assignment, OidOf, Never, false;
    Regproc to Oid: Implicit, OidOf, Never, false;
    Regproc to Integer: Assignment, OidOf, Any, false;
    Regproc to BigInt: Assignment, OidOf, Never, false;
    Regnamespace to Oid: Implicit, OidOf, Never, false;
    Regnamespace to Integer: Assignment, OidOf, Any, false;
    Regnamespace to BigInt: Assignment, OidOf, Never, false;
    Regprocedure to Oid: Implicit, OidOf, Never, false;
    Regprocedure to Integer: Assignment, OidOf, Any, false;
    Regprocedure to BigInt: Assignment, OidOf, Never, false;
    Regoperator to Oid: Implicit, OidOf, Never, false;
    Regoperator to Integer: Assignment, OidOf, Any, false;
    Regoperator to BigInt: Assignment, OidOf, Never, false;
};

/// `BY_PAIR[from][to]`: all casts, those with texts and of a kind to itself included.
static BY_PAIR: LazyLock<[[Option<Cast>; KINDS]; KINDS]> = LazyLock::new(|| {
    let mut table = [[None; KINDS]; KINDS];
    for from in Kind::ALL {
        for to in Kind::ALL {
            let listed = CASTS.iter().find(|c| c.from == from && c.to == to).copied();
            table[from as usize][to as usize] = listed.or_else(|| between_text_and(from, to));
        }
    }
    table
});

/// The casts that every type has: to strings and back, and to itself. "char" is not a string here: other types neither
/// become one nor are read from one.
fn between_text_and(from: Kind, to: Kind) -> Option<Cast> {
    let is_string = |kind: Kind| kind.category() == Category::String && kind != Kind::InternalChar;
    let (context, method, failure) = match (is_string(from), is_string(to)) {
        _ if from == to => (CastContext::Implicit, CastMethod::Keep, CastFailure::Never),
        (false, true) => (CastContext::Assignment, CastMethod::Write, CastFailure::Long),
        (true, false) => (CastContext::Explicit, CastMethod::Read, CastFailure::Any),
        _ => return None,
    };
    Some(Cast {
        from,
        to,
        context,
        method,
        failure,
        is_monotone: from == to,
    })
}

/// The cast from one kind to another, if there is one.
#[inline]
pub fn find(from: Kind, to: Kind) -> Option<Cast> {
    BY_PAIR[from as usize][to as usize]
}

/// The cast from one type to another, if there is one. Arrays become others where their elements do, as implicitly; an enumeration
/// becomes no other.
#[inline]
pub fn between(from: LogicalType, to: LogicalType) -> Option<Cast> {
    if let (Some(of), Some(to_be)) = (from.element(), to.element()) {
        let of_elements = between(of, to_be)?;
        return Some(Cast {
            from: from.kind(),
            to: to.kind(),
            method: CastMethod::Elements,
            failure: match of_elements.failure {
                CastFailure::Never => CastFailure::Never,
                CastFailure::Beyond | CastFailure::Long | CastFailure::Any => CastFailure::Any,
            },
            is_monotone: false,
            ..of_elements
        });
    }
    if from.enumeration().is_some() && to.enumeration().is_some() && from != to {
        return None;
    }
    let cast = find(from.kind(), to.kind())?;
    let cast = if from.is_unscaled() || to.is_unscaled() {
        of_numeric(cast, from, to)
    } else {
        cast
    };
    // Digits are only lost, and a zone decides nothing: whoever has no more of them stays as it is.
    match cast.method {
        CastMethod::Round if from.second_digits() <= to.second_digits() => Some(Cast {
            method: CastMethod::Keep,
            failure: CastFailure::Never,
            ..cast
        }),
        _ => Some(cast),
    }
}

/// The cast from or to a numeric without precision, of which the table knows only the kind. Nothing is known of the
/// bounds of its values.
fn of_numeric(cast: Cast, from: LogicalType, to: LogicalType) -> Cast {
    let (method, failure) = match cast.method {
        _ if from == to => (CastMethod::Keep, CastFailure::Never),
        CastMethod::Rescale if to.is_unscaled() => (CastMethod::ExactToNumeric, CastFailure::Never),
        CastMethod::Rescale => (CastMethod::NumericToExact, CastFailure::Any),
        method => (method, cast.failure),
    };
    Cast {
        method,
        failure,
        is_monotone: from == to,
        ..cast
    }
}

/// What a value becomes that is held as an integer, without a look at its type's range; an infinite date is a midnight like any other.
/// `None` if 128 bits do not hold the result, or if it is not an integer.
pub fn exact(v: i128, from: LogicalType, to: LogicalType) -> Option<i128> {
    let day = i128::from(MICROS_PER_DAY);
    match between(from, to)?.method {
        CastMethod::Rescale => decimal::rescale(v, from.scale()?, to.scale()?),
        CastMethod::DaysToMicros => v.checked_mul(day),
        CastMethod::MicrosToDays => {
            let infinite = i64::try_from(v).ok().and_then(infinite_day_of_micros);
            Some(infinite.map_or_else(|| v.div_euclid(day), i128::from))
        }
        // Infinity is beyond all numbers of days.
        CastMethod::DayNumber if v == i128::from(INFINITE_DAY) => Some(v + 1),
        CastMethod::DayNumber if v == i128::from(MINUS_INFINITE_DAY) => Some(v - 1),
        CastMethod::Keep | CastMethod::DayNumber | CastMethod::BooleanToInteger => Some(v),
        CastMethod::IntegerToBoolean
        | CastMethod::ExactToReal
        | CastMethod::ExactToDouble
        | CastMethod::ExactToNumeric
        | CastMethod::NumericToExact
        | CastMethod::DoubleToReal
        | CastMethod::RealToDecimal
        | CastMethod::MicrosToTime
        | CastMethod::LocalToInstant
        | CastMethod::InstantToLocal
        | CastMethod::TimeToInterval
        | CastMethod::IntervalToTime
        | CastMethod::DoubleToInteger
        | CastMethod::DoubleToDecimal
        | CastMethod::Fit
        | CastMethod::Write
        | CastMethod::Elements
        | CastMethod::Round
        | CastMethod::OfJson
        | CastMethod::OidOf
        | CastMethod::Read => None,
    }
}

/// How many times itself every value becomes: no two become one. `None` for casts of which that is not so.
pub fn factor(from: LogicalType, to: LogicalType) -> Option<i128> {
    match between(from, to)?.method {
        CastMethod::Rescale => {
            let more = to.scale()?.checked_sub(from.scale()?)?;
            Some(POWERS_OF_TEN[usize::from(more)])
        }
        CastMethod::DaysToMicros => Some(MICROS_PER_DAY.into()),
        CastMethod::Keep | CastMethod::DayNumber => Some(1),
        CastMethod::MicrosToDays
        | CastMethod::BooleanToInteger
        | CastMethod::IntegerToBoolean
        | CastMethod::ExactToReal
        | CastMethod::ExactToDouble
        | CastMethod::ExactToNumeric
        | CastMethod::NumericToExact
        | CastMethod::DoubleToReal
        | CastMethod::RealToDecimal
        | CastMethod::MicrosToTime
        | CastMethod::LocalToInstant
        | CastMethod::InstantToLocal
        | CastMethod::TimeToInterval
        | CastMethod::IntervalToTime
        | CastMethod::DoubleToInteger
        | CastMethod::DoubleToDecimal
        | CastMethod::Fit
        | CastMethod::Write
        | CastMethod::Elements
        | CastMethod::Round
        | CastMethod::OfJson
        | CastMethod::OidOf
        | CastMethod::Read => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_one_row() {
        for (i, cast) in CASTS.iter().enumerate() {
            let same = |other: &Cast| (other.from, other.to) == (cast.from, cast.to);
            assert!(!CASTS[..i].iter().any(same), "{cast:?}");
        }
    }

    #[test]
    fn every_type_becomes_a_text_and_is_read_from_one() {
        for kind in Kind::ALL {
            assert!(find(kind, Kind::Text).is_some_and(|c| c.context <= CastContext::Assignment));
            assert!(find(Kind::Text, kind).is_some_and(|c| c.context <= CastContext::Explicit));
            assert!(find(kind, kind).is_some_and(|c| c.context == CastContext::Implicit));
        }
    }

    #[test]
    fn numbers_become_wider_ones_without_being_asked() {
        for from in Kind::ALL {
            for to in Kind::ALL {
                if let (Some(a), Some(b)) = (from.number_rank(), to.number_rank())
                    && a != b
                {
                    let context = find(from, to).map(|c| c.context);
                    let wanted = if a < b {
                        CastContext::Implicit
                    } else {
                        CastContext::Assignment
                    };
                    assert_eq!(context, Some(wanted), "{from:?} {to:?}");
                }
            }
        }
    }
}
