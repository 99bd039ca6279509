//! The parts of a session that a writing statement works with, and the extent of its changes.

use crate::database::Database;
use crate::frame_tables::Frames;
use crate::settings::{Board, Settings};
use frazil_exec::Progress;
use frazil_types::{Cancel, MemoryBudget};
use std::sync::Arc;

/// The extent of a writing statement's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Rows: others change rows beside it.
    Rows,
    /// The catalog, and the tables that the statement locks: nobody else changes the catalog meanwhile.
    Definitions,
    /// Anything: nobody else writes meanwhile.
    Everything,
}

/// The parts of its session that a writing statement knows.
#[derive(Clone, Copy)]
pub struct Writing<'a> {
    /// The settings.
    pub settings: &'a Arc<Settings>,
    /// The flag that cancels the statement.
    pub cancel: &'a Cancel,
    /// The budget that its memory is taken from.
    pub budget: &'a MemoryBudget,
    /// The database.
    pub database: &'a Database,
    /// Counts the work that is done.
    pub progress: &'a Arc<Progress>,
    /// Finds frames by their names.
    pub frames: Option<&'a Arc<dyn Frames>>,
    /// The session as system tables show it.
    pub board: &'a Arc<Board>,
}
