//! INSERT, DELETE and COPY: rows into and out of a table.

use crate::bind::{Binder, Bound};
use crate::catalog_view::{ROW_ID, Source};
use crate::copy::CopyStatement;
use crate::planner_context::{PlannerContext, find_table};
use crate::query::typing::constant_of;
use crate::query::{Relation, Translator};
use crate::{Statement, TableEntry, select};
use datafusion_sql::sqlparser::ast::{
    Delete, Expr as SqlExpr, FromTable, Ident, Insert, ObjectName, Query, Select, SelectItem, SetExpr,
    TableFactor, TableObject, TableWithJoins, Value as SqlValue, Values,
};
use datafusion_sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion_sql::sqlparser::parser::Parser;
use frazil_plan::{ColumnId, Expr, Operator};
use frazil_types::{ColumnDef, Error, LogicalType, Result, SqlState, Value};

/// Position of a column; 42703 with the nearest name.
pub(crate) fn column_position(entry: &TableEntry, name: &str) -> Result<usize> {
    entry.schema.index_of(name).ok_or_else(|| {
        let error = Error::new(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{name}\" of table \"{}\" does not exist", entry.name),
        );
        let names = entry.schema.columns.iter().map(|c| c.name.as_str());
        match frazil_catalog::nearest(name, names) {
            Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
            None => error,
        }
    })
}

/// Positions of the columns a statement names, or of all.
fn positions(entry: &TableEntry, names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..entry.schema.columns.len()).collect());
    }
    let mut out = Vec::with_capacity(names.len());
    for name in names {
        let position = column_position(entry, name)?;
        if out.contains(&position) {
            return Err(Error::new(
                SqlState::DUPLICATE_COLUMN,
                format!("column \"{name}\" is named more than once"),
            ));
        }
        out.push(position);
    }
    Ok(out)
}

/// Binds COPY … FROM.
pub(crate) fn copy_from(binder: &Binder, copy: &CopyStatement) -> Result<Statement> {
    let entry = find_table(binder.catalog, &copy.table)?;
    let columns = positions(&entry, &copy.columns)?;
    for (i, column) in entry.schema.columns.iter().enumerate() {
        if !columns.contains(&i) && !column.nullable && column.default.is_none() {
            return Err(null_in(&entry, column));
        }
    }
    Ok(Statement::CopyFrom {
        table: entry.id,
        name: entry.name,
        columns,
        path: copy.path.clone(),
        options: copy.options.clone(),
    })
}

fn null_in(entry: &TableEntry, column: &ColumnDef) -> Error {
    Error::new(
        SqlState::NOT_NULL_VIOLATION,
        format!(
            "null value in column \"{}\" of table \"{}\" violates its NOT NULL",
            column.name, entry.name
        ),
    )
}

// --- INSERT ------------------------------------------------------------------------------------

/// Binds INSERT … VALUES and INSERT … SELECT.
pub(crate) fn insert(binder: &Binder, insert: &Insert) -> Result<Bound> {
    refuse_insert(insert)?;
    let TableObject::TableName(name) = &insert.table else {
        return Err(Error::unsupported("INSERT INTO anything but a table"));
    };
    let context = PlannerContext::new(binder.catalog);
    let entry = context.table(&select::table_name(name)?)?;
    let names: Vec<String> = insert.columns.iter().map(column_name).collect::<Result<_>>()?;
    let targets = positions(&entry, &names)?;
    let mut translator = binder.translator();
    let relation = match &insert.source {
        Some(source) => {
            let mut source = with_defaults(source, &entry, &targets)?;
            if matches!(*source.body, SetExpr::Values(_)) {
                let types = targets.iter().map(|&t| entry.schema.columns[t].ty);
                translator.expect(types.collect());
            }
            let width = as_one_row(&mut source);
            if let Some(width) = width {
                translator.expect_rows_of(width);
            }
            let relation = select::translate(binder, &context, &mut translator, &source)?.0;
            if width.is_some() && !matches!(relation.op, Operator::Values { .. }) {
                return Err(Error::internal("the rows of VALUES are no VALUES list"));
            }
            relation
        }
        None => Relation {
            op: Operator::Values {
                columns: Vec::new(),
                rows: vec![Vec::new()],
            },
            out: Vec::new(),
        },
    };
    let given = relation.out.len();
    let default_values = insert.source.is_none();
    if given > targets.len() || (given < targets.len() && !names.is_empty()) {
        let what = if given > targets.len() {
            "expressions"
        } else {
            "target columns"
        };
        return Err(Error::new(
            SqlState::SYNTAX_ERROR,
            format!(
                "INSERT has more {what} than {}",
                if given > targets.len() {
                    "target columns"
                } else {
                    "expressions"
                }
            ),
        ));
    }
    let targets = if default_values { &[] } else { &targets[..given] };
    let root = assign(&mut translator, &entry, relation, targets)?;
    Ok(select::finished(translator, root, Vec::new(), Statement::Insert))
}

