//! CREATE TABLE: columns, NOT NULL, DEFAULT, options. What would promise more than is kept is refused.

use super::constraints::{Constraints, Target};
use super::expression::is_by_bytes;
use super::generated_columns::both;
use super::naming::to_create_temporary;
use super::scope::{Clause, Level};
use super::table_like::Copied;
use super::{Binder, Relation, error, finished, fold};
use crate::parse::UNTYPED;
use crate::{Bound, Writing};
use frazil_catalog::{
    ColumnSequence, CopiedComments, NewConstraint, NewIndex, OnCommit, QualifiedName, is_temporary_schema,
};
use frazil_functions::{CastContext, Operand};
use frazil_plan::subquery::has_subquery;
use frazil_plan::{ColumnId, Expr, Plan, value_by_parts};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{
    ColumnDef, ColumnDefault, Error, LogicalType, Result, Schema, Span, SqlState, Value, Zone,
};
use sqlparser::ast::{ColumnDef as SqlColumn, ColumnOption, CreateTable, DataType, Expr as SqlExpr};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Binds CREATE TABLE and CREATE TABLE AS.
pub(crate) fn create_table<'a>(mut binder: Binder<'a>, create: &'a CreateTable) -> Result<Bound> {
    refuse(create)?;
    let table = NewRelation::of(&binder, create)?;
    if let Some(query) = &create.query {
        let names = names_alone(&binder, create)?;
        let relation = binder.query(query)?;
        return table_of_query(binder, relation, names, table);
    }
    binder.takes_parameters = false;
    if table.is_there {
        // Nothing of the columns is looked at.
        return Ok(Bound::plain(
            table.with(Schema::new(Vec::new()), Parts::default()),
        ));
    }
    let name = table.name.clone();
    let defined = binder.defined_columns(create, &name)?;
    let mut schema = defined.schema;
    check_columns(&schema, |at| {
        defined.written[at].map_or(Span::NONE, |c| binder.span(&c.name))
    })?;
    for (at, column) in defined.written.iter().enumerate() {
        if let Some(column) = column {
            binder.generation(&name, &mut schema, at, column)?;
        }
    }
    let target = Target {
        name: &name,
        schema: &schema,
    };
    let mut constraints = Constraints::default();
    for (at, column) in defined.written.iter().enumerate() {
        let place = (at, column.map_or(Span::NONE, |column| binder.span(&column.name)));
        for option in column.iter().flat_map(|column| &column.options) {
            binder.column_constraint(&target, place, option, &mut constraints)?;
        }
        binder.domain_checks(&target, place, &mut constraints)?;
    }
    for constraint in &create.constraints {
        binder.table_constraint(&target, constraint, &mut constraints)?;
    }
    let (mut indexes, mut comments) = (Vec::new(), Vec::new());
    for copied in &defined.copied {
        comments.extend(copied.comments(indexes.len()));
        indexes.extend(binder.copied_constraints(copied, &target, &mut constraints)?);
    }
    let parts = Parts {
        constraints: constraints.in_order(&name.name)?,
        sequences: defined.sequences,
        indexes,
        comments,
        as_query: None,
    };
    Ok(Bound::plain(table.with(schema, parts)))
}

/// The table of CREATE TABLE without its columns.
struct NewRelation {
    name: QualifiedName,
    if_not_exists: bool,
    /// True if the table need not be created, because there is a relation of its name.
    is_there: bool,
    /// WITH (name = value, …).
    options: Vec<(String, Value)>,
    on_commit: OnCommit,
}

/// The parts of a table beside its columns.
#[derive(Default)]
struct Parts {
    constraints: Vec<NewConstraint>,
    sequences: Vec<ColumnSequence>,
    indexes: Vec<NewIndex>,
    comments: Vec<CopiedComments>,
    as_query: Option<Plan>,
}

