//! What each SQL type is: a file a type, with one static [`TypeInfo`]. Whoever has to know something of a type asks
//! its info. A [`LogicalType`] is the small key that plans, columns and files carry: a [`Kind`] with its length or digits.
//!
//! A new type is a file here with a line in `kinds!`, a variant of [`LogicalType`], and its rows in the table of casts
//! (`value_ops/casts.rs`).

use crate::logical_type::MICRO_DIGITS;
use crate::{Error, LogicalType, NativeType, Result, SqlState, Value, value_ops};
use std::fmt;

/// A type's facts.
#[derive(Debug)]
pub struct TypeInfo {
    /// The type without its length or digits.
    pub kind: Kind,
    /// PostgreSQL's number of the type (pg_type.oid).
    pub oid: u32,
    /// PostgreSQL's short name (pg_type.typname), which is a function that casts, too.
    pub typname: &'static str,
    /// Its name in messages, PostgreSQL's.
    pub name: &'static str,
    /// PostgreSQL's number of arrays of the type; 0 of arrays, of which there are none, and of what statements define.
    pub array_oid: u32,
    /// The name of arrays of the type in messages.
    pub array_name: &'static str,
    /// Names that SQL has for it, in lower case, without the length or digits that may stand behind the first word.
    pub sql_names: &'static [&'static str],
    /// Its family.
    pub category: Category,
    /// Whether it is the preferred type of its family.
    pub is_preferred: bool,
    /// Whether columns of tables can have it; otherwise it is an expression's type.
    pub is_stored: bool,
    /// Whether min and max are declared for it. Varchar has those of text; intervals are compared by their length.
    pub has_extremes: bool,
    /// The type of sums of its values, which has room for many; `None` for what is not summed.
    pub sum: fn(LogicalType) -> Option<LogicalType>,
    /// How values are held in storage.
    pub native: NativeOf,
    /// What of time its integers count.
    pub counts: Counts,
    /// How values are documents of JSON, if they are.
    pub document: Option<DocumentForm>,
    /// What of a value decides its order, equality, hash and key.
    pub order: Order,
    /// How constants look in a plan's text.
    pub constant: ConstantForm,
    /// Writes the type as plans, DESCRIBE and the manifest show it.
    pub show: fn(LogicalType, &mut fmt::Formatter<'_>) -> fmt::Result,
    /// The type with the length or digits that [`TypeInfo::show`] writes in parentheses; `None` if they are not its.
    pub of_modifiers: fn(&[u32]) -> Option<LogicalType>,
    /// Least and greatest value of those that are held as integers; `None` for others.
    pub range: fn(LogicalType) -> Option<(i128, i128)>,
    /// The state of [`TypeInfo::overflow`].
    pub overflow_state: SqlState,
    /// The error of a value that is beyond the type.
    pub overflow: fn(LogicalType) -> Error,
    /// Reads a value from text. Errors 22P02, 22007 for what is not of the type, 22003, 22008, 22001 for what does not fit.
    pub read: fn(&str, LogicalType) -> Result<Value>,
    /// Writes a value that is not NULL, as results show it.
    pub write: fn(&mut dyn fmt::Write, &Value, LogicalType) -> fmt::Result,
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
    /// Arrays.
    Array,
    /// What has no family: each such type is one by itself.
    UserDefined,
}

/// How values are held in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeOf {
    /// All values alike.
    Always(NativeType),
    /// Decimals: in 64 bits up to [`DECIMAL_I64_DIGITS`](crate::logical_type::DECIMAL_I64_DIGITS) digits, else in 128.
    Digits,
    /// Padded text: one character as its code point, else a string.
    Length,
}

/// What of time the integers count that values are held as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Nothing: the type is none of time.
    Nothing,
    /// Days since 1970-01-01.
    Days,
    /// Microseconds since midnight.
    DayMicros,
    /// Microseconds since 1970-01-01, on a clock or in UTC.
    Micros,
}

/// How documents of JSON are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentForm {
    /// As they were written.
    Text,
    /// In the form of [`crate::json`].
    Binary,
}