fn column_name(name: &ObjectName) -> Result<String> {
    match &name.0[..] {
        [part] => part.as_ident().map(select::fold),
        _ => None,
    }
    .ok_or_else(|| Error::new(SqlState::SYNTAX_ERROR, format!("\"{name}\" is no column name")))
}

fn refuse_insert(i: &Insert) -> Result<()> {
    let clauses = [
        (i.or.is_some(), "INSERT OR"),
        (i.ignore, "INSERT IGNORE"),
        (i.table_alias.is_some(), "an alias of INSERT's table"),
        (i.overwrite, "INSERT OVERWRITE"),
        (!i.assignments.is_empty(), "INSERT … SET"),
        (i.partitioned.is_some(), "PARTITION"),
        (i.on.is_some(), "ON CONFLICT"),
        (i.returning.is_some(), "RETURNING"),
        (i.output.is_some(), "OUTPUT"),
        (i.replace_into, "REPLACE INTO"),
        (i.insert_alias.is_some(), "an alias of INSERT's rows"),
        (i.settings.is_some(), "SETTINGS"),
        (i.format_clause.is_some(), "FORMAT"),
    ];
    match clauses.iter().find(|c| c.0) {
        Some((_, what)) => Err(Error::unsupported(what)),
        None => Ok(()),
    }
}

/// Puts a column's default where VALUES says DEFAULT.
fn with_defaults(source: &Query, entry: &TableEntry, targets: &[usize]) -> Result<Query> {
    let mut source = source.clone();
    let SetExpr::Values(Values { rows, .. }) = &mut *source.body else {
        return Ok(source);
    };
    for row in rows {
        for (i, e) in row.content.iter_mut().enumerate() {
            let is_default = matches!(e, SqlExpr::Identifier(Ident { value, quote_style: None, .. })
                if value.eq_ignore_ascii_case("default"));
            let Some(target) = targets.get(i).filter(|_| is_default) else {
                continue;
            };
            *e = default_literal(&entry.schema.columns[*target]);
        }
    }
    Ok(source)
}

/// Puts the rows of VALUES into one, as DataFusion brings the values of a column to a type that it finds for them,
/// which need not hold them all, before each is cast to the type of the table. Their width, or `None` where there is
/// nothing to be done: one row, rows of different widths, sorted ones, or ones with common table expressions, which
/// may be VALUES lists that are planned before.
fn as_one_row(source: &mut Query) -> Option<usize> {
    let Query {
        with: None,
        order_by: None,
        limit_clause: None,
        fetch: None,
        ..
    } = source
    else {
        return None;
    };
    let SetExpr::Values(Values { rows, .. }) = &mut *source.body else {
        return None;
    };
    let width = rows.first()?.content.len();
    let is_even = rows.iter().all(|row| row.content.len() == width);
    if !is_even || width == 0 || rows.len() == 1 {
        return None;
    }
    let others: Vec<SqlExpr> = rows.drain(1..).flat_map(|row| row.content).collect();
    rows[0].content.extend(others);
    Some(width)
}

fn default_literal(column: &ColumnDef) -> SqlExpr {
    let value = match &column.default {
        None | Some(Value::Null) => SqlValue::Null,
        Some(Value::Int(v)) if column.ty.is_integer() => SqlValue::Number(v.to_string(), false),
        Some(v) => SqlValue::SingleQuotedString(v.display(column.ty).to_string()),
    };
    SqlExpr::Value(value.into())
}

/// An Insert above `relation`: its columns are cast to those at `targets`, the others take defaults.
fn assign(
    translator: &mut Translator,
    entry: &TableEntry,
    relation: Relation,
    targets: &[usize],
) -> Result<Operator> {
    let Relation { mut op, out } = relation;
    let mut added: Vec<(ColumnId, Expr)> = Vec::new();
    let mut columns = Vec::with_capacity(entry.schema.columns.len());
    for (position, column) in entry.schema.columns.iter().enumerate() {
        let Some(at) = targets.iter().position(|t| *t == position) else {
            let value = column.default.clone().unwrap_or(Value::Null);
            if value.is_null() && !column.nullable {
                return Err(null_in(entry, column));
            }
            let e = Expr::constant(value, column.ty);
            let id = translator.columns.add(&column.name, column.ty, e.nullable);
            added.push((id, e));
            columns.push(id);
            continue;
        };
        let id = out[at];
        if assign_values(translator, &mut op, id, column)? || translator.columns[id].ty == column.ty {
            columns.push(id);
            continue;
        }
        let source = Expr::column(id, &translator.columns);
        let e = assigned(translator, column, source)?;
        let id = translator.columns.add(&column.name, column.ty, e.nullable);
        added.push((id, e));
        columns.push(id);
    }
    if !added.is_empty() {
        op = Operator::Map {
            input: Box::new(op),
            expressions: added,
        };
    }
    Ok(Operator::Insert {
        table: entry.id,
        name: entry.name.clone(),
        input: Box::new(op),
        columns,
    })
}

