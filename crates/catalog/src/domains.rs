//! Domains: types with a default and conditions. A value of a domain is one of its base type: what a domain asks is
//! asked where a value becomes one, by a cast, and of rows by constraints of their table, which columns of a domain
//! get from it. Columns of a domain have its default and its NOT NULL unless they declare their own: all of this
//! changes with the domain.

use crate::object_names::choose;
use crate::user_types::{TypeEntry, TypeKind};
use crate::{
    Catalog, Constraint, ConstraintKind, NewConstraint, NewConstraintKind, QualifiedName, TableEntry,
    identifier,
};
use frazil_types::{ColumnDef, ColumnDefault, Error, LogicalType, ObjectId, Result, SqlState};
use std::sync::Arc;

/// What a domain is.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The type of its values, which is no domain.
    pub base: LogicalType,
    /// Whether NULL is among them.
    pub nullable: bool,
    /// What columns get that have no default of their own.
    pub default: Option<ColumnDefault>,
    /// Its conditions, in the order in which they were made.
    pub checks: Vec<DomainCheck>,
}

/// A condition of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainCheck {
    /// Its identity. [`Constraint::NO_ID`] until the catalog gives it: in a domain to be created, and in entries that a
    /// directory kept before these checks had one.
    pub id: ObjectId,
    /// Its name, unlike those of the domain's other conditions.
    pub name: String,
    /// The condition as SQL text, in which the value is called `value`.
    pub expression: String,
    /// False for NOT VALID: rows that were there before it may violate it.
    pub is_valid: bool,
}

impl Domain {
    /// A condition by its name.
    pub fn check(&self, name: &str) -> Option<&DomainCheck> {
        self.checks.iter().find(|check| check.name == name)
    }
}

/// The error's message of a value that a condition of a domain refuses.
pub fn domain_violation(domain: &str, check: &str) -> String {
    let (domain, check) = (identifier(domain), check.replace('"', "\"\""));
    format!("value for domain {domain} violates check constraint \"{check}\"")
}

impl Catalog {
    /// The next version, with one more domain. 3F000 without the schema, 42710 if the name is taken by a type or
    /// relation.
    pub fn create_domain(&self, name: &QualifiedName, mut domain: Domain) -> Result<Catalog> {
        let namespace = self.namespace(&name.schema)?;
        crate::qualified_name::refuse_temporary_type(namespace)?;
        self.refuse_type_name(name)?;
        let mut next = self.next();
        let id = next.take_id(namespace);
        for check in &mut domain.checks {
            check.id = next.take_id(namespace);
        }
        let entry = TypeEntry {
            id,
            namespace,
            name: name.name.clone(),
            kind: TypeKind::Domain(domain),
        };
        next.objects.put_type(Arc::new(entry));
        Ok(next)
    }

    /// A check of a domain by its identity, with the domain.
    pub fn check_of_domain(&self, id: ObjectId) -> Option<(&TypeEntry, &DomainCheck)> {
        let mut checks = self
            .domains()
            .flat_map(|(entry, domain)| domain.checks.iter().map(move |check| (entry, check)));
        checks.find(|(_, check)| check.id == id)
    }

    /// Gives ids to the checks of domains that have none, and connects the checks of tables with those that they
    /// repeat, by their texts: these are the domain's with the column in the place of the value. Returns the new
    /// entries of the tables concerned.
    pub(crate) fn identify_checks_of_domains(&mut self) -> Vec<Arc<TableEntry>> {
        let lacks_id = |check: &DomainCheck| check.id == Constraint::NO_ID;
        let lacks = |(_, domain): &(&TypeEntry, &Domain)| domain.checks.iter().any(lacks_id);
        let mut entries: Vec<TypeEntry> = self.domains().filter(lacks).map(|(e, _)| e.clone()).collect();
        entries.sort_by_key(|entry| entry.id);
        let mut changed: Vec<Arc<TableEntry>> = Vec::new();
        for mut entry in entries {
            let TypeKind::Domain(domain) = &mut entry.kind else {
                continue;
            };
            for check in domain.checks.iter_mut().filter(|check| lacks_id(check)) {
                check.id = self.take_id(entry.namespace);
                for table in self.connect(entry.id, check) {
                    changed.retain(|old| old.id != table.id);
                    changed.push(table);
                }
            }
            self.objects.put_type(Arc::new(entry));
        }
        changed
    }

