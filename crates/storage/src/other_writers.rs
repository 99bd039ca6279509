//! A transaction beside others that write: what it claims, whom it waits for, and what it does not see of them.
//!
//! Tables have locks in PostgreSQL's eight modes. Whoever writes rows of a table holds ROW EXCLUSIVE, whoever locks
//! rows ROW SHARE. A transaction that changes a table as a whole (its definition, TRUNCATE, FREEZE, rows that move)
//! holds a mode that keeps writers of this table away. So while a transaction writes a table, the definition, the
//! indexes and the chunks of the table stay what they are: rows come to the chunks, and rows are deleted.
//!
//! The store as a whole has one more lock. Transactions that write hold it in ROW EXCLUSIVE mode. One that changes the
//! catalog holds it in SHARE UPDATE EXCLUSIVE mode as well: one at a time, beside all writers. A writer of
//! SERIALIZABLE, and the few statements whose tables are not known, hold it in EXCLUSIVE mode ([`Room::Alone`]).
//!
//! Rows are claimed before they are deleted, and new rows before entries in unique indexes name them. Whoever has
//! claimed a row looks at the newest version: a row that is dead there was deleted by a commit that the transaction
//! does not see ([`OtherWriters::newer`]). The essay of crate `frazil_locks` has the reasons.

use crate::snapshot::{Snapshot, TableSnapshot};
use crate::store::Store;
use frazil_locks::{Claims, Mode, Outcome, Owner, Patience, TableMode, TxnId};
use frazil_types::{Cancel, Error, ObjectId, Result, RowId, SqlState};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number under which the store as a whole is locked. No table has the number.
pub const STORE: ObjectId = ObjectId(u32::MAX);

/// Bytes that the claim of a row takes, and most bytes of all claims of one transaction on one chunk.
const CLAIM_BYTES: usize = 64;
const MOST_CHUNK_BYTES: usize = 16 << 10;

/// The company in which a transaction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Others that write rows, and one that changes the catalog.
    Shared,
    /// Others that write rows. Nobody else changes the catalog.
    Defining,
    /// Nobody.
    Alone,
}

/// True if writers of one table hold a lock on it in this mode at the same time.
pub(crate) fn is_shared_by_writers(mode: TableMode) -> bool {
    matches!(
        mode,
        TableMode::AccessShare | TableMode::RowShare | TableMode::RowExclusive
    )
}

/// A transaction's standing among others.
#[derive(Debug)]
pub(crate) struct OtherWriters {
    /// Holds the claims. `None`: nobody else knows the store, or a test keeps the transactions apart.
    owner: Option<Owner>,
    room: Room,
    /// Locks on tables, in the order in which they were taken. Nearly always one.
    tables: Vec<(ObjectId, TableMode)>,
    /// Number of keys that are claimed one by one.
    keys: usize,
    /// True if the transaction sees one version to its end.
    keeps_base: bool,
    /// Most time of one wait.
    limit: Duration,
    cancel: Cancel,
    /// True once the transaction met a row of a commit that it does not see.
    is_behind: AtomicBool,
    /// The table of the row, 0 if it is not known.
    behind_in: AtomicU32,
    /// Timestamp of the latest version that told something which the version that the transaction sees does not show.
    looked_at: AtomicU64,
}

