//! The scan of one version of a table: what all workers share. Each worker takes a
//! [`ScanCursor`](crate::ScanCursor) and opens one morsel (one chunk) after another.

use crate::chunk_entry::ChunkEntry;
use crate::first_rows::{FirstRows, OrderColumn};
use crate::hot_chunk::HotChunk;
use crate::hot_disjunction::HotDisjunction;
use crate::hot_match::HotPredicate;
use crate::index_lookup::{Candidates, JoinKeys, LookedUp, most_join_keys};
use crate::merge_restrictions::{merge_alternatives, merge_ranges};
use crate::row_places::RowPlaces;
use crate::scan_cursor::ScanCursor;
use crate::snapshot::TableSnapshot;
use crate::top_bound::{ScanBound, TopBound};
use frazil_kernels::Isa;
use frazil_kernels::KeyFilter;
use frazil_kernels::early_probe::hash_filter::HashFilter;
use frazil_types::{
    CHUNK_ROWS, Disjunction, Error, Restriction, RestrictionKind, Result, STAGE_ROWS, Schema, Value,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a scan works; what it returns does not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    /// Instruction set of the kernels.
    pub isa: Isa,
    /// Rows matched in one go: rounded up to a multiple of 64.
    pub window_rows: usize,
    /// Most rows of a vector; at least 64.
    pub stage_rows: usize,
    /// Whether SMAs may rule out whole blocks.
    pub use_sma: bool,
    /// Whether PSMAs may narrow the rows scanned.
    pub use_psma: bool,
    /// Whether the scan evaluates the restrictions at all. If not, it returns all visible rows, and the
    /// caller evaluates them (the "compiled" configuration).
    pub push_restrictions: bool,
    /// Whether columns may be lent from the chunk instead of copied.
    pub lend_columns: bool,
    /// Whether the keys of joins are tested in the scan (see [`EarlyProbe`]).
    pub early_probes: bool,
    /// Whether an index may say which rows are looked at.
    pub use_indexes: bool,
    /// True if rows are handed out with codes of strings where the reader asks for them.
    pub codes_travel: bool,
    /// Whether what is asked of the columns is counted (see [`crate::access_counters`]).
    pub count_access: bool,
}

/// So many candidates for one row wanted are looked at rather than the first rows in an order.
const FEWER: u64 = 8;
/// A range of keys that holds this share of a column's values rules out less than its test costs.
const NARROW_BELOW_PERCENT: i128 = 75;

/// Whether a range rules out enough of a column whose values lie within `known` bounds.
fn is_narrow((least, greatest): (i128, i128), known: Option<(i128, i128)>) -> bool {
    known.is_some_and(|(low, high)| {
        let common = greatest
            .min(high)
            .saturating_sub(least.max(low))
            .saturating_add(1);
        let all = high.saturating_sub(low).saturating_add(1);
        common.saturating_mul(100) < all.saturating_mul(NARROW_BELOW_PERCENT)
    })
}

/// What the scan evaluates on hot rows, what costs least first.
fn hot_predicates(
    schema: &Schema,
    restrictions: &[Restriction],
    options: &ScanOptions,
) -> Result<Vec<HotPredicate>> {
    if !options.push_restrictions {
        return Ok(Vec::new());
    }
    let predicates = restrictions.iter().map(|r| HotPredicate::new(schema, r));
    let mut predicates = predicates.collect::<Result<Vec<HotPredicate>>>()?;
    predicates.sort_by_key(HotPredicate::cost);
    Ok(predicates)
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions {
            isa: Isa::detect(),
            window_rows: 4096,
            stage_rows: STAGE_ROWS,
            use_sma: true,
            use_psma: true,
            push_restrictions: true,
            lend_columns: true,
            early_probes: true,
            use_indexes: true,
            codes_travel: true,
            count_access: true,
        }
    }
}

impl ScanOptions {
    /// One vector may hold a whole chunk and restrictions are left to the caller: a scalar loop over
    /// hot columns.
    pub fn compiled() -> ScanOptions {
        ScanOptions {
            stage_rows: CHUNK_ROWS,
            push_restrictions: false,
            ..ScanOptions::default()
        }
    }
}

