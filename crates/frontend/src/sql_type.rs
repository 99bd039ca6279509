//! SQL type names → our types.

use frazil_catalog::SYSTEM_SCHEMA;
use frazil_types::logical_type::{MICRO_DIGITS, WITHOUT_LENGTH};
use frazil_types::{Error, Kind, LogicalType, Result, SqlState, Zone};
use sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType as SqlDataType, ExactNumberInfo, Ident, ObjectName,
    TimezoneInfo,
};

/// Types that statements defined, by their names.
pub(crate) type Defined<'a> = &'a dyn Fn(&ObjectName) -> Option<LogicalType>;

/// Our type of a SQL type name. 0A000 for what is not supported, 22023 for impossible lengths, 42704 for what is not a
/// type.
pub(crate) fn of_sql(ty: &SqlDataType, defined: Defined<'_>) -> Result<LogicalType> {
    use SqlDataType as T;
    match ty {
        T::Decimal(info) | T::Numeric(info) | T::Dec(info) => of_number_info(info),
        T::Float(ExactNumberInfo::Precision(p)) if (25..=53).contains(p) => Ok(LogicalType::Double),
        T::Float(ExactNumberInfo::Precision(p)) if (1..=24).contains(p) => Ok(LogicalType::Real),
        T::Time(digits, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            Ok(LogicalType::Time(second_digits(*digits)))
        }
        T::Timestamp(digits, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            Ok(LogicalType::Timestamp(second_digits(*digits)))
        }
        T::Timestamp(digits, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => {
            Ok(LogicalType::TimestampTz(Zone::UTC, second_digits(*digits)))
        }
        T::Char(length) | T::Character(length) => Ok(LogicalType::Char(of_length(length, ty)?.unwrap_or(1))),
        T::Varchar(length) | T::CharacterVarying(length) | T::CharVarying(length) => Ok(
            LogicalType::Varchar(of_length(length, ty)?.unwrap_or(WITHOUT_LENGTH)),
        ),
        T::Custom(name, arguments) if name.to_string().eq_ignore_ascii_case("bpchar") => {
            match arguments.first().map(|a| a.parse::<u32>()) {
                None => Ok(LogicalType::Char(WITHOUT_LENGTH)),
                Some(Ok(n)) if n > 0 => Ok(LogicalType::Char(n)),
                Some(_) => Err(Error::unsupported(format!("type {ty}"))),
            }
        }
        T::Array(ArrayElemTypeDef::SquareBracket(element, _)) => {
            // Each further pair of brackets is a dimension, of which a type knows nothing; so does a length.
            let element = of_sql(element, defined)?;
            Ok(element.array().unwrap_or(element))
        }
        ty => of_name(ty, defined),
    }
}

/// The type as it is declared without a length or digits.
pub(crate) fn without_modifiers(ty: LogicalType) -> LogicalType {
    match (ty, ty.element()) {
        (LogicalType::Decimal { .. }, _) => LogicalType::Numeric,
        (_, Some(element)) => without_modifiers(element).array().unwrap_or(ty),
        (ty, None) => ty.without_length().with_all_digits(),
    }
}

/// The digits of a second that a type of times is declared with: as in PostgreSQL all of them where it asks for more.
fn second_digits(digits: Option<u64>) -> u8 {
    digits.map_or(MICRO_DIGITS, |digits| digits.min(MICRO_DIGITS.into()) as u8)
}

/// A type, or arrays of one, by PostgreSQL's short name in quotes: `"int4"`, `pg_catalog."_text"`.
fn of_quoted_name(ty: &SqlDataType) -> Option<LogicalType> {
    let SqlDataType::Custom(name, modifiers) = ty else {
        return None;
    };
    let parts: Vec<&Ident> = name.0.iter().map(|part| part.as_ident()).collect::<Option<_>>()?;
    let name = match parts[..] {
        [name] => name,
        [schema, name] if schema.value.eq_ignore_ascii_case(SYSTEM_SCHEMA) => name,
        _ => return None,
    };
    if name.quote_style.is_none() || !modifiers.is_empty() {
        return None;
    }
    let named = |name: &str| {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.info().typname == name)?
            .plain()
    };
    let array = || name.value.strip_prefix('_').and_then(named)?.array();
    named(&name.value).or_else(array)
}

