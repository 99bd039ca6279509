//! A pass over the tokens of a script: cuts it into statements, and writes what sqlparser reads otherwise than
//! PostgreSQL so that both agree.
//!
//! String literals continued on the next line become one. A number with letters behind it is an error unless it is
//! a binary, octal or hexadecimal one. IS DISTINCT FROM becomes one operator, TABLE t becomes SELECT * FROM t,
//! OFFSET goes before FETCH FIRST, FETCH FIRST of an expression becomes LIMIT, LIKE ANY becomes `~~` ANY, SIMILAR and
//! ESCAPE in `substring` become commas.

use super::dialect::{IS_DISTINCT_FROM, IS_NOT_DISTINCT_FROM};
use super::keywords::fold;
use super::source::Source;
use frazil_types::{Cancel, Error, Result, SqlState};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Whitespace, Word};

/// Cuts a script's tokens into statements, each without whitespace; empty ones are left out. Error 57014 once `cancel`
/// is set.
pub(super) fn statements(
    tokens: Vec<TokenWithSpan>,
    source: &Source,
    cancel: &Cancel,
) -> Result<Vec<Vec<TokenWithSpan>>> {
    let mut pass = Pass {
        source,
        // Most texts are one statement, and short.
        out: Vec::with_capacity(tokens.len().min(64)),
        newline: false,
        options: false,
    };
    let mut all = Vec::new();
    for token in tokens {
        cancel.check()?;
        match token.token {
            Token::Whitespace(ref white) => pass.whitespace(white),
            Token::EOF => {}
            Token::SemiColon => {
                all.push(std::mem::take(&mut pass.out));
            }
            _ => pass.token(token)?,
        }
    }
    all.push(pass.out);
    all.retain(|statement| !statement.is_empty());
    for statement in &mut all {
        limit_for_fetch(statement);
        offset_before_fetch(statement);
        commas_for_similar(statement);
    }
    Ok(all)
}

/// The number of rows of a FETCH … WITH TIES whose rows are those of the LIMIT before it. No text of a script has a
/// NUL.
pub(crate) const TIES_OF_LIMIT: &str = "\0";

/// Writes FETCH FIRST (expression) ROWS ONLY as LIMIT (expression), because sqlparser's FETCH takes numbers without a
/// sign only. WITH TIES becomes LIMIT (expression) and a FETCH of [`TIES_OF_LIMIT`] rows.
fn limit_for_fetch(words: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at + 2 < words.len() {
        let is_fetch = is_word(&words[at], Keyword::FETCH)
            && [Keyword::FIRST, Keyword::NEXT]
                .iter()
                .any(|w| is_word(&words[at + 1], *w))
            && matches!(words[at + 2].token, Token::LParen | Token::Minus | Token::Plus);
        if is_fetch {
            let rows = match words[at + 2].token {
                Token::LParen => end_of_parenthesis(words, at + 2),
                _ => words.len().min(at + 4),
            };
            let is_rows = |w: &TokenWithSpan| is_word(w, Keyword::ROW) || is_word(w, Keyword::ROWS);
            let is_only = match &words[rows..] {
                [first, only, ..] if is_rows(first) && is_word(only, Keyword::ONLY) => Some(true),
                [first, with, ties, ..]
                    if is_rows(first) && is_word(with, Keyword::WITH) && is_word(ties, Keyword::TIES) =>
                {
                    Some(false)
                }
                _ => None,
            };
            match is_only {
                Some(true) => drop(words.drain(rows..rows + 2)),
                Some(false) => {
                    let number = Token::SingleQuotedString(TIES_OF_LIMIT.to_owned());
                    let fetch = [Token::make_keyword("FETCH"), Token::make_keyword("FIRST"), number];
                    let span = words[rows].span;
                    words.splice(rows..rows, fetch.map(|token| TokenWithSpan { token, span }));
                }
                None => {}
            }
            if is_only.is_some() {
                words[at].token = Token::make_keyword("LIMIT");
                words.remove(at + 1);
            }
        }
        at += 1;
    }
}

