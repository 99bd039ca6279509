//! Rows of `pg_depend`: what each object depends on, and how: normally (`n`), so that it goes with CASCADE alone;
//! automatically (`a`), so that it goes unasked; or as a part (`i`), which does not go alone.

use super::catalog_rows::{all_defaults, column_number};
use super::cells::Cells;
use super::constraints::{SeenConstraint, all};
use super::numbers;
use super::virtual_table::Context;
use frazil_catalog::{Catalog, ConstraintKind, IndexEntry, SequenceOwner, TableEntry, sequences_of_default};
use frazil_types::Result;

/// The oids of the system tables that hold objects.
const CLASS: u32 = 1259;
const TYPE: u32 = 1247;
const CONSTRAINT: u32 = 2606;
const DEFAULT: u32 = 2604;
const NAMESPACE: u32 = 2615;
const REWRITE: u32 = 2618;

/// An object: the oid of its system table, its own, and the number of its column or 0.
type Address = (u32, u32, u32);

const NORMAL: &str = "n";
const AUTOMATIC: &str = "a";
const INTERNAL: &str = "i";

fn row((class, object, part): Address, on: Address, how: &str) -> Cells {
    Cells::new()
        .with("classid", class)
        .with("objid", object)
        .with("objsubid", part)
        .with("refclassid", on.0)
        .with("refobjid", on.1)
        .with("refobjsubid", on.2)
        .with("deptype", how)
}

pub(super) fn dependencies(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let mut rows = Vec::new();
    for relation in catalog.relations() {
        let (id, namespace) = (relation.id().oid(), relation.namespace().oid());
        rows.push(row((CLASS, id, 0), (NAMESPACE, namespace, 0), NORMAL));
    }
    of_sequences(catalog, &mut rows);
    of_types(catalog, &mut rows);
    of_views(catalog, &mut rows);
    for table in catalog.tables() {
        of_columns(table, &mut rows);
        for index in &table.indexes {
            of_index(table, index, &mut rows);
        }
    }
    for seen in all(context) {
        of_constraint(&seen, &mut rows);
    }
    for seen in all_defaults(context) {
        let default = (DEFAULT, seen.oid, 0);
        let how = if seen.column.is_generated() {
            INTERNAL
        } else {
            AUTOMATIC
        };
        rows.push(row(default, (CLASS, seen.relation, seen.number), how));
        let used = seen.column.default.as_ref().map(sequences_of_default);
        for sequence in used.unwrap_or_default() {
            rows.push(row(default, (CLASS, sequence.oid(), 0), NORMAL));
        }
    }
    Ok(rows)
}

/// The schema and the owner of each sequence. A column owns a serial sequence automatically; an identity column has its
/// sequence as a part.
fn of_sequences(catalog: &Catalog, rows: &mut Vec<Cells>) {
    for sequence in catalog.sequences() {
        let address = (CLASS, sequence.id.oid(), 0);
        rows.push(row(address, (NAMESPACE, sequence.namespace.oid(), 0), NORMAL));
        if let Some(owner) = sequence.owner {
            let SequenceOwner {
                table,
                column,
                is_identity,
            } = owner;
            let how = if is_identity { INTERNAL } else { AUTOMATIC };
            let Some(owner) = catalog.table_by_id(table) else {
                continue;
            };
            for position in owner.positions_of(&[column]).unwrap_or_default() {
                let number = column_number(&owner.schema.columns, position);
                rows.push(row(address, (CLASS, table.oid(), number), how));
            }
        }
    }
}

fn of_types(catalog: &Catalog, rows: &mut Vec<Cells>) {
    for entry in catalog.types() {
        let address = (TYPE, entry.id.oid(), 0);
        rows.push(row(address, (NAMESPACE, entry.namespace.oid(), 0), NORMAL));
        let arrays = (TYPE, entry.id.array_oid(), 0);
        rows.push(row(arrays, address, INTERNAL));
        let base = entry.as_domain().map(|domain| domain.base);
        if let Some(base) = base.filter(|base| base.enumeration_within().is_some()) {
            rows.push(row(address, (TYPE, base.oid(), 0), NORMAL));
        }
    }
}

/// The rule of each view is a part of the view, and depends on the relations and types that its query reads.
fn of_views(catalog: &Catalog, rows: &mut Vec<Cells>) {
    for view in catalog.all_views() {
        let rule = (REWRITE, numbers::rule_oid(view.id.oid()), 0);
        let address = (CLASS, view.id.oid(), 0);
        rows.push(row(rule, address, INTERNAL));
        rows.push(row(rule, address, NORMAL));
        for id in view.reads.iter().filter_map(|reading| reading.id) {
            let class = if catalog.user_type_of(id).is_some() {
                TYPE
            } else {
                CLASS
            };
            rows.push(row(rule, (class, id.oid(), 0), NORMAL));
        }
    }
}

/// The defined types of columns.
fn of_columns(table: &TableEntry, rows: &mut Vec<Cells>) {
    for (position, column) in table.schema.columns.iter().enumerate() {
        let is_defined = column.domain.is_some() || column.ty.enumeration_within().is_some();
        if is_defined {
            let address = (
                CLASS,
                table.id.oid(),
                column_number(&table.schema.columns, position),
            );
            rows.push(row(address, (TYPE, numbers::column_type(column), 0), NORMAL));
        }
    }
}

/// An index is a part of its constraint; without one it goes with its columns.
fn of_index(table: &TableEntry, index: &IndexEntry, rows: &mut Vec<Cells>) {
    let address = (CLASS, index.id.oid(), 0);
    let is_its = |kind: &ConstraintKind| match kind {
        ConstraintKind::PrimaryKey { index: id } | ConstraintKind::Unique { index: id } => *id == index.id,
        ConstraintKind::Check { .. } | ConstraintKind::ForeignKey(_) => false,
    };
    if let Some(constraint) = table
        .constraints
        .iter()
        .find(|constraint| is_its(&constraint.kind))
    {
        rows.push(row(address, (CONSTRAINT, constraint.id.oid(), 0), INTERNAL));
        return;
    }
    for column in table.index_columns(index) {
        let number = column_number(&table.schema.columns, column);
        rows.push(row(address, (CLASS, table.id.oid(), number), AUTOMATIC));
    }
}

/// A constraint goes with its columns. A foreign key needs the columns of its parent and their index; a check needs its
/// columns as an expression does.
fn of_constraint(seen: &SeenConstraint<'_>, rows: &mut Vec<Cells>) {
    let address = (CONSTRAINT, seen.constraint.id.oid(), 0);
    let columns = |table: &TableEntry, positions: Vec<usize>| -> Vec<Address> {
        let number = |at| column_number(&table.schema.columns, at);
        positions
            .into_iter()
            .map(|at| (CLASS, table.id.oid(), number(at)))
            .collect()
    };
    let own = columns(seen.table, seen.columns());
    rows.extend(own.iter().map(|on| row(address, *on, AUTOMATIC)));
    if own.is_empty() {
        rows.push(row(address, (CLASS, seen.table.id.oid(), 0), AUTOMATIC));
    }
    match &seen.constraint.kind {
        ConstraintKind::Check { .. } => rows.extend(own.iter().map(|on| row(address, *on, NORMAL))),
        ConstraintKind::ForeignKey(key) => {
            let (parent, positions) = seen.used();
            let parents = columns(parent, positions);
            rows.extend(parents.iter().map(|on| row(address, *on, NORMAL)));
            rows.push(row(address, (CLASS, key.index.oid(), 0), NORMAL));
        }
        ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => {}
    }
}
