//! VACUUM and ANALYZE, read from their tokens. Frazil keeps statistics and gives space back by itself, so that both
//! only check what they are given.

use super::cursor::Cursor;
use frazil_catalog::WrittenName;
use frazil_types::{Result, SqlState};
use sqlparser::tokenizer::Token;

/// VACUUM or ANALYZE as written.
#[derive(Clone, Debug)]
pub(crate) struct Maintain {
    /// VACUUM, not ANALYZE.
    pub is_vacuum: bool,
    /// Tables with names of their columns; none: all tables.
    pub tables: Vec<(WrittenName, Vec<String>)>,
}

/// Options of VACUUM in parentheses, and the kind of their values.
const VACUUM_OPTIONS: [(&str, Argument); 11] = [
    ("analyze", Argument::Flag),
    ("disable_page_skipping", Argument::Flag),
    ("freeze", Argument::Flag),
    ("full", Argument::Flag),
    ("index_cleanup", Argument::AutoFlag),
    ("parallel", Argument::Number),
    ("process_toast", Argument::Flag),
    ("skip_locked", Argument::Flag),
    ("truncate", Argument::Flag),
    ("verbose", Argument::Flag),
    ("analyse", Argument::Flag),
];

/// Options of ANALYZE in parentheses.
const ANALYZE_OPTIONS: [(&str, Argument); 2] = [("skip_locked", Argument::Flag), ("verbose", Argument::Flag)];

/// The value that an option takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    Flag,
    /// A flag or AUTO.
    AutoFlag,
    Number,
}

/// Reads VACUUM or ANALYZE with what follows. 42601.
pub(super) fn parse(cursor: &mut Cursor, is_vacuum: bool) -> Result<Maintain> {
    cursor.next();
    if cursor.peek() == Some(&Token::LParen) {
        options(cursor, is_vacuum)?;
    } else if is_vacuum {
        for word in ["full", "freeze", "verbose"] {
            cursor.take(word);
        }
        if !cursor.take("analyze") {
            cursor.take("analyse");
        }
    } else {
        cursor.take("verbose");
    }
    let mut tables = Vec::new();
    while !cursor.rest().is_empty() {
        let table = cursor.table_name()?;
        let columns = match cursor.peek() {
            Some(Token::LParen) => columns(cursor)?,
            _ => Vec::new(),
        };
        tables.push((table, columns));
        if !cursor.take_token(&Token::Comma) {
            break;
        }
        if cursor.rest().is_empty() {
            return Err(cursor.error());
        }
    }
    cursor.end()?;
    Ok(Maintain { is_vacuum, tables })
}

fn options(cursor: &mut Cursor, is_vacuum: bool) -> Result<()> {
    let (all, statement) = match is_vacuum {
        true => (&VACUUM_OPTIONS[..], "VACUUM"),
        false => (&ANALYZE_OPTIONS[..], "ANALYZE"),
    };
    cursor.expect(&Token::LParen)?;
    loop {
        let name = cursor.word().ok_or_else(|| cursor.error())?;
        let Some(option) = all.iter().find(|option| option.0 == name) else {
            let message = format!("unrecognized {statement} option \"{name}\"");
            return Err(cursor.error_of(SqlState::SYNTAX_ERROR, message));
        };
        cursor.next();
        let is_argument = !matches!(cursor.peek(), Some(Token::Comma | Token::RParen) | None);
        if is_argument && !option.1.takes(cursor) {
            let message = format!("{name} requires a value of another kind");
            return Err(cursor.error_of(SqlState::SYNTAX_ERROR, message));
        }
        if !is_argument && option.1 == Argument::Number {
            let message = format!("{name} option requires a value between 0 and 1024");
            return Err(cursor.error_of(SqlState::SYNTAX_ERROR, message));
        }
        if !cursor.take_token(&Token::Comma) {
            return cursor.expect(&Token::RParen);
        }
    }
}

impl Argument {
    /// True if the next token is such a value, which is read then.
    fn takes(self, cursor: &mut Cursor) -> bool {
        let text = match cursor.peek() {
            Some(Token::Word(w)) => w.value.to_lowercase(),
            Some(Token::Number(n, _)) => n.clone(),
            Some(Token::SingleQuotedString(text)) => text.to_lowercase(),
            _ => return false,
        };
        let flag = ["true", "false", "on", "off", "1", "0"].contains(&text.as_str());
        let fits = match self {
            Argument::Flag => flag,
            Argument::AutoFlag => flag || text == "auto",
            Argument::Number => text.parse().is_ok_and(|n: u32| n <= 1024),
        };
        if fits {
            cursor.next();
        }
        fits
    }
}

fn columns(cursor: &mut Cursor) -> Result<Vec<String>> {
    cursor.expect(&Token::LParen)?;
    let mut columns = Vec::new();
    loop {
        columns.push(cursor.name()?);
        if !cursor.take_token(&Token::Comma) {
            break;
        }
    }
    cursor.expect(&Token::RParen)?;
    Ok(columns)
}
