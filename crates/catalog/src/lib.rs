//! The catalog: schemas, and names, ids, columns and options of tables, views and types in them, as immutable
//! versions. A statement reads one version from its first name to its last row; a definition makes the next one.
#![forbid(unsafe_code)]

mod access;
mod alter;
mod alter_columns;
mod column_types;
mod comment;
mod comments;
mod constraint;
mod copied_comments;
mod dependents;
mod domains;
mod drop_schemas;
mod foreign_key;
mod foreign_keys;
mod hidden_columns;
mod names;
mod new_constraint;
mod object_names;
mod objects;
mod qualified_name;
mod renames;
mod schemas;
mod search_path;
mod sequence;
mod sequence_entry;
mod sequence_state;
mod sequence_text;
mod set_constraints;
mod table_options;
mod temporary;
mod user_types;
mod view;

pub use access::{
    AccessRules, Acl, AclItem, Attributes, DefaultKind, DefaultsOf, Demand, DropOwned, Grant, GrantRoles,
    GrantTarget, Guarded, GuardedKind, Membership, NewRole, Right, Rights, Role, RoleId, RoleOptions,
    SettingChange, SettingsOf,
};
pub use alter::{AlterAction, RowTexts};
pub use column_types::{Replacement, SetType};
pub use comment::{CommentTarget, Commented, CommentedKind, Comments, NewComment};
pub use constraint::{Constraint, ConstraintKind, DropIndexes, IndexEntry, IndexKey};
pub use copied_comments::CopiedComments;
pub use dependents::{DropBehavior, DropRelations, RelationKind};
pub use domains::{AlterDomain, ColumnText, Domain, DomainCheck, domain_violation};
pub use drop_schemas::DropSchemas;
pub use foreign_key::{Deferral, ForeignKey, NewForeignKey, ReferentialAction};
pub use foreign_keys::Reference;
use frazil_types::{ColumnDef, ColumnNumber, Error, ObjectId, Result, Schema, SqlState};
pub use hidden_columns::{key_sql, key_text};
pub use names::{WordClass, identifier, is_bare_label, is_reserved, nearest, word_class};
pub use new_constraint::{NewConstraint, NewConstraintKind, NewIndex, NewTable, multiple_primary_keys};
use objects::Objects;
pub use qualified_name::{
    PUBLIC, PUBLIC_ALIAS, QualifiedName, SYSTEM_SCHEMA, SchemaEntry, TEMPORARY_ALIAS, WrittenName,
    is_temporary_schema, missing_schema, temporary_schema,
};
pub use renames::RenameObject;
pub use schemas::NewSchema;
pub use search_path::SearchPath;
pub use sequence::{AlterSequence, ColumnSequence, NewSequence, SequenceOptions};
pub use sequence_entry::{SequenceEntry, SequenceOwner, not_a_sequence};
pub use sequence_state::{Position, SequenceDefinition, SequenceLog, SequenceState};
pub use sequence_text::{default_sequence, next_value_text, sequence_text, sequences_of_default};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub use table_options::{BlockOptions, OnCommit, TableOptions};
pub use user_types::{AlterType, DropTypes, LabelPlace, TypeEntry, TypeKind};
pub use view::{ExistingView, Materialized, NewView, Reading, ViewEntry, not_a_table, not_materialized};

/// A table as the catalog knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// Its identity.
    pub id: ObjectId,
    /// The identity of its schema.
    pub namespace: ObjectId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its columns that statements see.
    pub schema: Arc<Schema>,
    /// Generated columns that statements do not see: the expressions and conditions of indexes. Rows store them behind
    /// the columns of `schema`, whose positions they continue.
    pub hidden: Vec<ColumnDef>,
    /// The greatest number that a column of it was ever given.
    pub last_column: ColumnNumber,
    /// How its rows are held.
    pub options: TableOptions,
    /// Its keys and checks, in the order in which they were made.
    pub constraints: Vec<Constraint>,
    /// Its indexes, in the order in which they were made.
    pub indexes: Vec<Arc<IndexEntry>>,
    /// Its fate at the end of a transaction, if it is temporary.
    pub on_commit: OnCommit,
    /// Its query, if it holds the rows of a materialized view.
    pub materialized: Option<Arc<Materialized>>,
}

