//! LIKE, ILIKE, SIMILAR TO, and the operators of regular expressions.

use crate::build::{TEXT, boolean, call, constant_of, is_null_constant, null, text};
use crate::compare::compare_as;
use crate::convert::as_text;
use crate::escape::escape_character;
use crate::function::call_of;
use crate::regular_expression::{regex_insensitive_row, regex_row, with_regex};
use crate::resolve::{Resolution, no_operator_between};
use crate::scalar_functions::{BYTEA_OPERATORS, JSON_CHANGES};
use crate::similar::similar_row;
use crate::type_rules::{Category, Kind};
use crate::vector::{OnNull, Output, Row, predicate};
use crate::{CastContext, LikeKind, Operand, Typing};
use frazil_plan::{Columns, Expr, ExprKind, ScalarFunction};

use frazil_types::{CompareOp, DocumentForm, Error, LogicalType, Result, Span, SqlState, Value};

impl Typing {
    /// LIKE, ILIKE and SIMILAR TO. 42883; 22025 for patterns and escapes.
    pub fn like(
        &self,
        value: Operand,
        pattern: Operand,
        escape: Option<Operand>,
        kind: LikeKind,
        span: Span,
        _: &mut Columns,
    ) -> Result<Operand> {
        let op = match kind {
            LikeKind::Like => "~~",
            LikeKind::ILike => "~~*",
            LikeKind::SimilarTo => "SIMILAR TO",
        };
        if kind == LikeKind::Like
            && escape.is_none()
            && [&value, &pattern]
                .iter()
                .any(|x| x.ty() == Some(LogicalType::Bytea))
            && [&value, &pattern]
                .iter()
                .all(|x| x.ty().is_none_or(|ty| ty == LogicalType::Bytea))
        {
            let sides = [
                self.argument(value, Kind::Bytea)?,
                self.argument(pattern, Kind::Bytea)?,
            ];
            return Ok(predicate(op, OnNull::Null, like_bytes_row, sides.into())
                .at(span)
                .into());
        }
        let (value, pattern) = self.texts(op, value, pattern, span)?;
        let escape = match escape {
            None => text("\\"),
            Some(escape) => self.cast(escape, TEXT, CastContext::Implicit, Span::NONE)?,
        };
        let escape_at = escape.span;
        if [&value, &pattern, &escape].into_iter().any(is_null_constant) {
            return Ok(Expr::unknown().at(span).into());
        }
        if let Some(Value::Text(t)) = constant_of(&escape) {
            escape_character(t).map_err(|e| e.at_span(escape_at))?;
        }
        let e = match (kind, constant_of(&pattern), constant_of(&escape)) {
            (LikeKind::Like | LikeKind::ILike, Some(Value::Text(p)), Some(Value::Text(escape)))
                if constant_of(&value).is_none() && !ends_in_escape(p, escape_character(escape)?) =>
            {
                like_constant(value, p.clone(), escape_character(escape)?, kind)
            }
            _ => {
                let run = match kind {
                    LikeKind::Like => like_row,
                    LikeKind::ILike => ilike_row,
                    LikeKind::SimilarTo => similar_row,
                };
                predicate(op, OnNull::Null, run, vec![value, pattern, escape])
            }
        };
        Ok(e.at(span).into())
    }

    /// `~`, `~*`, `!~` and `!~*`. 42883, 2201B, 0A000.
    pub(crate) fn regex_match(&self, op: &str, l: Operand, r: Operand, span: Span) -> Result<Expr> {
        let of = l.ty();
        let (value, pattern) = self.texts(op, l, r, span)?;
        if op == "~"
            && of.is_some_and(|of| of.is_text() && !of.is_padded())
            && let Some(whole) = constant_of(&pattern)
                .and_then(Value::as_text)
                .and_then(whole_text)
        {
            return Ok(equals(value, whole).at(span));
        }
        let insensitive = op.ends_with('*');
        if let Some(Value::Text(p)) = constant_of(&pattern) {
            let flags = if insensitive { "i" } else { "" };
            with_regex(p, flags, |_| Ok(())).map_err(|e| e.at_span(pattern.span))?;
        }
        let run = if insensitive {
            regex_insensitive_row
        } else {
            regex_row
        };
        let name = if insensitive { "~*" } else { "~" };
        let matched = predicate(name, OnNull::Null, run, vec![value, pattern]).at(span);
        Ok(if op.starts_with('!') {
            crate::build::not(matched)
        } else {
            matched
        })
    }

