//! Types of a CSV file's columns in `read_csv`: `types => ['integer', 'text']` says them in order, and
//! `types => {'id': 'integer'}` by name; `columns => {'id': 'integer', 'name': 'text'}` says all columns.

use super::file_table::{text, texts, wrong};
use crate::file_source::SaidTypes;
use crate::sql_type;
use frazil_types::{Error, LogicalType, Result, SqlState};
use sqlparser::ast::{DictionaryField, Expr};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

/// The types that the option `name` says. 22023 for another value than an array or names with types, 42704 for a name
/// that is not a type's.
pub(super) fn types(name: &str, value: &Expr) -> Result<SaidTypes> {
    match value {
        Expr::Dictionary(fields) => Ok(SaidTypes::Named(named(name, fields)?)),
        other => {
            let types = texts(other).ok_or_else(|| wrong(name, FORMS))?;
            let types = types.iter().map(|ty| type_named(ty)).collect::<Result<_>>()?;
            Ok(SaidTypes::InOrder(types))
        }
    }
}

/// The columns that the option `name` says. Errors as of [`types`].
pub(super) fn columns(name: &str, value: &Expr) -> Result<SaidTypes> {
    match value {
        Expr::Dictionary(fields) if !fields.is_empty() => Ok(SaidTypes::All(named(name, fields)?)),
        _ => Err(wrong(name, "{'name': 'type', …}")),
    }
}

const FORMS: &str = "['type', …] or {'name': 'type', …}";

fn named(name: &str, fields: &[DictionaryField]) -> Result<Vec<(String, LogicalType)>> {
    let field = |field: &DictionaryField| {
        let ty = text(&field.value).ok_or_else(|| wrong(name, FORMS))?;
        Ok((field.key.value.clone(), type_named(&ty)?))
    };
    fields.iter().map(field).collect()
}

/// The type of a name. 42704.
fn type_named(name: &str) -> Result<LogicalType> {
    let unknown = || {
        Error::new(
            SqlState::UNDEFINED_OBJECT,
            format!("type \"{name}\" does not exist"),
        )
    };
    let dialect = PostgreSqlDialect {};
    let mut parser = Parser::new(&dialect).try_with_sql(name).map_err(|_| unknown())?;
    let ty = parser.parse_data_type().map_err(|_| unknown())?;
    match parser.peek_token_ref().token {
        Token::EOF => sql_type::of_sql(&ty, &|_| None),
        _ => Err(unknown()),
    }
}
