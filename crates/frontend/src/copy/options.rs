//! The options of COPY, from their tokens.

use super::{
    CopyColumns, CopyCompression, CopyEncoding, CopyEnd, CopyExisting, CopyFormat, CopyHeader, CopyOnError,
    CopyOptions, invalid,
};
use crate::parse::Cursor;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// Options as they are written: what holds without the first ones depends on the format, which may come last.
pub(super) struct Given {
    /// Their names, in the order in which they are written.
    pub names: Vec<String>,
    format: Option<CopyFormat>,
    delimiter: Option<char>,
    quote: Option<char>,
    escape: Option<char>,
    null: Option<String>,
    /// The others, which do not depend on the format.
    others: CopyOptions,
}

impl Given {
    /// Reads [[WITH] (option, …)], or PostgreSQL's older [WITH] option …
    pub fn read(cursor: &mut Cursor) -> Result<Given> {
        let mut given = Given {
            names: Vec::new(),
            format: None,
            delimiter: None,
            quote: None,
            escape: None,
            null: None,
            others: CopyOptions::of_format(CopyFormat::Text),
        };
        read_options(cursor, &mut given)?;
        Ok(given)
    }

    /// All options of a COPY from or to `end`.
    pub fn options(&self, end: &CopyEnd) -> CopyOptions {
        let usual = match self.format {
            Some(format) => CopyOptions::of_format(format),
            None => CopyOptions::of_path(end),
        };
        let quote = self.quote.unwrap_or(usual.quote);
        CopyOptions {
            format: usual.format,
            delimiter: self.delimiter.unwrap_or(usual.delimiter),
            quote,
            escape: self.escape.unwrap_or(quote),
            null: self.null.clone().unwrap_or(usual.null),
            ..self.others.clone()
        }
    }
}

fn read_options(cursor: &mut Cursor, given: &mut Given) -> Result<()> {
    if cursor.take("using") {
        if cursor.word().as_deref() != Some("delimiters") {
            return Err(cursor.error());
        }
    } else {
        cursor.take("with");
    }
    if !cursor.take_token(&Token::LParen) {
        while cursor.peek().is_some() {
            option(cursor, given, Syntax::Old)?;
        }
        return Ok(());
    }
    loop {
        option(cursor, given, Syntax::List)?;
        if !cursor.take_token(&Token::Comma) {
            break;
        }
    }
    cursor.expect(&Token::RParen)
}

/// The two ways to write options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// In parentheses.
    List,
    /// One behind the other, as before PostgreSQL 9.0.
    Old,
}

/// Notes the option of a name. 42601 if it is given twice.
fn note_once(given: &mut Given, name: &str) -> Result<()> {
    let name = match name {
        "csv" | "json" | "parquet" | "text" | "binary" => "format",
        "ignore_errors" => "on_error",
        "delimiters" => "delimiter",
        name => name,
    };
    if given.names.iter().any(|given| given == name) {
        let message = format!("conflicting or redundant options: {}", name.to_uppercase());
        return Err(Error::new(SqlState::SYNTAX_ERROR, message));
    }
    given.names.push(name.to_owned());
    Ok(())
}

/// The name of the option that is next. FORCE NOT NULL and its like are several words in the older syntax.
fn option_name(cursor: &mut Cursor, syntax: Syntax) -> Result<String> {
    let name = cursor.word().ok_or_else(|| cursor.error())?;
    cursor.next();
    if name != "force" || syntax == Syntax::List {
        return Ok(name);
    }
    if cursor.take("quote") {
        return Ok("force_quote".to_owned());
    }
    let not = cursor.take("not");
    cursor.expect_word("null")?;
    Ok(if not { "force_not_null" } else { "force_null" }.to_owned())
}

fn option(cursor: &mut Cursor, given: &mut Given, syntax: Syntax) -> Result<()> {
    let name = option_name(cursor, syntax)?;
    note_once(given, &name)?;
    let is_mark = ["delimiter", "delimiters", "quote", "escape", "null"].contains(&name.as_str());
    if is_mark {
        cursor.take("as");
    }
    match name.as_str() {
        "format" => {
            let format = word_or_text(cursor)?;
            given.format = Some(format_of(&format)?);
        }
        "csv" | "json" | "parquet" | "text" | "binary" => given.format = Some(format_of(&name)?),
        "delimiter" | "delimiters" => given.delimiter = Some(character(cursor, "delimiter")?),
        "quote" => given.quote = Some(character(cursor, "quote")?),
        "escape" => given.escape = Some(character(cursor, "escape")?),
        "null" => given.null = Some(text(cursor)?),
        "header" => given.others.header = header(cursor, syntax)?,
        "force_quote" => given.others.force_quote = columns(cursor, syntax, &name)?,
        "force_not_null" => given.others.force_not_null = columns(cursor, syntax, &name)?,
        "force_null" => given.others.force_null = columns(cursor, syntax, &name)?,
        "encoding" => given.others.encoding = encoding(&text(cursor)?)?,
        // FREEZE has no effect: rows freeze when they are cold.
        "freeze" => drop(flag(cursor)?),
        _ => return own_option(cursor, &mut given.others, &name),
    }
    Ok(())
}

