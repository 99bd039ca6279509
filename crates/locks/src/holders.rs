//! The locks on one table, or the claims on one key: by transaction, and how many there are of each mode, so that
//! thousands of sessions that write one table, or refer to one key, do not read each other's.

use crate::hashing::IdMap;
use crate::held::{Held, Placed, TxnId};
use crate::mode::{AnyMode, Modes};
use std::collections::hash_map::Entry;

/// Bits of [`Modes`].
const MODES: usize = Modes::BITS as usize;

/// The locks of one transaction on the table or key: nearly always one.
pub(crate) struct OwnLocks {
    first: Held,
    more: Vec<Held>,
}

impl OwnLocks {
    /// One lock.
    pub fn of(held: Held) -> OwnLocks {
        let more = Vec::new();
        OwnLocks { first: held, more }
    }

    /// Adds a lock of the transaction.
    pub fn push(&mut self, held: Held) {
        self.more.push(held);
    }

    pub fn all(&self) -> impl Iterator<Item = &Held> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// The transaction.
    pub fn txn(&self) -> TxnId {
        self.first.txn
    }

    /// The modes that conflict with one of the locks.
    pub fn conflicts(&self) -> Modes {
        self.all().fold(0, |modes, held| modes | held.mode.conflicts())
    }

    /// The locks of levels before one; `None` if there are none.
    pub fn below(self, level: u32) -> Option<OwnLocks> {
        let all = std::iter::once(self.first).chain(self.more);
        let mut kept = all.filter(|held| held.level < level);
        let first = kept.next()?;
        let more = kept.collect();
        Some(OwnLocks { first, more })
    }
}

/// The locks on one table, or the claims on one key.
#[derive(Default)]
pub(crate) struct Holders {
    /// The locks of one transaction. Most keys have one holder, and its locks need no map. `None`: nobody holds
    /// anything, or the transaction that did is gone and others are in `others`.
    first: Option<OwnLocks>,
    /// The locks of the other transactions.
    others: IdMap<TxnId, OwnLocks>,
    /// `counts[i]`: locks in the mode of bit `i`.
    counts: [u32; MODES],
    /// The modes whose count is not 0.
    present: Modes,
    /// True if somebody waits for the table or key.
    pub is_waited: bool,
}

fn bit(mode: AnyMode) -> usize {
    mode.bit().trailing_zeros() as usize
}

impl Holders {
    /// True if nobody holds the table or key, or waits for it.
    pub fn is_idle(&self) -> bool {
        self.first.is_none() && self.others.is_empty() && !self.is_waited
    }

    /// Calls `each` with every lock.
    pub fn holders(&self, each: impl FnMut(Held)) {
        let all = self.first.iter().chain(self.others.values());
        all.flat_map(OwnLocks::all).copied().for_each(each);
    }

    /// The locks of a transaction.
    fn of(&self, txn: TxnId) -> impl Iterator<Item = &Held> {
        let first = self.first.as_ref().filter(|own| own.first.txn == txn);
        let own = first.or_else(|| self.others.get(&txn));
        own.into_iter().flat_map(OwnLocks::all)
    }

    /// The modes that conflict with what a transaction holds.
    pub fn own(&self, txn: TxnId) -> Modes {
        self.of(txn).fold(0, |modes, held| modes | held.mode.conflicts())
    }

    /// True if a lock of another transaction conflicts with `wanted`.
    pub fn is_in_the_way(&self, wanted: Held) -> bool {
        let conflicts = wanted.mode.conflicts() & self.present;
        if conflicts == 0 {
            return false;
        }
        let all = (0..MODES).filter(|mode| conflicts >> mode & 1 == 1);
        let all: u32 = all.map(|mode| self.counts[mode]).sum();
        let own = self.of(wanted.txn);
        all as usize > own.filter(|held| held.mode.conflicts_with(wanted.mode)).count()
    }

    /// Takes the table or key if nobody is in the way and nobody waits.
    pub fn place(&mut self, held: Held) -> Placed {
        if held.mode.conflicts() & !self.own(held.txn) == 0 {
            return Placed::Covered;
        }
        if self.is_waited || self.is_in_the_way(held) {
            return Placed::Contended;
        }
        self.add(held)
    }

    /// Records a lock that conflicts with no other.
    pub fn add(&mut self, held: Held) -> Placed {
        self.counts[bit(held.mode)] += 1;
        self.present |= held.mode.bit();
        match &mut self.first {
            Some(own) if own.first.txn == held.txn => own.more.push(held),
            None if !self.others.contains_key(&held.txn) => self.first = Some(OwnLocks::of(held)),
            _ => match self.others.entry(held.txn) {
                Entry::Occupied(mut own) => own.get_mut().more.push(held),
                Entry::Vacant(none) => drop(none.insert(OwnLocks::of(held))),
            },
        }
        Placed::New
    }

    /// Records locks of a transaction that conflict with no others.
    pub fn add_all(&mut self, own: OwnLocks) {
        for held in own.all() {
            self.add(*held);
        }
    }

    /// True if all locks are in these modes and nobody waits.
    pub fn is_within(&self, modes: Modes) -> bool {
        self.present & !modes == 0 && !self.is_waited
    }

    /// Takes all locks away, by transaction.
    pub fn take_all(&mut self) -> impl Iterator<Item = OwnLocks> + use<'_> {
        self.counts = [0; MODES];
        self.present = 0;
        let first = self.first.take().into_iter();
        first.chain(self.others.drain().map(|(_, own)| own))
    }

    /// Takes away the locks of a transaction from a level on.
    pub fn free(&mut self, txn: TxnId, from: u32) {
        let own = match self.first.take_if(|own| own.first.txn == txn) {
            Some(own) => Some(own),
            None => self.others.remove(&txn),
        };
        let Some(OwnLocks { first, more }) = own else {
            return;
        };
        for held in std::iter::once(first).chain(more) {
            let count = &mut self.counts[bit(held.mode)];
            *count -= 1;
            if *count == 0 {
                self.present &= !held.mode.bit();
            }
            if held.level < from {
                self.add(held);
            }
        }
    }
}
