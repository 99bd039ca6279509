//! What reading a statement must keep to.

use frazil_types::{Cancel, MemoryBudget};

/// What reading and binding a statement must keep to.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Asked at every expression.
    pub cancel: Cancel,
    /// Holds what the tree of a long statement takes.
    pub budget: MemoryBudget,
}

impl Limits {
    /// None.
    pub fn none() -> Limits {
        Limits {
            cancel: Cancel::new(),
            budget: MemoryBudget::unlimited(),
        }
    }
}
