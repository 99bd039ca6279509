//! THE table: every function that generated code may call, and nothing else.
//!
//! The conventions are those of [`abi`](crate::abi): 16-byte values go by pointer (of any alignment),
//! results come last, a function that can fail returns a status, one that makes strings or whole
//! errors takes the context first, NULL never arrives. A row pointer that comes back null means that
//! the function failed and the context holds the error.
//!
//! **Nothing unwinds into generated code.** The functions behind the table are ordinary ones; the table's macro wraps
//! each in the `extern "C"` entry that generated code calls, and that entry catches panics (see
//! [`caught_panic`](crate::caught_panic)). So no function can be added without it.

mod ascii;
mod casts;
mod dates;
mod decimals;
mod math;
mod numerics;
mod objects;
mod rows;
pub(crate) mod strings;
mod vectors;

pub use dates::date_part_code;
pub use numerics::{OWN_SCALE, operation_code};
pub use objects::ValueSet;
pub use rows::Elements;
pub use vectors::VectorCall;

use crate::abi::{AbiType, PipelineContext, RuntimeFunction, STATUS_FAILED, VectorColumn};
use crate::caught_panic::catching;
use crate::{AggregateTable, BufferWriter, CodeGroups, JoinTable, RowPages, Sorter, StringHeap};
use frazil_kernels::LikePattern;
use frazil_types::StringRef;
use frazil_types::value_ops::Series;

/// A Rust type that stands in the signature of a runtime function.
trait Abi: Copy {
    const TYPE: AbiType;
    /// What a function returns after a panic: a status that says so, else zero, false or null.
    const AFTER_PANIC: Self;

    /// Of a parameter that points at the place of a result: leaves something there that generated code may read
    /// after a panic of a function that has no status to return.
    ///
    /// # Safety
    /// A pointer to a result must be valid for a write.
    unsafe fn settle(self) {}
}

/// What a pointer among the parameters points at.
trait Pointee: Sized {
    /// See [`Abi::settle`].
    ///
    /// # Safety
    /// As there.
    unsafe fn settle(_: *mut Self) {}
}

macro_rules! abi {
    ($($type:ty => $abi:ident, $after:expr;)*) => { $(
        impl Abi for $type {
            const TYPE: AbiType = AbiType::$abi;
            const AFTER_PANIC: $type = $after;
        }
    )* };
}
abi! {
    i32 => I32, 0;
    // The only unsigned 32-bit result is a status.
    u32 => I32, STATUS_FAILED;
    i64 => I64, 0;
    u64 => I64, 0;
    f64 => F64, 0.0;
}

macro_rules! pointees {
    ($($type:ty),*) => { $(impl Pointee for $type {})* };
}
// Cells for numbers belong to functions with a status. Bytes, hashes and rows are arrays in the stage memory: they
// keep what an earlier vector left there, and are zero before that.
pointees! {
    PipelineContext, RowPages, Sorter, StringHeap, AggregateTable, BufferWriter, CodeGroups, VectorCall,
    VectorColumn, Series, Elements, u8, i32, i64, u64, f64, *const u8
}
impl Pointee for StringRef {
    unsafe fn settle(at: *mut StringRef) {
        // SAFETY: by contract.
        unsafe { at.write_unaligned(StringRef::default()) }
    }
}
impl Pointee for i128 {
    unsafe fn settle(at: *mut i128) {
        // SAFETY: by contract.
        unsafe { at.write_unaligned(0) }
    }
}

impl<T> Abi for *const T {
    const TYPE: AbiType = AbiType::I64;
    const AFTER_PANIC: *const T = std::ptr::null();
}
impl<T: Pointee> Abi for *mut T {
    const TYPE: AbiType = AbiType::I64;
    const AFTER_PANIC: *mut T = std::ptr::null_mut();

    unsafe fn settle(self) {
        // SAFETY: by contract.
        unsafe { T::settle(self) }
    }
}

macro_rules! result_type {
    () => {
        None
    };
    ($type:ty) => {
        Some(<$type as Abi>::TYPE)
    };
}

