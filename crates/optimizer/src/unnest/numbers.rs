//! Numbers of a domain's rows. Where the rows of a function are made of a long value, each of them would carry the value as its key: a sum
//! of an array's elements would hash the array once for each element. With a number for each row of the domain a value is hashed twice:
//! where the domain is made, and where outer rows get their numbers.

use frazil_plan::{ColumnId, Columns, Operator, free_columns};
use frazil_types::NativeType;

/// Whether a tree makes rows by functions of outer columns among which is one of any length.
pub fn is_worth_numbers(inner: &Operator, of: &[ColumnId], columns: &Columns) -> bool {
    let is_long = |id: &ColumnId| columns[*id].ty.native() == NativeType::String;
    if inner.gives_rows_of_functions() {
        let free = free_columns(inner);
        return of.iter().any(|id| is_long(id) && free.contains(id));
    }
    let mut inputs = inner.inputs().into_iter();
    inputs.any(|input| is_worth_numbers(input, of, columns))
}
