//! Claims on rows and locks on tables: who may change what, and who waits for whom.
//!
//! This crate knows a table by its number, a row by its id and a transaction by an [`Owner`]. It knows no version of a
//! row, no index and no log. Those who write use it by rules, each of which is here with the history that breaks a
//! simpler one.
//!
//! # Claim, then look at the newest version, install, then free
//!
//! A transaction that wants to change a row claims the row first ([`Claims::claim_waiting`]). Then it looks at the
//! newest version of the table. If the row is dead there, another transaction was faster. It frees its claims only
//! after its own version is installed. So its look sees every commit that held the row before.
//!
//! *Look, then claim:* A looks at row r, which is live. B claims r, deletes it, installs its version and frees r. A
//! claims r and deletes it again: of two UPDATEs that add one, one is lost.
//! *Free, then install:* A frees r. B claims r, looks, and finds it live because A's version is not installed yet.
//!
//! A unique key asks in the order claims first, then the newest version: [`Claims::holder`] says whether the row that
//! an index entry names is being inserted ([`Mode::Insert`]) or deleted by an open transaction. In the other order, a
//! transaction that installs and frees between the two questions is seen by neither.
//!
//! # Keys
//!
//! A foreign key is about a key, not about a row: UPDATE gives the row another id and leaves the key. So keys are
//! claimed by themselves, by the number of their index and a hash of their bytes ([`Owner::claim_key`]), in two modes
//! ([`KeyMode`]): children share a key that they refer to, and whoever takes the key away has it alone. The order is
//! the one of rows. The child is written, the key is claimed, the newest version is looked at; and whoever takes the
//! key away claims it and then looks for children.
//!
//! *Look, then claim:* the child finds its parent. Another transaction claims the key, finds no child, deletes the
//! parent and frees the key. The child claims the key and is committed without a parent. *Free, then install:* the
//! child frees the key. The other transaction claims it and finds no child, because the child's version is not
//! installed yet.
//!
//! A lock on the number of the index stands for all of its keys. Claims on single keys are beside a table lock on the
//! index that says so, in a mode that conflicts with a lock on all keys.
//!
//! # A claim that was granted stays granted
//!
//! A waiter holds the row when its wait ends, dead or alive, until its transaction ends or goes back to a savepoint.
//! *500 wait for r; the first one moves the row to r'; the second one is granted r, finds it dead and goes for r'. If
//! it gave r back, each of the 498 others would wake up to find out the same thing.* Whoever frees a claim hands it
//! over: the claim is recorded in the next waiter's name before the waiter wakes up, so that nobody takes the row
//! between.
//!
//! # Queues are fair
//!
//! A newcomer does not pass a waiter it conflicts with, even if it is compatible with all holders: *else readers that
//! share a row keep a writer out for ever.* Two rules go past a queue. A holder may strengthen its own claim as soon
//! as no other holder is in the way, and waits in front of all newcomers: to stand behind those who wait for its own
//! claim would be a deadlock. And a circle of waits in which somebody waits for nobody but others in its queue is
//! resolved by letting it past.
//!
//! # The fast path knows one latch
//!
//! Claims are in shards by table and chunk, or by key ([`holdings`]), a hash of offsets in each chunk and bitmaps where
//! one transaction claims many rows ([`chunk_claims`]). A claim that meets nobody takes the latch of one shard. Its row
//! has a flag if somebody waits for it; then, and where a holder is in the way, the claim is tried again under the
//! lock of the waits ([`waits`]).
//!
//! Locks on tables that writers share are in slots by transaction, so that sessions that write one table do not meet
//! ([`table_locks`]). Whoever wants a lock that they conflict with gathers them first.
//!
//! The flag is set under the latch under which the holder was seen. *Set later, the holder frees the row between,
//! finds no flag and wakes nobody.* Whoever frees a row with the flag asks the queue afterwards. Between these two
//! moments the row is free, but a newcomer finds the flag, asks the queue and stands behind those who came first.
//!
//! Latches are taken in one order: notes of the owner, then a shard; the lock of the waits, then a shard or the
//! registry; the seat of a waiter last. Nobody takes the lock of the waits below a latch or an owner's notes.
//!
//! # Circles
//!
//! A transaction waits for the holders in its way, for those ahead of it in a queue that it may not pass, for the end
//! of a change of a row whose key it wants, or for the end of a transaction. All four are edges of one graph, or a
//! circle of a row and a table would never be found ([`deadlock`]). A circle closes in the moment when its last member
//! begins to wait. New edges that come from a grant lead to a transaction that has just stopped waiting, so they close
//! none. Therefore each wait searches once, from itself, under the lock of the waits, and the waiter that closes a
//! circle is its one victim (40P01). No timeout is involved. A transaction for which nobody ever waited is on no
//! circle and does not search: a queue of 500 for one row costs no search.
//!
//! # Savepoints
//!
//! A claim has a level, the number of savepoints with claims before it. A claim that is strengthened at a later level
//! stands beside the weaker one, so that [`Owner::free_since`] takes away the later one and the earlier one is what is
//! left. *A claim raised in place forgets that it was weaker: ROLLBACK TO either keeps too much or frees what came
//! before.*
//!
//! # Moves
//!
//! Whoever moves rows to other ids claims the chunk ([`Claims::claim_chunk`]). A chunk with a claim is left alone, and
//! while it is claimed its rows cannot be. *Without it, a row that A has claimed gets another id, B claims it under
//! that one, and both change it.* Freezing in place keeps ids and needs no claim.
//!
//! # Ends
//!
//! Dropping an [`Owner`] frees what it holds and wakes those who wait for it; a panic drops it, too. Locks of this
//! crate are not poisoned: each change below one is complete before anything that can panic. A statement that is
//! cancelled (57014) or waits too long (55P03) leaves its queue and lets those behind it pass; if the grant was
//! faster, it has the grant. The memory of claims comes from a budget (53200): 64 bytes for a single row, two bits a
//! row for a chunk that is claimed as a whole, 384 bytes for a key.
//!
//! # What is left behind
//!
//! A commit is seen by readers later than its claims are freed. It leaves its number with what it frees
//! ([`Owner::leave_behind`]), so that the next holder knows which commit it follows ([`Owner::follows`]): the essay of
//! [`left_behind`] has the history.
//!
//! The models in `schedules.rs` run these rules through loom, and two of their opposites, which loom must refute;
//! `tests/model` compares random schedules with a reference that is a list.

#![forbid(unsafe_code)]

mod chunk_claims;
mod claims;
mod deadlock;
mod hashing;
mod held;
mod holders;
mod holdings;
mod left_behind;
mod listing;
mod locks;
mod mode;
mod owner;
mod registry;
#[cfg(test)]
mod schedules;
mod sync;
mod table_locks;
mod waiter;
mod waits;

pub use claims::{ChunkClaim, Claims};
pub use held::{Target, TxnId};
pub use listing::{Holding, OpenTransaction, Wait};
pub use locks::Locks;
pub use mode::{AnyMode, KeyMode, Mode, TableMode};
pub use owner::{Claimed, Mark, Outcome, Owner};
pub use waiter::Patience;
pub use waits::Counters;
