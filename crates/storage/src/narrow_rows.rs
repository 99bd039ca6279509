//! Few rows of a table, found without an index: the bounds of its chunks leave one or two blocks for a value, and in
//! these the tests of a scan leave few rows (Data Blocks, section 3.2). No scan is opened, and the memory of the ids
//! serves the next statement.
//!
//! The bounds of one chunk are in some lines of memory that no cache has, which costs more than all the rest of such
//! a statement. So [`Zones`] keeps the bounds of all chunks of a version side by side.

use crate::access_counters::LocalAccess;
use crate::chunk_entry::ChunkEntry;
use crate::chunk_view::State;
use crate::prefix_rows::FEW_ROWS;
use crate::snapshot::TableSnapshot;
use crate::table_scan::ScanOptions;
use frazil_block::{Block, BlockScan, Matched};
use frazil_types::{CompareOp, MatchBits, Restriction, RestrictionKind, Result, RowId, Value};
use std::sync::{Arc, Weak};

/// Blocks that are looked into at most: neighbours in the order of the column may share a value.
const MOST_BLOCKS: usize = 2;
/// Searches whose tests are counted together.
const COUNTED_TOGETHER: u64 = 64;
/// Rows that are matched at once.
const WINDOW: u32 = 4096;

/// The bounds of an integer column in all chunks of one version of a table.
#[derive(Debug)]
pub struct Zones {
    /// Position of the column in the table.
    column: usize,
    /// The version. The reference keeps its memory, so that no other version is ever found there.
    version: Weak<TableSnapshot>,
    /// Least and greatest value of the chunk at each position. A chunk without values has a least value that is
    /// greater.
    least: Vec<i64>,
    greatest: Vec<i64>,
    /// Scratch for matches in a window.
    bits: MatchBits,
    positions: Vec<u16>,
    /// Tests that the table's counters do not have yet; made with the first one.
    access: Option<LocalAccess>,
    /// Searches counted in it.
    counted: u64,
}

impl Zones {
    /// Bounds of no version, of the column at a position in its table.
    pub fn new(column: usize) -> Zones {
        Zones {
            column,
            version: Weak::new(),
            least: Vec::new(),
            greatest: Vec::new(),
            bits: MatchBits::default(),
            positions: Vec::new(),
            access: None,
            counted: 0,
        }
    }

    /// True if the bounds of a table's column can be kept, and some chunks have bounds that do not move.
    pub fn serve(version: &TableSnapshot, column: usize) -> bool {
        let ty = version.schema().columns[column].ty;
        let is_narrow = ty.native().is_integer() && ty.native().size() <= size_of::<i64>();
        is_narrow && version.chunks().any(|chunk| !chunk.is_hot())
    }

    /// Takes the bounds of a version, unless they are there.
    fn look_at(&mut self, version: &Arc<TableSnapshot>) {
        if std::ptr::eq(self.version.as_ptr(), Arc::as_ptr(version)) {
            return;
        }
        self.version = Arc::downgrade(version);
        self.least.clear();
        self.greatest.clear();
        for chunk in version.chunks() {
            let (least, greatest) = chunk.view().bounds(self.column).range.unwrap_or((1, 0));
            // Values of the column's type fit.
            self.least.push(i64::try_from(least).unwrap_or(i64::MIN));
            self.greatest.push(i64::try_from(greatest).unwrap_or(i64::MAX));
        }
    }

    /// Positions of the first chunks whose bounds hold a value, and whether there are others.
    fn chunks_with(&self, value: i64) -> ([Option<usize>; MOST_BLOCKS], bool) {
        let bounds = self.least.iter().zip(&self.greatest).enumerate();
        let mut holding = bounds
            .filter(|(_, (least, greatest))| **least <= value && value <= **greatest)
            .map(|(position, _)| position);
        let first = std::array::from_fn(|_| holding.next());
        (first, holding.next().is_some())
    }

