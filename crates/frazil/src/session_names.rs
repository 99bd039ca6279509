//! The catalog as functions ask it: names along the session's path, definitions, and oids of names.

use crate::system_tables;
use crate::table_info::{check_text, definition, index_definition, view_text};
use frazil_catalog::{
    Catalog, Commented, ConstraintKind, Guarded, IndexEntry, QualifiedName, Relation, RoleId, SearchPath,
};
use frazil_catalog::{
    SequenceEntry, TEMPORARY_ALIAS, TableEntry, WrittenName, identifier, is_temporary_schema, key_sql,
};
use frazil_frontend::{Asked, AskedColumn, Bytes, SessionCatalog};
use frazil_storage::{Snapshot, TableSnapshot};
use frazil_types::{ColumnDef, ObjectId, Schema, attribute_number, session_settings};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The catalog of a statement, the path of its session and the current role.
#[derive(Debug)]
pub struct SessionNames {
    snapshot: Arc<Snapshot>,
    path: SearchPath,
    role: RoleId,
    /// The tables of all indexes and constraints by the ids of these; made when one is asked for.
    owners: OnceLock<HashMap<ObjectId, ObjectId>>,
}

impl SessionNames {
    /// Answers questions about a snapshot, by the rights of a role.
    pub fn new(snapshot: Arc<Snapshot>, path: SearchPath, role: RoleId) -> SessionNames {
        SessionNames {
            snapshot,
            path,
            role,
            owners: OnceLock::new(),
        }
    }

    /// The table of an index or a constraint.
    fn owner(&self, part: ObjectId) -> Option<&Arc<TableEntry>> {
        let owners = self.owners.get_or_init(|| {
            let of_table = |table: &'_ Arc<TableEntry>| {
                let indexes = table.indexes.iter().map(|index| index.id);
                let parts = indexes.chain(table.constraints.iter().map(|constraint| constraint.id));
                let id = table.id;
                parts.map(move |part| (part, id)).collect::<Vec<_>>()
            };
            self.catalog().tables().flat_map(of_table).collect()
        });
        self.catalog().table_by_id(*owners.get(&part)?)
    }

    fn index(&self, oid: u32) -> Option<(&Arc<TableEntry>, &Arc<IndexEntry>)> {
        let id = ObjectId::of_oid(oid)?;
        let table = self.owner(id)?;
        Some((table, table.index(id)?))
    }

    /// The name of a relation or type in its schema.
    fn name_of(&self, asked: Asked, oid: u32) -> Option<QualifiedName> {
        let catalog = self.catalog();
        let id = ObjectId::of_oid(oid);
        if asked == Asked::Type {
            let entry = catalog.user_type_of(id?)?;
            return Some(catalog.qualified(entry.namespace, &entry.name));
        }
        if let Some(table) = system_tables::named_by(oid) {
            return Some(QualifiedName::new(table.schema, &table.name));
        }
        if let Some(relation) = catalog.relation_of(id?) {
            return Some(catalog.qualified(relation.namespace(), relation.name()));
        }
        if let Some(sequence) = catalog.sequence_of(id?) {
            return Some(catalog.qualified(sequence.namespace, &sequence.name));
        }
        let (table, index) = self.index(oid)?;
        Some(catalog.qualified(table.namespace, &index.name))
    }

    /// The oid of the object of a name in its schema.
    fn oid_of(&self, asked: Asked, name: &QualifiedName) -> Option<u32> {
        let catalog = self.catalog();
        if asked == Asked::Type {
            return Some(catalog.user_type(name)?.id.oid());
        }
        let relation = || catalog.relation(name).map(Relation::id);
        let index = || catalog.index(name).map(|index| index.id);
        let sequence = || catalog.sequence(name).map(|sequence| sequence.id);
        let own = relation().or_else(index).or_else(sequence).map(ObjectId::oid);
        own.or_else(|| system_tables::oid_of(&name.schema, &name.name))
    }

    fn found(&self, asked: Asked, written: &WrittenName) -> Option<u32> {
        let candidates = self.path.candidates(&self.catalog().without_alias(written));
        candidates.iter().find_map(|name| self.oid_of(asked, name))
    }

    /// The name by which the session finds an object: without its schema if that suffices.
    fn shown(&self, asked: Asked, oid: u32) -> Option<String> {
        let name = self.name_of(asked, oid)?;
        let bare = WrittenName::unqualified(name.name.clone());
        Some(match self.found(asked, &bare) == Some(oid) {
            true => identifier(&name.name),
            false => name.to_string(),
        })
    }

    /// The name by which the session finds a table.
    fn shown_table(&self, table: &TableEntry) -> String {
        self.catalog().shown_table(table, &self.path)
    }

    fn constraint(&self, oid: u32) -> Option<String> {
        let id = ObjectId::of_oid(oid)?;
        if let Some((_, check)) = self.catalog().check_of_domain(id) {
            return Some(check_text(&check.expression, check.is_valid));
        }
        let table = self.owner(id)?;
        let constraint = table.constraints.iter().find(|constraint| constraint.id == id)?;
        Some(match &constraint.kind {
            ConstraintKind::Check {
                expression, is_valid, ..
            } => check_text(expression, *is_valid),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => definition(table, constraint, self.catalog(), &|parent| {
                self.shown_table(parent)
            }),
        })
    }
}

