//! A transaction as the holder of claims and locks.

use crate::chunk_claims::{BITMAP_BYTES, ChunkClaims, GATHER};
use crate::held::{Held, Placed, Target, TxnId};
use crate::locks::{Contended, Shared};
use crate::mode::{AnyMode, KeyMode, Mode, TableMode};
use crate::registry::TransactionState;
use crate::sync::{Mutex, get_mut, lock};
use crate::waiter::{Awaited, Patience};
use frazil_types::{MemoryBudget, ObjectId, Reservation, Result, RowId};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Outcome of an attempt to hold something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// It is held until the owner gives it back.
    Granted,
    /// This transaction holds it in a mode that conflicts, or waits for it and came first.
    Held(TxnId),
}

/// Outcome of an attempt that tells what is new from what was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Claimed {
    /// It is held from now on.
    New,
    /// The transaction held it in a mode as strong.
    Covered,
    /// This transaction holds it in a mode that conflicts, or waits for it and came first.
    Held(TxnId),
}

/// Bytes that a claim in a hash or a table lock takes, with its note here.
const CLAIM_BYTES: usize = 64;
/// Bytes that a claim on a key takes, with its note here: the key's holders are a map of their own.
const KEY_BYTES: usize = 384;
/// Bytes taken from the budget at a time.
const STEP_BYTES: usize = 64 << 10;
/// Bytes that an owner takes without the budget, so that short transactions do not meet at its counter.
const UNCOUNTED_BYTES: usize = 16 * CLAIM_BYTES;

/// Notes that a transaction has room for from the beginning: a statement on a few rows makes fewer.
const FIRST_NOTES: usize = 8;
/// Notes that a transaction keeps room for, so that a claim after ROLLBACK TO allocates nothing.
const KEPT_NOTES: usize = 256;
/// Most notes for which a number is left behind one by one.
const MOST_LEFT: usize = 256;

/// The holder of claims and locks of one transaction. Dropping it frees them all and wakes who waits for them, also
/// when a panic drops it. Several threads of the transaction may claim at once.
pub struct Owner {
    shared: Arc<Shared>,
    state: Arc<TransactionState>,
    /// The greatest number that was left behind with what it holds.
    follows: AtomicU64,
    log: Mutex<Log>,
}

/// Position in what a transaction holds: a savepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    level: u32,
    /// Notes before it.
    length: usize,
}

/// A note of something to free.
#[derive(Clone, Copy)]
enum Note {
    /// A claim in a hash (perhaps in a bitmap by now), a table lock, or a claim on a key.
    One(Target),
    /// The bitmaps of a chunk.
    Bitmap(ObjectId, u32),
}

/// Bytes that a claim on a target takes, bitmaps apart, with its note.
fn bytes_of(target: Target) -> usize {
    match target {
        Target::Row(..) | Target::Table(_) => CLAIM_BYTES,
        Target::Key(..) => KEY_BYTES,
    }
}

impl Note {
    fn bytes(self) -> usize {
        match self {
            Note::One(target) => bytes_of(target),
            Note::Bitmap(..) => BITMAP_BYTES + CLAIM_BYTES,
        }
    }
}

/// Notes of what an owner has to free, in the order in which it came.
struct Log {
    notes: Vec<Note>,
    mark: Mark,
    /// Bytes of the notes and of what they stand for.
    bytes: usize,
    /// Bytes taken from the budget; `None` until they are needed, because the budget's counters are everybody's.
    reservation: Option<Reservation>,
}

impl Log {
    /// Makes sure that `more` bytes can be noted. 53200 if the budget does not have them.
    fn reserve(&mut self, more: usize, budget: &MemoryBudget) -> Result<()> {
        let has = UNCOUNTED_BYTES + self.reservation.as_ref().map_or(0, Reservation::bytes);
        match (self.bytes + more).checked_sub(has) {
            None | Some(0) => Ok(()),
            Some(lacking) => {
                let reservation = self.reservation.get_or_insert_with(|| budget.reservation());
                reservation.grow(lacking.max(STEP_BYTES))
            }
        }
    }

    fn push(&mut self, note: Note) {
        self.bytes += note.bytes();
        self.notes.push(note);
    }

    /// Gives back to the budget what is not needed.
    fn shrink(&mut self) {
        if let Some(reservation) = &mut self.reservation {
            let needed = self.bytes.saturating_sub(UNCOUNTED_BYTES);
            let spare = reservation
                .bytes()
                .saturating_sub(needed.next_multiple_of(STEP_BYTES));
            reservation.shrink(spare);
        }
        if self.notes.capacity() > KEPT_NOTES.max(4 * self.notes.len()) {
            self.notes.shrink_to(KEPT_NOTES);
        }
    }
}

impl Owner {
    pub(crate) fn new(shared: Arc<Shared>, state: Arc<TransactionState>) -> Owner {
        let log = Log {
            notes: Vec::with_capacity(FIRST_NOTES),
            mark: Mark { level: 0, length: 0 },
            bytes: 0,
            reservation: None,
        };
        Owner {
            shared,
            state,
            follows: AtomicU64::new(0),
            log: Mutex::new(log),
        }
    }

