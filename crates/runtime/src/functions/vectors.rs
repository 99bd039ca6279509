//! Functions over whole vectors.

use crate::abi::{PipelineContext, STATUS_OK, VectorColumn};
use crate::vector_column::LentColumns;
use frazil_kernels::hash::{HashKey, NULL_WORD, combine, fold_string};
use frazil_kernels::{Isa, LikePattern};
use frazil_plan::vector_function::VectorFunctionRef;
use frazil_types::{
    ColumnVector, Error, LogicalType, Native, NativeType, Result, StringRef, dispatch_native,
};

/// # Safety
/// `native` must be that of the column, which has `rows` rows, as have the hashes.
pub unsafe extern "C" fn hash_column(native: u32, column: *const VectorColumn, rows: u64, hashes: *mut u64) {
    // SAFETY: by contract.
    unsafe {
        let column = &*column;
        let hashes = std::slice::from_raw_parts_mut(hashes, rows as usize);
        match native {
            n if n == NativeType::Bool as u32 => fold::<u8>(column, hashes),
            n if n == NativeType::I16 as u32 => fold::<i16>(column, hashes),
            n if n == NativeType::I32 as u32 => fold::<i32>(column, hashes),
            n if n == NativeType::I64 as u32 => fold::<i64>(column, hashes),
            n if n == NativeType::I128 as u32 => fold::<i128>(column, hashes),
            n if n == NativeType::F64 as u32 => fold::<f64>(column, hashes),
            _ => fold_with::<StringRef>(column, hashes, |hash, s| fold_string(hash, s)),
        }
    }
}

/// # Safety
/// As [`hash_column`].
unsafe fn fold<T: HashKey + Native>(column: &VectorColumn, hashes: &mut [u64]) {
    // SAFETY: by contract.
    unsafe { fold_with::<T>(column, hashes, |hash, v| v.fold(hash)) }
}

/// # Safety
/// As [`hash_column`].
#[inline(always)]
unsafe fn fold_with<T: Copy>(column: &VectorColumn, hashes: &mut [u64], f: impl Fn(u64, T) -> u64) {
    for (row, hash) in hashes.iter_mut().enumerate() {
        // SAFETY: by contract.
        *hash = unsafe {
            if column.is_valid(row) {
                f(*hash, column.value::<T>(row))
            } else {
                combine(*hash, NULL_WORD)
            }
        };
    }
}

/// # Safety
/// The column must hold `rows` strings, alive where not NULL; `out` has as many bytes.
pub unsafe extern "C" fn like_column(
    pattern: *const LikePattern,
    column: *const VectorColumn,
    rows: u64,
    out: *mut u8,
) {
    // SAFETY: by contract.
    unsafe {
        let (pattern, column) = (&*pattern, &*column);
        let rows = rows as usize;
        let out = std::slice::from_raw_parts_mut(out, rows);
        if column.value_mask != 0 && (column.values as usize).is_multiple_of(align_of::<StringRef>()) {
            let strings = std::slice::from_raw_parts(column.values.cast::<StringRef>(), rows);
            let validity =
                (column.validity_mask != 0).then(|| std::slice::from_raw_parts(column.validity, rows));
            if validity.is_some() || column.all_valid() {
                return pattern.match_strings(Isa::detect(), strings, validity, out);
            }
        }
        for (row, out) in out.iter_mut().enumerate() {
            *out = u8::from(column.is_valid(row) && pattern.matches(column.value::<StringRef>(row).bytes()));
        }
    }
}

/// A call of a vector function at one place of a pipeline: one per worker.
#[derive(Debug)]
pub struct VectorCall {
    function: VectorFunctionRef,
    /// Type of each argument, and the native form in which it arrives.
    arguments: Vec<(LogicalType, NativeType)>,
    result: LogicalType,
    last: Option<ColumnVector>,
    lent: LentColumns,
}

impl VectorCall {
    /// A call with arguments of these types, each in the native form given.
    pub fn new(
        function: VectorFunctionRef,
        arguments: Vec<(LogicalType, NativeType)>,
        result: LogicalType,
    ) -> VectorCall {
        VectorCall {
            function,
            arguments,
            result,
            last: None,
            lent: LentColumns::default(),
        }
    }

    /// # Safety
    /// The columns must be as the arguments say, with `rows` rows, their strings alive.
    unsafe fn evaluate(&mut self, columns: &[VectorColumn], rows: usize) -> Result<VectorColumn> {
        let arguments: Vec<ColumnVector> = columns
            .iter()
            .zip(&self.arguments)
            // SAFETY: by contract.
            .map(|(column, &(ty, native))| unsafe { to_vector(column, ty, native, rows) })
            .collect();
        let result = self.function.0.evaluate(&arguments, rows, self.result)?;
        if result.len() != rows || result.native() != self.result.native() {
            return Err(Error::internal(format!(
                "{} returned {} rows of {} for {rows} rows of {}",
                self.function.0.name(),
                result.len(),
                result.ty(),
                self.result
            )));
        }
        let result = self.last.insert(result);
        self.lent.lend(std::iter::once(&*result), 0);
        Ok(self.lent.columns()[0])
    }
}

