//! CREATE SEQUENCE, ALTER SEQUENCE and the options of sequences, read from their tokens.

use super::cursor::Cursor;
use super::parsed::ParsedKind;
use super::source::Source;
use frazil_catalog::{SequenceOptions, WrittenName};
use frazil_types::{Error, LogicalType, Result, SqlState};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// CREATE SEQUENCE, or ALTER SEQUENCE.
#[derive(Clone, Debug)]
pub(crate) struct WrittenSequence {
    /// CREATE TEMPORARY.
    pub is_temporary: bool,
    /// The sequence.
    pub name: WrittenName,
    /// IF NOT EXISTS of CREATE, IF EXISTS of ALTER.
    pub if_: bool,
    /// The action.
    pub action: SequenceAction,
}

/// The action of a statement on a sequence.
#[derive(Clone, Debug)]
pub(crate) enum SequenceAction {
    /// CREATE SEQUENCE.
    Create(WrittenOptions),
    /// ALTER SEQUENCE with options.
    Alter(WrittenOptions),
    /// RENAME TO.
    Rename(String),
    /// SET SCHEMA.
    SetSchema(String),
}

/// Options of a sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenOptions {
    /// The options that the catalog knows.
    pub options: SequenceOptions,
    /// OWNED BY a column of a table; `Some(None)` for NONE.
    pub owned_by: Option<Option<(WrittenName, String)>>,
    /// SEQUENCE NAME, in the options of an identity column.
    pub name: Option<WrittenName>,
}

/// OVERRIDING SYSTEM VALUE, OVERRIDING USER VALUE of INSERT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overriding {
    /// Values that the statement gives count, also for columns GENERATED ALWAYS AS IDENTITY.
    System,
    /// Identity columns get values of their sequences, whatever the statement gives.
    User,
}

/// An action of ALTER COLUMN on an identity or generated column.
#[derive(Clone, Debug)]
pub(crate) enum IdentityAction {
    /// ADD GENERATED … AS IDENTITY.
    Add { always: bool, options: WrittenOptions },
    /// SET GENERATED, SET of options, RESTART.
    Set {
        always: Option<bool>,
        options: WrittenOptions,
    },
    /// DROP IDENTITY.
    Drop { if_exists: bool },
    /// DROP EXPRESSION.
    DropExpression { if_exists: bool },
}

/// ALTER TABLE with actions on identity and generated columns only.
#[derive(Clone, Debug)]
pub(crate) struct AlteredIdentity {
    /// The table.
    pub table: WrittenName,
    /// IF EXISTS behind TABLE.
    pub if_exists: bool,
    /// The actions, each with its column.
    pub actions: Vec<(String, IdentityAction)>,
}

fn is(words: &[TokenWithSpan], at: usize, wanted: &str) -> bool {
    matches!(
        words.get(at).map(|t| &t.token),
        Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(wanted)
    )
}

