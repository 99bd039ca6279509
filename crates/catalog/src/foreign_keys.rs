//! Foreign keys of the catalog: finds those of a table and those that refer to it, and makes new ones.

use crate::object_names::{choose, of_columns};
use crate::{
    Catalog, Constraint, ConstraintKind, ForeignKey, IndexEntry, IndexKey, NewForeignKey, TableEntry,
};
use frazil_types::value_ops::casts::{self, CastContext};
use frazil_types::{ColumnDef, ColumnNumber, Error, LogicalType, ObjectId, Result, SqlState};
use std::sync::Arc;

/// A foreign key, its constraint, and the table that has them.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// The child.
    pub child: &'a Arc<TableEntry>,
    /// The constraint.
    pub constraint: &'a Constraint,
    /// The constraint's key.
    pub key: &'a ForeignKey,
}

impl TableEntry {
    /// The position of a column by its number.
    pub fn position_of(&self, number: ColumnNumber) -> Option<usize> {
        self.schema.numbers().position(|n| n == number)
    }

    /// The positions of columns by their numbers. An internal error for a number that no column has.
    pub fn positions_of(&self, numbers: &[ColumnNumber]) -> Result<Vec<usize>> {
        let position = |number: &ColumnNumber| {
            let found = self.position_of(*number);
            found
                .ok_or_else(|| Error::internal(format!("table \"{}\" has no column {}", self.name, number.0)))
        };
        numbers.iter().map(position).collect()
    }

    /// The constraints that are foreign keys, in the order in which they were made.
    pub fn foreign_keys(&self) -> impl Iterator<Item = (&Constraint, &ForeignKey)> {
        self.constraints
            .iter()
            .filter_map(|constraint| match &constraint.kind {
                ConstraintKind::ForeignKey(key) => Some((constraint, &**key)),
                ConstraintKind::PrimaryKey { .. }
                | ConstraintKind::Unique { .. }
                | ConstraintKind::Check { .. } => None,
            })
    }
}

