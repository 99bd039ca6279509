//! Constraints of a table: PRIMARY KEY, UNIQUE, CHECK and FOREIGN KEY, of columns and of the table.

use super::deferral::deferral;
use super::operator_class::must_compare;
use super::scope::{Clause, Item, Level};
use super::{Binder, OutputColumn, error, fold};
use frazil_catalog::{NewConstraint, NewConstraintKind, QualifiedName, multiple_primary_keys, nearest};
use frazil_functions::Operand;
use frazil_plan::subquery::has_subquery;
use frazil_types::{Error, Result, Schema, Span, SqlState};
use sqlparser::ast::{
    CheckConstraint, ColumnOption, ColumnOptionDef, Expr as SqlExpr, Ident, IndexColumn, IndexOption,
    IndexType, NullsDistinctOption, PrimaryKeyConstraint, Spanned, TableConstraint, UniqueConstraint,
};

/// A table whose constraints are bound.
pub(super) struct Target<'s> {
    /// Its name.
    pub name: &'s QualifiedName,
    /// Its columns.
    pub schema: &'s Schema,
}

impl Target<'_> {
    /// Position of a column that a constraint names.
    fn position(&self, name: &str, span: Span) -> Result<usize> {
        let found = self.schema.index_of(name);
        found.ok_or_else(|| {
            let message = format!("column \"{name}\" named in key does not exist");
            let missing = error(SqlState::UNDEFINED_COLUMN, message, span);
            match nearest(name, self.schema.columns.iter().map(|c| c.name.as_str())) {
                Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
                None => missing,
            }
        })
    }
}

/// Constraints of a statement, each with where it stands.
#[derive(Default)]
pub(super) struct Constraints {
    found: Vec<(u32, NewConstraint)>,
}

impl Constraints {
    /// Adds one that stands at a place.
    pub fn push(&mut self, span: Span, constraint: NewConstraint) {
        self.found.push((span.start, constraint));
    }

    /// The constraints in the order in which they are written. 42P16 for two primary keys.
    pub fn in_order(mut self, table: &str) -> Result<Vec<NewConstraint>> {
        let is_primary = |c: &&(u32, NewConstraint)| matches!(c.1.kind, NewConstraintKind::PrimaryKey { .. });
        if self.found.iter().filter(is_primary).count() > 1 {
            return Err(multiple_primary_keys(table));
        }
        self.found.sort_by_key(|c| c.0);
        Ok(self.found.into_iter().map(|c| c.1).collect())
    }
}

impl<'a> Binder<'a> {
    /// Adds the constraint that a column's option is, if it is one. The column is the one at `position`, and its name
    /// is at `span`.
    pub(super) fn column_constraint(
        &mut self,
        target: &Target<'_>,
        (position, span): (usize, Span),
        option: &'a ColumnOptionDef,
        constraints: &mut Constraints,
    ) -> Result<()> {
        let columns = vec![position];
        let check_type = || must_compare(target.schema.columns[position].ty, span);
        let kind = match &option.option {
            ColumnOption::PrimaryKey(key) => {
                let deferral = deferral(&key.characteristics)?;
                check_type()?;
                NewConstraintKind::PrimaryKey { columns, deferral }
            }
            ColumnOption::Unique(key) => {
                let deferral = deferral(&key.characteristics)?;
                check_type()?;
                let nulls_distinct = key.nulls_distinct != NullsDistinctOption::NotDistinct;
                NewConstraintKind::Unique {
                    columns,
                    nulls_distinct,
                    deferral,
                }
            }
            ColumnOption::Check(check) => self.check(target, check)?,
            ColumnOption::ForeignKey(key) => {
                let column = target.schema.columns[position].name.clone();
                self.foreign_key(target, vec![column], key)?
            }
            _ => return Ok(()),
        };
        let name = option.name.as_ref().map(fold);
        constraints.found.push((span.start, NewConstraint { name, kind }));
        Ok(())
    }

    /// Adds a constraint of the table.
    pub(super) fn table_constraint(
        &mut self,
        target: &Target<'_>,
        constraint: &'a TableConstraint,
        constraints: &mut Constraints,
    ) -> Result<()> {
        let span = self.place.span(constraint.span());
        let (name, kind) = match constraint {
            TableConstraint::PrimaryKey(key) => (&key.name, self.primary_key(target, key)?),
            TableConstraint::Unique(key) => (&key.name, self.unique(target, key)?),
            TableConstraint::Check(check) => (&check.name, self.check(target, check)?),
            TableConstraint::ForeignKey(key) => {
                let columns = key.columns.iter().map(fold).collect();
                (&key.name, self.foreign_key(target, columns, key)?)
            }
            TableConstraint::PrimaryKeyUsingIndex(_) | TableConstraint::UniqueUsingIndex(_) => {
                return Err(Error::unsupported("a constraint USING INDEX").at_span(span));
            }
            TableConstraint::Index(_) | TableConstraint::FulltextOrSpatial(_) => {
                return Err(Error::unsupported("INDEX in a table's definition")
                    .with_hint("write CREATE INDEX")
                    .at_span(span));
            }
        };
        let name = name.as_ref().map(fold);
        constraints.found.push((span.start, NewConstraint { name, kind }));
        Ok(())
    }

