//! Checks of a table that come from the domains of its columns: they are made again with the columns, so that a table's
//! statement does not write them. Nor does it write a default or a NOT NULL that is the domain's.

use crate::table_info::shown;
use frazil_catalog::{Catalog, ConstraintKind, Domain, TableEntry, TypeEntry, identifier};
use frazil_types::{ColumnDef, ColumnDefault};

/// The default of a column; `None` if it is that of the column's domain, which the column has without saying so.
pub fn own_default<'c>(column: &'c ColumnDef, catalog: &Catalog) -> Option<&'c ColumnDefault> {
    let domain = column.domain.and_then(|id| catalog.user_type_of(id));
    let of_domain = domain.and_then(|entry| entry.as_domain()?.default.as_ref());
    (column.default.as_ref()).filter(|default| of_domain != Some(default))
}

/// The domains of a table's columns, and which of the table's constraints come from them.
pub struct ChecksOfDomains<'c> {
    domains: Vec<Option<&'c TypeEntry>>,
    /// By position among the constraints.
    is_of_domain: Vec<bool>,
}

impl<'c> ChecksOfDomains<'c> {
    /// Those of a table of the catalog.
    pub fn of(table: &TableEntry, catalog: &'c Catalog) -> ChecksOfDomains<'c> {
        let named = |id| catalog.types().find(|entry| entry.id == id).map(|entry| &**entry);
        let columns = &table.schema.columns;
        let mut found = ChecksOfDomains {
            domains: columns
                .iter()
                .map(|column| column.domain.and_then(named))
                .collect(),
            is_of_domain: vec![false; table.constraints.len()],
        };
        for (position, column) in columns.iter().enumerate() {
            let entry = found.domains[position];
            if let Some(domain) = entry.and_then(TypeEntry::as_domain) {
                found.mark(table, position, (&column.name, domain));
            }
        }
        found
    }

    /// Marks for each check of a column's domain one constraint that asks it of the column.
    fn mark(&mut self, table: &TableEntry, position: usize, (column, domain): (&str, &Domain)) {
        for check in &domain.checks {
            let is_it = |at: &usize| match &table.constraints[*at].kind {
                ConstraintKind::Check { expression, columns } => {
                    !self.is_of_domain[*at]
                        && columns[..] == [position]
                        && is_asked_of(expression, &check.expression, &identifier(column))
                }
                ConstraintKind::PrimaryKey { .. }
                | ConstraintKind::Unique { .. }
                | ConstraintKind::ForeignKey(_) => false,
            };
            if let Some(at) = (0..table.constraints.len()).find(is_it) {
                self.is_of_domain[at] = true;
            }
        }
    }

    /// True for each column whose domain is NOT NULL, by position.
    pub fn are_strict(&self) -> Vec<bool> {
        let is_strict = |entry: &Option<&TypeEntry>| {
            let domain = entry.and_then(TypeEntry::as_domain);
            domain.is_some_and(|domain| !domain.nullable)
        };
        self.domains.iter().map(is_strict).collect()
    }

    /// The name of each column's domain as a dump writes it, by position.
    pub fn names(&self, catalog: &Catalog) -> Vec<Option<String>> {
        let name = |entry: &Option<&TypeEntry>| {
            entry.map(|entry| shown(&catalog.qualified(entry.namespace, "").schema, &entry.name))
        };
        self.domains.iter().map(name).collect()
    }

    /// True if the constraint at a position comes from a domain.
    pub fn has(&self, at: usize) -> bool {
        self.is_of_domain[at]
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
