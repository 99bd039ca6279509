//! Domains: CREATE DOMAIN, ALTER DOMAIN, columns of a domain, and values that are cast to one.

use super::constraints::{Constraints, Target};
use super::naming::{find_relation, find_type, missing_type};
use super::rename::Renamed;
use super::scope::{Clause, Item};
use super::{Binder, OutputColumn, Relation, TableEntry, error, fold};
use crate::parse::VALUE;
use crate::{Bound, CatalogView, Definition};
use frazil_catalog::{
    AlterDomain, AlterType, ColumnText, Constraint, ConstraintKind, Domain, DomainCheck, NewConstraint,
    NewConstraintKind, QualifiedName, TypeEntry, WrittenName, domain_violation, identifier,
};
use frazil_functions::{Blamed, Operand, not_null, satisfying};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{
    ColumnDef, ColumnDomain, Error, Kind, LogicalType, ObjectId, Result, Schema, Span, SqlState,
};
use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation as Operation, CheckConstraint, ColumnOption,
    CreateTable, Spanned, TableConstraint,
};
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

/// Binds ALTER DOMAIN, which was read as ALTER TABLE of a table with a column. 42704 without the type, 42809 for
/// another type, 42601 for actions that are only a table's.
pub(crate) fn alter_domain<'a>(mut binder: Binder<'a>, alter: &'a AlterTable) -> Result<Bound> {
    let written = binder.written_name(&alter.name)?;
    let found = find_type(binder.catalog, binder.catalog.path(), &written);
    let Some((_, entry)) = found else {
        return Err(not_a_domain(binder.catalog, &written));
    };
    let Some(domain) = entry.as_domain() else {
        return Err(error(
            SqlState::WRONG_OBJECT_TYPE,
            format!("{} is not a domain", identifier(&entry.name)),
            Span::NONE,
        ));
    };
    binder.takes_parameters = false;
    let [operation] = &alter.operations[..] else {
        return Err(binder.syntax_error(",", Span::NONE));
    };
    let action = binder.domain_action(&entry, domain, operation)?;
    Ok(Bound::plain(Definition::AlterType {
        id: entry.id,
        action: AlterType::Domain(action),
        tag: "ALTER DOMAIN",
    }))
}

/// 42809 for a table or a type of the system, 42704 if there is nothing of the name.
fn not_a_domain(catalog: &dyn CatalogView, written: &WrittenName) -> Error {
    let built_in = Kind::named(&written.name).filter(|_| written.schema.is_none());
    let name = match built_in {
        Some(kind) => kind.name().to_string(),
        None if find_relation(catalog, catalog.path(), written).is_some() => identifier(&written.name),
        None => return missing_type(catalog, written),
    };
    Error::new(SqlState::WRONG_OBJECT_TYPE, format!("{name} is not a domain"))
}

/// A table of the value of a domain.
fn table_of_value(name: String, ty: LogicalType, constraints: Vec<Constraint>) -> TableEntry {
    TableEntry {
        id: ObjectId(0),
        oid: None,
        schema_name: String::new(),
        name,
        schema: Arc::new(Schema::new(vec![ColumnDef::new(VALUE, ty)])),
        hidden: Vec::new(),
        row_count: 0,
        constraints,
        indexes: Vec::new(),
        materialized: None,
    }
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
    Some(DomainCheck {
        id: Constraint::NO_ID,
        name,
        expression,
        is_valid: true,
    })
}

impl<'a> Binder<'a> {
    /// An action of ALTER DOMAIN.
    fn domain_action(
        &mut self,
        entry: &TypeEntry,
        domain: &Domain,
        operation: &'a Operation,
    ) -> Result<AlterDomain> {
        Ok(match operation {
            Operation::AlterColumn { op, .. } => match op {
                AlterColumnOperation::SetDefault { value } => {
                    let column = ColumnDef::new(&entry.name, domain.base);
                    let default = self.default(&column, value)?;
                    AlterDomain::SetDefault { default }
                }
                AlterColumnOperation::DropDefault => AlterDomain::SetDefault { default: None },
                AlterColumnOperation::SetNotNull => AlterDomain::SetNotNull,
                AlterColumnOperation::DropNotNull => AlterDomain::DropNotNull,
                _ => return Err(self.syntax_error("ALTER", Span::NONE)),
            },
            Operation::AddConstraint {
                constraint: TableConstraint::Check(check),
                not_valid,
            } => self.domain_check(entry, domain, (check, !not_valid))?,
            Operation::AddConstraint { constraint, .. } => {
                let message = "keys are not possible for domains";
                return Err(error(
                    SqlState::SYNTAX_ERROR,
                    message,
                    self.place.span(constraint.span()),
                ));
            }
            Operation::ValidateConstraint { name } => AlterDomain::ValidateCheck { name: fold(name) },
            Operation::DropConstraint { name, if_exists, .. } => AlterDomain::DropCheck {
                name: fold(name),
                if_exists: *if_exists,
            },
            Operation::RenameConstraint { old_name, new_name } => AlterDomain::RenameCheck {
                from: fold(old_name),
                to: fold(new_name),
            },
            other => {
                let text = other.to_string();
                let word = text.split_whitespace().next().unwrap_or_default();
                return Err(self.syntax_error(word, Span::NONE));
            }
        })
    }

