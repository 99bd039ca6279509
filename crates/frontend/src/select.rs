//! Queries: common table expressions, names of the result, the plan.

use crate::bind::{Binder, Bound};
use crate::catalog_view::Source;
use crate::planner_context::{PlannerContext, parser_options};
use crate::query::{Relation, Translator};
use crate::{Statement, errors, refuse};
use datafusion_expr::LogicalPlan;
use datafusion_sql::planner::SqlToRel;
use datafusion_sql::sqlparser::ast::Value as SqlValue;
use datafusion_sql::sqlparser::ast::{
    CastKind, Cte, Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Query, SelectItem, SetExpr, Statement as Ast, VisitMut, VisitorMut,
    visit_relations,
};
use datafusion_sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion_sql::sqlparser::parser::Parser;
use frazil_plan::ColumnId;
use frazil_types::{ColumnDef, Error, Result, SqlState};
use std::ops::ControlFlow;

/// Binds SELECT.
pub(crate) fn query(binder: &Binder, query: &Query) -> Result<Bound> {
    let context = PlannerContext::new(binder.catalog);
    let mut translator = binder.translator();
    let (relation, names) = translate(binder, &context, &mut translator, query)?;
    let output = names.into_iter().zip(relation.out).collect();
    Ok(finished(translator, relation.op, output, Statement::Query))
}

/// Completes a statement that has a plan.
pub(crate) fn finished(
    translator: Translator,
    root: frazil_plan::Operator,
    output: Vec<(String, ColumnId)>,
    statement: impl FnOnce(frazil_plan::Plan) -> Statement,
) -> Bound {
    let (plan, hidden) = translator.finish(root, output);
    let own = plan.parameters.len() - hidden.len();
    Bound {
        parameters: plan.parameters[..own].to_vec(),
        hidden,
        statement: statement(plan),
    }
}

/// Translates a query; its rows and the names of its columns.
pub(crate) fn translate(
    binder: &Binder,
    context: &PlannerContext,
    translator: &mut Translator,
    query: &Query,
) -> Result<(Relation, Vec<String>)> {
    refuse::check(query)?;
    let written = written_names(query);
    let mut query = query.clone();
    let _ = query.visit(&mut WrittenNames);
    let _ = query.visit(&mut WideNumbers);
    let _ = query.visit(&mut NamedCasts(context));
    let _ = query.visit(&mut DistinctNames);
    if binder.settings.share_common_tables {
        share_common_tables(context, translator, &mut query)?;
    }
    let plan = logical_plan(context, query)?;
    let relation = translator.root(&plan)?;
    let fields = plan.schema().fields();
    let names = match written {
        Some(written) if written.len() == fields.len() => written
            .into_iter()
            .zip(fields.iter())
            .map(|(name, field)| name.unwrap_or_else(|| field.name().clone()))
            .collect(),
        _ => fields.iter().map(|f| f.name().clone()).collect(),
    };
    Ok((relation, names))
}

fn logical_plan(context: &PlannerContext, query: Query) -> Result<LogicalPlan> {
    let planner = SqlToRel::new_with_options(context, parser_options());
    planner
        .sql_statement_to_plan(Ast::Query(Box::new(query)))
        .map_err(errors::from_datafusion)
}

/// A table's name; there is one schema.
pub(crate) fn table_name(name: &ObjectName) -> Result<String> {
    let parts: Vec<String> = name.0.iter().filter_map(|p| p.as_ident()).map(fold).collect();
    match &parts[..] {
        [table] => Ok(table.clone()),
        [schema, table] if matches!(schema.as_str(), "public" | "main") => Ok(table.clone()),
        _ => Err(Error::new(
            SqlState::UNDEFINED_TABLE,
            format!("table \"{name}\" does not exist"),
        )
        .with_hint("there is one schema, public")),
    }
}

/// A name as the catalog keeps it.
pub(crate) fn fold(ident: &Ident) -> String {
    if ident.quote_style.is_some() {
        ident.value.clone()
    } else {
        ident.value.to_lowercase()
    }
}

// --- Common table expressions ------------------------------------------------------------------

