//! Rows of `pg_constraint`, and what other tables say of constraints.

use super::catalog_rows::{column_number, own_relations};
use super::cells::{Cells, list};
use super::virtual_table::Context;
use crate::domain_checks::ChecksOfDomains;
use crate::table_info::{check_text, definition};
use frazil_catalog::{Constraint, ConstraintKind, TableEntry};
use frazil_types::{LogicalType, Result};

/// A constraint of a table.
pub(super) struct SeenConstraint<'a> {
    /// The name of the table's schema.
    pub schema: String,
    pub namespace: u32,
    pub table: &'a TableEntry,
    pub constraint: &'a Constraint,
}

/// All constraints of tables but those that they have because a column is of a domain.
pub(super) fn all<'a>(context: &'a Context<'_>) -> impl Iterator<Item = SeenConstraint<'a>> {
    let tables = own_relations(context).filter_map(|seen| {
        let table = seen.table?;
        Some((seen, table))
    });
    tables.flat_map(|(seen, table)| {
        let of_domains = ChecksOfDomains::of(table, context.catalog());
        let own = table.constraints.iter().enumerate();
        let own = own.filter(move |(at, _)| !of_domains.has(*at));
        own.map(move |(_, constraint)| SeenConstraint {
            schema: seen.schema.to_string(),
            namespace: seen.namespace,
            table,
            constraint,
        })
    })
}

impl SeenConstraint<'_> {
    /// Positions of the columns that it is about, in its order.
    pub fn columns(&self) -> Vec<usize> {
        match &self.constraint.kind {
            ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => {
                let index = self.table.index(*index);
                index.map_or_else(Vec::new, |index| {
                    index.keys.iter().map(|key| key.column).collect()
                })
            }
            ConstraintKind::Check { columns, .. } => columns.clone(),
        }
    }

    /// Its letter in `contype`, and its kind in the standard's words.
    pub fn kind(&self) -> (&'static str, &'static str) {
        match self.constraint.kind {
            ConstraintKind::PrimaryKey { .. } => ("p", "PRIMARY KEY"),
            ConstraintKind::Unique { .. } => ("u", "UNIQUE"),
            ConstraintKind::Check { .. } => ("c", "CHECK"),
        }
    }

    /// Its definition, as PostgreSQL shows it.
    pub fn definition(&self) -> String {
        match &self.constraint.kind {
            ConstraintKind::Check { expression, .. } => check_text(expression),
            ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => {
                definition(self.table, self.constraint)
            }
        }
    }

    /// The numbers of its columns.
    fn numbers(&self) -> Vec<i64> {
        let columns = self.columns().into_iter();
        columns
            .map(|column| column_number(&self.table.schema.columns, column).into())
            .collect()
    }
}

pub(super) fn constraints(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    for seen in all(context) {
        let constraint = seen.constraint;
        let is_check = seen.kind().0 == "c";
        let row = Cells::new()
            .with("oid", constraint.id.oid())
            .with("conname", constraint.name.as_str())
            .with("connamespace", seen.namespace)
            .with("contype", seen.kind().0)
            .with("convalidated", true)
            .with("conrelid", seen.table.id.oid())
            .with("conindid", constraint.index().map_or(0, |index| index.oid()))
            .with("confupdtype", " ")
            .with("confdeltype", " ")
            .with("confmatchtype", " ")
            .with("conislocal", true)
            .with("connoinherit", !is_check)
            .with("conkey", list(&seen.numbers(), LogicalType::SmallInt)?);
        let bin = match &constraint.kind {
            ConstraintKind::Check { expression, .. } => Some(expression.as_str()),
            ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => None,
        };
        rows.push(row.with("conbin", bin));
    }
    Ok(rows)
}
