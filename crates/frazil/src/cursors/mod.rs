//! Cursors: queries whose rows are taken piece by piece, by DECLARE and FETCH or by portals of PostgreSQL's protocol.
//!
//! A query with pipelines works only while somebody waits for a piece ([`running_query`]): between two pieces it holds
//! the query's snapshot and the rows of one piece, but no thread. A forward cursor drops the rows that it handed over,
//! so that a result of any size takes the memory of one piece. SCROLL keeps all rows that were reached, and WITH HOLD
//! those that are left at COMMIT. Whatever is kept counts against `memory_limit`.

mod cursor;
mod named_cursors;
mod running_query;
mod statements;

pub use cursor::Cursor;
pub use named_cursors::NamedCursors;
pub use running_query::{Pieces, RunningQuery};
pub use statements::{described, run};
