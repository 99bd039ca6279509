//! COPY: which file, in which form.

use crate::parse::Cursor;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFormat {
    /// Comma- (or otherwise) separated text.
    Csv,
    /// Objects of JSON.
    Json,
    /// Apache Parquet.
    Parquet,
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCompression {
    /// As is usual: by the end of the path (`.gz`, `.zst`), of Parquet by Snappy.
    Usual,
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By Zstandard.
    Zstd,
    /// By Snappy.
    Snappy,
    /// By LZ4.
    Lz4,
}

impl CopyCompression {
    /// The compression of a name in lower case.
    pub(crate) fn named(name: &str) -> Option<CopyCompression> {
        Some(match name {
            "none" | "uncompressed" => CopyCompression::None,
            "gzip" | "gz" => CopyCompression::Gzip,
            "zstd" | "zst" => CopyCompression::Zstd,
            "snappy" => CopyCompression::Snappy,
            "lz4" | "lz4_raw" => CopyCompression::Lz4,
            _ => return None,
        })
    }
}

/// The other end of COPY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyEnd {
    /// A file.
    File(String),
    /// Whoever runs the statement: STDIN, STDOUT.
    Client,
}

/// How to read or write a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    /// Its form. Without FORMAT: what the end of the path says, else CSV.
    pub format: CopyFormat,
    /// Of CSV: whether the first line names the columns.
    pub header: bool,
    /// Of CSV: between fields.
    pub delimiter: char,
    /// Of CSV: around fields.
    pub quote: char,
    /// Of CSV: before a quote within a quoted field.
    pub escape: char,
    /// Of CSV: the unquoted text that stands for NULL.
    pub null: String,
    /// Of JSON: whether the objects are written as an array.
    pub array: bool,
    /// How it is compressed.
    pub compression: CopyCompression,
    /// Of Parquet: most rows of a row group.
    pub row_group_rows: usize,
    /// FROM: what becomes of rows with values that are none.
    pub on_error: CopyOnError,
    /// FROM: the table that takes the rows that are left out.
    pub rejects_table: Option<String>,
    /// FROM: most rows that are left out.
    pub reject_limit: Option<u64>,
    /// TO a directory: names of the columns that its folders say.
    pub partition_by: Vec<String>,
    /// Whether files in folders have these columns as well.
    pub write_partition_columns: bool,
    /// What becomes of files that are in the directory.
    pub existing: CopyExisting,
}

/// What becomes of rows of a file whose values are not of their columns' types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOnError {
    /// The first one ends the statement.
    Stop,
    /// They are left out.
    Ignore,
}

/// What becomes of files that are in a directory when COPY writes into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyExisting {
    /// There may be none.
    Refused,
    /// OVERWRITE_OR_IGNORE: they stay, unless one has the name of a new one.
    Kept,
    /// APPEND: all stay.
    Joined,
    /// OVERWRITE: they are removed.
    Removed,
}

/// Rows of a row group unless ROW_GROUP_SIZE says otherwise: two chunks.
const ROW_GROUP_ROWS: usize = 131_072;

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
            array: false,
            compression: CopyCompression::Usual,
            row_group_rows: ROW_GROUP_ROWS,
            on_error: CopyOnError::Stop,
            rejects_table: None,
            reject_limit: None,
            partition_by: Vec::new(),
            write_partition_columns: false,
            existing: CopyExisting::Refused,
        }
    }

    /// What the end of a path says.
    fn of_path(end: &CopyEnd) -> CopyOptions {
        let CopyEnd::File(path) = end else {
            return CopyOptions::of_format(CopyFormat::Csv);
        };
        let path = path.to_lowercase();
        let bare = path
            .strip_suffix(".gz")
            .or(path.strip_suffix(".zst"))
            .unwrap_or(&path);
        let is = |ends: &[&str]| ends.iter().any(|end| bare.ends_with(end));
        CopyOptions::of_format(match () {
            () if is(&[".parquet"]) => CopyFormat::Parquet,
            () if is(&[".json", ".jsonl", ".ndjson"]) => CopyFormat::Json,
            () => CopyFormat::Csv,
        })
    }
}

/// COPY as written.
#[derive(Clone, Debug)]
pub(crate) struct CopyStatement {
    pub what: Copied,
    pub end: CopyEnd,
    pub options: CopyOptions,
}

/// What COPY fills or reads.
#[derive(Clone, Debug)]
pub(crate) enum Copied {
    /// FROM: a table and columns of it; all if none is named.
    Into { table: String, columns: Vec<String> },
    /// TO: the words of a query.
    OutOf(Vec<TokenWithSpan>),
}

