//! Portals: statements with their values, run as a whole or some rows at a time.
//!
//! A portal that is run for some rows computes these, and pauses: see [`frazil::Cursor`].

use crate::parameters::Formats;
use frazil::{Cursor, Described, OpenPortal, TypedStatement};
use frazil_types::{Reservation, Value};
use std::sync::Arc;

/// A statement with its values.
pub struct Portal {
    /// The statement; `None` for an empty text.
    pub statement: Option<TypedStatement>,
    /// The values of its parameters.
    pub values: Vec<Value>,
    /// The memory of long values; `None` for others.
    pub memory: Option<Reservation>,
    /// The formats of its rows' values.
    pub formats: Formats,
    /// The form of its result.
    pub described: Arc<Described>,
    /// Its progress.
    pub state: State,
}

/// The progress of a portal.
pub enum State {
    /// It has not run.
    Ready,
    /// The portal gave as many rows as Execute asked for, and may have more. It is among the cursors of the session.
    Suspended(Cursor, OpenPortal),
    /// Its rows are those of the session's cursor of its name: a FETCH or MOVE asked for it.
    Named,
    /// It ran, and no rows are left.
    Done,
    /// The last Execute ended with an error.
    Failed,
}
