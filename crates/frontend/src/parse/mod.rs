//! Text → statements. Statements of our own are read from the tokens; all else is sqlparser's.

mod absent_objects;
mod alter_constraint;
mod comment_on;
pub(crate) mod conflict_words;
mod create_domain;
mod create_view;
mod cursor;
mod definition_words;
mod definitions;
mod depth;
mod dialect;
mod explain;
mod group_words;
mod index_words;
mod keywords;
mod labels;
mod like_words;
mod lock_words;
mod maintenance;
mod names;
mod notifications;
mod objects;
mod only;
mod own;
mod parsed;
mod prepared;
mod privileges;
mod query_text;
pub(crate) mod recursion_words;
mod reference_words;
mod reindex;
mod roles;
mod row_words;
mod schemas;
mod sequences;
mod setting_values;
mod settings;
mod source;
mod sql_cursors;
mod subqueries;
mod table_advice;
mod tokens;
mod transactions;
mod whole_tables;
mod window_words;

pub(crate) use absent_objects::{AbsentObjects, PLPGSQL};
pub(crate) use alter_constraint::AlteredConstraint;
pub(crate) use comment_on::{CommentOn, CommentedName};
pub(crate) use create_domain::VALUE;
pub(crate) use create_view::{Refresh, ViewHead};
pub(crate) use cursor::Cursor;
pub(crate) use definition_words::UNTYPED;
pub(crate) use depth::MAX_DEPTH;
pub(crate) use dialect::{IS_DISTINCT_FROM, IS_NOT_DISTINCT_FROM, SYMMETRIC, VARIADIC};
pub(crate) use group_words::{DISTINCT_SETS, EMPTY_SET, GROUPING_SETS};
pub(crate) use like_words::{LikeParts, WrittenLike};
pub(crate) use lock_words::STRENGTH;
pub(crate) use maintenance::Maintain;
pub(crate) use only::ROWS_FROM;
pub(crate) use parsed::LockedTables;
pub(crate) use parsed::ParsedKind;
pub use parsed::{Control, ParsedStatement, StatementRole};
pub(crate) use privileges::{
    GrantObjects, Object, WrittenAccess, WrittenDefaults, WrittenGrant, WrittenOwner, WrittenRight,
};
pub use query_text::{QualifiedPlace, QueryText};
pub(crate) use reference_words::SET_COLUMNS;
pub(crate) use reindex::{Reindex, Reindexed};
pub(crate) use roles::{RoleStatement, WrittenRole};
pub(crate) use row_words::ROW_OF;
pub(crate) use schemas::{MovedKind, MovedObject, RenameTo, RenamedObject, WrittenSchema};
pub(crate) use sequences::{
    AlteredIdentity, IdentityAction, Overriding, SequenceAction, WrittenOptions, WrittenSequence,
};
pub(crate) use setting_values::WrittenSetting;
pub(crate) use source::Place;
pub(crate) use table_advice::{Advice, TableAdvice};
pub(crate) use tokens::TIES_OF_LIMIT;
pub(crate) use window_words::EXCLUDE;

use crate::copy::{self, Copied, CopyStatement};
use crate::deep_stack::{Deep, on_deep_stack};
use crate::limits::Limits;
use dialect::FrazilDialect;
use frazil_types::{Error, Reservation, Result, SqlState};
use source::{Source, near};
use sqlparser::ast::Statement as Ast;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use std::sync::Arc;

/// Bytes that a token of a text takes, with its text and a copy of it: the list grows by copying, and is cut into
/// statements by copying.
const BYTES_PER_TOKEN: usize = 280;

/// Bytes that a token of a statement takes with its part of sqlparser's tree and of the plan: measured for lists of
/// values, which is what long statements are.
const BYTES_PER_TOKEN_READ: usize = 800;

/// Tokens whose memory is not counted; of more, it is counted in steps of so many.
const SHORT: usize = 1024;

/// Reads a text of statements separated by semicolons. 42601 with the position in the text, 53200 if there is no room
/// for a tree, 54001, 57014.
pub fn parse(sql: &str, limits: &Limits) -> Result<Vec<ParsedStatement>> {
    Script::cut(sql, limits)?.collect()
}

/// The statements of a text, each read when its turn comes: the tree of a short statement takes twenty kilobytes.
pub struct Script {
    reading: Reading,
    statements: std::vec::IntoIter<Vec<TokenWithSpan>>,
}

