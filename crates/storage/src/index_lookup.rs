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
/// Where the keys come from a join a scan reads fewer: each row it reads is looked for among them, too.
const ROWS_A_JOIN_CANDIDATE: u64 = 256;
/// Candidates that are always worth it: opening a chunk costs more.
const FEW: u64 = 16;
/// Most keys that restrictions make for one scan.
const MOST_KEYS: usize = 1024;

/// Rows that may satisfy the restrictions of a scan; all others do not.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// The index they come from; `None`: they are none, and no index had to say so.
    pub index: Option<Arc<TableIndex>>,
    /// What was looked up in it.
    pub by: LookedUp,
    /// By chunk number: each chunk with the offsets of candidates in it, ascending.
    pub chunks: Vec<(Arc<ChunkEntry>, Vec<u16>)>,
}

/// What a scan looked up in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookedUp {
    /// Its restrictions.
    Restrictions,
    /// The keys of a join's build side.
    JoinKeys,
    /// The first rows in the order of the index.
    FirstRows,
    /// Nothing: the rows are given by their ids.
    RowIds,
}

/// Keys of which a row has to have one: those of the finished build side of a join that drops all others.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinKeys {
    /// The columns that are compared: positions in the table.
    pub columns: Vec<usize>,
    /// The keys, each a value for each of the columns, none of them NULL.
    pub keys: Vec<Vec<Value>>,
}

/// What restrictions, and keys of a join, say of an index: the values of its first columns, and a range of the next one.
#[derive(Debug)]
pub(crate) struct Bound {
    /// Number of columns that are given.
    columns: usize,
    /// Alternatives for their values.
    prefixes: Vec<Prefix>,
    range: Option<(End, End)>,
}

/// Values of the first columns of an index.
#[derive(Clone, Debug, Default)]
struct Prefix {
    values: Vec<Value>,
    /// Which of the join's keys some of them are of.
    key: Option<usize>,
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
        if restrictions.is_empty() {
            return None;
        }
        let most = FEW.max(version.rows() / ROWS_A_CANDIDATE);
        Candidates::best(version, restrictions, None, most)
    }

    /// Candidates for restrictions and the keys of a join; `None` where no index helps, or there are more than `most`.
    pub fn find_by_keys(
        version: &TableSnapshot,
        restrictions: &[Restriction],
        keys: &JoinKeys,
        most: u64,
    ) -> Option<Candidates> {
        Candidates::best(version, restrictions, Some(keys), most)
    }

    /// No rows.
    pub fn none(by: LookedUp) -> Candidates {
        Candidates {
            index: None,
            by,
            chunks: Vec::new(),
        }
    }

    /// These rows of an index.
    pub fn of(
        version: &TableSnapshot,
        index: &Arc<TableIndex>,
        by: LookedUp,
        rows: Vec<RowId>,
    ) -> Candidates {
        index.count_use();
        Candidates {
            index: Some(index.clone()),
            by,
            chunks: by_chunk(version, rows),
        }
    }

    /// Rows by their ids.
    pub fn at(version: &TableSnapshot, rows: Vec<RowId>) -> Candidates {
        Candidates {
            index: None,
            by: LookedUp::RowIds,
            chunks: by_chunk(version, rows),
        }
    }

    /// Number of candidates.
    pub fn rows(&self) -> u64 {
        self.chunks.iter().map(|(_, rows)| rows.len() as u64).sum()
    }

    fn best(
        version: &TableSnapshot,
        restrictions: &[Restriction],
        keys: Option<&JoinKeys>,
        most: u64,
    ) -> Option<Candidates> {
        let bounds = version
            .indexes()
            .iter()
            .filter_map(|index| Some((Bound::of(index, restrictions, keys)?, index)))
            .filter(|(bound, _)| keys.is_none() || bound.is_by_keys());
        let (bound, index) = bounds.max_by_key(|(bound, _)| bound.strength())?;
        let rows = bound.rows(index, most)?;
        let by = match keys {
            Some(_) => LookedUp::JoinKeys,
            None => LookedUp::Restrictions,
        };
        Some(Candidates::of(version, index, by, rows))
    }
}

