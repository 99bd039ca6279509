//! Constraints and indexes that come to a table: their names, and what they must not clash with.

use crate::object_names::{choose, of_columns};
use crate::view::taken;
use crate::{
    Catalog, Constraint, ConstraintKind, Deferral, DropIndexes, IndexEntry, IndexKey, NewForeignKey,
    QualifiedName, Relation, TableEntry, TableOptions, missing_schema, nearest,
};
use frazil_types::{ColumnDef, Error, ObjectId, Result, Schema, SqlState};
use std::sync::Arc;

/// A table to be created.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// Its name.
    pub name: QualifiedName,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// How its rows are held.
    pub options: TableOptions,
    /// Its constraints, in the order of the statement.
    pub constraints: Vec<NewConstraint>,
}

/// A constraint to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewConstraint {
    /// Its name; `None` if one is to be made for it.
    pub name: Option<String>,
    /// What it asks of rows.
    pub kind: NewConstraintKind,
}

/// What a constraint to be made asks of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum NewConstraintKind {
    /// PRIMARY KEY.
    PrimaryKey {
        /// Positions of the columns.
        columns: Vec<usize>,
        /// When it is checked.
        deferral: Deferral,
    },
    /// UNIQUE.
    Unique {
        /// Positions of the columns.
        columns: Vec<usize>,
        /// Whether keys with NULL differ from each other.
        nulls_distinct: bool,
        /// When it is checked.
        deferral: Deferral,
    },
    /// CHECK.
    Check {
        /// The condition as SQL text.
        expression: String,
        /// Positions of the columns that the condition reads, ascending.
        columns: Vec<usize>,
        /// False for NOT VALID: rows that are there are not checked.
        is_valid: bool,
        /// The check of a column's domain that this one asks of the column.
        of_domain: Option<ObjectId>,
    },
    /// FOREIGN KEY.
    ForeignKey(Box<NewForeignKey>),
}

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct NewIndex {
    /// Its name in the table's schema; `None` if one is to be made for it.
    pub name: Option<String>,
    /// Whether an index, table or view of that name may be there already.
    pub if_not_exists: bool,
    /// The table.
    pub table: ObjectId,
    /// The columns of its keys.
    pub keys: Vec<IndexKey>,
    /// Positions of the columns of INCLUDE.
    pub include: Vec<usize>,
    /// UNIQUE.
    pub unique: bool,
    /// Whether keys with NULL differ from each other.
    pub nulls_distinct: bool,
    /// The columns that the index adds to its table. With `n` visible columns, position `n + i` in `keys` and
    /// `condition` is the column `hidden[i]`. Their names are those that the index's columns have. If there are none,
    /// `keys` and `condition` are positions in the table as it is: [`Catalog::add_hidden_columns`] may have added some.
    pub hidden: Vec<ColumnDef>,
    /// The column that holds the condition of a partial index.
    pub condition: Option<usize>,
}

/// A version with one more index, the entry of its table, and the index.
pub type WithIndex = (Catalog, Arc<TableEntry>, Arc<IndexEntry>);

/// A version without some indexes, the entries of the tables that had them, and the indexes.
pub type WithoutIndexes = (Catalog, Vec<Arc<TableEntry>>, Vec<Arc<IndexEntry>>);

impl Catalog {
    /// An index by its name.
    pub fn index(&self, name: &QualifiedName) -> Option<&Arc<IndexEntry>> {
        self.objects.index(name)
    }

    /// An index by its identity.
    pub fn index_by_id(&self, id: ObjectId) -> Option<&Arc<IndexEntry>> {
        self.objects.index_of(id)
    }

    /// A table by its identity.
    pub fn table_by_id(&self, id: ObjectId) -> Option<&Arc<TableEntry>> {
        match self.relation_of(id)? {
            Relation::Table(table) => Some(table),
            Relation::View(_) => None,
        }
    }

    /// True if a table, view or index in a schema has the name.
    fn has_name(&self, namespace: ObjectId, name: &str) -> bool {
        self.has_relation(&self.qualified(namespace, name))
    }