    /// Two operands as texts. 42883.
    fn texts(&self, op: &str, l: Operand, r: Operand, span: Span) -> Result<(Expr, Expr)> {
        let is_text = |x: &Operand| {
            x.ty()
                .is_none_or(|ty| Kind::of(ty).category() == Category::String)
        };
        if !is_text(&l) || !is_text(&r) {
            return Err(no_operator_between(op, l.ty(), r.ty(), Resolution::None).at_span(span));
        }
        let text = TEXT.kind();
        Ok((self.argument(l, text)?, self.argument(r, text)?))
    }

    /// `||`: at least one side is a string; the other is written as one. 42883.
    pub(crate) fn concat(&self, l: Operand, r: Operand, span: Span) -> Result<Expr> {
        if [&l, &r]
            .iter()
            .any(|x| x.ty().is_some_and(|ty| ty.element().is_some()))
        {
            return Ok(self.array_concatenation(l, r, span)?.at(span));
        }
        let is_jsonb = |x: &Operand| x.ty().and_then(LogicalType::document) == Some(DocumentForm::Binary);
        let is_string = |x: &Operand| x.ty().is_some_and(LogicalType::is_string);
        let is_open = |x: &Operand| x.ty().is_none();
        let is_binary = |x: &Operand| x.ty() == Some(LogicalType::Bytea);
        if (is_binary(&l) || is_open(&l)) && (is_binary(&r) || is_open(&r)) && is_binary(&l) | is_binary(&r) {
            let parts = [self.argument(l, Kind::Bytea)?, self.argument(r, Kind::Bytea)?];
            return Ok(call_of(BYTEA_OPERATORS.iter(), "byteacat", parts.into())?.at(span));
        }
        if (is_jsonb(&l) || is_open(&l)) && (is_jsonb(&r) || is_open(&r)) && is_jsonb(&l) | is_jsonb(&r) {
            let of = if is_jsonb(&l) { l.ty() } else { r.ty() };
            let kind = Kind::of(of.unwrap_or(TEXT));
            let parts = [self.argument(l, kind)?, self.argument(r, kind)?];
            return Ok(call_of(JSON_CHANGES.iter(), "jsonb_concat", parts.into())?.at(span));
        }
        if !(is_string(&l) || is_string(&r) || is_open(&l) || is_open(&r)) {
            return Err(no_operator_between("||", l.ty(), r.ty(), Resolution::None).at_span(span));
        }
        let mut parts = Vec::new();
        for x in [l, r] {
            parts.push(match x {
                Operand::Typed(e) => as_text(e),
                unknown => self.settle(unknown)?,
            });
        }
        Ok(concatenation(parts).at(span))
    }
}

/// Texts one behind the other; NULL where one is.
pub(crate) fn concatenation(parts: Vec<Expr>) -> Expr {
    if parts.iter().any(is_null_constant) {
        return null(TEXT);
    }
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|p| constant_of(p).and_then(Value::as_text))
        .collect();
    if let Some(texts) = texts {
        return text(texts.concat());
    }
    call(ScalarFunction::Concat, parts)
}

/// The one text that a regular expression matches, if it is plain characters between `^` and `$`, perhaps in
/// parentheses: the patterns of psql's `\d name`.
fn whole_text(pattern: &str) -> Option<&str> {
    let whole = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let inner = whole.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let plain = inner.unwrap_or(whole);
    plain
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_')
        .then_some(plain)
}

/// True where a text equals another. A name is compared as it is, so that the comparison can restrict a scan.
fn equals(value: Expr, with: &str) -> Expr {
    if let ExprKind::Cast(name) = &value.kind
        && name.ty.is_text()
    {
        let with = Expr::constant(Value::Text(with.to_owned()), name.ty);
        return compare_as(name.ty.kind(), CompareOp::Eq, (**name).clone(), with);
    }
    compare_as(value.ty.kind(), CompareOp::Eq, value, text(with))
}