/// An option that PostgreSQL does not have.
fn own_option(cursor: &mut Cursor, options: &mut CopyOptions, name: &str) -> Result<()> {
    match name {
        "array" => options.array = flag(cursor)?,
        "compression" => options.compression = compression(cursor)?,
        "row_group_size" => {
            options.row_group_rows = match cursor.next() {
                Some(Token::Number(n, _)) => n.parse().ok().filter(|&n| n > 0),
                _ => return Err(cursor.error_before()),
            }
            .ok_or_else(|| cursor.error_before())?;
        }
        "on_error" | "ignore_errors" | "rejects_table" | "reject_limit" => {
            rejects_option(cursor, options, name)?;
        }
        "partition_by" => options.partition_by = names(cursor)?,
        "write_partition_columns" => options.write_partition_columns = flag(cursor)?,
        "overwrite" => existing(cursor, options, CopyExisting::Removed)?,
        "overwrite_or_ignore" => existing(cursor, options, CopyExisting::Kept)?,
        "append" => existing(cursor, options, CopyExisting::Joined)?,
        other => {
            return Err(
                Error::unsupported(format!("COPY option {}", other.to_uppercase())).with_hint(
                    "the options are FORMAT, HEADER, DELIMITER, QUOTE, ESCAPE, NULL, FORCE_QUOTE, \
                     FORCE_NULL, FORCE_NOT_NULL, ENCODING, FREEZE, ARRAY, \
                     COMPRESSION, ROW_GROUP_SIZE, ON_ERROR, REJECTS_TABLE, REJECT_LIMIT, PARTITION_BY, WRITE_PARTITION_COLUMNS, OVERWRITE, \
                     OVERWRITE_OR_IGNORE and APPEND",
                ),
            );
        }
    }
    Ok(())
}

/// The format of a name. 22023 for one that is not known.
fn format_of(name: &str) -> Result<CopyFormat> {
    match name {
        "text" => Ok(CopyFormat::Text),
        "csv" => Ok(CopyFormat::Csv),
        "json" => Ok(CopyFormat::Json),
        "parquet" => Ok(CopyFormat::Parquet),
        "binary" => Ok(CopyFormat::Binary),
        other => Err(invalid(format!("COPY format \"{other}\" not recognized"))),
    }
}

/// HEADER, which in a list may have a value.
fn header(cursor: &mut Cursor, syntax: Syntax) -> Result<CopyHeader> {
    if syntax == Syntax::Old {
        return Ok(CopyHeader::Names);
    }
    let is_match = match cursor.peek() {
        Some(Token::Word(w)) => w.value.eq_ignore_ascii_case("match"),
        Some(Token::SingleQuotedString(text)) => text.eq_ignore_ascii_case("match"),
        _ => false,
    };
    if is_match {
        cursor.next();
        return Ok(CopyHeader::Match);
    }
    Ok(match flag(cursor)? {
        true => CopyHeader::Names,
        false => CopyHeader::Absent,
    })
}

/// The columns of an option: `*`, or names, which stand in parentheses in a list of options. 42601, 22023.
fn columns(cursor: &mut Cursor, syntax: Syntax, option: &str) -> Result<CopyColumns> {
    if cursor.take_token(&Token::Mul) {
        return Ok(CopyColumns::All);
    }
    match syntax {
        Syntax::List if cursor.peek() == Some(&Token::LParen) => names(cursor).map(CopyColumns::Named),
        Syntax::List => Err(invalid(format!(
            "argument to option \"{option}\" must be a list of column names"
        ))),
        Syntax::Old => {
            let mut names = vec![cursor.name()?];
            while cursor.take_token(&Token::Comma) {
                names.push(cursor.name()?);
            }
            Ok(CopyColumns::Named(names))
        }
    }
}

/// The encoding of a name. 0A000 for all but UTF-8.
fn encoding(name: &str) -> Result<CopyEncoding> {
    match name.to_lowercase().as_str() {
        "utf8" | "utf-8" | "unicode" => Ok(CopyEncoding::Utf8),
        _ => Err(Error::unsupported(format!("COPY encoding {name}"))),
    }
}