    /// True if a constraint of a table in a schema has the name.
    pub(crate) fn has_constraint(&self, namespace: ObjectId, name: &str) -> bool {
        let mut tables = self.tables().filter(|table| table.namespace == namespace);
        tables.any(|table| table.constraint(name).is_some())
    }

    /// Puts a table's entry in the place of the one of its identity.
    pub(crate) fn put(&mut self, entry: TableEntry) -> Arc<TableEntry> {
        let entry = Arc::new(entry);
        self.objects.put_relation(Relation::Table(entry.clone()));
        entry
    }

    /// The next version, in which a table has these constraints, too. Checks come first, then the primary key, unique
    /// keys and foreign keys; of several unique keys of the same columns one is made. Columns of a primary key become NOT NULL.
    ///
    /// 42P16 for a second primary key, 42710 if the table has a constraint of the name, 42P07 if a key's name is that of a
    /// table, view or index; for foreign keys the errors of their making.
    pub fn add_constraints(
        &self,
        table: ObjectId,
        new: Vec<NewConstraint>,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let mut next = self.next();
        let mut entry = next.by_id(table)?;
        for constraint in without_repeated_keys(new) {
            let changed = next.add_constraint(&entry, constraint)?;
            entry = next.put(changed);
        }
        Ok((next, entry))
    }

    pub(crate) fn by_id(&self, table: ObjectId) -> Result<Arc<TableEntry>> {
        let found = self.table_by_id(table).cloned();
        found.ok_or_else(|| Error::internal(format!("table {} is not in the catalog", table.0)))
    }

    fn add_constraint(&mut self, old: &TableEntry, new: NewConstraint) -> Result<TableEntry> {
        let ((columns, nulls_distinct, is_primary), deferral) = match new.kind {
            kind @ NewConstraintKind::Check { .. } => {
                refuse_second(old, new.name.as_deref())?;
                return Ok(self.add_check(old, new.name, kind));
            }
            NewConstraintKind::ForeignKey(key) => {
                refuse_second(old, new.name.as_deref())?;
                return self.add_foreign_key(old, new.name, *key);
            }
            NewConstraintKind::PrimaryKey { columns, deferral } => ((columns, true, true), deferral),
            NewConstraintKind::Unique {
                columns,
                nulls_distinct,
                deferral,
            } => ((columns, nulls_distinct, false), deferral),
        };
        if is_primary && old.primary_key().is_some() {
            return Err(multiple_primary_keys(&old.name));
        }
        let name = match new.name {
            Some(name) => {
                let name = self.free(old.namespace, name)?;
                refuse_second(old, Some(&name))?;
                name
            }
            None => {
                let named = match is_primary {
                    true => String::new(),
                    false => of_columns(columns.iter().map(|&c| old.schema.columns[c].name.as_str())),
                };
                let label = if is_primary { "pkey" } else { "key" };
                let is_taken = |name: &str| {
                    self.has_name(old.namespace, name) || self.has_constraint(old.namespace, name)
                };
                choose(&old.name, &named, label, is_taken)
            }
        };
        let index = IndexEntry {
            id: self.take_id(old.namespace),
            name: name.clone(),
            table: old.id,
            keys: columns
                .iter()
                .map(|&column| IndexKey::ascending(column))
                .collect(),
            include: Vec::new(),
            unique: true,
            nulls_distinct,
            constraint: Some(name.clone()),
            condition: None,
            deferral,
        };
        let mut entry = old.clone();
        let kind = match is_primary {
            true => ConstraintKind::PrimaryKey { index: index.id },
            false => ConstraintKind::Unique { index: index.id },
        };
        let id = self.take_id(old.namespace);
        entry.constraints.push(Constraint { id, name, kind });
        entry.indexes.push(Arc::new(index));
        if is_primary {
            let schema = Arc::make_mut(&mut entry.schema);
            columns.iter().for_each(|&c| schema.columns[c].set_not_null());
        }
        Ok(entry)
    }

