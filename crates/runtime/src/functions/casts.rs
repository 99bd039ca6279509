//! Casts to and from text, as PostgreSQL writes and reads.

use super::strings::put;
use crate::abi::{PipelineContext, STATUS_OK};
use frazil_types::value::write_double;
use frazil_types::{Error, Interval, LogicalType, Result, StringRef, date, decimal, value_ops};
use std::fmt;

type Context = *mut PipelineContext;
type Text = *const StringRef;
type TextOut = *mut StringRef;

/// Keeps what `write` writes.
///
/// # Safety
/// `context` must be the pipeline's, `out` valid for a write.
unsafe fn written(context: Context, out: TextOut, write: impl FnOnce(&mut String) -> fmt::Result) -> u32 {
    let mut text = String::new();
    // SAFETY: by contract. Writing to a String does not fail.
    unsafe {
        match write(&mut text) {
            Ok(()) => put(context, text.as_bytes(), out),
            Err(_) => (*context).fail(Error::internal("a value that cannot be written")),
        }
    }
}

/// # Safety
/// As [`written`].
pub unsafe fn boolean_to_text(context: Context, v: i32, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe { put(context, if v != 0 { b"true" } else { b"false" }, out) }
}

/// # Safety
/// As [`written`].
pub unsafe fn integer_to_text(context: Context, v: i64, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe { written(context, out, |f| fmt::Write::write_fmt(f, format_args!("{v}"))) }
}

/// # Safety
/// As [`written`]; `v` must be valid for a read.
pub unsafe fn decimal_to_text(context: Context, v: *const i128, scale: i32, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let v = v.read_unaligned();
        written(context, out, |f| decimal::write(f, v, scale.clamp(0, 38) as u8))
    }
}

/// # Safety
/// As [`written`].
pub unsafe fn double_to_text(context: Context, v: f64, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe { written(context, out, |f| write_double(f, v)) }
}

/// # Safety
/// As [`written`].
pub unsafe fn date_to_text(context: Context, days: i32, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe { written(context, out, |f| date::write_date(f, days)) }
}

/// # Safety
/// As [`written`].
pub unsafe fn timestamp_to_text(context: Context, micros: i64, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe { written(context, out, |f| date::write_timestamp(f, micros)) }
}

