//! What binding is told, and what it gives.

use crate::{HiddenParameter, Statement};
use frazil_types::{LogicalType, Zone};

/// Settings that change how plans are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanSettings {
    /// Whether a common table expression that is read several times is computed once.
    pub share_common_tables: bool,
    /// The session's time zone.
    pub zone: Zone,
}

impl Default for PlanSettings {
    fn default() -> PlanSettings {
        PlanSettings {
            share_common_tables: true,
            zone: Zone::UTC,
        }
    }
}

/// A bound statement with its parameters.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The statement.
    pub statement: Statement,
    /// Types of `$1`, `$2`, …: as given, or inferred.
    pub parameters: Vec<LogicalType>,
    /// Parameters, counted from 0, that are texts although another type might do as well.
    pub guessed: Vec<usize>,
    /// Parameters that follow the statement's own.
    pub hidden: Vec<HiddenParameter>,
    /// How deep it nests, with the views that it reads: what walks it recursively needs a stack for it
    /// ([`crate::on_deep_stack`]).
    pub depth: usize,
}

impl Bound {
    /// A statement without parameters.
    pub(crate) fn plain(statement: impl Into<Statement>) -> Bound {
        Bound {
            statement: statement.into(),
            parameters: Vec::new(),
            guessed: Vec::new(),
            hidden: Vec::new(),
            depth: 0,
        }
    }
}