/// Takes OVERRIDING … VALUE off an INSERT. The last one counts for all INSERTs of a statement. 42601 anywhere but
/// between the target and the rows.
pub(super) fn take_overriding(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<Option<Overriding>> {
    let mut found = None;
    let mut at = 0;
    while at + 2 < words.len() {
        let which = match () {
            _ if !is(words, at, "overriding") || !is(words, at + 2, "value") => None,
            _ if is(words, at + 1, "system") => Some(Overriding::System),
            _ if is(words, at + 1, "user") => Some(Overriding::User),
            _ => None,
        };
        if which.is_none() {
            at += 1;
            continue;
        }
        if !is_behind_target(&words[..at]) {
            return Err(Cursor::new(source, &words[at..]).error());
        }
        if !begins_rows(words, at + 3) {
            return Err(Cursor::new(source, &words[at + 3..]).error());
        }
        found = which;
        words.drain(at..at + 3);
    }
    Ok(found)
}

/// True if the tokens end with the target of an INSERT: INTO, the table's name, perhaps AS with an alias, and perhaps
/// columns in parentheses.
fn is_behind_target(before: &[TokenWithSpan]) -> bool {
    let mut rest = before;
    if let [inner @ .., last] = rest
        && last.token == Token::RParen
    {
        let open = inner.iter().rposition(|t| t.token == Token::LParen);
        let Some(open) = open else { return false };
        rest = &inner[..open];
    }
    if let [name @ .., as_word, _] = rest
        && is(std::slice::from_ref(as_word), 0, "as")
    {
        rest = name;
    }
    while let [name @ .., point, last] = rest
        && point.token == Token::Period
        && matches!(last.token, Token::Word(_))
    {
        rest = name;
    }
    matches!(rest, [.., into, name]
        if is(std::slice::from_ref(into), 0, "into") && matches!(name.token, Token::Word(_)))
}

/// True if a query or VALUES begins here.
fn begins_rows(words: &[TokenWithSpan], at: usize) -> bool {
    let opens = words.get(at).is_some_and(|t| t.token == Token::LParen);
    opens
        || ["values", "select", "with", "table"]
            .iter()
            .any(|word| is(words, at, word))
}

/// Takes the options of identity columns, in the parentheses behind AS IDENTITY, off a statement that defines a
/// table; in order, one for each column. 42601.
pub(super) fn take_identities(
    words: &mut Vec<TokenWithSpan>,
    source: &Source,
) -> Result<Vec<WrittenOptions>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < words.len() {
        if !is(words, at, "as") || !is(words, at + 1, "identity") {
            at += 1;
            continue;
        }
        at += 2;
        if words.get(at).is_none_or(|t| t.token != Token::LParen) {
            found.push(WrittenOptions::default());
            continue;
        }
        let mut cursor = Cursor::new(source, &words[at..]);
        let inner = cursor.parenthesized()?;
        let mut inside = Cursor::new(source, &inner);
        if inner.is_empty() {
            return Err(cursor.error_before());
        }
        found.push(options(&mut inside)?);
        words.drain(at..at + inner.len() + 2);
    }
    Ok(found)
}

/// ALTER TABLE [IF EXISTS] [ONLY] name ALTER [COLUMN] column with an action on an identity or generated column, and
/// more of them behind commas; `None` if the first action is another one. 0A000 beside other actions.
pub(super) fn identity(cursor: &Cursor) -> Result<Option<ParsedKind>> {
    let mut cursor = Cursor::new(cursor.source, cursor.rest());
    if !cursor.take("alter") || !cursor.take("table") {
        return Ok(None);
    }
    let Some((table, if_exists)) = cursor.altered_table() else {
        return Ok(None);
    };
    let mut actions = Vec::new();
    loop {
        match column_action(&mut cursor)? {
            Some(action) => actions.push(action),
            None if actions.is_empty() => return Ok(None),
            None => {
                let what = "an action on an identity or generated column beside other actions of ALTER TABLE";
                return Err(Error::unsupported(what).with_hint("write each as a statement of its own"));
            }
        }
        if cursor.peek() != Some(&Token::Comma) {
            break;
        }
        cursor.next();
    }
    cursor.end()?;
    Ok(Some(ParsedKind::Identity(AlteredIdentity {
        table,
        if_exists,
        actions,
    })))
}

/// ALTER [COLUMN] column with an action on an identity or generated column; `None` for any other action.
fn column_action(cursor: &mut Cursor) -> Result<Option<(String, IdentityAction)>> {
    if !cursor.take("alter") {
        return Ok(None);
    }
    cursor.take("column");
    let Ok(column) = cursor.label() else {
        return Ok(None);
    };
    let action = identity_action(cursor)?;
    Ok(action.map(|action| (column, action)))
}

fn identity_action(cursor: &mut Cursor) -> Result<Option<IdentityAction>> {
    let words = cursor.rest();
    if cursor.take("add") {
        cursor.expect_word("generated")?;
        let always = when(cursor)?;
        cursor.expect_word("as")?;
        cursor.expect_word("identity")?;
        let options = match cursor.peek() {
            Some(Token::LParen) => {
                let inner = cursor.parenthesized()?;
                options(&mut Cursor::new(cursor.source, &inner))?
            }
            _ => WrittenOptions::default(),
        };
        return Ok(Some(IdentityAction::Add { always, options }));
    }
    if is(words, 0, "drop") && (is(words, 1, "identity") || is(words, 1, "expression")) {
        cursor.next();
        let of_identity = cursor.take("identity") || !cursor.take("expression");
        let if_exists = cursor.take("if");
        if if_exists {
            cursor.expect_word("exists")?;
        }
        return Ok(Some(match of_identity {
            true => IdentityAction::Drop { if_exists },
            false => IdentityAction::DropExpression { if_exists },
        }));
    }
    const OPTIONS: [&str; 8] = [
        "generated",
        "increment",
        "minvalue",
        "maxvalue",
        "no",
        "start",
        "cache",
        "cycle",
    ];
    let sets = is(words, 0, "set") && OPTIONS.iter().any(|option| is(words, 1, option));
    if !sets && !is(words, 0, "restart") {
        return Ok(None);
    }
    let (mut always, mut written) = (None, WrittenOptions::default());
    while cursor.peek().is_some_and(|token| *token != Token::Comma) {
        if cursor.take("set") && cursor.take("generated") {
            always = Some(when(cursor)?);
        } else if !option(cursor, &mut written)? {
            return Err(cursor.error());
        }
    }
    Ok(Some(IdentityAction::Set {
        always,
        options: written,
    }))
}