/// LIKE or ILIKE with a pattern that is compiled once; it does not end in its escape.
fn like_constant(value: Expr, pattern: String, escape: Option<char>, kind: LikeKind) -> Expr {
    let (value, pattern, escape) = match kind {
        LikeKind::ILike => {
            let lower = call(ScalarFunction::Lower, vec![as_text(value)]);
            (lower, lower_pattern(&pattern, escape), Some('\\'))
        }
        _ if value.ty.is_code_point() => (as_text(value), pattern, escape),
        _ => (value, pattern, escape),
    };
    let nullable = value.nullable;
    let kind = ExprKind::Like {
        value: Box::new(value),
        pattern,
        escape,
        negated: false,
    };
    Expr::boolean(kind, nullable)
}

// --- LIKE --------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Any,
    One,
    Char(char),
    /// The escape character at the pattern's end, behind which there is nothing that it could escape.
    Dangling,
}

/// True if the escape character ends the pattern, so that it is an error for the texts that match up to there.
fn ends_in_escape(pattern: &str, escape: Option<char>) -> bool {
    tokens(pattern, escape).last() == Some(&Token::Dangling)
}

fn tokens(pattern: &str, escape: Option<char>) -> Vec<Token> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            c if Some(c) == escape => chars.next().map_or(Token::Dangling, Token::Char),
            '%' => Token::Any,
            '_' => Token::One,
            c => Token::Char(c),
        });
    }
    out
}

/// The pattern in small letters, its escape character a backslash: letters that escape do so as they were written.
fn lower_pattern(pattern: &str, escape: Option<char>) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            out.push('\\');
            out.extend(chars.next());
        } else if c == '\\' {
            out.push_str("\\\\");
        } else {
            out.push(c);
        }
    }
    out.to_lowercase()
}

/// True if `%` and behind it `_`, with other wildcards perhaps, end the tokens. PostgreSQL reads such a run at once and
/// looks at what follows it even where `_` took the text's last character.
fn end_in_any_and_one(pattern: &[Token]) -> bool {
    let literal = |token: &Token| !matches!(token, Token::Any | Token::One);
    let run = &pattern[pattern.iter().rposition(literal).map_or(0, |at| at + 1)..];
    let any = run.iter().position(|&token| token == Token::Any);
    any.is_some_and(|any| run[any..].contains(&Token::One))
}

/// Whether a text matches: `%` gives back characters only to the last one seen. 22025 if the match gets to an escape
/// character that ends the pattern before the text ends.
fn like_match(text: &str, pattern: &[Token]) -> Result<bool> {
    let (mut rest, mut at) = (text, 0);
    let mut retry: Option<(&str, usize)> = None;
    loop {
        let mut chars = rest.chars();
        let matched = match pattern.get(at) {
            None if rest.is_empty() => return Ok(true),
            None => false,
            Some(Token::Any) => {
                at += 1;
                if at == pattern.len() {
                    return Ok(true);
                }
                retry = Some((rest, at));
                continue;
            }
            Some(Token::One) => chars.next().is_some(),
            Some(Token::Char(c)) => chars.next() == Some(*c),
            Some(Token::Dangling) if !rest.is_empty() || end_in_any_and_one(&pattern[..at]) => {
                return Err(Error::new(
                    SqlState::INVALID_ESCAPE,
                    "LIKE pattern must not end with escape character",
                ));
            }
            Some(Token::Dangling) => false,
        };
        if matched {
            (rest, at) = (chars.as_str(), at + 1);
            continue;
        }
        let Some((from, behind)) = retry else {
            return Ok(false);
        };
        let mut chars = from.chars();
        if chars.next().is_none() {
            return Ok(false);
        }
        retry = Some((chars.as_str(), behind));
        (rest, at) = (chars.as_str(), behind);
    }
}

fn like_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let pattern = tokens(row.text(1), escape_character(row.text(2))?);
    out.bool(like_match(row.text(0), &pattern)?)
}

fn ilike_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let pattern = lower_pattern(row.text(1), escape_character(row.text(2))?);
    let pattern = tokens(&pattern, Some('\\'));
    out.bool(like_match(&row.text(0).to_lowercase(), &pattern)?)
}