    /// The table with one more constraint; without it if the kind is not that of a check.
    fn add_check(&mut self, old: &TableEntry, name: Option<String>, kind: NewConstraintKind) -> TableEntry {
        let mut entry = old.clone();
        let NewConstraintKind::Check {
            expression,
            columns,
            is_valid,
            of_domain,
        } = kind
        else {
            return entry;
        };
        let name = name.unwrap_or_else(|| {
            let column = match columns[..] {
                [column] => old.schema.columns[column].name.as_str(),
                _ => "",
            };
            choose(&old.name, column, "check", |name| {
                self.has_constraint(old.namespace, name)
            })
        });
        let kind = ConstraintKind::Check {
            expression,
            columns,
            is_valid,
            of_domain,
        };
        let id = self.take_id(old.namespace);
        entry.constraints.push(Constraint { id, name, kind });
        entry
    }

    /// A name, unless a table, view or index of the schema has it: 42P07.
    fn free(&self, namespace: ObjectId, name: String) -> Result<String> {
        match self.has_name(namespace, &name) {
            true => Err(taken(&name)),
            false => Ok(name),
        }
    }

    /// The next version with one more index of a table; `None` if one of the name may be there and is. 42P07, 42P01.
    pub fn create_index(&self, new: NewIndex) -> Result<Option<WithIndex>> {
        let table = self.by_id(new.table)?;
        let mut next = self.next();
        let name = match new.name {
            Some(name) if new.if_not_exists && self.has_name(table.namespace, &name) => return Ok(None),
            Some(name) => self.free(table.namespace, name)?,
            None => {
                let columns = new
                    .keys
                    .iter()
                    .map(|k| k.column)
                    .chain(new.include.iter().copied());
                let visible = &table.schema.columns;
                let name = |at: usize| match visible.get(at) {
                    Some(column) => column.name.as_str(),
                    None => new.hidden[at - visible.len()].name.as_str(),
                };
                let named = of_columns(columns.map(name));
                choose(&table.name, &named, "idx", |name| {
                    self.has_name(table.namespace, name)
                })
            }
        };
        let (visible, others) = (table.schema.columns.len(), table.hidden.len());
        let moved = |position: usize| match position >= visible && !new.hidden.is_empty() {
            true => position + others,
            false => position,
        };
        let mut keys = new.keys;
        keys.iter_mut().for_each(|key| key.column = moved(key.column));
        let index = Arc::new(IndexEntry {
            id: next.take_id(table.namespace),
            name,
            table: table.id,
            keys,
            include: new.include,
            unique: new.unique,
            nulls_distinct: new.nulls_distinct,
            constraint: None,
            condition: new.condition.map(moved),
            deferral: Deferral::Never,
        });
        let mut entry = (*table).clone();
        next.add_hidden(&mut entry, new.hidden);
        entry.indexes.push(index.clone());
        let entry = next.put(entry);
        Ok(Some((next, entry, index)))
    }

    /// The next version without some indexes, the entries of the tables that had them, and the indexes. Without any index to
    /// drop, this version.
    ///
    /// 42704 for an unknown name unless it need not be there, 42809 for that of a table or view, 2BP01 for the index of a
    /// constraint, and with RESTRICT for one that a foreign key needs.
    pub fn drop_indexes(&self, drop: &DropIndexes) -> Result<WithoutIndexes> {
        let mut gone: Vec<Arc<IndexEntry>> = Vec::new();
        for name in &drop.names {
            match (self.index(name), self.relation(name)) {
                (Some(index), _) => {
                    self.refuse_index_of_constraint(index)?;
                    if !gone.iter().any(|g| g.id == index.id) {
                        gone.push(index.clone());
                    }
                }
                (None, Some(relation)) => return Err(not_an_index(relation)),
                (None, None) if self.sequence(name).is_some() => {
                    let message = format!("\"{}\" is not an index", name.name);
                    let error = Error::new(SqlState::WRONG_OBJECT_TYPE, message);
                    return Err(error.with_hint("Use DROP SEQUENCE to remove a sequence."));
                }
                (None, None) if drop.if_exists => {}
                (None, None) => return Err(self.missing_index(name)),
            }
        }
        if gone.is_empty() {
            return Ok((self.clone(), Vec::new(), gone));
        }
        let ids: Vec<ObjectId> = gone.iter().map(|index| index.id).collect();
        let more = self.dropped_with_indexes(&ids, drop.behavior, &drop.path)?;
        let mut next = self.next();
        next.remove_parts(more.into_iter());
        let mut changed: Vec<Arc<TableEntry>> = Vec::new();
        for index in &gone {
            let mut entry = (*next.by_id(index.table)?).clone();
            entry.indexes.retain(|i| i.id != index.id);
            entry.drop_unused_hidden();
            changed.retain(|t| t.id != entry.id);
            changed.push(next.put(entry));
        }
        Ok((next, changed, gone))
    }