    /// Adds the ids of the rows of a block that satisfy restrictions. False if they are not few.
    fn add_rows(
        &mut self,
        (entry, block): (&ChunkEntry, &Block),
        restrictions: &[Restriction],
        options: &ScanOptions,
        rows: &mut Vec<RowId>,
    ) -> Result<bool> {
        let options = frazil_block::ScanOptions {
            isa: options.isa,
            use_sma: options.use_sma,
            use_psma: options.use_psma,
        };
        let mut scan = BlockScan::new(block, restrictions, &[], options)?;
        let ranges = scan.rows().clone();
        if let Some(access) = &mut self.access {
            let tested = ranges.rows() as u64;
            scan.tested_columns()
                .for_each(|column| access.column(column).tested += tested);
        }
        for range in ranges.iter() {
            let mut start = range.start;
            while start < range.end {
                let window = start..range.end.min(start + WINDOW);
                start = window.end;
                let matched = scan.match_window(window.clone(), &mut self.bits, &mut self.positions)?;
                let id = |offset: u32| RowId::new(entry.number(), offset as u16);
                match matched {
                    Matched::None => {}
                    Matched::All if window.len() > FEW_ROWS => return Ok(false),
                    Matched::All => rows.extend(window.map(id)),
                    Matched::Bits => {
                        // One more than are few tells that they are not.
                        let some = self.bits.iter().take(FEW_ROWS + 1);
                        rows.extend(some.map(|row| id(window.start + row as u32)));
                    }
                    Matched::Positions => {
                        let some = self.positions.iter().take(FEW_ROWS + 1);
                        rows.extend(some.map(|position| id((*position).into())));
                    }
                }
                if rows.len() > FEW_ROWS {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

impl Zones {
    /// Hands over the counts of tests now and then: to do so after each search costs as much as a good part of it.
    fn hand_over_counts(&mut self, version: &TableSnapshot) {
        self.counted += 1;
        if self.counted.is_multiple_of(COUNTED_TOGETHER)
            && let Some(access) = &mut self.access
        {
            // The rows that are found count as visits when they are fetched.
            access.flush_visits(version.table().access(), 0);
        }
    }
}

impl TableSnapshot {
    /// Puts the ids of the rows that satisfy restrictions into `rows`, which is cleared before; deleted rows may be
    /// among them. One of the restrictions gives the column of `zones` a value. False if that would take too long;
    /// `rows` is of no use then. The errors of damaged blocks.
    pub fn narrow_rows(
        self: &Arc<TableSnapshot>,
        zones: &mut Zones,
        restrictions: &[Restriction],
        options: &ScanOptions,
        rows: &mut Vec<RowId>,
    ) -> Result<bool> {
        rows.clear();
        if !options.use_sma || !options.push_restrictions {
            return Ok(false);
        }
        let value = restrictions
            .iter()
            .find_map(|restriction| match &restriction.kind {
                RestrictionKind::Compare(CompareOp::Eq, value) if restriction.column == zones.column => {
                    Some(value)
                }
                _ => None,
            });
        let value = match value {
            // No row equals NULL.
            Some(Value::Null) => return Ok(true),
            Some(Value::Int(value)) => *value,
            _ => return Ok(false),
        };
        let Ok(value) = i64::try_from(value) else {
            // No value of the column's type is as great.
            return Ok(true);
        };
        zones.look_at(self);
        let new_access = || LocalAccess::new(self.schema().columns.len());
        zones.access = (options.count_access).then(|| zones.access.take().unwrap_or_else(new_access));
        let (positions, is_more) = zones.chunks_with(value);
        if is_more {
            return Ok(false);
        }
        for position in positions.into_iter().flatten() {
            let entry = self.chunk(position);
            let State::Frozen(frozen) = entry.view().state() else {
                return Ok(false);
            };
            let is_few = zones.add_rows((&**entry, &frozen.block), restrictions, options, rows);
            if !is_few.map_err(|e| entry.blame(self.table().entry(), e))? {
                return Ok(false);
            }
        }
        self.table().row_counts().scan();
        zones.hand_over_counts(self);
        Ok(true)
    }
}
