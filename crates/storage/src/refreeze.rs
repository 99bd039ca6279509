//! Freezing again: a block that would be held otherwise today is built anew, because the options of its
//! table have changed, or because its columns are used otherwise than it was built for.
//!
//! Nothing is rebuilt on a whim. A block remembers what it was built for. It is looked at again once its table's
//! options ask something else; or once the weights of the choice ([`frazil_block::observed`]) have moved far
//! from those, and there were visits enough since to believe them. It is then built as it would
//! be today, and takes the place of the old one if that is predicted to cost clearly less: one
//! column by [`COLUMN_GAIN`] and the block by [`BLOCK_GAIN`]. Whether it does or not, the next look waits for
//! [`PATIENCE`] times the visits of this one. So a use that swings to and fro is not followed.
//!
//! Rows keep their places, deleted ones among them, and the chunk keeps its number: the swap is one small
//! transaction, and marks of rows deleted meanwhile hold for the new block as they are. What a step reads is
//! told to its caller, who keeps to a budget.

use crate::access_counters::{BlockVisits, TableAccess};
use crate::built_for::{BuiltFor, Judgement};
use crate::chunk::{Chunk, FrozenChunk};
use crate::chunk_entry::ChunkEntry;
use crate::freeze::Freezer;
use crate::log::Acknowledge;
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::store::Store;
use crate::transaction::Transaction;
use frazil_block::{Block, BuildOptions, Observed, Purpose, Weights};
use frazil_types::{ObjectId, Result};
use std::sync::Arc;

/// Visits of a block, or of all blocks on average, before its first look.
pub const FIRST_LOOK: u64 = 64;
/// How many times more visits every further look waits for.
pub const PATIENCE: u64 = 4;
/// Looks after which patience grows no more.
const MOST_LOOKS: u32 = 8;
/// Share of its predicted cost that one column has to save: what it has costs a quarter more.
pub const COLUMN_GAIN: f64 = 0.2;
/// Share of its predicted cost that the block has to save.
pub const BLOCK_GAIN: f64 = 0.1;

impl FrozenChunk {
    /// A block that takes its place in a version of a table, built by these options. It is taken to be visited as
    /// others are.
    pub(crate) fn joining(version: &TableSnapshot, block: Block, options: Arc<BuildOptions>) -> FrozenChunk {
        let recent = version.table().access().recent();
        let visits = recent.visits / version.chunk_count().max(1) as u64;
        FrozenChunk {
            block,
            origin: None,
            visits: Arc::new(BlockVisits::inherited(visits)),
            built_for: BuiltFor::judged(Judgement {
                options: Some(options),
                table_visits: version.table().access().all_visits(),
                own_visits: visits,
                ..Judgement::default()
            }),
        }
    }

    /// A block of the same rows.
    fn succeeded_by(&self, block: Block, judged: Judgement) -> FrozenChunk {
        let visits = self.visits.recent();
        FrozenChunk {
            block,
            origin: None,
            visits: Arc::new(BlockVisits::inherited(visits)),
            built_for: BuiltFor::judged(Judgement {
                own_visits: visits,
                ..judged
            }),
        }
    }
}

/// How a version of a table is used, and what its options ask.
struct Usage {
    asked: BuildOptions,
    recent: TableAccess,
    all_visits: u64,
    chunks: u64,
}

/// Why a block is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// Its columns are used otherwise.
    Use,
    /// Its table's options ask something else.
    Options,
}

impl Usage {
    fn of(version: &TableSnapshot) -> Usage {
        let access = version.table().access();
        Usage {
            asked: version.table().asked_options(),
            recent: access.recent(),
            all_visits: access.all_visits(),
            chunks: version.chunk_count().max(1) as u64,
        }
    }

    /// What is known of a column in a block of so many visits of late; `None`: a block like all.
    fn observed(&self, column: usize, visits: Option<u64>) -> Observed {
        let Some(access) = self.recent.columns.get(column).filter(|_| self.recent.visits > 0) else {
            return Observed::NOTHING;
        };
        let average = self.recent.visits as f64 / self.chunks as f64;
        let own = visits.map_or(average, |v| v as f64);
        let share = (access.visits as f64 / self.recent.visits as f64).min(1.0);
        Observed {
            scanned: (access.tested + access.scanned) as f64 / 2.0,
            fetched: access.fetched as f64,
            visits: own * share,
            of_visits: own.max(average),
        }
    }