/// Writes `substring(text SIMILAR pattern ESCAPE escape)` with commas, as a call with three arguments.
fn commas_for_similar(words: &mut [TokenWithSpan]) {
    for at in 0..words.len() {
        let is_plain = !words.get(at + 1).is_some_and(|next| is_word(next, Keyword::TO));
        if !(is_word(&words[at], Keyword::SIMILAR) && is_plain) {
            continue;
        }
        let (mut depth, mut escape) = (0, None);
        for (i, word) in words.iter().enumerate().skip(at + 1) {
            match word.token {
                Token::LParen => depth += 1,
                Token::RParen if depth == 0 => break,
                Token::RParen => depth -= 1,
                _ if depth == 0 && is_word(word, Keyword::ESCAPE) => escape = Some(i),
                _ => {}
            }
        }
        if let Some(escape) = escape {
            words[at].token = Token::Comma;
            words[escape].token = Token::Comma;
        }
    }
}

/// The place behind the parenthesis that opens at `open`.
pub(super) fn end_of_parenthesis(words: &[TokenWithSpan], open: usize) -> usize {
    let mut depth = 0;
    let closes = words[open..].iter().position(|word| {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    closes.map_or(words.len(), |at| open + at + 1)
}

/// True if the query in the parentheses that close at `close` has an ORDER BY at its end.
pub(super) fn has_order(words: &[TokenWithSpan], close: usize) -> bool {
    let mut depth = 0;
    for word in words[..close].iter().rev() {
        match word.token {
            Token::RParen => depth += 1,
            Token::LParen if depth == 0 => return false,
            Token::LParen => depth -= 1,
            _ if depth == 0 && is_word(word, Keyword::ORDER) => return true,
            _ => {}
        }
    }
    false
}

/// Puts OFFSET before FETCH FIRST … ONLY or WITH TIES: PostgreSQL takes the two in any order.
fn offset_before_fetch(words: &mut [TokenWithSpan]) {
    let mut fetches: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match &words[at].token {
            Token::Word(_) if is_word(&words[at], Keyword::FETCH) => fetches.push(at),
            Token::Word(_) if is_word(&words[at], Keyword::OFFSET) && at > 0 => {
                if (is_word(&words[at - 1], Keyword::ONLY) || is_word(&words[at - 1], Keyword::TIES))
                    && let Some(fetch) = fetches.pop()
                {
                    let end = end_of_clause(words, at + 1);
                    words[fetch..end].rotate_left(at - fetch);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Where the last clause of a query ends that goes on at `from`.
fn end_of_clause(words: &[TokenWithSpan], from: usize) -> usize {
    let mut depth = 0;
    let ends = words[from..].iter().position(|word| {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return true,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0 && is_word(word, Keyword::FOR)
    });
    ends.map_or(words.len(), |at| from + at)
}

struct Pass<'a> {
    source: &'a Source,
    out: Vec<TokenWithSpan>,
    /// Whether a line ended since the last token.
    newline: bool,
    /// Whether the open parenthesis is that of table options.
    options: bool,
}

/// Whether a token is this unquoted keyword.
pub(super) fn is_word(token: &TokenWithSpan, wanted: Keyword) -> bool {
    matches!(&token.token, Token::Word(w) if w.quote_style.is_none() && w.keyword == wanted)
}

impl Pass<'_> {
    fn whitespace(&mut self, white: &Whitespace) {
        self.newline |= match white {
            Whitespace::Newline => true,
            Whitespace::SingleLineComment { comment, .. } => comment.ends_with('\n'),
            Whitespace::MultiLineComment(_) | Whitespace::Space | Whitespace::Tab => false,
        };
    }

    /// Takes the next token.
    fn token(&mut self, token: TokenWithSpan) -> Result<()> {
        let newline = std::mem::take(&mut self.newline);
        let TokenWithSpan { token, span } = token;
        if newline && self.continues_string(&token, span) {
            return Ok(());
        }
        if matches!(token, Token::Word(_) | Token::Number(..)) && self.follows_number(span) {
            return self.behind_number(&token, span);
        }
        self.check_text(&token, span)?;
        let token = match token {
            Token::HexStringLiteral(digits) => match self.source.token_text(span).get(..2) {
                Some("0x") => radix_number(&digits, 16).ok_or_else(|| self.junk(span, span))?,
                _ => return Err(self.refused("a bit string", span)),
            },
            Token::SingleQuotedByteStringLiteral(_) => return Err(self.refused("a bit string", span)),
            Token::Number(text, long) => Token::Number(text.replace('_', ""), long),
            Token::CustomBinaryOperator(name) => {
                self.operator(&name, span);
                return Ok(());
            }
            Token::Word(_) => return self.word(token, span),
            Token::Placeholder(mark) if mark == "?" => Token::Question,
            Token::Pipe if self.follows_question(span) => return self.question(Token::QuestionPipe, span),
            Token::Ampersand if self.follows_question(span) => {
                return self.question(Token::QuestionAnd, span);
            }
            Token::LParen => {
                let before = self.out.last();
                self.options = before.is_some_and(|t| is_word(t, Keyword::WITH) || is_word(t, Keyword::SET));
                token
            }
            Token::RParen => {
                self.options = false;
                token
            }
            other => other,
        };
        self.push(token, span);
        Ok(())
    }

    /// Whether `?` stands right before a token.
    fn follows_question(&self, span: Span) -> bool {
        let before = self.out.last();
        before.is_some_and(|t| t.token == Token::Question && t.span.end == span.start)
    }

    /// An operator that begins with the `?` before it.
    fn question(&mut self, operator: Token, span: Span) -> Result<()> {
        let start = self.out.pop().map_or(span.start, |question| question.span.start);
        self.push(operator, Span::new(start, span.end));
        Ok(())
    }

    /// A text has no character 0. 22021, 42601.
    fn check_text(&self, token: &Token, span: Span) -> Result<()> {
        let (state, message) = match token {
            Token::UnicodeStringLiteral(text) if text.contains('\0') => {
                (SqlState::SYNTAX_ERROR, "invalid Unicode escape value")
            }
            Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) if text.contains('\0') => (
                SqlState::CHARACTER_NOT_IN_REPERTOIRE,
                "invalid byte sequence for encoding \"UTF8\": 0x00",
            ),
            _ => return Ok(()),
        };
        let position = self.source.position(self.source.byte(span.start));
        Err(Error::new(state, message).at_position(position))
    }

    fn push(&mut self, token: Token, span: Span) {
        self.out.push(TokenWithSpan::new(token, span));
    }

    fn refused(&self, what: &str, span: Span) -> Error {
        Error::unsupported(what).at_position(self.source.position(self.source.byte(span.start)))
    }

    /// Whether a literal goes on with this one, which a new line separates from it.
    fn continues_string(&mut self, token: &Token, span: Span) -> bool {
        let (Token::SingleQuotedString(more), Some(before)) = (token, self.out.last_mut()) else {
            return false;
        };
        let (Token::SingleQuotedString(text)
        | Token::EscapedStringLiteral(text)
        | Token::NationalStringLiteral(text)
        | Token::UnicodeStringLiteral(text)) = &mut before.token
        else {
            return false;
        };
        text.push_str(more);
        before.span.end = span.end;
        true
    }

    fn follows_number(&self, span: Span) -> bool {
        let before = self.out.last();
        before.is_some_and(|t| matches!(t.token, Token::Number(..)) && t.span.end == span.start)
    }

    /// A word or number right behind a number: the digits of a binary or octal one, or an error.
    fn behind_number(&mut self, token: &Token, span: Span) -> Result<()> {
        let Some(before) = self.out.pop() else {
            return Ok(());
        };
        let digits = match token {
            Token::Word(w) if w.quote_style.is_none() && self.source.token_text(before.span) == "0" => {
                let radix = match w.value.get(..1) {
                    Some("b" | "B") => Some(2),
                    Some("o" | "O") => Some(8),
                    Some("x" | "X") => Some(16),
                    _ => None,
                };
                radix.and_then(|radix| radix_number(&w.value[1..], radix))
            }
            _ => None,
        };
        match digits {
            Some(number) => self.push(number, Span::new(before.span.start, span.end)),
            None => return Err(self.junk(before.span, span)),
        }
        Ok(())
    }

    fn junk(&self, from: Span, to: Span) -> Error {
        let text = self.source.token_text(Span::new(from.start, to.end));
        let message = format!("trailing junk after numeric literal at or near \"{text}\"");
        let position = self.source.position(self.source.byte(from.start));
        Error::new(SqlState::SYNTAX_ERROR, message).at_position(position)
    }

    /// An operator of several characters. A sign at its end is one of its own, as in `<>-1`, unless one of its
    /// characters says otherwise: PostgreSQL's rule.
    fn operator(&mut self, name: &str, span: Span) {
        let keeps_sign = name.contains(|c| "~!@#%^&|`?".contains(c));
        let stem = if keeps_sign {
            name
        } else {
            name.trim_end_matches(['+', '-'])
        };
        let stem = if stem.is_empty() { &name[..1] } else { stem };
        let token = match stem {
            "+" => Token::Plus,
            "-" => Token::Minus,
            "*" => Token::Mul,
            "/" => Token::Div,
            "=" => Token::Eq,
            "<" => Token::Lt,
            ">" => Token::Gt,
            "<=" => Token::LtEq,
            ">=" => Token::GtEq,
            "<>" => Token::Neq,
            "->" => Token::Arrow,
            "->>" => Token::LongArrow,
            other => Token::CustomBinaryOperator(other.to_string()),
        };
        self.push(token, span);
        for sign in name[stem.len()..].chars() {
            self.push(if sign == '+' { Token::Plus } else { Token::Minus }, span);
        }
    }

    fn word(&mut self, token: Token, span: Span) -> Result<()> {
        let Token::Word(word) = &token else {
            return Ok(());
        };
        let keyword = if word.quote_style.is_none() {
            word.keyword
        } else {
            Keyword::NoKeyword
        };
        if self.options && self.option_of_column(&token, span) {
            return Ok(());
        }
        if self.is_taken(keyword, span) {
            return Ok(());
        }
        // A function like any other: sqlparser would read a clause of its own.
        let token = match token {
            Token::Word(word) if keyword == Keyword::UNNEST => Token::Word(Word {
                keyword: Keyword::NoKeyword,
                ..word
            }),
            token => token,
        };
        self.push(token, span);
        Ok(())
    }

    /// Joins a word with the tokens before it, where they are one operator; true if nothing of the word is left.
    fn is_taken(&mut self, keyword: Keyword, span: Span) -> bool {
        match &self.out[..] {
            [.., is, distinct] if is_from_of(keyword, distinct) && is_word(is, Keyword::IS) => {
                let start = is.span.start;
                self.out.truncate(self.out.len() - 2);
                let operator = Token::CustomBinaryOperator(IS_DISTINCT_FROM.to_string());
                self.push(operator, Span::new(start, span.end));
                return true;
            }
            [.., is, not, distinct]
                if is_from_of(keyword, distinct)
                    && is_word(not, Keyword::NOT)
                    && is_word(is, Keyword::IS) =>
            {
                let start = is.span.start;
                self.out.truncate(self.out.len() - 3);
                let operator = Token::CustomBinaryOperator(IS_NOT_DISTINCT_FROM.to_string());
                self.push(operator, Span::new(start, span.end));
                return true;
            }
            [.., trim, open]
                if keyword == Keyword::FROM
                    && open.token == Token::LParen
                    && is_word(trim, Keyword::TRIM) =>
            {
                return true;
            }
            [.., trim, open, side]
                if keyword == Keyword::FROM
                    && open.token == Token::LParen
                    && is_word(trim, Keyword::TRIM)
                    && [Keyword::BOTH, Keyword::LEADING, Keyword::TRAILING]
                        .iter()
                        .any(|side_word| is_word(side, *side_word)) =>
            {
                return true;
            }
            [.., like]
                if matches!(keyword, Keyword::ANY | Keyword::ALL | Keyword::SOME)
                    && like_operator(like, false).is_some() =>
            {
                self.like_as_operator();
            }
            [before @ .., table]
                if is_word(table, Keyword::TABLE)
                    && begins_query(before.last())
                    && !is_reindex(before.first()) =>
            {
                let table = table.span;
                self.out.pop();
                self.push(Token::make_keyword("SELECT"), table);
                self.push(Token::Mul, table);
                self.push(Token::make_keyword("FROM"), table);
            }
            _ => {}
        }
        false
    }

    /// Writes the [NOT] LIKE or ILIKE that was read last as an operator, as which it binds in front of ANY.
    fn like_as_operator(&mut self) {
        let Some(like) = self.out.pop() else { return };
        let not = self.out.pop_if(|not| is_word(not, Keyword::NOT));
        if let Some(operator) = like_operator(&like, not.is_some()) {
            let start = not.map_or(like.span.start, |not| not.span.start);
            self.push(operator, Span::new(start, like.span.end));
        }
    }

    /// Joins `option.column` into one word: the parser takes a word for an option's name.
    fn option_of_column(&mut self, token: &Token, span: Span) -> bool {
        let (Token::Word(column), [.., before, dot]) = (token, &self.out[..]) else {
            return false;
        };
        let (Token::Word(option), Token::Period) = (&before.token, &dot.token) else {
            return false;
        };
        let name = format!("{}.{}", fold(option), fold(column));
        let span = Span::new(before.span.start, span.end);
        self.out.truncate(self.out.len() - 2);
        self.push(Token::make_word(&name, Some('"')), span);
        true
    }
}

fn is_from_of(keyword: Keyword, before: &TokenWithSpan) -> bool {
    keyword == Keyword::FROM && is_word(before, Keyword::DISTINCT)
}

/// The operator that LIKE or ILIKE is.
fn like_operator(word: &TokenWithSpan, negated: bool) -> Option<Token> {
    match (
        is_word(word, Keyword::LIKE),
        is_word(word, Keyword::ILIKE),
        negated,
    ) {
        (true, _, false) => Some(Token::DoubleTilde),
        (true, _, true) => Some(Token::ExclamationMarkDoubleTilde),
        (_, true, false) => Some(Token::DoubleTildeAsterisk),
        (_, true, true) => Some(Token::ExclamationMarkDoubleTildeAsterisk),
        _ => None,
    }
}

/// Whether a query may begin behind this token.
fn begins_query(before: Option<&TokenWithSpan>) -> bool {
    let words = [
        Keyword::UNION,
        Keyword::EXCEPT,
        Keyword::INTERSECT,
        Keyword::ALL,
        Keyword::DISTINCT,
        Keyword::AS,
        Keyword::EXPLAIN,
        Keyword::FOR,
    ];
    before.is_none_or(|t| {
        matches!(t.token, Token::LParen | Token::RParen) || words.iter().any(|w| is_word(t, *w))
    })
}

/// True for the first word of REINDEX, whose options in parentheses come before TABLE.
fn is_reindex(first: Option<&TokenWithSpan>) -> bool {
    let word = first.map(|first| &first.token);
    matches!(word, Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("reindex"))
}

/// A number written to a base of 2, 8 or 16.
fn radix_number(digits: &str, radix: u32) -> Option<Token> {
    let value = u128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(Token::Number(value.to_string(), false))
}