/// Names and numbers of the columns that every table has beside its own.
const SYSTEM_COLUMNS: [(&str, i64); 6] = [
    ("ctid", -1),
    ("xmin", -2),
    ("cmin", -3),
    ("xmax", -4),
    ("cmax", -5),
    ("tableoid", -6),
];

impl SessionCatalog for SessionNames {
    fn catalog(&self) -> &Catalog {
        self.snapshot.catalog()
    }

    fn role(&self) -> RoleId {
        self.role
    }

    fn column(&self, relation: u32, column: AskedColumn<'_>) -> Option<Option<Guarded>> {
        let is_it = |name: &str, number: i64| match column {
            AskedColumn::Named(asked) => asked == name,
            AskedColumn::Numbered(asked) => asked == number,
        };
        let is_own =
            |columns: &[ColumnDef], at: usize| is_it(&columns[at].name, attribute_number(columns, at).into());
        let system = || {
            SYSTEM_COLUMNS
                .iter()
                .any(|(name, number)| is_it(name, *number))
                .then_some(None)
        };
        if let Some(table) = system_tables::named_by(relation) {
            let columns = &table.columns.columns;
            let found = (0..columns.len()).any(|at| is_own(columns, at)).then_some(None);
            return found.or_else(|| system().filter(|_| !table.is_view));
        }
        let id = ObjectId::of_oid(relation)?;
        let catalog = self.catalog();
        match catalog.relation_of(id) {
            Some(relation) => {
                let columns = relation.columns();
                let found = (0..columns.len()).find(|at| is_own(columns, *at));
                match (found, relation) {
                    (Some(at), _) => Some(catalog.column_key(id, at)),
                    (None, Relation::Table(_)) => system(),
                    (None, Relation::View(_)) => None,
                }
            }
            None => {
                let of_sequence = [("last_value", 1), ("log_cnt", 2), ("is_called", 3)];
                let mut all = of_sequence.iter().chain(&SYSTEM_COLUMNS);
                let is_there = catalog.sequence_of(id).is_some() && all.any(|(name, n)| is_it(name, *n));
                is_there.then_some(None)
            }
        }
    }

    fn answer(&self, asked: Asked, oid: u32) -> Option<String> {
        let catalog = self.catalog();
        match asked {
            Asked::Relation => self.shown(asked, oid),
            Asked::Type => match ObjectId::of_array_oid(oid) {
                Some(element) => Some(format!("{}[]", self.shown(asked, element.oid())?)),
                None => self.shown(asked, oid),
            },
            Asked::Schema => {
                let mut schemas = system_tables::namespaces(catalog).into_iter();
                schemas
                    .find(|schema| schema.1 == oid)
                    .map(|schema| identifier(&schema.0))
            }
            Asked::Constraint => self.constraint(oid),
            Asked::Index => {
                let (table, index) = self.index(oid)?;
                let name = catalog.qualified(table.namespace, &table.name);
                Some(index_definition(&name.to_string(), table, index))
            }
            Asked::ShortIndex => {
                let (table, index) = self.index(oid)?;
                Some(index_definition(&self.shown_table(table), table, index))
            }
            Asked::View => match catalog.relation_of(ObjectId::of_oid(oid)?)? {
                Relation::View(view) => Some(view_text(view, catalog)),
                Relation::Table(table) => Some(view_text(&*table.as_view()?, catalog)),
            },
            Asked::Role => {
                let role = catalog.access().role(RoleId(oid))?;
                Some(role.name.clone())
            }
            Asked::Database => (oid == system_tables::DATABASE).then(session_settings::database),
            Asked::Sequence => {
                let sequence = catalog.sequence_of(ObjectId::of_oid(oid)?)?;
                Some(sequence.name.clone())
            }
        }
    }

    fn is_visible(&self, asked: Asked, oid: u32) -> Option<bool> {
        let name = self.name_of(asked, oid)?;
        Some(self.found(asked, &WrittenName::unqualified(name.name)) == Some(oid))
    }

