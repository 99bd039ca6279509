//! Texts as SQL writes them: `format`, quotes, escapes, other encodings and Unicode's normal forms.

use crate::function::{Function, functions, rows};
use crate::type_rules::Kind::{Boolean, Bytea, Integer, Text};
use crate::vector::{Output, Row, check_length};
use frazil_types::{Error, Result, SqlState};
use unicode_normalization::UnicodeNormalization;

pub(super) const FUNCTIONS: &[Function] = functions! {
    "convert", [rows(&[Bytea, Text, Text], convert, Bytea)],
        "converts the bytes of a text from one encoding to another; LATIN1, SQL_ASCII and UTF8 are known";
    "convert_from", [rows(&[Bytea, Text], convert_from, Text)],
        "the text of bytes in an encoding; LATIN1, SQL_ASCII and UTF8 are known";
    "convert_to", [rows(&[Text, Text], convert_to, Bytea)],
        "the bytes of a text in an encoding; LATIN1, SQL_ASCII and UTF8 are known";
    "is_normalized", [
        rows(&[Text], is_normalized, Boolean),
        rows(&[Text, Text], is_normalized, Boolean),
    ], "true if the text is in a normal form of Unicode: NFC, NFD, NFKC or NFKD";
    "normalize", [rows(&[Text], normalize, Text), rows(&[Text, Text], normalize, Text)],
        "the text in a normal form of Unicode: NFC, NFD, NFKC or NFKD";
    "quote_ident", [rows(&[Text], quote_ident, Text)], "the text as an SQL name, quoted if necessary";
    "to_ascii", [
        rows(&[Text], |_, _| Err(no_ascii("UTF8")), Text),
        rows(&[Text, Text], to_ascii, Text),
        rows(&[Text, Integer], to_ascii_of_number, Text),
    ], "the text without accents, from LATIN1, LATIN2, LATIN9 or WIN1250";
    "unistr", [rows(&[Text], unistr, Text)], "with the characters that `\\XXXX`, `\\+XXXXXX`, `\\uXXXX` and `\\UXXXXXXXX` name";
};

fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}

// --- Names -------------------------------------------------------------------------------------

/// PostgreSQL's keywords that are not free as names, sorted.
const KEYWORDS: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// A name as SQL writes it.
fn push_ident(name: &str, out: &mut String) {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if is_plain && KEYWORDS.binary_search(&name).is_err() {
        out.push_str(name);
        return;
    }
    out.push('"');
    for c in name.chars() {
        if c == '"' {
            out.push('"');
        }
        out.push(c);
    }
    out.push('"');
}

/// A text as a literal of SQL.
pub(super) fn push_literal(text: &str, out: &mut String) {
    if text.contains('\\') {
        out.push('E');
    }
    out.push('\'');
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            out.push(c);
        }
        out.push(c);
    }
    out.push('\'');
}

fn quote_ident(row: &Row<'_>, out: &mut Output) -> Result<()> {
    check_length(row.text(0).len().saturating_mul(2))?;
    push_ident(row.text(0), &mut out.scratch);
    out.scratch()
}

pub(super) fn quote_nullable(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.is_null(0) {
        return out.text("NULL");
    }
    check_length(row.text(0).len().saturating_mul(2))?;
    push_literal(row.text(0), &mut out.scratch);
    out.scratch()
}

// --- format ------------------------------------------------------------------------------------

/// What stands between `%` and the letter behind it.
#[derive(Default)]
struct Specifier {
    /// The argument's number; the next one without.
    argument: Option<usize>,
    to_the_left: bool,
    width: Width,
}

#[derive(Default)]
enum Width {
    #[default]
    None,
    Of(i64),
    NextArgument,
    Argument(usize),
}

/// Digits at the beginning of a text as a number. Error 22003.
fn digits(rest: &mut &str) -> Result<Option<i64>> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, behind) = rest.split_at(end);
    if number.is_empty() {
        return Ok(None);
    }
    *rest = behind;
    let number = number.parse::<i32>().ok();
    let beyond = || Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "number is out of range");
    Ok(Some(number.ok_or_else(beyond)?.into()))
}

fn argument_number(number: i64) -> Result<usize> {
    match usize::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(invalid(
            "format specifies argument 0, but arguments are numbered from 1",
        )),
    }
}

