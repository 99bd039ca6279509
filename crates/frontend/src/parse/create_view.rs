//! CREATE VIEW, read from its tokens: the text of its query is kept as written.

use super::cursor::Cursor;
use frazil_catalog::{ExistingView, WrittenName};
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span as TokenSpan, Token, TokenWithSpan};

/// CREATE VIEW up to its query.
#[derive(Clone, Debug)]
pub(crate) struct ViewHead {
    /// The view's name.
    pub name: WrittenName,
    /// TEMPORARY.
    pub is_temporary: bool,
    /// What becomes of a view of that name.
    pub existing: ExistingView,
    /// The names of its first columns, if it gives any, and where they stand.
    pub columns: Vec<(String, TokenSpan)>,
    /// False for WITH NO DATA; `None` for a view that is not materialized.
    pub has_data: Option<bool>,
    /// Bytes of the statement behind its query.
    pub tail: usize,
}

/// Words between CREATE and VIEW that ask for a kind of view there is not.
const KINDS: [&str; 7] = [
    "temp",
    "temporary",
    "local",
    "global",
    "unlogged",
    "recursive",
    MATERIALIZED,
];

const MATERIALIZED: &str = "materialized";

/// Whether the statement creates a view, of whatever kind.
pub(super) fn is_next(cursor: &Cursor) -> bool {
    let mut words = cursor.rest().iter().map(|t| match &t.token {
        Token::Word(w) if w.quote_style.is_none() => w.value.to_lowercase(),
        _ => String::new(),
    });
    if words.next().as_deref() != Some("create") {
        return false;
    }
    let between = |w: &String| matches!(w.as_str(), "or" | "replace") || KINDS.contains(&w.as_str());
    words.find(|w| !between(w)).as_deref() == Some("view")
}

/// Reads CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] AS; the query follows.
pub(super) fn head(cursor: &mut Cursor) -> Result<ViewHead> {
    cursor.expect_word("create")?;
    let mut existing = ExistingView::Refuse;
    if cursor.take("or") {
        cursor.expect_word("replace")?;
        existing = ExistingView::Replace;
    }
    let is_local = cursor.take("local") || cursor.take("global");
    let is_temporary = cursor.take("temp") || cursor.take("temporary");
    if is_local && !is_temporary {
        return Err(cursor.error());
    }
    let is_materialized = existing == ExistingView::Refuse && !is_temporary && cursor.take(MATERIALIZED);
    if existing == ExistingView::Replace && cursor.word().as_deref() == Some(MATERIALIZED) {
        return Err(cursor.error());
    }
    if let Some(kind) = cursor.word().filter(|w| KINDS.contains(&w.as_str())) {
        return Err(Error::unsupported(format!("CREATE {} VIEW", kind.to_uppercase())));
    }
    cursor.expect_word("view")?;
    let is_condition = cursor.peek_behind().is_some_and(
        |token| matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("not")),
    );
    if existing == ExistingView::Refuse && is_condition && cursor.take("if") {
        cursor.expect_word("not")?;
        cursor.expect_word("exists")?;
        existing = ExistingView::Keep;
    }
    let name = cursor.table_name()?;
    let mut columns = Vec::new();
    if cursor.take_token(&Token::LParen) {
        loop {
            let span = cursor.rest().first().map_or(TokenSpan::empty(), |t| t.span);
            columns.push((cursor.name()?, span));
            if !cursor.take_token(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
    }
    if cursor.word().as_deref() == Some("with") {
        return Err(Error::unsupported("WITH (…) of a view"));
    }
    cursor.expect_word("as")?;
    refuse_check_option(cursor)?;
    if !begins_query(cursor) {
        return Err(cursor.error());
    }
    Ok(ViewHead {
        name,
        is_temporary,
        existing,
        columns,
        has_data: is_materialized.then_some(true),
        tail: 0,
    })
}

/// The tokens of the query behind the head of a view, without the WITH [NO] DATA of a materialized one, which the head
/// gets.
pub(super) fn query_of(cursor: &Cursor, head: &mut ViewHead) -> Vec<TokenWithSpan> {
    let words = cursor.rest();
    let is = |from_end: usize, word: &str| {
        let at = words.len().checked_sub(from_end);
        at.and_then(|at| words.get(at)).is_some_and(|t| match &t.token {
            Token::Word(w) => w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word),
            _ => false,
        })
    };
    let has_no = is(2, "no");
    let left = words.len().saturating_sub(if has_no { 3 } else { 2 });
    let is_tail =
        head.has_data.is_some() && is(1, "data") && is(if has_no { 3 } else { 2 }, "with") && left > 0;
    if !is_tail {
        return words.to_vec();
    }
    head.has_data = Some(!has_no);
    let end = |at: usize| words.get(at).map_or(0, |t| cursor.source.byte(t.span.end));
    head.tail = end(words.len() - 1) - end(left - 1);
    words[..left].to_vec()
}

/// REFRESH MATERIALIZED VIEW.
#[derive(Clone, Debug)]
pub(crate) struct Refresh {
    pub name: WrittenName,
    pub is_concurrent: bool,
    /// False for WITH NO DATA.
    pub has_data: bool,
}

/// Reads REFRESH MATERIALIZED VIEW [CONCURRENTLY] name [WITH [NO] DATA].
pub(super) fn refresh(cursor: &mut Cursor) -> Result<Refresh> {
    cursor.expect_word("refresh")?;
    cursor.expect_word(MATERIALIZED)?;
    cursor.expect_word("view")?;
    let is_concurrent = cursor.take("concurrently");
    let name = cursor.table_name()?;
    let mut has_data = true;
    if cursor.take("with") {
        has_data = !cursor.take("no");
        cursor.expect_word("data")?;
    }
    cursor.end()?;
    Ok(Refresh {
        name,
        is_concurrent,
        has_data,
    })
}

fn refuse_check_option(cursor: &Cursor) -> Result<()> {
    let is = |at: usize, word| {
        let tokens = cursor.rest();
        let token = tokens.len().checked_sub(at).and_then(|at| tokens.get(at));
        token.is_some_and(|t| super::tokens::is_word(t, word))
    };
    let chosen = is(3, Keyword::LOCAL) || is(3, Keyword::CASCADED);
    let with = if chosen { 4 } else { 3 };
    match is(1, Keyword::OPTION) && is(2, Keyword::CHECK) && is(with, Keyword::WITH) {
        true => Err(Error::unsupported("WITH CHECK OPTION")),
        false => Ok(()),
    }
}

fn begins_query(cursor: &Cursor) -> bool {
    match cursor.peek() {
        Some(Token::LParen) => true,
        _ => matches!(cursor.word().as_deref(), Some("select" | "values" | "with")),
    }
}
