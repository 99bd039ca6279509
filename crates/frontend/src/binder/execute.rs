//! The values of EXECUTE.

use super::rows::{Computed, one_row};
use super::scope::{Clause, Level};
use super::{Binder, OutputColumn, error, finished};
use crate::{Bound, Statement};
use frazil_functions::{CastContext, Operand};
use frazil_plan::Expr;
use frazil_plan::subquery::has_subquery;
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{Query, SelectItem, SetExpr};

/// Binds values, the select list of `query`, as a row of these types. 42601 if they are more or fewer; 42804.
pub(crate) fn execute_values<'a>(
    mut binder: Binder<'a>,
    query: &'a Query,
    types: &[LogicalType],
    name: &str,
) -> Result<Bound> {
    let SetExpr::Select(select) = &*query.body else {
        return Err(Error::internal("values that are no select list"));
    };
    let items = &select.projection;
    if items.len() != types.len() {
        let message = format!("wrong number of parameters for prepared statement \"{name}\"");
        let detail = format!("Expected {} parameters but got {}.", types.len(), items.len());
        return Err(error(SqlState::SYNTAX_ERROR, message, Span::NONE).with_detail(detail));
    }
    binder.takes_parameters = false;
    binder.levels.push(Level {
        clause: Clause::Execute,
        ..Level::default()
    });
    let mut computed = Computed::default();
    let mut columns = Vec::with_capacity(items.len());
    for (at, (item, ty)) in items.iter().zip(types).enumerate() {
        let e = binder.execute_value(item, at, *ty)?;
        let id = binder.columns.add("value", *ty, true);
        computed.expressions.push((id, e));
        columns.push(OutputColumn::new("value", id));
    }
    binder.levels.pop();
    finished(binder, computed.above(one_row()), columns, Statement::Query)
}

impl<'a> Binder<'a> {
    fn execute_value(&mut self, item: &'a SelectItem, at: usize, ty: LogicalType) -> Result<Expr> {
        let SelectItem::UnnamedExpr(written) = item else {
            return Err(error(
                SqlState::SYNTAX_ERROR,
                "syntax error in the values of EXECUTE",
                Span::NONE,
            ));
        };
        let value = self.expression(written)?;
        let span = value.span();
        if let Operand::Typed(e) = &value
            && has_subquery(e)
        {
            let message = "cannot use subquery in EXECUTE parameter";
            return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
        }
        let given = frazil_functions::name_of(value.ty());
        let cast = self.typing.cast(value, ty, CastContext::Assignment, span);
        cast.map_err(|e| match e.state() {
            SqlState::DATATYPE_MISMATCH | SqlState::CANNOT_COERCE => {
                let wanted = frazil_functions::name_of(Some(ty));
                let message = format!(
                    "parameter ${} of type {given} cannot be coerced to the expected type {wanted}",
                    at + 1
                );
                error(SqlState::DATATYPE_MISMATCH, message, span)
                    .with_hint("You will need to rewrite or cast the expression.")
            }
            _ => e,
        })
    }
}