impl Script {
    /// Cuts a text into its statements and reads each to see whether it can be: errors are those of [`parse`], so that
    /// none runs if one is misspelt.
    pub fn new(sql: &str, limits: &Limits) -> Result<Script> {
        let script = Script::cut(sql, limits)?;
        let statements = script.statements.as_slice();
        if statements.len() > 1 {
            for words in statements {
                script.reading.statement(words.clone())?;
            }
        }
        Ok(script)
    }

    fn cut(sql: &str, limits: &Limits) -> Result<Script> {
        let source = Arc::new(Source::new(sql));
        let dialect = FrazilDialect::new(limits.cancel.clone());
        let (tokens, reserved) = tokenize(sql, &source, &dialect, limits)?;
        let reading = Reading {
            source,
            dialect,
            _tokens: reserved,
            limits: limits.clone(),
        };
        let statements = tokens::statements(tokens, &reading.source, &limits.cancel)?.into_iter();
        Ok(Script { reading, statements })
    }
}

impl Iterator for Script {
    type Item = Result<ParsedStatement>;

    fn next(&mut self) -> Option<Result<ParsedStatement>> {
        self.statements.next().map(|words| self.reading.statement(words))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.statements.size_hint()
    }
}

impl ExactSizeIterator for Script {}

/// All tokens of a text, whose memory is reserved while they are made.
fn tokenize(
    sql: &str,
    source: &Source,
    dialect: &FrazilDialect,
    limits: &Limits,
) -> Result<(Vec<TokenWithSpan>, Reservation)> {
    // Words have some five letters, and spaces between them are tokens.
    let mut tokens = Vec::with_capacity(sql.len().min(1 << 16) / 3 + 8);
    let (mut count, mut reserved, mut full) = (0, limits.budget.reservation(), Ok(()));
    let counted = |token| {
        count += 1;
        if count % SHORT == 0 && full.is_ok() {
            full = reserved.grow(SHORT * BYTES_PER_TOKEN);
            if full.is_err() {
                dialect.stop();
            }
        }
        token
    };
    let cut = Tokenizer::new(dialect, sql).tokenize_with_location_into_buf_with_mapper(&mut tokens, counted);
    limits.cancel.check()?;
    full.map_err(|e| e.with_detail(format!("the text has more than {count} words and signs")))?;
    cut.map_err(|e| {
        let position = source.position(source.byte(e.location));
        Error::new(SqlState::SYNTAX_ERROR, format!("syntax error: {}", e.message)).at_position(position)
    })?;
    Ok((tokens, reserved))
}

fn reserve(tokens: usize, bytes: usize, limits: &Limits) -> Result<Option<Reservation>> {
    let reserved = (tokens > SHORT).then(|| limits.budget.reserve(tokens * bytes));
    reserved
        .transpose()
        .map_err(|e| e.with_detail(format!("the text has {tokens} words and signs")))
}

/// Reads a statement, whose word is `first`, that is told by more of its words: on objects of kinds that there are not,
/// or on one column. `None` for any other statement.
fn of_words(source: &Source, words: &[TokenWithSpan], first: &str) -> Result<Option<ParsedKind>> {
    match first {
        "alter" => of_one_column(source, words),
        "create" | "drop" | "comment" => {
            let absent = absent_objects::parse(Cursor::new(source, words))?;
            Ok(absent.map(ParsedKind::AbsentObjects))
        }
        _ => Ok(None),
    }
}

/// Reads ALTER TABLE of one column or constraint that sqlparser does not read: of an identity, as advice, or when a
/// constraint is checked. `None` for any other statement.
fn of_one_column(source: &Source, words: &[TokenWithSpan]) -> Result<Option<ParsedKind>> {
    if let Some(identity) = sequences::identity(&Cursor::new(source, words))? {
        return Ok(Some(identity));
    }
    if let Some(altered) = alter_constraint::parse(Cursor::new(source, words))? {
        return Ok(Some(ParsedKind::AlterConstraint(altered)));
    }
    let advice = table_advice::parse(Cursor::new(source, words))?;
    Ok(advice.map(ParsedKind::TableAdvice))
}

/// Reads VACUUM, ANALYZE or REINDEX, whose word is `first`. 42601.
fn maintained(cursor: &mut Cursor<'_>, first: &str) -> Result<ParsedKind> {
    match first {
        "reindex" => reindex::parse(cursor).map(ParsedKind::Reindex),
        _ => maintenance::parse(cursor, first == "vacuum").map(ParsedKind::Maintain),
    }
}

