//! Domains: CREATE DOMAIN, columns of a domain, and values that are cast to one.

use super::constraints::{Constraints, Target};
use super::rename::Renamed;
use super::scope::{Clause, Item};
use super::{Binder, OutputColumn, Relation, TableEntry, error};
use crate::parse::VALUE;
use crate::{Bound, Definition};
use frazil_catalog::{
    Constraint, ConstraintKind, Domain, DomainCheck, NewConstraint, NewConstraintKind, QualifiedName,
    TypeEntry, domain_violation, identifier,
};
use frazil_functions::{Operand, not_null, satisfying};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{ColumnDef, Error, ObjectId, Result, Schema, Span, SqlState};
use sqlparser::ast::{ColumnOption, CreateTable};
use std::sync::Arc;

/// Binds CREATE DOMAIN, which was read as a table with a column.
pub(crate) fn create_domain<'a>(mut binder: Binder<'a>, create: &'a CreateTable) -> Result<Bound> {
    let name = binder.name_to_create(&create.name)?;
    let [definition] = &create.columns[..] else {
        return Err(binder.syntax_error(",", Span::NONE));
    };
    if !create.constraints.is_empty() {
        return Err(binder.syntax_error(",", Span::NONE));
    }
    binder.takes_parameters = false;
    let column = binder.column_definition(definition)?;
    if column.domain.is_some() {
        return Err(Error::unsupported("a domain over a domain"));
    }
    let schema = Schema::new(vec![column]);
    let target = Target {
        name: &name,
        schema: &schema,
    };
    let mut constraints = Constraints::default();
    for option in &definition.options {
        let span = binder.span(&definition.name);
        let is_key = matches!(
            option.option,
            ColumnOption::PrimaryKey(_) | ColumnOption::Unique(_) | ColumnOption::ForeignKey(_)
        );
        if is_key {
            let message = "keys are not possible for domains";
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        binder.column_constraint(&target, (0, span), option, &mut constraints)?;
    }
    let mut checks: Vec<DomainCheck> = Vec::new();
    for constraint in constraints.in_order(&name.name)? {
        checks.extend(check_of(&name.name, constraint, &checks));
    }
    let column = &schema.columns[0];
    Ok(Bound::plain(Definition::CreateDomain {
        domain: Domain {
            base: column.ty,
            nullable: column.nullable,
            default: column.default.clone(),
            checks,
        },
        name,
    }))
}

/// A constraint as a condition of a domain, under its own name or one that no other has.
fn check_of(domain: &str, constraint: NewConstraint, others: &[DomainCheck]) -> Option<DomainCheck> {
    let NewConstraintKind::Check { expression, .. } = constraint.kind else {
        return None;
    };
    let is_free = |name: &String| !others.iter().any(|other| other.name == *name);
    let made = |number: usize| match number {
        0 => format!("{domain}_check"),
        n => format!("{domain}_check{n}"),
    };
    let name = constraint.name.or_else(|| (0..).map(made).find(is_free))?;
    Some(DomainCheck { name, expression })
}

