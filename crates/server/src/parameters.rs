//! The values of parameters and the formats of values, as Bind says them.

use crate::client_text::{self, TextPlace};
use frazil::{ClientEncoding, Declared, Error, LogicalType, Result, SqlState};
use frazil_types::sql_type::{numeric_text, utf8};
use frazil_types::{Kind, Value};

/// A format of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As psql shows them.
    Text,
    /// PostgreSQL's binary forms.
    Binary,
}

impl Format {
    /// The format of a code. 22023 for others than 0 and 1.
    fn of_code(code: i16) -> Result<Format> {
        match code {
            0 => Ok(Format::Text),
            1 => Ok(Format::Binary),
            other => Err(Error::new(
                SqlState::INVALID_PARAMETER,
                format!("unsupported format code: {other}"),
            )),
        }
    }

    /// Its code in messages.
    pub fn code(self) -> i16 {
        match self {
            Format::Text => 0,
            Format::Binary => 1,
        }
    }
}

/// The formats of a row's values: none (all text), one for all, or one for each.
#[derive(Clone, Debug, Default)]
pub struct Formats(Vec<Format>);

impl Formats {
    /// The formats of codes. 22023 for others than 0 and 1.
    pub fn of_codes(codes: &[i16]) -> Result<Formats> {
        codes
            .iter()
            .map(|&code| Format::of_code(code))
            .collect::<Result<_>>()
            .map(Formats)
    }

    /// Binary for all.
    pub fn binary() -> Formats {
        Formats(vec![Format::Binary])
    }

    /// The format of the value at a place.
    pub fn of(&self, at: usize) -> Format {
        match &self.0[..] {
            [] => Format::Text,
            [all] => *all,
            each => each.get(at).copied().unwrap_or(Format::Text),
        }
    }

    /// Errors with 08P01 if these are not the formats of `values` values.
    pub fn check(&self, values: usize) -> Result<()> {
        match self.0.len() {
            0 | 1 => Ok(()),
            count if count == values => Ok(()),
            count => Err(crate::messages::violation(format!(
                "bind message has {count} formats but there are {values} values"
            ))),
        }
    }
}

/// The number of PostgreSQL's type void.
const VOID: u32 = 2278;

/// The type that a client declares by a number. `None` for 0, and for types that there are not: such parameters have
/// the type that the statement gives them.
pub fn declared(oid: u32) -> Option<Declared> {
    let numeric = Kind::Numeric.info();
    if oid == numeric.oid {
        return Some(Declared::Numeric);
    }
    if oid == VOID {
        return Some(Declared::Void);
    }
    let of_kind = |kind: &Kind| {
        let (ty, info) = (kind.plain()?, kind.info());
        match oid {
            oid if oid == info.oid => Some(ty),
            oid if oid == info.array_oid => ty.array(),
            _ => None,
        }
    };
    let ty = (oid != 0).then(|| Kind::ALL.iter().find_map(of_kind)).flatten();
    ty.filter(|ty| !matches!(ty, LogicalType::Record))
        .map(Declared::Type)
}

/// The number of a declared type.
pub fn oid(declared: Declared) -> u32 {
    match declared {
        Declared::Type(ty) => ty.oid(),
        Declared::Numeric => Kind::Numeric.info().oid,
        Declared::Void => VOID,
    }
}

/// The text of a parameter's value; `None` for NULL.
pub fn text(value: &Value, declared: Declared) -> Option<String> {
    let ty = match declared {
        Declared::Type(ty) => ty,
        // Its values are decimal texts.
        Declared::Numeric => LogicalType::UNTYPED,
        Declared::Void => return None,
    };
    (!value.is_null()).then(|| value.display(ty).to_string())
}

/// The bytes of a parameter in UTF-8. The errors of its conversion.
pub fn in_utf8(
    bytes: Vec<u8>,
    encoding: ClientEncoding,
    format: Format,
    declared: Declared,
) -> Result<Vec<u8>> {
    let place = match (format, declared) {
        _ if !client_text::converts(encoding) => TextPlace::Nowhere,
        (Format::Text, _) => TextPlace::Whole,
        (Format::Binary, Declared::Type(ty)) => TextPlace::in_binary(ty),
        (Format::Binary, Declared::Numeric | Declared::Void) => TextPlace::Nowhere,
    };
    if place == TextPlace::Nowhere {
        return Ok(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    place.convert(&bytes, client_text::from_latin1, &mut text)?;
    Ok(text)
}

/// The value of a parameter. `at` counts from 0. The errors of its type, with the number of the parameter.
pub fn value(bytes: Option<&[u8]>, format: Format, declared: Declared, at: usize) -> Result<Value> {
    let Some(bytes) = bytes else {
        return Ok(Value::Null);
    };
    let value = match (declared, format) {
        (Declared::Type(ty), Format::Binary) => (ty.info().receive)(bytes, ty),
        (Declared::Type(ty), Format::Text) => utf8(bytes).and_then(|text| (ty.info().read)(text, ty)),
        (Declared::Numeric, Format::Binary) => numeric_text(bytes).map(Value::Text),
        (Declared::Void, _) => Ok(Value::Null),
        (Declared::Numeric, Format::Text) => utf8(bytes).map(|text| Value::Text(text.trim().to_owned())),
    };
    value.map_err(|error| match error.state() {
        SqlState::INVALID_BINARY => error.in_context(format!("parameter ${}", at + 1)),
        _ => error,
    })
}