/// Plans common table expressions that are read more than once as shared subplans, which then stand
/// as tables of their names. The rest are expanded where they are read.
fn share_common_tables(
    context: &PlannerContext,
    translator: &mut Translator,
    query: &mut Query,
) -> Result<()> {
    let Some(with) = query.with.take() else {
        return Ok(());
    };
    let mut kept: Vec<Cte> = Vec::new();
    for (i, cte) in with.cte_tables.iter().enumerate() {
        let name = fold(&cte.alias.name);
        let later = with.cte_tables[i + 1..]
            .iter()
            .map(|c| references(&c.query, &name));
        let mut body = query.clone();
        body.with = None;
        let count = references(&body, &name) + later.sum::<usize>();
        if count < 2 {
            kept.push(cte.clone());
            continue;
        }
        let mut own = (*cte.query).clone();
        if own.with.is_some() {
            kept.push(cte.clone());
            continue;
        }
        if !kept.is_empty() {
            let mut earlier = with.clone();
            earlier.cte_tables.clone_from(&kept);
            own.with = Some(earlier);
        }
        let plan = logical_plan(context, own)?;
        let relation = translator.root(&plan)?;
        let mut columns: Vec<ColumnDef> = Vec::new();
        for (field, id) in plan.schema().fields().iter().zip(&relation.out) {
            let info = &translator.columns[*id];
            let mut column = ColumnDef::new(field.name(), info.ty);
            column.nullable = info.nullable;
            columns.push(column);
        }
        if cte.alias.columns.len() > columns.len() {
            return Err(Error::new(
                SqlState("42P10"),
                format!("WITH query \"{name}\" has {} columns available", columns.len()),
            ));
        }
        for (column, alias) in columns.iter_mut().zip(&cte.alias.columns) {
            column.name = fold(&alias.name);
        }
        let id = translator.share(relation);
        context.define(&name, Source::shared(id, columns));
    }
    if !kept.is_empty() {
        query.with = Some(with);
        if let Some(with) = &mut query.with {
            with.cte_tables = kept;
        }
    }
    Ok(())
}

/// How often a query reads a table of this name.
fn references(query: &Query, name: &str) -> usize {
    let mut count = 0;
    let _: ControlFlow<()> = visit_relations(query, |relation| {
        if let [part] = &relation.0[..] {
            count += usize::from(part.as_ident().is_some_and(|i| fold(i) == name));
        }
        ControlFlow::Continue(())
    });
    count
}

// --- Names of the result -----------------------------------------------------------------------

/// The names PostgreSQL gives result columns; `None` in the list: as DataFusion names it; `None` for
/// all: there is a wildcard.
fn written_names(query: &Query) -> Option<Vec<Option<String>>> {
    let mut body = &*query.body;
    loop {
        body = match body {
            SetExpr::Query(q) => &q.body,
            SetExpr::SetOperation { left, .. } => left,
            _ => break,
        };
    }
    if let SetExpr::Values(values) = body {
        let width = values.rows.first()?.content.len();
        return Some((1..=width).map(|i| Some(format!("column{i}"))).collect());
    }
    let SetExpr::Select(select) = body else {
        return None;
    };
    let names = select.projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(e) => Some(Some(name_of(e).unwrap_or_else(|| "?column?".to_string()))),
        SelectItem::ExprWithAlias { alias, .. } => Some(Some(fold(alias))),
        _ => None,
    });
    names.collect()
}

fn name_of(e: &SqlExpr) -> Option<String> {
    match e {
        SqlExpr::Identifier(i) => Some(fold(i)),
        SqlExpr::CompoundIdentifier(parts) => parts.last().map(fold),
        SqlExpr::Function(f) => f.name.0.last().and_then(|p| p.as_ident()).map(fold),
        SqlExpr::Nested(inner) | SqlExpr::Collate { expr: inner, .. } => name_of(inner),
        SqlExpr::Cast { expr, data_type, .. } => {
            name_of(expr).or_else(|| Some(data_type.to_string().split('(').next()?.to_lowercase()))
        }
        SqlExpr::Case { else_result, .. } => {
            let named = else_result.as_deref().and_then(name_of);
            named.or_else(|| Some("case".to_string()))
        }
        SqlExpr::Extract { .. } => Some("extract".to_string()),
        SqlExpr::Substring { .. } => Some("substring".to_string()),
        SqlExpr::Position { .. } => Some("position".to_string()),
        SqlExpr::Trim { .. } => Some("btrim".to_string()),
        SqlExpr::Ceil { .. } => Some("ceil".to_string()),
        SqlExpr::Floor { .. } => Some("floor".to_string()),
        SqlExpr::Exists { .. } => Some("exists".to_string()),
        SqlExpr::TypedString(t) => Some(t.data_type.to_string().to_lowercase()),
        SqlExpr::Subquery(q) => written_names(q)?.into_iter().next()?,
        _ => None,
    }
}