impl TableEntry {
    /// A table of the first schema `public` without constraints and indexes, whose columns get their numbers.
    pub fn new(
        id: ObjectId,
        name: impl Into<String>,
        mut schema: Arc<Schema>,
        options: TableOptions,
    ) -> TableEntry {
        let mut last_column = ColumnNumber::default();
        for column in &mut Arc::make_mut(&mut schema).columns {
            last_column.0 += 1;
            column.number = last_column;
        }
        TableEntry {
            id,
            namespace: SchemaEntry::PUBLIC_ID,
            name: name.into(),
            schema,
            hidden: Vec::new(),
            last_column,
            options,
            constraints: Vec::new(),
            indexes: Vec::new(),
            on_commit: OnCommit::default(),
            materialized: None,
        }
    }
}

/// What a name in FROM may stand for.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// A table.
    Table(Arc<TableEntry>),
    /// A view.
    View(Arc<ViewEntry>),
}

impl Relation {
    /// Its identity.
    pub fn id(&self) -> ObjectId {
        match self {
            Relation::Table(table) => table.id,
            Relation::View(view) => view.id,
        }
    }

    /// The identity of its schema.
    pub fn namespace(&self) -> ObjectId {
        match self {
            Relation::Table(table) => table.namespace,
            Relation::View(view) => view.namespace,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Relation::Table(table) => &table.name,
            Relation::View(view) => &view.name,
        }
    }

    /// Its columns that statements see.
    pub fn columns(&self) -> &[ColumnDef] {
        match self {
            Relation::Table(table) => &table.schema.columns,
            Relation::View(view) => &view.schema.columns,
        }
    }

    /// True if both are one entry: no definition has changed the relation between the versions of the catalog that have
    /// them.
    pub fn is_same_entry(&self, other: &Relation) -> bool {
        match (self, other) {
            (Relation::Table(a), Relation::Table(b)) => Arc::ptr_eq(a, b),
            (Relation::View(a), Relation::View(b)) => Arc::ptr_eq(a, b),
            (Relation::Table(_), Relation::View(_)) | (Relation::View(_), Relation::Table(_)) => false,
        }
    }

    /// What it is.
    pub fn kind(&self) -> RelationKind {
        match self {
            Relation::Table(table) if table.materialized.is_some() => RelationKind::MaterializedView,
            Relation::Table(_) => RelationKind::Table,
            Relation::View(_) => RelationKind::View,
        }
    }
}

/// One immutable version of the catalog.
#[derive(Clone, Debug)]
pub struct Catalog {
    version: u64,
    /// The greatest version ever made of it, rolled back ones included: its versions share this.
    last_version: Arc<AtomicU64>,
    last_id: u32,
    /// Counts temporary objects: its versions share this.
    last_temporary: Arc<AtomicU32>,
    objects: Objects,
    comments: Arc<Comments>,
    access: Arc<AccessRules>,
}

/// The entries of a catalog that is restored.
#[derive(Clone, Debug)]
pub struct Entries {
    /// The schemas.
    pub schemas: Vec<Arc<SchemaEntry>>,
    /// Tables and views, whose columns have the types below.
    pub relations: Vec<Relation>,
    /// Types that statements defined.
    pub types: Vec<Arc<TypeEntry>>,
    /// Sequences.
    pub sequences: Vec<Arc<SequenceEntry>>,
    /// Comments on objects. Those of objects that are not among the entries are forgotten.
    pub comments: Comments,
    /// Roles, owners and privileges. Those of objects that are not among the entries are forgotten.
    pub access: Arc<AccessRules>,
}

impl Default for Entries {
    fn default() -> Entries {
        Entries {
            schemas: Vec::new(),
            relations: Vec::new(),
            types: Vec::new(),
            sequences: Vec::new(),
            comments: Comments::new(),
            access: AccessRules::initial(),
        }
    }
}

impl Default for Catalog {
    fn default() -> Catalog {
        Catalog {
            version: 0,
            last_version: Arc::default(),
            last_id: 0,
            last_temporary: Arc::default(),
            objects: Objects::default(),
            comments: Arc::default(),
            access: AccessRules::initial(),
        }
    }
}

impl Catalog {
    /// A catalog of the schema `public`, which is empty.
    pub fn new() -> Catalog {
        Catalog::default()
    }

