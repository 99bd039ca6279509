//! Compiled queries, kept for when their text comes again.
//!
//! A compiled plan holds what was true of its tables: their columns, and bounds of their values. So it
//! serves only as long as the catalog and every table it scans are the versions it was made for.

use crate::settings::{ScanMode, Settings};
use crate::statement_tables::StatementTables;
use frazil_codegen::{CompiledPlan, PaxCode};
use frazil_frontend::HiddenParameter;
use frazil_kernels::Isa;
use frazil_plan::TableId;
use frazil_plan::pipeline::{PipelinePlan, Source, StagePolicy};
use frazil_types::{LogicalType, Schema};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Queries kept at most.
const CAPACITY: usize = 256;
/// Texts longer than this are not kept: they hold data, and hardly come again.
const LONGEST_TEXT: usize = 16 << 10;

/// A query in machine code.
#[derive(Debug)]
pub struct CompiledQuery {
    /// Its pipelines.
    pub pipelines: Arc<PipelinePlan>,
    /// Their code.
    pub code: Arc<CompiledPlan>,
    /// Columns of the result.
    pub schema: Schema,
}

/// Text and the settings that plans depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    text: String,
    stages: u8,
    pushed: bool,
    isa: Isa,
    pax_code: Option<PaxCode>,
    optimize: bool,
}

/// A query with what it was made for.
#[derive(Debug)]
pub struct CachedQuery {
    /// The query.
    pub query: Arc<CompiledQuery>,
    /// Types of its parameters.
    pub parameters: Vec<LogicalType>,
    /// Parameters that follow its own.
    pub hidden: Vec<HiddenParameter>,
    catalog: u64,
    tables: Vec<(TableId, u64)>,
}

#[derive(Debug, Default)]
struct Entries {
    // With the time of the last use.
    by_key: HashMap<Key, (u64, Arc<CachedQuery>)>,
    clock: u64,
}

/// The cache of a database.
#[derive(Debug, Default)]
pub struct PlanCache(Mutex<Entries>);

fn key(text: &str, settings: &Settings) -> Key {
    Key {
        text: text.to_owned(),
        stages: match settings.stages {
            StagePolicy::Fused => 0,
            StagePolicy::Relaxed => 1,
            StagePolicy::Staged => 2,
        },
        pushed: !matches!(settings.scan, ScanMode::Compiled | ScanMode::Vectorized),
        isa: settings.isa,
        pax_code: settings.pax_code,
        optimize: settings.optimize,
    }
}

impl CachedQuery {
    /// A query made for these tables; `None` if it reads one that no version tells apart.
    pub fn new(
        query: Arc<CompiledQuery>,
        parameters: Vec<LogicalType>,
        hidden: Vec<HiddenParameter>,
        tables: &StatementTables,
    ) -> Option<CachedQuery> {
        let mut scanned = Vec::new();
        for pipeline in &query.pipelines.pipelines {
            if let Source::Scan { table, .. } = &pipeline.source {
                if StatementTables::is_system_table(*table) {
                    return None;
                }
                scanned.push((*table, tables.resolve(*table).ok()?.timestamp()));
            }
        }
        Some(CachedQuery {
            query,
            parameters,
            hidden,
            catalog: tables.snapshot().catalog().version(),
            tables: scanned,
        })
    }

    fn fits(&self, tables: &StatementTables) -> bool {
        self.catalog == tables.snapshot().catalog().version()
            && (self.tables.iter())
                .all(|(id, version)| tables.resolve(*id).is_ok_and(|t| t.timestamp() == *version))
    }
}

impl PlanCache {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The query of this text, if it is known and still fits.
    pub fn get(&self, text: &str, settings: &Settings, tables: &StatementTables) -> Option<Arc<CachedQuery>> {
        let key = key(text, settings);
        let mut entries = self.entries();
        entries.clock += 1;
        let now = entries.clock;
        let (used, query) = entries.by_key.get_mut(&key)?;
        if !query.fits(tables) {
            entries.by_key.remove(&key);
            return None;
        }
        *used = now;
        Some(query.clone())
    }

    /// Keeps a query; the one unused for longest goes.
    pub fn put(&self, text: &str, settings: &Settings, query: CachedQuery) {
        if text.len() > LONGEST_TEXT {
            return;
        }
        let mut entries = self.entries();
        if entries.by_key.len() >= CAPACITY
            && let Some(oldest) = (entries.by_key.iter()).min_by_key(|e| e.1.0).map(|e| e.0.clone())
        {
            entries.by_key.remove(&oldest);
        }
        let now = entries.clock;
        entries.by_key.insert(key(text, settings), (now, Arc::new(query)));
    }
}