macro_rules! after_panic {
    () => {
        ()
    };
    ($type:ty) => {
        <$type as Abi>::AFTER_PANIC
    };
}

/// The address that generated code calls: an `extern "C"` function around a function of the table. Its first rules
/// name the parameters.
macro_rules! entry {
    ($how:tt $variant:ident, $body:path, ($($n:ident: $t:ty,)*) ($first:ty $(, $more:ty)*) ($name:ident $($names:ident)*) $($result:ty)?) => {
        entry!($how $variant, $body, ($($n: $t,)* $name: $first,) ($($more),*) ($($names)*) $($result)?)
    };
    // Catches what the body throws.
    (catching $variant:ident, $body:path, ($($n:ident: $t:ty,)*) () ($($names:ident)*) $($result:ty)?) => {{
        /// # Safety
        /// As the function around which it is.
        unsafe extern "C" fn entry($($n: $t),*) $(-> $result)? {
            // The coercion checks the signature, and that the body may unwind.
            let body: unsafe fn($($t),*) $(-> $result)? = $body;
            let value = catching(stringify!($variant), || {
                #[cfg(test)]
                tests::injected(Function::$variant);
                // SAFETY: by contract.
                unsafe { body($($n),*) }
            });
            value.unwrap_or_else(|| {
                $(
                    // SAFETY: by contract.
                    unsafe { Abi::settle($n) };
                )*
                after_panic!($($result)?)
            })
        }
        entry as *const u8
    }};
    // No body that can panic: a panic would end the process here, not unwind through machine code.
    (calm $variant:ident, $body:path, ($($n:ident: $t:ty,)*) () ($($names:ident)*) $($result:ty)?) => {{
        /// # Safety
        /// As the function around which it is.
        unsafe extern "C" fn entry($($n: $t),*) $(-> $result)? {
            let body: unsafe fn($($t),*) $(-> $result)? = $body;
            // SAFETY: by contract.
            unsafe { body($($n),*) }
        }
        entry as *const u8
    }};
}

/// Calls one function by its address.
#[cfg(test)]
macro_rules! test_call {
    (calm $($rest:tt)*) => {};
    (catching $variant:ident, $place:ident, $check:ident, ($($type:ty),*) $($result:ty)?) => {{
        let address = Function::$variant.describe().address;
        // SAFETY: the table has the function's own signature; its body is not reached.
        let returned = unsafe {
            let entry: unsafe extern "C" fn($($type),*) $(-> $result)? = std::mem::transmute(address);
            entry($(<$type as tests::Argument>::at($place)),*)
        };
        $check(Function::$variant, tests::Returned::bits(returned));
    }};
}

