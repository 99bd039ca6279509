//! A sequence as the catalog knows it.

use crate::sequence_state::{Numbers, Position, SequenceDefinition, SequenceState};
use frazil_types::{ColumnNumber, Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// A sequence as the catalog knows it.
#[derive(Clone, Debug)]
pub struct SequenceEntry {
    /// Identity of the sequence.
    pub id: ObjectId,
    /// The identity of its schema.
    pub namespace: ObjectId,
    /// Name of the sequence, folded to lower case unless it was quoted.
    pub name: String,
    /// The values that it gives.
    pub definition: SequenceDefinition,
    /// The column that owns it: it is dropped with the column.
    pub owner: Option<SequenceOwner>,
    /// The values that it gave. Versions of the catalog share the state.
    pub state: Arc<SequenceState>,
}

/// States are not compared: they change beside the versions of the catalog.
impl PartialEq for SequenceEntry {
    fn eq(&self, other: &SequenceEntry) -> bool {
        (self.id, self.namespace, &self.name) == (other.id, other.namespace, &other.name)
            && self.definition == other.definition
            && self.owner == other.owner
    }
}

/// The column that owns a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceOwner {
    /// The table.
    pub table: ObjectId,
    /// The column.
    pub column: ColumnNumber,
    /// True if the column is an identity column, which cannot be without the sequence.
    pub is_identity: bool,
}

impl SequenceEntry {
    /// Takes the next `count` values into `out`, for a statement that took `taken` values before: see
    /// [`SequenceState::take`].
    pub fn take(&self, count: usize, taken: u64, out: &mut Vec<i64>) -> Result<()> {
        self.state.take(self.numbers(), count, taken, out)
    }

    /// `setval`: see [`SequenceState::set`].
    pub fn set(&self, position: Position) -> Result<()> {
        self.state.set(self.numbers(), position)
    }

    fn numbers(&self) -> Numbers<'_> {
        Numbers {
            id: self.id,
            name: &self.name,
            definition: &self.definition,
        }
    }

    /// True if a column of a table owns the sequence.
    pub fn is_owned_by(&self, table: ObjectId, column: ColumnNumber) -> bool {
        self.owner
            .is_some_and(|owner| owner.table == table && owner.column == column)
    }
}

/// 42809.
pub fn not_a_sequence(name: &str) -> Error {
    Error::new(
        SqlState::WRONG_OBJECT_TYPE,
        format!("\"{name}\" is not a sequence"),
    )
}