impl Binder<'_> {
    /// What a column gets of the domain that it is declared with, if it says nothing else.
    pub(super) fn take_domain(&self, column: &mut ColumnDef, entry: &TypeEntry) {
        let Some(domain) = entry.as_domain() else { return };
        column.domain = Some(entry.id);
        column.nullable &= domain.nullable;
        column.default.clone_from(&domain.default);
    }

    /// The domain of an expression's values: that of a column, or of a cast.
    pub(super) fn domain_of(&self, e: &Expr) -> Option<ObjectId> {
        let id = if let ExprKind::Let { column, .. } = &e.kind {
            Some(*column)
        } else {
            e.as_column()
        };
        self.domains.get(&id?).copied()
    }

    /// The name of the domain that the only argument of `pg_typeof` is of.
    pub(super) fn domain_name(&self, arguments: &[Operand]) -> Option<String> {
        let [Operand::Typed(e)] = arguments else {
            return None;
        };
        let entry = self.catalog.user_type_of(self.domain_of(e)?)?;
        Some(identifier(&entry.name))
    }

    /// The columns of a table made of a query's rows, as far as they are of domains, and the checks that the table gets
    /// of these.
    pub(super) fn domains_of(
        &self,
        table: &QualifiedName,
        relation: &Relation,
    ) -> Result<(Schema, Vec<NewConstraint>)> {
        let column = |column: &OutputColumn| {
            let info = &self.columns[column.id];
            let mut made = ColumnDef::new(column.name.as_str(), info.ty);
            let domain = self
                .domains
                .get(&column.id)
                .and_then(|id| self.catalog.user_type_of(*id));
            if let Some(entry) = domain {
                self.take_domain(&mut made, &entry);
                // An outer join makes NULLs that no domain was asked about.
                made.nullable |= info.nullable;
            }
            made
        };
        let schema = Schema::new(relation.columns.iter().map(column).collect());
        let target = Target {
            name: table,
            schema: &schema,
        };
        let mut constraints = Constraints::default();
        for at in 0..schema.columns.len() {
            self.domain_checks(&target, (at, Span::NONE), &mut constraints)?;
        }
        let constraints = constraints.in_order(&table.name)?;
        Ok((schema, constraints))
    }

    /// Adds the conditions of the domain of a column, if it has one, as checks of the table.
    pub(super) fn domain_checks(
        &self,
        target: &Target<'_>,
        (position, span): (usize, Span),
        constraints: &mut Constraints,
    ) -> Result<()> {
        let column = &target.schema.columns[position];
        let entry = column.domain.and_then(|id| self.catalog.user_type_of(id));
        let Some(domain) = entry.as_ref().and_then(|entry| entry.as_domain()) else {
            return Ok(());
        };
        let as_constraint = |check: &DomainCheck| Constraint {
            id: Constraint::NO_ID,
            name: check.name.clone(),
            kind: ConstraintKind::Check {
                expression: check.expression.clone(),
                columns: vec![0],
            },
        };
        let of_value = TableEntry {
            id: ObjectId(0),
            oid: None,
            schema_name: String::new(),
            name: String::new(),
            schema: Arc::new(Schema::new(vec![ColumnDef::new(VALUE, column.ty)])),
            hidden: Vec::new(),
            row_count: 0,
            constraints: domain.checks.iter().map(as_constraint).collect(),
            indexes: Vec::new(),
        };
        let renamed = self
            .texts_after(&of_value, Renamed::Column(0, &column.name))?
            .checks;
        for check in &domain.checks {
            let other = renamed.iter().find(|(name, _)| *name == check.name);
            let kind = NewConstraintKind::Check {
                expression: other.map_or_else(|| check.expression.clone(), |(_, text)| text.clone()),
                columns: vec![position],
            };
            constraints.push(span, NewConstraint { name: None, kind });
        }
        Ok(())
    }

    /// A value of a domain's base type as one of the domain: fails where a row's is none. 23514, 23502.
    pub(super) fn through_domain(&mut self, value: Expr, entry: &TypeEntry) -> Result<Expr> {
        let Some(domain) = entry.as_domain() else {
            return Ok(value);
        };
        let span = value.span;
        let column = self.columns.add(VALUE, value.ty, value.nullable);
        self.domains.insert(column, entry.id);
        let mut body = Expr::column(column, &self.columns);
        if !domain.nullable {
            let message = format!("domain {} does not allow null values", identifier(&entry.name));
            body = not_null(body, &message);
        }
        for check in &domain.checks {
            let row = Item::named(&entry.name, vec![OutputColumn::new(VALUE, column)]);
            let bound = self.stored(&check.expression, vec![row], Clause::Check)?;
            let condition = self.typing.predicate(bound, "CHECK")?;
            body = satisfying(body, condition, &domain_violation(&entry.name, &check.name));
        }
        let (ty, nullable) = (body.ty, body.nullable);
        let kind = ExprKind::Let {
            column,
            value: Box::new(value),
            body: Box::new(body),
        };
        Ok(Expr::new(kind, ty, nullable).at(span))
    }
}
