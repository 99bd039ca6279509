//! Functions over whole vectors.

use crate::abi::{PipelineContext, STATUS_OK, VectorColumn};
use crate::caught_panic::panicked;
use crate::vector_column::LentColumns;
use frazil_kernels::extremes::{Bounded, Extreme};
use frazil_kernels::hash::{HashKey, NULL_WORD, combine, fold_string};
use frazil_kernels::sum::{Summed, sum_valid};
use frazil_kernels::{Isa, LikePattern};
use frazil_plan::vector_function::{CallContext, VectorFunctionRef};
use frazil_types::{
    Cancel, ColumnVector, Error, LogicalType, MemoryBudget, Native, NativeType, Result, StringRef,
    dispatch_native,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// # Safety
/// `native` must be that of the column, which has `rows` rows, as have the hashes.
pub unsafe fn hash_column(native: u32, column: *const VectorColumn, rows: u64, hashes: *mut u64) {
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
/// `native` must be that of the column, an integer of at most 64 bits; it has the rows from `first` on, side by side, unless it is
/// constant. `out` is valid for a write.
pub unsafe fn sum_column(
    native: u32,
    column: *const VectorColumn,
    first: u64,
    rows: u64,
    out: *mut i128,
) -> u64 {
    // SAFETY: by contract.
    unsafe {
        let (column, first, rows) = (&*column, first as usize, rows as usize);
        let (sum, count) = match native {
            n if n == NativeType::I16 as u32 => sum_of::<i16>(column, first, rows),
            n if n == NativeType::I32 as u32 => sum_of::<i32>(column, first, rows),
            _ => sum_of::<i64>(column, first, rows),
        };
        out.write_unaligned(sum);
        count
    }
}

/// # Safety
/// As [`sum_column`].
unsafe fn sum_of<T: Summed + Native + Into<i128>>(
    column: &VectorColumn,
    first: usize,
    rows: usize,
) -> (i128, u64) {
    // SAFETY: by contract.
    unsafe {
        let is_flat = column.value_mask != 0 && column.values.cast::<T>().is_aligned();
        if !is_flat {
            let valid = (first..first + rows).filter(|&row| column.is_valid(row));
            return valid.fold((0, 0), |(sum, count), row| {
                (sum + column.value::<T>(row).into(), count + 1)
            });
        }
        let values = std::slice::from_raw_parts(column.values.cast::<T>().add(first), rows);
        if column.validity_mask != 0 {
            let validity = std::slice::from_raw_parts(column.validity.add(first), rows);
            return sum_valid(values, validity);
        }
        match column.is_valid(first) {
            true => (T::sum(values), rows as u64),
            false => (0, 0),
        }
    }
}

/// # Safety
/// As [`sum_column`].
pub unsafe fn extreme_of_column(
    native: u32,
    column: *const VectorColumn,
    first: u64,
    rows: u64,
    greatest: u32,
    out: *mut i64,
) -> u64 {
    let end = match greatest {
        0 => Extreme::Least,
        _ => Extreme::Greatest,
    };
    // SAFETY: by contract.
    unsafe {
        let (column, first, rows) = (&*column, first as usize, rows as usize);
        let (value, count) = match native {
            n if n == NativeType::I16 as u32 => extreme_of::<i16>(end, column, first, rows),
            n if n == NativeType::I32 as u32 => extreme_of::<i32>(end, column, first, rows),
            _ => extreme_of::<i64>(end, column, first, rows),
        };
        out.write_unaligned(value);
        count
    }
}

/// # Safety
/// As [`sum_column`].
unsafe fn extreme_of<T: Bounded + Native + Into<i64>>(
    end: Extreme,
    column: &VectorColumn,
    first: usize,
    rows: usize,
) -> (i64, u64) {
    // SAFETY: by contract.
    unsafe {
        let is_flat = column.value_mask != 0 && column.values.cast::<T>().is_aligned();
        if !is_flat {
            let valid = (first..first + rows).filter(|&row| column.is_valid(row));
            let (value, count) = valid.fold((end.of::<T>(&[]), 0), |(value, count), row| {
                (end.of(&[value, column.value(row)]), count + 1)
            });
            return (value.into(), count);
        }
        let values = std::slice::from_raw_parts(column.values.cast::<T>().add(first), rows);
        if column.validity_mask != 0 {
            let validity = std::slice::from_raw_parts(column.validity.add(first), rows);
            let (value, count) = end.of_valid(values, validity);
            return (value.into(), count);
        }
        match column.is_valid(first) {
            true => (end.of(values).into(), rows as u64),
            false => (0, 0),
        }
    }
}

/// # Safety
/// The column must hold `rows` strings, alive where not NULL; `out` has as many bytes.
pub unsafe fn like_column(pattern: *const LikePattern, column: *const VectorColumn, rows: u64, out: *mut u8) {
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
    /// Whether a guard follows the arguments.
    guarded: bool,
    cancel: Cancel,
    budget: MemoryBudget,
    last: Option<ColumnVector>,
    lent: LentColumns,
}

impl VectorCall {
    /// A call with arguments of these types, each in the native form given; nothing stops or limits it.
    pub fn new(
        function: VectorFunctionRef,
        arguments: Vec<(LogicalType, NativeType)>,
        result: LogicalType,
    ) -> VectorCall {
        VectorCall {
            function,
            arguments,
            result,
            guarded: false,
            cancel: Cancel::new(),
            budget: MemoryBudget::unlimited(),
            last: None,
            lent: LentColumns::default(),
        }
    }

    /// The same call for a statement that `cancel` stops and `budget` limits.
    pub fn under(mut self, cancel: &Cancel, budget: &MemoryBudget) -> VectorCall {
        (self.cancel, self.budget) = (cancel.clone(), budget.clone());
        self
    }

    /// Has another flag stop it.
    pub fn stop_by(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    /// Forgets what the last call made.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// The same call with a guard behind its arguments: a boolean column; rows where it is not true are not
    /// evaluated, and NULL.
    pub fn guarded(mut self) -> VectorCall {
        self.guarded = true;
        self
    }

    /// Columns that it takes.
    fn inputs(&self) -> usize {
        self.arguments.len() + usize::from(self.guarded)
    }

    /// # Safety
    /// The columns must be as the arguments say, then the guard if there is one, with `rows` rows, their strings
    /// alive.
    unsafe fn evaluate(&mut self, columns: &[VectorColumn], rows: usize) -> Result<VectorColumn> {
        let (arguments, guard) = columns.split_at(self.arguments.len());
        // SAFETY: by contract; a boolean column holds bytes.
        let passes = |g: &VectorColumn, row| unsafe { g.is_valid(row) && g.value::<u8>(row) != 0 };
        let chosen: Option<Vec<usize>> = (guard.first())
            .map(|g| (0..rows).filter(|&row| passes(g, row)).collect())
            .filter(|chosen: &Vec<usize>| chosen.len() < rows);
        // Free what the last call made before this one takes memory.
        self.last = None;
        let result = match &chosen {
            None => {
                // SAFETY: by contract.
                unsafe { self.call(arguments, rows, 0..rows)? }
            }
            Some(chosen) if chosen.is_empty() => return Ok(VectorColumn::null()),
            Some(chosen) => {
                // SAFETY: by contract; chosen rows are rows of the columns.
                let result = unsafe { self.call(arguments, chosen.len(), chosen.iter().copied())? };
                spread(&result, chosen, rows)
            }
        };
        let result = self.last.insert(result);
        self.lent.lend(std::iter::once(&*result), 0);
        Ok(self.lent.columns()[0])
    }

    /// # Safety
    /// As [`VectorCall::evaluate`]; `rows` has `count` rows of the columns.
    unsafe fn call(
        &self,
        columns: &[VectorColumn],
        count: usize,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Result<ColumnVector> {
        let arguments: Vec<ColumnVector> = columns
            .iter()
            .zip(&self.arguments)
            // SAFETY: by contract.
            .map(|(column, &(ty, native))| unsafe { to_vector(column, ty, native, count, rows.clone()) })
            .collect();
        let context = CallContext::new(&self.cancel, &self.budget);
        context.check()?;
        let name = self.function.0.name();
        let evaluate = || self.function.0.evaluate(&arguments, count, self.result, &context);
        // A function is not changed by a call, and the arguments are dropped.
        let result = catch_unwind(AssertUnwindSafe(evaluate))
            .unwrap_or_else(|panic| Err(panicked(&format!("the function {name}"), panic.as_ref())))?;
        if result.len() != count || result.native() != self.result.native() {
            return Err(Error::internal(format!(
                "{name} returned {} rows of {} for {count} rows of {}",
                result.len(),
                result.ty(),
                self.result
            )));
        }
        Ok(result)
    }
}

/// The values of `chosen` rows in their places among `rows` rows; the others are NULL.
fn spread(values: &ColumnVector, chosen: &[usize], rows: usize) -> ColumnVector {
    let mut out = ColumnVector::new(values.ty(), rows);
    out.resize(rows);
    dispatch_native!(values.native(), T => {
        let (from, to) = (values.values::<T>(), out.values_mut::<T>());
        for (value, &row) in from.iter().zip(chosen) {
            to[row] = *value;
        }
    });
    let mut next = 0;
    for row in 0..rows {
        let found = chosen.get(next) == Some(&row);
        if !found || values.is_null(next) {
            out.set_null(row);
        }
        next += usize::from(found);
    }
    values.heaps().iter().for_each(|heap| out.keep(heap.clone()));
    out
}

/// # Safety
/// As [`VectorCall::evaluate`]; `rows` are `count` rows of the column. The vector borrows the strings.
unsafe fn to_vector(
    column: &VectorColumn,
    ty: LogicalType,
    native: NativeType,
    count: usize,
    rows: impl Iterator<Item = usize> + Clone,
) -> ColumnVector {
    let mut out = ColumnVector::new(ty, count);
    out.resize(count);
    if native == out.native() && column.value_mask != 0 && rows.clone().eq(0..count) {
        // SAFETY: the column has so many values side by side, of the vector's own form; they are plain bytes.
        unsafe { std::ptr::copy_nonoverlapping(column.values, out.as_mut_ptr(), out.bytes()) };
        // SAFETY: by contract.
        for row in rows.filter(|&row| unsafe { !column.is_valid(row) }) {
            out.set_null(row);
            dispatch_native!(native, T => out.values_mut::<T>()[row] = T::default());
        }
        return out;
    }
    for (to, row) in rows.enumerate() {
        // SAFETY: by contract.
        unsafe {
            if !column.is_valid(row) {
                out.set_null(to);
            } else if native != out.native() {
                out.values_mut::<i128>()[to] = column.value::<i64>(row).into();
            } else {
                dispatch_native!(native, T => out.values_mut::<T>()[to] = column.value::<T>(row));
            }
        }
    }
    out
}

/// # Safety
/// The columns must be those of the call, with `rows` rows, their strings alive. Strings of the result
/// live until the next call of it, and are marked transient.
pub unsafe fn call_vector_function(
    context: *mut PipelineContext,
    call: *mut VectorCall,
    columns: *const VectorColumn,
    rows: u64,
    out: *mut VectorColumn,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let call = &mut *call;
        let count = call.inputs();
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
        fn can_fail(&self) -> bool {
            true
        }
        fn is_volatile(&self) -> bool {
            false
        }
        fn evaluate(
            &self,
            a: &[ColumnVector],
            rows: usize,
            result: LogicalType,
            _: &CallContext<'_>,
        ) -> Result<ColumnVector> {
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
