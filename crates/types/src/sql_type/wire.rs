//! PostgreSQL's binary forms of values, as drivers send and receive them: `send` and `receive` of the files of types.
//!
//! Numbers are big-endian. Dates and timestamps count from 2000-01-01. What is received is a stranger's: bytes of the
//! wrong length are 22P03, text that is not UTF-8 is 22021, and a value that its type does not hold has the error of
//! reading it from text.

use crate::array::{self, Dimension};
use crate::date::{self, MICROS_PER_DAY};
use crate::decimal::POWERS_OF_TEN;
use crate::numeric::Numeric;
use crate::{Error, Interval, LogicalType, Result, SqlState, Value};
use std::ops::{Div, Mul, Range, Rem};

/// Days from 1970-01-01 to 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
/// Microseconds from 1970-01-01 to 2000-01-01.
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * MICROS_PER_DAY;
/// Microseconds since 2000-01-01 of all timestamps: from 4714-11-24 BC, as in PostgreSQL, to the last one that counts
/// from 1970 in 64 bits, in the year 294247.
const TIMESTAMPS: Range<i64> = -211_813_488_000_000_000..i64::MAX - EPOCH_MICROS;
/// A digit of a numeric holds four decimal digits.
const DIGIT: u16 = 10_000;
/// Decimal digits in a digit of a numeric.
const DIGITS: usize = 4;
/// The sign of a negative numeric.
const NEGATIVE: u16 = 0x4000;
/// The version byte before the text of a jsonb, and of a jsonpath.
const DOCUMENT_VERSION: u8 = 1;

/// The bytes of a value from front to back.
struct Reader<'a> {
    bytes: &'a [u8],
    ty: LogicalType,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], ty: LogicalType) -> Reader<'a> {
        Reader { bytes, ty }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or_else(|| malformed(self.ty))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or_else(|| malformed(self.ty))?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// Errors with 22P03 if bytes are left.
    fn end(&self) -> Result<()> {
        match self.bytes {
            [] => Ok(()),
            _ => Err(malformed(self.ty)),
        }
    }
}

/// The error 22P03 of bytes that are not the binary form of a value.
fn malformed(ty: LogicalType) -> Error {
    let message = format!("incorrect binary data format for type {}", ty.name());
    Error::new(SqlState::INVALID_BINARY, message)
}

/// The bytes of a value as a number of this width; 22P03 for any other width.
fn whole<const N: usize>(bytes: &[u8], ty: LogicalType) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| malformed(ty))
}

/// The integer of a value; an internal error for a value that is not held as one.
fn int(value: &Value, ty: LogicalType) -> Result<i128> {
    value.as_int().ok_or_else(|| not_of(ty))
}

fn not_of(ty: LogicalType) -> Error {
    Error::internal(format!("a value that is not a {ty}"))
}

macro_rules! integers {
    ($($send:ident $receive:ident $native:ty),*) => {$(
        pub(super) fn $send(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
            let native = <$native>::try_from(int(value, ty)?).map_err(|_| not_of(ty))?;
            out.extend(native.to_be_bytes());
            Ok(())
        }

        pub(super) fn $receive(bytes: &[u8], ty: LogicalType) -> Result<Value> {
            let native = <$native>::from_be_bytes(whole(bytes, ty)?);
            Ok(Value::Int(native.into()))
        }
    )*};
}

integers!(send_i16 receive_i16 i16, send_i32 receive_i32 i32, send_i64 receive_i64 i64);

pub(super) fn send_oid(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let oid = u32::try_from(int(value, ty)?).map_err(|_| not_of(ty))?;
    out.extend(oid.to_be_bytes());
    Ok(())
}

pub(super) fn receive_oid(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    Ok(Value::Int(u32::from_be_bytes(whole(bytes, ty)?).into()))
}

/// Sends a block of 32 bits and a place in it of 16.
pub(super) fn send_tid(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let tid = u64::try_from(int(value, ty)?).map_err(|_| not_of(ty))?;
    let [0, 0, bytes @ ..] = tid.to_be_bytes() else {
        return Err(not_of(ty));
    };
    out.extend(bytes);
    Ok(())
}

