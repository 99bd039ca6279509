//! Constraints and indexes of tables, as the catalog knows them: names and columns. `storage` holds the entries of an index,
//! `frontend` binds the text of a CHECK.

use crate::{Catalog, Deferral, DropBehavior, ForeignKey, QualifiedName, SearchPath, TableEntry};
use frazil_types::ObjectId;
use std::sync::Arc;

/// A constraint of a table. NOT NULL is a field of the column.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its identity. [`Constraint::NO_ID`] in entries that a directory kept before constraints had one, until
    /// [`Catalog::identify_constraints`] gives it.
    pub id: ObjectId,
    /// Its name, unlike those of the table's other constraints.
    pub name: String,
    /// What it asks of rows.
    pub kind: ConstraintKind,
}

/// What a constraint asks of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// No two rows have one key, and no column of the key is NULL.
    PrimaryKey {
        /// The unique index that enforces it, of the constraint's name.
        index: ObjectId,
    },
    /// No two rows have one key.
    Unique {
        /// The unique index that enforces it, of the constraint's name.
        index: ObjectId,
    },
    /// A condition is not false.
    Check {
        /// The condition as SQL text.
        expression: String,
        /// Positions of the columns that the condition reads, ascending.
        columns: Vec<usize>,
        /// False for a check that is NOT VALID: rows that were there before it may violate it.
        is_valid: bool,
        /// The check of a column's domain that this one asks of the column.
        of_domain: Option<ObjectId>,
    },
    /// The values of some columns are a key of another table, or NULL.
    ForeignKey(Box<ForeignKey>),
}

/// An index of a table. Its name stands among those of tables and views.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry {
    /// Its identity.
    pub id: ObjectId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// The table.
    pub table: ObjectId,
    /// The columns of its keys, the most significant first.
    pub keys: Vec<IndexKey>,
    /// Positions of the columns of INCLUDE, which are not part of keys.
    pub include: Vec<usize>,
    /// Whether no two rows may have one key.
    pub unique: bool,
    /// Whether keys with NULL differ from each other; else they are equal if the rest is (NULLS NOT DISTINCT).
    pub nulls_distinct: bool,
    /// The name of the constraint that made the index.
    pub constraint: Option<String>,
    /// The position of the hidden column that holds the condition of a partial index: true for the rows that have
    /// entries, and NULL for the others.
    pub condition: Option<usize>,
    /// When rows of one key are refused. An index without a constraint refuses them at once: [`Deferral::Never`].
    pub deferral: Deferral,
}

/// A column of an index's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexKey {
    /// Its position in the table.
    pub column: usize,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST; by default DESC has it.
    pub nulls_first: bool,
}

impl Constraint {
    /// In place of an id: that of the schema `public`, which no constraint has.
    pub const NO_ID: ObjectId = ObjectId(0);

    /// True if it is the check of a column's domain: no statement on the table made it.
    pub fn is_of_domain(&self) -> bool {
        matches!(
            self.kind,
            ConstraintKind::Check {
                of_domain: Some(_),
                ..
            }
        )
    }

    /// False for a check or foreign key that is NOT VALID.
    pub fn is_valid(&self) -> bool {
        match &self.kind {
            ConstraintKind::Check { is_valid, .. } => *is_valid,
            ConstraintKind::ForeignKey(key) => key.is_valid,
            ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => true,
        }
    }

    /// The index that enforces the constraint; `None` for a CHECK or FOREIGN KEY.
    pub fn index(&self) -> Option<ObjectId> {
        match self.kind {
            ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => Some(index),
            ConstraintKind::Check { .. } | ConstraintKind::ForeignKey(_) => None,
        }
    }
}

/// DROP INDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct DropIndexes {
    /// The names.
    pub names: Vec<QualifiedName>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE drops foreign keys that need an index, RESTRICT refuses.
    pub behavior: DropBehavior,
    /// The path by which errors name objects.
    pub path: SearchPath,
}

impl IndexEntry {
    /// True if a column, by its position, is part of the keys or included.
    pub fn has_column(&self, column: usize) -> bool {
        let keys = self.keys.iter().map(|key| key.column);
        keys.chain(self.include.iter().copied()).any(|c| c == column)
    }