/// What of a value decides its order, equality, hash and key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The native value: integers as numbers, strings by their bytes, doubles with NaN as the largest and −0 equal to 0.
    Native,
    /// Bytes of a string without the blanks at its end.
    WithoutBlanks,
    /// The length of an interval ([`interval_span`](crate::value_ops::interval_span)).
    Span,
    /// A key made of the value's bytes ([`order_key`](crate::value_ops::order_key)): neither their order nor their equality is that of
    /// the bytes themselves.
    Key,
    /// None: values are neither compared nor grouped nor sorted (42883).
    Absent,
}

/// How constants look in a plan's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantForm {
    /// As written: `1.50`.
    Bare,
    /// In quotes: `'abc'`.
    Quoted,
    /// In quotes behind the type's name: `date '1998-09-02'`.
    Named,
}

pub use array::ElementType;
pub use boolean::read_boolean;
pub use bytea::{escaped_bytes, hex_digits, write_hex};
pub use double::read_double;
pub use enumeration::{EnumLabel, EnumType};
pub(crate) use real::of_double as real_of_double;
pub use uuid::{of_bytes as uuid_of_bytes, to_bytes as uuid_to_bytes};

impl Category {
    /// The preferred type of the family; `None` of families that have none.
    pub fn preferred(self) -> Option<Kind> {
        let is_preferred = |kind: &&Kind| kind.category() == self && kind.is_preferred();
        Kind::ALL.iter().find(is_preferred).copied()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $module:ident),* $(,)?) => {
        $(mod $module;)*

        /// A type without its length or digits: what operators and functions are declared on. Numbers stand from the narrow
        /// to the wide ones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All of them, by number.
            pub const ALL: [Kind; KINDS] = [$(Kind::$kind),*];
        }

        /// Number of kinds.
        pub const KINDS: usize = [$(Kind::$kind),*].len();

        static INFOS: [&TypeInfo; KINDS] = [$(&$module::INFO),*];
    };
}

kinds! {
    /// boolean.
    Boolean => boolean,
    /// smallint.
    SmallInt => small_int,
    /// integer.
    Integer => integer,
    /// bigint.
    BigInt => big_int,
    /// numeric of any precision.
    Numeric => numeric,
    /// real.
    Real => real,
    /// double precision.
    Double => double,
    /// date.
    Date => date,
    /// time.
    Time => time,
    /// timestamp.
    Timestamp => timestamp,
    /// timestamp with time zone.
    TimestampTz => timestamp_tz,
    /// interval.
    Interval => interval,
    /// char(n).
    Char => char,
    /// varchar(n).
    Varchar => varchar,
    /// text.
    Text => text,
    /// uuid.
    Uuid => uuid,
    /// bytea.
    Bytea => bytea,
    /// json.
    Json => json,
    /// jsonb.
    Jsonb => jsonb,
    /// jsonpath.
    JsonPath => jsonpath,
    /// An array of any type.
    Array => array,
    /// An enumeration.
    Enum => enumeration,
}

impl Kind {
    /// The kind of a type.
    #[inline]
    pub fn of(ty: LogicalType) -> Kind {
        ty.kind()
    }

    /// Its facts.
    #[inline]
    pub fn info(self) -> &'static TypeInfo {
        INFOS[self as usize]
    }

    /// Its family.
    pub fn category(self) -> Category {
        self.info().category
    }

    /// Whether it is the preferred type of its family.
    pub fn is_preferred(self) -> bool {
        self.info().is_preferred
    }

    /// Smallint, integer or bigint.
    pub fn is_integer(self) -> bool {
        self.category() == Category::Numeric
            && matches!(self.info().native, NativeOf::Always(native) if native.is_integer())
    }

    /// An integer, a decimal: a number that is held as it is written.
    pub fn is_exact(self) -> bool {
        self.category() == Category::Numeric && !self.is_float()
    }

    /// Real or double: a number that is held as a double.
    pub fn is_float(self) -> bool {
        self.info().native == NativeOf::Always(NativeType::F64)
    }

    /// Whether blanks at the end of a value do not count.
    pub fn is_padded(self) -> bool {
        self.info().order == Order::WithoutBlanks
    }

    /// True for a string type that has no operators and aggregates of its own but those of its family's preferred type.
    pub fn borrows_operators(self) -> bool {
        self.category() == Category::String && !self.info().has_extremes
    }

    /// Place among the numbers, narrow first; `None` for others.
    pub fn number_rank(self) -> Option<u8> {
        (self.category() == Category::Numeric).then_some(self as u8)
    }

    /// Its name in messages, PostgreSQL's.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The type of this kind that has no length or digits; `None` for decimals.
    pub fn plain(self) -> Option<LogicalType> {
        (self.info().of_modifiers)(&[])
    }

    /// The kind that SQL calls so: a name in lower case, without a length or digits.
    pub fn named(name: &str) -> Option<Kind> {
        let is_named = |kind: &&Kind| kind.info().sql_names.contains(&name);
        Kind::ALL.iter().find(is_named).copied()
    }
}