pub(super) fn receive_tid(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    let bytes: [u8; 6] = whole(bytes, ty)?;
    let tid = bytes.iter().fold(0, |tid, byte| tid << 8 | i128::from(*byte));
    Ok(Value::Int(tid))
}

/// Sends the oid of a value that shows its name.
pub(super) fn send_named_oid(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let bytes = value.as_bytes().ok_or_else(|| not_of(ty))?;
    out.extend(super::oid_of(bytes).to_be_bytes());
    Ok(())
}

pub(super) fn send_boolean(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    out.push(u8::from(int(value, ty)? != 0));
    Ok(())
}

pub(super) fn receive_boolean(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    let [byte] = whole(bytes, ty)?;
    Ok(Value::Bool(byte != 0))
}

fn double(value: &Value, ty: LogicalType) -> Result<f64> {
    match value {
        Value::Double(v) => Ok(*v),
        _ => Err(not_of(ty)),
    }
}

pub(super) fn send_double(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    out.extend(double(value, ty)?.to_be_bytes());
    Ok(())
}

pub(super) fn receive_double(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    Ok(Value::Double(f64::from_be_bytes(whole(bytes, ty)?)))
}

pub(super) fn send_real(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    out.extend((double(value, ty)? as f32).to_be_bytes());
    Ok(())
}

pub(super) fn receive_real(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    Ok(Value::Double(f32::from_be_bytes(whole(bytes, ty)?).into()))
}

pub(super) fn send_date(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let days = i32::try_from(int(value, ty)?).map_err(|_| not_of(ty))?;
    out.extend(counted_days(days, ty)?.to_be_bytes());
    Ok(())
}

/// Returns days since 1970 as days since 2000, and infinity as the protocol has it. 22008.
#[inline]
pub(super) fn counted_days(days: i32, ty: LogicalType) -> Result<i32> {
    match days {
        date::INFINITE_DAY => Ok(i32::MAX),
        date::MINUS_INFINITE_DAY => Ok(i32::MIN),
        days => days.checked_sub(EPOCH_DAYS).ok_or_else(|| ty.overflow()),
    }
}

pub(super) fn receive_date(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    let days = match i32::from_be_bytes(whole(bytes, ty)?) {
        i32::MAX => date::INFINITE_DAY,
        i32::MIN => date::MINUS_INFINITE_DAY,
        days => days.checked_add(EPOCH_DAYS).ok_or_else(|| ty.overflow())?,
    };
    match date::DAYS.contains(&days) || !date::is_finite_day(days) {
        true => Ok(Value::Int(days.into())),
        false => Err(Error::new(SqlState::DATETIME_OVERFLOW, "date out of range")),
    }
}

pub(super) fn receive_time(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    let micros = i64::from_be_bytes(whole(bytes, ty)?);
    match (0..=MICROS_PER_DAY).contains(&micros) {
        true => super::rounded(micros, ty),
        false => Err(Error::new(SqlState::DATETIME_OVERFLOW, "time out of range")),
    }
}

pub(super) fn send_timestamp(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let micros = i64::try_from(int(value, ty)?).map_err(|_| not_of(ty))?;
    out.extend(counted_micros(micros, ty)?.to_be_bytes());
    Ok(())
}

/// Returns microseconds since 1970 as microseconds since 2000, and infinity as the protocol has it. 22008.
#[inline]
pub(super) fn counted_micros(micros: i64, ty: LogicalType) -> Result<i64> {
    match micros {
        date::INFINITE_MICROS => Ok(i64::MAX),
        date::MINUS_INFINITE_MICROS => Ok(i64::MIN),
        micros => micros.checked_sub(EPOCH_MICROS).ok_or_else(|| ty.overflow()),
    }
}

