//! What sqlparser reads and the binder would read past is refused by name.

use frazil_types::{Error, Result, SqlState};
use sqlparser::ast::{Query, Select, SelectFlavor, Statement, TableFactor};

/// 0A000 with the first name whose condition holds.
pub(super) fn first(conditions: &[(bool, &str)]) -> Result<()> {
    match conditions.iter().find(|c| c.0) {
        Some((_, what)) => Err(Error::unsupported(what)),
        None => Ok(()),
    }
}

pub(super) fn query(q: &Query) -> Result<()> {
    first(&[
        (q.for_clause.is_some(), "FOR XML or FOR JSON"),
        (q.settings.is_some(), "SETTINGS"),
        (q.format_clause.is_some(), "FORMAT"),
        (!q.pipe_operators.is_empty(), "the pipe operator |>"),
    ])
}

pub(super) fn select(s: &Select) -> Result<()> {
    first(&[
        (s.top.is_some(), "TOP (write LIMIT)"),
        (s.into.is_some(), "SELECT INTO (write CREATE TABLE AS)"),
        (s.select_modifiers.is_some(), "MySQL's SELECT modifiers"),
        (!s.optimizer_hints.is_empty(), "an optimizer hint"),
        (s.exclude.is_some(), "EXCLUDE behind the select list"),
        (!s.lateral_views.is_empty(), "LATERAL VIEW"),
        (s.prewhere.is_some(), "PREWHERE"),
        (!s.connect_by.is_empty(), "CONNECT BY"),
        (!s.cluster_by.is_empty(), "CLUSTER BY"),
        (!s.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!s.sort_by.is_empty(), "SORT BY"),
        (s.value_table_mode.is_some(), "SELECT AS VALUE"),
        (s.flavor != SelectFlavor::Standard, "FROM before SELECT"),
    ])
}

pub(super) fn table_factor(t: &TableFactor) -> Result<()> {
    match t {
        TableFactor::Table {
            name,
            args,
            with_hints,
            version,
            with_ordinality,
            partitions,
            json_path,
            sample,
            index_hints,
            alias,
            ..
        } => first(&[
            (!with_hints.is_empty(), "a table hint"),
            (version.is_some(), "FOR SYSTEM_TIME"),
            (
                *with_ordinality && (args.is_none() || super::file_table::is_function(name)),
                "WITH ORDINALITY of a table",
            ),
            (!partitions.is_empty(), "PARTITION"),
            (json_path.is_some(), "a JSON path"),
            (sample.is_some() && args.is_some(), "TABLESAMPLE of a function"),
            (!index_hints.is_empty(), "an index hint"),
            (
                alias.as_ref().is_some_and(|a| a.at.is_some()),
                "AT behind an alias",
            ),
        ]),
        TableFactor::Derived { sample: Some(_), .. } => {
            let message = "syntax error at or near \"tablesample\"";
            Err(Error::new(SqlState::SYNTAX_ERROR, message))
        }
        TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } | TableFactor::Function { .. } => Ok(()),
        other => Err(Error::unsupported(format!("{other} in FROM"))),
    }
}

/// The refusal of a statement, by its first words.
pub(crate) fn unsupported_statement(statement: &Statement) -> Error {
    let text = statement.to_string();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    let known = ["CREATE", "DROP", "ALTER"];
    Error::unsupported(match words[..] {
        [first, second, ..] if known.contains(&first) => format!("{first} {second}"),
        [first, ..] => first.to_string(),
        [] => "this statement".to_string(),
    })
}
