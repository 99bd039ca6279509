//! PREPARE, EXECUTE and DEALLOCATE, read from their tokens.

use super::cursor::Cursor;
use super::dialect::FrazilDialect;
use frazil_types::Result;
use sqlparser::ast::DataType;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// PREPARE name [(types)] AS; the statement follows. A type that is `unknown` is left to be found out. The last number is the position
/// of the types in the text.
pub(super) fn prepare(
    cursor: &mut Cursor,
    dialect: &FrazilDialect,
) -> Result<(String, Vec<Option<DataType>>, usize)> {
    cursor.next();
    let name = cursor.name()?;
    let mut types = Vec::new();
    let mut at = 1;
    if cursor.peek() == Some(&Token::LParen) {
        let error = cursor.error();
        at = error.position().unwrap_or(at);
        let words = cursor.parenthesized()?;
        let mut parser = Parser::new(dialect).with_tokens_with_locations(words);
        loop {
            let ty = parser.parse_data_type().map_err(|_| error.clone())?;
            types.push(match ty.to_string().to_lowercase().as_str() {
                "unknown" => None,
                _ => Some(ty),
            });
            if !parser.consume_token(&Token::Comma) {
                break;
            }
        }
        if parser.peek_token_ref().token != Token::EOF {
            return Err(error);
        }
    }
    cursor.expect_word("as")?;
    Ok((name, types, at))
}

/// EXECUTE name [(values)]: the name, and the values as a query's select list.
pub(super) fn execute(cursor: &mut Cursor) -> Result<(String, Option<Vec<TokenWithSpan>>)> {
    cursor.next();
    let name = cursor.name()?;
    let mut query = None;
    if let [open, ..] = cursor.rest()
        && open.token == Token::LParen
    {
        let select = TokenWithSpan::new(Token::make_keyword("SELECT"), open.span);
        let error = cursor.error();
        let values = cursor.parenthesized()?;
        if values.is_empty() {
            return Err(error);
        }
        query = Some([vec![select], values].concat());
    }
    cursor.end()?;
    Ok((name, query))
}

/// DEALLOCATE [PREPARE] name, or ALL: none.
pub(super) fn deallocate(cursor: &mut Cursor) -> Result<Option<String>> {
    cursor.next();
    if cursor.rest().len() > 1 {
        cursor.take("prepare");
    }
    let name = match cursor.take("all") {
        true => None,
        false => Some(cursor.name()?),
    };
    cursor.end()?;
    Ok(name)
}
