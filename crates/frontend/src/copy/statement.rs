//! COPY as it is written, from its tokens.

use super::checks::{check, check_folders, check_rejects};
use super::options::Given;
use super::{CopyEnd, CopyOptions};
use crate::parse::Cursor;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// COPY as written.
#[derive(Clone, Debug)]
pub(crate) struct CopyStatement {
    pub what: Copied,
    pub end: CopyEnd,
    pub options: CopyOptions,
}

/// A table and columns of it; all if none is named.
pub(crate) type CopiedTable = (WrittenName, Vec<String>);

/// What COPY fills or reads.
#[derive(Clone, Debug)]
pub(crate) enum Copied {
    /// FROM: a table and columns of it; all if none is named.
    Into {
        table: WrittenName,
        columns: Vec<String>,
    },
    /// TO: the words of a query; the table that is copied and the columns that are named, unless the statement has a
    /// query.
    OutOf(Vec<TokenWithSpan>, Option<CopiedTable>),
}

/// Reads COPY table [(columns)] FROM end, COPY table [(columns)] TO end and COPY (query) TO end, each with
/// [[WITH] (option, …)].
pub(crate) fn parse(cursor: &mut Cursor) -> Result<CopyStatement> {
    cursor.next();
    let (what, is_out) = if cursor.peek() == Some(&Token::LParen) {
        let query = cursor.parenthesized()?;
        cursor.expect_word("to")?;
        (Copied::OutOf(query, None), true)
    } else {
        relation(cursor)?
    };
    let end = end(cursor, is_out)?;
    let given = Given::read(cursor)?;
    cursor.end()?;
    let mut options = given.options(&end);
    check(&options, &given.names, is_out)?;
    check_folders(&options, &end, is_out)?;
    check_rejects(&mut options, is_out, &given.names)?;
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
        let query = query_of(name, listed);
        return Ok((Copied::OutOf(query, Some((table, columns))), true));
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
