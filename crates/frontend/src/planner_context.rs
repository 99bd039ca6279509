//! What DataFusion's SQL planner may ask: tables, functions, types, and our say in how operators are
//! planned.

use crate::catalog_view::{CatalogView, Source};
use crate::{errors, functions, sql_type};
use arrow::datatypes::DataType;
use datafusion_common::config::ConfigOptions;
use datafusion_common::{DFSchema, Result, TableReference};
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::planner::{ContextProvider, ExprPlanner, PlannerResult, RawBinaryExpr, TypePlanner};
use datafusion_expr::{AggregateUDF, Expr, ExprSchemable, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF};
use datafusion_functions_aggregate as aggregate;
use datafusion_sql::planner::ParserOptions;
use datafusion_sql::sqlparser::ast::BinaryOperator;
use frazil_types::{Error, LogicalType, SqlState};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

static PLANNERS: LazyLock<Vec<Arc<dyn ExprPlanner>>> = LazyLock::new(|| {
    vec![
        Arc::new(Operators),
        Arc::new(aggregate::planner::AggregateFunctionPlanner),
    ]
});

static OPTIONS: LazyLock<ConfigOptions> = LazyLock::new(ConfigOptions::default);

static AGGREGATES: LazyLock<HashMap<&'static str, Arc<AggregateUDF>>> = LazyLock::new(|| {
    HashMap::from([
        ("count", aggregate::count::count_udaf()),
        ("sum", aggregate::sum::sum_udaf()),
        ("min", aggregate::min_max::min_udaf()),
        ("max", aggregate::min_max::max_udaf()),
        ("avg", aggregate::average::avg_udaf()),
    ])
});

/// How we ask DataFusion to read SQL: decimals exact, NULLs last ascending, as PostgreSQL does.
pub(crate) fn parser_options() -> ParserOptions {
    ParserOptions::new()
        .with_parse_float_as_decimal(true)
        .with_map_string_types_to_utf8view(false)
}

/// The provider for one statement.
pub(crate) struct PlannerContext<'a> {
    catalog: &'a dyn CatalogView,
    sources: RefCell<HashMap<String, Arc<Source>>>,
    casts: RefCell<HashMap<String, Arc<ScalarUDF>>>,
}

