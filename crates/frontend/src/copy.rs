//! COPY: which file, in which form.

use crate::parse::Cursor;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFormat {
    /// Comma- (or otherwise) separated text.
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// How to read a file. All but `format` concern CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    /// Its form. Without FORMAT: Parquet if the path ends in `.parquet`, else CSV.
    pub format: CopyFormat,
    /// Whether the first line names the columns.
    pub header: bool,
    /// Between fields.
    pub delimiter: char,
    /// Around fields.
    pub quote: char,
    /// Before a quote within a quoted field.
    pub escape: char,
    /// The unquoted text that stands for NULL.
    pub null: String,
}

impl CopyOptions {
    /// What holds without options.
    pub fn of_format(format: CopyFormat) -> CopyOptions {
        CopyOptions {
            format,
            header: false,
            delimiter: ',',
            quote: '"',
            escape: '"',
            null: String::new(),
        }
    }
}

/// COPY as written.
#[derive(Clone, Debug)]
pub(crate) struct CopyStatement {
    pub table: String,
    pub columns: Vec<String>,
    pub path: String,
    pub options: CopyOptions,
}

/// Reads COPY table [(columns)] FROM 'path' [[WITH] (option, …)].
pub(crate) fn parse(cursor: &mut Cursor) -> Result<CopyStatement> {
    cursor.next();
    if cursor.peek() == Some(&Token::LParen) {
        return Err(Error::unsupported("COPY of a query"));
    }
    let table = cursor.table_name()?;
    let mut columns = Vec::new();
    if cursor.take_token(&Token::LParen) {
        loop {
            columns.push(cursor.name()?);
            if !cursor.take_token(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
    }
    if cursor.take("to") {
        return Err(Error::unsupported("COPY … TO"));
    }
    cursor.expect_word("from")?;
    let path = match cursor.next() {
        Some(Token::SingleQuotedString(path)) => path,
        Some(Token::Word(w)) if matches!(w.value.to_lowercase().as_str(), "stdin" | "program") => {
            return Err(
                Error::unsupported(format!("COPY FROM {}", w.value.to_uppercase()))
                    .with_hint("name a file: COPY t FROM 'path'"),
            );
        }
        _ => return Err(cursor.error_before()),
    };
    let parquet = path.to_lowercase().ends_with(".parquet");
    let format = if parquet {
        CopyFormat::Parquet
    } else {
        CopyFormat::Csv
    };
    let mut options = CopyOptions::of_format(format);
    let mut escape = None;
    cursor.take("with");
    if cursor.take_token(&Token::LParen) {
        loop {
            option(cursor, &mut options, &mut escape)?;
            if !cursor.take_token(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
    } else {
        while cursor.peek().is_some() {
            option(cursor, &mut options, &mut escape)?;
        }
    }
    cursor.end()?;
    options.escape = escape.unwrap_or(options.quote);
    check(&options)?;
    Ok(CopyStatement {
        table,
        columns,
        path,
        options,
    })
}

fn option(cursor: &mut Cursor, options: &mut CopyOptions, escape: &mut Option<char>) -> Result<()> {
    let name = cursor.word().ok_or_else(|| cursor.error())?;
    cursor.next();
    match name.as_str() {
        "format" => {
            let format = match cursor.next() {
                Some(Token::Word(w)) => w.value.to_lowercase(),
                Some(Token::SingleQuotedString(s)) => s.to_lowercase(),
                _ => return Err(cursor.error_before()),
            };
            options.format = match format.as_str() {
                "csv" => CopyFormat::Csv,
                "parquet" => CopyFormat::Parquet,
                other => return Err(Error::unsupported(format!("COPY format {other}"))),
            };
        }
        "csv" => options.format = CopyFormat::Csv,
        "parquet" => options.format = CopyFormat::Parquet,
        "header" => options.header = flag(cursor)?,
        "delimiter" => {
            cursor.take("as");
            options.delimiter = character(cursor, "DELIMITER")?;
        }
        "quote" => {
            cursor.take("as");
            options.quote = character(cursor, "QUOTE")?;
        }
        "escape" => {
            cursor.take("as");
            *escape = Some(character(cursor, "ESCAPE")?);
        }
        "null" => {
            cursor.take("as");
            options.null = text(cursor)?;
        }
        "encoding" => {
            let encoding = text(cursor)?;
            if !matches!(encoding.to_lowercase().as_str(), "utf8" | "utf-8") {
                return Err(Error::unsupported(format!("COPY encoding {encoding}")));
            }
        }
        other => {
            return Err(
                Error::unsupported(format!("COPY option {}", other.to_uppercase())).with_hint(
                    "the options are FORMAT, HEADER, DELIMITER, QUOTE, ESCAPE, NULL and ENCODING 'utf8'",
                ),
            );
        }
    }
    Ok(())
}

fn flag(cursor: &mut Cursor) -> Result<bool> {
    let value = match cursor.word().as_deref() {
        Some("true" | "on") => true,
        Some("false" | "off") => false,
        Some("match") => return Err(Error::unsupported("COPY HEADER MATCH")),
        _ => match cursor.peek() {
            Some(Token::Number(n, _)) if n == "1" || n == "0" => n == "1",
            _ => return Ok(true),
        },
    };
    cursor.next();
    Ok(value)
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
        (Some(c), None) if c.is_ascii() && c != '\n' && c != '\r' => Ok(c),
        _ => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("COPY {option} must be a single one-byte character"),
        )),
    }
}

fn check(options: &CopyOptions) -> Result<()> {
    if options.format == CopyFormat::Csv && options.delimiter == options.quote {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            "COPY DELIMITER and QUOTE must be different",
        ));
    }
    if options.null.contains(options.delimiter) && options.format == CopyFormat::Csv {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            "COPY DELIMITER must not appear in the NULL specification",
        ));
    }
    Ok(())
}
