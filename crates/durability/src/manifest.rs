//! The manifest: one line that names format, version and checksum, then JSON. A manifest that was not
//! written whole, or was changed since, is told from a good one by its first line alone.

use crate::access::{read_access, write_into};
pub(crate) use crate::comments::read_u32;
use crate::comments::{read_comments, write_comments};
use crate::damaged::UnreadTable;
use crate::format_version::{NEWEST, OLDEST, VERSION};
use crate::kept_changes::Behind;
use crate::manifest_keys::{check_names, check_table, read_keys, write_constraints, write_indexes};
use crate::manifest_references::check_references;
use crate::manifest_schemas::{read_schemas, write_schemas};
use crate::published_snapshot::PublishedSnapshot;
use crate::sequences::SequenceRecord;
use crate::type_names::{
    read_default, read_name, read_type_name, read_types, read_value, write_default, write_name, write_type,
    write_value,
};
use crate::wal::DatabaseId;
use frazil_catalog::{
    AccessRules, Comments, Materialized, OnCommit, Reading, SchemaEntry, TableEntry, TableOptions, TypeEntry,
    ViewEntry, WrittenName,
};
use frazil_storage::table_options::checked;
use frazil_storage::{ChunkEntry, DistinctEstimate, Lsn, SegmentPlace};
use frazil_types::{ColumnDef, ColumnDomain, ColumnNumber, Error, ObjectId, Result, Schema, SqlState, Value};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

const MAGIC: &str = "frazil manifest";

/// What a directory holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// Tells the database from all others. Zeros in directories of version 4 and before.
    pub database: DatabaseId,
    /// Time of the last commit in it.
    pub timestamp: u64,
    /// Where the commits after that one are.
    pub log: LogPlace,
    /// Version of the catalog.
    pub catalog_version: u64,
    /// The greatest id of a table or view ever given.
    pub last_table: u32,
    /// The greatest number of a segment ever written.
    pub last_segment: u64,
    /// The tables.
    pub tables: Vec<TableRecord>,
    /// Tables whose records are not read: they are damaged, or of a kind that this program does not know.
    pub unread: Vec<UnreadTable>,
    /// The views.
    pub views: Vec<Arc<ViewEntry>>,
    /// The types that statements defined.
    pub types: Vec<Arc<TypeEntry>>,
    /// The schemas; `None` for the one that a new database has.
    pub schemas: Option<Vec<Arc<SchemaEntry>>>,
    /// The sequences.
    pub sequences: Vec<SequenceRecord>,
    /// The comments.
    pub comments: Comments,
    /// Roles, owners and privileges.
    pub access: Arc<AccessRules>,
    /// The end of the log when the positions of the sequences were read: the positions cover all records before it.
    pub sequences_at: Lsn,
    /// The snapshot that this is, in a folder that PUBLISH wrote.
    pub published: Option<PublishedSnapshot>,
}

/// Where the log goes on behind a manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPlace {
    /// The first byte that is not in the manifest.
    pub position: Lsn,
    /// A file of the log of this generation or a later one is there; with 0 there may be none.
    pub generation: u64,
}

/// A table and its chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRecord {
    /// Name, columns and options.
    pub entry: TableEntry,
    /// Number of its next chunk.
    pub next_chunk: u32,
    /// Estimates of distinct values, which would else take a look at every block after opening.
    pub distinct: Option<DistinctEstimate>,
    /// Its chunks, in order.
    pub chunks: Vec<ChunkRecord>,
    /// Changes that the chunks do not have, because the table could not be read when the log had them.
    pub behind: Option<Behind>,
}

impl TableRecord {
    /// The table when its chunks were written.
    pub(crate) fn entry_of_chunks(&self) -> &TableEntry {
        self.behind.as_ref().map_or(&self.entry, |behind| &behind.entry)
    }

    /// The segments that it needs; some may come several times.
    pub(crate) fn segments(&self) -> impl Iterator<Item = u64> {
        let chunks = self.chunks.iter().flat_map(|chunk| {
            let deleted = chunk.deleted.map(|(place, _)| place.segment);
            std::iter::once(chunk.block.segment).chain(deleted)
        });
        let behind = self.behind.iter().flat_map(|behind| {
            let places = behind.places.iter().map(|(place, _)| place.segment);
            places.chain(behind.segments.iter().copied())
        });
        chunks.chain(behind)
    }