impl NewRelation {
    /// The table that a statement names. 3F000, 42P16, 42601.
    fn of(binder: &Binder, create: &CreateTable) -> Result<NewRelation> {
        let name = name_of(binder, create)?;
        let if_not_exists = create.if_not_exists;
        Ok(NewRelation {
            is_there: if_not_exists && binder.catalog.has_relation(&name),
            name,
            if_not_exists,
            options: super::alter::options(binder, &create.table_options)?,
            on_commit: on_commit(create),
        })
    }

    /// The statement that creates the table with columns and other parts.
    fn with(self, schema: Schema, parts: Parts) -> Writing {
        Writing::CreateTable {
            name: self.name,
            schema,
            if_not_exists: self.if_not_exists,
            on_commit: self.on_commit,
            options: self.options,
            constraints: parts.constraints,
            sequences: parts.sequences,
            indexes: parts.indexes,
            comments: parts.comments,
            as_query: parts.as_query,
        }
    }
}

/// Binds CREATE TABLE AS above its query. `names`: what the first columns are called, with their places. 42601 for more
/// names than columns, 54011 for too many columns, unless the table is there and may be.
fn table_of_query(
    binder: Binder,
    mut relation: Relation,
    names: Vec<(String, Span)>,
    table: NewRelation,
) -> Result<Bound> {
    let last = relation.columns.last().map_or(Span::NONE, |c| c.span);
    super::list_limits::columns(relation.columns.len(), last)?;
    if let Some(more) = names.get(relation.columns.len())
        && !table.is_there
    {
        let message = "too many column names were specified";
        return Err(error(SqlState::SYNTAX_ERROR, message, more.1));
    }
    for (column, (name, _)) in relation.columns.iter_mut().zip(names) {
        column.name = name;
    }
    let is_there = table.is_there;
    let (of_domains, constraints) = binder.domains_of(&table.name, &relation)?;
    let mut schema = Schema::new(Vec::new());
    let bound = finished(binder, relation.op, relation.columns, |plan| {
        let column = |((name, id), of_domain): (&(String, ColumnId), ColumnDef)| ColumnDef {
            name: name.clone(),
            ty: plan.columns[*id].ty.in_zone(Zone::UTC),
            ..of_domain
        };
        schema = Schema::new(plan.output.iter().zip(of_domains.columns).map(column).collect());
        let parts = Parts {
            constraints,
            as_query: Some(plan),
            ..Parts::default()
        };
        table.with(schema.clone(), parts).into()
    })?;
    if !is_there {
        check_columns(&schema, |_| Span::NONE)?;
    }
    Ok(bound)
}

/// The name of the table. 3F000; 42P16 for ON COMMIT of a table that is not temporary.
fn name_of(binder: &Binder, create: &CreateTable) -> Result<QualifiedName> {
    let name = match create.temporary {
        true => {
            let written = binder.written_name(&create.name)?;
            to_create_temporary(binder.catalog, &written)
                .map_err(|e| e.at_span(binder.name_span(&create.name)))?
        }
        false => binder.name_to_create(&create.name)?,
    };
    if create.on_commit.is_some() && !is_temporary_schema(&name.schema) {
        let message = "ON COMMIT can only be used on temporary tables";
        return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, message));
    }
    Ok(name)
}

/// ON COMMIT.
fn on_commit(create: &CreateTable) -> OnCommit {
    match create.on_commit {
        None | Some(sqlparser::ast::OnCommit::PreserveRows) => OnCommit::Preserve,
        Some(sqlparser::ast::OnCommit::DeleteRows) => OnCommit::Delete,
        Some(sqlparser::ast::OnCommit::Drop) => OnCommit::Drop,
    }
}