/// Reads COPY table [(columns)] FROM end, COPY table [(columns)] TO end and COPY (query) TO end, each with
/// [[WITH] (option, …)].
pub(crate) fn parse(cursor: &mut Cursor) -> Result<CopyStatement> {
    cursor.next();
    let (what, is_out) = if cursor.peek() == Some(&Token::LParen) {
        let query = cursor.parenthesized()?;
        cursor.expect_word("to")?;
        (Copied::OutOf(query), true)
    } else {
        relation(cursor)?
    };
    let end = end(cursor, is_out)?;
    let mut options = CopyOptions::of_path(&end);
    let mut escape = None;
    let mut given = Vec::new();
    cursor.take("with");
    if cursor.take_token(&Token::LParen) {
        loop {
            check_once(cursor, &mut given)?;
            option(cursor, &mut options, &mut escape)?;
            if !cursor.take_token(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
    } else {
        while cursor.peek().is_some() {
            check_once(cursor, &mut given)?;
            option(cursor, &mut options, &mut escape)?;
        }
    }
    cursor.end()?;
    options.escape = escape.unwrap_or(options.quote);
    check(&options)?;
    check_folders(&options, &end, is_out)?;
    check_rejects(&mut options, is_out, &given)?;
    Ok(CopyStatement { what, end, options })
}

/// A table with its columns and FROM or TO; true if it is TO.
fn relation(cursor: &mut Cursor) -> Result<(Copied, bool)> {
    let words = cursor.rest();
    let table = cursor.table_name()?;
    let name = words[..words.len() - cursor.rest().len()].to_vec();
    let listed = cursor.rest();
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
    let listed = &listed[..listed.len() - cursor.rest().len()];
    if cursor.take("to") {
        return Ok((Copied::OutOf(query_of(name, listed)), true));
    }
    cursor.expect_word("from")?;
    Ok((Copied::Into { table, columns }, false))
}

/// The words of `SELECT columns FROM name`, each with a place in the text; `listed`: the columns in parentheses, or
/// nothing for all.
pub(crate) fn query_of(name: Vec<TokenWithSpan>, listed: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let Some(span) = name.first().map(|t| t.span) else {
        return name;
    };
    let made = |token| TokenWithSpan { token, span };
    let mut words = vec![made(Token::make_keyword("SELECT"))];
    match listed {
        [_, columns @ .., _] => words.extend_from_slice(columns),
        _ => words.push(made(Token::Mul)),
    }
    words.push(made(Token::make_keyword("FROM")));
    words.extend(name);
    words
}

fn end(cursor: &mut Cursor, is_out: bool) -> Result<CopyEnd> {
    let client = if is_out { "stdout" } else { "stdin" };
    match cursor.next() {
        Some(Token::SingleQuotedString(path)) => Ok(CopyEnd::File(path)),
        Some(Token::Word(w)) if w.value.eq_ignore_ascii_case(client) => Ok(CopyEnd::Client),
        Some(Token::Word(w)) if w.value.eq_ignore_ascii_case("program") => {
            Err(Error::unsupported("COPY with a PROGRAM").with_hint("name a file: COPY t FROM 'path'"))
        }
        _ => Err(cursor.error_before()),
    }
}

/// Notes the option that is next. 42601 if it is given twice.
fn check_once(cursor: &Cursor, given: &mut Vec<String>) -> Result<()> {
    let Some(name) = cursor.word() else {
        return Ok(());
    };
    let name = match name.as_str() {
        "csv" | "json" | "parquet" => "format".to_string(),
        "ignore_errors" => "on_error".to_string(),
        _ => name,
    };
    if given.contains(&name) {
        let message = format!("conflicting or redundant options: {}", name.to_uppercase());
        return Err(Error::new(SqlState::SYNTAX_ERROR, message));
    }
    given.push(name);
    Ok(())
}

fn option(cursor: &mut Cursor, options: &mut CopyOptions, escape: &mut Option<char>) -> Result<()> {
    let name = cursor.word().ok_or_else(|| cursor.error())?;
    cursor.next();
    match name.as_str() {
        "format" => {
            options.format = match word_or_text(cursor)?.as_str() {
                "csv" => CopyFormat::Csv,
                "json" => CopyFormat::Json,
                "parquet" => CopyFormat::Parquet,
                other => return Err(Error::unsupported(format!("COPY format {other}"))),
            };
        }
        "csv" => options.format = CopyFormat::Csv,
        "json" => options.format = CopyFormat::Json,
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
            rejects_option(cursor, options, &name)?;
        }
        "partition_by" => options.partition_by = names(cursor)?,
        "write_partition_columns" => options.write_partition_columns = flag(cursor)?,
        "overwrite" => existing(cursor, options, CopyExisting::Removed)?,
        "overwrite_or_ignore" => existing(cursor, options, CopyExisting::Kept)?,
        "append" => existing(cursor, options, CopyExisting::Joined)?,
        "encoding" => {
            let encoding = text(cursor)?;
            if !matches!(encoding.to_lowercase().as_str(), "utf8" | "utf-8") {
                return Err(Error::unsupported(format!("COPY encoding {encoding}")));
            }
        }
        other => {
            return Err(
                Error::unsupported(format!("COPY option {}", other.to_uppercase())).with_hint(
                    "the options are FORMAT, HEADER, DELIMITER, QUOTE, ESCAPE, NULL, ARRAY, COMPRESSION, ROW_GROUP_SIZE, \
                     ON_ERROR, REJECTS_TABLE, REJECT_LIMIT, PARTITION_BY, WRITE_PARTITION_COLUMNS, OVERWRITE, OVERWRITE_OR_IGNORE, APPEND and ENCODING 'utf8'",
                ),
            );
        }
    }
    Ok(())
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
                Some(Token::SingleQuotedString(_)) => text(cursor)?,
                _ => cursor.name()?,
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
        Some("match") => return Err(Error::unsupported("COPY HEADER MATCH")),
        _ => match cursor.peek() {
            Some(Token::Number(n, _)) if n == "1" || n == "0" => n == "1",
            _ => return Ok(true),
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
        (Some(c), None) if c.is_ascii() && c != '\n' && c != '\r' => Ok(c),
        _ => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("COPY {option} must be a single one-byte character"),
        )),
    }
}