pub(super) fn receive_timestamp(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    let micros = match i64::from_be_bytes(whole(bytes, ty)?) {
        i64::MAX => return Ok(Value::Int(date::INFINITE_MICROS.into())),
        i64::MIN => return Ok(Value::Int(date::MINUS_INFINITE_MICROS.into())),
        micros if TIMESTAMPS.contains(&micros) => micros + EPOCH_MICROS,
        _ => return Err(Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range")),
    };
    super::rounded(micros, ty)
}

pub(super) fn send_interval(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let Value::Interval(interval) = value else {
        return Err(not_of(ty));
    };
    out.extend(interval.micros.to_be_bytes());
    out.extend(interval.days.to_be_bytes());
    out.extend(interval.months.to_be_bytes());
    Ok(())
}

pub(super) fn receive_interval(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    let mut reader = Reader::new(bytes, ty);
    let interval = Interval {
        micros: i64::from_be_bytes(reader.array()?),
        days: reader.i32()?,
        months: reader.i32()?,
    };
    reader.end()?;
    Ok(Value::Interval(interval))
}

pub(super) fn send_uuid(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    out.extend(super::uuid_to_bytes(int(value, ty)?));
    Ok(())
}

pub(super) fn receive_uuid(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    Ok(Value::Int(super::uuid_of_bytes(whole(bytes, ty)?)))
}

pub(super) fn send_bytes(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    out.extend(value.as_bytes().ok_or_else(|| not_of(ty))?);
    Ok(())
}

pub(super) fn receive_bytes(bytes: &[u8], _: LogicalType) -> Result<Value> {
    Ok(Value::Bytes(bytes.to_owned()))
}

/// Sends the text that results show of a value.
pub(super) fn send_text(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    match value {
        Value::Text(text) => out.extend(text.as_bytes()),
        other => out.extend(other.display(ty).to_string().as_bytes()),
    }
    Ok(())
}

/// Receives a value as its text.
pub(super) fn receive_text(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    (ty.info().read)(utf8(bytes)?, ty)
}

/// Sends the byte of a "char": 0 for an empty one.
pub(super) fn send_internal_char(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let before = out.len();
    send_text(out, value, ty)?;
    out.resize(before + 1, 0);
    Ok(())
}

pub(super) fn receive_internal_char(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    match whole(bytes, ty)? {
        [0] => receive_text(b"", ty),
        byte => receive_text(&byte, ty),
    }
}

pub(super) fn send_document(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    out.push(DOCUMENT_VERSION);
    send_text(out, value, ty)
}

pub(super) fn receive_document(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    match bytes.split_first() {
        Some((&DOCUMENT_VERSION, text)) => receive_text(text, ty),
        Some((version, _)) => {
            let message = format!("unsupported {} version number {version}", ty.name());
            Err(Error::new(SqlState::INVALID_BINARY, message))
        }
        None => Err(malformed(ty)),
    }
}

/// Bytes from outside as text. 22021 for bytes that are not UTF-8, and for character 0.
pub fn utf8(bytes: &[u8]) -> Result<&str> {
    let at = match std::str::from_utf8(bytes) {
        Ok(text) => match bytes.iter().position(|&byte| byte == 0) {
            None => return Ok(text),
            Some(at) => at,
        },
        Err(error) => error.valid_up_to(),
    };
    let shown: Vec<String> = bytes[at..]
        .iter()
        .take(1)
        .map(|byte| format!("{byte:#04x}"))
        .collect();
    Err(Error::new(
        SqlState::CHARACTER_NOT_IN_REPERTOIRE,
        format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
    ))
}

/// Sends a decimal or numeric: number of digits, weight of the first one, sign, decimal places, then digits of base
/// 10,000.
pub(super) fn send_numeric(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let (value, scale) = match (value, ty.scale()) {
        (Value::Bytes(bytes), None) => {
            let number = Numeric::of_bytes(bytes)?;
            (number.coefficient(), number.scale())
        }
        (value, scale) => (int(value, ty)?, scale.ok_or_else(|| not_of(ty))?),
    };
    let power = |n: usize| POWERS_OF_TEN[n].unsigned_abs();
    send_decimal(out, value.unsigned_abs(), value < 0, usize::from(scale), power);
    Ok(())
}

/// Sends a decimal of at most 18 digits, whose arithmetic is that of 64 bits.
pub(super) fn send_short_decimal(out: &mut Vec<u8>, value: i64, scale: u8) {
    let power = |n: usize| POWERS_OF_TEN[n] as u64;
    send_decimal(out, value.unsigned_abs(), value < 0, usize::from(scale), power);
}

/// Most digits of base 10,000: ten on each side of the point of a number of 39 decimal digits.
const MOST_DIGITS: usize = 20;

/// Sends `value / 10^scale`. `power` gives powers of ten up to the scale.
fn send_decimal<T>(out: &mut Vec<u8>, value: T, is_negative: bool, scale: usize, power: impl Fn(usize) -> T)
where
    T: Copy + From<u16> + PartialEq + Div<Output = T> + Mul<Output = T> + Rem<Output = T> + TryInto<i16>,
{
    let places = scale.div_ceil(DIGITS);
    let (mut whole, mut rest) = (value / power(scale), value % power(scale));
    // The places behind the point, filled up to whole digits, from the last one on. 38 places become 40: a digit more
    // than 128 bits hold, so that the last digit is cut off before the others are filled up.
    let filled = places * DIGITS - scale;
    let (mut digits, mut count) = ([0i16; MOST_DIGITS], 0);
    // A digit is less than 10,000.
    let mut push = |digit: T| {
        digits[count] = digit.try_into().unwrap_or_default();
        count += 1;
    };
    if places > 0 {
        let cut = power(DIGITS - filled);
        push(rest % cut * power(filled));
        rest = rest / cut;
    }
    for _ in 1..places {
        push(rest % T::from(DIGIT));
        rest = rest / T::from(DIGIT);
    }
    while whole != T::from(0u16) {
        push(whole % T::from(DIGIT));
        whole = whole / T::from(DIGIT);
    }
    let mut digits = &digits[..count];
    let mut weight = digits.len() as i16 - places as i16 - 1;
    while let [others @ .., 0] = digits {
        digits = others;
        weight -= 1;
    }
    while let [0, others @ ..] = digits {
        digits = others;
    }
    let sign = if is_negative { NEGATIVE } else { 0 };
    out.extend((digits.len() as i16).to_be_bytes());
    out.extend(if digits.is_empty() { 0 } else { weight }.to_be_bytes());
    out.extend(sign.to_be_bytes());
    out.extend((scale as i16).to_be_bytes());
    digits
        .iter()
        .rev()
        .for_each(|digit| out.extend(digit.to_be_bytes()));
}

pub(super) fn receive_numeric(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    (ty.info().read)(&numeric_text(bytes)?, ty)
}

/// The decimal text of a numeric in binary form. 22P03 for digits, signs or lengths that are none.
pub fn numeric_text(bytes: &[u8]) -> Result<String> {
    let malformed = || {
        Error::new(
            SqlState::INVALID_BINARY,
            "incorrect binary data format for type numeric",
        )
    };
    let mut words = bytes
        .chunks(2)
        .map(|pair| pair.try_into().map(u16::from_be_bytes));
    let mut word = || words.next().and_then(Result::ok).ok_or_else(malformed);
    let (count, weight, sign, scale) = (word()?, word()? as i16, word()?, word()?);
    match sign {
        0 | NEGATIVE => {}
        0xc000 => return Ok("NaN".to_owned()),
        0xd000 => return Ok("Infinity".to_owned()),
        0xf000 => return Ok("-Infinity".to_owned()),
        _ => return Err(malformed()),
    }
    let mut digits = Vec::new();
    for _ in 0..count {
        digits.push(word()?);
    }
    if bytes.len() != 2 * (4 + usize::from(count)) || digits.iter().any(|&d| d >= DIGIT) || scale >= 1 << 14 {
        return Err(malformed());
    }
    // The digit of weight w, a power of 10,000.
    let digit = |w: i32| {
        let at = usize::try_from(i32::from(weight) - w).ok();
        at.and_then(|at| digits.get(at)).copied().unwrap_or(0)
    };
    let mut text = String::from(if sign == NEGATIVE { "-" } else { "" });
    for w in (0..=i32::from(weight).max(0)).rev() {
        text.push_str(&format!("{:04}", digit(w)));
    }
    let mut part = String::new();
    for w in 1..=i32::from(scale).div_euclid(DIGITS as i32) + 1 {
        part.push_str(&format!("{:04}", digit(-w)));
    }
    part.truncate(scale.into());
    if !part.is_empty() {
        text.push('.');
        text.push_str(&part);
    }
    Ok(text)
}

/// Sends an array: number of dimensions, whether there are NULLs, the type of elements, length and lower bound of each
/// dimension, then each element behind its length, which is -1 for NULL.
pub(super) fn send_array(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let (bytes, element) = value.as_bytes().zip(ty.element()).ok_or_else(|| not_of(ty))?;
    let array = array::ArrayRef::new(bytes, element)?;
    let dimensions = array.dimensions();
    out.extend((dimensions.len() as i32).to_be_bytes());
    let has_nulls = (0..array.len()).any(|at| array.is_null(at));
    out.extend(i32::from(has_nulls).to_be_bytes());
    out.extend(element.oid().to_be_bytes());
    for dimension in dimensions {
        out.extend(dimension.length.to_be_bytes());
        out.extend(dimension.lower.to_be_bytes());
    }
    for value in array.elements() {
        send_sized(out, &value?, element)?;
    }
    Ok(())
}

/// Sends a value behind the number of its bytes; -1 for NULL. 54000 if they are 2 GB or more.
pub fn send_sized(out: &mut Vec<u8>, value: &Value, ty: LogicalType) -> Result<()> {
    let at = out.len();
    out.extend((-1i32).to_be_bytes());
    if value.is_null() {
        return Ok(());
    }
    (ty.info().send)(out, value, ty)?;
    let length = i32::try_from(out.len() - at - 4).map_err(|_| too_long())?;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// The error 54000 of a value that no message holds.
pub fn too_long() -> Error {
    Error::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        "a value of 2 GB or more cannot be sent",
    )
}

pub(super) fn receive_array(bytes: &[u8], ty: LogicalType) -> Result<Value> {
    let element = ty.element().ok_or_else(|| malformed(ty))?;
    let mut reader = Reader::new(bytes, ty);
    let count = reader.i32()?;
    let _has_nulls = reader.i32()?;
    let oid = u32::from_be_bytes(reader.array()?);
    if oid != element.oid() {
        let message = format!(
            "binary data has array element type {oid} instead of expected {}",
            element.oid()
        );
        return Err(Error::new(SqlState::DATATYPE_MISMATCH, message));
    }
    let count = usize::try_from(count).map_err(|_| malformed(ty))?;
    if count > array::MAX_DIMENSIONS {
        return Err(array::too_many_dimensions(count));
    }
    let mut dimensions = Vec::new();
    for _ in 0..count {
        let length = u32::try_from(reader.i32()?).map_err(|_| malformed(ty))?;
        dimensions.push(Dimension {
            length,
            lower: reader.i32()?,
        });
    }
    if dimensions.iter().any(|dimension| dimension.length == 0) {
        dimensions.clear();
    }
    array::check_shape(&dimensions)?;
    let elements = match dimensions.is_empty() {
        true => 0,
        false => dimensions.iter().map(|d| d.length as usize).product(),
    };
    let mut values = Vec::new();
    for _ in 0..elements {
        values.push(match usize::try_from(reader.i32()?) {
            Ok(length) => (element.info().receive)(reader.take(length)?, element)?,
            Err(_) => Value::Null,
        });
    }
    reader.end()?;
    array::encode(&dimensions, &values, element).map(Value::Bytes)
}

/// The error 42883 of a type that has no binary form.
pub(super) fn send_nothing(_: &mut Vec<u8>, _: &Value, ty: LogicalType) -> Result<()> {
    let message = format!("no binary output function available for type {}", ty.name());
    Err(Error::new(SqlState::UNDEFINED_FUNCTION, message).with_hint("ask for the result in text format"))
}

/// The error 42883 of a type that has no binary form.
pub(super) fn receive_nothing(_: &[u8], ty: LogicalType) -> Result<Value> {
    let message = format!("no binary input function available for type {}", ty.name());
    Err(Error::new(SqlState::UNDEFINED_FUNCTION, message))
}
