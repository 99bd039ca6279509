//! Which rows of a table a scan need look at at all, by an index: candidates for the restrictions of the scan.
//!
//! The choice is made when a scan opens, from the values that its restrictions have then, not from estimates: of the indexes whose
//! first columns are bound by equality, IN or a range the one that binds most is asked, and left again as soon as it gives more
//! candidates than are worth it. A candidate is a row that may satisfy the restrictions; the scan evaluates them all, and
//! visibility, on the windows of 64 rows that hold candidates.

use crate::chunk_entry::ChunkEntry;
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndex;
use frazil_index::{Direction, KeyRange};
use frazil_types::key_encoding::after_prefix;
use frazil_types::{CompareOp, KeyPart, NativeType, Restriction, RestrictionKind, RowId, Value};
use std::sync::Arc;

/// A scan reads this many rows in the time of one candidate, by and large.
const ROWS_A_CANDIDATE: u64 = 1024;
/// Candidates that are always worth it: opening a chunk costs more.
const FEW: u64 = 16;
/// Most keys that are looked up for one scan.
const MOST_KEYS: usize = 1024;

/// Rows that may satisfy the restrictions of a scan; all others do not.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// The index they come from.
    pub index: Arc<TableIndex>,
    /// By chunk number: each chunk with the offsets of candidates in it, ascending.
    pub chunks: Vec<(Arc<ChunkEntry>, Vec<u16>)>,
}

/// What restrictions say of an index: the values of its first columns, and a range of the next one.
#[derive(Debug)]
struct Bound {
    /// Each with a value for each of the first columns.
    prefixes: Vec<Vec<Value>>,
    range: Option<(End, End)>,
}

/// An end of a range of values.
#[derive(Clone, Debug)]
enum End {
    Open,
    Inclusive(Value),
    Exclusive(Value),
}

impl Candidates {
    /// Candidates for a conjunction of restrictions; `None` where no index helps.
    pub fn find(version: &TableSnapshot, restrictions: &[Restriction]) -> Option<Candidates> {
        if restrictions.is_empty() || version.indexes().is_empty() {
            return None;
        }
        let bounds = version
            .indexes()
            .iter()
            .filter_map(|index| Some((Bound::of(index, restrictions)?, index)));
        let (bound, index) = bounds.max_by_key(|(bound, _)| bound.strength())?;
        let most = FEW.max(version.rows() / ROWS_A_CANDIDATE);
        let rows = bound.rows(index, most)?;
        index.count_use();
        Some(Candidates {
            index: index.clone(),
            chunks: by_chunk(version, rows),
        })
    }
}

/// Rows of the chunks that a version shows.
fn by_chunk(version: &TableSnapshot, mut rows: Vec<RowId>) -> Vec<(Arc<ChunkEntry>, Vec<u16>)> {
    rows.sort_unstable();
    rows.dedup();
    let mut chunks = Vec::new();
    for run in rows.chunk_by(|a, b| a.chunk() == b.chunk()) {
        let Some(entry) = version.entry(run[0].chunk()) else {
            continue;
        };
        let shown = entry.view().rows();
        let offsets: Vec<u16> = run
            .iter()
            .map(|row| row.offset())
            .filter(|&o| u32::from(o) < shown)
            .collect();
        if !offsets.is_empty() {
            chunks.push((entry.clone(), offsets));
        }
    }
    chunks
}

impl Bound {
    /// What the restrictions say of an index; `None` if they do not bind its first column.
    fn of(index: &TableIndex, restrictions: &[Restriction]) -> Option<Bound> {
        let mut bound = Bound {
            prefixes: vec![Vec::new()],
            range: None,
        };
        for (part, &column) in index.spec().parts().iter().zip(index.columns()) {
            let own = || {
                restrictions
                    .iter()
                    .filter(|r| r.column == column)
                    .map(|r| &r.kind)
            };
            if let Some(values) = own().find_map(|kind| equal_values(part, kind, bound.prefixes.len())) {
                let with = |prefix: &Vec<Value>, value: &Value| [&prefix[..], &[value.clone()]].concat();
                let pairs = bound
                    .prefixes
                    .iter()
                    .flat_map(|p| values.iter().map(move |v| with(p, v)));
                bound.prefixes = pairs.collect();
                continue;
            }
            bound.range = own().fold(None, |range, kind| narrower(part, range, kind));
            break;
        }
        (bound.strength() > (0, false)).then_some(bound)
    }

    /// Number of columns that are given, and whether the next one has a range.
    fn strength(&self) -> (usize, bool) {
        (self.prefixes.first().map_or(0, Vec::len), self.range.is_some())
    }