/// ALWAYS (true) or BY DEFAULT (false).
fn when(cursor: &mut Cursor) -> Result<bool> {
    if cursor.take("always") {
        return Ok(true);
    }
    cursor.expect_word("by")?;
    cursor.expect_word("default")?;
    Ok(false)
}

/// True if the statement is CREATE SEQUENCE or ALTER SEQUENCE.
pub(super) fn is_next(cursor: &Cursor) -> bool {
    let word = |at: usize| match cursor.rest().get(at).map(|t| &t.token) {
        Some(Token::Word(w)) if w.quote_style.is_none() => w.value.to_lowercase(),
        _ => String::new(),
    };
    match word(0).as_str() {
        "create" if word(1) == "sequence" => true,
        "create" => ["temp", "temporary", "unlogged"].contains(&word(1).as_str()) && word(2) == "sequence",
        "alter" => word(1) == "sequence",
        _ => false,
    }
}

/// CREATE SEQUENCE [IF NOT EXISTS] name options, ALTER SEQUENCE [IF EXISTS] name options | RENAME TO name | SET SCHEMA
/// name.
pub(super) fn parse(cursor: &mut Cursor) -> Result<ParsedKind> {
    let creates = cursor.take("create");
    if !creates {
        cursor.expect_word("alter")?;
    }
    let is_temporary = creates && (cursor.take("temp") || cursor.take("temporary"));
    if creates && !is_temporary {
        cursor.take("unlogged");
    }
    cursor.expect_word("sequence")?;
    let if_ = cursor.take("if");
    if if_ && creates {
        cursor.expect_word("not")?;
    }
    if if_ {
        cursor.expect_word("exists")?;
    }
    let name = cursor.table_name()?;
    let action = match creates {
        true => SequenceAction::Create(options(cursor)?),
        false => alteration(cursor)?,
    };
    cursor.end()?;
    Ok(ParsedKind::Sequence(WrittenSequence {
        name,
        is_temporary,
        if_,
        action,
    }))
}

fn alteration(cursor: &mut Cursor) -> Result<SequenceAction> {
    if cursor.take("rename") {
        cursor.expect_word("to")?;
        return cursor.name().map(SequenceAction::Rename);
    }
    if cursor.take("set") {
        if cursor.take("schema") {
            return cursor.name().map(SequenceAction::SetSchema);
        }
        if cursor.take("logged") || cursor.take("unlogged") {
            return Err(Error::unsupported("ALTER SEQUENCE … SET LOGGED or UNLOGGED"));
        }
        return Err(cursor.error());
    }
    if cursor.rest().is_empty() {
        return Err(cursor.error());
    }
    options(cursor).map(SequenceAction::Alter)
}

/// The options of a sequence, up to the end of the words. 42601 for one that is given twice.
pub(super) fn options(cursor: &mut Cursor) -> Result<WrittenOptions> {
    let mut written = WrittenOptions::default();
    while !cursor.rest().is_empty() {
        if !option(cursor, &mut written)? {
            return Err(cursor.error());
        }
    }
    Ok(written)
}