    /// The catalog a directory was closed with.
    pub fn restore(version: u64, last_id: u32, entries: Entries) -> Catalog {
        let mut objects = Objects::none();
        let mut last_id = last_id;
        for schema in entries.schemas {
            last_id = last_id.max(schema.id.0);
            objects.put_schema(SchemaEntry::clone(&schema));
        }
        for relation in entries.relations {
            last_id = last_id.max(relation.id().0);
            if let Relation::Table(table) = &relation {
                let constraints = table.constraints.iter().map(|c| c.id.0);
                last_id = constraints.fold(last_id, u32::max);
            }
            objects.put_relation(relation);
        }
        for entry in entries.types {
            last_id = last_id.max(entry.id.0);
            let checks = entry.as_domain().into_iter().flat_map(|domain| &domain.checks);
            last_id = checks.map(|check| check.id.0).fold(last_id, u32::max);
            objects.put_type(entry);
        }
        for sequence in entries.sequences {
            last_id = last_id.max(sequence.id.0);
            objects.put_sequence(sequence);
        }
        let mut restored = Catalog {
            version,
            last_version: Arc::new(AtomicU64::new(version)),
            last_id,
            last_temporary: Arc::default(),
            objects,
            comments: Arc::new(entries.comments),
            access: entries.access,
        };
        restored.comments = Arc::new(restored.comments());
        restored.access = restored.current_access();
        let roles = restored
            .access
            .roles
            .keys()
            .filter_map(|role| ObjectId::of_oid(role.0));
        restored.last_id = roles.map(|id| id.0).fold(restored.last_id, u32::max);
        restored
    }

    /// The entries, from which [`Catalog::restore`] makes this version again.
    pub fn entries(&self) -> Entries {
        Entries {
            schemas: self.schemas().cloned().collect(),
            relations: self.relations().cloned().collect(),
            types: self.types().cloned().collect(),
            sequences: self.sequences().cloned().collect(),
            comments: self.comments(),
            access: self.current_access(),
        }
    }

    /// Grows with each change: plans made for one version may not fit another. A number is never used again, though the
    /// transaction that made the version was rolled back.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The greatest id ever given.
    pub fn last_id(&self) -> u32 {
        self.last_id
    }

