//! The locks on one table, or the claims on one key: by transaction, and how many there are of each mode, so that
//! thousands of sessions that write one table, or refer to one key, do not read each other's.

use crate::hashing::IdMap;
use crate::held::{Held, Placed, TxnId};
use crate::mode::{AnyMode, Modes};
use std::collections::hash_map::Entry;

/// Bits of [`Modes`].
const MODES: usize = Modes::BITS as usize;

/// The locks of one transaction on the table or key: nearly always one.
struct OwnLocks {
    first: Held,
    more: Vec<Held>,
}

impl OwnLocks {
    fn new(first: Held) -> OwnLocks {
        let more = Vec::new();
        OwnLocks { first, more }
    }

    fn all(&self) -> impl Iterator<Item = &Held> {
        std::iter::once(&self.first).chain(&self.more)
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
            None if !self.others.contains_key(&held.txn) => self.first = Some(OwnLocks::new(held)),
            _ => match self.others.entry(held.txn) {
                Entry::Occupied(mut own) => own.get_mut().more.push(held),
                Entry::Vacant(none) => drop(none.insert(OwnLocks::new(held))),
            },
        }
        Placed::New
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
