//! Domains: types with a default and conditions. A value of a domain is one of its base type: what a domain asks is asked where a value
//! becomes one, by a cast, and of rows by constraints of their table, which columns of a domain get from it.

use crate::user_types::{TypeEntry, TypeKind};
use crate::{Catalog, QualifiedName, identifier};
use frazil_types::{ColumnDefault, LogicalType, Result};
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
    /// Its name, unlike those of the domain's other conditions.
    pub name: String,
    /// The condition as SQL text, in which the value is called `value`.
    pub expression: String,
}

/// The error's message of a value that a condition of a domain refuses.
pub fn domain_violation(domain: &str, check: &str) -> String {
    let (domain, check) = (identifier(domain), check.replace('"', "\"\""));
    format!("value for domain {domain} violates check constraint \"{check}\"")
}

impl Catalog {
    /// The next version, with one more domain. 3F000 without the schema, 42710 if the name is taken by a type or
    /// relation.
    pub fn create_domain(&self, name: &QualifiedName, domain: Domain) -> Result<Catalog> {
        let namespace = self.namespace(&name.schema)?;
        crate::qualified_name::refuse_temporary_type(namespace)?;
        self.refuse_type_name(name)?;
        let mut next = self.next();
        let entry = TypeEntry {
            id: next.take_id(namespace),
            namespace,
            name: name.name.clone(),
            kind: TypeKind::Domain(domain),
        };
        next.objects.put_type(Arc::new(entry));
        Ok(next)
    }

    /// The domains.
    pub fn domains(&self) -> impl Iterator<Item = (&TypeEntry, &Domain)> {
        self.types()
            .filter_map(|entry| Some((&**entry, entry.as_domain()?)))
    }
}