impl<'a> PlannerContext<'a> {
    pub fn new(catalog: &'a dyn CatalogView) -> PlannerContext<'a> {
        PlannerContext {
            catalog,
            sources: RefCell::default(),
            casts: RefCell::default(),
        }
    }

    /// Puts a source in place of the catalog's table of that name: a shared subplan, or the target of
    /// DELETE.
    pub fn define(&self, name: &str, source: Source) {
        self.sources
            .borrow_mut()
            .insert(name.to_string(), Arc::new(source));
    }

    /// Name of the function that casts to a type, known from now on.
    pub fn cast_to(&self, ty: LogicalType) -> String {
        let name = functions::cast_name(ty);
        let mut casts = self.casts.borrow_mut();
        casts
            .entry(name.clone())
            .or_insert_with(|| functions::cast_to(ty));
        name
    }

    /// The catalog's table of a name; 42P01.
    pub fn table(&self, name: &str) -> frazil_types::Result<crate::TableEntry> {
        find_table(self.catalog, name)
    }
}

/// A table of the catalog; 42P01 with the nearest name if there is none.
pub(crate) fn find_table(catalog: &dyn CatalogView, name: &str) -> frazil_types::Result<crate::TableEntry> {
    catalog.table(name).ok_or_else(|| {
        // The parser takes a clause's keyword for a table's name: `SELECT FROM WHERE`.
        if matches!(
            name,
            "where" | "select" | "from" | "group" | "order" | "having" | "limit" | "union" | "on"
        ) {
            let message = format!("syntax error at or near \"{name}\"");
            return Error::new(SqlState::SYNTAX_ERROR, message).with_hint("a table's name was expected");
        }
        let error = Error::new(
            SqlState::UNDEFINED_TABLE,
            format!("table \"{name}\" does not exist"),
        );
        let names = catalog.table_names();
        match frazil_catalog::nearest(name, names.iter().map(String::as_str)) {
            Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
            None => error,
        }
    })
}

impl ContextProvider for PlannerContext<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let known = match name.schema() {
            None | Some("public" | "main") => name.catalog().is_none(),
            Some(_) => false,
        };
        if !known {
            let error = Error::new(
                SqlState::UNDEFINED_TABLE,
                format!("table \"{name}\" does not exist"),
            );
            return Err(errors::external(error.with_hint("there is one schema, public")));
        }
        let table = name.table();
        if let Some(source) = self.sources.borrow().get(table) {
            return Ok(Arc::clone(source) as Arc<dyn TableSource>);
        }
        let entry = self.table(table).map_err(errors::external)?;
        let source = Arc::new(Source::table(entry));
        self.sources
            .borrow_mut()
            .insert(table.to_string(), Arc::clone(&source));
        Ok(source)
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &PLANNERS
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(sql_type::Types))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        if let Some(cast) = self.casts.borrow().get(name) {
            return Some(Arc::clone(cast));
        }
        // A name with a blank is one that only we give (see `Operators`).
        let written = !name.contains(' ') && name != "||";
        written.then(|| functions::find(name).or_else(|| crate::vector_function::find(name)))?
    }

    fn get_higher_order_meta(&self, _: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        AGGREGATES.get(name).cloned()
    }

    fn get_window_meta(&self, _: &str) -> Option<Arc<WindowUDF>> {
        None
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &OPTIONS
    }

    fn udf_names(&self) -> Vec<String> {
        functions::names().map(str::to_string).collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udaf_names(&self) -> Vec<String> {
        AGGREGATES.keys().map(|n| (*n).to_string()).collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Operators whose result DataFusion would type unlike PostgreSQL (date - date is an integer), or not at
/// all (date + integer): planned as named functions.
#[derive(Debug)]
struct Operators;

fn call(name: &str, arguments: Vec<Expr>) -> Result<Expr> {
    match functions::find(name) {
        Some(udf) => Ok(Expr::ScalarFunction(ScalarFunction::new_udf(udf, arguments))),
        None => datafusion_common::internal_err!("no function {name}"),
    }
}

impl ExprPlanner for Operators {
    fn plan_binary_op(&self, e: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        if e.op == BinaryOperator::StringConcat {
            return Ok(PlannerResult::Planned(call("||", vec![e.left, e.right])?));
        }
        if !matches!(e.op, BinaryOperator::Plus | BinaryOperator::Minus) {
            return Ok(PlannerResult::Original(e));
        }
        let (Ok(left), Ok(right)) = (e.left.get_type(schema), e.right.get_type(schema)) else {
            return Ok(PlannerResult::Original(e));
        };
        let date = |t: &DataType| *t == DataType::Date32;
        let days = |t: &DataType| t.is_integer();
        let planned = match e.op {
            BinaryOperator::Plus if date(&left) && days(&right) => {
                call("date plus days", vec![e.left, e.right])?
            }
            BinaryOperator::Plus if days(&left) && date(&right) => {
                call("date plus days", vec![e.right, e.left])?
            }
            BinaryOperator::Minus if date(&left) && date(&right) => {
                call("date difference", vec![e.left, e.right])?
            }
            BinaryOperator::Minus if date(&left) && days(&right) => {
                call("date minus days", vec![e.left, e.right])?
            }
            _ => return Ok(PlannerResult::Original(e)),
        };
        Ok(PlannerResult::Planned(planned))
    }

    fn plan_extract(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(PlannerResult::Planned(call("date_part", arguments)?))
    }

    fn plan_substring(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(PlannerResult::Planned(call("substr", arguments)?))
    }

    fn plan_position(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        // Here the text comes first: POSITION(part IN text) arrives as (text, part).
        Ok(PlannerResult::Planned(call("strpos", arguments)?))
    }
}