/// Reads the value of an option that says what becomes of rows that cannot be read.
fn rejects_option(cursor: &mut Cursor, options: &mut CopyOptions, name: &str) -> Result<()> {
    match name {
        "on_error" => {
            options.on_error = match word_or_text(cursor)?.as_str() {
                "stop" => CopyOnError::Stop,
                "ignore" => CopyOnError::Ignore,
                other => return Err(invalid(format!("COPY ON_ERROR \"{other}\" not recognized"))),
            };
        }
        "ignore_errors" => {
            options.on_error = match flag(cursor)? {
                true => CopyOnError::Ignore,
                false => CopyOnError::Stop,
            }
        }
        "rejects_table" => {
            options.rejects_table = Some(match cursor.peek() {
                Some(Token::SingleQuotedString(_)) => WrittenName::unqualified(text(cursor)?),
                _ => cursor.table_name()?,
            });
        }
        _ => {
            let limit = match cursor.next() {
                Some(Token::Number(n, _)) => n.parse().ok(),
                Some(Token::SingleQuotedString(n)) => n.parse().ok(),
                _ => None,
            };
            let limit: u64 = limit.ok_or_else(|| cursor.error_before())?;
            if limit == 0 {
                return Err(invalid("REJECT_LIMIT (0) must be greater than zero"));
            }
            options.reject_limit = Some(limit);
        }
    }
    Ok(())
}

/// A name, or several in parentheses.
fn names(cursor: &mut Cursor) -> Result<Vec<String>> {
    if !cursor.take_token(&Token::LParen) {
        return Ok(vec![cursor.name()?]);
    }
    let mut names = Vec::new();
    loop {
        names.push(cursor.name()?);
        if !cursor.take_token(&Token::Comma) {
            break;
        }
    }
    cursor.expect(&Token::RParen)?;
    Ok(names)
}

/// Notes what becomes of files that are there. 42601 if it is said twice.
fn existing(cursor: &mut Cursor, options: &mut CopyOptions, what: CopyExisting) -> Result<()> {
    if !flag(cursor)? {
        return Ok(());
    }
    if options.existing != CopyExisting::Refused {
        let message = "OVERWRITE, OVERWRITE_OR_IGNORE and APPEND exclude each other";
        return Err(Error::new(SqlState::SYNTAX_ERROR, message));
    }
    options.existing = what;
    Ok(())
}

fn flag(cursor: &mut Cursor) -> Result<bool> {
    let value = match cursor.word().as_deref() {
        Some("true" | "on") => true,
        Some("false" | "off") => false,
        _ => match cursor.peek() {
            Some(Token::Number(n, _)) if n == "1" || n == "0" => n == "1",
            None | Some(Token::Comma | Token::RParen) => return Ok(true),
            Some(Token::Word(_)) if !matches!(cursor.peek_behind(), Some(Token::Comma | Token::RParen)) => {
                return Ok(true);
            }
            Some(_) => {
                return Err(cursor.error_of(SqlState::SYNTAX_ERROR, "the option requires a Boolean value"));
            }
        },
    };
    cursor.next();
    Ok(value)
}

fn compression(cursor: &mut Cursor) -> Result<CopyCompression> {
    let name = word_or_text(cursor)?;
    CopyCompression::named(&name).ok_or_else(|| {
        let message = format!("COPY COMPRESSION {name} is not known");
        Error::new(SqlState::INVALID_PARAMETER, message)
            .with_hint("there are none, gzip, zstd, snappy and lz4")
    })
}

/// A word, or a text in quotes, in lower case.
fn word_or_text(cursor: &mut Cursor) -> Result<String> {
    match cursor.next() {
        Some(Token::Word(w)) => Ok(w.value.to_lowercase()),
        Some(Token::SingleQuotedString(s)) => Ok(s.to_lowercase()),
        _ => Err(cursor.error_before()),
    }
}

fn text(cursor: &mut Cursor) -> Result<String> {
    match cursor.next() {
        Some(Token::SingleQuotedString(s) | Token::EscapedStringLiteral(s)) => Ok(s),
        _ => Err(cursor.error_before()),
    }
}

fn character(cursor: &mut Cursor, option: &str) -> Result<char> {
    let value = text(cursor)?;
    let value = if value == "\\t" { "\t" } else { &value };
    let mut chars = value.chars();
    match (chars.next(), chars.next()) {
        (Some('\n' | '\r'), None) => Err(invalid(format!(
            "COPY {option} cannot be newline or carriage return"
        ))),
        (Some(c), None) if c.is_ascii() => Ok(c),
        _ => Err(Error::unsupported(format!(
            "COPY {option} of anything but one ASCII character"
        ))),
    }
}