    fn primary_key(&self, target: &Target<'_>, key: &PrimaryKeyConstraint) -> Result<NewConstraintKind> {
        refuse_options(&key.index_name, &key.index_type, &key.index_options)?;
        let deferral = deferral(&key.characteristics)?;
        let columns = self.key_columns(target, &key.columns, "primary key")?;
        Ok(NewConstraintKind::PrimaryKey { columns, deferral })
    }

    fn unique(&self, target: &Target<'_>, key: &UniqueConstraint) -> Result<NewConstraintKind> {
        refuse_options(&key.index_name, &key.index_type, &key.index_options)?;
        let deferral = deferral(&key.characteristics)?;
        let columns = self.key_columns(target, &key.columns, "unique")?;
        let nulls_distinct = key.nulls_distinct != NullsDistinctOption::NotDistinct;
        Ok(NewConstraintKind::Unique {
            columns,
            nulls_distinct,
            deferral,
        })
    }

    /// Positions of a key's columns. 42703, 42701 for one that stands twice.
    fn key_columns(&self, target: &Target<'_>, key: &[IndexColumn], what: &str) -> Result<Vec<usize>> {
        let last = key.last().map_or(Span::NONE, |part| self.place.span(part.span()));
        super::list_limits::index_columns(key.len(), last)?;
        let mut columns = Vec::with_capacity(key.len());
        for part in key {
            let (SqlExpr::Identifier(name), None) = (&part.column.expr, &part.operator_class) else {
                let text = part.to_string();
                return Err(self.syntax_error(&text, self.place.span(part.span())));
            };
            let span = self.span(name);
            let options = &part.column.options;
            if options.asc.is_some() || options.nulls_first.is_some() {
                return Err(self.syntax_error(&part.column.options.to_string(), span));
            }
            let position = target.position(&fold(name), span)?;
            if columns.contains(&position) {
                let message = format!("column \"{}\" appears twice in {what} constraint", fold(name));
                return Err(error(SqlState::DUPLICATE_COLUMN, message, span));
            }
            must_compare(target.schema.columns[position].ty, span)?;
            columns.push(position);
        }
        Ok(columns)
    }

    /// A CHECK's text, and the columns that it reads.
    pub(super) fn check(
        &mut self,
        target: &Target<'_>,
        check: &'a CheckConstraint,
    ) -> Result<NewConstraintKind> {
        if check.enforced == Some(false) {
            return Err(Error::unsupported("NOT ENFORCED"));
        }
        let (bound, columns) = self.over_columns(target, &check.expr)?;
        let span = bound.span();
        let condition = self.typing.predicate(bound, "CHECK")?;
        if has_subquery(&condition) {
            return Err(Error::unsupported("a subquery in a check constraint").at_span(span));
        }
        Ok(NewConstraintKind::Check {
            expression: self.written(&check.expr),
            columns,
            is_valid: true,
            of_domain: None,
        })
    }

    /// An expression over the columns of a table, and the positions of those that it reads.
    pub(super) fn over_columns(
        &mut self,
        target: &Target<'_>,
        expression: &'a SqlExpr,
    ) -> Result<(Operand, Vec<usize>)> {
        let mut columns = Vec::with_capacity(target.schema.columns.len());
        for column in &target.schema.columns {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            columns.push(OutputColumn::new(column.name.as_str(), id));
        }
        let ids: Vec<_> = columns.iter().map(|c| c.id).collect();
        let named_before = self.references.len();
        self.levels.push(Level {
            items: vec![Item::named(&target.name.name, columns).in_schema(&target.name.schema)],
            clause: Clause::Check,
            ..Level::default()
        });
        let bound = self.expression(expression);
        self.levels.pop();
        let named = &self.references[named_before..];
        let read = |id| named.iter().any(|reference| reference.id == id);
        let columns = (0..ids.len()).filter(|&at| read(ids[at])).collect();
        Ok((bound?, columns))
    }

    /// The text of an expression of a definition, as it is written.
    pub(super) fn written(&self, e: &SqlExpr) -> String {
        let at = self.place.span(e.span());
        let holds = |s: &&Span| at.is_some() && s.start <= at.start && at.start < s.end;
        let written = self.definitions.iter().find(holds);
        let text = written.and_then(|s| self.kept_text(s.start as usize..s.end as usize));
        text.unwrap_or_else(|| e.to_string())
    }
}

fn refuse_options(name: &Option<Ident>, ty: &Option<IndexType>, options: &[IndexOption]) -> Result<()> {
    super::refuse::first(&[
        (
            name.is_some(),
            "an index's name in a constraint (write CONSTRAINT name)",
        ),
        (ty.is_some(), "USING in a constraint"),
        (!options.is_empty(), "index options in a constraint"),
    ])
}
