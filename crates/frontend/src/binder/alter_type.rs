//! ALTER TABLE … ALTER COLUMN … TYPE: the new type, the expression that gives the new values, and the new default.

use super::alter_table::Altered;
use super::constraints::Target;
use super::create_table::{FAIL_LATER, constant_value};
use super::rename::Renamed;
use super::scope::{Clause, Item};
use super::{Binder, OutputColumn, TableEntry, error, typed_literals};
use frazil_catalog::{AlterAction, ConstraintKind, RowTexts, SequenceOptions, SetType};
use frazil_functions::{CastContext, Operand};
use frazil_plan::Expr;
use frazil_plan::subquery::has_subquery;
use frazil_types::{ColumnDef, ColumnDefault, Error, LogicalType, Result, Schema, Span, SqlState, Value};
use sqlparser::ast::{DataType, Expr as SqlExpr};

impl<'a> Binder<'a> {
    /// The actions that give a column another type. 42804 if an assignment does not cast the values or the default to
    /// it; 0A000 for a column that has a domain or that a generated column reads, and for a column that got another
    /// type before. A type that the column had already is replaced by the next one.
    pub(super) fn column_type(
        &mut self,
        altered: &mut Altered<'a>,
        (column, span): (usize, Span),
        data_type: &DataType,
        using: Option<&'a SqlExpr>,
    ) -> Result<Vec<AlterAction>> {
        let before = altered
            .before
            .get_or_insert_with(|| altered.schema.clone())
            .clone();
        let old = &before.columns[column];
        let (ty, domain) = self.ty_or_domain(data_type, span)?;
        self.refuse_type(altered, old, (ty, domain.is_some(), using.is_some()), span)?;
        match using {
            Some(expression) => self.check_using(altered, &before, (old, ty), expression)?,
            None => self.check_cast(old, ty, span)?,
        }
        self.check_generated(altered, old, ty, span)?;
        let default = self.default_in(old, ty, span)?;
        let new = &mut altered.schema.columns[column];
        new.ty = ty;
        new.default.clone_from(&default);
        let mut set = SetType {
            column,
            ty,
            using: using.map(|expression| self.written(expression)),
            default,
            readers: Vec::new(),
            texts: RowTexts::default(),
        };
        if !set.keeps_values(old.ty) {
            set.texts = self.typed_checks(&altered.entry, &old.name)?;
        }
        let mut actions = vec![AlterAction::SetType(set)];
        if let Some(ColumnDefault::Identity { .. }) = old.default {
            actions.push(AlterAction::SetIdentity {
                column,
                always: None,
                options: SequenceOptions {
                    ty: Some(ty),
                    ..SequenceOptions::default()
                },
            });
        }
        Ok(actions)
    }

    /// The CHECK constraints that read a column, with the types of their literals.
    fn typed_checks(&self, entry: &TableEntry, column: &str) -> Result<RowTexts> {
        let mut texts = self.texts_after(entry, Renamed::Literals)?;
        texts.generated.clear();
        let position = entry.schema.index_of(column);
        let reads = |name: &str| {
            let mut named = entry
                .constraints
                .iter()
                .filter(|constraint| constraint.name == name);
            named.any(|constraint| match &constraint.kind {
                ConstraintKind::Check { columns, .. } => position.is_some_and(|at| columns.contains(&at)),
                ConstraintKind::PrimaryKey { .. }
                | ConstraintKind::Unique { .. }
                | ConstraintKind::ForeignKey(_) => false,
            })
        };
        texts.checks.retain(|(name, _)| reads(name));
        Ok(texts)
    }

