//! Tables: hot chunks and frozen blocks behind one scan, written by several transactions side by side and read
//! by any number of statements beside them.
//!
//! Everything a reader sees is an immutable version: a [`Snapshot`] holds the catalog and, per table, a
//! [`TableSnapshot`]: its chunks with the rows visible in each and the rows deleted from it, and the list of its
//! indexes, whose trees all versions share. A [`Transaction`] makes a version of its own and lists what it did; its
//! commit is merged into the newest version and published with one pointer swap, so readers never wait for more than
//! that ([`visible`]). Cells of a hot chunk are written once, beyond the rows that any version shows. This crate
//! spawns no threads.
//!
//! # Many writers
//!
//! These are the rules under which transactions write side by side. Those about claims are argued in crate
//! `frazil_locks`.
//!
//! 1. *Slots of a hot chunk are handed out in order, each once, and filled under the chunk's latch* ([`hot_chunk`]). If
//!    a slot were filled after the latch is given back, a checkpoint could read a string that is not there yet.
//!    Transactions share the tail of a table; those that find it full each begin a chunk of their own, and so does one
//!    that has written 4,096 rows while others write to the tail, too.
//! 2. *A version shows a number of slots and marks those that are not its own and not committed; only their own
//!    transaction clears the marks* (`ChunkEntry::show_slots`). A takes slot 5, B takes slot 6, B commits:
//!    slot 5 is marked. A commits: its mark is cleared. If A is rolled back instead, nobody clears the mark. Marks of
//!    deleted rows and of such slots are one bitmap, because scans, blocks and checkpoints treat both alike.
//! 3. *Recovery takes slots and chunks in any order* ([`replay`]). A slot in a chunk that a checkpoint wrote
//!    as a block makes the chunk hot again. A chunk all of whose slots were open is in no checkpoint, and begins
//!    anew. The log does not say which marked slots are still to come, so recovery refuses a row for a slot that
//!    shows a row, and takes one for any marked slot.
//! 4. *A transaction is a base version and lists of what it did; a commit merges the lists into the newest version; a
//!    savepoint is a mark in the lists* ([`changes`]). At READ COMMITTED each statement begins with a later base, and a
//!    commit with the newest one: the difference between the base and the transaction's version is merged into that
//!    ([`merged_slots`]), slot by slot, so that a merge costs what was touched and not what was done. What undoes a
//!    change is found when it is undone, because others may have shown slots behind those of the transaction.
//! 5. *Rows are claimed before they are deleted, and new rows before unique indexes have their entries; then the newest
//!    version is looked at* ([`other_writers`]). A statement claims all rows before it writes any. If one of them was
//!    changed since, the statement runs again at READ COMMITTED; its claims are kept. A statement that ran again
//!    three times locks the table, so that nobody overtakes it for ever ([`reruns`]). FOR UPDATE claims rows in this
//!    way and leaves them as they are ([`row_locks`]): whoever wants the key of such a row need not wait.
//! 6. *A commit is merged, gets its place in the log and is installed in one section; then its claims are freed*
//!    ([`transaction`]). If they were freed before, a third transaction could claim a row and find it alive. It is
//!    merged before the section, and in the section again if another commit came between.
//! 7. *Whoever changes a table as a whole keeps its writers away* ([`Transaction::lock_whole`]): definitions, TRUNCATE,
//!    FREEZE, and the swap of a chunk that was frozen, thinned or frozen again. So nobody has an open slot in a chunk
//!    that becomes a block, and row ids hold until their transaction ends. A block that was built while others wrote
//!    is thrown away if the chunk shows more rows by now. Such a transaction locks the table, then looks at the newest
//!    version of it, in this order, as for rows. One transaction at a time changes the catalog
//!    ([`Transaction::define`]); its commit takes over its catalog, and the newest versions of all tables but those
//!    that it changed.
//! 8. *A child claims its parents' keys and then looks for them; whoever takes a key away claims it and then looks for
//!    children* ([`key_claims`]). So a parent that is found stays, and no child comes that is not seen. Whoever checks
//!    rows of another table locks that table as PostgreSQL does, in ROW SHARE mode, or in ROW EXCLUSIVE mode if it acts
//!    on its rows. A definition that makes or drops a foreign key keeps the writers of both tables away: those that
//!    began before would not know the key.
//! 9. *An index entry leaves when no living version shows its row; a transaction's version holds the one that it
//!    derives from* ([`entry_collector`]). The living versions are asked, not only the oldest one, so that rows which
//!    come and go beside an old reader leave at once. If a transaction's version did not hold its base, a cursor of a
//!    transaction that has gone over to a later base could no longer find rows that others have deleted since.
//!
//! Programs that lack rule 3 would take a log of many writers for a damaged one, so the log has had another version
//! since there are many.

