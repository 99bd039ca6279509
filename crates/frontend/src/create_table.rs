//! CREATE TABLE: columns, NOT NULL, DEFAULT, options, which ALTER TABLE changes. What would promise more is refused.

use crate::bind::{Binder, Bound};
use crate::planner_context::PlannerContext;
use crate::query::arithmetic::constant_as;
use crate::{Statement, planner_context, select, sql_type};
use datafusion_sql::sqlparser::ast::{
    AlterTable, AlterTableOperation, ColumnDef as SqlColumn, ColumnOption, CreateTable, CreateTableOptions,
    Expr as SqlExpr, SelectItem, SetExpr, SqlOption, TableConstraint, Value as SqlValue, ValueWithSpan,
};
use datafusion_sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion_sql::sqlparser::parser::Parser;
use frazil_plan::Operator;
use frazil_types::{ColumnDef, Error, LogicalType, Result, Schema, SqlState, Value};

/// Binds CREATE TABLE and CREATE TABLE AS.
pub(crate) fn bind(binder: &Binder, create: &CreateTable) -> Result<Bound> {
    refuse(create)?;
    let name = select::table_name(&create.name)?;
    let options = options(&create.table_options)?;
    if let Some(query) = &create.query {
        if !create.columns.is_empty() {
            return Err(Error::unsupported("a column list in CREATE TABLE AS"));
        }
        let mut bound = select::query(binder, query)?;
        if !bound.hidden.is_empty() || !bound.parameters.is_empty() {
            return Err(Error::unsupported("parameters or now() in CREATE TABLE AS"));
        }
        let Statement::Query(plan) = bound.statement else {
            return Err(Error::internal("a query that is none"));
        };
        let column =
            |(name, id): &(String, frazil_plan::ColumnId)| ColumnDef::new(name, plan.columns[*id].ty);
        let schema = Schema::new(plan.output.iter().map(column).collect());
        check_columns(&schema)?;
        bound.statement = Statement::CreateTable {
            name,
            schema,
            if_not_exists: create.if_not_exists,
            options,
            as_query: Some(plan),
        };
        return Ok(bound);
    }
    let columns = create
        .columns
        .iter()
        .map(|c| column(binder, c))
        .collect::<Result<Vec<_>>>()?;
    let schema = Schema::new(columns);
    if schema.columns.is_empty() {
        return Err(Error::unsupported("a table without columns"));
    }
    check_columns(&schema)?;
    Ok(Bound::plain(Statement::CreateTable {
        name,
        schema,
        if_not_exists: create.if_not_exists,
        options,
        as_query: None,
    }))
}

fn check_columns(schema: &Schema) -> Result<()> {
    for (i, column) in schema.columns.iter().enumerate() {
        if schema.columns[..i].iter().any(|c| c.name == column.name) {
            return Err(Error::new(
                SqlState::DUPLICATE_COLUMN,
                format!("column \"{}\" is named more than once", column.name),
            ));
        }
        if column.ty == LogicalType::Interval {
            return Err(Error::unsupported("a column of type interval"));
        }
    }
    Ok(())
}

fn not_enforced(what: &str) -> Error {
    Error::unsupported(what).with_hint("Frazil does not enforce it yet, so it does not take it")
}

fn refuse(c: &CreateTable) -> Result<()> {
    if let Some(constraint) = c.constraints.first() {
        return Err(not_enforced(match constraint {
            TableConstraint::PrimaryKey(_) => "PRIMARY KEY",
            TableConstraint::Unique(_) => "UNIQUE",
            TableConstraint::ForeignKey(_) => "FOREIGN KEY",
            TableConstraint::Check(_) => "CHECK",
            _ => "a table constraint",
        }));
    }
    let clauses = [
        (c.or_replace, "CREATE OR REPLACE TABLE"),
        (c.temporary, "CREATE TEMPORARY TABLE"),
        (c.external, "CREATE EXTERNAL TABLE"),
        (c.like.is_some(), "CREATE TABLE … LIKE"),
        (c.clone.is_some(), "CREATE TABLE … CLONE"),
        (c.inherits.is_some(), "INHERITS"),
        (
            c.partition_by.is_some() || c.partition_of.is_some(),
            "PARTITION BY",
        ),
        (c.on_commit.is_some(), "ON COMMIT"),
        (c.without_rowid, "WITHOUT ROWID"),
        (c.order_by.is_some(), "ORDER BY in CREATE TABLE"),
        (c.cluster_by.is_some() || c.clustered_by.is_some(), "CLUSTER BY"),
        (c.primary_key.is_some(), "PRIMARY KEY"),
        (c.comment.is_some(), "COMMENT"),
        (
            c.location.is_some() || c.file_format.is_some(),
            "LOCATION or STORED AS",
        ),
        (c.strict, "STRICT"),
        (
            c.transient || c.volatile || c.iceberg || c.dynamic,
            "this kind of table",
        ),
    ];
    match clauses.iter().find(|clause| clause.0) {
        Some((_, what)) => Err(Error::unsupported(what)),
        None => Ok(()),
    }
}

