//! Calls of functions, and calls with a grammar of their own. [`super::aggregate_call`] has those of aggregates.

use super::expression::row_span;
use super::list_limits;
use super::variadic::variadic_array;
use super::{Binder, error, fold};
use frazil_functions::{CastContext, EXPAND_ARRAY, Operand, Typing, Unknown, UnknownKind};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{
    DateTimeField, DuplicateTreatment, Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, Interval, ObjectName, OrderByExpr,
    TrimWhereField, Value,
};

/// What stands in the parentheses of a call, and WITHIN GROUP.
pub(super) struct Written<'a> {
    pub arguments: Arguments<'a>,
    pub distinct: bool,
    /// ORDER BY.
    pub order: &'a [OrderByExpr],
    /// Whether ORDER BY stands in WITHIN GROUP.
    pub is_within: bool,
}

impl<'a> Written<'a> {
    /// The arguments, and what rows are ordered by.
    fn all(self) -> Vec<&'a SqlExpr> {
        let keys = self.order.iter().map(|item| &item.expr);
        self.arguments.list().into_iter().chain(keys).collect()
    }
}

/// The arguments of a call as written.
pub(super) enum Arguments<'a> {
    /// `count(*)`.
    Rows,
    /// `count(t.*)`.
    RowsOf(&'a ObjectName),
    List(Vec<&'a SqlExpr>),
}

impl<'a> Arguments<'a> {
    /// The expressions; none for `*`.
    pub fn list(self) -> Vec<&'a SqlExpr> {
        match self {
            Arguments::List(list) => list,
            Arguments::Rows | Arguments::RowsOf(_) => Vec::new(),
        }
    }
}

impl<'a> Binder<'a> {
    pub(super) fn function(&mut self, call: &'a Function) -> Result<Operand> {
        let span = self.name_span(&call.name);
        let name = self.function_name(&call.name, span)?;
        let refused = [
            (call.uses_odbc_syntax, "the syntax {fn …}"),
            (
                !matches!(call.parameters, FunctionArguments::None),
                "parameters of a function",
            ),
        ];
        if let Some((_, what)) = refused.iter().find(|r| r.0) {
            return Err(Error::unsupported(what).at_span(span));
        }
        if let FunctionArguments::Subquery(query) = &call.args {
            return self.array_of_query(query, span);
        }
        let written = self.written_call(call, &name, span)?;
        if let Some(over) = &call.over {
            return self.window_call(call, over, (&name, written), span);
        }
        if call.null_treatment.is_some() {
            let message = "RESPECT/IGNORE NULLS specified, but there is no OVER clause";
            return Err(error(SqlState::WRONG_OBJECT_TYPE, message, span));
        }
        let is_aggregate = match written.is_within {
            true => Typing::is_aggregate_within_group(&name),
            false => Typing::is_aggregate(&name),
        };
        if is_aggregate {
            return self.aggregate(&name, written, call.filter.as_deref(), span);
        }
        if Typing::is_window_function(&name) {
            if written.is_within {
                let all = self.each(written.all())?;
                self.typing.window_call(&name, all, span)?;
            }
            let message = format!("window function {name} requires an OVER clause");
            return Err(error(SqlState::WRONG_OBJECT_TYPE, message, span));
        }
        self.call_beside_aggregates(call, &name, written, span)
    }

    /// A call of a function that is neither an aggregate nor a window function. 42809 with a clause of aggregates.
    fn call_beside_aggregates(
        &mut self,
        call: &'a Function,
        name: &str,
        written: Written<'a>,
        span: Span,
    ) -> Result<Operand> {
        let of_aggregates = [
            (written.is_within, "WITHIN GROUP"),
            (written.distinct, "DISTINCT"),
            (!written.order.is_empty(), "ORDER BY"),
            (call.filter.is_some(), "FILTER"),
        ];
        let clause = of_aggregates
            .iter()
            .find(|clause| clause.0)
            .map(|clause| clause.1);
        if name == "grouping" && clause.is_none() {
            return self.grouping_call(written.arguments.list(), span);
        }
        let list = match written.is_within {
            true => written.all(),
            false => written.arguments.list(),
        };
        let of_no_aggregate = |what: &str| {
            let message = format!("{what} specified, but {name} is not an aggregate function");
            Err(error(SqlState::WRONG_OBJECT_TYPE, message, span))
        };
        if Typing::gives_rows(name) {
            return match clause {
                Some(what) => of_no_aggregate(what),
                None => self.rows_function(name, list, span),
            };
        }
        let called = self.plain_call(name, list, span)?;
        match clause {
            Some(what) => of_no_aggregate(what),
            None => Ok(called),
        }
    }

