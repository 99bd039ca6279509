//! The SQL types a column or expression can have, as small keys; what they are, [`sql_type`](crate::sql_type) says.

use crate::sql_type::{
    Category, Counts, DocumentForm, ElementType, EnumType, Kind, NativeOf, Order, TypeInfo,
};
use crate::zone::Zone;
use crate::{Error, NativeType, ObjectId, Result, Value};
use std::fmt;

/// A SQL type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicalType {
    /// true or false.
    Boolean,
    /// 16-bit integer.
    SmallInt,
    /// 32-bit integer.
    Integer,
    /// 64-bit integer.
    BigInt,
    /// IEEE 754 single precision, held as the double that it is.
    Real,
    /// IEEE 754 double.
    Double,
    /// Exact number of `precision` digits in all, `scale` of them after the point.
    Decimal {
        /// 1 to 38.
        precision: u8,
        /// 0 to `precision`.
        scale: u8,
    },
    /// Exact number of at most 38 digits, each value with its own digits after the point; see [`crate::numeric`] for
    /// its bytes.
    Numeric,
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight, without a zone, 24:00 included; rounded to so many digits of a second, of which
    /// [`MICRO_DIGITS`] are all.
    Time(u8),
    /// Microseconds since 1970-01-01 00:00:00, without a zone, with so many digits of a second.
    Timestamp(u8),
    /// Microseconds since 1970-01-01 00:00 UTC, with the zone whose clock reads and shows them: of expressions the session's, of
    /// columns UTC; [`LogicalType::in_zone`] makes one of the other. And the digits of a second.
    TimestampTz(Zone, u8),
    /// Months, days and microseconds, compared by their length.
    Interval,
    /// Blank-padded text of n characters; `Char(1)` is held as a code point (Data Blocks, section 3.3). With
    /// [`WITHOUT_LENGTH`] PostgreSQL's bpchar: a text of any length whose blanks at the end do not count.
    Char(u32),
    /// Text of at most n characters.
    Varchar(u32),
    /// Text.
    Text,
    /// 128 bits that name something; see [`uuid_of_bytes`](crate::sql_type::uuid_of_bytes) for its native integer.
    Uuid,
    /// Bytes: held as strings are, but not UTF-8.
    Bytea,
    /// JSON as it was written: the bytes of a UTF-8 text.
    Json,
    /// JSON in a binary form; see [`crate::json`].
    Jsonb,
    /// A path in documents, as it was written: the bytes of a UTF-8 text; see [`crate::json::Path`].
    JsonPath,
    /// An array of any number of dimensions; see [`crate::array`] for its bytes.
    Array(ElementType),
    /// An enumeration, whose values are held as the positions of their labels.
    Enum(EnumType),
    /// A row as one value: the bytes of the UTF-8 text that shows it.
    Record,
    /// The number of an object: 32 bits without a sign.
    Oid,
    /// The name of an object: a text of at most 63 bytes.
    Name,
    /// PostgreSQL's "char": a text of at most one byte.
    InternalChar,
    /// The oid of a table, view, index or sequence with its name; see [`named_oid`](crate::sql_type::named_oid).
    Regclass,
    /// The oid of a type with its name.
    Regtype,
    /// The oid of a function with its name.
    Regproc,
    /// The oid of a schema with its name.
    Regnamespace,
    /// The oid of a function with its name and the types of its arguments.
    Regprocedure,
    /// The oid of an operator with its name and the types of its operands.
    Regoperator,
    /// The place of a version of a row: a block and a place in it; see [`RowId::to_tid`](crate::RowId::to_tid).
    Tid,
    /// The number of a transaction: 32 bits without a sign.
    Xid,
    /// The number of a command in its transaction: 32 bits without a sign.
    Cid,
}

/// What stands before the number of an enumeration in a [stored name](LogicalType::stored_name).
const STORED_ENUM: &str = "enum ";

/// What the code of an array has more than its element's.
const ARRAY_CODE: u64 = 1 << 63;

/// Decimals of more digits than this are held in 128 bits.
pub const DECIMAL_I64_DIGITS: u8 = 18;
/// Most digits of a decimal.
pub const DECIMAL_MAX_DIGITS: u8 = 38;

