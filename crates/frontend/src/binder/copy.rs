//! COPY.

use super::find_table;
use super::insert::positions;
use super::naming::{to_create, to_drop};
use crate::copy::{CopyEnd, CopyOptions};
use crate::file_source::check_scheme;
use crate::{CatalogView, TableEntry, Writing};
use frazil_catalog::{WrittenName, default_sequence};
use frazil_plan::ColumnId;
use frazil_types::{ColumnDef, Error, Result, Span, SqlState};

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
    if entry.materialized.is_some() {
        let message = format!("cannot copy to materialized view \"{}\"", entry.name);
        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
    }
    let names = columns.iter().map(|name| (name.as_str(), Span::NONE));
    let columns = copied(&entry, positions(&entry, names)?, !columns.is_empty())?;
    for (i, column) in entry.schema.columns.iter().enumerate() {
        let is_known = || {
            column.is_generated() || column.constant_default().is_some() || default_sequence(column).is_some()
        };
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

/// The columns that COPY reads or writes: without the generated ones. 42P10 if the statement names one.
fn copied(entry: &TableEntry, positions: Vec<usize>, are_named: bool) -> Result<Vec<usize>> {
    let is_generated = |&&position: &&usize| entry.schema.columns[position].is_generated();
    if let Some(&generated) = positions.iter().find(is_generated).filter(|_| are_named) {
        let name = &entry.schema.columns[generated].name;
        let message = format!("column \"{name}\" is a generated column");
        return Err(Error::new(SqlState::INVALID_COLUMN_REFERENCE, message)
            .with_detail("Generated columns cannot be used in COPY."));
    }
    let left = positions.into_iter().filter(|position| !is_generated(&position));
    Ok(left.collect())
}

/// Takes the generated columns of a table off the output of a query over it. 42P10 if COPY names one.
pub(crate) fn leave_generated_out(
    catalog: &dyn CatalogView,
    table: &WrittenName,
    columns: &[String],
    output: &mut Vec<(String, ColumnId)>,
) -> Result<()> {
    let Ok(entry) = find_table(catalog, table) else {
        return Ok(());
    };
    if columns.is_empty() {
        let mut is_generated = entry.schema.columns.iter().map(ColumnDef::is_generated);
        output.retain(|_| !is_generated.next().unwrap_or(false));
        return Ok(());
    }
    let named = columns.iter().filter_map(|name| entry.schema.index_of(name));
    copied(&entry, named.collect(), true).map(drop)
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

/// 0A000 for a file on another machine that is not an object of a store.
pub(crate) fn refuse_remote(end: &CopyEnd) -> Result<()> {
    match end {
        CopyEnd::File(path) => check_scheme(path),
        CopyEnd::Client => Ok(()),
    }
}