impl Catalog {
    /// The foreign keys whose parent is a table, in the order in which they were made.
    pub fn references_to(&self, parent: ObjectId) -> Vec<Reference<'_>> {
        let children = self
            .objects
            .children_of(parent)
            .filter_map(|id| self.table_by_id(id));
        let mut found: Vec<Reference<'_>> = children
            .flat_map(|child| {
                let keys = child.foreign_keys().filter(|(_, key)| key.parent == parent);
                keys.map(move |(constraint, key)| Reference {
                    child,
                    constraint,
                    key,
                })
            })
            .collect();
        found.sort_by_key(|reference| reference.constraint.id);
        found
    }

    /// True if a foreign key has the table as its child or parent.
    pub fn is_in_foreign_key(&self, table: ObjectId) -> bool {
        // Every foreign key is a reference, so that a database without any pays nothing.
        if !self.objects.has_references() {
            return false;
        }
        let is_child = |table: &Arc<TableEntry>| table.foreign_keys().next().is_some();
        self.objects.children_of(table).next().is_some() || self.table_by_id(table).is_some_and(is_child)
    }

    /// Makes a foreign key of a table.
    ///
    /// 42703 for an unknown column, 42704 without a primary key that is meant, 42830 for columns that no unique key
    /// has, or that are more or fewer than the child's; 42804 for types that do not compare, 55000 for a deferrable
    /// key of the parent.
    pub(crate) fn add_foreign_key(
        &mut self,
        old: &TableEntry,
        name: Option<String>,
        new: NewForeignKey,
    ) -> Result<TableEntry> {
        let parent = match new.parent {
            Some(id) if id != old.id => self.by_id(id)?,
            Some(_) | None => Arc::new(old.clone()),
        };
        refuse_mixed(old, &parent)?;
        let columns = columns_of(old, &new.columns)?;
        let (index, parent_columns) = key_of(&parent, &new.parent_columns)?;
        if columns.len() != parent_columns.len() {
            let message = "number of referencing and referenced columns for foreign key disagree";
            return Err(Error::new(SqlState::INVALID_FOREIGN_KEY, message).of_table(&old.name));
        }
        let set_columns = set_columns(old, &new)?;
        let name = name.unwrap_or_else(|| {
            let named = of_columns(columns.iter().map(|c| c.name.as_str()));
            let is_taken = |name: &str| self.has_constraint(old.namespace, name);
            choose(&old.name, &named, "fkey", is_taken)
        });
        for (child, parent) in columns.iter().zip(&parent_columns) {
            refuse_incomparable(&name, child, parent)?;
        }
        let key = ForeignKey {
            columns: columns.iter().map(|c| c.number).collect(),
            parent: parent.id,
            parent_columns: parent_columns.iter().map(|c| c.number).collect(),
            index,
            match_full: new.match_full,
            on_delete: new.on_delete,
            on_update: new.on_update,
            set_columns,
            is_valid: new.is_valid,
            deferral: new.deferral,
        };
        let mut entry = old.clone();
        entry.constraints.push(Constraint {
            id: self.take_id(old.namespace),
            name,
            kind: ConstraintKind::ForeignKey(Box::new(key)),
        });
        Ok(entry)
    }

    /// The tables that TRUNCATE of some empties: with CASCADE also those whose foreign keys refer to one of them. 0A000
    /// with RESTRICT if there are such.
    pub fn tables_to_truncate(&self, tables: &[ObjectId], cascade: bool) -> Result<Vec<ObjectId>> {
        let mut all: Vec<ObjectId> = Vec::with_capacity(tables.len());
        for id in tables {
            if !all.contains(id) {
                all.push(*id);
            }
        }
        let mut at = 0;
        while at < all.len() {
            for reference in self.references_to(all[at]) {
                let child = reference.child;
                if all.contains(&child.id) {
                    continue;
                }
                if !cascade {
                    let parent = self.by_id(all[at])?;
                    return Err(cannot_truncate(&parent.name, &child.name));
                }
                all.push(child.id);
            }
            at += 1;
        }
        Ok(all)
    }
}

/// 0A000.
fn cannot_truncate(parent: &str, child: &str) -> Error {
    let message = "cannot truncate a table referenced in a foreign key constraint";
    Error::new(SqlState::FEATURE_NOT_SUPPORTED, message)
        .with_detail(format!("Table \"{child}\" references \"{parent}\"."))
        .with_hint(format!(
            "Truncate table \"{child}\" at the same time, or use TRUNCATE ... CASCADE."
        ))
}

/// 42P16 if one of the tables is temporary and the other is not.
fn refuse_mixed(child: &TableEntry, parent: &TableEntry) -> Result<()> {
    let what = match (child.id.is_temporary(), parent.id.is_temporary()) {
        (true, false) => "temporary",
        (false, true) => "permanent",
        (true, true) | (false, false) => return Ok(()),
    };
    let message = format!("constraints on {what} tables may reference only {what} tables");
    Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, message).of_table(&child.name))
}

/// The columns of a table by their names. 42703.
fn columns_of<'t>(table: &'t TableEntry, names: &[String]) -> Result<Vec<&'t ColumnDef>> {
    let column = |name: &String| {
        let found = table.schema.index_of(name).map(|at| &table.schema.columns[at]);
        found.ok_or_else(|| {
            let message = format!("column \"{name}\" referenced in foreign key constraint does not exist");
            Error::new(SqlState::UNDEFINED_COLUMN, message).of_table(&table.name)
        })
    };
    names.iter().map(column).collect()
}