/// Digits of a second that times and timestamps have: microseconds.
pub const MICRO_DIGITS: u8 = 6;

/// Most bytes of a name: PostgreSQL's NAMEDATALEN without the byte that ends it.
pub const NAME_BYTES: usize = 63;

/// The length of a char or varchar that has none.
pub const WITHOUT_LENGTH: u32 = u32::MAX;

impl LogicalType {
    /// The type of a value that nothing types: text, as PostgreSQL's rules say for constants and parameters.
    pub const UNTYPED: LogicalType = LogicalType::Text;

    /// The type without its length or digits.
    #[inline]
    pub fn kind(self) -> Kind {
        match self {
            LogicalType::Boolean => Kind::Boolean,
            LogicalType::SmallInt => Kind::SmallInt,
            LogicalType::Integer => Kind::Integer,
            LogicalType::BigInt => Kind::BigInt,
            LogicalType::Real => Kind::Real,
            LogicalType::Double => Kind::Double,
            LogicalType::Decimal { .. } | LogicalType::Numeric => Kind::Numeric,
            LogicalType::Date => Kind::Date,
            LogicalType::Time(_) => Kind::Time,
            LogicalType::Timestamp(_) => Kind::Timestamp,
            LogicalType::TimestampTz(..) => Kind::TimestampTz,
            LogicalType::Interval => Kind::Interval,
            LogicalType::Char(_) => Kind::Char,
            LogicalType::Varchar(_) => Kind::Varchar,
            LogicalType::Text => Kind::Text,
            LogicalType::Uuid => Kind::Uuid,
            LogicalType::Bytea => Kind::Bytea,
            LogicalType::Json => Kind::Json,
            LogicalType::Jsonb => Kind::Jsonb,
            LogicalType::JsonPath => Kind::JsonPath,
            LogicalType::Array(_) => Kind::Array,
            LogicalType::Enum(_) => Kind::Enum,
            LogicalType::Record => Kind::Record,
            LogicalType::Oid => Kind::Oid,
            LogicalType::Name => Kind::Name,
            LogicalType::InternalChar => Kind::InternalChar,
            LogicalType::Regclass => Kind::Regclass,
            LogicalType::Regtype => Kind::Regtype,
            LogicalType::Regproc => Kind::Regproc,
            LogicalType::Regnamespace => Kind::Regnamespace,
            LogicalType::Regprocedure => Kind::Regprocedure,
            LogicalType::Regoperator => Kind::Regoperator,
            LogicalType::Tid => Kind::Tid,
            LogicalType::Xid => Kind::Xid,
            LogicalType::Cid => Kind::Cid,
        }
    }