    /// What a block of so many visits is to be built by; `None`: a block like all.
    fn options(&self, visits: Option<u64>) -> BuildOptions {
        let columns = 0..self.recent.columns.len();
        BuildOptions {
            observed: columns.map(|c| self.observed(c, visits)).collect(),
            ..self.asked.clone()
        }
    }

    /// What a look at a block comes to.
    fn judge(&self, frozen: &FrozenChunk, options: Arc<BuildOptions>, reason: Reason) -> Judgement {
        let looks = match reason {
            Reason::Options => 0,
            Reason::Use => frozen.built_for.judgement().looks + 1,
        };
        Judgement {
            options: Some(options),
            refused: None,
            table_visits: self.all_visits,
            own_visits: frozen.visits.all(),
            looks,
        }
    }

    /// Whether a block is to be looked at.
    fn reason(&self, frozen: &FrozenChunk) -> Option<Reason> {
        let judged = frozen.built_for.judgement();
        let same = |options: &Option<Arc<BuildOptions>>| {
            (options.as_ref()).is_some_and(|options| options.ask_the_same(&self.asked))
        };
        if !same(&judged.options) {
            return (!same(&judged.refused)).then_some(Reason::Options);
        }
        let options = judged.options.as_ref()?;
        let of_all = self.all_visits.saturating_sub(judged.table_visits) / self.chunks;
        let own = frozen.visits.all().saturating_sub(judged.own_visits);
        if of_all.max(own) < FIRST_LOOK * PATIENCE.pow(judged.looks.min(MOST_LOOKS)) {
            return None;
        }
        let prior = self.asked.calibration.weights(Purpose::Balanced);
        let visits = Some(frozen.visits.recent());
        let moved = |column: usize| {
            self.asked.purpose_of(column) == Purpose::Balanced
                && Weights::blend(prior, &self.observed(column, visits))
                    .is_far_from(&options.weights_of(column))
        };
        (0..self.recent.columns.len()).any(moved).then_some(Reason::Use)
    }
}

impl TableSnapshot {
    /// What a block of this version that is visited as others are is to be built by.
    pub fn build_options(&self) -> BuildOptions {
        Usage::of(self).options(None)
    }
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreezeStep {
    /// Bytes of the block that was looked at.
    pub bytes: u64,
    /// Whether another took its place.
    pub rebuilt: bool,
}

impl Store {
    /// Looks at one block that would perhaps be held otherwise today, and builds it anew if so: what a background
    /// worker calls when it has time. `None` if there is no such block. A block whose values refuse what is
    /// asked stays, and the step fails; the next one looks at another.
    pub fn refreeze_step(self: &Arc<Store>) -> Result<Option<RefreezeStep>> {
        let snapshot = self.snapshot();
        let Some((version, entry, reason)) = find(&snapshot) else {
            return Ok(None);
        };
        let Some(frozen) = entry.frozen_chunk() else {
            return Ok(None);
        };
        let usage = Usage::of(version);
        let options = Arc::new(usage.options(Some(frozen.visits.recent())));
        let mut freezer = Freezer::new((*options).clone());
        let block = match freezer.freeze_in_place(version.table(), entry) {
            Ok(block) => block,
            Err(error) => {
                frozen.built_for.judgement().refused = Some(options);
                return Err(error);
            }
        };
        let better = match reason {
            Reason::Options => held_otherwise(&frozen.block, &block),
            Reason::Use => pays(&frozen.block, &block, &options),
        };
        let judged = usage.judge(frozen, options, reason);
        let rebuilt = match better {
            true => self.exchange(version, entry, frozen.succeeded_by(block, judged))?,
            false => {
                *frozen.built_for.judgement() = judged;
                false
            }
        };
        let bytes = frozen.block.bytes().len() as u64;
        Ok(Some(RefreezeStep { bytes, rebuilt }))
    }