pub mod access_counters;
pub mod bounds;
mod built_for;
mod changes;
mod chunk;
pub mod chunk_entry;
pub mod chunk_info;
pub mod chunk_view;
mod coded_strings;
mod column_fill;
mod columns;
mod columns_beside;
mod deferrable_keys;
mod deferred_checks;
mod definitions;
pub mod deleted_rows;
pub mod early_probe;
mod entry_collector;
pub mod explain_freeze;
pub mod fetched_column;
mod filled_chunks;
mod filled_column;
mod first_rows;
mod followed;
pub mod freeze;
mod hot_chunk;
mod hot_disjunction;
pub mod hot_layout;
mod hot_match;
mod index_build;
pub mod index_check;
mod index_log;
mod index_lookup;
mod kept_columns;
mod kept_row;
mod key_claims;
pub mod key_lookup;
mod left_entries;
mod lent_cells;
mod lent_rows;
pub mod log;
#[cfg(test)]
mod many_writers;
pub mod merge_restrictions;
mod merged_slots;
mod moved_columns;
mod narrow_rows;
pub mod new_rows;
mod other_writers;
mod persistent_map;
mod prefix_rows;
mod read_chunk;
pub mod redo;
pub mod refreeze;
mod replay;
mod reruns;
mod reshape;
mod row_counts;
pub mod row_fetch;
mod row_locks;
mod row_places;
mod row_queue;
mod row_sample;
pub mod scan_cursor;
mod section;
pub mod segment_block;
mod sequences;
mod settling;
pub mod snapshot;
pub mod statistics;
pub mod store;
pub mod string_arena;
pub mod table_indexes;
mod table_locks;
pub mod table_options;
pub mod table_scan;
pub mod table_writer;
mod temporary;
pub mod thaw;
pub mod top_bound;
pub mod transaction;
mod unique_keys;
pub mod upsert;
mod visible;
mod watch;
mod whole_columns;
mod writer_memory;

pub use access_counters::{AccessCounters, BlockVisits, ColumnAccess, TableAccess};
pub use bounds::{ColumnBounds, LastingBounds, TableBounds, WidestBounds};
pub use built_for::BuiltFor;
pub use chunk::FrozenChunk;
pub use chunk_entry::{ChunkEntry, ChunkIdentity};
pub use chunk_info::ChunkColumnInfo;
pub use chunk_view::{ChunkView, Lease};
pub use coded_strings::CodedStrings;
pub use column_fill::ColumnFill;
pub use deferred_checks::{DeferredChecks, DeferredEntry};
pub use deleted_rows::DeletedRows;
pub use explain_freeze::{MeasuredCost, WayToHold};
pub use fetched_column::FetchedColumn;
pub use first_rows::OrderColumn;
pub use followed::Followed;
pub use frazil_locks::{KeyMode, TableMode};
pub use freeze::{FreezeReport, Freezer};
pub use hot_layout::HotLayout;
pub use index_check::IndexCheck;
pub use index_lookup::{JoinKeys, LookedUp};
pub use key_claims::{NewValues, key_number};
pub use key_lookup::{FoundRow, RowCells};
pub use lent_cells::{LentCells, LentRows};
pub use log::{Acknowledge, Durability, Log, Lsn, NamedBlocks, RedoPlace, Reserved, SegmentPlace};
pub use narrow_rows::Zones;
pub use new_rows::{CheckResult, NewRows};
pub use other_writers::STORE;
pub use prefix_rows::PrefixWalk;
pub use refreeze::RefreezeStep;
pub use row_counts::RowCounts;
pub use row_fetch::RowFetch;
pub use row_locks::{LocksBefore, RowLock};
pub use row_queue::{QueuedRows, RowRun, WrittenRows};
pub use row_sample::RowSample;
pub use scan_cursor::{HotRows, Positions, ScanCursor};
pub use section::CommitTimes;
pub use snapshot::{Snapshot, Table, TableSnapshot};
pub use statistics::{ColumnStatistics, DistinctEstimate, TableStatistics};
pub use store::{Store, read_only};
pub use table_indexes::{TableIndex, TableIndexes};
pub use table_scan::{BuildKeys, EarlyProbe, ScanCounters, ScanOptions, TableScan};
pub use table_writer::{Conflict, TableWriter, Written};
pub use top_bound::{KeyOrder, TopBound};
pub use transaction::{Savepoint, Transaction};
pub use upsert::{InTheWay, RowsInTheWay};
pub use whole_columns::WholeColumns;
