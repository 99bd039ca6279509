//! COPY.

use super::find_table;
use super::insert::positions;
use crate::copy::{CopyEnd, CopyOptions};
use crate::{CatalogView, Writing};
use frazil_types::{Error, Result, Span, SqlState};

/// Binds COPY … FROM.
pub(crate) fn copy_from(
    catalog: &dyn CatalogView,
    table: &str,
    columns: &[String],
    source: &CopyEnd,
    options: &CopyOptions,
) -> Result<Writing> {
    refuse_remote(source)?;
    let entry = find_table(catalog, table).map_err(|e| match e.state() {
        SqlState::WRONG_OBJECT_TYPE => {
            let message = format!("cannot copy to view \"{table}\"");
            Error::new(e.state(), message).with_hint("copy into a table that it reads")
        }
        _ => e,
    })?;
    let columns = positions(&entry, columns.iter().map(|name| (name.as_str(), Span::NONE)))?;
    for (i, column) in entry.schema.columns.iter().enumerate() {
        if !columns.contains(&i) && column.constant_default().is_none() {
            let what = format!(
                "COPY without column \"{}\", whose DEFAULT is computed,",
                column.name
            );
            return Err(Error::unsupported(what).with_hint("add the column to the file"));
        }
    }
    Ok(Writing::CopyFrom {
        table: entry.id,
        name: entry.name,
        columns,
        source: source.clone(),
        options: options.clone(),
    })
}

/// 0A000 for a file on another machine.
pub(crate) fn refuse_remote(end: &CopyEnd) -> Result<()> {
    match end {
        CopyEnd::File(path) if crate::file_source::is_remote(path) => {
            Err(Error::unsupported("a remote file"))
        }
        CopyEnd::File(_) | CopyEnd::Client => Ok(()),
    }
}