/// What a scan did, for `EXPLAIN ANALYZE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounters {
    /// Chunks opened.
    pub chunks: u64,
    /// Of them, frozen blocks ruled out by an SMA alone.
    pub chunks_skipped_by_sma: u64,
    /// Rows of blocks that a PSMA ruled out (chunks skipped by SMA apart).
    pub rows_skipped_by_psma: u64,
    /// Rows on which restrictions were evaluated, or that were returned without any.
    pub rows_scanned: u64,
    /// Rows that early probes dropped.
    pub rows_dropped_early: u64,
    /// Rows returned.
    pub rows_returned: u64,
    /// Bytes of codes and values read, by estimate.
    pub bytes_touched: u64,
    /// Rows returned with the codes of strings instead of the strings.
    pub rows_by_code: u64,
}

/// A join's build keys, tested while its probe side is scanned (Data Blocks, appendix E): rows without a
/// match never leave the scan. It may let such rows pass, as the probe comes later anyway.
#[derive(Clone, Debug)]
pub struct EarlyProbe {
    /// The key: an index into the scan's columns.
    pub column: usize,
    /// The build keys.
    pub filter: BuildKeys,
}

/// The keys of a build side.
#[derive(Clone, Debug)]
pub enum BuildKeys {
    /// Integers that lie dense.
    Range(Arc<KeyFilter>),
    /// Keys of any type by their hashes.
    Hashed(Arc<HashFilter>),
}

/// A scan of some columns of one version of a table under restrictions.
#[derive(Debug)]
pub struct TableScan {
    pub(crate) snapshot: Arc<TableSnapshot>,
    pub(crate) columns: Vec<usize>,
    pub(crate) restrictions: Vec<Restriction>,
    pub(crate) disjunctions: Vec<Disjunction>,
    pub(crate) hot_predicates: Vec<HotPredicate>,
    pub(crate) hot_disjunctions: Vec<HotDisjunction>,
    pub(crate) options: ScanOptions,
    pub(crate) early_probes: Vec<EarlyProbe>,
    /// The rows to look at, if an index or their ids say so.
    pub(crate) candidates: Option<Candidates>,
    /// Positions of the chunks to look at, if ranges of row ids say so.
    visits: Option<Vec<usize>>,
    /// What the keys of rows that count do not exceed, if some order asks for its first rows alone.
    pub(crate) bound: Option<ScanBound>,
    has_all_rows: bool,
    /// Whether nobody else reads the table.
    pub(crate) is_only: bool,
    totals: [AtomicU64; 8],
}

impl TableScan {
    /// A scan of `columns` (positions in the table) for rows that satisfy all `restrictions`.
    pub fn new(
        snapshot: Arc<TableSnapshot>,
        columns: Vec<usize>,
        restrictions: Vec<Restriction>,
        mut options: ScanOptions,
    ) -> Result<TableScan> {
        let schema = snapshot.schema().clone();
        if let Some(column) = columns.iter().find(|&&c| c >= schema.columns.len()) {
            return Err(Error::internal(format!(
                "a scan of column {column}, which is not there"
            )));
        }
        options.window_rows = options.window_rows.clamp(64, CHUNK_ROWS).next_multiple_of(64);
        options.stage_rows = options.stage_rows.clamp(64, CHUNK_ROWS);
        let restrictions = merge_ranges(&schema, restrictions);
        let hot_predicates = hot_predicates(&schema, &restrictions, &options)?;
        let candidates = (options.use_indexes)
            .then(|| Candidates::find(&snapshot, &restrictions))
            .flatten();
        if candidates.is_none() {
            snapshot.table().row_counts().scan();
        }
        Ok(TableScan {
            snapshot,
            columns,
            restrictions,
            disjunctions: Vec::new(),
            hot_predicates,
            hot_disjunctions: Vec::new(),
            options,
            early_probes: Vec::new(),
            candidates,
            visits: None,
            bound: None,
            has_all_rows: true,
            is_only: false,
            totals: Default::default(),
        })
    }

    /// The same scan for rows that satisfy all these disjunctions as well.
    pub fn with_disjunctions(self, disjunctions: Vec<Disjunction>) -> Result<TableScan> {
        let schema = self.snapshot.schema().clone();
        let disjunctions = merge_alternatives(&schema, disjunctions);
        let mut hot_disjunctions = Vec::new();
        if self.options.push_restrictions {
            for disjunction in &disjunctions {
                hot_disjunctions.push(HotDisjunction::new(&schema, disjunction)?);
            }
        }
        Ok(TableScan {
            disjunctions,
            hot_disjunctions,
            ..self
        })
    }

