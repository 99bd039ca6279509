//! The bound of the first rows in an order, which goes back into the scan that feeds them.
//!
//! Whoever keeps the first `n` rows of an order needs no row behind the last of the `n` that it has. It says so to a
//! [`TopBound`]: the first key of that row. Workers that scan look, before they match a window of rows, whether the bound has moved,
//! and test their rows against it as against any restriction: by SMA, PSMA and codes. Rows of an equal key pass, because further
//! keys decide among them. A worker that looks too early sees an older bound, which lets more rows pass: no row that counts is dropped.
//!
//! Chunks are visited in the order of their SMAs, so that the bound is close after the first ones.

use crate::chunk_entry::ChunkEntry;
use crate::chunk_view::State;
use crate::hot_disjunction::HotDisjunction;
use crate::snapshot::TableSnapshot;
use crate::table_scan::TableScan;
use frazil_types::value_ops::order as order_of;
use frazil_types::{CompareOp, Disjunction, Restriction, RestrictionKind, Result, Value};
use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering as Memory};
use std::sync::{Arc, Mutex, MutexGuard};

/// A bound that several workers tighten and read.
#[derive(Debug)]
pub struct TopBound {
    order: KeyOrder,
    /// How often `last` has changed.
    moves: AtomicU64,
    /// The first key of the last row that counts, as far as is known: none if nothing is.
    last: Mutex<Option<Value>>,
}

/// How rows are ordered by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyOrder {
    /// Greater values come first.
    pub descending: bool,
    /// NULLs come before all values, also where greater ones come first.
    pub nulls_first: bool,
}

impl KeyOrder {
    /// The order of two values of one type.
    fn compare(self, a: &Value, b: &Value) -> Ordering {
        match (a.is_null(), b.is_null()) {
            (false, false) => {
                let order = order_of(a, b).unwrap_or(Ordering::Equal);
                if self.descending { order.reverse() } else { order }
            }
            (a, b) if self.nulls_first => b.cmp(&a),
            (a, b) => a.cmp(&b),
        }
    }

    /// What a value has to be to come no later than `last`: one of these. None: it may be anything.
    fn no_later_than(self, last: &Value, may_be_null: bool) -> Vec<RestrictionKind> {
        let op = if self.descending {
            CompareOp::Ge
        } else {
            CompareOp::Le
        };
        match (last, self.nulls_first) {
            (Value::Null, true) => vec![RestrictionKind::IsNull],
            (Value::Null, false) => vec![],
            (value, true) if may_be_null => {
                vec![
                    RestrictionKind::IsNull,
                    RestrictionKind::Compare(op, value.clone()),
                ]
            }
            (value, _) => vec![RestrictionKind::Compare(op, value.clone())],
        }
    }
}

impl TopBound {
    /// A bound that lets all rows pass.
    pub fn new(order: KeyOrder) -> TopBound {
        TopBound {
            order,
            moves: AtomicU64::new(0),
            last: Mutex::new(None),
        }
    }

    /// Says that as many rows as are wanted have keys that come no later than `last`.
    pub fn tighten(&self, last: Value) {
        let mut known = self.lock();
        if (known.as_ref()).is_none_or(|known| self.order.compare(&last, known).is_lt()) {
            *known = Some(last);
            self.moves.fetch_add(1, Memory::Release);
        }
    }