    /// Connects the checks of the columns of a domain with one of its checks. Returns the new entries of their tables.
    fn connect(&mut self, domain: ObjectId, check: &DomainCheck) -> Vec<Arc<TableEntry>> {
        let mut changed = Vec::new();
        let tables: Vec<Arc<TableEntry>> = self.tables().cloned().collect();
        for table in tables {
            let mut entry = TableEntry::clone(&table);
            for (position, column) in table.schema.columns.iter().enumerate() {
                if column.domain_id() != Some(domain) {
                    continue;
                }
                let name = identifier(&column.name);
                let copy = entry
                    .constraints
                    .iter_mut()
                    .find_map(|other| match &mut other.kind {
                        ConstraintKind::Check {
                            expression,
                            columns,
                            of_domain: of_domain @ None,
                            ..
                        } if columns[..] == [position]
                            && is_asked_of(expression, &check.expression, &name) =>
                        {
                            Some(of_domain)
                        }
                        _ => None,
                    });
                if let Some(of_domain) = copy {
                    *of_domain = Some(check.id);
                }
            }
            if entry != *table {
                changed.push(self.put(entry));
            }
        }
        changed
    }

    /// The domains.
    pub fn domains(&self) -> impl Iterator<Item = (&TypeEntry, &Domain)> {
        self.types()
            .filter_map(|entry| Some((&**entry, entry.as_domain()?)))
    }
}

/// An action of ALTER DOMAIN.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterDomain {
    /// SET DEFAULT, DROP DEFAULT.
    SetDefault {
        /// The default of rows that are inserted from now on; `None` for NULL.
        default: Option<ColumnDefault>,
    },
    /// SET NOT NULL. No column of the domain may have NULL.
    SetNotNull,
    /// DROP NOT NULL.
    DropNotNull,
    /// ADD CONSTRAINT. All values of columns of the domain must satisfy it if it is valid.
    AddCheck {
        /// Its name; `None` if one is to be made for it.
        name: Option<String>,
        /// The condition as SQL text, in which the value is called `value`.
        expression: String,
        /// False for NOT VALID.
        is_valid: bool,
        /// The condition on each column of the domain.
        texts: Vec<ColumnText>,
    },
    /// VALIDATE CONSTRAINT. All values of columns of the domain must satisfy it.
    ValidateCheck {
        /// Its name.
        name: String,
    },
    /// DROP CONSTRAINT.
    DropCheck {
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME CONSTRAINT.
    RenameCheck {
        /// Its name.
        from: String,
        /// Its new name.
        to: String,
    },
}

/// The condition of a domain on a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnText {
    /// The table.
    pub table: ObjectId,
    /// The position of the column.
    pub column: usize,
    /// The condition as SQL text, in which the value has the column's name.
    pub text: String,
}

impl Catalog {
    /// The tables that have columns of a domain, with the positions of these, by their ids.
    pub fn columns_of_domain(&self, domain: ObjectId) -> Vec<(Arc<TableEntry>, Vec<usize>)> {
        let positions = |table: &Arc<TableEntry>| {
            let columns = &table.schema.columns;
            let found: Vec<usize> = (0..columns.len())
                .filter(|&at| columns[at].domain_id() == Some(domain))
                .collect();
            (!found.is_empty()).then(|| (table.clone(), found))
        };
        let mut found: Vec<_> = self.tables().filter_map(positions).collect();
        found.sort_by_key(|(table, _)| table.id);
        found
    }

