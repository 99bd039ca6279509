//! What a block was built for: what [`refreeze`](crate::refreeze) goes by when it looks whether a block still suits.

use frazil_block::BuildOptions;
use std::sync::{Arc, Mutex, MutexGuard};

/// What a block was built for, or was last found good enough for.
#[derive(Debug)]
pub struct BuiltFor(Mutex<Judgement>);

/// What the last look at a block found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judgement {
    /// `None`: it is not known, or not what its table asked for.
    pub options: Option<Arc<BuildOptions>>,
    /// Options that its values refuse.
    pub refused: Option<Arc<BuildOptions>>,
    /// Visits of the table until then.
    pub table_visits: u64,
    /// Visits of the block until then.
    pub own_visits: u64,
    /// Looks since it was first built.
    pub looks: u32,
}

impl BuiltFor {
    /// A block built by these options; `None` if they are not those of its table.
    pub fn new(options: Option<Arc<BuildOptions>>) -> BuiltFor {
        BuiltFor::judged(Judgement {
            options,
            ..Judgement::default()
        })
    }

    /// A block with the judgement of one that it replaces, or joins.
    pub(crate) fn judged(judgement: Judgement) -> BuiltFor {
        BuiltFor(Mutex::new(judgement))
    }

    /// The judgement, locked.
    pub(crate) fn judgement(&self) -> MutexGuard<'_, Judgement> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether options ask for a block like this, or did when it was last looked at.
    pub fn matches(&self, asked: &BuildOptions) -> bool {
        let judged = self.judgement();
        judged.options.as_ref().is_some_and(|o| o.ask_the_same(asked))
    }
}