/// A text that is being read.
struct Reading {
    source: Arc<Source>,
    dialect: FrazilDialect,
    limits: Limits,
    _tokens: Reservation,
}

impl Reading {
    fn statement(&self, words: Vec<TokenWithSpan>) -> Result<ParsedStatement> {
        let source = &self.source;
        self.limits.cancel.check()?;
        let depth::Measured { depth, junctions } = depth::of(&words, source)?;
        self.dialect.balance(junctions);
        let byte = |at: Option<Location>| at.map_or(0, |at| source.byte(at));
        let (start, end) = (
            words.first().map(|t| t.span.start),
            words.last().map(|t| t.span.end),
        );
        let place = Place::new(source, byte(start), byte(end));
        let counts_rows = words
            .windows(3)
            .any(|w| w[0].token == Token::Period && w[1].token == Token::Mul && w[2].token == Token::RParen);
        let groups = words.iter().any(|w| tokens::is_word(w, Keyword::GROUP));
        let defines =
            ["create", "alter"].contains(&Cursor::new(source, &words).word().as_deref().unwrap_or(""));
        let definitions = match defines {
            true => definitions::expressions(&words),
            false => Vec::new(),
        };
        let mut words = words;
        let concurrently = index_words::take_concurrently(&mut words);
        let of_one_column = defines && sequences::identity(&Cursor::new(source, &words))?.is_some();
        let identities = match defines && !of_one_column {
            true => sequences::take_identities(&mut words, source)?,
            false => Vec::new(),
        };
        let likes = match defines {
            true => like_words::take(&mut words, source)?,
            false => Vec::new(),
        };
        let is_insert =
            ["insert", "with"].contains(&Cursor::new(source, &words).word().as_deref().unwrap_or(""));
        let overriding = match is_insert {
            true => sequences::take_overriding(&mut words, source)?,
            false => None,
        };
        let memory = reserve(words.len(), BYTES_PER_TOKEN_READ, &self.limits)?;
        let kind = self.kind(words, depth)?;
        Ok(ParsedStatement {
            text: place.text().to_string(),
            kind,
            counts_rows,
            groups,
            definitions: definitions.into_iter().map(|s| place.span(s)).collect(),
            place,
            limits: self.limits.clone(),
            identities,
            likes,
            overriding,
            concurrently,
            depth,
            _memory: memory.map(Arc::new),
        })
    }

    fn kind(&self, words: Vec<TokenWithSpan>, depth: usize) -> Result<ParsedKind> {
        let source = &self.source;
        let mut cursor = Cursor::new(source, &words);
        let first = cursor.word().unwrap_or_default();
        if let Some(kind) = of_words(source, &words, &first)? {
            return Ok(kind);
        }
        if let Some(access) = privileges::parse(&mut cursor, &first)? {
            return Ok(ParsedKind::Access(Box::new(access)));
        }
        let is_definition = ["create", "alter", "drop"].contains(&first.as_str());
        let is_renamed = first == "alter" && (schemas::is_rename(&cursor) || schemas::is_move(&cursor));
        if is_definition && !is_renamed {
            objects::refuse(&cursor, &first)?;
        }
        match first.as_str() {
            "explain" => self.explained(&mut cursor),
            "create" if create_view::is_next(&cursor) => {
                let mut head = create_view::head(&mut cursor)?;
                let query = create_view::query_of(&cursor, &mut head);
                let query = Box::new(self.statement(query)?);
                Ok(ParsedKind::CreateView { head, query })
            }
            "create" if create_domain::is_next(&cursor) => {
                let words = create_domain::as_table(&mut cursor)?;
                Ok(ParsedKind::CreateDomain(self.deep_tree(words, depth)?))
            }
            "alter" if !is_renamed && create_domain::alters(&cursor) => {
                let words = create_domain::as_altered_table(&mut cursor)?;
                Ok(ParsedKind::AlterDomain(self.deep_tree(words, depth)?))
            }
            "create" | "alter" if sequences::is_next(&cursor) => sequences::parse(&mut cursor),
            "create" if schemas::is_create(&cursor) => schemas::create(&mut cursor),
            "comment" => comment_on::parse(&mut cursor).map(ParsedKind::CommentOn),
            "alter" if schemas::is_rename(&cursor) => schemas::rename(&mut cursor),
            "alter" if schemas::is_move(&cursor) => schemas::alter(&mut cursor),
            "alter" if objects::alters_view(&cursor) => Err(Error::unsupported("ALTER VIEW")),
            "refresh" => create_view::refresh(&mut cursor).map(ParsedKind::Refresh),
            "copy" => self.copy(copy::parse(&mut cursor)?),
            "freeze" => own::freeze(&mut cursor),
            "set" => settings::set(&mut cursor),
            "reset" => settings::reset(&mut cursor),
            "show" => settings::show(&mut cursor),
            "discard" => settings::discard(&mut cursor),
            "listen" | "unlisten" | "notify" => notifications::parse(&mut cursor, &first),
            "describe" | "desc" | "summarize" => self.described(&mut cursor),
            "backup" => own::backup(&mut cursor),
            "publish" => own::publish(&mut cursor),
            "prepare" | "execute" | "deallocate" => self.prepared_statement(&first, &mut cursor),
            "checkpoint" => own::only(&mut cursor, ParsedKind::Checkpoint),
            "begin" | "start" => transactions::begin(&mut cursor),
            "commit" | "end" => transactions::commit(&mut cursor),
            "rollback" | "abort" => transactions::rollback(&mut cursor),
            "vacuum" | "analyze" | "analyse" | "reindex" => maintained(&mut cursor, &first),
            "lock" | "truncate" => whole_tables::parse(&mut cursor, &first),
            "declare" => self.declared(&mut cursor),
            "fetch" | "move" => sql_cursors::fetch(&mut cursor, first == "move"),
            "close" => sql_cursors::close(&mut cursor),
            "savepoint" => transactions::savepoint(&mut cursor),
            "release" => transactions::release(&mut cursor),
            other if keywords::UNSUPPORTED_STATEMENTS.binary_search(&other).is_ok() => {
                Err(own::unsupported(other))
            }
            "update" | "delete" if own::names_cursor(cursor.rest()) => {
                Err(Error::unsupported("WHERE CURRENT OF"))
            }
            _ => Ok(ParsedKind::Ast(self.deep_tree(words, depth)?)),
        }
    }