    /// A call of a function that gives one value a row.
    fn plain_call(&mut self, name: &str, list: Vec<&'a SqlExpr>, span: Span) -> Result<Operand> {
        if let Some(array) = variadic_array(&list) {
            return self.variadic_call(name, (&list[..list.len() - 1], array), span);
        }
        if let Some(json) = self.row_to_json(name, &list, span)? {
            return Ok(json);
        }
        let before = self.rows_functions();
        let bound = self.arguments_of(name, list)?;
        if name == "coalesce" {
            self.without_rows(before, "COALESCE", span)?;
        }
        let whole = span.to(row_span(&bound));
        Ok(self.call_by_name(name, bound, span)?.at(whole))
    }

    /// The arguments of a call, of which `normalize` takes a word.
    pub(super) fn arguments_of(&mut self, name: &str, mut list: Vec<&'a SqlExpr>) -> Result<Vec<Operand>> {
        list.retain(|e| !self.is_result(e));
        Self::sequence_argument(name, &mut list);
        match list[..] {
            [text, SqlExpr::Identifier(form)] if name == "normalize" => {
                let form = Operand::literal(form.value.as_str(), self.span(form));
                Ok(vec![self.expression(text)?, form])
            }
            _ => match self.json_arguments(name, &list)? {
                Some(arguments) => Ok(arguments),
                None => self.each(list),
            },
        }
    }

    /// True for a parameter that stands for the result of the call whose argument it is.
    pub(super) fn is_result(&self, e: &SqlExpr) -> bool {
        let SqlExpr::Value(value) = e else {
            return false;
        };
        let Value::Placeholder(name) = &value.value else {
            return false;
        };
        let number = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
        number.is_some_and(|n| n > 0 && self.typing.is_result(n - 1))
    }

    pub(super) fn each(&mut self, list: Vec<&'a SqlExpr>) -> Result<Vec<Operand>> {
        list.into_iter().map(|e| self.expression(e)).collect()
    }

    pub(super) fn call_by_name(
        &mut self,
        name: &str,
        arguments: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let ty = match name {
            "to_regclass" => LogicalType::Regclass,
            "to_regnamespace" => LogicalType::Regnamespace,
            "to_regtype" => LogicalType::Regtype,
            _ => return self.call_of(name, arguments, span),
        };
        // The functions give names; the catalog knows their numbers.
        let name = self.call_of(name, arguments, span)?;
        Ok(self
            .typing
            .cast(name, ty, CastContext::Explicit, span)?
            .at(span)
            .into())
    }

    fn call_of(&mut self, name: &str, mut arguments: Vec<Operand>, span: Span) -> Result<Operand> {
        let is_generation = self.levels.iter().any(|level| level.clause.is_kept_with_rows());
        self.calls_stable |= is_generation && frazil_functions::is_stable(name, &arguments);
        if let Some(call) = self.sequence_call(name, &arguments, span)? {
            return Ok(call);
        }
        if let Some(known) = self.relation_call(name, &arguments, span)? {
            if name == "pg_get_serial_sequence" {
                return Ok(self.typing.settle(known)?.into());
            }
            arguments = vec![known];
        }
        if let Some(known) = self.type_call(name, &arguments, span) {
            return Ok(self.typing.settle(known)?.into());
        }
        if let Some(known) = self.schema_call(name, &arguments, span)? {
            return Ok(self.typing.settle(known)?.into());
        }
        if name == "pg_typeof"
            && let Some(domain) = self.domain_name(&arguments)
        {
            return Ok(self.typing.settle(Operand::literal(domain, span))?.into());
        }
        let columns = &mut self.columns;
        match (name, arguments.len()) {
            ("current_query", 0) => {
                let text = self.place.text().trim();
                Ok(Operand::literal(text, span))
            }
            ("coalesce", 1..) => self.typing.coalesce(arguments, span, columns),
            ("greatest", 1..) => self.typing.greatest(arguments, span, columns),
            ("least", 1..) => self.typing.least(arguments, span, columns),
            ("nullif", 2) => {
                let right = arguments.pop();
                match (arguments.pop(), right) {
                    (Some(l), Some(r)) => self.typing.nullif(l, r, span, columns),
                    _ => Err(self.syntax_error(")", span)),
                }
            }
            ("coalesce" | "greatest" | "least" | "nullif", _) => Err(self.syntax_error(")", span)),
            _ => self.typing.call(name, arguments, span, columns),
        }
    }