/// The unique index of a parent that has columns of these names, in any order, and the columns. Without names those of
/// the primary key.
fn key_of<'t>(parent: &'t TableEntry, names: &[String]) -> Result<(ObjectId, Vec<&'t ColumnDef>)> {
    if names.is_empty() {
        let Some(key) = parent.primary_key() else {
            let message = format!("there is no primary key for referenced table \"{}\"", parent.name);
            return Err(Error::new(SqlState::UNDEFINED_OBJECT, message).of_table(&parent.name));
        };
        if !key.is_key() {
            return Err(deferrable_parent("primary key", parent));
        }
        let columns = key.keys.iter().map(|k| &parent.schema.columns[k.column]);
        return Ok((key.id, columns.collect()));
    }
    let columns = columns_of(parent, names)?;
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            let message = "foreign key referenced-columns list must not contain duplicates";
            return Err(Error::new(SqlState::INVALID_FOREIGN_KEY, message).of_table(&parent.name));
        }
    }
    let has_all = |index: &&Arc<IndexEntry>| {
        let named = |key: &IndexKey| names.contains(&parent.schema.columns[key.column].name);
        index.unique
            && !index.is_computed(parent.schema.columns.len())
            && index.keys.len() == names.len()
            && index.keys.iter().all(named)
    };
    let fits = || parent.indexes.iter().filter(has_all);
    match fits().find(|index| index.is_key()) {
        Some(index) => Ok((index.id, columns)),
        None if fits().next().is_some() => Err(deferrable_parent("unique constraint", parent)),
        None => {
            let message = format!(
                "there is no unique constraint matching given keys for referenced table \"{}\"",
                parent.name
            );
            Err(Error::new(SqlState::INVALID_FOREIGN_KEY, message).of_table(&parent.name))
        }
    }
}

/// 55000: a foreign key would refer to rows that may share their key.
fn deferrable_parent(what: &str, parent: &TableEntry) -> Error {
    let message = format!(
        "cannot use a deferrable {what} for referenced table \"{}\"",
        parent.name
    );
    Error::new(SqlState::NOT_IN_STATE, message).of_table(&parent.name)
}

/// The columns in the list of ON DELETE SET NULL or SET DEFAULT. 42703 for an unknown one, 42P10 for one that is not in
/// the foreign key.
fn set_columns(child: &TableEntry, new: &NewForeignKey) -> Result<Vec<ColumnNumber>> {
    let columns = columns_of(child, &new.set_columns)?;
    if let Some(other) = columns.iter().find(|c| !new.columns.contains(&c.name)) {
        let message = format!(
            "column \"{}\" referenced in ON DELETE SET action must be part of foreign key",
            other.name
        );
        return Err(Error::new(SqlState::INVALID_COLUMN_REFERENCE, message).of_table(&child.name));
    }
    let mut numbers: Vec<ColumnNumber> = Vec::with_capacity(columns.len());
    for column in columns {
        if !numbers.contains(&column.number) {
            numbers.push(column.number);
        }
    }
    Ok(numbers)
}

/// 42804 unless values of the child's column can be looked up among those of the parent's.
fn refuse_incomparable(name: &str, child: &ColumnDef, parent: &ColumnDef) -> Result<()> {
    if compares(child.ty, parent.ty) {
        return Ok(());
    }
    let message = format!("foreign key constraint \"{name}\" cannot be implemented");
    Err(
        Error::new(SqlState::DATATYPE_MISMATCH, message).with_detail(format!(
            "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
            child.name, parent.name, child.ty, parent.ty
        )),
    )
}

/// True if a child's type compares with a parent's: both are of one family, or the child's becomes the parent's
/// implicitly. What a time zone would decide does not compare.
fn compares(child: LogicalType, parent: LogicalType) -> bool {
    if child == parent {
        return true;
    }
    let both = |is: fn(LogicalType) -> bool| is(child) && is(parent);
    if child.is_zoned() != parent.is_zoned() || child.element().is_some() || parent.element().is_some() {
        return false;
    }
    if both(LogicalType::is_integer) || both(LogicalType::is_text) || both(LogicalType::is_float) {
        return true;
    }
    let is_date_or_time = |ty: LogicalType| ty.is_day() || ty.is_local_time();
    if child.kind() == parent.kind() && child.enumeration().is_none()
        || is_date_or_time(child) && is_date_or_time(parent)
    {
        return true;
    }
    casts::between(child, parent).is_some_and(|cast| cast.context == CastContext::Implicit)
}