/// Columns of subqueries have the names PostgreSQL gives them, not DataFusion's. A query with an order
/// keeps those, as its sort keys could then mean the named columns where they meant the table's.
struct WrittenNames;

impl VisitorMut for WrittenNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let mut body = &mut *query.body;
        while let SetExpr::SetOperation { left, .. } = body {
            body = left;
        }
        if let (None, SetExpr::Select(select)) = (&query.order_by, body) {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(e) = item
                    && !matches!(e, SqlExpr::Identifier(_) | SqlExpr::CompoundIdentifier(_))
                    && let Some(name) = name_of(e)
                {
                    let (expr, alias) = (e.clone(), Ident::with_quote('"', name));
                    *item = SelectItem::ExprWithAlias { expr, alias };
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// DataFusion wants distinct names in a select list; SQL does not.
struct DistinctNames;

impl VisitorMut for DistinctNames {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut datafusion_sql::sqlparser::ast::Select) -> ControlFlow<()> {
        let mut seen: Vec<String> = Vec::new();
        for (i, item) in select.projection.iter_mut().enumerate() {
            let name = match item {
                SelectItem::UnnamedExpr(e) => e.to_string(),
                SelectItem::ExprWithAlias { alias, .. } => fold(alias),
                _ => continue,
            };
            if seen.contains(&name) {
                let alias = Ident::with_quote('"', format!("{name}:{i}"));
                *item = match item.clone() {
                    SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                        SelectItem::ExprWithAlias { expr, alias }
                    }
                    other => other,
                };
            } else {
                seen.push(name);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Casts become functions of their own names ([`PlannerContext::cast_to`]), save those of constants and
/// parameters, which take their type from the cast.
struct NamedCasts<'a, 'c>(&'a PlannerContext<'c>);

impl VisitorMut for NamedCasts<'_, '_> {
    type Break = ();

    fn post_visit_expr(&mut self, e: &mut SqlExpr) -> ControlFlow<()> {
        if let SqlExpr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type,
            array: false,
            format: None,
        } = e
            && !matches!(**expr, SqlExpr::Value(_))
            // A type that is not supported is refused where the cast is planned.
            && let Ok(ty) = crate::sql_type::of_sql(data_type)
        {
            let name = Ident::with_quote('"', self.0.cast_to(ty));
            *e = call(name, (**expr).clone());
        }
        ControlFlow::Continue(())
    }
}

/// `name(argument)`.
fn call(name: Ident, argument: SqlExpr) -> SqlExpr {
    SqlExpr::Function(Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Numbers beyond the digits of any decimal (`1e300`, `5e-324`) are doubles.
struct WideNumbers;

impl VisitorMut for WideNumbers {
    type Break = ();

    fn post_visit_expr(&mut self, e: &mut SqlExpr) -> ControlFlow<()> {
        if let SqlExpr::Value(value) = e
            && let SqlValue::Number(text, _) = &value.value
            && !fits_decimal(text)
            && let Ok(mut parser) = Parser::new(&PostgreSqlDialect {})
                .try_with_sql(&format!("cast('{text}' as double precision)"))
            && let Ok(cast) = parser.parse_expr()
        {
            *e = cast;
        }
        ControlFlow::Continue(())
    }
}

/// Whether a number's text has at most 38 digits when written out.
fn fits_decimal(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(i64::MAX / 4);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let before = (whole.trim_start_matches('0').len() as i64 + exponent).max(0);
    let after = (fraction.len() as i64 - exponent).max(0);
    before + after <= i64::from(frazil_types::logical_type::DECIMAL_MAX_DIGITS)
}
