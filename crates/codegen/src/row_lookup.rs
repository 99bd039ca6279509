//! The row of a lookup, found in a version of its table.

use crate::late_fetch::make_transient;
use frazil_plan::{COUNT, Lookup};
use frazil_runtime::BoundValues;
use frazil_storage::{FoundRow, RowFetch, TableSnapshot};
use frazil_types::{ColumnVector, Error, Result, RowId, Value};

/// The row that has the key, if there is one. `key` is room for its bytes.
pub(crate) fn find<'t>(
    lookup: &Lookup,
    table: &'t TableSnapshot,
    values: BoundValues<'_>,
    key: &mut Vec<u8>,
) -> Result<Option<FoundRow<'t>>> {
    let index = table.indexes().find(lookup.index);
    let index = index.ok_or_else(|| Error::internal("a lookup in an index that is not there"))?;
    key.clear();
    for (i, (_, operand)) in lookup.key.iter().enumerate() {
        if !index.append_part(i, values.known(operand)?, key) {
            return Ok(None);
        }
    }
    Ok(table.find_key(index, key))
}

/// What a lookup makes, as columns of one row, or of none.
pub(crate) fn columns(
    lookup: &Lookup,
    table: &TableSnapshot,
    row: Option<FoundRow<'_>>,
) -> Result<Vec<ColumnVector>> {
    let ids: Vec<RowId> = row.iter().map(FoundRow::id).collect();
    let places: Vec<usize> = lookup.columns.iter().map(|c| c.1).collect();
    let mut columns = RowFetch::new(table).fetch_columns(&ids, &places)?.columns;
    columns.iter_mut().for_each(make_transient);
    if lookup.row_id.is_some() {
        let ids: Vec<Value> = ids.iter().map(|id| Value::Int(id.to_tid().into())).collect();
        columns.push(ColumnVector::from_values(COUNT, &ids));
    }
    Ok(columns)
}