    /// The places of its blocks and marks of deleted rows.
    pub(crate) fn places(&self) -> impl Iterator<Item = SegmentPlace> {
        let of_chunk =
            |chunk: &ChunkRecord| std::iter::once(chunk.block).chain(chunk.deleted.map(|(place, _)| place));
        self.chunks.iter().flat_map(of_chunk)
    }
}

/// A chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkRecord {
    /// Its number.
    pub number: u32,
    /// Whether it was hot and took further rows: it will again.
    pub hot: bool,
    /// Its rows.
    pub rows: u32,
    /// Whether its block is not what the options of the table ask for: it was built by others.
    pub stale: bool,
    /// Which columns its block stores, in order.
    pub columns: Arc<[ColumnNumber]>,
    /// Where its block lies.
    pub block: SegmentPlace,
    /// Where the bits of its deleted rows lie, if there are any, and their checksum.
    pub deleted: Option<(SegmentPlace, u32)>,
}

impl ChunkRecord {
    /// A chunk whose block lies there, built by the options of its table. No row of it is deleted.
    pub fn of_block(entry: &ChunkEntry, block: SegmentPlace) -> ChunkRecord {
        ChunkRecord {
            number: entry.number(),
            hot: false,
            rows: entry.view().rows(),
            stale: false,
            columns: entry.stored().clone(),
            block,
            deleted: None,
        }
    }
}

impl Manifest {
    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let unread = self.unread.iter().map(|table| table.json().clone());
        let tables = self.tables.iter().map(write_table).chain(unread);
        let mut json = json!({
            "database": self.database.to_string(),
            "log": [self.log.position.0, self.log.generation],
            "timestamp": self.timestamp,
            "catalog_version": self.catalog_version,
            "last_table": self.last_table,
            "last_segment": self.last_segment,
            "tables": tables.collect::<Vec<_>>(),
            "views": self.views.iter().map(|v| write_view(v)).collect::<Vec<_>>(),
            "types": self.types.iter().map(|t| write_type(t)).collect::<Vec<_>>(),
            "schemas": self.schemas.as_ref().map(|schemas| write_schemas(schemas)),
        });
        if !self.sequences.is_empty() {
            json["sequences"] = self.sequences.iter().map(SequenceRecord::write).collect();
            json["sequences_at"] = json!(self.sequences_at.0);
        }
        if !self.comments.is_empty() {
            json["comments"] = write_comments(&self.comments);
        }
        write_into(&mut json, &self.access);
        if let Some(published) = &self.published {
            json["published"] = published.write();
        }
        let body = json.to_string();
        let crc = crc32c::crc32c(body.as_bytes());
        let version = self.version();
        format!("{MAGIC} {version} {crc:08x}\n{body}\n").into_bytes()
    }

    /// The bytes of the file at `path`, which was not written yet, read back as opening reads them. An internal
    /// error, which names what opening would refuse, if it would not open with them.
    pub fn to_checked_bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let bytes = self.to_bytes();
        let read = Manifest::from_bytes(path, &bytes)
            .map_err(|e| Error::internal(format!("the directory would not open again: {}", e.message())))?;
        if read.tables.len() < self.tables.len() {
            let known = |table: &&UnreadTable| self.unread.iter().any(|known| known.id == table.id);
            let table = read.unread.iter().find(|table| !known(table));
            let what = table.map_or(String::new(), |t| format!("table \"{}\": {}", t.name, t.why));
            return Err(Error::internal(format!(
                "the directory would not open again: {what}"
            )));
        }
        debug_assert!(
            !self.unread.is_empty() || read.as_kept() == self.as_kept(),
            "another manifest comes back"
        );
        Ok(bytes)
    }

    /// True if the bytes of a manifest, which was read, are of a version before today's.
    pub(crate) fn is_older(bytes: &[u8]) -> bool {
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let version = String::from_utf8_lossy(line);
        let version = version
            .strip_prefix(MAGIC)
            .and_then(|rest| rest.split_whitespace().next());
        version
            .and_then(|version| version.parse().ok())
            .is_some_and(|version: u32| version < VERSION)
    }

    /// The manifest in the form that writing and reading keep: without estimates, which may come back rounded, and
    /// with types in the order of their ids, because enumerations are read before domains.
    fn as_kept(&self) -> Manifest {
        let mut manifest = self.clone();
        manifest.types.sort_by_key(|entry| entry.id);
        (manifest.tables.iter_mut()).for_each(|table| table.distinct = None);
        manifest
    }

    /// Reads the bytes of the file at `path`.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Manifest> {
        let damaged = |what: &str| {
            Error::new(
                SqlState::DATA_CORRUPTED,
                format!("manifest \"{}\": {what}", path.display()),
            )
        };
        let text = std::str::from_utf8(bytes)
            .map_err(|e| damaged(&format!("the byte at offset {} is not UTF-8", e.valid_up_to())))?;
        let (head, body) = text
            .split_once('\n')
            .ok_or_else(|| damaged("its first line is cut off"))?;
        let words: Vec<&str> = (head.strip_prefix(MAGIC))
            .ok_or_else(|| damaged("it does not begin as a Frazil manifest does"))?
            .split_whitespace()
            .collect();
        let [version, crc] = words[..] else {
            return Err(damaged("its first line is damaged"));
        };
        if !(OLDEST..=NEWEST).any(|read| version == read.to_string()) {
            return Err(Error::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!(
                    "directory \"{}\" has format version {version}; this Frazil reads versions {OLDEST} to {NEWEST}",
                    path.parent().unwrap_or(path).display()
                ),
            )
            .with_hint("open it with the version of Frazil that wrote it"));
        }
        let body = body.strip_suffix('\n').ok_or_else(|| damaged("it is cut off"))?;
        if u32::from_str_radix(crc, 16) != Ok(crc32c::crc32c(body.as_bytes())) {
            return Err(damaged("its checksum does not match: it was changed or cut off"));
        }
        let json: Json = serde_json::from_str(body).map_err(|e| damaged(&e.to_string()))?;
        let manifest =
            read_manifest(&json).ok_or_else(|| damaged("a field is missing or of the wrong kind"))?;
        let tables: Vec<&TableEntry> = manifest.tables.iter().map(|table| &table.entry).collect();
        let unread: Vec<ObjectId> = manifest.unread.iter().map(|table| table.id).collect();
        let checked = check_names(&manifest).and_then(|()| check_references(&tables, &unread));
        checked.map_err(|what: String| damaged(&what))?;
        Ok(manifest)
    }
}

