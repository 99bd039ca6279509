//! Locking clauses that sqlparser reads otherwise than PostgreSQL. The strengths with KEY become FOR UPDATE, and the
//! list of OF one dotted name: [`STRENGTH`] with the strength, which no statement can write, then the relations.
//! A clause before LIMIT, OFFSET or FETCH goes behind them. FOR READ ONLY, which locks nothing, goes.

use super::keywords::fold;
use super::source::{Source, near};
use super::tokens::is_word;
use frazil_types::{Error, Result, SqlState};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Begins the first part of the name behind OF; behind it stands the strength.
pub(crate) const STRENGTH: &str = "\u{0}lock ";

/// Rewrites the locking clauses of a statement. 42601 for a relation with a schema, and for a clause between LIMIT,
/// OFFSET and FETCH.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<()> {
    let mut at = 0;
    while at < words.len() {
        // Clauses that follow each other move together.
        let mut end = at;
        while let Some(clause) = Clause::at(words, end, source)? {
            let length = clause.tokens.len();
            words.splice(end..clause.end, clause.tokens);
            end += length;
        }
        let behind = end_of_bounds(words, end);
        if end > at && behind > end {
            if stands_behind_bounds(&words[..at]) {
                return Err(near(
                    source,
                    words[end].span.start,
                    source.token_text(words[end].span),
                ));
            }
            words[at..behind].rotate_left(end - at);
        }
        at = behind.max(at + 1);
    }
    Ok(())
}

/// A locking clause as sqlparser is to see it.
struct Clause {
    tokens: Vec<TokenWithSpan>,
    /// Place behind the clause as it is written.
    end: usize,
}

impl Clause {
    /// The clause that begins at a place, if one does.
    fn at(words: &[TokenWithSpan], at: usize, source: &Source) -> Result<Option<Clause>> {
        let is = |n: usize, word: &str| words.get(n).is_some_and(|w| is_text(w, word));
        if !words.get(at).is_some_and(|w| is_word(w, Keyword::FOR)) {
            return Ok(None);
        }
        if is(at + 1, "read") && is(at + 2, "only") {
            let tokens = Vec::new();
            return Ok(Some(Clause { tokens, end: at + 3 }));
        }
        let forms: [(&str, &[&str]); 4] = [
            ("FOR NO KEY UPDATE", &["no", "key", "update"]),
            ("FOR KEY SHARE", &["key", "share"]),
            ("FOR UPDATE", &["update"]),
            ("FOR SHARE", &["share"]),
        ];
        let said = |form: &[&str]| form.iter().enumerate().all(|(i, word)| is(at + 1 + i, word));
        let Some((strength, form)) = forms.into_iter().find(|(_, form)| said(form)) else {
            return Ok(None);
        };
        let mut end = at + 1 + form.len();
        let mut relations = Vec::new();
        let has_list = is(end, "of");
        while has_list && (relations.is_empty() || words.get(end).is_some_and(|w| w.token == Token::Comma)) {
            let Some(Token::Word(name)) = words.get(end + 1).map(|w| &w.token) else {
                return Ok(None);
            };
            if words.get(end + 2).is_some_and(|w| w.token == Token::Period) {
                let message = format!("{strength} must specify unqualified relation names");
                let position = source.position(source.byte(words[end + 1].span.start));
                return Err(Error::new(SqlState::SYNTAX_ERROR, message).at_position(position));
            }
            let name = match name.quote_style {
                Some(_) => name.value.clone(),
                None => fold(name),
            };
            relations.push(TokenWithSpan::new(
                Token::make_word(&name, Some('"')),
                words[end + 1].span,
            ));
            end += 2;
        }
        let is_plain = relations.is_empty() && form.len() == 1;
        let mut tokens = match is_plain {
            // The words may be an argument: substring(a for share).
            true => words[at..end].to_vec(),
            false => rewritten(&words[at], strength, relations),
        };
        for wait in [&["nowait"][..], &["skip", "locked"]] {
            if wait.iter().enumerate().all(|(i, word)| is(end + i, word)) {
                tokens.extend_from_slice(&words[end..end + wait.len()]);
                end += wait.len();
            }
        }
        if words.get(end).is_some_and(|w| is_text(w, "of")) {
            return Err(near(
                source,
                words[end].span.start,
                source.token_text(words[end].span),
            ));
        }
        Ok(Some(Clause { tokens, end }))
    }
}

/// FOR UPDATE OF with a name that says the strength and the relations.
fn rewritten(begin: &TokenWithSpan, strength: &str, relations: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let sign = |token: Token| TokenWithSpan::new(token, begin.span);
    let mut tokens = vec![
        begin.clone(),
        sign(Token::make_keyword("UPDATE")),
        sign(Token::make_keyword("OF")),
        sign(Token::make_word(&format!("{STRENGTH}{strength}"), Some('"'))),
    ];
    for relation in relations {
        tokens.push(sign(Token::Period));
        tokens.push(relation);
    }
    tokens
}

/// True if the query that ends with these words has LIMIT, OFFSET or FETCH.
fn stands_behind_bounds(words: &[TokenWithSpan]) -> bool {
    let mut depth = 0_usize;
    for word in words.iter().rev() {
        match word.token {
            Token::RParen => depth += 1,
            Token::LParen if depth == 0 => return false,
            Token::LParen => depth -= 1,
            _ if depth > 0 => {}
            _ if BOUNDS.iter().any(|bound| is_word(word, *bound)) => return true,
            _ => {}
        }
    }
    false
}

/// Words with which the bounds of a query begin.
const BOUNDS: [Keyword; 3] = [Keyword::LIMIT, Keyword::OFFSET, Keyword::FETCH];

/// Place behind LIMIT, OFFSET and FETCH that begin at a place; the place itself if none of them does.
fn end_of_bounds(words: &[TokenWithSpan], at: usize) -> usize {
    if !words
        .get(at)
        .is_some_and(|word| BOUNDS.iter().any(|k| is_word(word, *k)))
    {
        return at;
    }
    let ends = [
        Keyword::FOR,
        Keyword::ON,
        Keyword::RETURNING,
        Keyword::UNION,
        Keyword::INTERSECT,
        Keyword::EXCEPT,
    ];
    let mut depth = 0_usize;
    let end = words[at..].iter().position(|word| match word.token {
        Token::LParen => {
            depth += 1;
            false
        }
        Token::RParen if depth > 0 => {
            depth -= 1;
            false
        }
        Token::RParen => true,
        _ => depth == 0 && ends.iter().any(|keyword| is_word(word, *keyword)),
    });
    end.map_or(words.len(), |end| at + end)
}

fn is_text(word: &TokenWithSpan, text: &str) -> bool {
    matches!(&word.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(text))
}