/// Reads one option; false if none comes. 42601 if it was given before.
pub(super) fn option(cursor: &mut Cursor, written: &mut WrittenOptions) -> Result<bool> {
    let place = cursor.error_of(SqlState::SYNTAX_ERROR, "conflicting or redundant options");
    let word = cursor.word().unwrap_or_default();
    if !OPTION_WORDS.contains(&word.as_str()) {
        return Ok(false);
    }
    cursor.next();
    let options = &mut written.options;
    let is_first = match word.as_str() {
        "as" => options.ty.replace(sequence_type(cursor)?).is_none(),
        "increment" => {
            cursor.take("by");
            options.increment.replace(number(cursor)?).is_none()
        }
        "minvalue" => options.min.replace(Some(number(cursor)?)).is_none(),
        "maxvalue" => options.max.replace(Some(number(cursor)?)).is_none(),
        "no" => negated(cursor, options)?,
        "start" => {
            cursor.take("with");
            options.start.replace(number(cursor)?).is_none()
        }
        "restart" => {
            let has_value = cursor.take("with") || is_number(cursor);
            let value = has_value.then(|| number(cursor)).transpose()?;
            options.restart.replace(value).is_none()
        }
        "cache" => options.cache.replace(number(cursor)?).is_none(),
        "cycle" => options.cycle.replace(true).is_none(),
        "sequence" => {
            cursor.expect_word("name")?;
            written.name.replace(cursor.table_name()?).is_none()
        }
        _ => {
            cursor.expect_word("by")?;
            written.owned_by.replace(owner(cursor)?).is_none()
        }
    };
    match is_first {
        true => Ok(true),
        false => Err(place),
    }
}

/// The first words of options; the last one is that of OWNED BY.
const OPTION_WORDS: [&str; 11] = [
    "as",
    "increment",
    "minvalue",
    "maxvalue",
    "no",
    "start",
    "restart",
    "cache",
    "cycle",
    "sequence",
    "owned",
];

/// The option behind NO; false if it was given before.
fn negated(cursor: &mut Cursor, options: &mut SequenceOptions) -> Result<bool> {
    let is_first = match cursor.word().as_deref() {
        Some("minvalue") => options.min.replace(None).is_none(),
        Some("maxvalue") => options.max.replace(None).is_none(),
        Some("cycle") => options.cycle.replace(false).is_none(),
        _ => return Err(cursor.error()),
    };
    cursor.next();
    Ok(is_first)
}

/// The column of OWNED BY; `None` for NONE. 42601 for a name without its table.
fn owner(cursor: &mut Cursor) -> Result<Option<(WrittenName, String)>> {
    let mut parts = vec![cursor.label()?];
    while cursor.take_token(&Token::Period) {
        parts.push(cursor.label()?);
    }
    match &parts[..] {
        [none] if none == "none" => Ok(None),
        [table, column] => Ok(Some((WrittenName::unqualified(table), column.clone()))),
        [schema, table, column] => {
            let table = WrittenName {
                schema: Some(schema.clone()),
                name: table.clone(),
            };
            Ok(Some((table, column.clone())))
        }
        _ => {
            let error = Error::new(SqlState::SYNTAX_ERROR, "invalid OWNED BY option");
            Err(error.with_hint("Specify OWNED BY table.column or OWNED BY NONE."))
        }
    }
}

/// 22023 for a type that no sequence has, 42704 for one that there is not.
fn sequence_type(cursor: &mut Cursor) -> Result<LogicalType> {
    let name = cursor.dotted_name()?;
    match name.strip_prefix("pg_catalog.").unwrap_or(&name) {
        "smallint" | "int2" => Ok(LogicalType::SmallInt),
        "integer" | "int" | "int4" => Ok(LogicalType::Integer),
        "bigint" | "int8" => Ok(LogicalType::BigInt),
        _ => Err(not_a_sequence_type()),
    }
}

/// 22023.
fn not_a_sequence_type() -> Error {
    let message = "sequence type must be smallint, integer, or bigint";
    Error::new(SqlState::INVALID_PARAMETER, message)
}

fn is_number(cursor: &Cursor) -> bool {
    matches!(
        cursor.peek(),
        Some(Token::Number(..) | Token::Minus | Token::Plus)
    )
}

/// A whole number with its sign. 22003 beyond `bigint`, 42601 for anything else.
fn number(cursor: &mut Cursor) -> Result<i64> {
    let is_negative = cursor.take_token(&Token::Minus);
    if !is_negative {
        cursor.take_token(&Token::Plus);
    }
    let Some(Token::Number(digits, _)) = cursor.peek().cloned() else {
        return Err(cursor.error());
    };
    let text = if is_negative { format!("-{digits}") } else { digits };
    let value = match text.parse::<i128>() {
        Ok(value) => i64::try_from(value).map_err(|_| {
            let message = format!("value \"{text}\" is out of range for type bigint");
            Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
        })?,
        Err(_) => {
            let message = format!("invalid input syntax for type bigint: \"{text}\"");
            return Err(Error::new(SqlState::INVALID_TEXT, message));
        }
    };
    cursor.next();
    Ok(value)
}