/// Why the record of a table cannot be read.
fn damaged_part(json: &Json, types: &[Arc<TypeEntry>]) -> String {
    let columns = json["columns"].as_array().into_iter().flatten();
    let mut named = columns.filter_map(|c| Some((c["name"].as_str()?, c["type"].as_str()?)));
    if read_keys(ObjectId(0), json).is_none() {
        return "its constraints or indexes are damaged in the manifest".to_string();
    }
    match named.find(|(_, ty)| read_type_name(ty, types).is_none()) {
        Some((name, ty)) => {
            format!("its column \"{name}\" is of type {ty}, which this Frazil does not know")
        }
        None => "a field of it in the manifest is missing or of the wrong kind".to_string(),
    }
}

pub(crate) fn write_table(table: &TableRecord) -> Json {
    let mut json = write_entry(&table.entry);
    if let Some(behind) = &table.behind {
        json["behind"] = behind.write();
    }
    json["next_chunk"] = json!(table.next_chunk);
    json["distinct"] =
        json!((table.distinct.as_ref()).map(|d| json!({ "rows": d.rows, "columns": d.columns.to_vec() })));
    json["chunks"] = (table.chunks.iter())
        .map(|chunk| write_chunk(table.entry_of_chunks(), chunk))
        .collect();
    json
}

