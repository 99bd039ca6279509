//! The first rows of a table in an order that one of its indexes has: for ORDER BY with LIMIT, and for least and greatest keys.
//!
//! The index is walked in the order that is wanted, forward or backward, from where the restrictions bind its first columns by
//! equality. Entries of rows that the version does not show are left out. The other restrictions are evaluated by the scan: who
//! asked for too few rows asks for more.

use crate::index_lookup::{Bound, Candidates, LookedUp};
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndex;
use frazil_index::{Direction, KeyRange};
use frazil_types::{KeyPart, Restriction, RestrictionKind, RowId};
use std::sync::Arc;

/// A scan reads this many rows in the time in which the index gives one and the row is read.
const ROWS_A_CANDIDATE: u64 = 1024;
/// Rows that are always worth it.
const FEW: u64 = 64;
/// Entries that are walked for each row wanted: those of rows that died lie between.
const ENTRIES_A_ROW: u64 = 8;

/// A column that rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderColumn {
    /// Its position in the table.
    pub column: usize,
    /// Greater values come first.
    pub descending: bool,
    /// Where NULLs come: first or last. `None`: rows with NULL are not wanted.
    pub nulls_first: Option<bool>,
}

/// The first rows in an order, of those that a scan may give.
#[derive(Debug)]
pub(crate) struct FirstRows {
    index: Arc<TableIndex>,
    rows: Vec<RowId>,
    /// Whether there are no further ones.
    pub complete: bool,
    /// Whether each of them satisfies all restrictions.
    pub exact: bool,
}

/// How an index gives an order.
struct Walk<'a> {
    index: &'a Arc<TableIndex>,
    bound: Bound,
    direction: Direction,
    /// Number of the key's columns that are given or are part of the order.
    columns: usize,
    /// Whether rows that are equal in these columns may come in any order.
    whole: bool,
    nulls: bool,
}

impl FirstRows {
    /// At least `wanted` live rows in an order, and all that are equal to the last one as far as the index knows; fewer only if
    /// there are no more. `None` if no index has the order, or scanning all rows is quicker.
    pub fn find(
        version: &TableSnapshot,
        restrictions: &[Restriction],
        order: &[OrderColumn],
        wanted: u64,
    ) -> Option<FirstRows> {
        let most = FEW.max(version.rows() / ROWS_A_CANDIDATE);
        if wanted > most {
            return None;
        }
        let walks = version
            .indexes()
            .iter()
            .filter_map(|index| Walk::of(index, restrictions, order));
        let walk = walks.max_by_key(|walk| walk.columns)?;
        walk.run(version, wanted, most * ENTRIES_A_ROW)
            .map(|(rows, complete)| FirstRows {
                index: walk.index.clone(),
                rows,
                complete,
                exact: walk.is_exact(restrictions),
            })
    }

    /// The rows of several orders as candidates of a scan.
    pub fn candidates(version: &TableSnapshot, found: Vec<FirstRows>) -> Option<Candidates> {
        let index = found.first()?.index.clone();
        let rows = found.into_iter().flat_map(|first| first.rows).collect();
        Some(Candidates::of(version, &index, LookedUp::FirstRows, rows))
    }
}

impl<'a> Walk<'a> {
    /// How an index gives an order; `None` if it does not.
    fn of(
        index: &'a Arc<TableIndex>,
        restrictions: &[Restriction],
        order: &[OrderColumn],
    ) -> Option<Walk<'a>> {
        let bound = Bound::of_one(index, restrictions);
        let given = &index.columns()[..bound.columns()];
        let parts = index.spec().parts().iter().zip(index.columns());
        let mut parts = parts.skip(given.len()).peekable();
        let (mut direction, mut columns, mut whole) = (None, given.len(), true);
        let mut nulls = true;
        // A column that has one value orders nothing.
        for wanted in order.iter().filter(|o| !given.contains(&o.column)) {
            let own = parts.next().filter(|&(_, &column)| column == wanted.column);
            let own = own.and_then(|(part, _)| direction_of(part, wanted));
            match own {
                Some(own) if direction.is_none_or(|d| d == own) => direction = Some(own),
                _ => {
                    whole = false;
                    break;
                }
            }
            nulls &= wanted.nulls_first.is_some();
            columns += 1;
        }
        Some(Walk {
            index,
            bound,
            direction: direction?,
            columns,
            whole,
            nulls,
        })
    }

    /// Rows in order, and whether there are no further ones; `None` where too many entries are of dead rows, or rows are equal.
    fn run(&self, version: &TableSnapshot, wanted: u64, most: u64) -> Option<(Vec<RowId>, bool)> {
        let (from, to) = self.bound.range_of_one(self.index, self.nulls);
        let range = KeyRange {
            from: Some(&from),
            to: to.as_deref(),
        };
        let (mut rows, mut complete, mut left) = (Vec::new(), true, most);
        let mut last: Vec<u8> = Vec::new();
        let spec = self.index.spec();
        (self.index.candidates()).range(range, self.direction, &mut |key, row| {
            let enough = rows.len() as u64 >= wanted;
            let equal = || key.starts_with(&last);
            if left == 0 || enough && (self.whole || !equal()) {
                complete = false;
                return false;
            }
            left -= 1;
            if is_live(version, row) {
                rows.push(row);
                if rows.len() as u64 == wanted && !self.whole {
                    last = key[..spec.bytes_of(self.columns, key)].to_vec();
                }
            }
            true
        });
        let enough = rows.len() as u64 >= wanted;
        (complete || enough && left > 0).then_some((rows, complete))
    }

    /// Whether all restrictions are among those that lead to the place where the walk begins.
    fn is_exact(&self, restrictions: &[Restriction]) -> bool {
        let given = &self.index.columns()[..self.bound.columns()];
        let first = self.index.columns().get(given.len());
        restrictions.iter().all(|r| match &r.kind {
            RestrictionKind::IsNotNull => !self.nulls && first == Some(&r.column),
            _ => {
                given.contains(&r.column) && restrictions.iter().filter(|o| o.column == r.column).count() == 1
            }
        })
    }
}

/// In which direction a part of a key gives the order of a column; `None`: NULLs lie on the wrong side.
pub(crate) fn direction_of(part: &KeyPart, wanted: &OrderColumn) -> Option<Direction> {
    let forward = part.descending == wanted.descending;
    let nulls_fit = match wanted.nulls_first {
        Some(first) if part.nullable => (part.nulls_first == first) == forward,
        _ => true,
    };
    nulls_fit.then_some(match forward {
        true => Direction::Ascending,
        false => Direction::Descending,
    })
}

/// Whether a version shows a row.
fn is_live(version: &TableSnapshot, row: RowId) -> bool {
    version.entry(row.chunk()).is_some_and(|entry| {
        let view = entry.view();
        let offset = u32::from(row.offset());
        offset < view.rows() && !view.is_deleted(offset as usize)
    })
}