    /// The tables and views, by schema and name.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.objects.relations()
    }

    /// The tables, by schema and name.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<TableEntry>> {
        self.relations().filter_map(|r| match r {
            Relation::Table(table) => Some(table),
            Relation::View(_) => None,
        })
    }

    /// The views, by schema and name.
    pub fn views(&self) -> impl Iterator<Item = &Arc<ViewEntry>> {
        self.relations().filter_map(|r| match r {
            Relation::Table(_) => None,
            Relation::View(view) => Some(view),
        })
    }

    /// A table or view by its name, if there is one.
    pub fn relation(&self, name: &QualifiedName) -> Option<&Relation> {
        self.objects.relation(name)
    }

    /// A table or view by its identity, if there is one.
    pub fn relation_of(&self, id: ObjectId) -> Option<&Relation> {
        self.objects.relation_of(id)
    }

    /// True if a table, view, index or sequence has the name.
    pub fn has_relation(&self, name: &QualifiedName) -> bool {
        self.objects.has_relation(name)
    }

    /// A table by its name, if there is one.
    pub fn find(&self, name: &QualifiedName) -> Option<&Arc<TableEntry>> {
        match self.relation(name)? {
            Relation::Table(table) => Some(table),
            Relation::View(_) => None,
        }
    }

    /// A table by its name; 42P01 with the nearest name if there is none, 42809 if it is a view's.
    pub fn table(&self, name: &QualifiedName) -> Result<&Arc<TableEntry>> {
        match self.relation(name) {
            Some(Relation::Table(table)) => Ok(table),
            Some(Relation::View(_)) => Err(not_a_table(&name.name)),
            None if self.has_relation(name) => Err(not_a_table(&name.name)),
            None => Err(self.missing(RelationKind::Table, name)),
        }
    }

    /// 42P01 with the nearest name of the schema, 3F000 without the schema.
    fn missing(&self, kind: RelationKind, name: &QualifiedName) -> Error {
        if name.schema != SYSTEM_SCHEMA && self.schema(&name.schema).is_none() {
            return missing_schema(&name.schema);
        }
        let message = format!("{} \"{}\" does not exist", kind.name(), name.name);
        let error = Error::new(SqlState::UNDEFINED_TABLE, message);
        match nearest(&name.name, self.objects.relation_names(&name.schema)) {
            Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
            None => error,
        }
    }

    /// The same under a new number.
    fn next(&self) -> Catalog {
        Catalog {
            version: 1 + self.last_version.fetch_add(1, Ordering::Relaxed),
            ..self.clone()
        }
    }

    /// The next version, with one more table that has no constraints: see [`Catalog::create`].
    pub fn create_table(
        &self,
        name: &QualifiedName,
        schema: Arc<Schema>,
        options: TableOptions,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        self.create(NewTable {
            name: name.clone(),
            schema,
            options,
            constraints: Vec::new(),
        })
    }

    /// The next version, with one more table; 3F000 without the schema, 42P07 if the name is taken, 42710 if a type has
    /// it, 42701 if a column name is used twice, and the errors of [`Catalog::add_constraints`].
    pub fn create(&self, new: NewTable) -> Result<(Catalog, Arc<TableEntry>)> {
        let NewTable {
            name,
            schema,
            options,
            constraints,
        } = new;
        let namespace = self.namespace(&name.schema)?;
        if self.has_relation(&name) {
            return Err(view::taken(&name.name));
        }
        self.refuse_type_name(&name)?;
        for (i, column) in schema.columns.iter().enumerate() {
            if schema.columns[..i].iter().any(|c| c.name == column.name) {
                return Err(Error::new(
                    SqlState::DUPLICATE_COLUMN,
                    format!("column \"{}\" is named more than once", column.name),
                ));
            }
        }
        let mut next = self.next();
        let entry = TableEntry {
            namespace,
            ..TableEntry::new(next.take_id(namespace), name.name, schema, options)
        };
        let entry = next.put(entry);
        match constraints.is_empty() {
            true => Ok((next, entry)),
            false => next.add_constraints(entry.id, constraints),
        }
    }

    /// The next version, with other options of a table, which stays the same table. An internal error if there is none
    /// of that id.
    pub fn set_options(&self, table: ObjectId, options: TableOptions) -> Result<(Catalog, Arc<TableEntry>)> {
        let mut entry = (*self.by_id(table)?).clone();
        entry.options = options;
        let mut next = self.next();
        let entry = next.put(entry);
        Ok((next, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::LogicalType;

    fn schema() -> Arc<Schema> {
        Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]))
    }

    #[test]
    fn versions_are_immutable_and_ids_never_reused() {
        let empty = Catalog::new();
        let (one, t) = empty
            .create_table(&"lineitem".into(), schema(), TableOptions::default())
            .unwrap();
        assert!(empty.find(&"lineitem".into()).is_none());
        let (none, _) = one.drop_relations(&DropRelations::table("lineitem")).unwrap();
        let (again, u) = none
            .create_table(&"lineitem".into(), schema(), TableOptions::default())
            .unwrap();
        assert!(t.id != u.id && again.version() > one.version());
        assert_eq!(one.table(&"lineitem".into()).unwrap().id, t.id);
        let options = TableOptions {
            pax_rows: 1,
            ..TableOptions::default()
        };
        let (changed, same) = one.set_options(t.id, options).unwrap();
        assert!(same.id == t.id && same.options.pax_rows == 1 && changed.version() > one.version());
        assert_eq!(
            one.table(&"lineitem".into()).unwrap().options,
            TableOptions::default()
        );
    }

    #[test]
    fn the_number_of_a_version_is_not_used_again_after_a_rollback() {
        let empty = Catalog::new();
        let make = |name| {
            (empty.create_table(&QualifiedName::in_public(name), schema(), TableOptions::default()))
                .unwrap()
                .0
        };
        let (rolled_back, committed) = (make("t"), make("u"));
        assert!(committed.version() > rolled_back.version());
        let restored = Catalog::restore(committed.version(), 1, Catalog::new().entries());
        assert!(restored.drop_relations(&DropRelations::table("t")).is_err());
        let next = restored.create_table(&"v".into(), schema(), TableOptions::default());
        assert_eq!(next.unwrap().0.version(), committed.version() + 1);
    }

    #[test]
    fn an_unknown_table_names_its_neighbour() {
        let (c, _) = Catalog::new()
            .create_table(&"lineitem".into(), schema(), TableOptions::default())
            .unwrap();
        let error = c.table(&"lineitme".into()).unwrap_err();
        assert_eq!(error.state(), SqlState::UNDEFINED_TABLE);
        assert_eq!(error.hint(), Some("did you mean \"lineitem\"?"));
        let twice = c.create_table(&"lineitem".into(), schema(), TableOptions::default());
        assert_eq!(twice.unwrap_err().state(), SqlState::DUPLICATE_TABLE);
    }
}
