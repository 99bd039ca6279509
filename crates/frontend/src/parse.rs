//! Text → statements. Statements of our own are read from the tokens; all else is sqlparser's.

use crate::copy::{self, CopyStatement};
use crate::{ExplainMode, errors};
use datafusion_sql::sqlparser::ast::Statement as Ast;
use datafusion_sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion_sql::sqlparser::parser::Parser;
use datafusion_sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Word};
use frazil_types::{Error, Result, SqlState, Value};

/// A statement that was read but not yet bound.
#[derive(Clone, Debug)]
pub struct ParsedStatement {
    /// Its source text, without the semicolon.
    pub text: String,
    pub(crate) kind: ParsedKind,
    /// Operators in its longest chain: how deep its expressions may be.
    pub(crate) depth: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum ParsedKind {
    Ast(Box<Ast>),
    Copy(CopyStatement),
    Freeze {
        table: String,
        order_by: Option<String>,
    },
    Checkpoint,
    Begin,
    Commit,
    Rollback,
    Set {
        name: String,
        value: Value,
    },
    Show {
        name: String,
    },
    Explain {
        mode: ExplainMode,
        analyze: bool,
        inner: Box<ParsedStatement>,
    },
}

/// Longest chain of operators without parentheses: trees of expressions are walked recursively.
const MAX_CHAIN: usize = 2_000;

impl ParsedStatement {
    /// Whether it returns rows.
    pub fn returns_rows(&self) -> bool {
        match &self.kind {
            ParsedKind::Ast(ast) => matches!(**ast, Ast::Query(_)),
            ParsedKind::Show { .. } | ParsedKind::Explain { .. } => true,
            _ => false,
        }
    }
}

/// Reads a text of statements separated by semicolons. 42601 with the position.
pub fn parse(sql: &str) -> Result<Vec<ParsedStatement>> {
    let dialect = PostgreSqlDialect {};
    let tokens = Tokenizer::new(&dialect, sql)
        .tokenize_with_location()
        .map_err(|e| {
            located(
                sql,
                &format!(
                    "{} at Line: {}, Column: {}",
                    e.message, e.location.line, e.location.column
                ),
            )
        })?;
    let mut out = Vec::new();
    let mut rest = &tokens[..];
    loop {
        let end = rest.iter().position(|t| t.token == Token::SemiColon);
        let (statement, after) = match end {
            Some(end) => (&rest[..end], Some(&rest[end + 1..])),
            None => (rest, None),
        };
        let words: Vec<TokenWithSpan> = statement
            .iter()
            .filter(|t| !matches!(t.token, Token::Whitespace(_) | Token::EOF))
            .cloned()
            .collect();
        if !words.is_empty() {
            out.push(parse_statement(sql, &words)?);
        }
        match after {
            Some(after) => rest = after,
            None => return Ok(out),
        }
    }
}

/// Character offset from 1 of a location.
fn position(sql: &str, line: u64, column: u64) -> usize {
    let before: usize = sql
        .split_inclusive('\n')
        .take(line.saturating_sub(1) as usize)
        .map(|l| l.chars().count())
        .sum();
    before + column.max(1) as usize
}

fn located(sql: &str, message: &str) -> Error {
    let error = errors::syntax(message);
    match errors::line_and_column(message) {
        Some((line, column)) if line > 0 => error.at_position(position(sql, line, column)),
        _ => error.at_position(sql.chars().count() + 1),
    }
}

fn text_of(sql: &str, words: &[TokenWithSpan]) -> String {
    let bytes = |at: Location| {
        let chars = position(sql, at.line, at.column) - 1;
        sql.char_indices().nth(chars).map_or(sql.len(), |(i, _)| i)
    };
    match (words.first(), words.last()) {
        (Some(first), Some(last)) => {
            let (from, to) = (bytes(first.span.start), bytes(last.span.end));
            sql.get(from..to).unwrap_or(sql).to_string()
        }
        _ => String::new(),
    }
}

/// Length of the longest run of operators within one pair of parentheses.
fn longest_chain(words: &[TokenWithSpan]) -> usize {
    let (mut stack, mut longest) = (vec![0usize], 0);
    for t in words {
        match &t.token {
            Token::LParen => stack.push(0),
            Token::RParen => {
                stack.pop();
                if stack.is_empty() {
                    stack.push(0);
                }
            }
            Token::Comma => {
                if let Some(top) = stack.last_mut() {
                    *top = 0;
                }
            }
            Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::Mod | Token::StringConcat => {
                bump(&mut stack, &mut longest);
            }
            Token::Word(w)
                if w.quote_style.is_none()
                    && ["and", "or", "not", "union", "except", "intersect", "join"]
                        .iter()
                        .any(|k| w.value.eq_ignore_ascii_case(k)) =>
            {
                bump(&mut stack, &mut longest);
            }
            Token::DoubleColon => bump(&mut stack, &mut longest),
            _ => {}
        }
    }
    longest
}

fn bump(stack: &mut [usize], longest: &mut usize) {
    if let Some(top) = stack.last_mut() {
        *top += 1;
        *longest = (*longest).max(*top);
    }
}

fn parse_statement(sql: &str, words: &[TokenWithSpan]) -> Result<ParsedStatement> {
    let depth = longest_chain(words);
    if depth > MAX_CHAIN {
        return Err(Error::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!("an expression of more than {MAX_CHAIN} operators in a row"),
        )
        .with_hint("use IN (…) or parentheses"));
    }
    let mut cursor = Cursor { sql, words, at: 0 };
    let first = cursor.word().unwrap_or_default();
    let kind = match first.as_str() {
        "explain" => explain(&mut cursor)?,
        "copy" => ParsedKind::Copy(copy::parse(&mut cursor)?),
        "freeze" => freeze(&mut cursor)?,
        "set" => set(&mut cursor)?,
        "reset" => {
            cursor.next();
            let name = cursor.dotted_name()?;
            cursor.end()?;
            ParsedKind::Set {
                name,
                value: Value::Null,
            }
        }
        "show" => {
            cursor.next();
            let name = cursor.dotted_name()?;
            cursor.end()?;
            ParsedKind::Show { name }
        }
        "checkpoint" => cursor.only(&["checkpoint"], ParsedKind::Checkpoint)?,
        "begin" | "start" => transaction(&mut cursor, ParsedKind::Begin)?,
        "commit" | "end" => transaction(&mut cursor, ParsedKind::Commit)?,
        "rollback" | "abort" => transaction(&mut cursor, ParsedKind::Rollback)?,
        _ => ParsedKind::Ast(Box::new(sqlparser_statement(sql, words)?)),
    };
    Ok(ParsedStatement {
        text: text_of(sql, words),
        kind,
        depth,
    })
}

