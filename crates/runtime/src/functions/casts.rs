//! Casts to and from text: what a type's facts say, called for one value.

use super::strings::put;
use crate::abi::{PipelineContext, STATUS_OK};
use frazil_types::value_ops::{CastLength, bytes_to_read, cast, cast_in_place, read, written};
use frazil_types::{LogicalType, NativeType, StringRef, Value};

type Context = *mut PipelineContext;
type Text = *const StringRef;
type TextOut = *mut StringRef;

/// # Safety
/// `context` must be the pipeline's, `value` valid for a read, `ty` the code of its type, `out` valid for a write. A string is
/// alive.
pub unsafe fn value_to_text(context: Context, value: *const i128, ty: u64, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let words = value.read_unaligned();
        match LogicalType::of_code(ty) {
            Ok(ty) => {
                let value = match ty.native() {
                    NativeType::String => {
                        Value::of_string(value.cast::<StringRef>().read_unaligned().bytes(), ty)
                    }
                    _ => Value::from_words([words as u64, (words >> u64::BITS) as u64], ty),
                };
                put(context, written(&value, ty).as_bytes(), out)
            }
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// `out` must be valid for a write.
pub unsafe fn code_point_to_text(code: i32, out: TextOut) {
    let c = char::from_u32(code as u32).unwrap_or('\u{fffd}');
    let mut bytes = [0; 4];
    let text = if c == ' ' { "" } else { c.encode_utf8(&mut bytes) };
    // SAFETY: by contract.
    unsafe { out.write_unaligned(StringRef::inline(text.as_bytes())) }
}

/// # Safety
/// `context` must be the pipeline's, the string alive, `ty` the code of a type that is not a string, `out` valid for a write.
pub unsafe fn text_to_value(context: Context, text: Text, ty: u64, out: *mut i128) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let string = text.read_unaligned();
        let read = |ty| {
            let text = string.text();
            let _held = match bytes_to_read(text, ty) {
                0 => None,
                bytes => Some((*(*context).scratch).reserve(bytes)?),
            };
            read(text, ty)
        };
        match LogicalType::of_code(ty).and_then(read) {
            Ok(Value::Bytes(bytes)) => put(context, &bytes, out.cast()),
            Ok(value) => {
                out.write_unaligned(value.to_wide());
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// `context` must be the pipeline's, `value` valid for a read, `from` the code of its type and `to` of another one that
/// is not text, `out` valid for a write. A string is alive.
pub unsafe fn cast_value(context: Context, value: *const i128, from: u64, to: u64, out: *mut i128) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let words = value.read_unaligned();
        let cast = || {
            let (from, to) = (LogicalType::of_code(from)?, LogicalType::of_code(to)?);
            let value = match from.native() {
                NativeType::String => {
                    let string = value.cast::<StringRef>().read_unaligned();
                    if let Some(made) = cast_in_place(string.bytes(), from, to) {
                        return made;
                    }
                    Value::of_string(string.bytes(), from)
                }
                _ => Value::from_words([words as u64, (words >> u64::BITS) as u64], from),
            };
            cast(&value, from, to, CastLength::Refuse)
        };
        match cast() {
            Ok(Value::Bytes(bytes)) => put(context, &bytes, out.cast()),
            Ok(value) => {
                out.write_unaligned(value.to_wide());
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::strings::tests::{context, made};
    use frazil_types::{Interval, Result};

    const MONEY: LogicalType = LogicalType::Decimal {
        precision: 5,
        scale: 2,
    };

    fn text_of(value: Value, ty: LogicalType) -> String {
        // SAFETY: contexts and locals are alive.
        made(|c, o| unsafe { value_to_text(c, &value.to_wide(), ty.code(), o) }).unwrap()
    }

    fn value_of(text: &'static str, ty: LogicalType) -> Result<Value, &'static str> {
        context(|c| {
            let mut out = 0i128;
            // SAFETY: the context is alive.
            unsafe {
                match text_to_value(c, &StringRef::from_static(text), ty.code(), &mut out) {
                    STATUS_OK => Ok(Value::from_words([out as u64, (out >> 64) as u64], ty)),
                    _ => Err((*c).error.error.take().unwrap().state().0),
                }
            }
        })
    }

    #[test]
    fn writes() {
        assert_eq!(text_of(Value::Bool(true), LogicalType::Boolean), "true");
        let least = Value::Int(i64::MIN.into());
        assert_eq!(text_of(least, LogicalType::BigInt), "-9223372036854775808");
        assert_eq!(text_of(Value::Int(-5), MONEY), "-0.05");
        assert_eq!(text_of(Value::Double(1.5), LogicalType::Double), "1.5");
        assert_eq!(text_of(Value::Int(0), LogicalType::Date), "1970-01-01");
        let at = Value::Int(1_500_000);
        assert_eq!(text_of(at, LogicalType::TIMESTAMP), "1970-01-01 00:00:01.5");
        let interval = Interval {
            months: 1,
            days: 2,
            micros: 0,
        };
        let interval = Value::Interval(interval);
        assert_eq!(text_of(interval, LogicalType::Interval), "1 mon 2 days");
        let mut out = StringRef::default();
        // SAFETY: a local.
        unsafe { code_point_to_text('ß' as i32, &mut out) };
        // SAFETY: it is short, and so lies in the reference.
        assert_eq!(unsafe { out.text() }, "ß");
    }

    #[test]
    fn reads() {
        let int = |v: i64| Ok(Value::Int(v.into()));
        for (text, ty, expected) in [
            ("t", LogicalType::Boolean, Ok(Value::Bool(true))),
            (" YES", LogicalType::Boolean, Ok(Value::Bool(true))),
            ("off", LogicalType::Boolean, Ok(Value::Bool(false))),
            ("o", LogicalType::Boolean, Err("22P02")),
            ("", LogicalType::Boolean, Err("22P02")),
            (" 42 ", LogicalType::Integer, int(42)),
            ("-32768", LogicalType::SmallInt, int(-32_768)),
            ("32768", LogicalType::SmallInt, Err("22003")),
            ("9223372036854775808", LogicalType::BigInt, Err("22003")),
            ("4.2", LogicalType::Integer, Err("22P02")),
            ("", LogicalType::Integer, Err("22P02")),
            (" 1e3 ", LogicalType::Double, Ok(Value::Double(1000.0))),
            ("1e400", LogicalType::Double, Err("22003")),
            ("abc", LogicalType::Double, Err("22P02")),
            (
                "-Infinity",
                LogicalType::Double,
                Ok(Value::Double(f64::NEG_INFINITY)),
            ),
            ("1970-01-11", LogicalType::Date, int(10)),
            ("1970-02-30", LogicalType::Date, Err("22008")),
            ("1970-01-01 00:00:01", LogicalType::TIMESTAMP, int(1_000_000)),
            ("1.005", MONEY, int(101)),
            ("ß  ", LogicalType::Char(1), int('ß' as i64)),
            ("", LogicalType::Char(1), int(' ' as i64)),
            ("ab", LogicalType::Char(1), Err("22001")),
        ] {
            assert_eq!(value_of(text, ty), expected, "{text} as {ty}");
        }
    }

    #[test]
    fn casts() {
        let cast = |value: Value, from: LogicalType, to: LogicalType| {
            context(|c| {
                let mut out = 0i128;
                // SAFETY: the context is alive.
                unsafe {
                    match cast_value(c, &value.to_wide(), from.code(), to.code(), &mut out) {
                        STATUS_OK => Ok(Value::from_words([out as u64, (out >> 64) as u64], to)),
                        _ => Err((*c).error.error.take().unwrap().state().0),
                    }
                }
            })
        };
        for (v, scale, expected) in [
            (0.15, 1, 2),
            (-2.5, 0, -3),
            (1e10, 2, 1_000_000_000_000),
            (0.0, 3, 0),
        ] {
            let ty = LogicalType::Decimal { precision: 38, scale };
            assert_eq!(
                cast(Value::Double(v), LogicalType::Double, ty),
                Ok(Value::Int(expected)),
                "{v}"
            );
        }
        let whole = LogicalType::Decimal {
            precision: 38,
            scale: 0,
        };
        for (v, state) in [(1e38, "22003"), (f64::INFINITY, "22003"), (f64::NAN, "0A000")] {
            assert_eq!(cast(Value::Double(v), LogicalType::Double, whole), Err(state));
        }
        let hour = Interval {
            micros: -3_600_000_000,
            ..Interval::default()
        };
        let time = cast(Value::Interval(hour), LogicalType::Interval, LogicalType::TIME);
        assert_eq!(time, Ok(Value::Int(82_800_000_000)));
    }
}