/// What is said of folders goes with PARTITION_BY, and that with a directory.
fn check_folders(options: &CopyOptions, end: &CopyEnd, is_out: bool) -> Result<()> {
    let has_keys = !options.partition_by.is_empty();
    let wrong = match (has_keys, is_out, end) {
        (true, false, _) => "COPY FROM with PARTITION_BY",
        (true, true, CopyEnd::Client) => "COPY TO STDOUT with PARTITION_BY",
        (false, _, _) if options.existing != CopyExisting::Refused || options.write_partition_columns => {
            "WRITE_PARTITION_COLUMNS, OVERWRITE, OVERWRITE_OR_IGNORE or APPEND without PARTITION_BY"
        }
        _ => return Ok(()),
    };
    Err(Error::unsupported(wrong).with_hint("COPY t TO 'directory' (FORMAT parquet, PARTITION_BY (a, b))"))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// What is said of rows that are left out goes with FROM and ON_ERROR ignore, which a table of rejects implies; `given`: the options.
fn check_rejects(options: &mut CopyOptions, is_out: bool, given: &[String]) -> Result<()> {
    let is_given = |name: &str| given.iter().any(|given| given == name);
    let names = ["on_error", "rejects_table", "reject_limit"];
    if let Some(name) = names.iter().find(|name| is_out && is_given(name)) {
        let name = name.to_uppercase();
        return Err(invalid(format!("COPY {name} cannot be used with COPY TO")));
    }
    if options.rejects_table.is_some() && !is_given("on_error") {
        options.on_error = CopyOnError::Ignore;
    }
    let skips = options.on_error == CopyOnError::Ignore;
    if let Some(name) = names[1..].iter().find(|name| !skips && is_given(name)) {
        let name = name.to_uppercase();
        return Err(invalid(format!(
            "COPY {name} requires ON_ERROR to be set to IGNORE"
        )));
    }
    if skips && options.format == CopyFormat::Parquet {
        return Err(Error::unsupported("COPY FORMAT parquet with ON_ERROR ignore")
            .with_hint("the columns of Parquet files have types: cast them, as in INSERT INTO t SELECT … FROM 'path'"));
    }
    Ok(())
}

fn check(options: &CopyOptions) -> Result<()> {
    if options.format == CopyFormat::Csv && options.delimiter == options.quote {
        return Err(invalid("COPY DELIMITER and QUOTE must be different"));
    }
    if options.null.contains(options.delimiter) && options.format == CopyFormat::Csv {
        return Err(invalid(
            "COPY DELIMITER must not appear in the NULL specification",
        ));
    }
    Ok(())
}