fn sqlparser_statement(sql: &str, words: &[TokenWithSpan]) -> Result<Ast> {
    let dialect = PostgreSqlDialect {};
    let mut parser = Parser::new(&dialect).with_tokens_with_locations(join_option_names(words));
    let statement = parser
        .parse_statement()
        .map_err(|e| located(sql, &e.to_string()))?;
    let next = parser.peek_token();
    if next.token != Token::EOF {
        let start = next.span.start;
        return Err(Error::new(
            SqlState::SYNTAX_ERROR,
            format!("syntax error at or near \"{}\"", next.token),
        )
        .at_position(position(sql, start.line, start.column)));
    }
    Ok(statement)
}

/// The tokens with names `option.column` of table options, `WITH (…)` and `SET (…)`, as one word each: the
/// parser takes a word for a name there.
fn join_option_names(words: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(words.len());
    let is_word = |t: &TokenWithSpan, wanted: &str| matches!(&t.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(wanted));
    let mut rest = words;
    let mut inside = false;
    while let Some((first, after)) = rest.split_first() {
        let opens = first.token == Token::LParen;
        if opens || first.token == Token::RParen {
            inside = opens
                && out
                    .last()
                    .is_some_and(|t| is_word(t, "with") || is_word(t, "set"));
        }
        match (&first.token, after) {
            (Token::Word(option), [dot, column, ..]) if inside && dot.token == Token::Period => {
                let Token::Word(name) = &column.token else {
                    return words.to_vec();
                };
                let name = format!("{}.{}", fold(option), fold(name));
                let token = Token::make_word(&name, Some('"'));
                out.push(TokenWithSpan::new(token, first.span));
                rest = &after[2..];
            }
            _ => {
                out.push(first.clone());
                rest = after;
            }
        }
    }
    out
}

