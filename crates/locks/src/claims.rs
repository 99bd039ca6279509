//! The claims on the rows of one table, and on a whole chunk of it whose rows move.

use crate::held::{Target, TxnId};
use crate::locks::Shared;
use crate::mode::{AnyMode, Mode};
use crate::owner::{Outcome, Owner, row};
use crate::waiter::{Awaited, Patience};
use frazil_types::{ObjectId, Result, RowId};
use std::sync::Arc;

/// The claims on the rows of a table. Cheap to clone.
#[derive(Clone)]
pub struct Claims {
    shared: Arc<Shared>,
    table: ObjectId,
}

impl Claims {
    pub(crate) fn new(shared: Arc<Shared>, table: ObjectId) -> Claims {
        Claims { shared, table }
    }

    /// Claims a row if nobody is in the way, and nobody who came first waits for it in a mode that conflicts. A
    /// transaction that has a claim on the row may strengthen it past those who wait. 53200 without memory.
    pub fn claim(&self, row: RowId, mode: Mode, by: &Owner) -> Result<Outcome> {
        by.claim(self.table, row, mode)
    }

    /// Claims a row, and waits in its queue for those in the way. 40P01, 55P03, 57014, 53200.
    ///
    /// The row is the owner's then, dead or alive: look at the newest version.
    pub fn claim_waiting(&self, row: RowId, mode: Mode, by: &Owner, patience: Patience<'_>) -> Result<()> {
        by.take(Target::Row(self.table, row), AnyMode::Row(mode), Some(patience))
            .map(drop)
    }

    /// Claims rows of a chunk in the order of `offsets`, up to the first one that somebody else holds. Returns its
    /// index in `offsets` and the transaction in the way; `None`: all are claimed. 53200 without memory.
    pub fn claim_all(
        &self,
        chunk: u32,
        offsets: &[u16],
        mode: Mode,
        by: &Owner,
    ) -> Result<Option<(usize, TxnId)>> {
        by.take_rows((self.table, chunk), offsets, mode)
    }

    /// Claims rows of a chunk in the order of `offsets`, and waits for those in the way. 40P01, 55P03, 57014, 53200.
    pub fn claim_all_waiting(
        &self,
        chunk: u32,
        offsets: &[u16],
        mode: Mode,
        by: &Owner,
        patience: Patience<'_>,
    ) -> Result<()> {
        let mut rest = offsets;
        while let Some((at, _)) = self.claim_all(chunk, rest, mode, by)? {
            self.claim_waiting(RowId::new(chunk, rest[at]), mode, by, patience)?;
            rest = &rest[at + 1..];
        }
        Ok(())
    }

    /// The strongest claim on a row.
    pub fn holder(&self, row: RowId) -> Option<(TxnId, Mode)> {
        self.shared.holdings.with(Target::Row(self.table, row), |place| {
            let mut strongest = None;
            place.holders(|held| {
                if let AnyMode::Row(mode) = held.mode
                    && strongest.is_none_or(|(_, other)| mode > other)
                {
                    strongest = Some((held.txn, mode));
                }
            });
            strongest
        })
    }

    /// Waits until `holder` does not change a row any more, whose unique key is wanted. Returns at once if it does not
    /// now. Claims nothing, so that others may change the row then: look again. 40P01, 55P03, 57014.
    pub fn wait_for_change(
        &self,
        row: RowId,
        holder: TxnId,
        by: &Owner,
        patience: Patience<'_>,
    ) -> Result<()> {
        let awaited = Awaited::Release(Target::Row(self.table, row), holder);
        self.shared.watch(by.state(), awaited, patience)
    }

    /// Claims a whole chunk in order to move its rows. `None` if somebody has a claim on a row of it, or waits for
    /// one. While the result lives, whoever wants a row waits; then it looks at the newest version and finds the chunk
    /// gone.
    pub fn claim_chunk(&self, chunk: u32, by: &Owner) -> Option<ChunkClaim> {
        let begin = |claims: &mut crate::chunk_claims::ChunkClaims| claims.begin_move(by.id());
        let is_claimed = self.shared.holdings.with_chunk(self.table, chunk, begin);
        is_claimed.then(|| ChunkClaim {
            shared: self.shared.clone(),
            table: self.table,
            chunk,
        })
    }
}

/// A claim on a whole chunk. Ends when dropped, whatever becomes of its owner.
#[must_use]
pub struct ChunkClaim {
    shared: Arc<Shared>,
    table: ObjectId,
    chunk: u32,
}

impl Drop for ChunkClaim {
    fn drop(&mut self) {
        let holdings = &self.shared.holdings;
        let offsets = holdings.with_chunk(self.table, self.chunk, |claims| claims.end_move());
        let rows: Vec<Target> = offsets
            .into_iter()
            .map(|offset| row(self.table, self.chunk, offset))
            .collect();
        self.shared.serve(&rows, None);
    }
}
