//! Rows of `pg_constraint`, and what other tables say of constraints.

use super::catalog_rows::{Seen, column_number, own_wanted_relations};
use super::cells::{Cells, list};
use super::named_relations::Naming;
use super::virtual_table::Context;
use super::wanted::Cell;
use crate::table_info::{check_text, definition};
use frazil_catalog::{
    Catalog, Constraint, ConstraintKind, Deferral, ForeignKey, ReferentialAction, TableEntry,
};
use frazil_types::{LogicalType, Result};

/// A constraint of a table.
pub(super) struct SeenConstraint<'a> {
    /// The name of the table's schema.
    pub schema: String,
    pub namespace: u32,
    pub table: &'a TableEntry,
    pub constraint: &'a Constraint,
    pub catalog: &'a Catalog,
}

/// All constraints of tables but those that they have because a column is of a domain.
pub(super) fn all<'a>(context: &'a Context<'_>) -> impl Iterator<Item = SeenConstraint<'a>> {
    of_tables(context, Naming::NONE, |_| true)
}

/// The constraints of the tables that `wants` takes, as [`all`] has them. Rows name the tables by `naming`.
pub(super) fn of_tables<'a>(
    context: &'a Context<'_>,
    naming: Naming,
    wants: impl Fn(&Seen<'a>) -> bool + 'a,
) -> impl Iterator<Item = SeenConstraint<'a>> {
    let tables = own_wanted_relations(context, naming).filter(wants);
    let tables = tables.filter_map(|seen| {
        let table = seen.table?;
        Some((seen, table))
    });
    tables.flat_map(move |(seen, table)| {
        let own = table
            .constraints
            .iter()
            .filter(|constraint| !constraint.is_of_domain());
        own.map(move |constraint| SeenConstraint {
            schema: seen.schema.to_string(),
            namespace: seen.namespace,
            table,
            constraint,
            catalog: context.catalog(),
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
            ConstraintKind::ForeignKey(key) => self.table.positions_of(&key.columns).unwrap_or_default(),
        }
    }

    /// The foreign key with its parent, if it is one.
    pub fn foreign_key(&self) -> Option<(&ForeignKey, &TableEntry)> {
        match &self.constraint.kind {
            ConstraintKind::ForeignKey(key) => Some((key, self.catalog.table_by_id(key.parent)?)),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::Check { .. } => None,
        }
    }

    /// The table that a key of it names, and the positions of its columns: the parent of a foreign key, else its own.
    pub fn used(&self) -> (&TableEntry, Vec<usize>) {
        match self.foreign_key() {
            Some((key, parent)) => (
                parent,
                parent.positions_of(&key.parent_columns).unwrap_or_default(),
            ),
            None => (self.table, self.columns()),
        }
    }

    /// Its letter in `contype`, and its kind in the standard's words.
    pub fn kind(&self) -> (&'static str, &'static str) {
        match self.constraint.kind {
            ConstraintKind::PrimaryKey { .. } => ("p", "PRIMARY KEY"),
            ConstraintKind::Unique { .. } => ("u", "UNIQUE"),
            ConstraintKind::Check { .. } => ("c", "CHECK"),
            ConstraintKind::ForeignKey(_) => ("f", "FOREIGN KEY"),
        }
    }

    /// Its definition, as PostgreSQL shows it.
    pub fn definition(&self) -> String {
        match &self.constraint.kind {
            ConstraintKind::Check {
                expression, is_valid, ..
            } => check_text(expression, *is_valid),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => {
                let name_of =
                    |table: &TableEntry| self.catalog.qualified(table.namespace, &table.name).to_string();
                definition(self.table, self.constraint, self.catalog, &name_of)
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
    let wants = |seen: &Seen<'_>| context.wants(&[("conrelid", Cell::Number(seen.oid))]);
    let naming = Naming {
        oid: "conrelid",
        name: "",
    };
    for seen in of_tables(context, naming, wants) {
        let constraint = seen.constraint;
        let names = [
            ("oid", Cell::Number(constraint.id.oid())),
            ("conname", Cell::Text(&constraint.name)),
        ];
        if !context.wants(&names) {
            continue;
        }
        let deferral = seen.table.deferral_of(constraint);
        let is_check = seen.kind().0 == "c";
        let row = Cells::new()
            .with("oid", constraint.id.oid())
            .with("conname", constraint.name.as_str())
            .with("connamespace", seen.namespace)
            .with("contype", seen.kind().0)
            .with("condeferrable", deferral != Deferral::Never)
            .with("condeferred", deferral == Deferral::Deferred)
            .with("conrelid", seen.table.id.oid())
            .with("conislocal", true)
            .with("connoinherit", !is_check)
            .with("conkey", list(&seen.numbers(), LogicalType::SmallInt)?);
        let bin = match &constraint.kind {
            ConstraintKind::Check { expression, .. } => Some(expression.as_str()),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => None,
        };
        rows.push(of_foreign_key(row.with("conbin", bin), &seen)?);
    }
    rows.extend(of_domains(context.catalog()));
    Ok(rows)
}

/// The checks of domains.
fn of_domains(catalog: &Catalog) -> impl Iterator<Item = Cells> {
    let checks = catalog
        .domains()
        .flat_map(|(entry, domain)| domain.checks.iter().map(move |check| (entry, check)));
    checks.map(|(entry, check)| {
        Cells::new()
            .with("oid", check.id.oid())
            .with("conname", check.name.as_str())
            .with("connamespace", entry.namespace.oid())
            .with("contype", "c")
            .with("condeferrable", false)
            .with("condeferred", false)
            .with("convalidated", check.is_valid)
            .with("conrelid", 0)
            .with("contypid", entry.id.oid())
            .with("conindid", 0)
            .with("confupdtype", " ")
            .with("confdeltype", " ")
            .with("confmatchtype", " ")
            .with("conislocal", true)
            .with("connoinherit", false)
            .with("conbin", check.expression.as_str())
    })
}

/// A row with the values that depend on whether the constraint is a foreign key.
fn of_foreign_key(row: Cells, seen: &SeenConstraint<'_>) -> Result<Cells> {
    let index = seen.constraint.index();
    let Some((key, parent)) = seen.foreign_key() else {
        return Ok(row
            .with("convalidated", seen.constraint.is_valid())
            .with("conindid", index.map_or(0, |index| index.oid()))
            .with("confupdtype", " ")
            .with("confdeltype", " ")
            .with("confmatchtype", " "));
    };
    let numbers = |table: &TableEntry, positions: Vec<usize>| {
        let columns = &table.schema.columns;
        let numbers = positions
            .into_iter()
            .map(|at| i64::from(column_number(columns, at)));
        list(&numbers.collect::<Vec<_>>(), LogicalType::SmallInt)
    };
    let row = row
        .with("convalidated", key.is_valid)
        .with("conindid", key.index.oid())
        .with("confrelid", parent.id.oid())
        .with("confupdtype", action_letter(key.on_update))
        .with("confdeltype", action_letter(key.on_delete))
        .with("confmatchtype", if key.match_full { "f" } else { "s" })
        .with(
            "confkey",
            numbers(parent, parent.positions_of(&key.parent_columns)?)?,
        );
    if key.set_columns.is_empty() {
        return Ok(row);
    }
    let set = seen.table.positions_of(&key.set_columns)?;
    Ok(row.with("confdelsetcols", numbers(seen.table, set)?))
}

/// The letter of an action in `confupdtype` and `confdeltype`.
fn action_letter(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "a",
        ReferentialAction::Restrict => "r",
        ReferentialAction::Cascade => "c",
        ReferentialAction::SetNull => "n",
        ReferentialAction::SetDefault => "d",
    }
}
