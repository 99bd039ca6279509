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

/// Whether the bounds of pages, as the file has them, rise or fall; a page of NULLs alone has none.
pub fn boundary_order(bounds: &[Option<(Bound, Bound)>]) -> BoundaryOrder {
    let pairs = || bounds.iter().flatten().zip(bounds.iter().flatten().skip(1));
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
    // Signed ones are the only ones that readers of the old fields compare right.
    match column.physical_type() {
        Physical::INT32 => {
            let short = |bound| integer(bound).map(|value| value as i32);
            let statistics = ValueStatistics::new(short(min), short(max), None, nulls, false);
            Statistics::Int32(statistics.with_backwards_compatible_min_max(true))
        }
        Physical::INT64 => {
            let statistics = ValueStatistics::new(integer(min), integer(max), None, nulls, false);
            Statistics::Int64(statistics.with_backwards_compatible_min_max(true))
        }
        _ => {
            let min = min.map(|min| shortened(&min));
            let max = max.map(|max| lengthened(&max));
            let exact = |bound: &Option<(Bound, bool)>| bound.as_ref().is_none_or(|bound| bound.1);
            let (min_is_exact, max_is_exact) = (exact(&min), exact(&max));
            let bytes = |bound: Option<(Bound, bool)>| {
                bound.map(|(bound, _)| ByteArray::from(bound_bytes(&bound, column)))
            };
            let statistics = ValueStatistics::new(bytes(min), bytes(max), None, nulls, false);
            let statistics = statistics
                .with_min_is_exact(min_is_exact)
                .with_max_is_exact(max_is_exact);
            Statistics::ByteArray(statistics)
        }
    }
}

/// A least value as the file has it, and whether it is just this one: of a long text a beginning, which is less still.
pub fn shortened(bound: &Bound) -> (Bound, bool) {
    match bound {
        Bound::Text(text) if text.len() > BOUND_BYTES => {
            (Bound::Text(text[..beginning(text)].to_vec()), false)
        }
        Bound::Text(_) | Bound::Integer(_) => (bound.clone(), true),
    }
}

/// A greatest value as the file has it, and whether it is just this one: of a long text a beginning whose last character is the next one.
pub fn lengthened(bound: &Bound) -> (Bound, bool) {
    let text = match bound {
        Bound::Text(text) if text.len() > BOUND_BYTES => text,
        Bound::Text(_) | Bound::Integer(_) => return (bound.clone(), true),
    };
    let start = String::from_utf8_lossy(&text[..beginning(text)]);
    for (at, last) in start.char_indices().rev() {
        let next = char::from_u32(last as u32 + 1).filter(|next| next.len_utf8() == last.len_utf8());
        if let Some(next) = next {
            let mut greater = start[..at].to_owned();
            greater.push(next);
            return (Bound::Text(greater.into_bytes()), false);
        }
    }
    (bound.clone(), true)
}

/// Where the last character ends that lies within the first [`BOUND_BYTES`] of a longer text.
fn beginning(text: &[u8]) -> usize {
    let is_start = |&at: &usize| text[at] & 0xc0 != 0x80;
    (0..=BOUND_BYTES).rev().find(is_start).unwrap_or(0)
}

/// The bytes of a bound.
pub fn bound_bytes(bound: &Bound, column: &ColumnDescPtr) -> Vec<u8> {
    match (bound, column.physical_type()) {
        (Bound::Text(text), _) => text.clone(),
        (Bound::Integer(value), Physical::INT32) => (*value as i32).to_le_bytes().to_vec(),
        (Bound::Integer(value), _) => value.to_le_bytes().to_vec(),
    }
}
