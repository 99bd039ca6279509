//! The keys of a finished build side, for the scan of the probe side: where they are few, it looks its rows up.

use super::{JoinTable, key_range};
use crate::row_layout::FieldPlace;
use frazil_types::{LogicalType, NativeType, StringRef, Value};
use std::collections::HashSet;

/// Build rows that are read for each key that may be given.
const ROWS_A_KEY: usize = 8;

impl JoinTable {
    /// Number of rows that a probe may find: those without NULL among their keys.
    pub fn linked_rows(&self) -> usize {
        self.builds.iter().map(|b| b.pages.rows()).sum()
    }

    /// Least and greatest key, where there is one key, an integer of up to 64 bits, and there are rows.
    pub fn key_range(&self) -> Option<(i64, i64)> {
        key_range(&self.spec, &self.builds, self.linked_rows())
    }

    /// The different values of some of the keys, each given by its position among the keys and its type. `None` if they are more
    /// than `most`, or may be and are not worth being read.
    pub fn distinct_keys(&self, keys: &[(usize, LogicalType)], most: usize) -> Option<Vec<Vec<Value>>> {
        if self.linked_rows() > most.saturating_mul(ROWS_A_KEY) {
            return None;
        }
        let mut found: HashSet<Vec<Value>> = HashSet::new();
        for row in self.builds.iter().flat_map(|b| b.pages.iter()) {
            let values = keys.iter().map(|&(key, ty)| {
                // SAFETY: a live row of the table's layout; its strings are kept with the table or live as long as the query.
                unsafe { value(&self.spec.layout.fields[key], ty, row) }
            });
            found.insert(values.collect());
            if found.len() > most {
                return None;
            }
        }
        Some(found.into_iter().collect())
    }
}

/// A key of a row. It is not NULL: rows with NULL keys are not linked.
///
/// # Safety
/// `row` must be a live row of the layout that `place` is of, its strings alive; `ty` must be the key's type.
unsafe fn value(place: &FieldPlace, ty: LogicalType, row: *const u8) -> Value {
    // SAFETY: by contract.
    unsafe {
        match place.native {
            NativeType::Bool => Value::Bool(place.get::<u8>(row) != 0),
            NativeType::I16 => Value::Int(place.get::<i16>(row).into()),
            NativeType::I32 => Value::Int(place.get::<i32>(row).into()),
            NativeType::I64 => Value::Int(place.get::<i64>(row).into()),
            NativeType::I128 => Value::from_wide(place.get::<i128>(row), ty),
            NativeType::F64 => Value::Double(place.get::<f64>(row)),
            NativeType::String => Value::of_string(place.get::<StringRef>(row).bytes(), ty),
        }
    }
}