    /// Refuses what a column cannot become: 0A000, 22023 for an identity column that is not an integer, 42611 for USING
    /// of a generated column.
    fn refuse_type(
        &self,
        altered: &Altered<'a>,
        old: &ColumnDef,
        (ty, to_domain, has_using): (LogicalType, bool, bool),
        span: Span,
    ) -> Result<()> {
        let name = &old.name;
        let is_changed = altered
            .schema
            .columns
            .iter()
            .any(|c| c.name == *name && c.ty != old.ty);
        if is_changed {
            let what = format!("cannot alter type of column \"{name}\" twice");
            return Err(error(SqlState::FEATURE_NOT_SUPPORTED, what, span));
        }
        if to_domain || old.domain.is_some() {
            return Err(Error::unsupported("ALTER COLUMN … TYPE from or to a domain").at_span(span));
        }
        match old.default {
            Some(ColumnDefault::Generated { .. }) if has_using => {
                let message = "cannot specify USING when altering type of generated column";
                let detail = format!("Column \"{name}\" is a generated column.");
                Err(error(SqlState("42611"), message, span).with_detail(detail))
            }
            Some(ColumnDefault::Identity { .. }) if !ty.kind().is_integer() => {
                let message = "identity column type must be smallint, integer, or bigint";
                Err(error(SqlState::INVALID_PARAMETER, message, span))
            }
            _ => match generated_from(&altered.schema, name) {
                Some(reader) => {
                    let message = "cannot alter type of a column used by a generated column";
                    let detail = format!(
                        "Column \"{name}\" is used by generated column \"{}\".",
                        reader.name
                    );
                    Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span).with_detail(detail))
                }
                None => Ok(()),
            },
        }
    }

    /// 42804 if an assignment does not cast the expression of a generated column to a new type.
    fn check_generated(
        &mut self,
        altered: &Altered<'a>,
        old: &ColumnDef,
        ty: LogicalType,
        span: Span,
    ) -> Result<()> {
        let Some(ColumnDefault::Generated { text, .. }) = &old.default else {
            return Ok(());
        };
        let mut columns = Vec::with_capacity(altered.schema.columns.len());
        for column in &altered.schema.columns {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            columns.push(OutputColumn::new(column.name.as_str(), id));
        }
        let entry = &altered.entry;
        let row = Item::named(&entry.name, columns).in_schema(&entry.schema_name);
        let bound = self.stored(text, vec![row], Clause::Generated)?;
        let cast = self.typing.cast(bound, ty, CastContext::Assignment, span);
        cast.map(drop).map_err(|failed| {
            let what = format!("generation expression for column \"{}\"", old.name);
            not_automatic(failed, &what, ty, "", span)
        })
    }

    /// USING is an expression over the row that an assignment casts to the type: 42804, 0A000 for a subquery.
    fn check_using(
        &mut self,
        altered: &Altered<'a>,
        before: &Schema,
        (old, ty): (&ColumnDef, LogicalType),
        expression: &'a SqlExpr,
    ) -> Result<()> {
        let name = altered.entry.qualified();
        let target = Target {
            name: &name,
            schema: before,
        };
        let (bound, _) = self.over_columns(&target, expression)?;
        let span = bound.span();
        let cast = self.typing.cast(bound, ty, CastContext::Assignment, span);
        let cast = cast.map_err(|failed| {
            let what = format!("result of USING clause for column \"{}\"", old.name);
            not_automatic(failed, &what, ty, "You might need to add an explicit cast.", span)
        })?;
        match has_subquery(&cast) {
            true => Err(Error::unsupported("a subquery in a USING expression").at_span(span)),
            false => Ok(()),
        }
    }

    /// Values of the column are cast to the type by an assignment: 42804.
    fn check_cast(&mut self, old: &ColumnDef, ty: LogicalType, span: Span) -> Result<()> {
        let id = self.columns.add(old.name.as_str(), old.ty, old.nullable);
        let value = Operand::Typed(Expr::column(id, &self.columns).at(span));
        let cast = self.typing.cast(value, ty, CastContext::Assignment, span);
        cast.map(drop).map_err(|failed| {
            let what = format!("column \"{}\"", old.name);
            let hint = format!("You might need to specify \"USING {}::{ty}\".", old.name);
            not_automatic(failed, &what, ty, &hint, span)
        })
    }

    /// The default of a column in another type. 42804 if an assignment does not cast it; the errors of a value that
    /// does not fit.
    fn default_in(&mut self, old: &ColumnDef, ty: LogicalType, span: Span) -> Result<Option<ColumnDefault>> {
        let Some(ColumnDefault::Value(value)) = &old.default else {
            return Ok(old.default.clone());
        };
        let constant = Operand::Typed(Expr::constant(value.clone(), old.ty).at(span));
        let cast = self.typing.cast(constant, ty, CastContext::Assignment, span);
        let cast = cast.map_err(|failed| {
            let what = format!("default for column \"{}\"", old.name);
            not_automatic(failed, &what, ty, "", span)
        })?;
        match constant_value(&cast) {
            Ok(Some(Value::Null)) => Ok(None),
            Ok(Some(value)) => Ok(Some(ColumnDefault::Value(value))),
            // A row that takes the default fails, as in PostgreSQL, and not its definition.
            Err(failed) if FAIL_LATER.contains(&failed.state()) => {
                let text = typed_literals::literal(&value.display(old.ty).to_string(), old.ty);
                Ok(Some(ColumnDefault::Expression(text)))
            }
            Err(failed) => Err(failed.at_span(span)),
            Ok(None) => Err(Error::unsupported("this default in another type").at_span(span)),
        }
    }
}

/// The first generated column that reads a column.
fn generated_from<'a>(schema: &'a Schema, name: &str) -> Option<&'a ColumnDef> {
    let column = schema.index_of(name);
    let reads_it = |generated: &&ColumnDef| {
        let reads = generated.generated_reads().unwrap_or_default();
        column.is_some_and(|column| reads.contains(&column))
    };
    schema.columns.iter().find(reads_it)
}

/// 42804 in place of the error of a cast that there is not; other errors stay.
fn not_automatic(failed: Error, what: &str, ty: LogicalType, hint: &str, span: Span) -> Error {
    let is_missing = matches!(
        failed.state(),
        SqlState::CANNOT_COERCE | SqlState::DATATYPE_MISMATCH
    );
    if !is_missing {
        return failed;
    }
    let message = format!("{what} cannot be cast automatically to type {}", ty.name());
    let error = error(SqlState::DATATYPE_MISMATCH, message, span);
    match hint {
        "" => error,
        hint => error.with_hint(hint),
    }
}
