//! Records of JSON in FROM: `json_to_recordset(…) AS x (a integer, b text)`.

use super::from::FromRows;
use super::rows::{Computed, one_row};
use super::rows_calls::expanded;
use super::scope::Clause;
use super::{Binder, OutputColumn, Relation, error, fold};
use frazil_functions::{JsonRecords, TypedRowsCall, columns_needed};
use frazil_plan::{Expr, RowsFunction};
use frazil_types::{Error, Result, SqlState};
use sqlparser::ast::{FunctionArg, FunctionArgExpr, ObjectName, TableAlias};

impl<'a> Binder<'a> {
    /// The rows of a call, whose columns its alias says. 42601 where it does not.
    pub(super) fn json_records(
        &mut self,
        function: &'static JsonRecords,
        call: (&'a ObjectName, &'a [FunctionArg]),
        counts: bool,
        alias: Option<&'a TableAlias>,
    ) -> Result<FromRows> {
        let (name, arguments) = call;
        let span = self.name_span(name);
        let typed = |alias: &&TableAlias| {
            let has_types = alias.columns.iter().all(|c| c.data_type.is_some());
            has_types && !alias.columns.is_empty()
        };
        let alias = alias
            .filter(typed)
            .ok_or_else(|| columns_needed().at_span(span))?;
        if counts {
            let message = "WITH ORDINALITY cannot be used with a column definition list";
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        let level = self.level();
        let visible = [&level.lateral[..], &level.target[..]].concat();
        let (call, _) = self.within(Clause::From, visible, |b| {
            let mut bound = Vec::with_capacity(arguments.len());
            for argument in arguments {
                let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument else {
                    return Err(Error::unsupported("a named argument, or *").at_span(span));
                };
                bound.push(b.expression(e)?);
            }
            b.typing.records(function, bound, span, &mut b.columns)
        })?;
        let object = self.columns.add("object", call.ty(), true);
        let op = match call {
            TypedRowsCall::Call(call) if call.function == RowsFunction::Once => {
                let expressions = call.arguments.into_iter().map(|e| (object, e)).collect();
                Computed { expressions }.above(one_row())
            }
            call => expanded(one_row(), vec![(object, call)], None, &mut self.columns),
        };
        let checked = self.typing.object(function, Expr::column(object, &self.columns));
        let object = self.columns.add("object", checked.ty, true);
        let expressions = vec![(object, checked)];
        let op = Computed { expressions }.above(op);
        let object = Expr::column(object, &self.columns);
        let (mut computed, mut columns) = (Computed::default(), Vec::new());
        for column in &alias.columns {
            let at = self.span(&column.name);
            let Some(ty) = &column.data_type else {
                return Err(columns_needed().at_span(at));
            };
            let name = fold(&column.name);
            let (ty, domain) = self.ty_or_domain(ty, at)?;
            let mut value = self
                .typing
                .member(function, &object, &name, ty)
                .map_err(|e| e.at_span(at))?;
            if let Some(domain) = domain {
                value = self.through_domain(value, &domain)?;
            }
            let id = self.columns.add(name.clone(), value.ty, true);
            columns.push(OutputColumn::new(name, id));
            computed.expressions.push((id, value));
        }
        let named = TableAlias {
            columns: Vec::new(),
            ..alias.clone()
        };
        let rows = Relation::new(computed.above(op), columns);
        self.item(rows, Some(function.name), Some(&named), true)
    }
}
