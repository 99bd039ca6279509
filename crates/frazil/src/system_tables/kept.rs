//! Made tables, kept while the version of the catalog that they show is in use: between definitions, a client that asks
//! again reads rows that are there.

use frazil_catalog::Catalog;
use frazil_storage::TableSnapshot;
use frazil_types::Result;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Most tables that are kept, of all databases of the process.
const MOST: usize = 256;

struct Kept {
    catalog: Weak<Catalog>,
    /// The schema of the temporary objects that the rows show; `None` if the version has none.
    temporary: Option<String>,
    /// The schema and name of the table.
    table: (&'static str, &'static str),
    made: Arc<TableSnapshot>,
}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The rows of a table for a version of the catalog and a session whose temporary objects are in the schema
/// `temporary`, if they are kept. Sessions share the rows of a version without temporary objects.
pub(super) fn find(
    catalog: &Arc<Catalog>,
    temporary: Option<&str>,
    table: (&'static str, &'static str),
) -> Option<Arc<TableSnapshot>> {
    let temporary = temporary.filter(|_| catalog.has_temporary());
    let is_it = |kept: &&Kept| {
        let is_of_catalog = ptr::eq(kept.catalog.as_ptr(), Arc::as_ptr(catalog));
        is_of_catalog && kept.table == table && kept.temporary.as_deref() == temporary
    };
    let all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().find(is_it).map(|kept| kept.made.clone())
}

/// The rows that [`find`] finds, or else those that `make` makes, which are kept.
pub(super) fn of_catalog(
    catalog: &Arc<Catalog>,
    temporary: Option<&str>,
    table: (&'static str, &'static str),
    make: impl FnOnce() -> Result<Arc<TableSnapshot>>,
) -> Result<Arc<TableSnapshot>> {
    if let Some(kept) = find(catalog, temporary, table) {
        return Ok(kept);
    }
    let made = make()?;
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    // An entry holds its catalog's memory, so that no other catalog has the address.
    all.retain(|kept| kept.catalog.strong_count() > 0);
    if all.len() >= MOST {
        all.remove(0);
    }
    all.push(Kept {
        catalog: Arc::downgrade(catalog),
        temporary: temporary.filter(|_| catalog.has_temporary()).map(str::to_owned),
        table,
        made: made.clone(),
    });
    Ok(made)
}