    /// The next version, in which an action was done to a domain, and the tables whose columns changed with it; this
    /// version and none if there is nothing to do. Rows are not looked at.
    ///
    /// 42704 for an unknown constraint, 42710 for a name that is taken.
    pub(crate) fn change_domain(
        &self,
        entry: &TypeEntry,
        action: &AlterDomain,
    ) -> Result<(Catalog, Vec<Arc<TableEntry>>)> {
        let Some(old) = entry.as_domain() else {
            return Err(Error::internal("a domain that is another type"));
        };
        let (mut domain, mut next, id) = (old.clone(), self.next(), entry.id);
        let shown = identifier(&entry.name);
        let changed = match action {
            AlterDomain::SetDefault { default } => {
                domain.default.clone_from(default);
                next.change_columns(id, |column| take_default(column, &domain))
            }
            AlterDomain::SetNotNull | AlterDomain::DropNotNull => {
                domain.nullable = *action == AlterDomain::DropNotNull;
                next.change_columns(id, |column| take_null(column, &domain))
            }
            AlterDomain::AddCheck {
                name,
                expression,
                is_valid,
                texts,
            } => {
                let name = free_name(&domain, &entry.name, name.as_deref())?;
                let check = DomainCheck {
                    id: next.take_id(entry.namespace),
                    name,
                    expression: expression.clone(),
                    is_valid: *is_valid,
                };
                let changed = next.add_copies(id, &check, texts)?;
                domain.checks.push(check);
                changed
            }
            AlterDomain::ValidateCheck { name } => {
                let check = domain.checks.iter_mut().find(|check| check.name == *name);
                let check = check.ok_or_else(|| missing_check("of", name, &format!("\"{}\"", entry.name)))?;
                check.is_valid = true;
                let id = check.id;
                next.change_copies(id, |table, at| {
                    if let ConstraintKind::Check { is_valid, .. } = &mut table.constraints[at].kind {
                        *is_valid = true;
                    }
                })
            }
            AlterDomain::DropCheck { name, if_exists } => {
                let Some(at) = domain.checks.iter().position(|check| check.name == *name) else {
                    return match if_exists {
                        true => Ok((self.clone(), Vec::new())),
                        false => Err(missing_check("of", name, &format!("\"{}\"", entry.name))),
                    };
                };
                let gone = domain.checks.remove(at).id;
                next.change_copies(gone, |table, at| drop(table.constraints.remove(at)))
            }
            AlterDomain::RenameCheck { from, to } => {
                rename_check(&mut domain, from, to, &shown)?;
                Vec::new()
            }
        };
        next.objects.put_type(Arc::new(TypeEntry {
            kind: TypeKind::Domain(domain),
            ..entry.clone()
        }));
        Ok((next, changed))
    }

    /// Gives a column the default of its domain, or none if it has no domain.
    pub(crate) fn take_default_of_domain(&self, column: &mut ColumnDef) {
        column.default = None;
        if let Some(of) = &mut column.domain {
            of.gives_default = true;
            let entry = self.user_type_of(of.id);
            if let Some(domain) = entry.and_then(|entry| entry.as_domain()) {
                column.default.clone_from(&domain.default);
            }
        }
    }

    /// Takes a column's own NOT NULL away. The column stays NOT NULL if its domain is.
    pub(crate) fn take_null_of_domain(&self, column: &mut ColumnDef) {
        column.nullable = true;
        let entry = column.domain_id().and_then(|id| self.user_type_of(id));
        if let Some(domain) = entry.and_then(|entry| entry.as_domain()) {
            take_null(column, domain);
        }
    }

    /// Changes each column of a domain. Returns the tables with another entry.
    fn change_columns(
        &mut self,
        domain: ObjectId,
        mut change: impl FnMut(&mut ColumnDef),
    ) -> Vec<Arc<TableEntry>> {
        let mut changed = Vec::new();
        for (table, positions) in self.columns_of_domain(domain) {
            let mut entry = TableEntry::clone(&table);
            let columns = &mut Arc::make_mut(&mut entry.schema).columns;
            positions.into_iter().for_each(|at| change(&mut columns[at]));
            if entry != *table {
                changed.push(self.put(entry));
            }
        }
        changed
    }

    /// Changes the tables that have a check of a domain, for each time that they have it: the closure gets its
    /// position.
    fn change_copies(
        &mut self,
        check: ObjectId,
        change: impl Fn(&mut TableEntry, usize),
    ) -> Vec<Arc<TableEntry>> {
        let is_copy = |constraint: &Constraint| match constraint.kind {
            ConstraintKind::Check { of_domain, .. } => of_domain == Some(check),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => false,
        };
        let mut changed = Vec::new();
        let has_it = |table: &&Arc<TableEntry>| table.constraints.iter().any(is_copy);
        let tables: Vec<Arc<TableEntry>> = self.tables().filter(has_it).cloned().collect();
        for table in tables {
            let mut entry = TableEntry::clone(&table);
            for at in (0..table.constraints.len()).rev() {
                if is_copy(&table.constraints[at]) {
                    change(&mut entry, at);
                }
            }
            changed.push(self.put(entry));
        }
        changed
    }