/// A table without what is known of its rows.
pub(crate) fn write_entry(entry: &TableEntry) -> Json {
    let mut json = json!({
        "id": entry.id.0,
        "name": write_name(entry.namespace, &entry.name),
        "options": write_options(entry),
        "columns": write_table_columns(&entry.schema.columns),
        "last_column": entry.last_column.0,
        "constraints": write_constraints(entry),
        "indexes": write_indexes(entry),
    });
    // Version 12 has it, and only for tables with an index on an expression or a partial one.
    if !entry.hidden.is_empty() {
        json["hidden"] = write_table_columns(&entry.hidden);
    }
    // Written from version 13 on.
    if let Some(materialized) = &entry.materialized {
        json["materialized"] = json!({
            "query": materialized.query,
            "reads": write_reads(&materialized.reads),
            "is_populated": materialized.is_populated,
        });
    }
    json
}

/// The columns of a table: beyond those of a view their numbers, and what rows have that do not store them.
fn write_table_columns(columns: &[ColumnDef]) -> Json {
    let mut written = write_columns(columns);
    for (json, column) in written.as_array_mut().into_iter().flatten().zip(columns) {
        json["number"] = json!(column.number.0);
        json["missing"] = write_value(Some(&column.missing));
        json["domain"] = json!(column.domain_id().map(|id| id.0));
        if let Some(domain) = column.domain {
            json["of_domain"] = json!({ "default": domain.gives_default, "not_null": domain.gives_not_null });
        }
    }
    written
}

fn write_columns(columns: &[ColumnDef]) -> Json {
    let columns = columns.iter().map(|c| {
        json!({
            "name": c.name,
            "type": c.ty.stored_name(),
            "nullable": c.nullable,
            "default": write_default(c.default.as_ref()),
        })
    });
    columns.collect()
}

pub(crate) fn write_view(view: &ViewEntry) -> Json {
    json!({
        "id": view.id.0,
        "name": write_name(view.namespace, &view.name),
        "columns": write_columns(&view.schema.columns),
        "query": view.query,
        "reads": write_reads(&view.reads),
    })
}

fn write_reads(reads: &[Reading]) -> Json {
    let reads = reads.iter().map(|r| {
        json!({
            "name": r.name.name,
            "schema": r.name.schema,
            "id": r.id.map(|id| id.0),
            "columns": r.columns,
        })
    });
    reads.collect()
}

fn write_chunk(table: &TableEntry, chunk: &ChunkRecord) -> Json {
    // Most chunks store the columns of their table.
    let numbers = table.stored_columns().map(|column| column.number);
    let others = !numbers.eq(chunk.columns.iter().copied());
    let deleted = |(place, crc): (SegmentPlace, u32)| json!({ "place": write_place(&place), "crc": crc });
    json!({
        "number": chunk.number,
        "hot": chunk.hot,
        "rows": chunk.rows,
        "stale": chunk.stale,
        "columns": others.then(|| chunk.columns.iter().map(|n| n.0).collect::<Vec<_>>()),
        "block": write_place(&chunk.block),
        "deleted": chunk.deleted.map(deleted),
    })
}

pub(crate) fn write_place(place: &SegmentPlace) -> Json {
    json!([place.segment, place.offset, place.bytes])
}

fn read_manifest(json: &Json) -> Option<Manifest> {
    let types = read_types(&json["types"], &[])?;
    let (tables, unread) = read_tables(json, &types)?;
    Some(Manifest {
        database: match &json["database"] {
            // Neither this nor a log in directories of version 4 and before.
            Json::Null => DatabaseId::default(),
            id => id.as_str()?.parse().ok()?,
        },
        log: match &json["log"] {
            Json::Null => LogPlace::default(),
            place => LogPlace {
                position: Lsn(place[0].as_u64()?),
                generation: place[1].as_u64()?,
            },
        },
        timestamp: json["timestamp"].as_u64()?,
        catalog_version: json["catalog_version"].as_u64()?,
        last_table: read_u32(&json["last_table"])?,
        last_segment: json["last_segment"].as_u64()?,
        tables,
        unread,
        views: match &json["views"] {
            // Not in directories of version 1.
            Json::Null => Vec::new(),
            views => (views.as_array()?.iter())
                .map(|v| read_view(v, &types).map(Arc::new))
                .collect::<Option<_>>()?,
        },
        types,
        schemas: match &json["schemas"] {
            // Not before version 9, and not where there is but one.
            Json::Null => None,
            schemas => Some(read_schemas(schemas)?),
        },
        sequences: match &json["sequences"] {
            // Not before version 10.
            Json::Null => Vec::new(),
            sequences => (sequences.as_array()?.iter())
                .map(SequenceRecord::read)
                .collect::<Option<_>>()?,
        },
        comments: read_comments(&json["comments"])?,
        access: read_access(json)?,
        sequences_at: match &json["sequences_at"] {
            Json::Null => Lsn::default(),
            position => Lsn(position.as_u64()?),
        },
        published: PublishedSnapshot::read(&json["published"])?,
    })
}