    /// ADD CONSTRAINT of a domain, with its texts on the columns that there are.
    fn domain_check(
        &mut self,
        entry: &TypeEntry,
        domain: &Domain,
        (check, is_valid): (&'a CheckConstraint, bool),
    ) -> Result<AlterDomain> {
        let name = QualifiedName::new("", &entry.name);
        let of_value = table_of_value(entry.name.clone(), domain.base, Vec::new());
        let target = Target {
            name: &name,
            schema: &of_value.schema,
        };
        let NewConstraintKind::Check { expression, .. } = self.check(&target, check)? else {
            return Err(Error::internal("a check that is another constraint"));
        };
        let made = DomainCheck {
            id: Constraint::NO_ID,
            name: String::new(),
            expression: expression.clone(),
            is_valid,
        };
        let mut texts = Vec::new();
        for (table, schema, positions) in self.catalog.columns_of_domain(entry.id) {
            for column in positions {
                let on_column = self.texts_on(&schema.columns[column], std::slice::from_ref(&made))?;
                let text = on_column.into_iter().next().unwrap_or_default();
                texts.push(ColumnText { table, column, text });
            }
        }
        Ok(AlterDomain::AddCheck {
            name: check.name.as_ref().map(fold),
            expression,
            is_valid,
            texts,
        })
    }
}

impl Binder<'_> {
    /// What a column gets of the domain that it is declared with, if it says nothing else.
    pub(super) fn take_domain(&self, column: &mut ColumnDef, entry: &TypeEntry) {
        let Some(domain) = entry.as_domain() else { return };
        column.domain = Some(ColumnDomain {
            id: entry.id,
            gives_default: true,
            gives_not_null: column.nullable && !domain.nullable,
        });
        column.nullable &= domain.nullable;
        column.default.clone_from(&domain.default);
    }

    /// Gives a column that declares no default that of its domain, if it has one.
    pub(super) fn take_default_of_domain(&self, column: &mut ColumnDef) {
        let Some(of) = &mut column.domain else { return };
        let entry = self.catalog.user_type_of(of.id);
        if let Some(domain) = entry.as_ref().and_then(|entry| entry.as_domain()) {
            of.gives_default = true;
            column.default.clone_from(&domain.default);
        }
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
                if let Some(domain) = &mut made.domain {
                    domain.gives_not_null = !made.nullable;
                }
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
        let entry = column.domain_id().and_then(|id| self.catalog.user_type_of(id));
        let Some(domain) = entry.as_ref().and_then(|entry| entry.as_domain()) else {
            return Ok(());
        };
        for (check, expression) in domain.checks.iter().zip(self.texts_on(column, &domain.checks)?) {
            let kind = NewConstraintKind::Check {
                expression,
                columns: vec![position],
                // The rows that there are have the default of the column, which was checked.
                is_valid: true,
                of_domain: Some(check.id),
            };
            constraints.push(span, NewConstraint { name: None, kind });
        }
        Ok(())
    }

    /// The texts of checks of a domain with the name of a column in the place of the value.
    fn texts_on(&self, column: &ColumnDef, checks: &[DomainCheck]) -> Result<Vec<String>> {
        let as_constraint = |check: &DomainCheck| Constraint {
            id: Constraint::NO_ID,
            name: check.name.clone(),
            kind: ConstraintKind::Check {
                expression: check.expression.clone(),
                columns: vec![0],
                is_valid: true,
                of_domain: None,
            },
        };
        let of_value = table_of_value(
            String::new(),
            column.ty,
            checks.iter().map(as_constraint).collect(),
        );
        let renamed = self
            .texts_after(&of_value, Renamed::Column(0, &column.name))?
            .checks;
        let text = |check: &DomainCheck| {
            let other = renamed.iter().find(|(name, _)| *name == check.name);
            other.map_or_else(|| check.expression.clone(), |(_, text)| text.clone())
        };
        Ok(checks.iter().map(text).collect())
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
        let blamed = Blamed {
            namespace: entry.namespace,
            domain: &entry.name,
        };
        if !domain.nullable {
            let message = format!("domain {} does not allow null values", identifier(&entry.name));
            body = not_null(body, blamed, &message);
        }
        for check in &domain.checks {
            let row = Item::named(&entry.name, vec![OutputColumn::new(VALUE, column)]);
            let bound = self.stored(&check.expression, vec![row], Clause::Check)?;
            let condition = self.typing.predicate(bound, "CHECK")?;
            let message = domain_violation(&entry.name, &check.name);
            body = satisfying(body, condition, blamed, (&check.name, &message));
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
