//! The tables a statement sees: one snapshot, and system tables made when a statement names them.

use crate::entries_read::EntriesRead;
use crate::file_tables::FileTables;
use crate::frame_tables::{FrameTables, Frames};
use crate::session_names::SessionNames;
use crate::session_view::SessionView;
use crate::slots::Slots;
use crate::statement_samples::StatementSamples;
use crate::system_rows::SystemRows;
use crate::system_tables::{self, Context, MOST_TABLES, STANDARD_SCHEMA, VirtualTable, Wanted};
use crate::used_tables::UsedTables;
use frazil_catalog::{
    Catalog, Demand, Guarded, QualifiedName, Reading, Rights, RoleId, SYSTEM_SCHEMA, SearchPath,
    SequenceEntry, TypeEntry,
};
use frazil_durability::Directory;
use frazil_files::ReadLimits;
use frazil_frontend::{
    CatalogView, FileSource, Limits, MOST_WRITES, RETURNED_ID, RegisteredCatalog, Relation, TableEntry,
    UserRoles,
};
use frazil_plan::operators::Scan;
use frazil_plan::{
    Bounds, ColumnId, IndexInfo, IndexKeyInfo, Plan, SampleSize, SampledRows, Statistics, StoredExpression,
};
use frazil_storage::{Snapshot, TableIndex, TableSnapshot, TableStatistics, WidestBounds};
use frazil_types::{ColumnNumber, Error, KeySketch, MatchBits, ObjectId, Restriction, Result, Schema, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// Rows that a system table seems to have before a plan says which are needed.
const UNKNOWN_ROWS: u64 = 1_000;
/// Ids of system tables in plans count down from here; the catalog counts from 1 and never gets there.
const SYSTEM_ID: u32 = u32::MAX;

/// The place of a table that shows what a WITH query returned.
fn returned_place(id: ObjectId) -> Option<usize> {
    let place = RETURNED_ID.checked_sub(id.0)? as usize;
    (place < MOST_WRITES).then_some(place)
}

/// What one statement sees.
#[derive(Debug)]
pub struct StatementTables {
    snapshot: Arc<Snapshot>,
    /// The path along which names without a schema are found.
    path: SearchPath,
    /// The roles of the session.
    user: UserRoles,
    /// The session of the statement.
    session: Option<Weak<dyn SessionView>>,
    /// Where the database lies. It may be closed meanwhile.
    directory: Weak<Directory>,
    /// The system tables that were named, by their places in [`system_tables::tables`].
    system: Slots<SystemRows, MOST_TABLES>,
    /// The files that were named.
    files: FileTables,
    /// The frames that were named.
    frames: FrameTables,
    /// What WITH queries returned, once they ran.
    returned: Slots<Arc<TableSnapshot>, MOST_WRITES>,
    /// Bounds of tables as they were when the statement first asked: a plan is proved from one state of them.
    bounds: Mutex<BTreeMap<ObjectId, Arc<WidestBounds>>>,
    /// Samples of the tables of the snapshot.
    samples: StatementSamples,
    /// The error of the first damaged table that was named.
    damage: Mutex<Option<Error>>,
    /// The lookups in the catalog, with the entries that they found.
    entries: Mutex<EntriesRead>,
    /// The catalog for functions that ask it, once a call needs it.
    registered: OnceLock<RegisteredCatalog>,
    /// True if tables are seen without their checks that are NOT VALID.
    hides_open_checks: bool,
    /// The tables that the session uses, if the statement asks for them.
    used: UsedTables,
}

impl StatementTables {
    /// The tables of a snapshot; names without a schema are those of `public`, as in texts that the catalog keeps.
    pub fn new(snapshot: Arc<Snapshot>) -> StatementTables {
        StatementTables {
            snapshot,
            path: SearchPath::public(),
            user: UserRoles::SUPERUSER,
            session: None,
            directory: Weak::new(),
            files: FileTables::new(ReadLimits::default()),
            frames: FrameTables::new(None, ReadLimits::default()),
            system: Slots::new(),
            returned: Slots::new(),
            bounds: Mutex::default(),
            samples: StatementSamples::default(),
            damage: Mutex::default(),
            entries: Mutex::default(),
            registered: OnceLock::new(),
            hides_open_checks: false,
            used: UsedTables::default(),
        }
    }

    /// Hides checks that are NOT VALID: for an update by which no user changes a row.
    pub fn without_open_checks(self) -> StatementTables {
        StatementTables {
            hides_open_checks: true,
            ..self
        }
    }

    /// Refuses definitions of tables that the session uses.
    pub fn sparing(self, used: UsedTables) -> StatementTables {
        StatementTables { used, ..self }
    }

    /// Finds names without a schema along a session's path.
    pub fn searching(self, path: SearchPath) -> StatementTables {
        StatementTables { path, ..self }
    }

    /// Asks for the rights of a session's roles, which find no names in schemas without USAGE.
    pub fn of_user(self, user: UserRoles) -> StatementTables {
        if user.current == RoleId::SUPERUSER {
            return StatementTables { user, ..self };
        }
        let catalog = self.guard();
        let is_usable = |name: &str| match catalog.schema(name) {
            Some(schema) => {
                let usage = Demand::All(Guarded::Object(schema.id), Rights::USAGE);
                catalog.permits(user.current, &usage)
            }
            None => true,
        };
        let path = self.path.within(is_usable);
        StatementTables { user, path, ..self }
    }

    /// Shows the session in system tables.
    pub fn of_session(self, session: Weak<dyn SessionView>) -> StatementTables {
        StatementTables {
            session: Some(session),
            ..self
        }
    }

    /// The same, of a database that lies in a directory.
    pub fn of_directory(self, directory: Weak<Directory>) -> StatementTables {
        StatementTables { directory, ..self }
    }

    /// The same; files, and the frames that `frames` finds, are read within `limits`.
    pub fn reading_within(self, limits: ReadLimits, frames: Option<Arc<dyn Frames>>) -> StatementTables {
        StatementTables {
            files: FileTables::new(limits.clone()),
            frames: FrameTables::new(frames, limits),
            ..self
        }
    }

    /// The number by which functions find the catalog, as long as the statement has these tables.
    pub fn catalog_number(&self) -> i64 {
        let names = || SessionNames::new(self.snapshot.clone(), self.path.clone(), self.user.current);
        let registered = self
            .registered
            .get_or_init(|| RegisteredCatalog::new(Arc::new(names())));
        registered.number()
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The entries of the catalog that were looked up so far.
    pub fn entries_read(&self) -> EntriesRead {
        self.entries.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// Looks something up in the catalog, and notes what was found.
    fn look_up<T>(&self, look: impl FnOnce(&mut EntriesRead, &Catalog) -> T) -> T {
        let mut entries = self.entries.lock().unwrap_or_else(|e| e.into_inner());
        look(&mut entries, self.snapshot.catalog())
    }

    /// The rows of a table.
    pub fn resolve(&self, id: ObjectId) -> Result<Arc<TableSnapshot>> {
        if let Some(found) = self.find(id) {
            return Ok(found);
        }
        let place = StatementTables::system_place(id);
        match place.and_then(|place| Some((place, self.system.get(place)?))) {
            Some((place, rows)) => {
                rows.need(Wanted::All, &|wanted| {
                    self.make(&system_tables::tables()[place], wanted)
                })?;
                self.find(id)
                    .ok_or_else(|| Error::internal("a system table without rows"))
            }
            None => self.snapshot.table(id).cloned(),
        }
    }

    /// Whether statements may only read the table: it is a system table, a file or a frame.
    pub fn is_system_table(id: ObjectId) -> bool {
        StatementTables::system_place(id).is_some()
            || returned_place(id).is_some()
            || FileTables::is_file(id)
            || FrameTables::is_frame(id)
    }

    /// Says what a WITH query returned.
    pub fn set_returned(&self, id: ObjectId, rows: Arc<TableSnapshot>) -> Result<()> {
        let place = returned_place(id).map(|place| self.returned.places()[place].set(rows));
        match place {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(Error::internal(
                "rows of a WITH query that is none, or ran before",
            )),
        }
    }

    /// The error of a table that is damaged, or of a name that looked like a frame's, once: it says more than that
    /// there is no such table.
    pub fn take_error(&self) -> Option<Error> {
        let damage = self.damage.lock().unwrap_or_else(|e| e.into_inner()).take();
        damage.or_else(|| self.frames.take_error())
    }

    fn system_place(id: ObjectId) -> Option<usize> {
        Some((SYSTEM_ID - id.0) as usize).filter(|&place| place < MOST_TABLES)
    }

    /// The rows of a table, as far as they are made.
    fn find(&self, id: ObjectId) -> Option<Arc<TableSnapshot>> {
        if let Some(place) = StatementTables::system_place(id) {
            return self.system.get(place)?.made();
        }
        let found = match id {
            _ if returned_place(id).is_some() => self.returned.get(returned_place(id)?),
            _ if FileTables::is_file(id) => return self.files.find(id),
            _ if FrameTables::is_frame(id) => self.frames.find(id),
            _ => self.snapshot.table(id).ok(),
        };
        found.cloned()
    }

    /// True if there are files or system tables whose rows are read or made only when a plan says which it needs.
    pub fn waits_for_plans(&self) -> bool {
        self.files.waits_for_plans() || self.system.filled().any(|(_, rows)| rows.waits())
    }

    /// Reads or makes the rows of such tables that a plan needs. Parameters have these values.
    pub fn read_for(&self, plan: &Plan, parameters: &[Value]) -> Result<()> {
        for (place, rows) in self.system.filled().filter(|(_, rows)| rows.waits()) {
            let table = &system_tables::tables()[place];
            let id = ObjectId(SYSTEM_ID - place as u32);
            let values = |scan: &Scan, column| self.few_values(scan, column, parameters);
            let wanted = system_tables::wanted_by(plan, (id, &table.columns), parameters, &values);
            if let Some(wanted) = wanted {
                rows.need(wanted, &|wanted| self.make(table, wanted))?;
            }
        }
        for id in self.files.read_for(plan, parameters)? {
            let mut known = self.bounds.lock().unwrap_or_else(|e| e.into_inner());
            known.remove(&id);
        }
        Ok(())
    }

    /// What holds for every version of a table; `None` if there is none of that id.
    fn widest_bounds(&self, table: ObjectId) -> Option<Arc<WidestBounds>> {
        let version = self.find(table)?;
        let mut known = self.bounds.lock().unwrap_or_else(|e| e.into_inner());
        let bounds = known.entry(table).or_insert_with(|| {
            // The snapshot was taken before: the bounds hold its rows.
            Arc::new(version.table().bounds().widest())
        });
        Some(bounds.clone())
    }

    /// Whether the statement names a system table, a file or a frame: they are made of what the statement sees, and
    /// nothing tells when a plan over them no longer serves.
    pub fn names_system_tables(&self) -> bool {
        !self.files.is_empty() || !self.frames.is_empty() || self.system.filled().next().is_some()
    }

    fn statistics(&self, table: ObjectId) -> Option<Arc<TableStatistics>> {
        if FrameTables::is_frame(table) || self.files.is_lazy(table) {
            // Columns that the statement does not read would be read for it.
            return None;
        }
        // A block that cannot be read is an error of the statement that reads it, not of its planning.
        self.find(table)?.statistics().ok()
    }
}

impl StatementTables {
    /// A relation of the catalog as the front end sees it. `None` for a table that is damaged; its error is kept.
    fn seen(&self, relation: &frazil_catalog::Relation) -> Option<Relation> {
        if let Some(damage) = self.snapshot.damage(relation.id()) {
            let mut kept = self.damage.lock().unwrap_or_else(|e| e.into_inner());
            kept.get_or_insert_with(|| damage.clone());
            return None;
        }
        Some(match relation {
            frazil_catalog::Relation::View(view) => Relation::View(view.clone()),
            frazil_catalog::Relation::Table(entry) => Relation::Table(TableEntry {
                id: entry.id,
                oid: Some(entry.id.oid()),
                schema_name: self.snapshot.catalog().qualified(entry.namespace, "").schema,
                name: entry.name.clone(),
                schema: entry.schema.clone(),
                hidden: entry.hidden.clone(),
                row_count: self.snapshot.table(entry.id).map_or(0, |t| t.rows()),
                constraints: match self.hides_open_checks {
                    true => entry
                        .constraints
                        .iter()
                        .filter(|c| c.is_valid())
                        .cloned()
                        .collect(),
                    false => entry.constraints.clone(),
                },
                indexes: entry.indexes.clone(),
                materialized: (entry.materialized.as_ref())
                    .and_then(|materialized| Some((entry.as_view()?, materialized.is_populated))),
            }),
        })
    }

    /// Makes rows of a system table.
    fn make(&self, table: &'static VirtualTable, wanted: &Wanted) -> Result<Arc<TableSnapshot>> {
        self.in_context(wanted, |context| table.table(context))
    }

    fn in_context<T>(&self, wanted: &Wanted, work: impl FnOnce(&Context<'_>) -> T) -> T {
        let directory = self.directory.upgrade();
        work(&Context {
            snapshot: &self.snapshot,
            path: &self.path,
            user: self.user,
            session: self.session.as_ref().and_then(Weak::upgrade),
            directory: directory.as_deref(),
            system: system_tables::tables(),
            wanted,
        })
    }

    /// The values of a column that a scan of a system table makes, if its restrictions leave few.
    fn few_values(&self, scan: &Scan, column: ColumnId, parameters: &[Value]) -> Option<Vec<Value>> {
        let table = system_tables::tables().get(StatementTables::system_place(scan.table)?)?;
        let wanted = system_tables::wanted_by_scan(scan, &table.columns, parameters)?;
        let position = scan.columns.iter().find(|made| made.0 == column)?.1;
        self.in_context(&wanted, |context| table.values(context, position))
    }

    /// A system table. Rows that a plan may leave out are made once a plan asks for the others.
    fn system_table(&self, schema: &str, name: &str) -> Option<TableEntry> {
        let place = system_tables::place_of(schema, name)?;
        let table = &system_tables::tables()[place];
        let rows = match self.system.get(place) {
            Some(rows) => rows,
            None => {
                let kept = self.in_context(&Wanted::All, |context| table.kept(context));
                let kept = kept.transpose().ok()?;
                self.system.places()[place].get_or_init(|| SystemRows::new(kept))
            }
        };
        Some(TableEntry {
            id: ObjectId(SYSTEM_ID - place as u32),
            oid: table.oid,
            schema_name: schema.to_owned(),
            name: name.to_owned(),
            schema: table.read_columns().ok()?,
            hidden: Vec::new(),
            row_count: rows.made().map_or(UNKNOWN_ROWS, |rows| rows.rows()),
            constraints: Vec::new(),
            indexes: Vec::new(),
            materialized: None,
        })
    }
}

impl StatementTables {
    /// Whether no two rows have one value of a column, because a unique index has it alone as its key.
    fn is_key(&self, table: ObjectId, column: usize) -> bool {
        self.find(table).is_some_and(|found| {
            let mut indexes = found.indexes().iter();
            indexes.any(|index| index.entry().is_key() && *index.columns() == [column])
        })
    }
}

impl CatalogView for StatementTables {
    fn user(&self) -> UserRoles {
        self.user
    }

    fn guard(&self) -> &Catalog {
        self.look_up(|entries, catalog| entries.access(catalog));
        self.snapshot.catalog()
    }

    fn path(&self) -> &SearchPath {
        &self.path
    }

    fn has_schema(&self, name: &str) -> bool {
        name == STANDARD_SCHEMA || self.look_up(|entries, catalog| entries.schema(catalog, name).is_some())
    }

    fn schema_id(&self, name: &str) -> Option<ObjectId> {
        self.look_up(|entries, catalog| entries.schema(catalog, name).map(|schema| schema.id))
    }

    fn index_id(&self, name: &QualifiedName) -> Option<ObjectId> {
        self.snapshot.catalog().index(name).map(|index| index.id)
    }

    fn relation(&self, name: &QualifiedName) -> Option<Relation> {
        if name.schema == STANDARD_SCHEMA {
            return self
                .system_table(STANDARD_SCHEMA, &name.name)
                .map(Relation::Table);
        }
        if name.schema == SYSTEM_SCHEMA {
            let table = self.system_table(SYSTEM_SCHEMA, &name.name);
            return table
                .or_else(|| self.frames.table(&name.name))
                .map(Relation::Table);
        }
        let found = self.look_up(|entries, catalog| entries.relation(catalog, name).cloned());
        found.and_then(|relation| self.seen(&relation))
    }

    fn has_relation(&self, name: &QualifiedName) -> bool {
        self.snapshot.catalog().has_relation(name)
    }

    fn relation_of(&self, id: ObjectId) -> Option<Relation> {
        let found = self.look_up(|entries, catalog| entries.relation_of(catalog, id).cloned());
        found.and_then(|relation| self.seen(&relation))
    }

    fn type_schema(&self, id: ObjectId) -> Option<String> {
        let catalog = self.snapshot.catalog();
        Some(catalog.qualified(catalog.user_type_of(id)?.namespace, "").schema)
    }

    fn read_by(&self, reading: &Reading) -> Option<Relation> {
        match reading.id {
            Some(id) => self.relation_of(id),
            None => {
                let schema = reading.name.schema.as_deref().unwrap_or(SYSTEM_SCHEMA);
                self.system_table(schema, &reading.name.name).map(Relation::Table)
            }
        }
    }

    fn catalog_id(&self, table: ObjectId) -> Option<ObjectId> {
        (!StatementTables::is_system_table(table)).then_some(table)
    }

    fn file(&self, source: &FileSource) -> Result<TableEntry> {
        self.files.table(source)
    }

    fn user_type(&self, name: &QualifiedName) -> Option<Arc<TypeEntry>> {
        self.look_up(|entries, catalog| entries.user_type(catalog, name).cloned())
    }

    fn user_type_of(&self, id: ObjectId) -> Option<Arc<TypeEntry>> {
        self.look_up(|entries, catalog| entries.user_type_of(catalog, id).cloned())
    }

    fn columns_of_domain(&self, domain: ObjectId) -> Vec<(ObjectId, Arc<Schema>, Vec<usize>)> {
        let found = self.snapshot.catalog().columns_of_domain(domain).into_iter();
        found
            .map(|(table, positions)| (table.id, table.schema.clone(), positions))
            .collect()
    }

    fn sequence(&self, name: &QualifiedName) -> Option<Arc<SequenceEntry>> {
        self.look_up(|entries, catalog| entries.sequence(catalog, name).cloned())
    }

    fn sequence_of(&self, id: ObjectId) -> Option<Arc<SequenceEntry>> {
        self.look_up(|entries, catalog| entries.sequence_of(catalog, id).cloned())
    }

    fn owned_sequence(&self, table: ObjectId, column: ColumnNumber) -> Option<QualifiedName> {
        self.look_up(|entries, catalog| {
            entries.list(catalog);
            let owned = catalog
                .sequences()
                .find(|sequence| sequence.is_owned_by(table, column))?;
            Some(catalog.qualified(owned.namespace, &owned.name))
        })
    }

    fn refuse_used(&self, table: ObjectId, what: &str) -> Result<()> {
        self.used.refuse(self.snapshot.catalog(), table, what)
    }

    fn relation_names(&self) -> Vec<QualifiedName> {
        let mut names = self.own_relation_names();
        let tables = system_tables::tables().iter();
        names.extend(tables.map(|table| QualifiedName::new(table.schema, &table.name)));
        names
    }

    fn own_relation_names(&self) -> Vec<QualifiedName> {
        self.look_up(|entries, catalog| {
            entries.list(catalog);
            let relations = catalog.relations();
            relations
                .map(|r| catalog.qualified(r.namespace(), r.name()))
                .collect()
        })
    }
}

impl Statistics for StatementTables {
    fn row_count(&self, table: ObjectId) -> u64 {
        let unknown = match StatementTables::system_place(table) {
            Some(_) => UNKNOWN_ROWS,
            None => 0,
        };
        self.find(table).map_or(unknown, |t| t.rows())
    }

    fn exact_row_count(&self, table: ObjectId) -> Option<u64> {
        // Files are the statement's own, whose plan is not kept.
        self.files.is_lazy(table).then(|| self.row_count(table))
    }

    fn bounds(&self, table: ObjectId, column: usize) -> Option<Bounds> {
        if FrameTables::is_frame(table) {
            return None;
        }
        if self.files.is_lazy(table) {
            let (min, max) = self.files.range(table, column)?;
            return Some(Bounds { min, max });
        }
        let system = StatementTables::system_place(table).and_then(|place| self.system.get(place));
        if system.is_some_and(SystemRows::waits) {
            // Another plan of the statement may need rows beyond the bounds of those that are made.
            return None;
        }
        let (min, max) = self.widest_bounds(table)?.columns[column].range?;
        Some(Bounds { min, max })
    }

    fn distinct(&self, table: ObjectId, column: usize) -> Option<u64> {
        if self.is_key(table, column) {
            return Some(
                self.row_count(table)
                    .saturating_sub(self.null_count(table, column)),
            );
        }
        if self.files.is_lazy(table) {
            return self.files.about(table, column).0;
        }
        Some(self.statistics(table)?.columns[column].distinct as u64)
    }

    fn spread(&self, table: ObjectId, column: usize) -> Option<f64> {
        if self.files.is_lazy(table) {
            return None;
        }
        self.statistics(table)?.columns[column].spread
    }

    fn null_count(&self, table: ObjectId, column: usize) -> u64 {
        if self.files.is_lazy(table) {
            return self.files.about(table, column).1.unwrap_or(0);
        }
        (self.statistics(table)).map_or(0, |s| s.columns[column].bounds.nulls)
    }

    fn sample(&self, table: ObjectId) -> Option<SampleSize> {
        self.samples.size(&self.snapshot, table)
    }

    fn sampled(&self, rows: SampledRows, restriction: &Restriction) -> Option<Arc<MatchBits>> {
        self.samples.matching(&self.snapshot, rows, restriction)
    }

    fn key_sketch(&self, table: ObjectId, column: usize) -> Option<Arc<KeySketch>> {
        self.snapshot.table(table).ok()?.key_sketch(column)
    }

    fn indexes(&self, table: ObjectId) -> Vec<IndexInfo> {
        let Some(version) = self.find(table) else {
            return Vec::new();
        };
        let info = |index: &Arc<TableIndex>| {
            let entry = index.entry();
            let keys = entry.stored_keys().map(|key| IndexKeyInfo {
                column: key.column,
                descending: key.descending,
                nulls_first: key.nulls_first,
            });
            IndexInfo {
                id: entry.id,
                name: entry.name.clone(),
                unique: entry.is_key(),
                keys: keys.collect(),
            }
        };
        version.indexes().iter().map(info).collect()
    }

    fn stored_expressions(&self, table: ObjectId) -> Vec<StoredExpression> {
        let catalog = self.snapshot.catalog();
        let Some(frazil_catalog::Relation::Table(entry)) = catalog.relation_of(table) else {
            return Vec::new();
        };
        if entry.hidden.is_empty() {
            return Vec::new();
        }
        let name = catalog.qualified(entry.namespace, &entry.name);
        // A query whose plan does not know the expressions has the same answer.
        frazil_frontend::bind_stored_expressions(&name, self, &Limits::none()).unwrap_or_default()
    }
}