/// The tables, and those whose records are not read. `None` if there is one of which not even the name can be read.
fn read_tables(json: &Json, types: &[Arc<TypeEntry>]) -> Option<(Vec<TableRecord>, Vec<UnreadTable>)> {
    let (mut tables, mut unread) = (Vec::new(), Vec::new());
    for json in json["tables"].as_array()? {
        let read = read_table(json, types).ok_or_else(|| damaged_part(json, types));
        match read.and_then(|table| check_table(&table.entry).map(|()| table)) {
            Ok(table) => tables.push(table),
            Err(why) => unread.push(UnreadTable::of_json(json, why)?),
        }
    }
    Some((tables, unread))
}

/// Columns of a relation, whose types are among those of their database. `None` also for one that is not there.
fn read_columns(json: &Json, types: &[Arc<TypeEntry>]) -> Option<Schema> {
    let columns = json.as_array()?.iter().map(|c| {
        Some(ColumnDef {
            name: c["name"].as_str()?.to_string(),
            ty: read_type_name(c["type"].as_str()?, types)?,
            nullable: c["nullable"].as_bool()?,
            default: read_default(&c["default"])?,
            number: ColumnNumber::default(),
            missing: Value::Null,
            domain: None,
        })
    });
    Some(Schema::new(columns.collect::<Option<_>>()?))
}

/// The columns of a table, and the greatest number of one; before version 4 they have their positions, counted from 1.
fn read_table_columns(table: &Json, types: &[Arc<TypeEntry>]) -> Option<(Schema, ColumnNumber)> {
    let is_numbered = !table["last_column"].is_null();
    let schema = read_numbered_columns(&table["columns"], types, is_numbered)?;
    let last = match is_numbered {
        true => read_u32(&table["last_column"])?,
        false => schema.columns.len() as u32,
    };
    Some((schema, ColumnNumber(last)))
}

/// Columns of a table with their numbers, or their positions, counted from 1, if they are not numbered.
fn read_numbered_columns(list: &Json, types: &[Arc<TypeEntry>], is_numbered: bool) -> Option<Schema> {
    let mut schema = read_columns(list, types)?;
    for (position, column) in schema.columns.iter_mut().enumerate() {
        let json = &list[position];
        column.number = ColumnNumber(match is_numbered {
            true => read_u32(&json["number"])?,
            false => position as u32 + 1,
        });
        column.missing = read_value(&json["missing"])?.unwrap_or(Value::Null);
        column.domain = read_column_domain(json, column, types)?;
    }
    Some(schema)
}

/// The hidden columns of a table; directories before version 12 have none.
fn read_hidden(table: &Json, types: &[Arc<TypeEntry>]) -> Option<Vec<ColumnDef>> {
    match &table["hidden"] {
        Json::Null => Some(Vec::new()),
        list => read_numbered_columns(list, types, true).map(|schema| schema.columns),
    }
}

/// The domain of a column whose default and NOT NULL are read. `None` inside for a column without a domain.
fn read_column_domain(
    json: &Json,
    column: &ColumnDef,
    types: &[Arc<TypeEntry>],
) -> Option<Option<ColumnDomain>> {
    if json["domain"].is_null() {
        return Some(None);
    }
    let id = ObjectId(read_u32(&json["domain"])?);
    let of_domain = &json["of_domain"];
    if !of_domain.is_null() {
        return Some(Some(ColumnDomain {
            id,
            gives_default: of_domain["default"].as_bool()?,
            gives_not_null: of_domain["not_null"].as_bool()?,
        }));
    }
    // Directories that were written before domains could change do not say where these come from: what a column has as
    // its domain has it, it has from there.
    let entry = types.iter().find(|entry| entry.id == id);
    let domain = entry.and_then(|entry| entry.as_domain());
    Some(Some(ColumnDomain {
        id,
        gives_default: domain.is_some_and(|domain| domain.default == column.default),
        gives_not_null: !column.nullable && domain.is_some_and(|domain| !domain.nullable),
    }))
}