impl OtherWriters {
    /// Waits at most `limit` until there is room, then 55P03. 57014.
    pub fn enter(
        store: &Store,
        (room, keeps_base): (Room, bool),
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<OtherWriters> {
        let mut entered = OtherWriters {
            owner: store.locks().map(|locks| locks.begin()),
            room: Room::Shared,
            tables: Vec::new(),
            keys: 0,
            keeps_base,
            limit,
            cancel: cancel.clone(),
            is_behind: AtomicBool::new(false),
            behind_in: AtomicU32::new(0),
            looked_at: AtomicU64::new(0),
        };
        entered.keep_base(keeps_base);
        entered.take(match room {
            Room::Shared | Room::Defining => TableMode::RowExclusive,
            Room::Alone => TableMode::Exclusive,
        })?;
        if room == Room::Defining {
            entered.take(TableMode::ShareUpdateExclusive)?;
        }
        entered.room = room;
        Ok(entered)
    }

    /// A transaction that is not kept apart from others.
    #[cfg(test)]
    pub fn ignored() -> OtherWriters {
        OtherWriters {
            owner: None,
            room: Room::Shared,
            tables: Vec::new(),
            keys: 0,
            keeps_base: false,
            limit: Duration::ZERO,
            cancel: Cancel::new(),
            is_behind: AtomicBool::new(false),
            behind_in: AtomicU32::new(0),
            looked_at: AtomicU64::new(0),
        }
    }

    fn take(&self, mode: TableMode) -> Result<()> {
        let Some(owner) = &self.owner else { return Ok(()) };
        if owner.lock_table(STORE, mode)? == Outcome::Granted {
            return Ok(());
        }
        // A statement that was cancelled before it waits must not get the lock by luck.
        self.cancel.check()?;
        let locked = owner.lock_table_waiting(STORE, mode, self.patience());
        locked.map_err(|error| match error.state() {
            SqlState::LOCK_NOT_AVAILABLE => Error::new(
                SqlState::LOCK_NOT_AVAILABLE,
                "another transaction is writing and did not end in time",
            )
            .with_hint("end the other one, or raise lock_timeout"),
            _ => error,
        })
    }

    /// Locks a table, and waits for those in the way. Returns false if the transaction had the lock, or is alone.
    /// 40P01, 55P03, 57014.
    pub fn lock_table(&mut self, table: ObjectId, mode: TableMode) -> Result<bool> {
        if self.has_table(table, mode) {
            return Ok(false);
        }
        let Some(owner) = self.claimant() else {
            return Ok(false);
        };
        if owner.lock_table(table, mode)? != Outcome::Granted {
            self.cancel.check()?;
            owner.lock_table_waiting(table, mode, self.patience())?;
        }
        self.tables.push((table, mode));
        Ok(true)
    }

    /// Locks a table unless somebody is in the way, or waits and came first. Returns true if the table is locked.
    pub fn try_lock_table(&mut self, table: ObjectId, mode: TableMode) -> Result<bool> {
        if let Some(owner) = self.claimant()
            && owner.lock_table(table, mode)? != Outcome::Granted
        {
            return Ok(false);
        }
        self.tables.push((table, mode));
        Ok(true)
    }

    /// Locks a table as [`OtherWriters::lock_table`] does, if that takes no longer than `limit`. Returns true if the
    /// table is locked. 40P01, 57014.
    pub fn lock_table_within(&mut self, table: ObjectId, mode: TableMode, limit: Duration) -> Result<bool> {
        if self.has_table(table, mode) || self.try_lock_table(table, mode)? {
            return Ok(true);
        }
        if limit.is_zero() {
            return Ok(false);
        }
        let own = self.limit;
        self.limit = own.min(limit);
        let locked = self.lock_table(table, mode);
        self.limit = own;
        match locked {
            Ok(_) => Ok(true),
            Err(error) if error.state() == SqlState::LOCK_NOT_AVAILABLE => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// True if a lock of the transaction keeps away everybody whom the mode would keep away.
    pub fn has_table(&self, table: ObjectId, mode: TableMode) -> bool {
        let mut own = self.tables.iter();
        own.any(|(of, held)| *of == table && held.covers(mode))
    }

    /// Number of keys that are claimed one by one.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// Counts keys that were claimed.
    pub fn add_keys(&mut self, keys: usize) {
        self.keys += keys;
    }

    /// 57014: a statement that was cancelled before it waits must not get what it wants by luck.
    pub fn check_cancel(&self) -> Result<()> {
        self.cancel.check()
    }

    pub(crate) fn patience(&self) -> Patience<'_> {
        Patience {
            until: Instant::now().checked_add(self.limit),
            cancel: &self.cancel,
        }
    }

    /// Sets the limits of waits to come.
    pub fn set_patience(&mut self, limit: Duration, cancel: &Cancel) {
        self.limit = limit;
        self.cancel = cancel.clone();
    }

    /// True if nobody needs to be kept apart from the transaction.
    pub fn is_alone(&self) -> bool {
        self.room == Room::Alone || self.owner.is_none()
    }

    /// True if the transaction sees one version to its end.
    pub fn keeps_base(&self) -> bool {
        self.keeps_base
    }

    /// Sets whether the transaction sees one version to its end.
    pub fn keep_base(&mut self, keeps: bool) {
        self.keeps_base = keeps;
        if let Some(owner) = &self.owner {
            owner.note_view(keeps);
        }
    }

    /// Notes that a statement runs again.
    pub fn note_rerun(&self) {
        if let Some(owner) = &self.owner {
            owner.note_rerun();
        }
    }

    /// True if nobody else can change the catalog.
    pub fn is_defining(&self) -> bool {
        self.room != Room::Shared || self.owner.is_none()
    }

    /// Waits until nobody else changes the catalog. 55P03, 57014, 40P01.
    pub fn lock_catalog(&mut self) -> Result<()> {
        self.take(TableMode::ShareUpdateExclusive)?;
        self.room = Room::Defining;
        Ok(())
    }

    /// Waits until nobody else writes. 55P03, 57014, 40P01.
    pub fn lock_out(&mut self) -> Result<()> {
        self.take(TableMode::Exclusive)?;
        self.room = Room::Alone;
        Ok(())
    }

    /// A moment to return to.
    pub fn mark(&mut self) -> Standing {
        Standing {
            mark: self.owner.as_mut().map(Owner::mark),
            room: self.room,
            tables: self.tables.len(),
            keys: self.keys,
        }
    }

    /// Gives back what was taken since a moment.
    pub fn free_since(&mut self, standing: Standing) {
        if let (Some(owner), Some(mark)) = (&mut self.owner, standing.mark) {
            owner.free_since(mark);
        }
        self.tables.truncate(standing.tables);
        self.keys = standing.keys;
        self.room = standing.room;
    }

    /// Gives everything back. `behind`: timestamp of the commit that others who take it next follow, if readers do not
    /// see the commit yet.
    pub fn leave(&mut self, behind: Option<u64>) {
        if let (Some(timestamp), Some(owner)) = (behind, &mut self.owner) {
            let is_of_rows = |(_, mode): &(ObjectId, TableMode)| is_shared_by_writers(*mode);
            match self.room == Room::Shared && self.tables.iter().all(is_of_rows) {
                true => owner.leave_behind(timestamp),
                false => owner.leave_behind_everywhere(timestamp),
            }
        }
        self.tables.clear();
        self.owner = None;
    }

    /// Timestamp of the latest commit that the transaction knows of, by what it has taken or looked at: its next
    /// statement sees no version before it.
    pub fn follows(&self) -> u64 {
        let taken = self.owner.as_ref().map_or(0, Owner::follows);
        taken.max(self.looked_at())
    }

    /// 40001: another transaction committed what this one does not see. Noted, so that the statement can run again.
    pub fn newer(&self) -> Error {
        self.newer_in(ObjectId(0))
    }

    /// As [`OtherWriters::newer`]: what the transaction does not see is in this table.
    pub fn newer_in(&self, table: ObjectId) -> Error {
        self.behind_in.store(table.0, Ordering::Relaxed);
        self.is_behind.store(true, Ordering::Relaxed);
        Error::new(
            SqlState::SERIALIZATION_FAILURE,
            "could not serialize access due to concurrent update",
        )
        .with_hint("the transaction might succeed if it is run again")
    }

    /// Notes that a statement's outcome may tell of what a version shows.
    pub fn looks_at(&self, version: &Snapshot) {
        self.looked_at.fetch_max(version.timestamp, Ordering::Relaxed);
    }

    /// Timestamp of the version that must be visible before anybody hears of the transaction's statements.
    pub fn looked_at(&self) -> u64 {
        self.looked_at.load(Ordering::Relaxed)
    }

    /// `Some` if [`OtherWriters::newer`] was called since the last call: the table, if it is known.
    pub fn take_behind(&self) -> Option<Option<ObjectId>> {
        let table = self.behind_in.swap(0, Ordering::Relaxed);
        let is_behind = self.is_behind.swap(false, Ordering::Relaxed);
        is_behind.then(|| Some(ObjectId(table)).filter(|table| table.0 > 0))
    }

    /// True if no table is locked, so that no row or key is claimed.
    pub fn holds_no_table(&self) -> bool {
        self.tables.is_empty()
    }

    /// The holder of the transaction's claims; `None` if the transaction is alone and makes none.
    pub fn claimant(&self) -> Option<&Owner> {
        self.owner.as_ref().filter(|_| self.room != Room::Alone)
    }

    /// As [`OtherWriters::claimant`], for savepoints.
    pub fn owner_mut(&mut self) -> Option<&mut Owner> {
        self.owner.as_mut().filter(|_| self.room != Room::Alone)
    }

    /// The claims of a table and who makes them, unless the transaction is alone.
    fn claims<'a>(&'a self, store: &Store, table: ObjectId) -> Option<(Claims, &'a Owner)> {
        let owner = self.claimant()?;
        Some((store.locks()?.claims(table), owner))
    }

    /// Claims rows, in [`Mode::Rewrite`] or [`Mode::Update`] those that are going to be deleted, and waits for those
    /// who have claimed them. 40P01, 55P03, 57014.
    pub fn claim(&self, store: &Store, table: ObjectId, rows: &[RowId], mode: Mode) -> Result<()> {
        if let &[row] = rows
            && let Some(owner) = self.claimant()
            && owner.claim(table, row, mode)? == Outcome::Granted
        {
            return Ok(());
        }
        let Some((claims, owner)) = self.claims(store, table) else {
            return Ok(());
        };
        if let &[row] = rows {
            return claims.claim_waiting(row, mode, owner, self.patience());
        }
        for run in rows.chunk_by(|a, b| a.chunk() == b.chunk()) {
            let offsets: Vec<u16> = run.iter().map(|row| row.offset()).collect();
            claims.claim_all_waiting(run[0].chunk(), &offsets, mode, owner, self.patience())?;
        }
        Ok(())
    }

    /// Claims a row, and waits for those in the way. 40P01, 55P03, 57014, 53200.
    pub fn wait_for_row(&self, store: &Store, (table, row): (ObjectId, RowId), mode: Mode) -> Result<()> {
        match self.claims(store, table) {
            Some((claims, owner)) => claims.claim_waiting(row, mode, owner, self.patience()),
            None => Ok(()),
        }
    }

    /// Waits until nobody else deletes a row or changes a unique key of it. Returns false if nobody did. 40P01, 55P03,
    /// 57014.
    pub fn wait_for_change_of(&self, store: &Store, table: ObjectId, row: RowId) -> Result<bool> {
        let Some((claims, owner)) = self.claims(store, table) else {
            return Ok(false);
        };
        match claims.holder(row) {
            Some((holder, Mode::Update)) if holder != owner.id() => {
                self.check_cancel()?;
                claims.wait_for_change(row, holder, owner, self.patience())?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Claims a row unless another transaction is in the way, or waits for the row and came first. Returns true if the
    /// row is claimed.
    pub fn try_claim(&self, table: ObjectId, row: RowId, mode: Mode) -> Result<bool> {
        match self.claimant() {
            Some(owner) => Ok(owner.claim(table, row, mode)? == Outcome::Granted),
            None => Ok(true),
        }
    }

    /// Claims rows that the transaction inserted. Nobody else can have claimed them.
    pub fn claim_new(&self, store: &Store, table: ObjectId, rows: &[RowId]) -> Result<()> {
        let Some(owner) = self.claimant() else {
            return Ok(());
        };
        let taken = |row: RowId, by: TxnId| {
            let message = format!("transaction {by} has claimed {row:?}, which is being inserted");
            Err(Error::internal(message))
        };
        if let &[row] = rows {
            return match owner.claim(table, row, Mode::Insert)? {
                Outcome::Granted => Ok(()),
                Outcome::Held(by) => taken(row, by),
            };
        }
        let Some((claims, owner)) = self.claims(store, table) else {
            return Ok(());
        };
        for run in rows.chunk_by(|a, b| a.chunk() == b.chunk()) {
            let offsets: Vec<u16> = run.iter().map(|row| row.offset()).collect();
            if let Some((at, by)) = claims.claim_all(run[0].chunk(), &offsets, Mode::Insert, owner)? {
                return taken(run[at], by);
            }
        }
        Ok(())
    }

    /// Bytes that claims of rows take, estimated.
    pub fn claim_bytes(&self, rows: &[RowId]) -> usize {
        if self.is_alone() {
            return 0;
        }
        let runs = rows.chunk_by(|a, b| a.chunk() == b.chunk());
        runs.map(|run| (run.len() * CLAIM_BYTES).min(MOST_CHUNK_BYTES))
            .sum()
    }
}

/// A moment of a transaction's standing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    mark: Option<frazil_locks::Mark>,
    room: Room,
    /// Number of locks on tables.
    tables: usize,
    /// Number of keys that are claimed one by one.
    keys: usize,
}

/// The state of a row whose key somebody else wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// The row is dead.
    Dead,
    /// The row is live, and the transaction sees it.
    Live,
    /// The row is live, and the transaction does not see it.
    Unseen,
    /// An open transaction is inserting or deleting the row.
    Open(TxnId),
}

/// Rows of a table as a transaction and the others have them.
pub(crate) struct Beside<'a> {
    pub store: &'a Store,
    pub others: &'a OtherWriters,
    /// The version that the transaction began with.
    pub base: Option<&'a Snapshot>,
    /// The transaction's own version of the table.
    pub own: &'a TableSnapshot,
}

impl Beside<'_> {
    /// Judges a row: claims first, then the newest version. In the other order, a transaction that commits
    /// between the two looks would be seen by neither.
    pub fn meets(&self, row: RowId) -> Met {
        let of_own = || match self.own.shows(row) {
            true => Met::Live,
            false => Met::Dead,
        };
        let id = self.own.table().id();
        let Some((claims, owner)) = self.others.claims(self.store, id) else {
            return of_own();
        };
        match claims.holder(row) {
            Some((holder, _)) if holder == owner.id() => return of_own(),
            Some((holder, Mode::Insert)) => return Met::Open(holder),
            // A statement that runs again keeps its claims on rows that were dead when they were granted.
            Some((holder, Mode::Rewrite | Mode::Update)) => {
                let newest = self.store.newest();
                return match newest.tables.get(id.0).is_some_and(|table| table.shows(row)) {
                    true => Met::Open(holder),
                    false => self.dead_in(&newest, row),
                };
            }
            // Whoever locks a row leaves it as it is.
            Some((_, Mode::KeyShare | Mode::Share | Mode::NoKeyUpdate | Mode::ForUpdate)) | None => {}
        }
        let Some(base) = self.base.filter(|base| !self.store.is_newest(base)) else {
            return of_own();
        };
        let is_own = self.own.shows(row) && base.tables.get(id.0).is_none_or(|base| !base.shows(row));
        let newest = self.store.newest();
        match newest.tables.get(id.0) {
            _ if is_own => Met::Live,
            Some(table) if table.shows(row) && self.own.shows(row) => Met::Live,
            Some(table) if table.shows(row) => {
                self.others.looks_at(&newest);
                Met::Unseen
            }
            Some(_) => self.dead_in(&newest, row),
            None => of_own(),
        }
    }

    /// The state of a row that is dead in the newest version. If the transaction still sees the row, its next statement
    /// must not: the row's key may be another one's by then.
    fn dead_in(&self, newest: &Snapshot, row: RowId) -> Met {
        if self.own.shows(row) {
            self.others.looks_at(newest);
        }
        Met::Dead
    }

    /// Waits until a transaction has ended or gives back a row. 40P01, 55P03, 57014.
    pub fn wait(&self, row: RowId, holder: TxnId) -> Result<()> {
        match self.others.claims(self.store, self.own.table().id()) {
            Some((claims, owner)) => claims.wait_for_change(row, holder, owner, self.others.patience()),
            None => Ok(()),
        }
    }
}