    /// 2BP01 for the index of a constraint, whether or not with CASCADE: PostgreSQL asks for the constraint to be dropped.
    fn refuse_index_of_constraint(&self, index: &IndexEntry) -> Result<()> {
        let Some(constraint) = &index.constraint else {
            return Ok(());
        };
        let table = self.by_id(index.table)?;
        let message = format!(
            "cannot drop index {} because constraint {constraint} on table {} requires it",
            index.name, table.name
        );
        Err(
            Error::new(SqlState::DEPENDENT_OBJECTS, message).with_hint(format!(
                "You can drop constraint {constraint} on table {} instead.",
                table.name
            )),
        )
    }

    fn missing_index(&self, name: &QualifiedName) -> Error {
        if self.schema(&name.schema).is_none() {
            return missing_schema(&name.schema);
        }
        let error = Error::new(
            SqlState::UNDEFINED_OBJECT,
            format!("index \"{}\" does not exist", name.name),
        );
        let tables = self.tables();
        let known = tables.flat_map(|t| &t.indexes).map(|i| i.name.as_str());
        match nearest(&name.name, known) {
            Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
            None => error,
        }
    }
}

impl IndexKey {
    /// A column in ascending order, NULLs last.
    pub fn ascending(column: usize) -> IndexKey {
        IndexKey {
            column,
            descending: false,
            nulls_first: false,
        }
    }
}

/// 42P16.
pub fn multiple_primary_keys(table: &str) -> Error {
    let message = format!("multiple primary keys for table \"{table}\" are not allowed");
    Error::new(SqlState::INVALID_TABLE_DEFINITION, message).of_table(table)
}

fn not_an_index(relation: &Relation) -> Error {
    let kind = relation.kind().name();
    let message = format!("\"{}\" is not an index", relation.name());
    Error::new(SqlState::WRONG_OBJECT_TYPE, message)
        .with_hint(format!("Use DROP {} to remove a {kind}.", kind.to_uppercase()))
}

/// Checks first, then the primary key, unique keys and foreign keys. Unique keys that repeat a key before them give their name to
/// it, if it has none, and go.
fn without_repeated_keys(new: Vec<NewConstraint>) -> Vec<NewConstraint> {
    let order = |c: &NewConstraint| match c.kind {
        NewConstraintKind::Check { .. } => 0,
        NewConstraintKind::PrimaryKey { .. } => 1,
        NewConstraintKind::Unique { .. } => 2,
        NewConstraintKind::ForeignKey(_) => 3,
    };
    let mut sorted = new;
    sorted.sort_by_key(order);
    let mut kept: Vec<NewConstraint> = Vec::with_capacity(sorted.len());
    for constraint in sorted {
        let repeated = match &constraint.kind {
            NewConstraintKind::Unique {
                columns,
                nulls_distinct,
                deferral,
            } => kept
                .iter_mut()
                .find(|k| is_key_of(&k.kind, columns, (*nulls_distinct, *deferral))),
            NewConstraintKind::Check { .. }
            | NewConstraintKind::PrimaryKey { .. }
            | NewConstraintKind::ForeignKey(_) => None,
        };
        match repeated {
            Some(first) => first.name = first.name.take().or(constraint.name),
            None => kept.push(constraint),
        }
    }
    kept
}

/// True if a key is one of these columns, with this answer for NULLs, and checked at this time.
fn is_key_of(kind: &NewConstraintKind, wanted: &[usize], (distinct, when): (bool, Deferral)) -> bool {
    match kind {
        NewConstraintKind::PrimaryKey { columns, deferral } => {
            columns == wanted && distinct && *deferral == when
        }
        NewConstraintKind::Unique {
            columns,
            nulls_distinct,
            deferral,
        } => columns == wanted && *nulls_distinct == distinct && *deferral == when,
        NewConstraintKind::Check { .. } | NewConstraintKind::ForeignKey(_) => false,
    }
}