fn read_materialized(json: &Json) -> Option<Option<Arc<Materialized>>> {
    if json.is_null() {
        return Some(None);
    }
    Some(Some(Arc::new(Materialized {
        query: json["query"].as_str()?.to_string(),
        reads: read_reads(&json["reads"])?,
        is_populated: json["is_populated"].as_bool()?,
    })))
}

fn read_reads(json: &Json) -> Option<Vec<Reading>> {
    let reads = json.as_array()?.iter().map(|r| {
        let columns = r["columns"].as_array()?.iter();
        Some(Reading {
            name: WrittenName {
                schema: match &r["schema"] {
                    // Before version 9 names have no schema, or that of the one there was.
                    Json::Null => None,
                    schema => Some(schema.as_str()?.to_string()),
                },
                name: r["name"].as_str()?.to_string(),
            },
            id: match &r["id"] {
                Json::Null => None,
                id => Some(ObjectId(read_u32(id)?)),
            },
            columns: columns
                .map(|c| c.as_str().map(str::to_string))
                .collect::<Option<_>>()?,
        })
    });
    reads.collect()
}

pub(crate) fn read_view(json: &Json, types: &[Arc<TypeEntry>]) -> Option<ViewEntry> {
    let (namespace, name) = read_name(&json["name"])?;
    Some(ViewEntry {
        id: ObjectId(read_u32(&json["id"])?),
        namespace,
        name,
        schema: Arc::new(read_columns(&json["columns"], types)?),
        query: json["query"].as_str()?.to_string(),
        reads: read_reads(&json["reads"])?,
    })
}

/// What [`write_entry`] wrote.
pub(crate) fn read_entry(json: &Json, types: &[Arc<TypeEntry>]) -> Option<TableEntry> {
    let (schema, last_column) = read_table_columns(json, types)?;
    let id = ObjectId(read_u32(&json["id"])?);
    let (constraints, indexes) = read_keys(id, json)?;
    let (namespace, name) = read_name(&json["name"])?;
    Some(TableEntry {
        id,
        namespace,
        name,
        options: read_options(&schema, json)?,
        schema: Arc::new(schema),
        hidden: read_hidden(json, types)?,
        last_column,
        constraints,
        indexes,
        on_commit: OnCommit::default(),
        materialized: read_materialized(&json["materialized"])?,
    })
}

fn read_table(json: &Json, types: &[Arc<TypeEntry>]) -> Option<TableRecord> {
    let entry = read_entry(json, types)?;
    let behind = Behind::read(&json["behind"], types)?;
    let entry_of_chunks = behind.as_ref().map_or(&entry, |behind| &behind.entry);
    let numbers = entry_of_chunks.stored_columns().map(|column| column.number);
    let numbers: Arc<[ColumnNumber]> = numbers.collect();
    Some(TableRecord {
        next_chunk: read_u32(&json["next_chunk"])?,
        distinct: read_distinct(&json["distinct"]),
        chunks: json["chunks"]
            .as_array()?
            .iter()
            .map(|chunk| read_chunk(&numbers, chunk))
            .collect::<Option<_>>()?,
        entry,
        behind,
    })
}

fn write_options(entry: &TableEntry) -> Json {
    let settings = entry.options.settings(&entry.schema).into_iter();
    let pairs = settings.map(|(name, value)| (name, write_value(Some(&value))));
    Json::Object(pairs.collect())
}

/// The options; directories of the first form know one of them alone, under the name it had then.
fn read_options(schema: &Schema, json: &Json) -> Option<TableOptions> {
    let mut options = TableOptions::default();
    let Some(settings) = json["options"].as_object() else {
        options.pax_rows = read_u32(&json["mempax_rows"])?;
        return Some(options);
    };
    for (name, value) in settings {
        options.set(schema, name, &read_value(value)??).ok()?;
    }
    checked(options, schema).ok()
}