    /// The same scan for rows whose value of an integer column (a position in the table) lies between the least and the greatest
    /// key of a join's build side; the others have no partner. It stays as it is where the range rules out little.
    pub fn with_key_range(mut self, column: usize, least: i64, greatest: i64) -> Result<TableScan> {
        let schema = self.snapshot.schema().clone();
        let bounds = self.snapshot.table().bounds();
        let known = bounds.look(|widest| widest.columns[column].range);
        if !self.options.push_restrictions || !is_narrow((least.into(), greatest.into()), known) {
            return Ok(self);
        }
        self.restrictions.push(Restriction {
            column,
            kind: RestrictionKind::Between(Value::Int(least.into()), Value::Int(greatest.into())),
        });
        self.restrictions = merge_ranges(&schema, self.restrictions);
        self.hot_predicates = hot_predicates(&schema, &self.restrictions, &self.options)?;
        Ok(self)
    }

    /// Most keys of a join that are worth looking up in an index of these columns (positions in the table); 0: there is none.
    pub fn most_join_keys(&self, columns: &[usize]) -> usize {
        if !self.options.use_indexes {
            return 0;
        }
        let most = most_join_keys(&self.snapshot, &self.restrictions, columns);
        let most = most.min(self.candidates.as_ref().map_or(u64::MAX, Candidates::rows));
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// The same scan for rows that have one of the keys, of which there are as many as [`TableScan::most_join_keys`] allows. Rows with
    /// other keys may be among them.
    pub fn with_join_keys(mut self, keys: &JoinKeys) -> TableScan {
        let most = self.most_join_keys(&keys.columns) as u64;
        let found = Candidates::find_by_keys(&self.snapshot, &self.restrictions, keys, most);
        self.candidates = found.or(self.candidates);
        self
    }

    /// The same scan for the first rows in each of some orders, at least `rows` of each that it would give if there are so many and it
    /// had no restrictions, where indexes have the orders; else it stays as it is, and [`TableScan::has_all_rows`] says so.
    /// `filtered`: its rows are filtered further.
    pub fn with_first_rows(mut self, orders: &[Vec<OrderColumn>], rows: u64, filtered: bool) -> TableScan {
        let few = (self.candidates.as_ref()).is_some_and(|c| c.rows() <= rows.saturating_mul(FEWER));
        if !self.options.use_indexes || few {
            return self;
        }
        let find =
            |order: &Vec<OrderColumn>| FirstRows::find(&self.snapshot, &self.restrictions, order, rows);
        let Some(found) = orders.iter().map(find).collect::<Option<Vec<FirstRows>>>() else {
            return self;
        };
        // What is filtered out of the rows of one order is not made up for by those of another one.
        let exact = self.disjunctions.is_empty() && !filtered && found.iter().all(|first| first.exact);
        if found.len() > 1 && !exact {
            return self;
        }
        self.has_all_rows = found.iter().all(|first| first.complete);
        self.candidates = FirstRows::candidates(&self.snapshot, found).or(self.candidates);
        self
    }

    /// The same scan for rows whose value of a column (a position in the table, one of the scan's) does not come behind a bound, which
    /// may move while the scan runs.
    pub fn with_bound(mut self, column: usize, bound: Arc<TopBound>) -> TableScan {
        if self.options.push_restrictions {
            let mut bound = ScanBound::new(&self.snapshot, column, bound);
            if let Some(visits) = &self.visits {
                bound
                    .visits
                    .retain(|position| visits.binary_search(position).is_ok());
            }
            self.bound = Some(bound);
        }
        self
    }

    /// The same scan for rows whose ids, as tids, satisfy restrictions. Rows with other ids may be among them.
    pub fn at_rows(mut self, restrictions: &[RestrictionKind]) -> TableScan {
        match RowPlaces::of(restrictions) {
            Some(RowPlaces::Rows(rows)) => self.candidates = Some(Candidates::at(&self.snapshot, rows)),
            Some(RowPlaces::Chunks(numbers)) if self.candidates.is_none() => {
                let chunks = self.snapshot.chunks().enumerate();
                let chunks = chunks.filter(|(_, chunk)| numbers.contains(&chunk.number()));
                self.visits = Some(chunks.map(|(position, _)| position).collect());
            }
            Some(RowPlaces::Chunks(_)) | None => {}
        }
        self
    }

    /// The same scan, where a statement reads the table's rows in no other way, and once: cells that are made for it go as soon as a
    /// cursor leaves their chunk. Another reader would make them anew.
    pub fn as_the_only_one(self) -> TableScan {
        TableScan {
            is_only: true,
            ..self
        }
    }

    /// The chunk of a morsel.
    pub(crate) fn chunk(&self, morsel: usize) -> &Arc<ChunkEntry> {
        match (&self.candidates, &self.bound, &self.visits) {
            (Some(candidates), _, _) => &candidates.chunks[morsel].0,
            (None, Some(bound), _) => self.snapshot.chunk(bound.visits[morsel]),
            (None, None, Some(visits)) => self.snapshot.chunk(visits[morsel]),
            (None, None, None) => self.snapshot.chunk(morsel),
        }
    }

    /// Whether it gives all rows, not only the first ones in some order.
    pub fn has_all_rows(&self) -> bool {
        self.has_all_rows
    }

    /// The same scan, that gives no rows, because the build side of a join has none.
    pub fn without_rows(mut self) -> TableScan {
        self.candidates = Some(Candidates::none(LookedUp::JoinKeys));
        self
    }

    /// The same scan with early probes, the most selective one first.
    pub fn with_early_probes(self, early_probes: Vec<EarlyProbe>) -> TableScan {
        TableScan { early_probes, ..self }
    }

    /// Number of morsels: one per chunk that is looked at.
    pub fn morsels(&self) -> usize {
        match (&self.candidates, &self.visits) {
            (Some(candidates), _) => candidates.chunks.len(),
            (None, Some(visits)) => visits.len(),
            (None, None) => self.snapshot.chunk_count(),
        }
    }

    /// Whether who reads the morsel before this one best reads this one too.
    pub fn reads_on(&self, morsel: usize) -> bool {
        let in_order = self.candidates.is_none() && self.bound.is_none();
        let hot = self.chunk(morsel).view().hot();
        in_order && hot.is_some_and(HotChunk::reads_on)
    }

    /// Rows it looks at: all, or those that an index gives.
    pub fn rows(&self) -> u64 {
        match &self.candidates {
            Some(candidates) => candidates.rows(),
            None => self.snapshot.rows(),
        }
    }

    /// Name of the index that says which rows are looked at; `None`: all rows are.
    pub fn index(&self) -> Option<&str> {
        let index = self.candidates.as_ref()?.index.as_ref()?;
        Some(&index.entry().name)
    }

    /// What was looked up to know which rows are looked at.
    pub fn looked_up(&self) -> Option<LookedUp> {
        self.candidates.as_ref().map(|candidates| candidates.by)
    }

    /// The version it reads.
    pub fn snapshot(&self) -> &Arc<TableSnapshot> {
        &self.snapshot
    }

    /// The columns it can fetch, as positions in the table.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// How it works.
    pub fn options(&self) -> &ScanOptions {
        &self.options
    }

    /// The columns that restrictions, disjunctions and the bound look at, as positions in the table.
    pub(crate) fn tested_columns(&self) -> impl Iterator<Item = usize> + '_ {
        let alternatives = self
            .disjunctions
            .iter()
            .flat_map(|d| d.alternatives.iter().flatten());
        self.restrictions
            .iter()
            .chain(alternatives)
            .map(|restriction| restriction.column)
            .chain(self.bound.iter().map(|bound| bound.column))
    }

    /// A cursor for one worker.
    pub fn cursor(self: &Arc<TableScan>) -> ScanCursor {
        ScanCursor::new(self.clone())
    }

    /// What all cursors did; complete once they are at the end of their morsels or dropped.
    pub fn counters(&self) -> ScanCounters {
        let [a, b, c, d, e, f, g, h] =
            [0, 1, 2, 3, 4, 5, 6, 7].map(|i| self.totals[i].load(Ordering::Relaxed));
        ScanCounters {
            chunks: a,
            chunks_skipped_by_sma: b,
            rows_skipped_by_psma: c,
            rows_scanned: d,
            rows_dropped_early: e,
            rows_returned: f,
            bytes_touched: g,
            rows_by_code: h,
        }
    }

    pub(crate) fn count(&self, c: &ScanCounters) {
        let values = [
            c.chunks,
            c.chunks_skipped_by_sma,
            c.rows_skipped_by_psma,
            c.rows_scanned,
            c.rows_dropped_early,
            c.rows_returned,
            c.bytes_touched,
            c.rows_by_code,
        ];
        for (total, value) in self.totals.iter().zip(values) {
            if value > 0 {
                total.fetch_add(value, Ordering::Relaxed);
            }
        }
    }
}
