//! The least and the greatest values of pages and row groups, as Parquet has them.

use parquet::basic::{BoundaryOrder, Type as Physical};
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

/// Bytes of a text that statistics hold at most.
const BOUND_BYTES: usize = 64;

/// The least or the greatest value of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    Integer(i64),
    Text(Vec<u8>),
}

/// Whether the bounds of pages, which those of NULLs alone have none of, rise or fall.
pub fn boundary_order<'a>(bounds: impl Iterator<Item = &'a (Bound, Bound)> + Clone) -> BoundaryOrder {
    let pairs = || bounds.clone().zip(bounds.clone().skip(1));
    match () {
        () if pairs().all(|(a, b)| a.0 <= b.0 && a.1 <= b.1) => BoundaryOrder::ASCENDING,
        () if pairs().all(|(a, b)| a.0 >= b.0 && a.1 >= b.1) => BoundaryOrder::DESCENDING,
        () => BoundaryOrder::UNORDERED,
    }
}

/// What a footer says of the values of a row group, of which so many are NULL.
pub fn statistics(column: &ColumnDescPtr, range: Option<(Bound, Bound)>, nulls: u64) -> Statistics {
    let (min, max) = range.unzip();
    let nulls = Some(nulls);
    let integer = |bound: Option<Bound>| match bound {
        Some(Bound::Integer(value)) => Some(value),
        Some(Bound::Text(_)) | None => None,
    };
    match column.physical_type() {
        Physical::INT32 => {
            let short = |bound| integer(bound).map(|value| value as i32);
            Statistics::Int32(ValueStatistics::new(short(min), short(max), None, nulls, true))
        }
        Physical::INT64 => Statistics::Int64(ValueStatistics::new(
            integer(min),
            integer(max),
            None,
            nulls,
            true,
        )),
        _ => {
            let min = min.map(|min| shortened(&min, column));
            let max = max.map(|max| lengthened(&max, column));
            let exact = |bound: &Option<(Vec<u8>, bool)>| bound.as_ref().is_none_or(|bound| bound.1);
            let (min_is_exact, max_is_exact) = (exact(&min), exact(&max));
            let bytes = |bound: Option<(Vec<u8>, bool)>| bound.map(|bound| ByteArray::from(bound.0));
            let statistics = ValueStatistics::new(bytes(min), bytes(max), None, nulls, false);
            let statistics = statistics
                .with_min_is_exact(min_is_exact)
                .with_max_is_exact(max_is_exact);
            Statistics::ByteArray(statistics)
        }
    }
}

/// The bytes of a least value, and whether they are all: of a long text a beginning is less still.
pub fn shortened(bound: &Bound, column: &ColumnDescPtr) -> (Vec<u8>, bool) {
    match bound {
        Bound::Integer(value) => (integer_bytes(*value, column), true),
        Bound::Text(text) if text.len() <= BOUND_BYTES => (text.clone(), true),
        Bound::Text(text) => {
            let end = beginning(text);
            (text[..end].to_vec(), false)
        }
    }
}

/// The bytes of a greatest value, and whether it is just these: of a long text, a beginning whose last character is the next one.
pub fn lengthened(bound: &Bound, column: &ColumnDescPtr) -> (Vec<u8>, bool) {
    let text = match bound {
        Bound::Integer(value) => return (integer_bytes(*value, column), true),
        Bound::Text(text) if text.len() <= BOUND_BYTES => return (text.clone(), true),
        Bound::Text(text) => text,
    };
    let start = String::from_utf8_lossy(&text[..beginning(text)]);
    for (at, last) in start.char_indices().rev() {
        let next = char::from_u32(last as u32 + 1).filter(|next| next.len_utf8() == last.len_utf8());
        if let Some(next) = next {
            let mut greater = start[..at].to_owned();
            greater.push(next);
            return (greater.into_bytes(), false);
        }
    }
    (text.clone(), true)
}

/// Where the last character ends that lies within the first [`BOUND_BYTES`] of a longer text.
fn beginning(text: &[u8]) -> usize {
    let is_start = |&at: &usize| text[at] & 0xc0 != 0x80;
    (0..=BOUND_BYTES).rev().find(is_start).unwrap_or(0)
}

fn integer_bytes(value: i64, column: &ColumnDescPtr) -> Vec<u8> {
    match column.physical_type() {
        Physical::INT32 => (value as i32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}