/// Shows a type that has neither length nor digits.
fn show_plain(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(ty.info().sql_names[0])
}

/// The digits of a second that stand in parentheses; all without them.
fn second_digits(modifiers: &[u32]) -> Option<u8> {
    match modifiers {
        [] => Some(MICRO_DIGITS),
        [digits] => u8::try_from(*digits).ok().filter(|digits| *digits < MICRO_DIGITS),
        _ => None,
    }
}

/// Shows a type of times, with its digits of a second unless it has all.
fn show_second_digits(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    show_plain(ty, f)?;
    match ty.second_digits() {
        Some(digits) if digits < MICRO_DIGITS => write!(f, "({digits})"),
        _ => Ok(()),
    }
}

/// Microseconds rounded to the digits of their type. Error 22008 beyond it.
fn rounded(micros: i64, ty: LogicalType) -> Result<Value> {
    value_ops::round_micros(micros, ty).map(|micros| Value::Int(micros.into()))
}

/// Two numbers as a range.
const fn range(min: i128, max: i128) -> Option<(i128, i128)> {
    Some((min, max))
}

/// `integer out of range` and its like, of numbers.
fn number_overflow(ty: LogicalType) -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, format!("{ty} out of range"))
}

/// `date out of range` and its like.
fn datetime_overflow(ty: LogicalType) -> Error {
    Error::new(SqlState::DATETIME_OVERFLOW, format!("{ty} out of range"))
}

/// Writes a value that is held as an integer by `write`; values of other forms are none of the type.
fn write_integer(value: &Value, write: impl FnOnce(i128) -> fmt::Result) -> fmt::Result {
    let Value::Int(v) = value else {
        return Err(fmt::Error);
    };
    write(*v)
}

/// Writes a text.
fn write_text(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    f.write_str(value.as_text().ok_or(fmt::Error)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_type_has_names_and_a_number_of_its_own() {
        let (mut names, mut oids) = (HashSet::new(), HashSet::new());
        for kind in Kind::ALL {
            let info = kind.info();
            assert_eq!(info.kind, kind);
            assert!(oids.insert(info.oid), "{kind:?}");
            assert!(info.array_oid == 0 || oids.insert(info.array_oid), "{kind:?}");
            if let Some(ty) = kind.plain() {
                assert_eq!(ty.overflow().state(), info.overflow_state, "{ty}");
            }
            info.sql_names.iter().for_each(|name| {
                assert!(names.insert(*name), "{name}");
                assert_eq!(Kind::named(name), Some(kind));
            });
        }
        assert_eq!(Kind::named("integers"), None);
    }

    #[test]
    fn each_family_has_a_preferred_type() {
        for kind in Kind::ALL {
            let family = Kind::ALL.iter().filter(|k| k.category() == kind.category());
            let preferred = usize::from(!matches!(
                kind.category(),
                Category::UserDefined | Category::Array
            ));
            assert_eq!(family.filter(|k| k.is_preferred()).count(), preferred, "{kind:?}");
        }
    }

    #[test]
    fn types_read_what_they_show() {
        for kind in Kind::ALL {
            for modifiers in [&[][..], &[7], &[12, 2]] {
                let Some(ty) = (kind.info().of_modifiers)(modifiers) else {
                    continue;
                };
                assert_eq!(ty.kind(), kind);
                assert_eq!(LogicalType::parse(&ty.to_string()), Some(ty), "{ty}");
                assert_eq!(LogicalType::of_code(ty.code()).ok(), Some(ty), "{ty}");
                let Some(array) = ty.array() else { continue };
                assert_eq!(array.element(), Some(ty), "{array}");
                assert_eq!(LogicalType::parse(&array.to_string()), Some(array), "{array}");
                assert_eq!(LogicalType::of_code(array.code()).ok(), Some(array), "{array}");
            }
        }
    }
}