    /// The number of the transaction.
    pub fn id(&self) -> TxnId {
        self.state.id
    }

    /// Notes whether the transaction sees one version of the data to its end, for those who list transactions.
    pub fn note_view(&self, is_kept: bool) {
        self.state.keeps_view.store(is_kept, Ordering::Relaxed);
    }

    /// Notes that a statement runs again, for those who list transactions.
    pub fn note_rerun(&self) {
        self.state.runs_again.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn state(&self) -> &Arc<TransactionState> {
        &self.state
    }

    /// A savepoint. Marks without a claim between them are equal, so that a savepoint for each statement costs nothing.
    pub fn mark(&mut self) -> Mark {
        let log = get_mut(&mut self.log);
        if log.notes.len() > log.mark.length {
            log.mark = Mark {
                level: log.mark.level + 1,
                length: log.notes.len(),
            };
        }
        log.mark
    }

    /// Frees what came after a mark and lets what was raised after it fall back. The mark stays valid; later ones do
    /// not.
    pub fn free_since(&mut self, mark: Mark) {
        let freed = self.take_notes(mark);
        self.shared.serve(&freed, None);
    }

    /// Cuts the notes to a mark and frees what they stand for. Returns the targets that somebody waits for.
    fn take_notes(&mut self, mark: Mark) -> Vec<Target> {
        let txn = self.state.id;
        let log = get_mut(&mut self.log);
        let mut waited = Vec::new();
        while log.notes.len() > mark.length {
            let Some(note) = log.notes.pop() else { break };
            log.bytes -= note.bytes();
            match note {
                Note::One(target) => {
                    if self.shared.holdings.free(target, txn, mark.level) {
                        waited.push(target);
                    }
                }
                Note::Bitmap(table, chunk) => {
                    let free = |claims: &mut ChunkClaims| claims.free_bitmaps(txn, mark.level);
                    let offsets = self.shared.holdings.with_chunk(table, chunk, free);
                    waited.extend(offsets.into_iter().map(|offset| row(table, chunk, offset)));
                }
            }
        }
        log.mark = mark;
        log.shrink();
        waited
    }

    /// Claims a row of a table: see [`Claims::claim`](crate::Claims::claim).
    pub fn claim(&self, table: ObjectId, row: RowId, mode: Mode) -> Result<Outcome> {
        self.take(Target::Row(table, row), AnyMode::Row(mode), None)
    }

    /// Locks a table if nobody is in the way.
    pub fn lock_table(&self, table: ObjectId, mode: TableMode) -> Result<Outcome> {
        self.take(Target::Table(table), AnyMode::Table(mode), None)
    }

    /// Locks a table, and waits for those in the way. 40P01, 55P03, 57014, 53200.
    pub fn lock_table_waiting(&self, table: ObjectId, mode: TableMode, patience: Patience<'_>) -> Result<()> {
        self.take(Target::Table(table), AnyMode::Table(mode), Some(patience))
            .map(drop)
    }

    /// Claims a key of an index, by the hash of its bytes, if nobody is in the way. 53200 without memory.
    pub fn claim_key(&self, index: ObjectId, hash: u64, mode: KeyMode) -> Result<Claimed> {
        self.take_target(Target::Key(index, hash), mode.as_mode(), None)
    }

    /// Claims a key of an index, and waits for those in the way. 40P01, 55P03, 57014, 53200.
    pub fn claim_key_waiting(
        &self,
        index: ObjectId,
        hash: u64,
        mode: KeyMode,
        patience: Patience<'_>,
    ) -> Result<Claimed> {
        self.take_target(Target::Key(index, hash), mode.as_mode(), Some(patience))
    }

    /// Waits for the end of a transaction. Returns at once if it has ended. 40P01, 55P03, 57014.
    pub fn wait(&self, txn: TxnId, patience: Patience<'_>) -> Result<()> {
        self.shared.watch(&self.state, Awaited::End(txn), patience)
    }

    /// Leaves a number behind with the rows and keys that are held: whoever takes one of them next follows it. Called
    /// before they are freed.
    pub fn leave_behind(&mut self, number: u64) {
        let log = get_mut(&mut self.log);
        let left = &self.shared.left_behind;
        if log.notes.len() > MOST_LEFT {
            return left.leave_everywhere(number);
        }
        for note in &log.notes {
            match *note {
                // Writers share the locks on their tables, and follow each other by rows.
                Note::One(Target::Table(_)) => {}
                Note::One(target) => left.leave(target, number),
                Note::Bitmap(..) => left.leave_everywhere(number),
            }
        }
    }

    /// Leaves a number behind for whoever takes anything next.
    pub fn leave_behind_everywhere(&self, number: u64) {
        self.shared.left_behind.leave_everywhere(number);
    }

    /// The greatest number that was left behind with what the transaction has taken; 0 if there is none.
    pub fn follows(&self) -> u64 {
        self.follows.load(Ordering::Relaxed)
    }

    /// Notes what was left behind with a target that the transaction has just taken.
    fn follow(&self, target: Target) {
        let number = self.shared.left_behind.of(target);
        if number > self.follows() {
            self.follows.fetch_max(number, Ordering::Relaxed);
        }
    }

    /// Takes a row, table or key. With `patience`, whoever is in the way is waited for.
    pub(crate) fn take(
        &self,
        target: Target,
        mode: AnyMode,
        patience: Option<Patience<'_>>,
    ) -> Result<Outcome> {
        Ok(match self.take_target(target, mode, patience)? {
            Claimed::New | Claimed::Covered => Outcome::Granted,
            Claimed::Held(holder) => Outcome::Held(holder),
        })
    }

    /// As [`Owner::take`]; tells a new claim from one that the transaction had.
    fn take_target(&self, target: Target, mode: AnyMode, patience: Option<Patience<'_>>) -> Result<Claimed> {
        let held = {
            let mut log = lock(&self.log);
            log.reserve(bytes_of(target), &self.shared.budget)?;
            let held = self.held(&log, mode);
            match self.shared.holdings.place(target, held) {
                Placed::New => {
                    log.push(Note::One(target));
                    self.follow(target);
                    return Ok(Claimed::New);
                }
                Placed::Crowded => {
                    log.push(Note::One(target));
                    self.follow(target);
                    self.gather(&mut log, target, held);
                    return Ok(Claimed::New);
                }
                Placed::Covered => return Ok(Claimed::Covered),
                Placed::Contended => held,
            }
        };
        match self.shared.contend(target, held, &self.state, patience)? {
            Contended::Placed(Placed::New | Placed::Crowded) => {
                lock(&self.log).push(Note::One(target));
                self.follow(target);
                Ok(Claimed::New)
            }
            Contended::Placed(Placed::Covered | Placed::Contended) => Ok(Claimed::Covered),
            Contended::Blocked(holder) => Ok(Claimed::Held(holder)),
        }
    }

    fn held(&self, log: &Log, mode: AnyMode) -> Held {
        Held {
            txn: self.state.id,
            level: log.mark.level,
            mode,
        }
    }

    /// Moves the claims like `held` in a row's chunk to a bitmap, if there is memory for one.
    fn gather(&self, log: &mut Log, target: Target, held: Held) {
        let Target::Row(table, row) = target else { return };
        let note = Note::Bitmap(table, row.chunk());
        if log.reserve(note.bytes(), &self.shared.budget).is_ok() {
            let holdings = &self.shared.holdings;
            holdings.with_chunk(table, row.chunk(), |claims| claims.gather(held));
            log.push(note);
        }
    }

    /// Claims rows of a chunk in order, up to the first one that somebody else holds: its index, and the transaction.
    pub(crate) fn take_rows(
        &self,
        (table, chunk): (ObjectId, u32),
        offsets: &[u16],
        mode: Mode,
    ) -> Result<Option<(usize, TxnId)>> {
        let mut at = 0;
        loop {
            at += self.take_to_bitmap((table, chunk), &offsets[at..], mode)?;
            let Some(&offset) = offsets.get(at) else {
                return Ok(None);
            };
            match self.take(row(table, chunk, offset), AnyMode::Row(mode), None)? {
                Outcome::Granted => at += 1,
                Outcome::Held(holder) => return Ok(Some((at, holder))),
            }
        }
    }

    /// Claims many rows of a chunk in a bitmap. Returns the number of rows up to the first one that could not be
    /// claimed at once; 0 if there are too few for a bitmap.
    fn take_to_bitmap(&self, (table, chunk): (ObjectId, u32), offsets: &[u16], mode: Mode) -> Result<usize> {
        if offsets.len() < GATHER {
            return Ok(0);
        }
        let mut log = lock(&self.log);
        let note = Note::Bitmap(table, chunk);
        log.reserve(note.bytes(), &self.shared.budget)?;
        let held = self.held(&log, AnyMode::Row(mode));
        let (is_new, stopped) = self.shared.holdings.with_chunk(table, chunk, |claims| {
            let is_new = !claims.has_bitmap(held);
            if is_new {
                claims.gather(held);
            }
            (is_new, claims.place_all(offsets, held))
        });
        if is_new {
            log.push(note);
        }
        let claimed = stopped.unwrap_or(offsets.len());
        offsets[..claimed]
            .iter()
            .for_each(|&offset| self.follow(row(table, chunk, offset)));
        Ok(claimed)
    }
}

/// The row at an offset of a chunk.
pub(crate) fn row(table: ObjectId, chunk: u32, offset: u16) -> Target {
    Target::Row(table, RowId::new(chunk, offset))
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owner").field(&self.state.id).finish()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let freed = self.take_notes(Mark { level: 0, length: 0 });
        let is_watched = self.shared.registry.end(self.state.id);
        self.shared.serve(&freed, is_watched.then_some(self.state.id));
    }
}