/// Reads a specifier up to its letter. Errors 22023, 22003.
fn specifier(rest: &mut &str) -> Result<Specifier> {
    let mut read = Specifier::default();
    if let Some(number) = digits(rest)? {
        let Some(behind) = rest.strip_prefix('$') else {
            read.width = Width::Of(number);
            return Ok(read);
        };
        *rest = behind;
        read.argument = Some(argument_number(number)?);
    }
    while let Some(behind) = rest.strip_prefix('-') {
        *rest = behind;
        read.to_the_left = true;
    }
    if let Some(behind) = rest.strip_prefix('*') {
        *rest = behind;
        read.width = Width::NextArgument;
        if let Some(number) = digits(rest)? {
            let behind = rest.strip_prefix('$');
            *rest = behind.ok_or_else(|| invalid("width argument position must be ended by \"$\""))?;
            read.width = Width::Argument(argument_number(number)?);
        }
    } else if let Some(number) = digits(rest)? {
        read.width = Width::Of(number);
    }
    Ok(read)
}

/// The value of an argument that is a width. Error 22P02.
fn width_of(row: &Row<'_>, argument: usize) -> Result<i64> {
    if row.is_null(argument) {
        return Ok(0);
    }
    let text = row.text(argument);
    text.trim().parse::<i32>().map(i64::from).map_err(|_| {
        let message = format!("invalid input syntax for type integer: \"{text}\"");
        Error::new(SqlState::INVALID_TEXT, message)
    })
}

/// format(text, arguments as texts …). Errors 22023, 22004 for NULL as a name, 22003, 22P02.
pub(super) fn format(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let mut rest = row.text(0);
    // Argument 0 is the format itself.
    let mut next = 1;
    while let Some(at) = rest.find('%') {
        check_length(out.scratch.len() + at)?;
        out.scratch.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            rest = behind;
            out.scratch.push('%');
            continue;
        }
        let read = specifier(&mut rest)?;
        let mut letters = rest.chars();
        let letter = letters.next().ok_or_else(|| {
            invalid("unterminated format() type specifier").with_hint("For a single \"%\" use \"%%\".")
        })?;
        if !matches!(letter, 's' | 'I' | 'L') {
            let message = format!("unrecognized format() type specifier \"{letter}\"");
            return Err(invalid(message).with_hint("For a single \"%\" use \"%%\"."));
        }
        rest = letters.as_str();
        let mut take = |at: Option<usize>| {
            let at = at.unwrap_or(next);
            next = at + 1;
            match at < row.arguments() {
                true => Ok(at),
                false => Err(invalid("too few arguments for format()")),
            }
        };
        let width = match read.width {
            Width::None => 0,
            Width::Of(width) => width,
            Width::NextArgument => width_of(row, take(None)?)?,
            Width::Argument(at) => width_of(row, take(Some(at))?)?,
        };
        let width = if read.to_the_left { -width.abs() } else { width };
        let argument = take(read.argument)?;
        push_argument(row, argument, letter, width, out)?;
    }
    check_length(out.scratch.len() + rest.len())?;
    out.scratch.push_str(rest);
    out.scratch()
}