    /// The rows within the bound; `None` if there are more than `most`.
    fn rows(&self, index: &TableIndex, most: u64) -> Option<Vec<RowId>> {
        let mut rows = Vec::new();
        let mut add = |row: RowId| {
            rows.push(row);
            rows.len() as u64 <= most
        };
        let whole = self.strength().0 == index.columns().len();
        for prefix in &self.prefixes {
            let mut from = Vec::new();
            index.spec().encode(prefix, &mut from);
            if whole {
                index.candidates().get(&from, &mut add);
                continue;
            }
            let (from, to) = match &self.range {
                Some((low, high)) => index.ends(prefix, low, high),
                None => index.ends(prefix, &End::Open, &End::Open),
            };
            let range = KeyRange {
                from: Some(&from),
                to: to.as_deref(),
            };
            (index.candidates()).range(range, Direction::Ascending, &mut |_, row| add(row));
        }
        (rows.len() as u64 <= most).then_some(rows)
    }
}

impl TableIndex {
    /// The keys that begin with values and whose next value lies between two ends: the first key, and the first one beyond.
    /// Between two open ends are all keys, with one end given those of values alone.
    fn ends(&self, prefix: &[Value], low: &End, high: &End) -> (Vec<u8>, Option<Vec<u8>>) {
        let key = |value: &Value| {
            let mut key = Vec::new();
            self.spec().encode(&[prefix, &[value.clone()]].concat(), &mut key);
            key
        };
        let mut all = Vec::new();
        self.spec().encode(prefix, &mut all);
        let part = self.spec().parts().get(prefix.len());
        if let (End::Inclusive(v) | End::Exclusive(v), _) | (_, End::Inclusive(v) | End::Exclusive(v)) =
            (low, high)
            && part.is_some_and(|part| part.nullable)
        {
            // NULL is in no range: an open end, too, ends where the marker of values does.
            all.push(key(v)[all.len()]);
        }
        let after = |mut key: Vec<u8>| after_prefix(&mut key).then_some(key);
        let descending = part.is_some_and(|part| part.descending);
        let (first, last) = if descending { (high, low) } else { (low, high) };
        let from = match first {
            End::Open => all.clone(),
            End::Inclusive(value) => key(value),
            // Behind the last key that there could be, if no key comes after these.
            End::Exclusive(value) => after(key(value)).unwrap_or_else(|| key(value)),
        };
        let to = match last {
            End::Open => after(all),
            End::Inclusive(value) => after(key(value)),
            End::Exclusive(value) => Some(key(value)),
        };
        (from, to)
    }
}

/// The values to which a restriction binds a part, if it does and there are not too many for so many prefixes.
fn equal_values(part: &KeyPart, kind: &RestrictionKind, prefixes: usize) -> Option<Vec<Value>> {
    let values = match kind {
        RestrictionKind::Compare(CompareOp::Eq, value) => std::slice::from_ref(value),
        RestrictionKind::In(values) => values,
        RestrictionKind::Between(low, high) if low == high => std::slice::from_ref(low),
        _ => return None,
    };
    // NULL, or a value that the type does not have, equals nothing.
    let values: Vec<Value> = values
        .iter()
        .filter(|value| has_value(part, value))
        .cloned()
        .collect();
    (values.len() * prefixes <= MOST_KEYS).then_some(values)
}

/// A range with the ends of another restriction. Each restriction is evaluated anyway: one end of several is enough.
fn narrower(part: &KeyPart, range: Option<(End, End)>, kind: &RestrictionKind) -> Option<(End, End)> {
    use CompareOp::{Ge, Gt, Le, Lt};
    let end = |value: &Value, inclusive: bool| match (has_value(part, value), inclusive) {
        (false, _) => End::Open,
        (true, true) => End::Inclusive(value.clone()),
        (true, false) => End::Exclusive(value.clone()),
    };
    let (low, high) = match kind {
        RestrictionKind::Between(low, high) => (end(low, true), end(high, true)),
        RestrictionKind::Compare(op @ (Gt | Ge), value) => (end(value, *op == Ge), End::Open),
        RestrictionKind::Compare(op @ (Lt | Le), value) => (End::Open, end(value, *op == Le)),
        _ => return range,
    };
    let (old_low, old_high) = range.unwrap_or((End::Open, End::Open));
    let low = if matches!(low, End::Open) { old_low } else { low };
    let high = if matches!(high, End::Open) { old_high } else { high };
    (!matches!((&low, &high), (End::Open, End::Open))).then_some((low, high))
}

/// Whether a value is one that the part's type has, so that it has a key.
pub(crate) fn has_value(part: &KeyPart, value: &Value) -> bool {
    match (value, part.ty.native()) {
        (Value::Bool(_), NativeType::Bool)
        | (Value::Double(_), NativeType::F64)
        | (Value::Text(_), NativeType::String)
        | (Value::Int(_), NativeType::I128) => true,
        (Value::Int(v), NativeType::I16) => i16::try_from(*v).is_ok(),
        (Value::Int(v), NativeType::I32) => i32::try_from(*v).is_ok(),
        (Value::Int(v), NativeType::I64) => i64::try_from(*v).is_ok(),
        _ => false,
    }
}