    pub(super) fn function_name(&self, name: &ObjectName, span: Span) -> Result<String> {
        let parts: Option<Vec<_>> = name.0.iter().map(|p| p.as_ident()).collect();
        match parts.as_deref() {
            Some([name]) => Ok(fold(name)),
            Some([schema, name]) if fold(schema) == "pg_catalog" => Ok(fold(name)),
            Some([schema, name]) if format!("{}.{}", fold(schema), fold(name)) == EXPAND_ARRAY => {
                Ok(EXPAND_ARRAY.to_owned())
            }
            _ => {
                let message = format!("function {name} does not exist");
                Err(error(SqlState::UNDEFINED_FUNCTION, message, span))
            }
        }
    }

    /// What a call is written with. 42601 for clauses that do not go together.
    fn written_call(&self, call: &'a Function, name: &str, span: Span) -> Result<Written<'a>> {
        let is_within = !call.within_group.is_empty();
        let mut written = Written {
            arguments: Arguments::List(Vec::new()),
            distinct: false,
            order: &call.within_group,
            is_within,
        };
        let FunctionArguments::List(list) = &call.args else {
            return Ok(written);
        };
        if !is_grammar(name) {
            list_limits::arguments(list.args.len(), span)?;
        }
        written.distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        for clause in &list.clauses {
            match clause {
                FunctionArgumentClause::OrderBy(_) if is_within => {
                    let message = "cannot use multiple ORDER BY clauses with WITHIN GROUP";
                    return Err(error(SqlState::SYNTAX_ERROR, message, span));
                }
                FunctionArgumentClause::OrderBy(order) => written.order = order,
                _ => return Err(Error::unsupported(format!("{clause} in a call")).at_span(span)),
            }
        }
        if is_within && written.distinct {
            let message = "cannot use DISTINCT with WITHIN GROUP";
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        (written.arguments, written.distinct) = self.arguments(list, name, span)?;
        Ok(written)
    }

    fn arguments(
        &self,
        list: &'a FunctionArgumentList,
        name: &str,
        span: Span,
    ) -> Result<(Arguments<'a>, bool)> {
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let mut out = Vec::with_capacity(list.args.len());
        for argument in &list.args {
            let FunctionArg::Unnamed(argument) = argument else {
                let arguments = self.named_arguments(&list.args, name, span)?;
                return Ok((Arguments::List(arguments), distinct));
            };
            match argument {
                FunctionArgExpr::Expr(e) => out.push(e),
                FunctionArgExpr::Wildcard
                    if list.args.len() == 1
                        && list.duplicate_treatment.is_none()
                        && list.clauses.is_empty() =>
                {
                    return Ok((Arguments::Rows, false));
                }
                FunctionArgExpr::QualifiedWildcard(relation) if list.args.len() == 1 => {
                    return Ok((Arguments::RowsOf(relation), distinct));
                }
                FunctionArgExpr::Wildcard | FunctionArgExpr::QualifiedWildcard(_) => {
                    let star = self
                        .place
                        .text()
                        .get(span.end as usize..)
                        .and_then(|t| t.find('*'));
                    let at = star.map_or(span, |at| {
                        Span::new(span.end as usize + at, span.end as usize + at + 1)
                    });
                    return Err(self.syntax_error("*", at));
                }
                FunctionArgExpr::WildcardWithOptions(_) => {
                    return Err(Error::unsupported(format!("{name}(* …)")).at_span(span));
                }
            }
        }
        Ok((Arguments::List(out), distinct))
    }

    // --- Calls with a grammar of their own -----------------------------------------------------

    /// What sqlparser reads by a grammar of its own, and what is refused.
    pub(super) fn special_call(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        match e {
            SqlExpr::Extract { field, expr, .. } => {
                let x = self.expression(expr)?;
                let field = Operand::literal(field_name(field), x.span());
                self.named("extract", vec![field, x])
            }
            SqlExpr::AtTimeZone { timestamp, time_zone } => {
                let x = self.expression(timestamp)?;
                let zone = self.expression(time_zone)?;
                self.named("timezone", vec![zone, x])
            }
            SqlExpr::Position { expr, r#in } => {
                let part = self.expression(expr)?;
                let text = self.expression(r#in)?;
                self.named("position", vec![text, part])
            }
            SqlExpr::Substring { .. } => self.substring(e),
            SqlExpr::Trim {
                trim_where,
                trim_what,
                expr,
                trim_characters,
            } => {
                let characters = trim_characters.iter().flatten();
                let arguments = std::iter::once(&**expr)
                    .chain(trim_what.as_deref())
                    .chain(characters);
                let arguments = self.each(arguments.collect())?;
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "btrim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                self.named(name, arguments)
            }
            SqlExpr::Overlay {
                expr,
                overlay_what,
                overlay_from,
                overlay_for,
            } => {
                let mut arguments = Vec::new();
                for e in [expr, overlay_what, overlay_from].into_iter().chain(overlay_for) {
                    arguments.push(self.expression(e)?);
                }
                self.named("overlay", arguments)
            }
            SqlExpr::Interval(interval) => self.interval(interval),
            SqlExpr::IsNormalized { expr, form, negated } => {
                let asked = self.is_normalized(expr, form.map(|form| form.to_string()))?;
                if *negated {
                    self.typing.not(asked, Span::NONE)
                } else {
                    Ok(asked)
                }
            }
            other => Err(self.refused(other)),
        }
    }

    /// `substring(text from … for …)`.
    fn substring(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        let SqlExpr::Substring {
            expr,
            substring_from,
            substring_for,
            shorthand,
            ..
        } = e
        else {
            return Err(self.refused(e));
        };
        let mut arguments = vec![self.expression(expr)?];
        match (substring_from, substring_for) {
            (None, Some(_)) => arguments.push(Typing::number_literal("1", arguments[0].span())?),
            (Some(from), _) => arguments.push(self.expression(from)?),
            (None, None) => {}
        }
        if let Some(length) = substring_for {
            arguments.push(self.expression(length)?);
        }
        self.named(if *shorthand { "substr" } else { "substring" }, arguments)
    }

    fn is_normalized(&mut self, text: &'a SqlExpr, form: Option<String>) -> Result<Operand> {
        let text = self.expression(text)?;
        let form = form.map(|form| Operand::literal(form, text.span()));
        self.named("is_normalized", std::iter::once(text).chain(form).collect())
    }

    fn named(&mut self, name: &str, arguments: Vec<Operand>) -> Result<Operand> {
        let inside = row_span(&arguments);
        let written = if name.ends_with("trim") { "trim" } else { name };
        let at = self.place.keyword_before(inside, written.len());
        let called = self.typing.call(name, arguments, at, &mut self.columns)?;
        Ok(called.at(inside))
    }

    /// `interval '1' day`.
    fn interval(&mut self, interval: &'a Interval) -> Result<Operand> {
        let value = self.expression(&interval.value)?;
        let span = value.span();
        if !matches!(&value, Operand::Unknown(_)) {
            let text = self.place.text().get(span.start as usize..span.end as usize);
            return Err(self.syntax_error(text.unwrap_or_default(), span));
        }
        let Some(first) = &interval.leading_field else {
            let cast = self
                .typing
                .cast(value, LogicalType::Interval, CastContext::Explicit, span)?;
            return Ok(cast.into());
        };
        let first = field_name(first);
        let fields = match &interval.last_field {
            Some(last) => format!("{first} to {}", field_name(last)),
            None => first,
        };
        // Only seconds have digits: `second(2)`, `day to second(2)`.
        let digits = match fields == "second" {
            true => interval
                .leading_precision
                .or(interval.fractional_seconds_precision),
            false if interval.leading_precision.is_some() => return Err(self.syntax_error("(", span)),
            false => interval.fractional_seconds_precision,
        };
        let Operand::Unknown(Unknown {
            kind: UnknownKind::Literal(text),
            ..
        }) = value
        else {
            return Err(self.syntax_error(&fields, span));
        };
        self.typing.interval_literal(&text, &fields, digits, span)
    }

    fn refused(&self, e: &SqlExpr) -> Error {
        let what = match e {
            SqlExpr::JsonAccess { .. } => "a subscript or field",
            SqlExpr::Like { .. } | SqlExpr::ILike { .. } => "LIKE ANY",
            SqlExpr::Wildcard(_) | SqlExpr::QualifiedWildcard(..) => {
                return self.syntax_error("*", Span::NONE);
            }
            SqlExpr::Prefixed { prefix, .. } => {
                return self.syntax_error(prefix.value.trim_start_matches('\0'), self.span(prefix));
            }
            _ => return Error::unsupported(format!("the expression {e}")),
        };
        Error::unsupported(what)
    }
}

/// True for names whose calls are expressions of the grammar, not calls of functions.
fn is_grammar(name: &str) -> bool {
    matches!(
        name,
        "coalesce" | "greatest" | "least" | "nullif" | "row" | "grouping"
    )
}

/// A field of dates and intervals, in lower case.
fn field_name(field: &DateTimeField) -> String {
    match field {
        DateTimeField::Custom(name) => fold(name),
        other => other.to_string().to_lowercase(),
    }
}
