//! CREATE DOMAIN: what follows its name is the definition of a column, whose name is `value`, and is read as that of a
//! table. So ALTER DOMAIN is read as ALTER TABLE of that column.

use super::cursor::Cursor;
use frazil_types::Result;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// What a domain's value is called.
pub(crate) const VALUE: &str = "value";

/// Whether the statement creates a domain.
pub(super) fn is_next(cursor: &Cursor) -> bool {
    cursor
        .rest()
        .get(1)
        .is_some_and(|t| super::tokens::is_word(t, Keyword::DOMAIN))
}

/// True if the statement changes a domain: not its name, schema or owner.
pub(super) fn alters(cursor: &Cursor) -> bool {
    let domain = cursor.rest().get(1);
    cursor.word().as_deref() == Some("alter")
        && domain.is_some_and(|t| super::tokens::is_word(t, Keyword::DOMAIN))
}

/// ALTER DOMAIN name SET | DROP … as ALTER TABLE name ALTER COLUMN value SET | DROP …, and ALTER DOMAIN name with
/// an action on a constraint as that of a table. 42601 for another action.
pub(super) fn as_altered_table(cursor: &mut Cursor) -> Result<Vec<TokenWithSpan>> {
    let all = cursor.rest();
    cursor.next();
    cursor.next();
    let before = cursor.rest().len();
    cursor.name()?;
    while cursor.take_token(&Token::Period) {
        cursor.label()?;
    }
    let name = &all[all.len() - before..all.len() - cursor.rest().len()];
    let action = cursor.rest();
    let first = cursor.word().unwrap_or_default();
    cursor.next();
    let second = cursor.word().unwrap_or_default();
    let of_value = match (first.as_str(), second.as_str()) {
        ("set" | "drop", "default" | "not") => true,
        ("add", "constraint" | "check") | ("drop" | "rename" | "validate", "constraint") => false,
        _ => return Err(cursor.error()),
    };
    let at = action[0].span;
    let mut words = vec![
        all[0].clone(),
        TokenWithSpan::new(Token::make_keyword("TABLE"), all[1].span),
    ];
    words.extend_from_slice(name);
    if of_value {
        words.push(TokenWithSpan::new(Token::make_keyword("ALTER"), at));
        words.push(TokenWithSpan::new(Token::make_keyword("COLUMN"), at));
        words.push(TokenWithSpan::new(Token::make_word(VALUE, None), at));
    }
    words.extend_from_slice(action);
    Ok(words)
}

/// CREATE DOMAIN name [AS] … as CREATE TABLE name (value …). 42601.
pub(super) fn as_table(cursor: &mut Cursor) -> Result<Vec<TokenWithSpan>> {
    let all = cursor.rest();
    cursor.next();
    cursor.next();
    let before = cursor.rest().len();
    cursor.name()?;
    while cursor.take_token(&Token::Period) {
        cursor.label()?;
    }
    let name = &all[all.len() - before..all.len() - cursor.rest().len()];
    cursor.take("as");
    let definition = cursor.rest();
    let (Some(first), Some(last)) = (definition.first(), definition.last()) else {
        return Err(cursor.error());
    };
    let mut words = vec![
        all[0].clone(),
        TokenWithSpan::new(Token::make_keyword("TABLE"), all[1].span),
    ];
    words.extend_from_slice(name);
    words.push(TokenWithSpan::new(Token::LParen, first.span));
    words.push(TokenWithSpan::new(Token::make_word(VALUE, None), first.span));
    words.extend_from_slice(definition);
    words.push(TokenWithSpan::new(Token::RParen, last.span));
    Ok(words)
}