/// # Safety
/// As [`VectorCall::evaluate`]. The vector borrows the strings.
unsafe fn to_vector(column: &VectorColumn, ty: LogicalType, native: NativeType, rows: usize) -> ColumnVector {
    let mut out = ColumnVector::new(ty, rows);
    out.resize(rows);
    for row in 0..rows {
        // SAFETY: by contract.
        unsafe {
            if !column.is_valid(row) {
                out.set_null(row);
            } else if native != out.native() {
                out.values_mut::<i128>()[row] = column.value::<i64>(row).into();
            } else {
                dispatch_native!(native, T => out.values_mut::<T>()[row] = column.value::<T>(row));
            }
        }
    }
    out
}

/// # Safety
/// The columns must be those of the call, with `rows` rows, their strings alive. Strings of the result
/// live until the next call of it, and are marked transient.
pub unsafe extern "C" fn call_vector_function(
    context: *mut PipelineContext,
    call: *mut VectorCall,
    columns: *const VectorColumn,
    rows: u64,
    out: *mut VectorColumn,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let call = &mut *call;
        let count = call.arguments.len();
        let columns = if count == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(columns, count)
        };
        match call.evaluate(columns, rows as usize) {
            Ok(column) => {
                if call.result.native() == NativeType::String
                    && let Some(last) = &mut call.last
                {
                    last.values_mut::<StringRef>()
                        .iter_mut()
                        .for_each(|s| *s = s.as_transient());
                }
                out.write(column);
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::strings::tests::context;
    use frazil_plan::vector_function::VectorFunction;
    use frazil_types::Value;
    use std::sync::Arc;

    struct Repeat;
    impl VectorFunction for Repeat {
        fn name(&self) -> &str {
            "repeat"
        }
        fn evaluate(&self, a: &[ColumnVector], rows: usize, result: LogicalType) -> Result<ColumnVector> {
            let values: Vec<Value> = (0..rows)
                .map(|r| match (a[0].value(r), a[1].value(r)) {
                    (Value::Text(t), Value::Int(n)) => Value::Text(t.repeat(n as usize)),
                    _ => Value::Null,
                })
                .collect();
            Ok(ColumnVector::from_values(result, &values))
        }
    }

    #[test]
    fn calls_a_vector_function() {
        let texts = [
            Value::Text("abcdefgh".into()),
            Value::Null,
            Value::Text("x".into()),
        ];
        let texts = ColumnVector::from_values(LogicalType::Text, &texts);
        let two = 2i64;
        let mut lent = LentColumns::default();
        lent.lend([&texts].into_iter(), 0);
        let columns = [lent.columns()[0], VectorColumn::constant((&raw const two).cast())];
        let wide = LogicalType::Decimal {
            precision: 30,
            scale: 0,
        };
        let mut call = VectorCall::new(
            VectorFunctionRef(Arc::new(Repeat)),
            vec![(LogicalType::Text, NativeType::String), (wide, NativeType::I64)],
            LogicalType::Text,
        );
        let mut out = VectorColumn::null();
        context(|context| {
            // SAFETY: columns are alive and as the call says.
            unsafe {
                let status = call_vector_function(context, &mut call, columns.as_ptr(), 3, &mut out);
                assert_eq!(status, STATUS_OK);
                assert!(out.is_valid(0) && !out.is_valid(1));
                let first = out.value::<StringRef>(0);
                assert!(first.is_transient());
                assert_eq!(first.text(), "abcdefghabcdefgh");
                assert_eq!(out.value::<StringRef>(2).text(), "xx");
            }
        });
    }

    #[test]
    fn hashes_as_the_kernels_do() {
        let numbers =
            ColumnVector::from_values(LogicalType::BigInt, &[Value::Int(7), Value::Null, Value::Int(-1)]);
        let mut lent = LentColumns::default();
        lent.lend([&numbers].into_iter(), 0);
        let mut hashes = [0; 3];
        // SAFETY: the column is alive.
        unsafe {
            hash_column(
                NativeType::I64 as u32,
                lent.columns().as_ptr(),
                3,
                hashes.as_mut_ptr(),
            )
        };
        let mut expected = [0; 3];
        frazil_kernels::hash::hash_column(Isa::Scalar, &[7i64, 0, -1], Some(&[1, 0, 1]), &mut expected);
        assert_eq!(hashes, expected);
    }

    #[test]
    fn matches_a_column() {
        let texts: Vec<Value> = ["special requests", "none", "x special y requests z"]
            .map(|t| Value::Text(t.into()))
            .into();
        let texts = ColumnVector::from_values(LogicalType::Text, &texts);
        let pattern = LikePattern::compile("%special%requests%", Some('\\')).unwrap();
        let mut lent = LentColumns::default();
        lent.lend([&texts].into_iter(), 0);
        let mut out = [9; 3];
        // SAFETY: the column is alive.
        unsafe { like_column(&pattern, lent.columns().as_ptr(), 3, out.as_mut_ptr()) };
        assert_eq!(out, [1, 0, 1]);
        let constant = VectorColumn {
            value_mask: 0,
            ..lent.columns()[0]
        };
        // SAFETY: as above.
        unsafe { like_column(&pattern, &constant, 3, out.as_mut_ptr()) };
        assert_eq!(out, [1, 1, 1]);
    }
}