/// Estimates, if there are any: they may be left out.
fn read_distinct(json: &Json) -> Option<DistinctEstimate> {
    let columns = json["columns"].as_array()?.iter();
    Some(DistinctEstimate {
        rows: json["rows"].as_u64()?,
        columns: columns.map(Json::as_f64).collect::<Option<_>>()?,
    })
}

/// A chunk of a table whose columns have these numbers.
fn read_chunk(numbers: &Arc<[ColumnNumber]>, json: &Json) -> Option<ChunkRecord> {
    let deleted = &json["deleted"];
    Some(ChunkRecord {
        number: read_u32(&json["number"])?,
        hot: json["hot"].as_bool()?,
        rows: read_u32(&json["rows"])?,
        // Not in older directories, where nothing was known of it.
        stale: json["stale"].as_bool().unwrap_or(false),
        columns: match &json["columns"] {
            Json::Null => numbers.clone(),
            columns => (columns.as_array()?.iter())
                .map(|n| read_u32(n).map(ColumnNumber))
                .collect::<Option<_>>()?,
        },
        block: read_place(&json["block"])?,
        deleted: match deleted.is_null() {
            true => None,
            false => Some((read_place(&deleted["place"])?, read_u32(&deleted["crc"])?)),
        },
    })
}

pub(crate) fn read_place(json: &Json) -> Option<SegmentPlace> {
    let [segment, offset, bytes] = &json.as_array()?[..] else {
        return None;
    };
    Some(SegmentPlace {
        segment: segment.as_u64()?,
        offset: offset.as_u64()?,
        bytes: bytes.as_u64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format_version::{WITH_REFERENCES, WITH_SCHEMAS};
    use frazil_catalog::BlockOptions;
    use frazil_types::LogicalType;

    fn table(options: TableOptions) -> TableRecord {
        let columns = ["a", "b.c"].map(|n| ColumnDef::new(n, LogicalType::Integer));
        TableRecord {
            entry: TableEntry::new(ObjectId(3), "t", Arc::new(Schema::new(columns.to_vec())), options),
            next_chunk: 0,
            distinct: None,
            chunks: Vec::new(),
            behind: None,
        }
    }

    #[test]
    fn options_read_back() {
        let mut options = TableOptions {
            pax_rows: 3,
            blocks: BlockOptions {
                freeze_for: Some("size".to_string()),
                layout: Some("vbp".to_string()),
                encoding: None,
            },
            ..TableOptions::default()
        };
        let asked = BlockOptions {
            layout: Some("byteslice".to_string()),
            ..BlockOptions::default()
        };
        options.columns.insert(1, asked);
        for options in [options, TableOptions::default()] {
            let table = table(options);
            assert_eq!(read_table(&write_table(&table), &[]).unwrap(), table);
        }
    }

    fn view() -> ViewEntry {
        let columns = [("a", LogicalType::Text), ("", LogicalType::Interval)];
        let reads = [("t", Some(ObjectId(3))), ("frazil_blocks", None)];
        ViewEntry {
            id: ObjectId(4),
            namespace: ObjectId(9),
            name: "größte".to_string(),
            schema: Arc::new(Schema::new(columns.map(|(n, ty)| ColumnDef::new(n, ty)).to_vec())),
            query: "select 'ü',\n\tinterval '1 day' -- \"\\\nfrom t, frazil_blocks".to_string(),
            reads: reads
                .map(|(name, id)| Reading {
                    name: WrittenName {
                        schema: id.map(|_| "a b".to_string()),
                        name: name.to_string(),
                    },
                    id,
                    columns: vec!["a".to_string(), "b.c".to_string()],
                })
                .to_vec(),
        }
    }

    #[test]
    fn views_read_back() {
        let schemas = [(0, "public"), (9, "a \"b")];
        let schemas = schemas.map(|(id, name)| Arc::new(SchemaEntry::new(ObjectId(id), name)));
        let manifest = Manifest {
            timestamp: 5,
            tables: vec![table(TableOptions::default())],
            views: vec![Arc::new(view())],
            schemas: Some(schemas.to_vec()),
            ..Manifest::default()
        };
        let bytes = manifest.to_bytes();
        assert_eq!(
            Manifest::from_bytes(Path::new("manifest"), &bytes).unwrap(),
            manifest
        );
    }

    #[test]
    fn names_are_told_apart_by_their_schemas_which_must_be_there() {
        let in_schema = |id: u32, namespace: u32, name: &str| {
            let mut record = table(TableOptions::default());
            record.entry.id = ObjectId(id);
            record.entry.namespace = ObjectId(namespace);
            record.entry.name = name.to_string();
            record
        };
        let read = |tables: Vec<TableRecord>| {
            let schemas = [(0, "public"), (9, "s")];
            let schemas = schemas.map(|(id, name)| Arc::new(SchemaEntry::new(ObjectId(id), name)));
            let manifest = Manifest {
                tables,
                schemas: Some(schemas.to_vec()),
                ..Manifest::default()
            };
            let bytes = manifest.to_bytes();
            assert!(bytes.starts_with(format!("{MAGIC} {WITH_SCHEMAS} ").as_bytes()));
            Manifest::from_bytes(Path::new("manifest"), &bytes).map(|read| read == manifest)
        };
        assert_eq!(
            read(vec![in_schema(1, 0, "t"), in_schema(2, 9, "t")]).ok(),
            Some(true)
        );
        for wrong in [
            vec![in_schema(1, 9, "t"), in_schema(2, 9, "t")],
            vec![in_schema(1, 8, "t")],
            vec![in_schema(9, 9, "t")],
        ] {
            assert_eq!(read(wrong).unwrap_err().state(), SqlState::DATA_CORRUPTED);
        }
    }

    #[test]
    fn a_manifest_with_numerics_says_so() {
        let mut record = table(TableOptions::default());
        let version = |record: &TableRecord| {
            let tables = vec![record.clone()];
            let manifest = Manifest {
                tables,
                ..Manifest::default()
            };
            let read = Manifest::from_bytes(Path::new("manifest"), &manifest.to_bytes());
            assert_eq!(read.unwrap(), manifest);
            manifest.version()
        };
        assert_eq!(version(&record), VERSION);
        for ty in [
            LogicalType::Numeric,
            LogicalType::array_of(frazil_types::Kind::Numeric),
        ] {
            let mut schema = (*record.entry.schema).clone();
            schema.columns[0].ty = ty;
            record.entry.schema = Arc::new(schema);
            assert_eq!(version(&record), WITH_REFERENCES, "{ty}");
        }
    }

    #[test]
    fn a_directory_of_version_1_has_neither_views_nor_keys() {
        let manifest = Manifest {
            tables: vec![table(TableOptions::default())],
            ..Manifest::default()
        };
        let text = String::from_utf8(manifest.to_bytes()).unwrap();
        let body = text.split_once('\n').unwrap().1.trim_end();
        let body = body.replace(",\"views\":[]", "").replace(",\"types\":[]", "");
        let body = body
            .replace("\"constraints\":[],", "")
            .replace("\"indexes\":[],", "");
        assert!(
            !["views", "constraints", "indexes"]
                .iter()
                .any(|key| body.contains(key))
        );
        let signed = |version: u32| {
            let crc = crc32c::crc32c(body.as_bytes());
            let text = format!("{MAGIC} {version} {crc:08x}\n{body}\n");
            Manifest::from_bytes(Path::new("manifest"), text.as_bytes())
        };
        assert_eq!(signed(1).unwrap(), manifest);
        assert_eq!(signed(2).unwrap(), manifest);
        for unknown in [0, NEWEST + 1] {
            let error = signed(unknown).unwrap_err();
            assert_eq!(error.state(), SqlState::FEATURE_NOT_SUPPORTED);
        }
    }

    #[test]
    fn a_directory_of_the_first_form_opens() {
        let mut json = write_table(&table(TableOptions::default()));
        let fields = json.as_object_mut().unwrap();
        fields.remove("options");
        fields.insert("mempax_rows".to_string(), json!(64));
        let read = read_table(&json, &[]).unwrap();
        let expected = TableOptions {
            pax_rows: 64,
            ..TableOptions::default()
        };
        assert_eq!(read.entry.options, expected);
        json.as_object_mut().unwrap().remove("mempax_rows");
        assert_eq!(read_table(&json, &[]), None);
    }
}
