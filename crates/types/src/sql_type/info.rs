//! Facts of a type: the fields of its [`TypeInfo`], and functions that the files of several types share.

use super::{CatalogRow, Kind, Measures};
use crate::logical_type::WITHOUT_LENGTH;
use crate::{Error, LogicalType, NativeType, Result, SqlState, Value};
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
    /// PostgreSQL's width of a value in bytes (pg_type.typlen); -1 if values differ in width.
    pub typlen: i16,
    /// Its row of `pg_type`.
    pub catalog: CatalogRow,
    /// The length or digits as PostgreSQL keeps them (pg_attribute.atttypmod); −1 of a type without any.
    pub modifier: fn(LogicalType) -> i32,
    /// Its columns of `information_schema.columns`.
    pub measures: fn(LogicalType) -> Measures,
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
    /// The text of its binary form, which a server converts for clients of another encoding.
    pub sent_text: Option<SentText>,
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
    /// Appends the binary form of a value that is not NULL. 42883 for a type without one.
    pub send: fn(&mut Vec<u8>, &Value, LogicalType) -> Result<()>,
    /// Reads a value from its binary form. 22P03 for bytes that are none, 22021 for text that is not UTF-8; the
    /// errors of [`TypeInfo::read`] for what does not fit. 42883 for a type without a binary form.
    pub receive: fn(&[u8], LogicalType) -> Result<Value>,
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

/// The text in the binary form of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentText {
    /// The whole form.
    Whole,
    /// All bytes behind a version byte.
    Versioned,
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

/// Shows a type that has neither length nor digits.
pub(super) fn show_plain(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(ty.info().sql_names[0])
}

/// Two numbers as a range.
pub(super) const fn range(min: i128, max: i128) -> Option<(i128, i128)> {
    Some((min, max))
}

/// `integer out of range` and its like, of numbers.
pub(super) fn number_overflow(ty: LogicalType) -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, format!("{ty} out of range"))
}

/// Writes a value that is held as an integer by `write`; values of other forms are none of the type.
pub(super) fn write_integer(value: &Value, write: impl FnOnce(i128) -> fmt::Result) -> fmt::Result {
    let Value::Int(v) = value else {
        return Err(fmt::Error);
    };
    write(*v)
}

/// Writes a text.
pub(super) fn write_text(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    f.write_str(value.as_text().ok_or(fmt::Error)?)
}

/// Characters that a text type has room for; `None` without a limit.
pub(super) fn text_length(ty: LogicalType) -> Option<u32> {
    ty.length().filter(|length| *length != WITHOUT_LENGTH)
}

/// Bytes of PostgreSQL's header of a value, which it adds to lengths and digits.
pub(super) const HEADER: i32 = 4;

/// The modifier of a text type: its length and the header.
pub(super) fn text_modifier(ty: LogicalType) -> i32 {
    text_length(ty).map_or(-1, |length| length as i32 + HEADER)
}