/// The names of columns in CREATE TABLE … AS, and where they stand. 42601 for anything beside names.
fn names_alone(binder: &Binder, create: &CreateTable) -> Result<Vec<(String, Span)>> {
    let mut names = Vec::with_capacity(create.columns.len());
    for column in &create.columns {
        let span = binder.span(&column.name);
        if !is_untyped(column) || !create.constraints.is_empty() {
            return Err(binder.syntax_error(&column.name.value, span));
        }
        binder.not_reserved(&column.name)?;
        names.push((fold(&column.name), span));
    }
    Ok(names)
}

fn is_untyped(column: &SqlColumn) -> bool {
    matches!(&column.data_type, DataType::Custom(name, _) if name.0.last().and_then(|p| p.as_ident()).is_some_and(|i| i.value == UNTYPED))
        && column.options.is_empty()
}

fn check_columns(schema: &Schema, span: impl Fn(usize) -> Span) -> Result<()> {
    let last = schema.columns.len().checked_sub(1).map_or(Span::NONE, &span);
    super::list_limits::columns(schema.columns.len(), last)?;
    for (i, column) in schema.columns.iter().enumerate() {
        if schema.columns[..i].iter().any(|c| c.name == column.name) {
            let message = format!("column \"{}\" specified more than once", column.name);
            return Err(error(SqlState::DUPLICATE_COLUMN, message, span(i)));
        }
        super::system_columns::refuse_name(&column.name, span(i))?;
        if !column.ty.info().is_stored {
            return Err(Error::unsupported(format!("a column of type {}", column.ty)).at_span(span(i)));
        }
    }
    Ok(())
}

fn refuse(c: &CreateTable) -> Result<()> {
    super::refuse::first(&[
        (c.or_replace, "CREATE OR REPLACE TABLE"),
        (c.external, "CREATE EXTERNAL TABLE"),
        (c.like.is_some(), "CREATE TABLE … LIKE"),
        (c.clone.is_some(), "CREATE TABLE … CLONE"),
        (c.inherits.is_some(), "INHERITS"),
        (
            c.partition_by.is_some() || c.partition_of.is_some(),
            "PARTITION BY",
        ),
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
    ])
}

/// The columns of a table that is created.
struct Defined<'a> {
    schema: Schema,
    /// The definition of each column; `None` for one that LIKE copies.
    written: Vec<Option<&'a SqlColumn>>,
    /// The sequences that columns own.
    sequences: Vec<ColumnSequence>,
    /// The columns of each LIKE.
    copied: Vec<Copied>,
}