/// Writes an argument, filled with blanks to a width, at its end if that is negative.
fn push_argument(row: &Row<'_>, argument: usize, letter: char, width: i64, out: &mut Output) -> Result<()> {
    let mut value = String::new();
    match (letter, row.is_null(argument)) {
        ('I', true) => {
            let message = "null values cannot be formatted as an SQL identifier";
            return Err(Error::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
        }
        ('L', true) => value.push_str("NULL"),
        (_, true) => {}
        ('I', false) => push_ident(row.text(argument), &mut value),
        ('L', false) => push_literal(row.text(argument), &mut value),
        (_, false) => value.push_str(row.text(argument)),
    }
    let missing = (width.unsigned_abs() as usize).saturating_sub(value.chars().count());
    let length = out
        .scratch
        .len()
        .saturating_add(value.len())
        .saturating_add(missing);
    check_length(length)?;
    out.room(length)?;
    let blanks = std::iter::repeat_n(' ', missing);
    if width < 0 {
        out.scratch.push_str(&value);
        out.scratch.extend(blanks);
    } else {
        out.scratch.extend(blanks);
        out.scratch.push_str(&value);
    }
    Ok(())
}

// --- Escapes -----------------------------------------------------------------------------------

/// unistr(text). Errors 42601 for what is no escape or half a surrogate pair, 22023 for numbers of no character.
fn unistr(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let escape = || {
        Error::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape")
            .with_hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
    };
    let pair = || Error::new(SqlState::SYNTAX_ERROR, "invalid Unicode surrogate pair");
    let mut first_half: Option<u32> = None;
    let mut rest = row.text(0);
    while let Some(c) = rest.chars().next() {
        if c != '\\' || rest.as_bytes().get(1) == Some(&b'\\') {
            if first_half.is_some() {
                return Err(pair());
            }
            out.scratch.push(c);
            rest = &rest[if c == '\\' { 2 } else { c.len_utf8() }..];
            continue;
        }
        let (skipped, length) = match rest.as_bytes().get(1) {
            Some(b'+') => (2, 6),
            Some(b'u') => (2, 4),
            Some(b'U') => (2, 8),
            _ => (1, 4),
        };
        let hex = rest.get(skipped..skipped + length).ok_or_else(escape)?;
        if !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(escape());
        }
        let code = u32::from_str_radix(hex, 16).map_err(|_| escape())?;
        rest = &rest[skipped + length..];
        let code = match (first_half.take(), code) {
            (None, 0xd800..=0xdbff) => {
                first_half = Some(code);
                continue;
            }
            (Some(first), 0xdc00..=0xdfff) => 0x10000 + ((first & 0x3ff) << 10 | code & 0x3ff),
            (Some(_), _) | (None, 0xdc00..=0xdfff) => return Err(pair()),
            (None, code) => code,
        };
        let c = char::from_u32(code).filter(|c| *c != '\0');
        out.scratch
            .push(c.ok_or_else(|| invalid(format!("invalid Unicode code point: {code:04X}")))?);
    }
    if first_half.is_some() {
        return Err(pair());
    }
    out.scratch()
}

// --- Normal forms ------------------------------------------------------------------------------

/// Writes the normal form that the second argument names, else NFC. Error 22023.
fn normal_form(row: &Row<'_>, out: &mut String) -> Result<()> {
    let (text, form) = (row.text(0), if row.arguments() > 1 { row.text(1) } else { "NFC" });
    match form.to_ascii_uppercase().as_str() {
        "NFC" => out.extend(text.nfc()),
        "NFD" => out.extend(text.nfd()),
        "NFKC" => out.extend(text.nfkc()),
        "NFKD" => out.extend(text.nfkd()),
        _ => return Err(invalid(format!("invalid normalization form: {form}"))),
    }
    Ok(())
}

fn normalize(row: &Row<'_>, out: &mut Output) -> Result<()> {
    normal_form(row, &mut out.scratch)?;
    out.scratch()
}

fn is_normalized(row: &Row<'_>, out: &mut Output) -> Result<()> {
    normal_form(row, &mut out.scratch)?;
    let is_same = out.scratch == row.text(0);
    out.bool(is_same)
}

// --- Encodings ---------------------------------------------------------------------------------

/// An encoding of texts.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Latin1,
    Ascii,
}

/// An encoding by its name. Error 22023.
fn encoding(which: &str, name: &str) -> Result<Encoding> {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    match letters.to_ascii_lowercase().as_str() {
        "utf8" | "unicode" => Ok(Encoding::Utf8),
        "latin1" | "iso88591" => Ok(Encoding::Latin1),
        "sqlascii" => Ok(Encoding::Ascii),
        _ => Err(invalid(format!("invalid {which} encoding name \"{name}\""))
            .with_hint("LATIN1, SQL_ASCII and UTF8 are known")),
    }
}

/// The text that bytes are. Error 22021 for bytes that are not of the encoding, and for a zero.
fn read_encoded(bytes: &[u8], encoding: Encoding, out: &mut String) -> Result<()> {
    let refused = |at: usize| {
        let name = if encoding == Encoding::Latin1 {
            "LATIN1"
        } else {
            "UTF8"
        };
        let message = format!(
            "invalid byte sequence for encoding \"{name}\": 0x{:02x}",
            bytes[at]
        );
        Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message)
    };
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        return Err(refused(at));
    }
    match encoding {
        Encoding::Latin1 => out.extend(bytes.iter().map(|b| char::from(*b))),
        Encoding::Utf8 | Encoding::Ascii => {
            out.push_str(std::str::from_utf8(bytes).map_err(|e| refused(e.valid_up_to()))?);
        }
    }
    Ok(())
}