/// # Safety
/// As [`decimal_to_text`].
pub unsafe fn interval_to_text(context: Context, v: *const i128, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let interval = Interval::from_native(v.read_unaligned());
        written(context, out, |f| date::write_interval(f, interval))
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

/// Writes what `parse` reads from the text.
///
/// # Safety
/// `context` must be the pipeline's, the string alive, `out` valid for a write.
unsafe fn parsed<T>(context: Context, text: Text, out: *mut T, parse: impl FnOnce(&str) -> Result<T>) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let string = text.read_unaligned();
        match parse(string.text()) {
            Ok(value) => {
                out.write_unaligned(value);
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// As [`parsed`].
pub unsafe fn text_to_boolean(context: Context, text: Text, out: *mut u8) -> u32 {
    // SAFETY: by contract.
    unsafe { parsed(context, text, out, |t| value_ops::read_boolean(t).map(u8::from)) }
}

/// # Safety
/// As [`parsed`].
pub unsafe fn text_to_integer(context: Context, text: Text, bits: i32, out: *mut i64) -> u32 {
    let ty = match bits {
        16 => LogicalType::SmallInt,
        32 => LogicalType::Integer,
        _ => LogicalType::BigInt,
    };
    // SAFETY: by contract.
    unsafe { parsed(context, text, out, |t| value_ops::read_integer(t, ty)) }
}

/// # Safety
/// As [`parsed`].
pub unsafe fn text_to_decimal(
    context: Context,
    text: Text,
    precision: i32,
    scale: i32,
    out: *mut i128,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        parsed(context, text, out, |t| {
            decimal::parse(t, precision as u8, scale as u8)
        })
    }
}

/// # Safety
/// As [`parsed`].
pub unsafe fn text_to_double(context: Context, text: Text, out: *mut f64) -> u32 {
    // SAFETY: by contract.
    unsafe { parsed(context, text, out, value_ops::read_double) }
}

/// # Safety
/// As [`parsed`].
pub unsafe fn text_to_date(context: Context, text: Text, out: *mut i32) -> u32 {
    // SAFETY: by contract.
    unsafe { parsed(context, text, out, value_ops::read_date) }
}

/// # Safety
/// As [`parsed`].
pub unsafe fn text_to_timestamp(context: Context, text: Text, out: *mut i64) -> u32 {
    // SAFETY: by contract.
    unsafe { parsed(context, text, out, date::parse_timestamp) }
}

/// # Safety
/// As [`parsed`].
pub unsafe fn text_to_code_point(context: Context, text: Text, out: *mut i32) -> u32 {
    let first = |text: &str| {
        let kept = value_ops::kept_text(text, LogicalType::Char(1))?;
        Ok(kept.chars().next().unwrap_or(' ') as i32)
    };
    // SAFETY: by contract.
    unsafe { parsed(context, text, out, first) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::strings::tests::{context, made};

    fn read<T: Default>(
        f: unsafe fn(Context, Text, *mut T) -> u32,
        text: &'static str,
    ) -> Result<T, &'static str> {
        // SAFETY: as in `read_with`.
        read_with(|c, t, o| unsafe { f(c, t, o) }, text)
    }

    fn read_with<T: Default>(
        f: impl Fn(Context, Text, *mut T) -> u32,
        text: &'static str,
    ) -> Result<T, &'static str> {
        context(|c| {
            let mut out = T::default();
            match f(c, &StringRef::from_static(text), &mut out) {
                STATUS_OK => Ok(out),
                // SAFETY: the context is alive.
                _ => Err(unsafe { (*c).error.error.take() }.unwrap().state().0),
            }
        })
    }

    #[test]
    fn writes() {
        // SAFETY: contexts are alive.
        unsafe {
            assert_eq!(made(|c, o| boolean_to_text(c, 1, o)).unwrap(), "true");
            assert_eq!(
                made(|c, o| integer_to_text(c, i64::MIN, o)).unwrap(),
                "-9223372036854775808"
            );
            assert_eq!(made(|c, o| decimal_to_text(c, &-5, 2, o)).unwrap(), "-0.05");
            assert_eq!(made(|c, o| double_to_text(c, 1.5, o)).unwrap(), "1.5");
            assert_eq!(made(|c, o| date_to_text(c, 0, o)).unwrap(), "1970-01-01");
            assert_eq!(
                made(|c, o| timestamp_to_text(c, 1_500_000, o)).unwrap(),
                "1970-01-01 00:00:01.5"
            );
            let interval = Interval {
                months: 1,
                days: 2,
                micros: 0,
            }
            .to_native();
            assert_eq!(
                made(|c, o| interval_to_text(c, &interval, o)).unwrap(),
                "1 mon 2 days"
            );
            let mut out = StringRef::default();
            code_point_to_text('ß' as i32, &mut out);
            assert_eq!(out.text(), "ß");
        }
        assert_eq!(read(text_to_code_point, "ß  "), Ok('ß' as i32));
        assert_eq!(read(text_to_code_point, ""), Ok(' ' as i32));
        assert_eq!(read(text_to_code_point, "ab"), Err("22001"));
    }

    #[test]
    fn reads() {
        for (text, expected) in [
            ("t", Ok(1)),
            (" YES", Ok(1)),
            ("off", Ok(0)),
            ("o", Err("22P02")),
            ("", Err("22P02")),
        ] {
            assert_eq!(read(text_to_boolean, text), expected, "{text}");
        }
        for (text, bits, expected) in [
            (" 42 ", 32, Ok(42)),
            ("-32768", 16, Ok(-32_768)),
            ("32768", 16, Err("22003")),
            ("9223372036854775808", 64, Err("22003")),
            ("4.2", 32, Err("22P02")),
            ("", 32, Err("22P02")),
        ] {
            // SAFETY: as in `read_with`.
            let found = read_with(|c, t, o| unsafe { text_to_integer(c, t, bits, o) }, text);
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(read(text_to_double, " 1e3 "), Ok(1000.0));
        assert_eq!(read(text_to_double, "1e400"), Err("22003"));
        assert_eq!(read(text_to_double, "abc"), Err("22P02"));
        assert_eq!(read(text_to_double, "-Infinity"), Ok(f64::NEG_INFINITY));
        assert_eq!(read(text_to_date, "1970-01-11"), Ok(10));
        assert_eq!(read(text_to_date, "1970-02-30"), Err("22008"));
        assert_eq!(read(text_to_timestamp, "1970-01-01 00:00:01"), Ok(1_000_000));
        // SAFETY: as in `read_with`.
        let found = read_with(|c, t, o| unsafe { text_to_decimal(c, t, 5, 2, o) }, "1.005");
        assert_eq!(found, Ok(101));
    }
}
