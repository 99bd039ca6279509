//! THE table: every function that generated code may call, and nothing else.
//!
//! The conventions are those of [`abi`](crate::abi): 16-byte values go by pointer (of any alignment),
//! results come last, a function that can fail returns a status, one that makes strings or whole
//! errors takes the context first, NULL never arrives. A row pointer that comes back null means that
//! the function failed and the context holds the error.

mod casts;
mod dates;
mod decimals;
mod math;
mod objects;
mod strings;
mod vectors;

pub use dates::date_part_code;
pub use objects::ValueSet;
pub use vectors::VectorCall;

use crate::abi::{AbiType, PipelineContext, RuntimeFunction, VectorColumn};
use crate::{AggregateTable, BufferWriter, DistinctSet, JoinTable, RowPages, Sorter, StringHeap};
use frazil_kernels::LikePattern;
use frazil_types::StringRef;

/// A Rust type that stands in the signature of a runtime function.
trait Abi {
    const TYPE: AbiType;
}

macro_rules! abi {
    ($($type:ty => $abi:ident),*) => { $(impl Abi for $type { const TYPE: AbiType = AbiType::$abi; })* };
}
abi! { i32 => I32, u32 => I32, i64 => I64, u64 => I64, f64 => F64 }

impl<T> Abi for *const T {
    const TYPE: AbiType = AbiType::I64;
}
impl<T> Abi for *mut T {
    const TYPE: AbiType = AbiType::I64;
}

macro_rules! result_type {
    () => {
        None
    };
    ($type:ty) => {
        Some(<$type as Abi>::TYPE)
    };
}