    /// What there is to know of it.
    #[inline]
    pub fn info(self) -> &'static TypeInfo {
        self.kind().info()
    }

    /// How values are held in storage: the widest form any value of the type needs.
    #[inline]
    pub fn native(self) -> NativeType {
        match (self.info().native, self) {
            (NativeOf::Always(native), _) => native,
            (NativeOf::Digits, LogicalType::Decimal { precision, .. }) if precision <= DECIMAL_I64_DIGITS => {
                NativeType::I64
            }
            (NativeOf::Digits, LogicalType::Numeric) => NativeType::String,
            (NativeOf::Digits, _) => NativeType::I128,
            (NativeOf::Length, LogicalType::Char(1)) => NativeType::I32,
            (NativeOf::Length, _) => NativeType::String,
        }
    }

    /// Its name as the manifest keeps it: its display, but what statements define by its number, which outlives its name.
    pub fn stored_name(self) -> String {
        match (self, self.element()) {
            (LogicalType::Enum(e), _) => format!("{STORED_ENUM}{}", e.id()),
            (_, Some(element)) => format!("{}[]", element.stored_name()),
            (ty, None) => ty.to_string(),
        }
    }

    /// The type of a [`LogicalType::stored_name`]; of an enumeration [only the number](EnumType::numbered) is known then.
    pub fn parse(name: &str) -> Option<LogicalType> {
        if let Some(element) = name.strip_suffix("[]") {
            return LogicalType::parse(element)?.array();
        }
        if let Some(id) = name.strip_prefix(STORED_ENUM) {
            return Some(LogicalType::Enum(EnumType::numbered(id.parse().ok()?)));
        }
        let modifiers: Vec<u32> = match name.split_once('(') {
            None => Vec::new(),
            Some((_, rest)) => {
                let numbers = rest.strip_suffix(')')?.split(',').map(str::parse);
                numbers.collect::<std::result::Result<_, _>>().ok()?
            }
        };
        let of_kind = |kind: &Kind| (kind.info().of_modifiers)(&modifiers);
        let types = Kind::ALL.iter().filter_map(of_kind);
        types.into_iter().find(|ty| ty.to_string() == name)
    }

    /// The type as a number, which generated code hands to the runtime.
    pub fn code(self) -> u64 {
        let (count, modifiers) = match self {
            LogicalType::Decimal { precision, scale } => (2, [precision.into(), scale.into()]),
            LogicalType::Time(digits) | LogicalType::Timestamp(digits) if digits < MICRO_DIGITS => {
                (1, [digits.into(), 0])
            }
            LogicalType::TimestampTz(zone, digits) => (0, [zone.code().into(), digits.into()]),
            LogicalType::Char(n) | LogicalType::Varchar(n) if n != WITHOUT_LENGTH => (1, [n.into(), 0]),
            LogicalType::Array(element) => return element.code() | ARRAY_CODE,
            LogicalType::Enum(e) => (0, [e.place().into(), 0]),
            LogicalType::Boolean
            | LogicalType::SmallInt
            | LogicalType::Integer
            | LogicalType::BigInt
            | LogicalType::Real
            | LogicalType::Double
            | LogicalType::Numeric
            | LogicalType::Date
            | LogicalType::Time(_)
            | LogicalType::Timestamp(_)
            | LogicalType::Interval
            | LogicalType::Char(_)
            | LogicalType::Varchar(_)
            | LogicalType::Text
            | LogicalType::Uuid
            | LogicalType::Bytea
            | LogicalType::Json
            | LogicalType::Jsonb
            | LogicalType::JsonPath
            | LogicalType::Record
            | LogicalType::Oid
            | LogicalType::Name
            | LogicalType::InternalChar
            | LogicalType::Regclass
            | LogicalType::Regtype
            | LogicalType::Regproc
            | LogicalType::Regnamespace
            | LogicalType::Regprocedure
            | LogicalType::Regoperator
            | LogicalType::Tid
            | LogicalType::Xid
            | LogicalType::Cid => (0, [0, 0]),
        };
        // A length takes 32 bits, the digits of a decimal few.
        self.kind() as u64 | count << 8 | modifiers[0] << 16 | modifiers[1] << 48
    }

    /// The type of a [`LogicalType::code`]. An internal error for a number that is not one.
    pub fn of_code(code: u64) -> Result<LogicalType> {
        if code & ARRAY_CODE != 0 {
            let array = LogicalType::of_code(code & !ARRAY_CODE)?.array();
            return array.ok_or_else(|| Error::internal("an array of arrays"));
        }
        let modifiers = [(code >> 16) as u32, (code >> 48) as u32];
        let kind = Kind::ALL.get(code as u8 as usize);
        if kind == Some(&Kind::TimestampTz) {
            let zone = Zone::of_code(modifiers[0]).unwrap_or(Zone::UTC);
            return Ok(LogicalType::TimestampTz(zone, modifiers[1] as u8));
        }
        if kind == Some(&Kind::Enum) {
            let made = EnumType::at(modifiers[0]).map(LogicalType::Enum);
            return made.ok_or_else(|| Error::internal(format!("{code} is not the code of an enumeration")));
        }
        let given = modifiers.get(..(code >> 8) as u8 as usize);
        let ty = kind
            .zip(given)
            .and_then(|(kind, given)| (kind.info().of_modifiers)(given));
        ty.ok_or_else(|| Error::internal(format!("{code} is not the code of a type")))
    }

    /// Instants in UTC: what columns of them have.
    pub const TIMESTAMPTZ: LogicalType = LogicalType::TimestampTz(Zone::UTC, MICRO_DIGITS);

    /// Times with all their digits.
    pub const TIME: LogicalType = LogicalType::Time(MICRO_DIGITS);

    /// Timestamps with all their digits.
    pub const TIMESTAMP: LogicalType = LogicalType::Timestamp(MICRO_DIGITS);

    /// Texts in an array.
    pub const TEXT_ARRAY: LogicalType = LogicalType::Array(ElementType::TEXT);

    /// Arrays of a kind that has neither a length nor digits, and is not an array.
    pub const fn array_of(kind: Kind) -> LogicalType {
        LogicalType::Array(ElementType::of_kind(kind))
    }

    /// Arrays of the type; `None` for arrays.
    pub fn array(self) -> Option<LogicalType> {
        ElementType::new(self).map(LogicalType::Array)
    }

    /// The type of an array's elements.
    #[inline]
    pub fn element(self) -> Option<LogicalType> {
        match self {
            LogicalType::Array(element) => Some(element.get()),
            _ => None,
        }
    }

    /// The enumeration that it is.
    #[inline]
    pub fn enumeration(self) -> Option<EnumType> {
        match self {
            LogicalType::Enum(e) => Some(e),
            _ => None,
        }
    }

    /// The type with a definition in place of another of the same enumeration, of which it is or has elements.
    pub fn with_definition(self, definition: impl Fn(EnumType) -> EnumType) -> LogicalType {
        match (self, self.element()) {
            (LogicalType::Enum(e), _) => LogicalType::Enum(definition(e)),
            (ty, Some(element)) => element.with_definition(definition).array().unwrap_or(ty),
            (ty, None) => ty,
        }
    }

    /// The enumeration that it is, or that its elements are.
    pub fn enumeration_within(self) -> Option<EnumType> {
        self.element().unwrap_or(self).enumeration()
    }

    /// Its name in messages, PostgreSQL's.
    pub fn name(self) -> &'static str {
        match (self, self.element()) {
            (LogicalType::Enum(e), _) => e.name(),
            (_, Some(LogicalType::Enum(e))) => e.array_name(),
            (_, Some(element)) => element.info().array_name,
            (_, None) => self.info().name,
        }
    }

    /// PostgreSQL's number of the type; of an enumeration, and of arrays of it, the number in its database.
    pub fn oid(self) -> u32 {
        match (self.enumeration_within(), self.element()) {
            (Some(e), None) => ObjectId(e.id()).oid(),
            (Some(e), Some(_)) => ObjectId(e.id()).array_oid(),
            (None, Some(element)) => element.info().array_oid,
            (None, None) => self.info().oid,
        }
    }

    /// Whether its values are instants, which a zone's clock reads and shows, or arrays of them.
    #[inline]
    pub fn is_zoned(self) -> bool {
        self.kind() == Kind::TimestampTz || self.element().is_some_and(LogicalType::is_zoned)
    }

    /// The zone whose clock reads and shows its values; UTC for types that have none.
    #[inline]
    pub fn zone(self) -> Zone {
        match self {
            LogicalType::TimestampTz(zone, _) => zone,
            LogicalType::Array(element) => element.get().zone(),
            _ => Zone::UTC,
        }
    }

    /// The type a value has by itself, where nothing else says one.
    pub fn of_value(value: &Value) -> LogicalType {
        match value {
            Value::Bool(_) => LogicalType::Boolean,
            Value::Int(v) if i32::try_from(*v).is_ok() => LogicalType::Integer,
            Value::Int(v) if i64::try_from(*v).is_ok() => LogicalType::BigInt,
            Value::Int(_) => LogicalType::widest_exact(0),
            Value::Double(_) => LogicalType::Double,
            Value::Interval(_) => LogicalType::Interval,
            Value::Bytes(_) => LogicalType::Bytea,
            Value::Null | Value::Text(_) => LogicalType::Text,
        }
    }

    /// The exact number of most digits, of which `scale` stand after the point: what sums of exact numbers need.
    pub const fn widest_exact(scale: u8) -> LogicalType {
        LogicalType::Decimal {
            precision: DECIMAL_MAX_DIGITS,
            scale,
        }
    }

    /// Digits of a decimal, and those after the point; `None` for other types.
    #[inline]
    pub fn decimal_digits(self) -> Option<(u8, u8)> {
        match self {
            LogicalType::Decimal { precision, scale } => Some((precision, scale)),
            _ => None,
        }
    }

    /// Digits that an exact number can have, and those after the point; `None` for other types.
    pub fn exact_digits(self) -> Option<(u8, u8)> {
        let of_integer = || {
            let (_, most) = self.range().filter(|_| self.is_integer())?;
            Some((most.ilog10() as u8 + 1, 0))
        };
        self.decimal_digits().or_else(of_integer)
    }

    /// Characters that a string type has room for, [`WITHOUT_LENGTH`] where that is any number; `None` for types that are no strings.
    #[inline]
    pub fn length(self) -> Option<u32> {
        match self {
            LogicalType::Char(n) | LogicalType::Varchar(n) => Some(n),
            LogicalType::Text => Some(WITHOUT_LENGTH),
            _ => None,
        }
    }

    /// The string type without its length; other types as they are.
    pub fn without_length(self) -> LogicalType {
        match self.is_string() {
            true => self.kind().plain().unwrap_or(self),
            false => self,
        }
    }

    /// Most bytes of a text; longer ones are cut. `None` of types without such a bound.
    #[inline]
    pub fn most_bytes(self) -> Option<usize> {
        match self {
            LogicalType::Name => Some(NAME_BYTES),
            LogicalType::InternalChar => Some(1),
            _ => None,
        }
    }

    /// Whether blanks at the end of a value do not count.
    #[inline]
    pub fn is_padded(self) -> bool {
        self.info().order == Order::WithoutBlanks
    }

    /// How values are documents of JSON, if they are.
    #[inline]
    pub fn document(self) -> Option<DocumentForm> {
        self.info().document
    }

    /// Whether values are truths: what conditions are.
    #[inline]
    pub fn is_condition(self) -> bool {
        self.info().category == Category::Boolean
    }

    /// Whether values are held as doubles.
    #[inline]
    pub fn is_float(self) -> bool {
        self.native() == NativeType::F64
    }

    /// Whether values count days.
    #[inline]
    pub fn is_day(self) -> bool {
        self.info().counts == Counts::Days
    }

    /// Whether values are times of any day.
    #[inline]
    pub fn is_time_of_day(self) -> bool {
        self.info().counts == Counts::DayMicros
    }

    /// Whether values are days with a time, as a clock shows them in no zone.
    #[inline]
    pub fn is_local_time(self) -> bool {
        self.info().counts == Counts::Micros && !self.is_zoned()
    }

    /// Digits of a second that values of times and timestamps have; `None` for other types.
    #[inline]
    pub fn second_digits(self) -> Option<u8> {
        match self {
            LogicalType::Time(digits)
            | LogicalType::Timestamp(digits)
            | LogicalType::TimestampTz(_, digits) => Some(digits),
            _ => None,
        }
    }

    /// The type with all digits of a second, if values have some.
    #[inline]
    pub fn with_all_digits(self) -> LogicalType {
        match self {
            LogicalType::Time(_) => LogicalType::TIME,
            LogicalType::Timestamp(_) => LogicalType::TIMESTAMP,
            LogicalType::TimestampTz(zone, _) => LogicalType::TimestampTz(zone, MICRO_DIGITS),
            ty => ty,
        }
    }

    /// The type in a zone, if its values are read and shown by one: a column's for the expressions of a session, an expression's as a
    /// column's in [`Zone::UTC`]. The values are the same.
    #[inline]
    pub fn in_zone(self, zone: Zone) -> LogicalType {
        match self {
            LogicalType::TimestampTz(_, digits) => LogicalType::TimestampTz(zone, digits),
            LogicalType::Array(element) => element.get().in_zone(zone).array().unwrap_or(self),
            ty => ty,
        }
    }

    /// Char, varchar or text.
    #[inline]
    pub fn is_string(self) -> bool {
        self.info().category == Category::String
    }

    /// True for bytes, which are held as strings and need not be UTF-8: a value is a [`Value::Bytes`](crate::Value::Bytes).
    #[inline]
    pub fn is_binary(self) -> bool {
        self.native() == NativeType::String && !self.is_string()
    }

    /// A string that is held as one: all but [`LogicalType::is_code_point`].
    #[inline]
    pub fn is_text(self) -> bool {
        self.native() == NativeType::String && self.is_string()
    }

    /// Char(1), which is held as a code point.
    #[inline]
    pub fn is_code_point(self) -> bool {
        self == LogicalType::Char(1)
    }

    /// Whether values are compared by their length ([`interval_span`](crate::value_ops::interval_span)), and held as an
    /// [`Interval`](crate::Interval).
    #[inline]
    pub fn is_span(self) -> bool {
        self.info().order == Order::Span
    }

    /// Whether values are compared by a key that is made of them ([`order_key`](crate::value_ops::order_key)).
    #[inline]
    pub fn has_order_key(self) -> bool {
        self.order() == Order::Key
    }

    /// The part of a value that decides its order, equality, hash and key: the key of a numeric, the integer of a
    /// decimal.
    #[inline]
    pub fn order(self) -> Order {
        match self {
            LogicalType::Numeric => Order::Key,
            ty => ty.info().order,
        }
    }

    /// True for a numeric without precision.
    #[inline]
    pub fn is_unscaled(self) -> bool {
        self == LogicalType::Numeric
    }

    /// Whether values compare; arrays do where their elements do.
    #[inline]
    pub fn is_comparable(self) -> bool {
        match self.element() {
            Some(element) => element.is_comparable(),
            None => self.info().order != Order::Absent,
        }
    }

    /// True if values that are equal are the same in every respect, so that functions give one value for all of them.
    pub fn equal_is_same(self) -> bool {
        match self {
            LogicalType::Boolean
            | LogicalType::SmallInt
            | LogicalType::Integer
            | LogicalType::BigInt
            | LogicalType::Decimal { .. }
            | LogicalType::Date
            | LogicalType::Time(_)
            | LogicalType::Timestamp(_)
            | LogicalType::TimestampTz(..)
            | LogicalType::Varchar(_)
            | LogicalType::Text
            | LogicalType::Uuid
            | LogicalType::Bytea
            | LogicalType::Enum(_)
            | LogicalType::Oid
            | LogicalType::Name
            | LogicalType::Regclass
            | LogicalType::Regtype
            | LogicalType::Regproc
            | LogicalType::Regnamespace
            | LogicalType::Regprocedure
            | LogicalType::Regoperator
            | LogicalType::Tid
            | LogicalType::Xid
            | LogicalType::Cid => true,
            // 0 and −0; 1.0 and 1.00; a month and 30 days; blanks at the end; and what is made of such values.
            LogicalType::Real
            | LogicalType::Double
            | LogicalType::Numeric
            | LogicalType::Interval
            | LogicalType::Char(_)
            | LogicalType::Json
            | LogicalType::Jsonb
            | LogicalType::JsonPath
            | LogicalType::Array(_)
            | LogicalType::Record
            | LogicalType::InternalChar => false,
        }
    }

    /// The type of `name[i]`, a byte of a name; `None` for other types.
    pub fn letter(self) -> Option<LogicalType> {
        (self == LogicalType::Name).then_some(LogicalType::InternalChar)
    }

    /// Smallint, integer or bigint.
    #[inline]
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            LogicalType::SmallInt | LogicalType::Integer | LogicalType::BigInt
        )
    }

    /// Integer, decimal or double.
    #[inline]
    pub fn is_numeric(self) -> bool {
        self.info().category == Category::Numeric
    }

    /// Digits after the point of a decimal; 0 for integers; `None` for all else.
    #[inline]
    pub fn scale(self) -> Option<u8> {
        match self {
            LogicalType::Decimal { scale, .. } => Some(scale),
            LogicalType::Oid => Some(0),
            t if t.is_integer() => Some(0),
            _ => None,
        }
    }

    /// The type of sums of its values, which has room for many; `None` for what is not summed.
    pub fn sum(self) -> Option<LogicalType> {
        (self.info().sum)(self)
    }

    /// Least and greatest value, for types whose values are held as integers.
    #[inline]
    pub fn range(self) -> Option<(i128, i128)> {
        (self.info().range)(self)
    }

    /// The error of a value that does not fit the type.
    pub fn overflow(self) -> Error {
        (self.info().overflow)(self)
    }
}

impl From<EnumType> for LogicalType {
    fn from(e: EnumType) -> LogicalType {
        LogicalType::Enum(e)
    }
}

impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.info().show)(*self, f)
    }
}