/// A type that has neither a length nor digits.
fn of_name(ty: &SqlDataType, defined: Defined<'_>) -> Result<LogicalType> {
    if let Some(known) = of_quoted_name(ty) {
        return Ok(known);
    }
    let name = ty.to_string().to_lowercase();
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name).to_owned();
    if let Some(known) = Kind::named(&name).and_then(Kind::plain) {
        return Ok(known);
    }
    if let Some(array) = name.strip_prefix('_').and_then(array_of_name) {
        return Ok(array);
    }
    if let SqlDataType::Custom(name, modifiers) = ty
        && let Some(known) = defined(name)
    {
        return match modifiers.is_empty() {
            true => Ok(known),
            false => Err(Error::new(
                SqlState::SYNTAX_ERROR,
                format!("type modifier is not allowed for type \"{name}\""),
            )),
        };
    }
    if let SqlDataType::Custom(name, _) = ty
        && !is_known(&name.to_string())
    {
        let message = format!("type \"{}\" does not exist", name.to_string().to_lowercase());
        return Err(Error::new(SqlState::UNDEFINED_OBJECT, message).with_hint(types()));
    }
    Err(Error::unsupported(format!("type {ty}")).with_hint(types()))
}

/// The arrays of the built-in type that `pg_type` calls `element`: `int4` of `_int4`.
fn array_of_name(element: &str) -> Option<LogicalType> {
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| kind.info().typname == element)?;
    kind.plain()?.array()
}

/// What types there are, for hints.
fn types() -> String {
    let shown = |kind: &Kind| match kind {
        Kind::Numeric => "numeric, decimal(p,s)",
        Kind::Char => "char(n)",
        Kind::Varchar => "varchar(n)",
        Kind::Array => "arrays of them such as integer[]",
        Kind::Enum => "those of CREATE TYPE … AS ENUM",
        kind => kind.info().sql_names[0],
    };
    let names: Vec<&str> = Kind::ALL.iter().map(shown).collect();
    let (last, others) = names.split_last().expect("there are types");
    format!("the types are {} and {last}", others.join(", "))
}

/// Types of PostgreSQL that sqlparser does not name, which Frazil does not have.
fn is_known(name: &str) -> bool {
    let known = [
        "timetz",
        "money",
        "inet",
        "cidr",
        "macaddr",
        "tsvector",
        "tsquery",
        "hstore",
        "serial",
        "bigserial",
        "smallserial",
        "int4range",
        "int8range",
        "numrange",
        "daterange",
        "point",
        "line",
        "box",
        "path",
        "polygon",
        "circle",
        "xid",
    ];
    known.iter().any(|k| name.eq_ignore_ascii_case(k))
}

fn of_number_info(info: &ExactNumberInfo) -> Result<LogicalType> {
    let (precision, scale) = match *info {
        ExactNumberInfo::None => return Ok(LogicalType::Numeric),
        ExactNumberInfo::Precision(p) => (p, 0),
        ExactNumberInfo::PrecisionAndScale(p, s) => (p, s),
    };
    if !(1..=38).contains(&precision) || scale < 0 || scale as u64 > precision {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("decimal({precision},{scale}): precision must be 1 to 38, scale 0 to the precision"),
        ));
    }
    Ok(LogicalType::Decimal {
        precision: precision as u8,
        scale: scale as u8,
    })
}

fn of_length(length: &Option<CharacterLength>, ty: &SqlDataType) -> Result<Option<u32>> {
    match length {
        None => Ok(None),
        Some(CharacterLength::IntegerLength { length, .. }) if (1..=10_485_760).contains(length) => {
            Ok(Some(*length as u32))
        }
        Some(_) => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("{ty}: the length must be 1 to 10485760"),
        )),
    }
}