/// A text's bytes. Error 22P05 for a character that the encoding does not have.
fn encoded(text: &str, encoding: Encoding) -> Result<Vec<u8>> {
    match encoding {
        Encoding::Utf8 | Encoding::Ascii => Ok(text.as_bytes().to_vec()),
        Encoding::Latin1 => text
            .chars()
            .map(|c| {
                u8::try_from(u32::from(c)).map_err(|_| {
                    let mut bytes = [0; 4];
                    let hex: Vec<String> = c
                        .encode_utf8(&mut bytes)
                        .bytes()
                        .map(|b| format!("0x{b:02x}"))
                        .collect();
                    let message = format!(
                        "character with byte sequence {} in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"",
                        hex.join(" ")
                    );
                    Error::new(SqlState("22P05"), message)
                })
            })
            .collect(),
    }
}

fn convert_from(row: &Row<'_>, out: &mut Output) -> Result<()> {
    read_encoded(row.bytes(0), encoding("source", row.text(1))?, &mut out.scratch)?;
    out.scratch()
}

fn convert_to(row: &Row<'_>, out: &mut Output) -> Result<()> {
    out.bytes(&encoded(row.text(0), encoding("destination", row.text(1))?)?)
}

fn convert(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (from, to) = (
        encoding("source", row.text(1))?,
        encoding("destination", row.text(2))?,
    );
    if from == Encoding::Ascii && to == Encoding::Ascii {
        return out.bytes(row.bytes(0));
    }
    read_encoded(row.bytes(0), from, &mut out.scratch)?;
    let bytes = encoded(&out.scratch, to)?;
    out.bytes(&bytes)
}

/// What the bytes from 160 on are without accents, where UTF-8 has such bytes; behind them are blanks.
const LATIN1: &str = "  cL Y  \"Ca  -R     'u .,      ?  AAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooo";
const LATIN2: &str =
    " A L LS \"SSTZ-ZZ a,l'ls ,sstz\"zz  AAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoo";
const LATIN9: &str = "  cL YS sCa  -R     Zu .z   EeY?  AAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooo";
const WIN1250: &str =
    "   L A  \"CS  -RZ  ,l'u .,as L\"lz  AAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoo";
/// Of WIN1250 those from 128 on.
const WIN1250_LOW: &str = "  ' \"    %S<STZZ `'\"\".--  s>stzz";

fn no_ascii(encoding: &str) -> Error {
    let message = format!("encoding conversion from {encoding} to ASCII not supported");
    Error::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

fn push_ascii(text: &str, low: &str, high: &str, out: &mut Output) -> Result<()> {
    for byte in text.bytes() {
        let letter = match byte {
            0..128 => byte,
            128..160 => low
                .as_bytes()
                .get(usize::from(byte) - 128)
                .copied()
                .unwrap_or(b' '),
            160.. => high
                .as_bytes()
                .get(usize::from(byte) - 160)
                .copied()
                .unwrap_or(b' '),
        };
        out.scratch.push(letter.into());
    }
    out.scratch()
}

/// to_ascii(text, encoding). Errors 0A000 for encodings that have no letters to strip, 42704 for those not known.
fn to_ascii(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let name = row.text(1);
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    match letters.to_ascii_lowercase().as_str() {
        "latin1" | "iso88591" => push_ascii(row.text(0), "", LATIN1, out),
        "latin2" | "iso88592" => push_ascii(row.text(0), "", LATIN2, out),
        "latin9" | "iso885915" => push_ascii(row.text(0), "", LATIN9, out),
        "win1250" | "windows1250" => push_ascii(row.text(0), WIN1250_LOW, WIN1250, out),
        "utf8" | "unicode" => Err(no_ascii("UTF8")),
        "sqlascii" => Err(no_ascii("SQL_ASCII")),
        _ => {
            let message = format!("{name} is not a valid encoding name");
            Err(Error::new(SqlState("42704"), message))
        }
    }
}

/// The same by PostgreSQL's number of the encoding.
fn to_ascii_of_number(row: &Row<'_>, out: &mut Output) -> Result<()> {
    match row.int(1) {
        0 => Err(no_ascii("SQL_ASCII")),
        6 => Err(no_ascii("UTF8")),
        8 => push_ascii(row.text(0), "", LATIN1, out),
        9 => push_ascii(row.text(0), "", LATIN2, out),
        16 => push_ascii(row.text(0), "", LATIN9, out),
        29 => push_ascii(row.text(0), WIN1250_LOW, WIN1250, out),
        number => {
            let message = format!("{number} is not a valid encoding code");
            Err(Error::new(SqlState("42704"), message))
        }
    }
}