fn explain(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    let (mut mode, mut analyze) = (ExplainMode::Plan, false);
    if cursor.take("analyze") {
        analyze = true;
    }
    if cursor.take_token(&Token::LParen) {
        loop {
            match cursor.word().unwrap_or_default().as_str() {
                "plan" => mode = ExplainMode::Plan,
                "pipelines" => mode = ExplainMode::Pipelines,
                "stages" => mode = ExplainMode::Stages,
                "clif" => mode = ExplainMode::Clif,
                "analyze" => analyze = true,
                other => {
                    return Err(Error::unsupported(format!("EXPLAIN ({other})"))
                        .with_hint("the options are ANALYZE, PLAN, PIPELINES, STAGES and CLIF"));
                }
            }
            cursor.next();
            if !cursor.take_token(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
    }
    if cursor.take("analyze") {
        analyze = true;
    }
    let inner = parse_statement(cursor.sql, &cursor.words[cursor.at..])?;
    Ok(ParsedKind::Explain {
        mode,
        analyze,
        inner: Box::new(inner),
    })
}

fn freeze(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    cursor.take("table");
    let table = cursor.table_name()?;
    let mut order_by = None;
    if cursor.take("order") {
        cursor.expect_word("by")?;
        order_by = Some(cursor.name()?);
        cursor.take("asc");
    }
    cursor.end()?;
    Ok(ParsedKind::Freeze { table, order_by })
}

fn set(cursor: &mut Cursor) -> Result<ParsedKind> {
    cursor.next();
    cursor.take("session");
    if matches!(
        cursor.word().as_deref(),
        Some("local" | "transaction" | "time" | "role")
    ) {
        let word = cursor.word().unwrap_or_default().to_uppercase();
        return Err(Error::unsupported(format!("SET {word}")));
    }
    let name = cursor.dotted_name()?;
    if !cursor.take("to") {
        cursor.expect(&Token::Eq)?;
    }
    let negative = cursor.take_token(&Token::Minus);
    let value = match cursor.next() {
        Some(Token::Number(n, _)) => match n.parse::<i128>() {
            Ok(v) => Value::Int(if negative { -v } else { v }),
            Err(_) => Value::Double(n.parse::<f64>().unwrap_or(f64::NAN) * if negative { -1.0 } else { 1.0 }),
        },
        Some(Token::SingleQuotedString(text)) => Value::Text(text),
        Some(Token::Word(w)) => match fold(&w).as_str() {
            "default" => Value::Null,
            "true" | "on" => Value::Bool(true),
            "false" | "off" => Value::Bool(false),
            other => Value::Text(other.to_string()),
        },
        _ => return Err(cursor.error_before()),
    };
    cursor.end()?;
    Ok(ParsedKind::Set { name, value })
}

fn transaction(cursor: &mut Cursor, kind: ParsedKind) -> Result<ParsedKind> {
    let start = cursor.word().as_deref() == Some("start");
    cursor.next();
    if start {
        cursor.expect_word("transaction")?;
    } else if !cursor.take("work") {
        cursor.take("transaction");
    }
    if let Some(word) = cursor.word() {
        let what = match word.as_str() {
            "isolation" => "SET of an ISOLATION LEVEL".to_string(),
            "to" => "SAVEPOINT".to_string(),
            other => format!("transaction option {}", other.to_uppercase()),
        };
        return Err(Error::unsupported(what));
    }
    cursor.end()?;
    Ok(kind)
}

/// A name as the catalog keeps it: lower case unless quoted.
pub(crate) fn fold(w: &Word) -> String {
    if w.quote_style.is_some() {
        w.value.clone()
    } else {
        w.value.to_lowercase()
    }
}

/// Reads tokens one after another.
pub(crate) struct Cursor<'a> {
    sql: &'a str,
    words: &'a [TokenWithSpan],
    at: usize,
}

impl Cursor<'_> {
    /// The next word, folded, if the next token is one.
    pub fn word(&self) -> Option<String> {
        match &self.words.get(self.at)?.token {
            Token::Word(w) if w.quote_style.is_none() => Some(w.value.to_lowercase()),
            _ => None,
        }
    }

    pub fn peek(&self) -> Option<&Token> {
        self.words.get(self.at).map(|t| &t.token)
    }

    pub fn next(&mut self) -> Option<Token> {
        let token = self.words.get(self.at).map(|t| t.token.clone());
        self.at += 1;
        token
    }

    pub fn take(&mut self, word: &str) -> bool {
        let found = self.word().as_deref() == Some(word);
        self.at += usize::from(found);
        found
    }

    pub fn take_token(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take(word) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    pub fn expect(&mut self, token: &Token) -> Result<()> {
        if self.take_token(token) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// A name, folded unless quoted.
    pub fn name(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(w)) => {
                let name = fold(w);
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.error()),
        }
    }

    /// A table's name, perhaps with the one schema before it.
    pub fn table_name(&mut self) -> Result<String> {
        let name = self.name()?;
        if matches!(name.as_str(), "public" | "main") && self.take_token(&Token::Period) {
            return self.name();
        }
        Ok(name)
    }

    pub fn dotted_name(&mut self) -> Result<String> {
        let mut name = self.name()?;
        while self.take_token(&Token::Period) {
            name = format!("{name}.{}", self.name()?);
        }
        Ok(name)
    }

    pub fn end(&self) -> Result<()> {
        if self.at >= self.words.len() {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    fn only(&mut self, words: &[&str], kind: ParsedKind) -> Result<ParsedKind> {
        for word in words {
            self.expect_word(word)?;
        }
        self.end()?;
        Ok(kind)
    }

    /// The syntax error at the next token.
    pub fn error(&self) -> Error {
        match self.words.get(self.at) {
            Some(t) => Error::new(
                SqlState::SYNTAX_ERROR,
                format!("syntax error at or near \"{}\"", t.token),
            )
            .at_position(position(self.sql, t.span.start.line, t.span.start.column)),
            None => {
                let end = self
                    .words
                    .last()
                    .map_or(1, |t| position(self.sql, t.span.end.line, t.span.end.column));
                Error::new(SqlState::SYNTAX_ERROR, "syntax error at end of input").at_position(end)
            }
        }
    }

    /// The syntax error at the token just read.
    pub fn error_before(&mut self) -> Error {
        self.at = self.at.saturating_sub(1);
        self.error()
    }
}
