//! The options of EXPLAIN, read from their tokens: PostgreSQL's and ours.

use super::cursor::Cursor;
use crate::{ExplainMode, ExplainOptions};
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::Token;

/// EXPLAIN [ANALYZE] [VERBOSE], or EXPLAIN (option [value], …) [ANALYZE]; the statement follows. 42601, 22023, 0A000.
pub(super) fn options(cursor: &mut Cursor) -> Result<ExplainOptions> {
    cursor.next();
    let mut options = ExplainOptions {
        mode: ExplainMode::Plan,
        analyze: cursor.take("analyze") || cursor.take("analyse"),
        costs: true,
        timing: true,
        summary: true,
    };
    cursor.take("verbose");
    // (SELECT …) is a statement in parentheses.
    let is_list = cursor.peek() == Some(&Token::LParen) && !holds_statement(cursor);
    if is_list {
        cursor.next();
        let mut needs = None;
        loop {
            option(cursor, &mut options, &mut needs)?;
            if !cursor.take_token(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
        if cursor.take("analyze") {
            options.analyze = true;
        }
        if let Some(name) = needs
            && !options.analyze
        {
            let message = format!("EXPLAIN option {name} requires ANALYZE");
            return Err(Error::new(SqlState::INVALID_PARAMETER, message));
        }
    }
    Ok(options)
}

/// One option. `needs`: the last one that ANALYZE has to be there for.
fn option(cursor: &mut Cursor, options: &mut ExplainOptions, needs: &mut Option<&'static str>) -> Result<()> {
    let name = cursor.word().unwrap_or_default();
    let mode = match name.as_str() {
        "plan" => Some(ExplainMode::Plan),
        "pipelines" => Some(ExplainMode::Pipelines),
        "stages" => Some(ExplainMode::Stages),
        "clif" => Some(ExplainMode::Clif),
        _ => None,
    };
    if let Some(mode) = mode {
        cursor.next();
        options.mode = mode;
        return Ok(());
    }
    match name.as_str() {
        "analyze" | "analyse" => options.analyze = flag(cursor)?,
        "costs" => options.costs = flag(cursor)?,
        "summary" => options.summary = flag(cursor)?,
        "timing" => {
            options.timing = flag(cursor)?;
            *needs = options.timing.then_some("TIMING").or(*needs);
        }
        "wal" => *needs = flag(cursor)?.then_some("WAL").or(*needs),
        // What they add to a plan there is not: names of columns are whole, pages and settings are not shown.
        "verbose" | "buffers" | "settings" => {
            flag(cursor)?;
        }
        "format" => format(cursor)?,
        "" => return Err(cursor.error()),
        other => {
            let message = format!("unrecognized EXPLAIN option \"{other}\"");
            return Err(cursor.error_of(SqlState::SYNTAX_ERROR, message).with_hint(
                "the options are ANALYZE, COSTS, TIMING, SUMMARY, VERBOSE, BUFFERS, SETTINGS, WAL, FORMAT, PLAN, PIPELINES, STAGES and CLIF",
            ));
        }
    }
    Ok(())
}

/// FORMAT text. 0A000 for the other formats of PostgreSQL, 22023 for any other word.
fn format(cursor: &mut Cursor) -> Result<()> {
    cursor.next();
    let name = match cursor.next() {
        Some(Token::Word(w)) => w.value.to_lowercase(),
        Some(Token::SingleQuotedString(text)) => text.to_lowercase(),
        _ => return Err(cursor.error_before()),
    };
    match name.as_str() {
        "text" => Ok(()),
        "json" | "xml" | "yaml" => Err(Error::unsupported(format!(
            "EXPLAIN (FORMAT {})",
            name.to_uppercase()
        ))),
        other => {
            let message = format!("unrecognized value for EXPLAIN option \"format\": \"{other}\"");
            Err(Error::new(SqlState::INVALID_PARAMETER, message))
        }
    }
}

/// The name of an option with its value, which is true where none is given.
fn flag(cursor: &mut Cursor) -> Result<bool> {
    let name = cursor.label()?;
    let text = match cursor.peek() {
        Some(Token::Word(w)) => w.value.to_lowercase(),
        Some(Token::SingleQuotedString(text)) => text.to_lowercase(),
        Some(Token::Number(n, _)) => n.clone(),
        _ => return Ok(true),
    };
    let value = match text.as_str() {
        "true" | "on" | "1" => true,
        "false" | "off" | "0" => false,
        _ => {
            let message = format!("{name} requires a Boolean value");
            return Err(cursor.error_of(SqlState::SYNTAX_ERROR, message));
        }
    };
    cursor.next();
    Ok(value)
}

/// True if a query stands in the parentheses that are next.
fn holds_statement(cursor: &Cursor) -> bool {
    let inner = cursor.rest().iter().find(|t| t.token != Token::LParen);
    inner.is_some_and(|t| {
        matches!(&t.token, Token::Word(w) if w.quote_style.is_none()
            && ["select", "values", "with", "table"].iter().any(|word| w.value.eq_ignore_ascii_case(word)))
    })
}