/// Most keys of a join by columns that are worth looking up; 0 if no index has its keys by them.
pub(crate) fn most_join_keys(
    version: &TableSnapshot,
    restrictions: &[Restriction],
    columns: &[usize],
) -> u64 {
    let binds = |index: &Arc<TableIndex>| {
        let mut parts = index.spec().parts().iter().zip(index.columns());
        let given = |part: &KeyPart, column: usize| {
            restrictions
                .iter()
                .any(|r| r.column == column && equal_values(part, &r.kind, 1).is_some())
        };
        let first = parts.find(|&(part, &column)| columns.contains(&column) || !given(part, column));
        first.is_some_and(|(_, column)| columns.contains(column))
    };
    match version.indexes().iter().any(binds) {
        true => FEW.max(version.rows() / ROWS_A_JOIN_CANDIDATE),
        false => 0,
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

/// What restrictions ask of a column.
fn kinds_of(column: usize, restrictions: &[Restriction]) -> impl Iterator<Item = &RestrictionKind> {
    let of_column = restrictions.iter().filter(move |r| r.column == column);
    of_column.map(|r| &r.kind)
}

impl Bound {
    /// What the restrictions, and keys, say of an index; `None` if they do not bind its first column.
    fn of(index: &TableIndex, restrictions: &[Restriction], keys: Option<&JoinKeys>) -> Option<Bound> {
        let mut bound = Bound::open();
        for (part, &column) in index.spec().parts().iter().zip(index.columns()) {
            let own = || kinds_of(column, restrictions);
            if let Some(values) = own().find_map(|kind| equal_values(part, kind, bound.prefixes.len())) {
                bound.restrict(&values);
            } else if let Some((keys, at)) = keys.and_then(|keys| keys.of_column(column)) {
                bound.join(part, keys, at);
            } else {
                bound.range = own().fold(None, |range, kind| narrower(part, range, kind));
                break;
            }
        }
        (bound.strength() > (0, false)).then_some(bound)
    }

    /// What restrictions say of an index where each column they give has one value, maybe of no column.
    pub fn of_one(index: &TableIndex, restrictions: &[Restriction]) -> Bound {
        let mut bound = Bound::open();
        for (part, &column) in index.spec().parts().iter().zip(index.columns()) {
            let own = || kinds_of(column, restrictions);
            match own().find_map(|kind| equal_values(part, kind, 1)) {
                Some(values) if values.len() == 1 => bound.restrict(&values),
                _ => {
                    bound.range = own().fold(None, |range, kind| narrower(part, range, kind));
                    break;
                }
            }
        }
        bound
    }

    /// Number of columns that are given.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The keys of the one prefix within the range of the next column: the first one, and the first one beyond. Without `nulls`
    /// the next column has a value.
    pub fn range_of_one(&self, index: &TableIndex, nulls: bool) -> (Vec<u8>, Option<Vec<u8>>) {
        let prefix = &self.prefixes[0];
        let marker = (index.spec().parts().get(self.columns)).and_then(|part| part.value_marker());
        match (&self.range, marker) {
            (None, Some(marker)) if !nulls => {
                let mut from = Vec::new();
                index.spec().encode(&prefix.values, &mut from);
                from.push(marker);
                let mut to = from.clone();
                let to = after_prefix(&mut to).then_some(to);
                (from, to)
            }
            _ => self.ends(index, prefix),
        }
    }

    /// Nothing is bound.
    fn open() -> Bound {
        Bound {
            columns: 0,
            prefixes: vec![Prefix::default()],
            range: None,
        }
    }

    /// Number of columns that are given, and whether the next one has a range.
    fn strength(&self) -> (usize, bool) {
        (self.columns, self.range.is_some())
    }

    /// Whether keys of a join say more than restrictions do.
    fn is_by_keys(&self) -> bool {
        self.prefixes.first().is_none_or(|prefix| prefix.key.is_some())
    }

    /// The next column has one of these values.
    fn restrict(&mut self, values: &[Value]) {
        self.columns += 1;
        let prefixes = std::mem::take(&mut self.prefixes);
        let pairs = prefixes
            .iter()
            .flat_map(|p| values.iter().map(move |v| p.with(v)));
        self.prefixes = pairs.collect();
    }

    /// The next column has the value at position `at` of one of the keys: of the prefix's own one, if it has one.
    fn join(&mut self, part: &KeyPart, keys: &JoinKeys, at: usize) {
        self.columns += 1;
        let prefixes = std::mem::take(&mut self.prefixes);
        for prefix in &prefixes {
            let own = match prefix.key {
                Some(key) => key..key + 1,
                None => 0..keys.keys.len(),
            };
            for key in own {
                let value = &keys.keys[key][at];
                // A value that the type does not have equals none of the column.
                if has_value(part, value) {
                    self.prefixes.push(Prefix {
                        key: Some(key),
                        ..prefix.with(value)
                    });
                }
            }
        }
    }

    /// The rows within the bound; `None` if there are more than `most`.
    fn rows(&self, index: &TableIndex, most: u64) -> Option<Vec<RowId>> {
        let mut rows = Vec::new();
        let mut add = |row: RowId| {
            rows.push(row);
            rows.len() as u64 <= most
        };
        let whole = self.columns == index.columns().len();
        for (key, prefix) in self.keys(index) {
            if whole {
                index.candidates().get(&key, &mut add);
                continue;
            }
            let (from, to) = self.ends(index, prefix);
            let range = KeyRange {
                from: Some(&from),
                to: to.as_deref(),
            };
            (index.candidates()).range(range, Direction::Ascending, &mut |_, row| add(row));
        }
        (rows.len() as u64 <= most).then_some(rows)
    }

    /// The prefixes with their bytes in the index, in its order, each once.
    fn keys(&self, index: &TableIndex) -> Vec<(Vec<u8>, &Prefix)> {
        let encoded = self.prefixes.iter().map(|prefix| {
            let mut key = Vec::new();
            index.spec().encode(&prefix.values, &mut key);
            (key, prefix)
        });
        let mut keys: Vec<(Vec<u8>, &Prefix)> = encoded.collect();
        keys.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        keys.dedup_by(|a, b| a.0 == b.0);
        keys
    }

    /// The keys of a prefix within the range of the next column: the first one, and the first one beyond.
    fn ends(&self, index: &TableIndex, prefix: &Prefix) -> (Vec<u8>, Option<Vec<u8>>) {
        match &self.range {
            Some((low, high)) => index.ends(&prefix.values, low, high),
            None => index.ends(&prefix.values, &End::Open, &End::Open),
        }
    }
}

impl Prefix {
    /// The prefix with one more value.
    fn with(&self, value: &Value) -> Prefix {
        Prefix {
            values: [&self.values[..], std::slice::from_ref(value)].concat(),
            key: self.key,
        }
    }
}

impl JoinKeys {
    /// Where the values of a column stand in the keys.
    fn of_column(&self, column: usize) -> Option<(&JoinKeys, usize)> {
        let at = self.columns.iter().position(|&c| c == column)?;
        Some((self, at))
    }
}

impl TableIndex {
    /// The keys that begin with values and whose next value lies between two ends: the first key, and the first one beyond.
    /// Between two open ends are all keys, with one end given those of values alone.
    fn ends(&self, prefix: &[Value], low: &End, high: &End) -> (Vec<u8>, Option<Vec<u8>>) {
        let key = |value: &Value| {
            let mut key = Vec::new();
            self.spec()
                .encode(&[prefix, std::slice::from_ref(value)].concat(), &mut key);
            key
        };
        let mut all = Vec::new();
        self.spec().encode(prefix, &mut all);
        let part = self.spec().parts().get(prefix.len());
        if !matches!((low, high), (End::Open, End::Open)) {
            // NULL is in no range: an open end, too, ends where the marker of values does.
            all.extend(part.and_then(KeyPart::value_marker));
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
        | (Value::Text(_) | Value::Bytes(_), NativeType::String)
        | (Value::Int(_) | Value::Interval(_), NativeType::I128) => true,
        (Value::Int(v), NativeType::I16) => i16::try_from(*v).is_ok(),
        (Value::Int(v), NativeType::I32) => i32::try_from(*v).is_ok(),
        (Value::Int(v), NativeType::I64) => i64::try_from(*v).is_ok(),
        _ => false,
    }
}
