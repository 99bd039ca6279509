//! Options of tables: WITH (…) of CREATE TABLE, SET (…) of ALTER TABLE.

use super::{Binder, fold};
use frazil_types::{Error, Result, SqlState, Value};
use sqlparser::ast::{CreateTableOptions, Expr as SqlExpr, SqlOption, Value as SqlValue, ValueWithSpan};

/// The options of CREATE TABLE.
pub(super) fn options(binder: &Binder, options: &CreateTableOptions) -> Result<Vec<(String, Value)>> {
    match options {
        CreateTableOptions::None => Ok(Vec::new()),
        CreateTableOptions::With(list) => settings(binder, list),
        _ => Err(Error::unsupported("table options but WITH (…)")),
    }
}

/// Names and values of options; DEFAULT is NULL. 42601 for a name given twice.
pub(super) fn settings(binder: &Binder, list: &[SqlOption]) -> Result<Vec<(String, Value)>> {
    let mut out: Vec<(String, Value)> = Vec::new();
    for option in list {
        let SqlOption::KeyValue { key, value } = option else {
            return Err(Error::unsupported(format!("the table option {option}")));
        };
        let span = binder.span(key);
        let value = setting(value).map_err(|e| e.at_span(span))?;
        let name = fold(key);
        if out.iter().any(|o| o.0 == name) {
            let message = format!("table option \"{name}\" is given more than once");
            return Err(super::error(SqlState::SYNTAX_ERROR, message, span));
        }
        out.push((name, value));
    }
    Ok(out)
}

fn setting(value: &SqlExpr) -> Result<Value> {
    Ok(match value {
        SqlExpr::Value(ValueWithSpan { value, .. }) => match value {
            SqlValue::Number(n, _) => match n.parse() {
                Ok(v) => Value::Int(v),
                Err(_) => Value::Text(n.clone()),
            },
            SqlValue::SingleQuotedString(s) => Value::Text(s.clone()),
            SqlValue::Boolean(b) => Value::Bool(*b),
            other => return Err(Error::unsupported(format!("the option value {other}"))),
        },
        SqlExpr::Identifier(i) if i.quote_style.is_none() && i.value.eq_ignore_ascii_case("default") => {
            Value::Null
        }
        SqlExpr::Identifier(i) => Value::Text(fold(i)),
        // A number with a sign: the option says what it takes.
        signed @ SqlExpr::UnaryOp { expr, .. } if matches!(**expr, SqlExpr::Value(_)) => {
            Value::Text(signed.to_string())
        }
        other => {
            return Err(
                Error::unsupported(format!("the option value {other}")).with_hint("write it in quotes")
            );
        }
    })
}