    /// Returns the tree of words that are nested as deeply as `depth`.
    fn deep_tree(&self, words: Vec<TokenWithSpan>, depth: usize) -> Result<Arc<Deep<Ast>>> {
        let ast = on_deep_stack(depth, || self.tree(words))?;
        Ok(Arc::new(Deep::new(ast, depth)))
    }

    /// PREPARE, EXECUTE or DEALLOCATE, whose word is `first`.
    fn prepared_statement(&self, first: &str, cursor: &mut Cursor<'_>) -> Result<ParsedKind> {
        match first {
            "prepare" => {
                let (name, types, types_at) = prepared::prepare(cursor, &self.dialect)?;
                let inner = Box::new(self.prepared(cursor)?);
                Ok(ParsedKind::Prepare {
                    name,
                    types,
                    types_at,
                    inner,
                })
            }
            "execute" => {
                let (name, values) = prepared::execute(cursor)?;
                let values = values.map(|words| self.statement(words).map(Box::new));
                let values = values.transpose()?;
                Ok(ParsedKind::Execute { name, values })
            }
            _ => {
                let name = prepared::deallocate(cursor)?;
                Ok(ParsedKind::Deallocate { name })
            }
        }
    }

    /// DECLARE of a cursor for a query. 42601 for anything but a query.
    fn declared(&self, cursor: &mut Cursor<'_>) -> Result<ParsedKind> {
        let (name, options) = sql_cursors::declare(cursor)?;
        let is_query = match cursor.peek() {
            Some(Token::LParen) => true,
            _ => ["select", "with", "values", "table"].contains(&cursor.word().unwrap_or_default().as_str()),
        };
        if !is_query {
            return Err(cursor.error());
        }
        let query = Box::new(self.statement(cursor.rest().to_vec())?);
        Ok(ParsedKind::Declare { name, options, query })
    }

    fn explained(&self, cursor: &mut Cursor<'_>) -> Result<ParsedKind> {
        let options = explain::options(cursor)?;
        if cursor.rest().is_empty() || cursor.word().as_deref() == Some("explain") {
            return Err(cursor.error());
        }
        let inner = Box::new(self.statement(cursor.rest().to_vec())?);
        Ok(ParsedKind::Explain { options, inner })
    }