impl<'a> Binder<'a> {
    /// Binds the columns of a table, in the order in which they are written, with those that LIKE copies. 42601, 0A000
    /// without columns.
    fn defined_columns(&mut self, create: &'a CreateTable, name: &QualifiedName) -> Result<Defined<'a>> {
        let mut defined = Defined {
            schema: Schema::new(Vec::with_capacity(create.columns.len())),
            written: Vec::with_capacity(create.columns.len()),
            sequences: Vec::new(),
            copied: Vec::new(),
        };
        for at in 0..=create.columns.len() {
            for like in self.likes.iter().filter(|like| like.position == at) {
                let (columns, sequences) = (&mut defined.schema.columns, &mut defined.sequences);
                let copied = self.copied_columns(name, like, columns, sequences)?;
                defined.copied.push(copied);
                defined.written.resize(defined.schema.columns.len(), None);
            }
            let Some(c) = create.columns.get(at) else { break };
            if is_untyped(c) {
                return Err(self.syntax_error(&c.name.value, self.span(&c.name)));
            }
            let column = defined.schema.columns.len();
            let definition = self.column_definition(c)?;
            defined.schema.columns.push(definition);
            defined.written.push(Some(c));
            let sequence = self.column_sequence.take();
            let of_column = sequence.map(|sequence| ColumnSequence { column, ..sequence });
            defined.sequences.extend(of_column);
        }
        match defined.schema.columns.is_empty() {
            true => Err(Error::unsupported("a table without columns")),
            false => Ok(defined),
        }
    }

    pub(super) fn column_definition(&mut self, c: &'a SqlColumn) -> Result<ColumnDef> {
        let span = self.span(&c.name);
        self.not_reserved(&c.name)?;
        let serial = serial_type(&c.data_type);
        let (ty, domain) = match serial {
            Some(ty) => (ty, None),
            None => self.ty_or_domain(&c.data_type, span)?,
        };
        let mut column = ColumnDef::new(fold(&c.name), ty);
        if serial.is_some() {
            column.nullable = false;
            self.column_sequence = Some(self.sequence_of_column(&column, None, span)?);
        }
        if let Some(domain) = &domain {
            self.take_domain(&mut column, domain);
        }
        let (mut null, mut has_default) = (None, serial.is_some());
        for option in &c.options {
            match &option.option {
                ColumnOption::Null => null = Some(true),
                ColumnOption::NotNull => {
                    column.set_not_null();
                    null = null.or(Some(false));
                }
                ColumnOption::Default(_) if has_default => return Err(second_default(&column, span)),
                ColumnOption::Default(e) => {
                    has_default = true;
                    let default = self.default(&column, e)?;
                    column.set_default(default);
                }
                option @ ColumnOption::Generated { .. } => {
                    self.generated_option(&mut column, has_default, option, span)?;
                    has_default = true;
                }
                // Bound once all columns are known; a key makes its columns NOT NULL whatever NULL says.
                ColumnOption::PrimaryKey(_)
                | ColumnOption::Unique(_)
                | ColumnOption::ForeignKey(_)
                | ColumnOption::Check(_) => {}
                ColumnOption::Collation(name) if is_by_bytes(name) => {}
                ColumnOption::Collation(name) => {
                    return Err(Error::unsupported(format!("COLLATE {name}"))
                        .with_hint("strings compare by their UTF-8 bytes")
                        .at_span(span));
                }
                other => return Err(Error::unsupported(format!("the column option {other}")).at_span(span)),
            }
        }
        if null == Some(true) && !column.nullable {
            let message = format!(
                "conflicting NULL/NOT NULL declarations for column \"{}\"",
                column.name
            );
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        Ok(column)
    }

    /// Makes a column an identity column; `has_default`: it has a default already. 42601, 22023.
    pub(super) fn identity(
        &mut self,
        column: &mut ColumnDef,
        has_default: bool,
        always: bool,
        span: Span,
    ) -> Result<()> {
        if column.is_generated() {
            return Err(both(column, "identity and generation expression", span));
        }
        if has_default || column.default.is_some() {
            let is_identity = self
                .column_sequence
                .as_ref()
                .is_some_and(|s| s.identity.is_some());
            let what = match is_identity {
                true => "multiple identity specifications",
                false => "both default and identity specified",
            };
            let message = format!("{what} for column \"{}\"", column.name);
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        column.set_not_null();
        self.column_sequence = Some(self.sequence_of_column(column, Some(always), span)?);
        Ok(())
    }

    /// A DEFAULT: a value where it is a constant expression, else its text. `None` for NULL.
    pub(super) fn default(&mut self, column: &ColumnDef, e: &'a SqlExpr) -> Result<Option<ColumnDefault>> {
        self.levels.push(Level {
            clause: Clause::Default,
            ..Level::default()
        });
        let bound = self.expression(e);
        self.levels.pop();
        let bound = bound.map_err(|e| match e.state() {
            SqlState::UNDEFINED_COLUMN => {
                Error::unsupported("a column reference in a DEFAULT expression").at_span(e.span())
            }
            _ => e,
        })?;
        let span = bound.span();
        let number = match &bound {
            Operand::Typed(written) => constant_value(written)
                .ok()
                .flatten()
                .map(|value| (value, written.ty)),
            Operand::Unknown(_) => None,
        };
        let value = match self.default_cast(bound, column) {
            Ok(cast) if has_subquery(&cast) => {
                return Err(Error::unsupported("a subquery in a DEFAULT expression").at_span(span));
            }
            Ok(cast) => constant_value(&cast),
            Err(e) => Err(e),
        };
        match value {
            Ok(Some(Value::Null)) => Ok(None),
            // A later type of the column is given the number as it was written.
            Ok(Some(value)) if is_rounded(&value, column.ty, number) => {
                Ok(Some(ColumnDefault::Expression(self.written(e))))
            }
            Ok(Some(value)) => Ok(Some(ColumnDefault::Value(value))),
            Ok(None) => Ok(Some(ColumnDefault::Expression(self.written(e)))),
            // What fails by its value fails where it is needed.
            Err(failed) if FAIL_LATER.contains(&failed.state()) => {
                Ok(Some(ColumnDefault::Expression(self.written(e))))
            }
            Err(failed) => Err(failed.at_span(span)),
        }
    }

    /// The value of a default or a generated column as the column's type. 42804.
    pub(super) fn default_cast(&self, bound: Operand, column: &ColumnDef) -> Result<Expr> {
        let (span, ty) = (bound.span(), bound.ty());
        let cast = self.typing.cast(bound, column.ty, CastContext::Assignment, span);
        cast.map_err(|e| match ty {
            Some(ty) if matches!(e.state(), SqlState::CANNOT_COERCE | SqlState::DATATYPE_MISMATCH) => {
                let message = format!(
                    "column \"{}\" is of type {} but default expression is of type {}",
                    column.name,
                    column.ty.name(),
                    ty.name()
                );
                let hint = "You will need to rewrite or cast the expression.";
                error(SqlState::DATATYPE_MISMATCH, message, span).with_hint(hint)
            }
            _ => e,
        })
    }
}

/// 42601 for a DEFAULT of a column that has one, or is generated.
fn second_default(column: &ColumnDef, span: Span) -> Error {
    if column.is_generated() {
        return both(column, "default and generation expression", span);
    }
    let message = format!("multiple default values specified for column \"{}\"", column.name);
    error(SqlState::SYNTAX_ERROR, message, span)
}

/// The type of the values of a serial column; `None` for another type.
fn serial_type(ty: &DataType) -> Option<LogicalType> {
    let DataType::Custom(name, modifiers) = ty else {
        return None;
    };
    let [part] = &name.0[..] else {
        return None;
    };
    let name = fold(part.as_ident().filter(|_| modifiers.is_empty())?);
    match name.as_str() {
        "serial" | "serial4" => Some(LogicalType::Integer),
        "bigserial" | "serial8" => Some(LogicalType::BigInt),
        "smallserial" | "serial2" => Some(LogicalType::SmallInt),
        _ => None,
    }
}

/// True if a value has lost something of the number that it was written as. `written`: the number and its type.
fn is_rounded(value: &Value, ty: LogicalType, written: Option<(Value, LogicalType)>) -> bool {
    let Some((number, from)) = written.filter(|(_, from)| from.is_numeric() && ty.is_numeric()) else {
        return false;
    };
    let back = value_ops::cast(value, ty, from, CastLength::Refuse);
    back.is_ok_and(|back| {
        !ty.is_float() && value_ops::order_as(&back, &number, from) != Some(Ordering::Equal)
    })
}

/// Errors of a DEFAULT's value that statements get which need it, as in PostgreSQL, and not its definition.
pub(super) const FAIL_LATER: [SqlState; 4] = [
    SqlState::STRING_TRUNCATION,
    SqlState::NUMERIC_OUT_OF_RANGE,
    SqlState::DATETIME_OVERFLOW,
    SqlState::DIVISION_BY_ZERO,
];

/// The value of an expression of constants; `None` for one that is computed otherwise. Errors are those of its
/// arithmetic and casts.
pub(super) fn constant_value(e: &Expr) -> Result<Option<Value>> {
    value_by_parts(e, |part| Ok(constant_value(part)?.map(Cow::Owned)))
}
