//! What a compiled plan relies on: facts about tables that held when it was made. While all of them hold in the
//! view a statement reads, the plan gives that statement's answer, whatever else has changed.
//!
//! Ranges and numbers of rows are rounded outward, so that a table that grows a little does not invalidate its plans.
//! [`Grid`] says how far.

use crate::Bounds;
use frazil_types::ObjectId;

/// A fact that a plan relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// Every value of the column that is not NULL lies in the range: checks were left out for it, values are held in
    /// fewer bits, groups are addressed by it.
    Bounds {
        /// The table.
        table: ObjectId,
        /// The column's position in it.
        column: usize,
        /// The range, inclusive.
        bounds: Bounds,
    },
    /// No value of the column is NULL: generated code reads no validity.
    NotNull {
        /// The table.
        table: ObjectId,
        /// The column's position in it.
        column: usize,
    },
    /// The table shows at most so many rows: sums and counts are held in fewer bits.
    Rows {
        /// The table.
        table: ObjectId,
        /// The most rows.
        ceiling: u64,
    },
}

impl Assumption {
    /// The table it speaks of.
    pub fn table(&self) -> ObjectId {
        match *self {
            Assumption::Bounds { table, .. }
            | Assumption::NotNull { table, .. }
            | Assumption::Rows { table, .. } => table,
        }
    }
}

/// How far ranges are rounded outward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// To powers of two of the magnitude: bounds are left once per doubling.
    Powers,
    /// To eighths of them: nearer, and left more often.
    Eighths,
    /// Not at all.
    Exact,
}

impl Grid {
    /// All, the widest first.
    pub const ALL: [Grid; 3] = [Grid::Powers, Grid::Eighths, Grid::Exact];

    /// The smallest range of the grid that holds `bounds`.
    pub fn around(self, bounds: Bounds) -> Bounds {
        let outward = |v: i128, away_from_zero: bool| {
            let magnitude = if away_from_zero {
                self.up(v.unsigned_abs())
            } else {
                self.down(v.unsigned_abs())
            };
            if v < 0 {
                0i128.checked_sub_unsigned(magnitude).unwrap_or(i128::MIN)
            } else {
                0i128.checked_add_unsigned(magnitude).unwrap_or(i128::MAX)
            }
        };
        Bounds {
            min: outward(bounds.min, bounds.min < 0),
            max: outward(bounds.max, bounds.max > 0),
        }
    }

    /// The step of the grid at a magnitude; 1 where the grid has every number.
    fn step(self, magnitude: u128) -> u128 {
        let highest = 127 - magnitude.max(1).leading_zeros();
        match self {
            Grid::Powers => 1 << highest,
            Grid::Eighths => 1 << highest.saturating_sub(3),
            Grid::Exact => 1,
        }
    }

    /// The last number before the grid's next point: of 5, the numbers below 8.
    fn up(self, magnitude: u128) -> u128 {
        let step = self.step(magnitude);
        (magnitude / step + 1).saturating_mul(step) - 1
    }

    /// The grid's point at or before it.
    fn down(self, magnitude: u128) -> u128 {
        let step = self.step(magnitude);
        magnitude / step * step
    }
}

/// Small tables are not told apart: up to so many rows are one ceiling.
const LEAST_CEILING: u64 = 1024;

/// The number of rows that a plan over a table of `rows` rows relies on.
pub fn ceiling_of_rows(rows: u64) -> u64 {
    rows.max(LEAST_CEILING)
        .checked_next_power_of_two()
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(grid: Grid, min: i128, max: i128) -> (i128, i128) {
        let b = grid.around(Bounds { min, max });
        (b.min, b.max)
    }

    #[test]
    fn ranges_grow_outward() {
        assert_eq!(around(Grid::Powers, 5, 9), (4, 15));
        assert_eq!(around(Grid::Powers, 0, 0), (0, 0));
        assert_eq!(around(Grid::Powers, -5, -3), (-7, -2));
        assert_eq!(around(Grid::Powers, -1, 4), (-1, 7));
        assert_eq!(around(Grid::Eighths, 65, 82), (64, 87));
        assert_eq!(around(Grid::Eighths, 3, 15), (3, 15));
        assert_eq!(around(Grid::Exact, -65, 82), (-65, 82));
    }

    #[test]
    fn every_grid_holds_what_it_rounds_and_stays_where_it_is() {
        let edges = [
            0,
            1,
            2,
            7,
            8,
            1000,
            i128::from(i64::MAX),
            i128::MAX - 1,
            i128::MAX,
        ];
        let values: Vec<i128> = edges.iter().flat_map(|&v| [v, -v]).chain([i128::MIN]).collect();
        for grid in Grid::ALL {
            for &min in &values {
                for &max in values.iter().filter(|&&max| max >= min) {
                    let b = Bounds { min, max };
                    let wide = grid.around(b);
                    assert!(b.within(wide), "{grid:?} {b:?} {wide:?}");
                    assert_eq!(grid.around(wide), wide, "{grid:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn ceilings_are_powers_of_two() {
        assert_eq!(
            [0, 1024, 1025, 6_000_000].map(ceiling_of_rows),
            [1024, 1024, 2048, 1 << 23]
        );
        assert_eq!(ceiling_of_rows(u64::MAX), u64::MAX);
    }
}