    /// Lets old habits fade a step in every table whose epoch of use is over.
    pub fn end_epochs(&self) {
        self.snapshot().tables().for_each(|table| table.end_epoch());
    }

    /// If a writer is at work, it may last; what was built is dropped, and the block is looked at again.
    fn exchange(
        self: &Arc<Store>,
        version: &TableSnapshot,
        old: &ChunkEntry,
        new: FrozenChunk,
    ) -> Result<bool> {
        let Some(mut transaction) = self.begin_swap(version.table().id()) else {
            return Ok(false);
        };
        let there = transaction.exchange(version.table().id(), old, new)?;
        if there {
            transaction.commit_as(Acknowledge::Placed)?;
        }
        Ok(there)
    }
}

/// A block to look at: one of other options first, then one that is visited much.
fn find(snapshot: &Snapshot) -> Option<(&Arc<TableSnapshot>, &Arc<ChunkEntry>, Reason)> {
    let mut best = None;
    for version in snapshot
        .tables()
        .filter(|version| !version.table().id().is_temporary())
    {
        let usage = Usage::of(version);
        for entry in version.sealed() {
            let Some(frozen) = entry.frozen_chunk() else {
                continue;
            };
            let Some(reason) = usage.reason(frozen) else {
                continue;
            };
            let urgency = (reason, frozen.visits.recent());
            if best.as_ref().is_none_or(|&(most, _, _)| urgency > most) {
                best = Some((urgency, version, entry));
            }
        }
    }
    best.map(|((reason, _), version, entry)| (version, entry, reason))
}

/// Whether some column has another encoding or layout.
fn held_otherwise(old: &Block, new: &Block) -> bool {
    (0..old.columns()).any(|c| {
        let way = |b: &Block| (b.entry(c).encoding, b.entry(c).layout);
        way(old) != way(new)
    })
}

/// Whether a block costs clearly less than another of the same rows.
fn pays(old: &Block, new: &Block, options: &BuildOptions) -> bool {
    let cost = |block: &Block, column| block.held_as(column, options).cost;
    let costs: Vec<[f64; 2]> = (0..old.columns()).map(|c| [cost(old, c), cost(new, c)]).collect();
    let sum = |i: usize| costs.iter().map(|c| c[i]).sum::<f64>();
    costs.iter().any(|[old, new]| *new <= (1.0 - COLUMN_GAIN) * old) && sum(1) <= (1.0 - BLOCK_GAIN) * sum(0)
}

impl Freezer {
    /// Another block of the rows of one that was built by other options, if it is held otherwise.
    pub(crate) fn replace(
        &mut self,
        version: &TableSnapshot,
        entry: &ChunkEntry,
    ) -> Result<Option<ChunkEntry>> {
        let Some(frozen) = entry.frozen_chunk() else {
            return Ok(None);
        };
        let block = self.freeze_in_place(version.table(), entry)?;
        let judged = Usage::of(version).judge(frozen, self.options().clone(), Reason::Options);
        if !held_otherwise(&frozen.block, &block) {
            *frozen.built_for.judgement() = judged;
            return Ok(None);
        }
        let chunk = Chunk::Frozen(frozen.succeeded_by(block, judged));
        Ok(Some(entry.with_chunk(chunk, version.table().numbers())))
    }
}

impl Transaction {
    /// Puts a block of the same rows in the place of another, with the rows deleted since. Returns whether that was
    /// still there.
    pub(crate) fn exchange(&mut self, table: ObjectId, old: &ChunkEntry, new: FrozenChunk) -> Result<bool> {
        let Ok(version) = self.view().table(table) else {
            return Ok(false);
        };
        let entry = version.entry(old.number());
        let Some(entry) = entry.filter(|entry| entry.shares_chunk(old)) else {
            return Ok(false);
        };
        let exchanged = entry.with_chunk(Chunk::Frozen(new), version.table().numbers());
        self.redo().held(table);
        self.table_mut(table)?
            .change(old.number(), |entry| *entry = exchanged);
        Ok(true)
    }
}
