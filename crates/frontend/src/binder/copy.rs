//! COPY.

use super::find_table;
use super::insert::positions;
use super::naming::{to_create, to_drop};
use crate::copy::{CopyEnd, CopyOptions};
use crate::{CatalogView, Writing};
use frazil_catalog::{WrittenName, default_sequence};
use frazil_types::{Error, Result, Span, SqlState};

/// Binds COPY … FROM.
pub(crate) fn copy_from(
    catalog: &dyn CatalogView,
    table: &WrittenName,
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
        let is_known = || column.constant_default().is_some() || default_sequence(column).is_some();
        if !columns.contains(&i) && !is_known() {
            let what = format!(
                "COPY without column \"{}\", whose DEFAULT is computed,",
                column.name
            );
            return Err(Error::unsupported(what).with_hint("add the column to the file"));
        }
    }
    let mut options = options.clone();
    if let Some(rejects) = &mut options.rejects_table {
        *rejects = rejects_table(catalog, rejects)?;
    }
    Ok(Writing::CopyFrom {
        table: entry.id,
        name: entry.name,
        columns,
        source: source.clone(),
        options,
    })
}

/// The name of the table that takes rejected rows, with its schema: it is made if it is not there. 3F000.
fn rejects_table(catalog: &dyn CatalogView, written: &WrittenName) -> Result<WrittenName> {
    let found = to_drop(catalog, written);
    let name = match catalog.has_relation(&found) {
        true => found,
        false => to_create(catalog, written)?,
    };
    Ok(WrittenName {
        schema: Some(name.schema),
        name: name.name,
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