/// Makes the table. A function is `catching` unless it is said to be `calm`: called in hot loops, without an
/// allocation, an index, or arithmetic that could overflow.
macro_rules! runtime_functions {
    ($($(#[$doc:meta])* $variant:ident = $how:tt $module:ident :: $function:ident ( $($type:ty),* ) $(-> $result:ty)?;)*) => {
        /// A function of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Function {
            $($(#[$doc])* $variant,)*
        }

        /// All functions, in the order of [`Function`].
        pub static FUNCTIONS: &[RuntimeFunction] = &[$(
            RuntimeFunction {
                name: concat!("frazil_", stringify!($function)),
                parameters: &[$(<$type as Abi>::TYPE),*],
                result: result_type!($($result)?),
                address: entry!($how $variant, $module::$function, () ($($type),*) (a b c d e f g h) $($result)?),
            },
        )*];

        #[cfg(test)]
        mod entries {
            use super::*;

            /// Calls each function that may panic by its address, every pointer at `place`, every number zero;
            /// says what it returned, bit by bit.
            pub fn call_all(place: *mut u8, mut check: impl FnMut(Function, Option<u64>)) {
                $(test_call!($how $variant, place, check, ($($type),*) $($result)?);)*
            }
        }
    };
}

impl Function {
    /// Its name, signature and address.
    pub fn describe(self) -> &'static RuntimeFunction {
        &FUNCTIONS[self as usize]
    }
}

type Context = *mut PipelineContext;
type Text = *const StringRef;
type TextOut = *mut StringRef;
type Wide = *const i128;
type WideOut = *mut i128;

runtime_functions! {
    // Objects.

    /// `(context, pages) -> row`: a new row where the current page is full. Null on failure.
    RowsGrow = catching objects::rows_grow(Context, *mut RowPages) -> *mut u8;
    /// `(context, sorter) -> row`: as `RowsGrow`, for a sorter; all rows taken before must be written.
    SortGrow = catching objects::sort_grow(Context, *mut Sorter) -> *mut u8;
    /// `(context, heap, string, out) -> status`: a string that lives as long as the heap.
    StringKeep = catching objects::string_keep(Context, *mut StringHeap, Text, TextOut) -> u32;
    /// `(context)`: forgets the error that a call noted which was only tried.
    ForgetError = catching objects::forget_error(Context);
    /// `(context, mark) -> status`: forgets the strings made since the scratch's position was `mark`.
    ScratchRelease = catching objects::scratch_release(Context, u64) -> u32;
    /// `(context, table, hash) -> row`: a new group, zeroed, with its header. Null on failure. May move the directory.
    AggregateInsert = catching objects::aggregate_insert(Context, *mut AggregateTable, u64) -> *mut u8;
    /// `(context, table, slot) -> row`: a new group of an array. Null on failure.
    AggregateInsertAt = catching objects::aggregate_insert_at(Context, *mut AggregateTable, u64) -> *mut u8;
    /// `(table, places, rows, out)`: for each row's hash, or slot of an array, the head of its chain, or its group; null where there is
    /// none. What they lead to is prefetched.
    AggregateHeads = catching objects::aggregate_heads(*const AggregateTable, *const u64, u64, *mut *const u8);
    /// `(groups, cell, key, out) -> bool`: the string of a key in the group of a cell; false for NULL.
    CodeGroupKey = catching objects::code_group_key(*mut CodeGroups, *const u64, u64, TextOut) -> i32;
    /// `(context, table, list, cell) -> row`: a new row of a list whose state lies at the cell. Null on failure.
    AggregateAppend = catching objects::aggregate_append(Context, *mut AggregateTable, u64, *mut u8) -> *mut u8;
    /// `(context, table, cell, hash) -> status`: notes a value in the sketch whose state lies at the cell.
    AggregateSketch = catching objects::aggregate_sketch(Context, *mut AggregateTable, *mut u8, u64) -> u32;
    /// `(table, keys, rows, out)`: for each row the head of its chain or the row of its slot, or null, with
    /// prefetching. `keys` are integer keys (i64 each) if the join has a single one, else hashes.
    JoinHeads = catching objects::join_heads(*const JoinTable, *const u64, u64, *mut *const u8, u64);
    /// `(context, writer, columns, rows) -> status`: appends to a buffer; `STATUS_ENOUGH` when it has enough,
    /// `STATUS_PAUSED` when it has for now.
    BufferAppend = catching objects::buffer_append(Context, *mut BufferWriter, *const VectorColumn, u64) -> u32;
    /// `(set, value) -> bool`.
    InIntegers = catching objects::in_integers(*const ValueSet, i64) -> i32;
    /// `(set, value) -> bool`.
    InDecimals = catching objects::in_decimals(*const ValueSet, Wide) -> i32;
    /// `(set, value) -> bool`.
    InDoubles = catching objects::in_doubles(*const ValueSet, f64) -> i32;
    /// `(set, value) -> bool`.
    InStrings = catching objects::in_strings(*const ValueSet, Text) -> i32;

    // Whole vectors.

    /// `(native type, column, rows, hashes)`: folds a column into hashes that begin as 0; see `kernels::hash`.
    HashColumn = catching vectors::hash_column(u32, *const VectorColumn, u64, *mut u64);
    /// `(native type, column, first, rows, out) -> rows that are not NULL`: the exact sum of the integers of a column's rows from `first` on.
    SumColumn = catching vectors::sum_column(u32, *const VectorColumn, u64, u64, WideOut) -> u64;
    /// `(native type, column, first, rows, greatest, out) -> rows that are not NULL`: the least of the integers of a
    /// column's rows from `first` on, or the greatest if `greatest` is 1. Without such a row the number has no
    /// meaning.
    ExtremeOfColumn = catching vectors::extreme_of_column(u32, *const VectorColumn, u64, u64, u32, *mut i64) -> u64;
    /// `(pattern, column, rows, out)`: a byte a row, 1 where the pattern matches, 0 for NULL.
    LikeColumn = catching vectors::like_column(*const LikePattern, *const VectorColumn, u64, *mut u8);
    /// `(context, call, columns, rows, out) -> status`: a vector function; the result lives until the next call.
    CallVectorFunction = catching vectors::call_vector_function(Context, *mut VectorCall, *const VectorColumn, u64, *mut VectorColumn) -> u32;

    // Rows of functions.

    /// `(context, start, stop, step, out) -> status`: 22023 for a step of 0.
    SeriesOfIntegers = catching rows::series_of_integers(Context, Wide, Wide, Wide, *mut Series) -> u32;
    /// `(context, start, stop, interval, out) -> status`: as `SeriesOfIntegers`.
    SeriesOfTimestamps = catching rows::series_of_timestamps(Context, i64, i64, Wide, u32, *mut Series) -> u32;
    /// `(context, series) -> status`: the next row. 22008 outside the calendar.
    SeriesAdvance = catching rows::series_advance(Context, *mut Series) -> u32;
    /// `(array, bytes of an element, out) -> status`: the array's numbers, to be given one after the other; failed if its bytes are damaged.
    ArrayNumbers = catching rows::array_numbers(Text, u64, *mut Elements) -> u32;
    /// `(array, element code, out) -> status`: as `ArrayNumbers`, of strings.
    ArrayStrings = catching rows::array_strings(Text, u64, *mut Elements) -> u32;
    /// `(elements, at, out)`: the string at a place from 0.
    ElementString = calm rows::element_string(*const Elements, u64, TextOut);

    // Strings.

    /// `(a, b) -> -1, 0 or 1`.
    StringCompare = calm strings::string_compare(u64, u64, u64, u64) -> i32;
    /// `(a, b) -> bool`.
    StringEqual = calm strings::string_equal(u64, u64, u64, u64) -> i32;
    /// `(hash so far, string) -> hash`.
    StringHash = calm strings::string_hash(u64, u64, u64) -> u64;
    /// `(pattern, string) -> bool`.
    Like = catching strings::like(*const LikePattern, Text) -> i32;
    /// `(string) -> characters`.
    StringLength = catching strings::string_length(u64, u64) -> i64;
    /// `(string, start from 1, length, out) -> status`: fails (22011) on a negative length; `i64::MAX` for no length.
    Substring = catching strings::substring(Text, i64, i64, TextOut) -> u32;
    /// `(context, string, out) -> status`.
    Lower = catching strings::lower(Context, Text, TextOut) -> u32;
    /// `(context, string, out) -> status`.
    Upper = catching strings::upper(Context, Text, TextOut) -> u32;
    /// `(context, parts, number of parts, out) -> status`.
    Concat = catching strings::concat(Context, Text, u64, TextOut) -> u32;
    /// `(string, characters, sides: 1 start, 2 end, 3 both, out)`.
    Trim = catching strings::trim(Text, Text, u32, TextOut);
    /// `(context, string, from, to, out) -> status`.
    Replace = catching strings::replace(Context, Text, Text, Text, TextOut) -> u32;
    /// `(string, part) -> position from 1 in characters, 0 if absent`.
    Position = catching strings::position(Text, Text) -> i64;

    // Decimals: 128-bit unscaled integers.

    /// `(a, b, out) -> status`: fails (22003) beyond 38 digits.
    DecimalMul = catching decimals::decimal_mul(Wide, Wide, WideOut) -> u32;
    /// `(a, b, out) -> status`: fails (22012) for b = 0.
    DecimalRem = catching decimals::decimal_rem(Wide, Wide, WideOut) -> u32;
    /// `(a, from scale, to scale, precision, out) -> status`: rounds half away from zero; 22003 beyond the precision.
    DecimalRescale = catching decimals::decimal_rescale(Wide, i32, i32, i32, WideOut) -> u32;
    /// `(a, precision) -> status`: fails (22003) beyond the precision.
    DecimalCheck = catching decimals::decimal_check(Wide, i32) -> u32;
    /// `(a, scale, out)`: the next whole number up, at scale 0.
    DecimalCeil = catching decimals::decimal_ceil(Wide, i32, WideOut);
    /// `(a, scale, out)`: the next whole number down, at scale 0.
    DecimalFloor = catching decimals::decimal_floor(Wide, i32, WideOut);
    /// `(a, scale) -> double`: the nearest.
    DecimalToDouble = catching decimals::decimal_to_double(Wide, i32) -> f64;

    // Numerics: an operand is 16 bytes and a scale, or the reference of a numeric's bytes and `OWN_SCALE`.

    /// `(context, operation, a, scale of a, b, scale of b, out) -> status`: 22003, 22012.
    NumericArithmetic = catching numerics::numeric_arithmetic(Context, u32, Wide, i32, Wide, i32, TextOut) -> u32;
    /// `(context, numeric, scale, 1 for above, out) -> status`: the nearest multiple on a side; ±10^38 beyond that.
    NumericBound = catching numerics::numeric_bound(Context, Wide, i32, u32, WideOut) -> u32;

    /// `(context, a, scale of a, digits, out) -> status`: the number rounded to `digits` after the point.
    NumericWithScale = catching numerics::numeric_with_scale(Context, Wide, i32, i32, TextOut) -> u32;
    /// `(numeric, out)`: the part of its bytes by which it is ordered.
    NumericKey = calm numerics::numeric_key(Text, TextOut);

    // Doubles.

    /// `(v, min, max, out) -> status`: rounds half to even; fails (22003) outside the range.
    DoubleToInteger = catching math::double_to_integer(f64, i64, i64, *mut i64) -> u32;
    /// `(a, b) -> -1, 0 or 1`: NaN equals itself and is above all else.
    DoubleCompare = calm math::double_compare(f64, f64) -> i32;
    /// `(a, b) -> a % b`.
    DoubleRem = calm math::double_rem(f64, f64) -> f64;
    /// `(v, digits) -> v` rounded half away from zero.
    DoubleRound = catching math::double_round(f64, i32) -> f64;
    /// `(context, v, out) -> status`: 2201F below zero.
    Sqrt = catching math::sqrt(Context, f64, *mut f64) -> u32;
    /// `(context, base, exponent, out) -> status`: 2201F, 22003.
    Power = catching math::power(Context, f64, f64, *mut f64) -> u32;
    /// `(context, v, out) -> status`: 2201E for zero and below.
    Ln = catching math::ln(Context, f64, *mut f64) -> u32;
    /// `(context, v, out) -> status`: 22003.
    Exp = catching math::exp(Context, f64, *mut f64) -> u32;

    // Dates and timestamps.

    /// `(part, days) -> value`; parts as in `date_part_code`.
    DatePart = catching dates::date_part(u32, i32) -> i64;
    /// `(part, microseconds) -> value`.
    TimestampPart = catching dates::timestamp_part(u32, i64) -> i64;
    /// `(days, months, interval days, interval microseconds, out) -> status`: fails (22008) outside the calendar.
    DateAdd = catching dates::date_add(i32, i32, i32, i64, *mut i32) -> u32;
    /// `(microseconds, months, interval days, interval microseconds, out) -> status`: as `DateAdd`.
    TimestampAdd = catching dates::timestamp_add(i64, i32, i32, i64, *mut i64) -> u32;

    // Casts. Types go by `LogicalType::code`; 16 bytes hold a value's native ones, lowest first.

    /// `(context, value, type, out) -> status`: the text that a value becomes.
    ValueToText = catching casts::value_to_text(Context, Wide, u64, TextOut) -> u32;
    /// `(code point, out)`: a char(1) as text; a blank is the empty text, as PostgreSQL has it.
    CodePointToText = catching casts::code_point_to_text(i32, TextOut);
    /// `(context, string, type, out) -> status`: the value that a text shows. 22P02, 22003, 22007, 22008, 22001.
    TextToValue = catching casts::text_to_value(Context, Text, u64, WideOut) -> u32;
    /// `(context, value, from, to, out) -> status`: a value as another type, which is not text. The errors of the cast.
    CastValue = catching casts::cast_value(Context, Wide, u64, u64, WideOut) -> u32;
    /// `(context, string, type, out) -> status`: what a string type keeps of a text. 22001.
    FitText = catching strings::fit_text(Context, Text, u64, TextOut) -> u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caught_panic;
    use std::cell::Cell;

    thread_local! {
        static PANICKING: Cell<bool> = const { Cell::new(false) };
    }

    /// Stands in front of every body that may panic.
    pub fn injected(function: Function) {
        if PANICKING.get() {
            std::panic::resume_unwind(Box::new(format!("injected into {function:?}")));
        }
    }

    /// An argument for a body that is not reached.
    pub trait Argument {
        fn at(place: *mut u8) -> Self;
    }
    /// A result as a number.
    pub trait Returned {
        fn bits(self) -> Option<u64>;
    }
    impl Returned for () {
        fn bits(self) -> Option<u64> {
            None
        }
    }
    macro_rules! numbers {
        ($($type:ty),*) => { $(
            impl Argument for $type {
                fn at(_: *mut u8) -> $type { 0 as $type }
            }
            impl Returned for $type {
                fn bits(self) -> Option<u64> { Some(self as u64) }
            }
        )* };
    }
    numbers! { i32, u32, i64, u64, f64 }
    impl<T> Argument for *const T {
        fn at(place: *mut u8) -> *const T {
            place.cast_const().cast()
        }
    }
    impl<T> Argument for *mut T {
        fn at(place: *mut u8) -> *mut T {
            place.cast()
        }
    }
    impl<T> Returned for *mut T {
        fn bits(self) -> Option<u64> {
            Some(self as u64)
        }
    }

    #[test]
    fn a_panic_in_any_function_is_noted_and_does_not_unwind() {
        let mut place = [0xffu128; 4];
        let mut called = 0;
        PANICKING.set(true);
        entries::call_all(place.as_mut_ptr().cast(), |function, returned| {
            let status = function.describe().result == Some(AbiType::I32) && returned == Some(1);
            assert!(status || returned.unwrap_or(0) == 0, "{function:?}: {returned:?}");
            let error = caught_panic::take().expect("a note");
            assert_eq!(error.state().0, "XX000");
            let expected = format!("the runtime function {function:?} panicked: injected into {function:?}");
            assert_eq!(error.message(), expected);
            called += 1;
        });
        PANICKING.set(false);
        assert_eq!(called, FUNCTIONS.len() - 7, "seven functions are calm");
        assert!(caught_panic::take().is_none());
    }

    #[test]
    fn results_of_functions_without_a_status_can_be_read_after_a_panic() {
        let mut string = StringRef { head: 99, tail: 1 };
        let mut wide = 7i128;
        // SAFETY: both are valid for a write.
        unsafe {
            Abi::settle(&raw mut string);
            Abi::settle(&raw mut wide);
        }
        assert_eq!((string, wide), (StringRef::default(), 0));
    }

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_are_unique() {
        assert_eq!(Function::RowsGrow.describe().name, "frazil_rows_grow");
        assert_eq!(Function::FitText.describe().name, "frazil_fit_text");
        assert_eq!(Function::FitText as usize + 1, FUNCTIONS.len());
        let mut names: Vec<&str> = FUNCTIONS.iter().map(|f| f.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FUNCTIONS.len());
        let f = Function::DoubleToInteger.describe();
        assert_eq!(
            f.parameters,
            [AbiType::F64, AbiType::I64, AbiType::I64, AbiType::I64]
        );
        assert_eq!(f.result, Some(AbiType::I32));
    }
}
