//! Functions that give rows: in FROM, with an alias, WITH ORDINALITY and ROWS FROM, and in the select list.
//!
//! In the select list a call becomes a column of its query. It is computed above the query's groups and windows, but
//! below those that read it; calls that read what others give stand above them.

use super::expression::row_span;
use super::from::FromRows;
use super::json_records::Records;
use super::rows::{Computed, one_row};
use super::rows_calls::expanded;
use super::scope::Clause;
use super::{Binder, OutputColumn, Relation, error, fold};
use crate::parse::ROWS_FROM;
use frazil_functions::{Operand, TypedRowsCall, Typing, columns_needed, json_records};
use frazil_plan::{ColumnId, Expansion, Expr, Operator, RowsCall, RowsFunction};
use frazil_types::{Error, Result, Span, SqlState, Value};
use sqlparser::ast::{
    CastKind, ColumnDef, DataType, Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, ObjectName, TableAlias,
};

/// The way out of a refusal.
const HINT: &str = "You might be able to move the set-returning function into a LATERAL FROM item.";

/// A call in FROM that gives a column, or records.
struct Called<'a> {
    /// The function.
    function: String,
    /// The column's name, where the function gives it one.
    name: Option<&'static str>,
    call: TypedRowsCall,
    /// What is made of the column, if it is of records.
    records: Option<Records<'a>>,
}

/// A function in FROM as written.
struct Calling<'a> {
    name: &'a ObjectName,
    arguments: &'a [FunctionArg],
    /// Its list of columns.
    columns: Option<&'a [ColumnDef]>,
}

impl<'a> Binder<'a> {
    /// A call in an expression. 0A000 where none may stand.
    pub(super) fn rows_function(
        &mut self,
        name: &str,
        list: Vec<&'a SqlExpr>,
        span: Span,
    ) -> Result<Operand> {
        let clause = self.level().clause;
        if clause == Clause::From {
            let message = "set-returning functions must appear at top level of FROM";
            return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
        }
        if let Some(clause) = clause.without_rows() {
            let message = format!("set-returning functions are not allowed in {clause}");
            return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
        }
        let mut bound = Vec::with_capacity(list.len());
        for e in list {
            bound.push(self.expression(e)?);
        }
        let whole = span.to(row_span(&bound));
        let call = self.typing.rows_call(name, bound, span, &mut self.columns)?;
        self.level().rows_calls.bound += 1;
        let id = match self.level().rows_calls.find(&call) {
            Some(id) => id,
            None => {
                let id = self.columns.add(name, call.ty(), true);
                self.own(id);
                let fields = call.fields();
                if !fields.is_empty() {
                    self.row_fields.insert(id, fields.into());
                }
                self.level().rows_calls.add(id, call);
                id
            }
        };
        self.refer(id, span);
        Ok(Expr::column(id, &self.columns).at(whole).into())
    }

    /// Calls of functions that give rows in the query being bound, so far.
    pub(super) fn rows_functions(&mut self) -> usize {
        self.level().rows_calls.bound
    }