    /// The columns that entries are made of: the keys, behind the condition of a partial index. So a restriction of the
    /// condition binds the index as one of a first column does.
    pub fn stored_keys(&self) -> impl Iterator<Item = IndexKey> + '_ {
        let condition = self.condition.map(IndexKey::ascending);
        condition.into_iter().chain(self.keys.iter().copied())
    }

    /// True if a key is the value of an expression, or if the index is a partial one, of a table of `width` visible
    /// columns. No constraint has such an index.
    pub fn is_computed(&self, width: usize) -> bool {
        self.condition.is_some() || self.keys.iter().any(|key| key.column >= width)
    }

    /// True if a statement never sees two rows of one key: the index is unique and refuses a second row as it is
    /// written. Rows of a deferrable key may share it until they are checked.
    pub fn is_key(&self) -> bool {
        self.unique && self.deferral == Deferral::Never
    }
}

impl Catalog {
    /// Gives an id to each constraint of a table or domain that has none, in the order of tables and constraints, and
    /// connects the checks of tables with those of domains. Returns the new entries of the tables concerned. The
    /// version stays what it is.
    pub fn identify_constraints(&mut self) -> Vec<Arc<TableEntry>> {
        let mut tables = self.identify_constraints_of_tables();
        for entry in self.identify_checks_of_domains() {
            tables.retain(|table| table.id != entry.id);
            tables.push(entry);
        }
        tables.sort_by_key(|table| table.id);
        tables
    }

    fn identify_constraints_of_tables(&mut self) -> Vec<Arc<TableEntry>> {
        let lacks_id = |c: &Constraint| c.id == Constraint::NO_ID;
        let lacks = |table: &&Arc<TableEntry>| table.constraints.iter().any(lacks_id);
        let mut tables: Vec<Arc<TableEntry>> = self.tables().filter(lacks).cloned().collect();
        tables.sort_by_key(|table| table.id);
        for table in &mut tables {
            let mut entry = (**table).clone();
            for constraint in entry.constraints.iter_mut().filter(|c| lacks_id(c)) {
                constraint.id = self.take_id(entry.namespace);
            }
            *table = self.put(entry);
        }
        tables
    }
}

impl TableEntry {
    /// A constraint by its name.
    pub fn constraint(&self, name: &str) -> Option<&Constraint> {
        self.constraints.iter().find(|c| c.name == name)
    }

    /// An index by its identity.
    pub fn index(&self, id: ObjectId) -> Option<&Arc<IndexEntry>> {
        self.indexes.iter().find(|i| i.id == id)
    }

    /// The index of the primary key.
    pub fn primary_key(&self) -> Option<&Arc<IndexEntry>> {
        let is_primary = |c: &&crate::Constraint| matches!(c.kind, ConstraintKind::PrimaryKey { .. });
        self.index(self.constraints.iter().find(is_primary)?.index()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewConstraint, NewConstraintKind, NewTable, QualifiedName, TableOptions};
    use frazil_types::{ColumnDef, LogicalType, Schema};

    fn with_check(catalog: &Catalog, name: &str) -> (Catalog, Arc<TableEntry>) {
        let check = NewConstraintKind::Check {
            expression: "true".to_string(),
            columns: Vec::new(),
            is_valid: true,
            of_domain: None,
        };
        let new = NewTable {
            name: QualifiedName::in_public(name),
            schema: Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)])),
            options: TableOptions::default(),
            constraints: vec![NewConstraint {
                name: None,
                kind: check,
            }],
        };
        catalog.create(new).unwrap()
    }

    #[test]
    fn constraints_without_an_id_get_one_that_was_never_given() {
        let (catalog, first) = with_check(&Catalog::new(), "z");
        let (catalog, second) = with_check(&catalog, "a");
        assert_eq!(first.constraints[0].id, ObjectId(first.id.0 + 1));
        assert!(catalog.clone().identify_constraints().is_empty());
        // As an older directory has them.
        let mut entries = catalog.entries();
        for relation in &mut entries.relations {
            if let crate::Relation::Table(table) = relation {
                Arc::make_mut(table).constraints[0].id = Constraint::NO_ID;
            }
        }
        let mut older = Catalog::restore(catalog.version(), catalog.last_id(), entries);
        let changed = older.identify_constraints();
        let ids: Vec<(ObjectId, u32)> = changed.iter().map(|t| (t.id, t.constraints[0].id.0)).collect();
        let last = catalog.last_id();
        assert_eq!(ids, [(first.id, last + 1), (second.id, last + 2)]);
        assert_eq!((older.last_id(), older.version()), (last + 2, catalog.version()));
        assert!(
            older
                .find(&"a".into())
                .is_some_and(|t| Arc::ptr_eq(t, &changed[1]))
        );
    }
}