    /// What is asked of a column that is the key, if anything is, and how often the bound had moved by then.
    fn look(&self, column: usize, may_be_null: bool) -> (u64, Option<Disjunction>) {
        let last = self.lock();
        let kinds = last
            .as_ref()
            .map(|last| self.order.no_later_than(last, may_be_null));
        let alternatives = kinds
            .into_iter()
            .flatten()
            .map(|kind| vec![Restriction { column, kind }]);
        let disjunction = Disjunction {
            alternatives: alternatives.collect(),
        };
        let moves = self.moves.load(Memory::Relaxed);
        (moves, Some(disjunction).filter(|d| !d.alternatives.is_empty()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Value>> {
        self.last.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The bound of a scan's rows.
#[derive(Debug)]
pub(crate) struct ScanBound {
    bound: Arc<TopBound>,
    /// The key: a position in the table.
    pub column: usize,
    may_be_null: bool,
    /// Positions of the version's chunks in the order in which they are visited.
    pub visits: Vec<usize>,
}

impl ScanBound {
    /// A bound of a column, a position in the table.
    pub fn new(version: &TableSnapshot, column: usize, bound: Arc<TopBound>) -> ScanBound {
        // Whatever a version shows was written before.
        let may_be_null = version
            .table()
            .bounds()
            .look(|widest| widest.columns[column].has_nulls);
        ScanBound {
            column,
            may_be_null,
            visits: visits(version, column, bound.order),
            bound,
        }
    }
}

/// The chunks of a version, those first whose first key may come first. Of others, of which that is not known, the newest ones are
/// taken for those with the greatest keys, as with times and running numbers.
fn visits(version: &TableSnapshot, column: usize, order: KeyOrder) -> Vec<usize> {
    let mut chunks: Vec<(usize, Option<Value>)> = (0..version.chunk_count())
        .map(|i| (i, first_key(version.chunk(i), column, order)))
        .collect();
    if order.descending {
        chunks.reverse();
    }
    let (mut known, unknown): (Vec<_>, Vec<_>) = chunks.into_iter().partition(|(_, key)| key.is_some());
    known.sort_by(|(_, a), (_, b)| match (a, b) {
        (Some(a), Some(b)) => order.compare(a, b),
        _ => Ordering::Equal,
    });
    let (first, second) = if order.descending {
        (unknown, known)
    } else {
        (known, unknown)
    };
    first.into_iter().chain(second).map(|(i, _)| i).collect()
}

/// The key that comes first of those of a chunk's rows, deleted ones included; none if that is not known: of doubles and strings of hot
/// rows.
fn first_key(entry: &ChunkEntry, column: usize, order: KeyOrder) -> Option<Value> {
    let view = entry.view();
    let known = view.bounds(column);
    let bounds = match view.state() {
        State::Frozen(frozen) if !frozen.block.native(column).is_integer() => frozen.block.bounds(column),
        State::Hot(hot) if !hot.layout().column(column).native.is_integer() => return None,
        State::Frozen(_) | State::Hot(_) => {
            let (least, greatest) = known.range.unzip();
            least.map(Value::Int).zip(greatest.map(Value::Int))
        }
    };
    Some(match bounds {
        Some((least, greatest)) if known.nulls == 0 || !order.nulls_first => {
            if order.descending {
                greatest
            } else {
                least
            }
        }
        _ => Value::Null,
    })
}

/// What a worker's cursor asks of its rows beside the restrictions of its scan.
#[derive(Debug, Default)]
pub(crate) struct BoundTests {
    /// How often the bound had moved when the tests were made.
    seen: u64,
    /// What blocks are asked: the disjunctions of the scan, and the bound. None as long as there is no bound.
    disjunctions: Option<Vec<Disjunction>>,
    /// What hot rows are asked: the bound alone.
    pub hot: Option<HotDisjunction>,
}

impl BoundTests {
    /// Takes in a bound that has moved; whether it has.
    pub fn look(&mut self, scan: &TableScan) -> Result<bool> {
        let Some(bound) = &scan.bound else {
            return Ok(false);
        };
        if bound.bound.moves.load(Memory::Acquire) == self.seen {
            return Ok(false);
        }
        let (seen, disjunction) = bound.bound.look(bound.column, bound.may_be_null);
        self.seen = seen;
        let Some(disjunction) = disjunction else {
            return Ok(false);
        };
        self.hot = Some(HotDisjunction::new(scan.snapshot.schema(), &disjunction)?);
        let others = scan.disjunctions.iter().cloned();
        self.disjunctions = Some(others.chain([disjunction]).collect());
        Ok(true)
    }

    /// What blocks are asked beside the restrictions.
    pub fn disjunctions<'a>(&'a self, scan: &'a TableScan) -> &'a [Disjunction] {
        self.disjunctions.as_deref().unwrap_or(&scan.disjunctions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

    fn order((descending, nulls_first): (bool, bool)) -> KeyOrder {
        KeyOrder {
            descending,
            nulls_first,
        }
    }

    fn passes(kinds: &[RestrictionKind], value: &Value) -> bool {
        let test = |kind: &RestrictionKind| match kind {
            RestrictionKind::IsNull => value.is_null(),
            RestrictionKind::Compare(op, operand) => {
                order_of(value, operand).is_some_and(|order| op.holds(order))
            }
            other => unreachable!("{other:?}"),
        };
        kinds.is_empty() || kinds.iter().any(test)
    }

    #[test]
    fn what_comes_no_later_passes_and_nothing_else_does() {
        let doubles = [f64::NEG_INFINITY, -1.5, 0.0, f64::INFINITY, f64::NAN].map(Value::Double);
        let values: Vec<Value> = doubles.into_iter().chain([Value::Null]).collect();
        for order in ORDERS.map(order) {
            for last in &values {
                for value in &values {
                    let kinds = order.no_later_than(last, true);
                    let no_later = order.compare(value, last).is_le();
                    assert_eq!(passes(&kinds, value), no_later, "{order:?} {last:?} {value:?}");
                }
            }
        }
    }

    #[test]
    fn a_bound_only_tightens() {
        for order in ORDERS.map(order) {
            let bound = TopBound::new(order);
            assert_eq!(bound.look(3, true), (0, None));
            let keys = [Value::Int(5), Value::Null, Value::Int(7), Value::Int(2)];
            for key in &keys {
                bound.tighten(key.clone());
            }
            let first = keys.iter().min_by(|a, b| order.compare(a, b)).cloned();
            assert_eq!(*bound.lock(), first, "{order:?}");
            let (moves, _) = bound.look(3, true);
            bound.tighten(Value::Int(6));
            if first != Some(Value::Int(6)) {
                assert_eq!(bound.look(3, true).0, moves);
            }
        }
    }
}