    fn find(&self, asked: Asked, text: &str) -> Option<u32> {
        match asked {
            Asked::Schema => {
                let name = WrittenName::read(text).name;
                let mut schemas = system_tables::namespaces(self.catalog()).into_iter();
                schemas.find(|schema| schema.0 == name).map(|schema| schema.1)
            }
            Asked::Type => match text.trim().strip_suffix("[]") {
                Some(element) => self
                    .found(asked, &WrittenName::read(element))
                    .and_then(ObjectId::of_oid)
                    .map(ObjectId::array_oid),
                None => {
                    let name = WrittenName::read(text);
                    let array = || Some(ObjectId::of_oid(self.found(asked, &name.element()?)?)?.array_oid());
                    self.found(asked, &name).or_else(array)
                }
            },
            Asked::Relation
            | Asked::Constraint
            | Asked::Index
            | Asked::ShortIndex
            | Asked::View
            | Asked::Sequence => self.found(asked, &WrittenName::read(text)),
            Asked::Database => (WrittenName::read(text).name == session_settings::database())
                .then_some(system_tables::DATABASE),
            Asked::Role => {
                let role = self
                    .catalog()
                    .access()
                    .role_named(&WrittenName::read(text).name)?;
                Some(role.id.0)
            }
        }
    }

    fn owned_sequence(&self, relation: u32, column: &str) -> Option<Option<String>> {
        let catalog = self.catalog();
        let columns = |schema: &Schema| schema.index_of(column).map(|at| schema.columns[at].number);
        let found = ObjectId::of_oid(relation).and_then(|id| catalog.relation_of(id));
        let (table, number) = match found {
            Some(Relation::Table(table)) => (table, columns(&table.schema)?),
            Some(Relation::View(view)) => return columns(&view.schema).map(|_| None),
            // Indexes, sequences and system tables own none.
            None => return Some(None),
        };
        let is_owned = |sequence: &&Arc<SequenceEntry>| {
            let owner = sequence.owner.as_ref();
            owner.is_some_and(|owner| owner.table == table.id && owner.column == number)
        };
        let sequence = catalog.sequences().find(is_owned);
        Some(sequence.map(|sequence| {
            let name = catalog.qualified(sequence.namespace, &sequence.name);
            let schema = match is_temporary_schema(&name.schema) {
                true => TEMPORARY_ALIAS.to_string(),
                false => name.schema,
            };
            QualifiedName::new(schema, name.name).to_string()
        }))
    }

    fn comment(&self, oid: u32, column: i64, class: Option<&str>) -> Option<String> {
        let catalog = self.catalog();
        let of = match ObjectId::of_oid(oid) {
            None if oid == system_tables::DATABASE && class == Some("pg_database") => Commented::Database,
            None => return None,
            Some(id) if class.is_some_and(|class| class != system_tables::class_of(catalog, id)) => {
                return None;
            }
            Some(id) if column == 0 => Commented::Object(id),
            Some(id) => {
                let columns = match catalog.relation_of(id)? {
                    Relation::Table(table) => &table.schema.columns,
                    Relation::View(view) => &view.schema.columns,
                };
                let is_it = |at: &usize| i64::from(attribute_number(columns, *at)) == column;
                let position = (0..columns.len()).find(is_it)?;
                catalog.column_key(id, position)?
            }
        };
        catalog.comment(of).map(|text| text.to_string())
    }

    fn index_column(&self, index: u32, position: i64) -> Option<String> {
        let (table, index) = self.index(index)?;
        let keys = index
            .keys
            .iter()
            .map(|key| key.column)
            .chain(index.include.iter().copied());
        let column = usize::try_from(position).ok()?.checked_sub(1)?;
        keys.clone().nth(column).map(|column| key_sql(table, column))
    }

    fn bytes(&self, relation: u32, of: Bytes) -> Option<u64> {
        self.name_of(Asked::Relation, relation)?;
        let id = ObjectId::of_oid(relation);
        let bytes = match (self.index(relation), of) {
            (Some((table, index)), Bytes::Own) => {
                let table = self.snapshot.table(table.id).ok();
                let built = table.and_then(|table| table.indexes().iter().find(|i| i.entry().id == index.id));
                built.map_or(0, |built| built.bytes())
            }
            (Some(_), Bytes::Indexes) => 0,
            (None, of) => {
                let table = id.and_then(|id| self.snapshot.table(id).ok());
                table.map_or(0, |table| bytes_of(table, of))
            }
        };
        Some(bytes as u64)
    }

    fn bytes_of_database(&self) -> u64 {
        let tables = self.snapshot.tables();
        let both = tables.map(|table| bytes_of(table, Bytes::Own) + bytes_of(table, Bytes::Indexes));
        both.sum::<usize>() as u64
    }
}

/// The bytes of a table's chunks or of its indexes.
fn bytes_of(table: &TableSnapshot, of: Bytes) -> usize {
    match of {
        Bytes::Own => table.chunks().map(|chunk| chunk.bytes()).sum(),
        Bytes::Indexes => table.indexes().iter().map(|index| index.bytes()).sum(),
    }
}
