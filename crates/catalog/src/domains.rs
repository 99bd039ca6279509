//! Domains: types with a default and conditions. A value of a domain is one of its base type: what a domain asks is asked where a value
//! becomes one, by a cast, and of rows by constraints of their table, which columns of a domain get from it.

use crate::user_types::{TypeEntry, TypeKind};
use crate::{Catalog, Constraint, ConstraintKind, QualifiedName, TableEntry, identifier};
use frazil_types::{ColumnDefault, LogicalType, ObjectId, Result};
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

    /// Gives ids to the checks of domains that have none, and connects the checks of tables with those that they repeat:
    /// by their texts, which are the domain's with the column in the place of the value. Returns the new entries of the
    /// tables concerned.
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