/// LIKE of bytes: each byte is matched as the character of its number.
fn like_bytes_row(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let characters = |argument: usize| {
        row.bytes(argument)
            .iter()
            .map(|&byte| char::from(byte))
            .collect::<String>()
    };
    let pattern = tokens(&characters(1), Some('\\'));
    out.bool(like_match(&characters(0), &pattern)?)
}

/// starts_with(text, prefix): a constant prefix becomes a pattern that blocks can be asked for.
pub(crate) fn starts_with(mut arguments: Vec<Expr>) -> Result<Expr> {
    let prefix = arguments
        .pop()
        .ok_or_else(|| Error::internal("starts_with without arguments"))?;
    let value = arguments
        .pop()
        .ok_or_else(|| Error::internal("starts_with without arguments"))?;
    match (constant_of(&value), constant_of(&prefix)) {
        (Some(Value::Text(t)), Some(Value::Text(p))) => Ok(boolean(t.starts_with(p.as_str()))),
        (None, Some(Value::Text(p))) => {
            let mut pattern = String::new();
            for c in p.chars() {
                if matches!(c, '%' | '_' | '\\') {
                    pattern.push('\\');
                }
                pattern.push(c);
            }
            pattern.push('%');
            Ok(like_constant(value, pattern, Some('\\'), LikeKind::Like))
        }
        _ => Ok(predicate(
            "starts_with",
            OnNull::Null,
            |row, out| out.bool(row.text(0).starts_with(row.text(1))),
            vec![value, prefix],
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_characters_between_anchors_are_one_text() {
        for (pattern, whole) in [
            ("^(orders)$", Some("orders")),
            ("^order_items2$", Some("order_items2")),
            ("^größe$", Some("größe")),
            ("^()$", Some("")),
            ("^$", Some("")),
            ("^(a)(b)$", None),
            ("^a|b$", None),
            ("^(?i)$", None),
            ("^a.$", None),
            (r"^a\$", None),
            ("orders$", None),
            ("^orders", None),
            ("***=a", None),
        ] {
            assert_eq!(whole_text(pattern), whole, "{pattern}");
        }
    }

    #[test]
    fn like_gives_back_what_percent_took() {
        for (value, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "_b_", true),
            ("abc", "%b", false),
            ("aXbXc", "a%X_", true),
            ("größe", "gr__e", true),
            ("", "%", true),
            ("", "_", false),
            ("100%", r"100\%", true),
            ("mississippi", "%iss%ip%", true),
        ] {
            let found = like_match(value, &tokens(pattern, Some('\\'))).unwrap();
            assert_eq!(found, expected, "{value} like {pattern}");
        }
    }

    /// PostgreSQL 15's answers.
    #[test]
    fn an_escape_that_ends_the_pattern_fails_where_the_match_gets_there() {
        let matched = |value: &str, pattern: &str| like_match(value, &tokens(pattern, Some('\\')));
        for (value, pattern) in [
            ("a", r"q\"),
            ("q", r"q\"),
            ("a", r"a%\"),
            ("", r"%\"),
            ("", r"%_\"),
            ("a", r"_\"),
            ("ab", r"%b\"),
            ("abc", r"a%x%\"),
            ("abcbd", r"%b%d\"),
        ] {
            assert!(!matched(value, pattern).unwrap(), "{value} like {pattern}");
        }
        for (value, pattern) in [
            ("qa", r"q\"),
            ("a", r"%_\"),
            ("a", r"%_%\"),
            ("abc", r"%b\"),
            ("abc", r"a%b%\"),
            ("ab", r"_\"),
        ] {
            let error = matched(value, pattern).unwrap_err();
            assert_eq!(error.state().0, "22025", "{value} like {pattern}");
        }
    }

    #[test]
    fn letters_escape_as_they_are_written() {
        let matched = |value: &str, pattern: &str, escape: Option<char>| {
            let pattern = lower_pattern(pattern, escape);
            like_match(&value.to_lowercase(), &tokens(&pattern, Some('\\'))).unwrap()
        };
        assert!(matched("A%b", "aQ%B", Some('Q')) && !matched("AxB", "aQ%b", Some('Q')));
        assert!(matched("Aq-B", "aq%b", Some('Q')) && matched("q", "QQ", Some('Q')));
        assert!(matched(r"a\B", r"A\b", None) && matched(r"\%", r"\Q%", Some('Q')));
    }
}