/// Casts a column of VALUES row by row, so that quoted literals take the column's type.
fn assign_values(
    translator: &mut Translator,
    op: &mut Operator,
    id: ColumnId,
    column: &ColumnDef,
) -> Result<bool> {
    let Operator::Values { columns, rows } = op else {
        return Ok(false);
    };
    let Some(at) = columns.iter().position(|c| *c == id) else {
        return Ok(false);
    };
    let mut nullable = false;
    for row in rows {
        let e = row[at].clone();
        row[at] = assigned(translator, column, e)?;
        nullable |= row[at].nullable;
    }
    translator.columns[id].ty = column.ty;
    translator.columns[id].nullable = nullable;
    Ok(true)
}

/// An assignment cast: as a cast, but a text expression is no number, and too long a text an error.
fn assigned(translator: &Translator, column: &ColumnDef, e: Expr) -> Result<Expr> {
    let untyped = translator.typing.is_untyped(&e);
    if !untyped && e.ty.is_string() && !column.ty.is_string()
        || matches!((e.ty, column.ty), (LogicalType::Integer, LogicalType::Boolean))
    {
        return Err(Error::new(
            SqlState::DATATYPE_MISMATCH,
            format!(
                "column \"{}\" is of type {} but expression is of type {}",
                column.name, column.ty, e.ty
            ),
        )
        .with_hint("you will need to cast the expression"));
    }
    if !column.nullable && constant_of(&e) == Some(&Value::Null) {
        return Err(Error::new(
            SqlState::NOT_NULL_VIOLATION,
            format!("null value in column \"{}\" violates its NOT NULL", column.name),
        ));
    }
    translator.typing.cast(e, column.ty)
}

// --- DELETE ------------------------------------------------------------------------------------

/// Binds DELETE: a query for row ids under a Delete.
pub(crate) fn delete(binder: &Binder, d: &Delete) -> Result<Bound> {
    let clauses = [
        (!d.tables.is_empty(), "DELETE of several tables"),
        (d.using.is_some(), "DELETE … USING"),
        (d.returning.is_some(), "RETURNING"),
        (d.output.is_some(), "OUTPUT"),
        (!d.order_by.is_empty(), "DELETE … ORDER BY"),
        (d.limit.is_some(), "DELETE … LIMIT"),
    ];
    if let Some((_, what)) = clauses.iter().find(|c| c.0) {
        return Err(Error::unsupported(what));
    }
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &d.from;
    let [TableWithJoins { relation, joins }] = &from[..] else {
        return Err(Error::unsupported("DELETE from several tables"));
    };
    let TableFactor::Table { name, .. } = relation else {
        return Err(Error::unsupported("DELETE from anything but a table"));
    };
    if !joins.is_empty() {
        return Err(Error::unsupported("DELETE from a join"));
    }
    let context = PlannerContext::new(binder.catalog);
    let table = select::table_name(name)?;
    let entry = context.table(&table)?;
    let (id, label) = (entry.id, entry.name.clone());
    context.define(&table, Source::table_with_row_ids(entry));
    let query = row_id_query(&from[0], d.selection.clone())?;
    let mut translator = binder.translator();
    let (relation, _) = select::translate(binder, &context, &mut translator, &query)?;
    let root = Operator::Delete {
        table: id,
        name: label,
        row_id: relation.out[0],
        input: Box::new(relation.op),
    };
    Ok(select::finished(translator, root, Vec::new(), Statement::Delete))
}

/// `SELECT "row id" FROM table WHERE condition`.
fn row_id_query(from: &TableWithJoins, selection: Option<SqlExpr>) -> Result<Query> {
    let skeleton = Parser::parse_sql(&PostgreSqlDialect {}, "SELECT x FROM y");
    let Ok([datafusion_sql::sqlparser::ast::Statement::Query(query)]) = skeleton.as_deref() else {
        return Err(Error::internal("the query of a DELETE"));
    };
    let mut query = (**query).clone();
    if let SetExpr::Select(select) = &mut *query.body {
        let Select {
            projection,
            from: tables,
            selection: condition,
            ..
        } = &mut **select;
        *projection = vec![SelectItem::UnnamedExpr(SqlExpr::Identifier(Ident::with_quote(
            '"', ROW_ID,
        )))];
        *tables = vec![from.clone()];
        *condition = selection;
    }
    Ok(query)
}