    /// 0A000 if functions that give rows were called since there were `before`: they may not stand in `what`.
    pub(super) fn without_rows(&mut self, before: usize, what: &str, span: Span) -> Result<()> {
        if self.rows_functions() == before {
            return Ok(());
        }
        let message = format!("set-returning functions are not allowed in {what}");
        Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span).with_hint(HINT))
    }

    /// As [`Self::without_rows`], of the arguments of aggregates and window functions.
    pub(super) fn arguments_without_rows(&mut self, before: usize, what: &str, span: Span) -> Result<()> {
        if self.rows_functions() == before {
            return Ok(());
        }
        let message = format!("{what} function calls cannot contain set-returning function calls");
        Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span).with_hint(HINT))
    }

    /// The rows of a function in FROM, or of several side by side: `ROWS FROM (f(…), g(…))`.
    pub(super) fn function_in_from(
        &mut self,
        name: &'a ObjectName,
        arguments: &'a [FunctionArg],
        counts: bool,
        alias: Option<&'a TableAlias>,
    ) -> Result<FromRows> {
        if let Some(alias) = alias {
            self.refuse_to_lock(&fold(&alias.name), "a function")?;
        }
        let level = self.level();
        let visible = [&level.lateral[..], &level.target[..]].concat();
        let (called, _) = self.within(Clause::From, visible, |b| match is_rows_from(name) {
            true => b.listed_functions(arguments),
            false => b.function_columns(Calling {
                name,
                arguments,
                columns: None,
            }),
        })?;
        let Some(first) = called.first().map(|c| c.function.clone()) else {
            return Err(self.syntax_error(")", self.name_span(name)));
        };
        if counts && alias.is_some_and(has_types) {
            let message = "WITH ORDINALITY cannot be used with a column definition list";
            return Err(error(SqlState::SYNTAX_ERROR, message, self.name_span(name))
                .with_hint("put the column definition list inside ROWS FROM()"));
        }
        let pads = called.len() > 1;
        // The alias names the column of the only function.
        let own_name = alias.filter(|_| !pads).map(|alias| fold(&alias.name));
        let (mut calls, mut columns) = (Vec::new(), Vec::new());
        let (mut objects, mut members) = (Computed::default(), Computed::default());
        let mut has_records = false;
        for Called {
            function,
            name,
            call,
            records,
        } in called
        {
            let own_name = || own_name.clone().unwrap_or(function);
            let name = name.map_or_else(own_name, str::to_owned);
            let nullable = pads || call.is_nullable();
            let id = self.columns.add(name.clone(), call.ty(), nullable);
            calls.push((id, call));
            match records {
                Some(records) => {
                    columns.extend(self.record_columns(&records, id, &mut objects, &mut members)?);
                    has_records = true;
                }
                None => columns.push(OutputColumn::new(name, id)),
            }
        }
        let ordinality = counts.then(|| self.columns.add("ordinality", Expansion::NUMBER, false));
        columns.extend(ordinality.map(|id| OutputColumn::new("ordinality", id)));
        let rows = self.rows_of_calls(calls, ordinality);
        let op = members.above(objects.above(rows));
        let value = match &columns[..] {
            [column] if !has_records => Some(column.id),
            _ => None,
        };
        let mut rows = self.item(Relation::new(op, columns), Some(&first), alias, true)?;
        for item in &mut rows.items {
            item.value = value;
        }
        Ok(rows)
    }

    /// The rows of functions side by side, numbered by the column `ordinality`.
    fn rows_of_calls(
        &mut self,
        calls: Vec<(ColumnId, TypedRowsCall)>,
        ordinality: Option<ColumnId>,
    ) -> Operator {
        match &calls[..] {
            // A value is a row without any function that gives rows.
            [(id, TypedRowsCall::Call(call))] if call.function == RowsFunction::Once => {
                let one = Expr::constant(Value::Int(1), Expansion::NUMBER);
                let numbers = ordinality.map(|id| (id, one));
                let values = call.arguments.iter().map(|e| (*id, e.clone()));
                let expressions = values.chain(numbers).collect();
                Computed { expressions }.above(one_row())
            }
            _ => expanded(one_row(), calls, ordinality, &mut self.columns),
        }
    }

    /// The functions of ROWS FROM.
    fn listed_functions(&mut self, list: &'a [FunctionArg]) -> Result<Vec<Called<'a>>> {
        let mut called = Vec::with_capacity(list.len());
        for item in list {
            let (call, columns) = self.listed_function(item)?;
            let arguments = arguments_of(call);
            if call.over.is_some() || call.filter.is_some() {
                let span = self.name_span(&call.name);
                let message = "window functions are not allowed in functions in FROM";
                return Err(error(SqlState::WINDOWING_ERROR, message, span));
            }
            let calling = match (is_rows_from(&call.name), columns) {
                (true, Some(columns)) => self.only_function(arguments, columns)?,
                _ => Calling {
                    name: &call.name,
                    arguments,
                    columns,
                },
            };
            called.extend(self.function_columns(calling)?);
        }
        Ok(called)
    }

    /// A function of ROWS FROM, and its list of columns.
    fn listed_function(&self, item: &'a FunctionArg) -> Result<(&'a Function, Option<&'a [ColumnDef]>)> {
        let (call, columns) = match item {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(SqlExpr::Cast {
                kind: CastKind::DoubleColon,
                expr,
                data_type: DataType::Table(Some(columns)),
                ..
            })) => (&**expr, Some(&columns[..])),
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => (e, None),
            _ => return Err(Error::unsupported("anything but functions in ROWS FROM")),
        };
        match call {
            SqlExpr::Function(call) => Ok((call, columns)),
            _ => Err(Error::unsupported("anything but functions in ROWS FROM")),
        }
    }

    /// The only function of a ROWS FROM that has a list of columns behind it. 42601 for several, and for one that has a
    /// list inside.
    fn only_function(&self, list: &'a [FunctionArg], columns: &'a [ColumnDef]) -> Result<Calling<'a>> {
        let span = columns.first().map_or(Span::NONE, |c| self.span(&c.name));
        let [item] = list else {
            let message = "ROWS FROM() with multiple functions cannot have a column definition list";
            return Err(error(SqlState::SYNTAX_ERROR, message, span)
                .with_hint("put a separate column definition list for each function inside ROWS FROM()"));
        };
        match self.listed_function(item)? {
            (call, None) => Ok(Calling {
                name: &call.name,
                arguments: arguments_of(call),
                columns: Some(columns),
            }),
            (_, Some(_)) => {
                let message = "multiple column definition lists are not allowed for the same function";
                Err(error(SqlState::SYNTAX_ERROR, message, span))
            }
        }
    }

    /// The columns of a function that is called with each argument by itself.
    fn one_by_one(&mut self, name: &'a ObjectName, arguments: &'a [FunctionArg]) -> Result<Vec<Called<'a>>> {
        let mut called = Vec::with_capacity(arguments.len());
        for argument in arguments {
            called.extend(self.function_columns(Calling {
                name,
                arguments: std::slice::from_ref(argument),
                columns: None,
            })?);
        }
        Ok(called)
    }

    /// The columns of a function in FROM. What gives a value gives it as one row.
    fn function_columns(&mut self, calling: Calling<'a>) -> Result<Vec<Called<'a>>> {
        let Calling {
            name,
            arguments,
            columns: list,
        } = calling;
        let span = self.name_span(name);
        let refused = |message: &str| Err(error(SqlState::SYNTAX_ERROR, message, span));
        // `unnest` of several arrays gives the elements of all side by side.
        if arguments.len() > 1 && name.to_string().eq_ignore_ascii_case("unnest") {
            if list.is_some() {
                return refused("UNNEST() with multiple arguments cannot have a column definition list");
            }
            return self.one_by_one(name, arguments);
        }
        let name = self.function_name(name, span)?;
        is_of_one_row(&name, span)?;
        let mut bound = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument else {
                return Err(Error::unsupported("a named argument, or *").at_span(span));
            };
            if !self.is_result(e) {
                bound.push(self.expression(e)?);
            }
        }
        if let Some(function) = json_records(&name) {
            let call = self.typing.records(function, bound, span, &mut self.columns)?;
            let columns = list.ok_or_else(|| columns_needed().at_span(span))?;
            return Ok(vec![Called {
                function: name,
                name: None,
                call,
                records: Some(Records { function, columns }),
            }]);
        }
        let no_list = "a column definition list is only allowed for functions returning \"record\"";
        if Typing::gives_rows(&name) {
            let columns = self.typing.rows_columns(&name, bound, span, &mut self.columns)?;
            if list.is_some() {
                return refused(match columns.len() {
                    1 => no_list,
                    _ => "a column definition list is redundant for a function with OUT parameters",
                });
            }
            let column = |(column, call)| Called {
                function: name.clone(),
                name: column,
                call,
                records: None,
            };
            return Ok(columns.into_iter().map(column).collect());
        }
        let value = self.call_by_name(&name, bound, span)?;
        let value = self.typing.settle(value)?;
        if list.is_some() {
            return refused(no_list);
        }
        let call = RowsCall {
            function: RowsFunction::Once,
            ty: value.ty,
            arguments: vec![value],
        };
        Ok(vec![Called {
            function: name,
            name: None,
            call: call.into(),
            records: None,
        }])
    }
}

/// 42803 and 42809 for a function of many rows: those of FROM are not there yet.
fn is_of_one_row(name: &str, span: Span) -> Result<()> {
    if Typing::is_aggregate(name) {
        let message = "aggregate functions are not allowed in functions in FROM";
        return Err(error(SqlState::GROUPING_ERROR, message, span));
    }
    if Typing::is_window_function(name) {
        let message = format!("window function {name} requires an OVER clause");
        return Err(error(SqlState::WRONG_OBJECT_TYPE, message, span));
    }
    Ok(())
}

fn is_rows_from(name: &ObjectName) -> bool {
    matches!(&name.0[..], [part] if part.as_ident().is_some_and(|i| i.value == ROWS_FROM))
}

/// Whether an alias says types of columns.
fn has_types(alias: &TableAlias) -> bool {
    alias.columns.iter().any(|c| c.data_type.is_some())
}

fn arguments_of(call: &Function) -> &[FunctionArg] {
    match &call.args {
        FunctionArguments::List(list) => &list.args,
        FunctionArguments::None | FunctionArguments::Subquery(_) => &[],
    }
}
