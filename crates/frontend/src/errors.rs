//! DataFusion's errors as ours: the SQLSTATE a client expects, the nearest name, the place.

use datafusion_common::{DataFusionError, SchemaError};
use frazil_types::{Error, SqlState};

/// Carries an error of ours through DataFusion.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// An error of DataFusion's planner.
pub(crate) fn from_datafusion(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(other) => Error::internal(other.to_string()),
        },
        DataFusionError::SQL(parser, _) => syntax(&parser.to_string()),
        DataFusionError::SchemaError(schema, _) => of_schema(&schema),
        DataFusionError::Context(_, inner) => from_datafusion(*inner),
        DataFusionError::Diagnostic(_, inner) => from_datafusion(*inner),
        DataFusionError::Collection(mut all) if !all.is_empty() => from_datafusion(all.swap_remove(0)),
        DataFusionError::NotImplemented(what) => {
            Error::new(SqlState::FEATURE_NOT_SUPPORTED, first_line(&what))
        }
        DataFusionError::Plan(what) => of_plan(&what),
        other => of_plan(&other.strip_backtrace()),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or(text).trim().to_string()
}

fn of_plan(message: &str) -> Error {
    let message = first_line(message);
    let has = |part: &str| message.contains(part);
    let state = if has("must be in GROUP BY")
        || has("must appear in the GROUP BY")
        || has("could not be resolved from available columns")
        || has("Aggregate functions are not allowed")
    {
        SqlState::GROUPING_ERROR
    } else if has("non-boolean") {
        SqlState::DATATYPE_MISMATCH
    } else if has("Invalid function")
        || has("No function matches")
        || has("Cannot infer common argument type")
        || has("does not support")
        || has("Cannot get result type")
        || has("coerc")
    {
        SqlState::UNDEFINED_FUNCTION
    } else if has("not supported") || has("not implemented") || has("Unsupported") {
        SqlState::FEATURE_NOT_SUPPORTED
    } else if has("expression names but") || has("duplicate") || has("Ambiguous") {
        SqlState::AMBIGUOUS_COLUMN
    } else {
        SqlState::SYNTAX_ERROR
    };
    Error::new(state, message)
}

fn of_schema(error: &SchemaError) -> Error {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let known = field.relation.as_ref().is_none_or(|r| {
                valid_fields.is_empty() || valid_fields.iter().any(|v| v.relation.as_ref() == Some(r))
            });
            if let (false, Some(relation)) = (known, &field.relation) {
                return Error::new(
                    SqlState::UNDEFINED_TABLE,
                    format!("missing FROM-clause entry for table \"{relation}\""),
                );
            }
            let error = Error::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{}\" does not exist", field.name),
            );
            let names = valid_fields.iter().map(|f| f.name.as_str());
            match frazil_catalog::nearest(&field.name, names) {
                Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
                None => error,
            }
        }
        SchemaError::AmbiguousReference { field } => ambiguous(&field.name),
        SchemaError::DuplicateQualifiedField { qualifier, name } => Error::new(
            SqlState::AMBIGUOUS_COLUMN,
            format!("\"{qualifier}\".\"{name}\" is named more than once; give one of the tables an alias"),
        ),
        SchemaError::DuplicateUnqualifiedField { name } => ambiguous(name),
    }
}

fn ambiguous(name: &str) -> Error {
    Error::new(
        SqlState::AMBIGUOUS_COLUMN,
        format!("column reference \"{name}\" is ambiguous"),
    )
    .with_hint("put the table's name or alias before it")
}

/// A syntax error from the parser's message, which may end in `at Line: 1, Column: 8`; the position
/// is found by the caller ([`line_and_column`]).
pub(crate) fn syntax(message: &str) -> Error {
    let text = message
        .trim_start_matches("sql parser error: ")
        .trim_start_matches("SQL error: ");
    let text = text.split(" at Line:").next().unwrap_or(text);
    if text.contains("recursion limit") {
        return Error::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            "the statement is nested too deeply",
        );
    }
    Error::new(SqlState::SYNTAX_ERROR, format!("syntax error: {text}"))
}

/// Line and column, both from 1, that a parser message ends in.
pub(crate) fn line_and_column(message: &str) -> Option<(u64, u64)> {
    let at = message.rfind("at Line: ")?;
    let (line, column) = message[at + "at Line: ".len()..].split_once(", Column: ")?;
    let digits: String = column.chars().take_while(char::is_ascii_digit).collect();
    Some((line.trim().parse().ok()?, digits.parse().ok()?))
}