    /// DESCRIBE and SUMMARIZE.
    fn described(&self, cursor: &mut Cursor<'_>) -> Result<ParsedKind> {
        let is_summary = cursor.word().as_deref() == Some("summarize");
        let (words, is_query) = match own::described(cursor)? {
            own::Described::Relation(table, _) if !is_summary => return Ok(ParsedKind::Describe { table }),
            own::Described::Relation(_, words) | own::Described::Files(words) => (words, false),
            own::Described::Query(words) => (words, true),
        };
        let query = Box::new(self.statement(words)?);
        Ok(match is_summary {
            true => ParsedKind::Summarize { query, is_query },
            false => ParsedKind::DescribeQuery { query },
        })
    }

    /// The statement that PREPARE names: a query, INSERT, UPDATE or DELETE. 42601.
    fn prepared(&self, cursor: &Cursor<'_>) -> Result<ParsedStatement> {
        let is_one = match cursor.peek() {
            Some(Token::LParen) => true,
            _ => ["select", "with", "values", "table", "insert", "update", "delete"]
                .contains(&cursor.word().unwrap_or_default().as_str()),
        };
        match is_one {
            true => self.statement(cursor.rest().to_vec()),
            false => Err(cursor.error()),
        }
    }

    fn copy(&self, copy: CopyStatement) -> Result<ParsedKind> {
        let CopyStatement { what, end, options } = copy;
        Ok(match what {
            Copied::Into { table, columns } => ParsedKind::CopyFrom {
                table,
                columns,
                end,
                options,
            },
            Copied::OutOf(words, table) => ParsedKind::CopyTo {
                source: Box::new((self.statement(words)?, table)),
                end,
                options,
            },
        })
    }

    fn tree(&self, words: Vec<TokenWithSpan>) -> Result<Ast> {
        let source = &*self.source;
        let end = words.last().map_or(0, |t| source.byte(t.span.end));
        let mut words = words;
        lock_words::rewrite(&mut words, source)?;
        names::rewrite(&mut words, source)?;
        definition_words::rewrite(&mut words)?;
        index_words::take_tablespace(&mut words, source)?;
        reference_words::rewrite(&mut words)?;
        conflict_words::rewrite(&mut words, source)?;
        labels::rewrite(&mut words);
        row_words::rewrite(&mut words);
        group_words::rewrite(&mut words);
        window_words::rewrite(&mut words);
        // The USING of CYCLE must be gone before USING is taken for a list of relations.
        recursion_words::rewrite(&mut words, source)?;
        only::rewrite(&mut words, source)?;
        let (words, queries) = subqueries::shown(words);
        self.dialect.read_as_queries(queries);
        // Depth is measured before; the parser's own limit would count what is no depth.
        let mut parser = Parser::new(&self.dialect)
            .with_recursion_limit(usize::MAX)
            .with_tokens_with_locations(words);
        let statement = parser.parse_statement().map_err(|e| {
            let canceled = self.limits.cancel.check().err();
            canceled.unwrap_or_else(|| syntax_error(source, end, &e))
        })?;
        let next = parser.peek_token_ref();
        if next.token != Token::EOF {
            return Err(near(source, next.span.start, source.token_text(next.span)));
        }
        Ok(statement)
    }
}

/// sqlparser's message, which names what it found and ends in ` at Line: 1, Column: 8`, as PostgreSQL words it.
fn syntax_error(source: &Source, end: usize, error: &ParserError) -> Error {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => {
            let message = "the statement is nested too deeply";
            return Error::new(SqlState::STATEMENT_TOO_COMPLEX, message);
        }
    };
    let (what, at) = match text.rfind(" at Line: ") {
        Some(cut) => (&text[..cut], location(&text[cut..])),
        None => (text, None),
    };
    let found = what.rsplit_once("found: ").map(|(_, found)| found);
    match (found, at) {
        (Some("EOF") | None, None) => {
            let message = "syntax error at end of input";
            Error::new(SqlState::SYNTAX_ERROR, message).at_position(source.position(end))
        }
        (Some(found), Some(at)) if found != "EOF" => near(source, at, found),
        (Some(_), _) => {
            let message = "syntax error at end of input";
            Error::new(SqlState::SYNTAX_ERROR, message).at_position(source.position(end))
        }
        (None, Some(at)) => Error::new(SqlState::SYNTAX_ERROR, format!("syntax error: {what}"))
            .at_position(source.position(source.byte(at))),
    }
}

fn location(text: &str) -> Option<Location> {
    let (line, column) = text.strip_prefix(" at Line: ")?.split_once(", Column: ")?;
    Some(Location::new(
        line.trim().parse().ok()?,
        column.trim().parse().ok()?,
    ))
}
