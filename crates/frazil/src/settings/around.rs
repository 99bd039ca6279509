//! The settings before, in and after an open transaction.

use super::Settings;
use std::sync::Arc;

/// The settings around an open transaction.
#[derive(Debug)]
pub(crate) struct Around {
    /// Before it: they come back with ROLLBACK.
    pub before: Arc<Settings>,
    /// After its COMMIT: without the changes of SET LOCAL.
    pub lasting: Arc<Settings>,
    /// For savepoints, by number: the settings then, and those that would have lasted.
    pub moments: Vec<(Arc<Settings>, Arc<Settings>)>,
}

impl Around {
    /// The settings before a transaction that begins now.
    pub fn new(settings: &Arc<Settings>) -> Around {
        Around {
            before: settings.clone(),
            lasting: settings.clone(),
            moments: Vec::new(),
        }
    }
}