macro_rules! runtime_functions {
    ($($(#[$doc:meta])* $variant:ident = $module:ident :: $function:ident ( $($type:ty),* ) $(-> $result:ty)?;)*) => {
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
                address: {
                    // The cast checks the signature.
                    let function: unsafe extern "C" fn($($type),*) $(-> $result)? = $module::$function;
                    function as *const u8
                },
            },
        )*];
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
    RowsGrow = objects::rows_grow(Context, *mut RowPages) -> *mut u8;
    /// `(context, sorter) -> row`: as `RowsGrow`, for a sorter; all rows taken before must be written.
    SortGrow = objects::sort_grow(Context, *mut Sorter) -> *mut u8;
    /// `(context, heap, string, out) -> status`: a string that lives as long as the heap.
    StringKeep = objects::string_keep(Context, *mut StringHeap, Text, TextOut) -> u32;
    /// `(context, table, hash) -> row`: a new group, zeroed, with its header. Null on failure. May move the directory.
    AggregateInsert = objects::aggregate_insert(Context, *mut AggregateTable, u64) -> *mut u8;
    /// `(context, table, slot) -> row`: a new group of an array. Null on failure.
    AggregateInsertAt = objects::aggregate_insert_at(Context, *mut AggregateTable, u64) -> *mut u8;
    /// `(table, hashes, keys, rows, out)`: head of each row's chain, or null, with prefetching. Directly addressed
    /// tables look at `keys` (i64 each), hashed ones at `hashes`; whichever is known not to be needed may be null.
    JoinHeads = objects::join_heads(*const JoinTable, *const u64, *const i64, u64, *mut *const u8);
    /// `(context, set, group row, value) -> 1` if the group has not seen the value, `0` if it has, `-1` on failure.
    DistinctInsert = objects::distinct_insert(Context, *mut DistinctSet, *const u8, *const u8) -> i32;
    /// `(context, writer, columns, rows) -> status`: appends to a buffer; `STATUS_ENOUGH` when it has enough.
    BufferAppend = objects::buffer_append(Context, *mut BufferWriter, *const VectorColumn, u64) -> u32;
    /// `(set, value) -> bool`.
    InIntegers = objects::in_integers(*const ValueSet, i64) -> i32;
    /// `(set, value) -> bool`.
    InDecimals = objects::in_decimals(*const ValueSet, Wide) -> i32;
    /// `(set, value) -> bool`.
    InDoubles = objects::in_doubles(*const ValueSet, f64) -> i32;
    /// `(set, value) -> bool`.
    InStrings = objects::in_strings(*const ValueSet, Text) -> i32;

    // Whole vectors.

    /// `(native type, column, rows, hashes)`: folds a column into hashes that begin as 0; see `kernels::hash`.
    HashColumn = vectors::hash_column(u32, *const VectorColumn, u64, *mut u64);
    /// `(pattern, column, rows, out)`: a byte a row, 1 where the pattern matches, 0 for NULL.
    LikeColumn = vectors::like_column(*const LikePattern, *const VectorColumn, u64, *mut u8);
    /// `(context, call, columns, rows, out) -> status`: a vector function; the result lives until the next call.
    CallVectorFunction = vectors::call_vector_function(Context, *mut VectorCall, *const VectorColumn, u64, *mut VectorColumn) -> u32;

    // Strings.

    /// `(a, b) -> -1, 0 or 1`.
    StringCompare = strings::string_compare(Text, Text) -> i32;
    /// `(a, b) -> bool`.
    StringEqual = strings::string_equal(Text, Text) -> i32;
    /// `(hash so far, string) -> hash`.
    StringHash = strings::string_hash(u64, Text) -> u64;
    /// `(pattern, string) -> bool`.
    Like = strings::like(*const LikePattern, Text) -> i32;
    /// `(string) -> characters`.
    StringLength = strings::string_length(Text) -> i64;
    /// `(string, start from 1, length, out) -> status`: fails (22011) on a negative length; `i64::MAX` for no length.
    Substring = strings::substring(Text, i64, i64, TextOut) -> u32;
    /// `(context, string, out) -> status`.
    Lower = strings::lower(Context, Text, TextOut) -> u32;
    /// `(context, string, out) -> status`.
    Upper = strings::upper(Context, Text, TextOut) -> u32;
    /// `(context, a, b, out) -> status`.
    Concat = strings::concat(Context, Text, Text, TextOut) -> u32;
    /// `(string, characters, sides: 1 start, 2 end, 3 both, out)`.
    Trim = strings::trim(Text, Text, u32, TextOut);
    /// `(context, string, from, to, out) -> status`.
    Replace = strings::replace(Context, Text, Text, Text, TextOut) -> u32;
    /// `(string, part) -> position from 1 in characters, 0 if absent`.
    Position = strings::position(Text, Text) -> i64;
    /// `(string, characters, out)`: the first so many characters.
    Truncate = strings::truncate(Text, i64, TextOut);

    // Decimals: 128-bit unscaled integers.

    /// `(a, b, out) -> status`: fails (22003) beyond 38 digits.
    DecimalMul = decimals::decimal_mul(Wide, Wide, WideOut) -> u32;
    /// `(context, a, b, shift, out) -> status`: a × 10^shift / b, half away from zero. 22012, 22003.
    DecimalDiv = decimals::decimal_div(Context, Wide, Wide, i32, WideOut) -> u32;
    /// `(a, b, out) -> status`: fails (22012) for b = 0.
    DecimalRem = decimals::decimal_rem(Wide, Wide, WideOut) -> u32;
    /// `(a, from scale, to scale, precision, out) -> status`: rounds half away from zero; 22003 beyond the precision.
    DecimalRescale = decimals::decimal_rescale(Wide, i32, i32, i32, WideOut) -> u32;
    /// `(a, precision) -> status`: fails (22003) beyond the precision.
    DecimalCheck = decimals::decimal_check(Wide, i32) -> u32;
    /// `(a, scale, out)`: the next whole number up, at scale 0.
    DecimalCeil = decimals::decimal_ceil(Wide, i32, WideOut);
    /// `(a, scale, out)`: the next whole number down, at scale 0.
    DecimalFloor = decimals::decimal_floor(Wide, i32, WideOut);
    /// `(a, scale) -> double`: the nearest.
    DecimalToDouble = decimals::decimal_to_double(Wide, i32) -> f64;
    /// `(v, precision, scale, out) -> status`: rounds half away from zero; 22003.
    DoubleToDecimal = decimals::double_to_decimal(f64, i32, i32, WideOut) -> u32;

    // Doubles.

    /// `(v, min, max, out) -> status`: rounds half to even; fails (22003) outside the range.
    DoubleToInteger = math::double_to_integer(f64, i64, i64, *mut i64) -> u32;
    /// `(a, b) -> -1, 0 or 1`: NaN equals itself and is above all else.
    DoubleCompare = math::double_compare(f64, f64) -> i32;
    /// `(a, b) -> a % b`.
    DoubleRem = math::double_rem(f64, f64) -> f64;
    /// `(v, digits) -> v` rounded half away from zero.
    DoubleRound = math::double_round(f64, i32) -> f64;
    /// `(context, v, out) -> status`: 2201F below zero.
    Sqrt = math::sqrt(Context, f64, *mut f64) -> u32;
    /// `(context, base, exponent, out) -> status`: 2201F, 22003.
    Power = math::power(Context, f64, f64, *mut f64) -> u32;
    /// `(context, v, out) -> status`: 2201E for zero and below.
    Ln = math::ln(Context, f64, *mut f64) -> u32;
    /// `(context, v, out) -> status`: 22003.
    Exp = math::exp(Context, f64, *mut f64) -> u32;

    // Dates and timestamps.

    /// `(part, days) -> value`; parts as in `date_part_code`.
    DatePart = dates::date_part(u32, i32) -> i64;
    /// `(part, microseconds) -> value`.
    TimestampPart = dates::timestamp_part(u32, i64) -> i64;
    /// `(days, months, interval days, interval microseconds, out) -> status`: fails (22008) outside the calendar.
    DateAdd = dates::date_add(i32, i32, i32, i64, *mut i32) -> u32;
    /// `(microseconds, months, interval days, interval microseconds, out) -> status`: as `DateAdd`.
    TimestampAdd = dates::timestamp_add(i64, i32, i32, i64, *mut i64) -> u32;

    // Casts to text.

    /// `(context, v, out) -> status`.
    BooleanToText = casts::boolean_to_text(Context, i32, TextOut) -> u32;
    /// `(context, v, out) -> status`.
    IntegerToText = casts::integer_to_text(Context, i64, TextOut) -> u32;
    /// `(context, v, scale, out) -> status`.
    DecimalToText = casts::decimal_to_text(Context, Wide, i32, TextOut) -> u32;
    /// `(context, v, out) -> status`.
    DoubleToText = casts::double_to_text(Context, f64, TextOut) -> u32;
    /// `(context, days, out) -> status`.
    DateToText = casts::date_to_text(Context, i32, TextOut) -> u32;
    /// `(context, microseconds, out) -> status`.
    TimestampToText = casts::timestamp_to_text(Context, i64, TextOut) -> u32;
    /// `(context, interval, out) -> status`.
    IntervalToText = casts::interval_to_text(Context, Wide, TextOut) -> u32;
    /// `(code point, out)`: a char(1) as text; a blank is the empty text, as PostgreSQL has it.
    CodePointToText = casts::code_point_to_text(i32, TextOut);

    // Casts from text.

    /// `(context, string, out) -> status`: 22P02. One byte.
    TextToBoolean = casts::text_to_boolean(Context, Text, *mut u8) -> u32;
    /// `(context, string, bits of the type, out) -> status`: 22P02, 22003.
    TextToInteger = casts::text_to_integer(Context, Text, i32, *mut i64) -> u32;
    /// `(context, string, precision, scale, out) -> status`: 22P02, 22003.
    TextToDecimal = casts::text_to_decimal(Context, Text, i32, i32, WideOut) -> u32;
    /// `(context, string, out) -> status`: 22P02, 22003.
    TextToDouble = casts::text_to_double(Context, Text, *mut f64) -> u32;
    /// `(context, string, out) -> status`: 22007, 22008.
    TextToDate = casts::text_to_date(Context, Text, *mut i32) -> u32;
    /// `(context, string, out) -> status`: 22007, 22008.
    TextToTimestamp = casts::text_to_timestamp(Context, Text, *mut i64) -> u32;
    /// `(string) -> code point` of its first character, a blank where it has none.
    TextToCodePoint = casts::text_to_code_point(Text) -> i32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_are_unique() {
        assert_eq!(Function::RowsGrow.describe().name, "frazil_rows_grow");
        assert_eq!(
            Function::TextToCodePoint.describe().name,
            "frazil_text_to_code_point"
        );
        assert_eq!(Function::TextToCodePoint as usize + 1, FUNCTIONS.len());
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