    /// Gives the columns of a domain a check that the domain gets. An internal error if the texts are those of other
    /// columns.
    fn add_copies(
        &mut self,
        domain: ObjectId,
        check: &DomainCheck,
        texts: &[ColumnText],
    ) -> Result<Vec<Arc<TableEntry>>> {
        let mut changed = Vec::new();
        for (table, positions) in self.columns_of_domain(domain) {
            let mut copies = Vec::with_capacity(positions.len());
            for column in positions {
                let text = texts
                    .iter()
                    .find(|text| (text.table, text.column) == (table.id, column));
                let text = text.ok_or_else(|| Error::internal("a column of a domain that was not bound"))?;
                let kind = NewConstraintKind::Check {
                    expression: text.text.clone(),
                    columns: vec![column],
                    is_valid: check.is_valid,
                    of_domain: Some(check.id),
                };
                copies.push(NewConstraint { name: None, kind });
            }
            let (next, entry) = self.add_constraints(table.id, copies)?;
            *self = next;
            changed.push(entry);
        }
        Ok(changed)
    }
}

fn take_default(column: &mut ColumnDef, domain: &Domain) {
    if column.domain.is_some_and(|of| of.gives_default) {
        column.default.clone_from(&domain.default);
    }
}

fn take_null(column: &mut ColumnDef, domain: &Domain) {
    let Some(of) = &mut column.domain else { return };
    if column.nullable || of.gives_not_null {
        column.nullable = domain.nullable;
        of.gives_not_null = !domain.nullable;
    }
}

/// The name of a check that a domain gets. 42710 if the domain has a check of the name.
fn free_name(domain: &Domain, domain_name: &str, name: Option<&str>) -> Result<String> {
    match name {
        Some(name) if domain.check(name).is_some() => {
            let message = format!("constraint \"{name}\" for domain \"{domain_name}\" already exists");
            Err(Error::new(SqlState::DUPLICATE_OBJECT, message))
        }
        Some(name) => Ok(name.to_string()),
        None => Ok(choose(domain_name, "", "check", |name| {
            domain.check(name).is_some()
        })),
    }
}

/// Gives a check of a domain another name. 42704 without the check, 42710 if the name is taken.
fn rename_check(domain: &mut Domain, from: &str, to: &str, shown: &str) -> Result<()> {
    if domain.check(to).is_some() && domain.check(from).is_some() {
        let message = format!("constraint \"{to}\" for domain {shown} already exists");
        return Err(Error::new(SqlState::DUPLICATE_OBJECT, message));
    }
    let check = domain.checks.iter_mut().find(|check| check.name == from);
    check.ok_or_else(|| missing_check("for", from, shown))?.name = to.to_string();
    Ok(())
}

/// 42704.
fn missing_check(of: &str, name: &str, domain: &str) -> Error {
    let message = format!("constraint \"{name}\" {of} domain {domain} does not exist");
    Error::new(SqlState::UNDEFINED_OBJECT, message)
}

/// True if a text is a domain's condition with a column's name in the place of `value`.
fn is_asked_of(text: &str, condition: &str, column: &str) -> bool {
    const VALUE: &str = "value";
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut text, mut condition, mut before) = (text, condition, ' ');
    while let Some(next) = condition.chars().next() {
        let word: &str = &condition[..condition.find(|c| !is_word(c)).unwrap_or(condition.len())];
        if word.eq_ignore_ascii_case(VALUE)
            && !is_word(before)
            && let Some(rest) = text.strip_prefix(column)
        {
            (text, condition, before) = (rest, &condition[VALUE.len()..], 'e');
            continue;
        }
        let Some(rest) = text.strip_prefix(next) else {
            return false;
        };
        (text, condition, before) = (rest, &condition[next.len_utf8()..], next);
    }
    text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_asked_of;

    #[test]
    fn a_condition_is_found_under_a_columns_name() {
        assert!(is_asked_of(
            "a > 0 and f(a) <> 'values'",
            "VALUE > 0 and f(value) <> 'values'",
            "a"
        ));
        assert!(is_asked_of("\"A b\" > 0", "value > 0", "\"A b\""));
        assert!(is_asked_of("value > 0", "value > 0", "value"));
        assert!(!is_asked_of("a > 1", "value > 0", "a"));
        assert!(!is_asked_of("a > 0 ", "value > 0", "a"));
        assert!(!is_asked_of("b > 0", "value > 0", "a"));
    }
}
