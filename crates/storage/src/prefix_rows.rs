//! Few rows of a table, found by values for the first columns of an index, as a statement needs that reads the lines of
//! an order. No scan is opened, and the memory of the ids serves the next statement.
//!
//! If the rows are wanted in the order of the index's next columns, the walk along the index ends with the last row
//! that is wanted. Entries of rows that the version does not show are passed over, up to a bound: a scan finds its rows
//! among many dead ones more quickly.

use crate::first_rows::{OrderColumn, direction_of};
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndex;
use frazil_index::{Direction, KeyRange};
use frazil_types::key_encoding::after_prefix;
use frazil_types::{ObjectId, RowId};

/// Rows that are fetched one by one at most. A scan costs less for each row, but more to begin.
pub(crate) const FEW_ROWS: usize = 64;
/// Entries of rows that are not shown beside those that are.
const MOST_PASSED_OVER: usize = 256;

/// The way in which an index gives the rows that have values for some columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixWalk {
    index: ObjectId,
    /// Positions in the table of the columns that have values, in the order of the index.
    columns: Vec<usize>,
    /// In which direction the index has the wanted order. `None`: all rows are wanted.
    direction: Option<Direction>,
    /// Marks the keys whose column behind the prefix has a value, if rows with NULL are not wanted.
    marker: Option<u8>,
}

impl PrefixWalk {
    /// The walk along an index for rows with values for `given` columns, which are positions in the table; `None` if
    /// the columns are not the first ones of an index. With an order, the index must have it behind these columns.
    pub fn of(version: &TableSnapshot, given: &[usize], order: Option<&[OrderColumn]>) -> Option<PrefixWalk> {
        let mut indexes = version.indexes().iter();
        indexes.find_map(|index| PrefixWalk::along(index, given, order))
    }

    fn along(index: &TableIndex, given: &[usize], order: Option<&[OrderColumn]>) -> Option<PrefixWalk> {
        let columns = index.columns().get(..given.len())?;
        if given.is_empty() || !given.iter().all(|column| columns.contains(column)) {
            return None;
        }
        let mut parts = (index.spec().parts().iter().zip(index.columns())).skip(columns.len());
        let (mut direction, mut marker) = (None, None);
        // A column that has one value orders nothing.
        for wanted in order
            .into_iter()
            .flatten()
            .filter(|o| !columns.contains(&o.column))
        {
            let (part, _) = parts.next().filter(|(_, column)| **column == wanted.column)?;
            let own = direction_of(part, wanted)?;
            if direction.is_some_and(|direction| direction != own) {
                return None;
            }
            if direction.is_none() && wanted.nulls_first.is_none() {
                marker = part.value_marker();
            }
            direction = Some(own);
        }
        Some(PrefixWalk {
            index: index.entry().id,
            columns: columns.to_vec(),
            direction: order.map(|_| direction.unwrap_or(Direction::Ascending)),
            marker,
        })
    }

    /// Positions in the table of the columns whose values make the prefix, in the order of the index.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// True if the walk gives the first rows of an order, and not all rows.
    pub fn is_ordered(&self) -> bool {
        self.direction.is_some()
    }

    /// The index; `None` if the version does not have it.
    pub fn index<'t>(&self, version: &'t TableSnapshot) -> Option<&'t TableIndex> {
        version.indexes().find(self.index).map(|index| &**index)
    }
}

impl TableSnapshot {
    /// Puts the ids of the rows that a walk gives into `rows`, which is cleared before: all rows whose keys begin with
    /// `prefix`, or the first `wanted` in the order of the walk. They are sorted by id. False if that would take too
    /// long; `rows` is of no use then.
    pub fn few_rows(
        &self,
        walk: &PrefixWalk,
        index: &TableIndex,
        prefix: &mut Vec<u8>,
        wanted: usize,
        rows: &mut Vec<RowId>,
    ) -> bool {
        rows.clear();
        let most = wanted.min(FEW_ROWS);
        prefix.extend(walk.marker);
        let from = prefix.len();
        prefix.extend_from_within(..);
        let mut to = prefix.split_off(from);
        let range = KeyRange {
            from: Some(&prefix[..]),
            to: after_prefix(&mut to).then_some(&to[..]),
        };
        let (mut passed_over, mut is_few) = (0, true);
        let direction = walk.direction.unwrap_or(Direction::Ascending);
        (index.candidates()).range(range, direction, &mut |_, row| {
            if !self.shows(row) {
                passed_over += 1;
                is_few = passed_over <= MOST_PASSED_OVER;
                return is_few;
            }
            if rows.len() == most {
                // One more row than are wanted, or than are few.
                is_few = most == wanted;
                return false;
            }
            rows.push(row);
            rows.len() < wanted
        });
        if is_few {
            rows.sort_unstable();
            index.count_use();
        }
        is_few
    }
}
