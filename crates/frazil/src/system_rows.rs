//! The rows of a system table that a statement names. They are made once a plan says which it needs.

use crate::system_tables::Wanted;
use frazil_storage::TableSnapshot;
use frazil_types::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The rows that are made, and which these are.
type Made = Option<(Wanted, Arc<TableSnapshot>)>;

/// The rows of a system table.
#[derive(Debug)]
pub struct SystemRows(Mutex<Made>);

impl SystemRows {
    /// A table of which all rows are there, or none.
    pub fn new(all: Option<Arc<TableSnapshot>>) -> SystemRows {
        SystemRows(Mutex::new(all.map(|all| (Wanted::All, all))))
    }

    /// The rows, if some are made.
    pub fn made(&self) -> Option<Arc<TableSnapshot>> {
        self.lock().as_ref().map(|(_, rows)| rows.clone())
    }

    /// True as long as another plan may need more rows.
    pub fn waits(&self) -> bool {
        !matches!(&*self.lock(), Some((Wanted::All, _)))
    }

    /// Makes the rows that a plan wants. All rows are made if an earlier plan of the statement wanted other ones.
    pub fn need(&self, wanted: Wanted, make: &dyn Fn(&Wanted) -> Result<Arc<TableSnapshot>>) -> Result<()> {
        let mut made = self.lock();
        let wanted = match &*made {
            Some((known, _)) if *known == wanted || *known == Wanted::All => return Ok(()),
            Some(_) => Wanted::All,
            None => wanted,
        };
        let rows = make(&wanted)?;
        *made = Some((wanted, rows));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
