//! Arrays ↔ Arrow's lists. A list has one dimension and begins with 1: other arrays are refused, because their shape would be lost.

use crate::parquet_column::column_of;
use crate::to_arrow::{ArrowForm, array_of, data_type, element_form, element_type};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use frazil_types::array::{self as arrays, ArrayRef as ArrayBytes, Dimension};
use frazil_types::{ColumnVector, Error, LogicalType, MemoryBudget, Result, StringVectorBuilder, Value};
use std::sync::Arc;

/// The name of a list's elements, as Arrow's builders have it.
pub(crate) const ITEM: &str = "item";

/// A column of arrays as a list array. 0A000 for an array of another shape.
pub(crate) fn list_of(
    column: &ColumnVector,
    element: LogicalType,
    form: ArrowForm,
    valid: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let item = element_type(element, form);
    let (mut values, mut offsets) = (Vec::new(), Vec::with_capacity(column.len() + 1));
    offsets.push(0);
    for row in 0..column.len() {
        if !column.is_null(row) {
            let array = ArrayBytes::new(column.string(row), element)?;
            check_shape(&array)?;
            for value in array.elements() {
                values.push(match value? {
                    value if item == element || value.is_null() => value,
                    value => Value::Text(value.display(element).to_string()),
                });
            }
        }
        let end = i32::try_from(values.len());
        offsets
            .push(end.map_err(|_| Error::unsupported("an Arrow column of more than 2147483647 elements"))?);
    }
    let elements = array_of(&ColumnVector::from_values(item, &values), element_form(form))?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let field = Arc::new(Field::new(ITEM, data_type(item, element_form(form)), true));
    let list = ListArray::try_new(field, offsets, elements, valid);
    Ok(Arc::new(list.map_err(|e| {
        Error::internal(format!("a result did not become Arrow: {e}"))
    })?))
}

/// 0A000 for an array that is more than a list.
fn check_shape(array: &ArrayBytes<'_>) -> Result<()> {
    let what = match array.dimensions().collect::<Vec<_>>()[..] {
        [] | [Dimension { lower: 1, .. }] => return Ok(()),
        [Dimension { lower, .. }] => format!("an array whose subscripts begin with {lower}"),
        _ => "an array of several dimensions".to_owned(),
    };
    Err(Error::unsupported(format!("{what} in Arrow or Parquet")).with_hint("cast it to text"))
}

/// Lists as arrays of a type. Errors with the row that they stand at.
pub(crate) fn arrays_of(
    lists: &ArrayRef,
    ty: LogicalType,
    element: LogicalType,
    budget: &MemoryBudget,
) -> Option<std::result::Result<ColumnVector, (usize, Error)>> {
    let list = |row: usize| match lists.data_type() {
        DataType::List(_) => Some(lists.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Some(lists.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => Some(lists.as_fixed_size_list().value(row)),
        _ => None,
    };
    if !matches!(
        lists.data_type(),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..)
    ) {
        return None;
    }
    let convert = || {
        let mut out = StringVectorBuilder::budgeted(ty, lists.len(), budget);
        for row in 0..lists.len() {
            let Some(values) = list(row).filter(|_| lists.is_valid(row)) else {
                out.push_null();
                continue;
            };
            let column = column_of(&values, element, None, budget).map_err(|(_, e)| (row, e))?;
            let values: Vec<Value> = (0..column.len()).map(|at| column.value(at)).collect();
            let bytes = arrays::encode_list(&values, element).map_err(|e| (row, e))?;
            out.try_push_bytes(&bytes).map_err(|e| (row, e))?;
        }
        Ok(out.finish())
    };
    Some(convert())
}