fn options(options: &CreateTableOptions) -> Result<Vec<(String, Value)>> {
    match options {
        CreateTableOptions::None => Ok(Vec::new()),
        CreateTableOptions::With(list) => settings(list),
        _ => Err(Error::unsupported("table options but WITH (…)")),
    }
}

/// Binds ALTER TABLE … SET (…), the only change there is.
pub(crate) fn alter(binder: &Binder, alter: &AlterTable) -> Result<Bound> {
    let [AlterTableOperation::SetOptionsParens { options }] = &alter.operations[..] else {
        return Err(Error::unsupported("ALTER TABLE but to SET (option = value)"));
    };
    if alter.if_exists || alter.on_cluster.is_some() || alter.location.is_some() {
        return Err(Error::unsupported(
            "ALTER TABLE with IF EXISTS, ON CLUSTER or LOCATION",
        ));
    }
    let table = select::table_name(&alter.name)?;
    let entry = planner_context::find_table(binder.catalog, &table)?;
    Ok(Bound::plain(Statement::AlterOptions {
        table: entry.name,
        options: settings(options)?,
    }))
}

/// Names and values of options; DEFAULT is NULL.
fn settings(list: &[SqlOption]) -> Result<Vec<(String, Value)>> {
    let mut out: Vec<(String, Value)> = Vec::new();
    for option in list {
        let SqlOption::KeyValue { key, value } = option else {
            return Err(Error::unsupported(format!("the table option {option}")));
        };
        let value = match value {
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
            SqlExpr::Identifier(i) => Value::Text(select::fold(i)),
            // A number with a sign: the option says what it takes.
            signed @ SqlExpr::UnaryOp { expr, .. } if matches!(**expr, SqlExpr::Value(_)) => {
                Value::Text(signed.to_string())
            }
            other => {
                return Err(
                    Error::unsupported(format!("the option value {other}")).with_hint("write it in quotes")
                );
            }
        };
        let name = select::fold(key);
        if out.iter().any(|o| o.0 == name) {
            return Err(Error::new(
                SqlState::SYNTAX_ERROR,
                format!("table option \"{name}\" is given more than once"),
            ));
        }
        out.push((name, value));
    }
    Ok(out)
}

fn column(binder: &Binder, c: &SqlColumn) -> Result<ColumnDef> {
    let mut column = ColumnDef::new(select::fold(&c.name), sql_type::of_sql(&c.data_type)?);
    for option in &c.options {
        match &option.option {
            ColumnOption::Null => {}
            ColumnOption::NotNull => column.nullable = false,
            ColumnOption::Default(e) => column.default = Some(default(binder, &column, e)?),
            ColumnOption::PrimaryKey(_) => return Err(not_enforced("PRIMARY KEY")),
            ColumnOption::Unique(_) => return Err(not_enforced("UNIQUE")),
            ColumnOption::ForeignKey(_) => return Err(not_enforced("FOREIGN KEY")),
            ColumnOption::Check(_) => return Err(not_enforced("CHECK")),
            ColumnOption::Collation(name) => {
                return Err(Error::unsupported(format!("COLLATE {name}"))
                    .with_hint("strings compare by their UTF-8 bytes"));
            }
            other => return Err(Error::unsupported(format!("the column option {other}"))),
        }
    }
    if column.default == Some(Value::Null) {
        column.default = None;
    }
    Ok(column)
}

/// A DEFAULT's value: a constant expression.
fn default(binder: &Binder, column: &ColumnDef, e: &SqlExpr) -> Result<Value> {
    let skeleton = Parser::parse_sql(&PostgreSqlDialect {}, "SELECT x");
    let Ok([datafusion_sql::sqlparser::ast::Statement::Query(query)]) = skeleton.as_deref() else {
        return Err(Error::internal("the query of a DEFAULT"));
    };
    let mut query = (**query).clone();
    if let SetExpr::Select(select) = &mut *query.body {
        select.projection = vec![SelectItem::UnnamedExpr(e.clone())];
    }
    let context = PlannerContext::new(binder.catalog);
    let mut translator = binder.translator();
    let (relation, _) = select::translate(binder, &context, &mut translator, &query)?;
    let value = match &relation.op {
        Operator::Map { expressions, .. } => expressions
            .iter()
            .find(|e| e.0 == relation.out[0])
            .and_then(|e| constant_as(&e.1, column.ty)),
        _ => None,
    };
    value.unwrap_or_else(|| {
        Err(Error::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("DEFAULT of column \"{}\" is no constant", column.name),
        ))
    })
}