/// 42710 if a table has a constraint of the name.
fn refuse_second(table: &TableEntry, name: Option<&str>) -> Result<()> {
    let Some(name) = name.filter(|n| table.constraint(n).is_some()) else {
        return Ok(());
    };
    let message = format!(
        "constraint \"{name}\" for relation \"{}\" already exists",
        table.name
    );
    Err(Error::new(SqlState::DUPLICATE_OBJECT, message)
        .of_table(&table.name)
        .with_hint("give it another name, or drop the one that is there"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DropBehavior, DropRelations, SearchPath};
    use frazil_types::LogicalType;

    fn new_table(name: &str, columns: &[&str], constraints: Vec<NewConstraint>) -> NewTable {
        let columns = columns.iter().map(|n| ColumnDef::new(*n, LogicalType::Integer));
        NewTable {
            name: QualifiedName::in_public(name),
            schema: Arc::new(Schema::new(columns.collect())),
            options: TableOptions::default(),
            constraints,
        }
    }

    fn primary(columns: &[usize]) -> NewConstraint {
        let columns = columns.to_vec();
        NewConstraint {
            name: None,
            kind: NewConstraintKind::PrimaryKey {
                columns,
                deferral: Deferral::Never,
            },
        }
    }

    fn unique(columns: &[usize]) -> NewConstraint {
        let (columns, nulls_distinct) = (columns.to_vec(), true);
        NewConstraint {
            name: None,
            kind: NewConstraintKind::Unique {
                columns,
                nulls_distinct,
                deferral: Deferral::Never,
            },
        }
    }

    fn check(columns: &[usize]) -> NewConstraint {
        let (expression, columns) = ("true".to_string(), columns.to_vec());
        NewConstraint {
            name: None,
            kind: NewConstraintKind::Check {
                expression,
                columns,
                is_valid: true,
                of_domain: None,
            },
        }
    }

    fn named(name: &str, constraint: NewConstraint) -> NewConstraint {
        NewConstraint {
            name: Some(name.to_string()),
            ..constraint
        }
    }

    fn index(name: Option<&str>, keys: &[usize]) -> NewIndex {
        NewIndex {
            name: name.map(str::to_string),
            if_not_exists: false,
            table: ObjectId(1),
            keys: keys.iter().map(|&k| IndexKey::ascending(k)).collect(),
            include: Vec::new(),
            unique: false,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        }
    }

    fn names(entry: &TableEntry) -> Vec<&str> {
        entry.constraints.iter().map(|c| c.name.as_str()).collect()
    }

    #[test]
    fn constraints_get_names_and_keys_an_index() {
        let made = vec![
            check(&[0]),
            unique(&[1]),
            check(&[0]),
            primary(&[0]),
            check(&[0, 1]),
            named("own", check(&[])),
            check(&[]),
            unique(&[0, 1]),
        ];
        let (catalog, t) = Catalog::new().create(new_table("t", &["a", "b"], made)).unwrap();
        assert_eq!(
            names(&t),
            [
                "t_a_check",
                "t_a_check1",
                "t_check",
                "own",
                "t_check1",
                "t_pkey",
                "t_b_key",
                "t_a_b_key"
            ]
        );
        let indexes: Vec<&str> = t.indexes.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(indexes, ["t_pkey", "t_b_key", "t_a_b_key"]);
        assert!(
            t.indexes
                .iter()
                .all(|i| i.unique && i.constraint.as_deref() == Some(&i.name))
        );
        assert_eq!(t.primary_key().unwrap().keys, [IndexKey::ascending(0)]);
        assert_eq!(
            [t.schema.columns[0].nullable, t.schema.columns[1].nullable],
            [false, true]
        );
        assert_eq!(catalog.index(&"t_b_key".into()).map(|i| i.table), Some(t.id));
        assert_eq!(catalog.find(&"t".into()), Some(&t));
    }

    #[test]
    fn a_repeated_key_is_made_once() {
        let made = vec![
            unique(&[0]),
            named("again", unique(&[0])),
            primary(&[1]),
            unique(&[1]),
        ];
        let (_, t) = Catalog::new().create(new_table("t", &["a", "b"], made)).unwrap();
        assert_eq!(names(&t), ["t_pkey", "again"]);
    }

    #[test]
    fn names_clash_with_relations_and_with_constraints() {
        let first = vec![primary(&[0]), check(&[0])];
        let (catalog, _) = Catalog::new().create(new_table("t", &["a"], first)).unwrap();
        let refused = |new: NewTable| catalog.create(new).unwrap_err().state();
        assert_eq!(
            refused(new_table("t_pkey", &["a"], Vec::new())),
            SqlState::DUPLICATE_TABLE
        );
        let twice = vec![named("c", check(&[])), named("c", check(&[]))];
        assert_eq!(refused(new_table("u", &["a"], twice)), SqlState::DUPLICATE_OBJECT);
        let key = vec![named("t", unique(&[0]))];
        assert_eq!(refused(new_table("u", &["a"], key)), SqlState::DUPLICATE_TABLE);
        let two = vec![primary(&[0]), primary(&[0])];
        assert_eq!(
            refused(new_table("u", &["a"], two)),
            SqlState::INVALID_TABLE_DEFINITION
        );
        // Another table's constraints and relations make a number come behind the name.
        let (catalog, _) = catalog.create(new_table("t_b", &["check"], Vec::new())).unwrap();
        let (_, b) = catalog
            .create(new_table(
                "t_a",
                &["b"],
                vec![named("t_a_pkey", check(&[])), primary(&[0])],
            ))
            .unwrap();
        assert_eq!(names(&b), ["t_a_pkey", "t_a_pkey1"]);
    }

    #[test]
    fn indexes_come_and_go() {
        let first = vec![primary(&[0])];
        let (catalog, _) = Catalog::new().create(new_table("t", &["a", "b"], first)).unwrap();
        let (one, t, made) = catalog.create_index(index(None, &[0, 1])).unwrap().unwrap();
        assert_eq!((made.name.as_str(), t.indexes.len()), ("t_a_b_idx", 2));
        let again = one.create_index(index(Some("t_a_b_idx"), &[1]));
        assert_eq!(again.unwrap_err().state(), SqlState::DUPLICATE_TABLE);
        let mut if_not_exists = index(Some("t_a_b_idx"), &[1]);
        if_not_exists.if_not_exists = true;
        assert_eq!(one.create_index(if_not_exists).unwrap().map(|made| made.2), None);
        let (two, _, other) = one.create_index(index(None, &[0, 1])).unwrap().unwrap();
        assert_eq!(other.name, "t_a_b_idx1");
        let names = ["t_a_b_idx", "t_a_b_idx1", "t_a_b_idx"].map(QualifiedName::from);
        let drop = |names: &[QualifiedName], if_exists| DropIndexes {
            names: names.to_vec(),
            if_exists,
            behavior: DropBehavior::Restrict,
            path: SearchPath::default(),
        };
        let (three, tables, gone) = two.drop_indexes(&drop(&names, false)).unwrap();
        assert_eq!((tables.len(), gone.len()), (1, 2));
        assert_eq!(three.find(&"t".into()).unwrap().indexes.len(), 1);
        let refused = |name: &str| {
            three
                .drop_indexes(&drop(&[QualifiedName::in_public(name)], false))
                .unwrap_err()
        };
        assert_eq!(refused("t_pkey").state(), SqlState::DEPENDENT_OBJECTS);
        assert_eq!(
            refused("t_pkey").hint(),
            Some("You can drop constraint t_pkey on table t instead.")
        );
        assert_eq!(refused("t").state(), SqlState::WRONG_OBJECT_TYPE);
        assert_eq!(refused("nowhere").state(), SqlState::UNDEFINED_OBJECT);
        let none = three.drop_indexes(&drop(&["nowhere".into()], true)).unwrap();
        assert_eq!((none.0.version(), none.2.len()), (three.version(), 0));
        let refused = three.drop_relations(&DropRelations::table("t_pkey")).unwrap_err();
        assert_eq!(refused.state(), SqlState::WRONG_OBJECT_TYPE);
        let (empty, _) = three.drop_relations(&DropRelations::table("t")).unwrap();
        assert!(empty.index(&"t_pkey".into()).is_none());
    }
}
