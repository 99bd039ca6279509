//! What an operator does with the columns that it names beside its expressions.

/// What an operator does with a column that it names beside its expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It makes the column.
    Made,
    /// It makes the column, and names it another time.
    MadeAlready,
    /// It reads a column of an input.
    Read,
    /// It reads a column of an input, which is visible above it though others of that input are not.
    Passed,
    /// It reads a column of a shared subplan, which has ids of its own.
    Stored,
}

impl Role {
    /// True if the column is one of an input.
    pub fn is_read(self) -> bool {
        match self {
            Role::Read | Role::Passed => true,
            Role::Made | Role::MadeAlready | Role::Stored => false,
        }
    }

    /// True if the column is visible above an operator that names it so.
    pub fn is_visible(self) -> bool {
        match self {
            Role::Made | Role::Passed => true,
            Role::MadeAlready | Role::Read | Role::Stored => false,
        }
    }
}
