//! Bands: the conditions of a join that bound one expression of the build side from below, from above, or both.
//!
//! A join without equal keys compares each probe row with each build row. If its condition has a band, build rows are
//! sorted by the bounded expression instead. A probe row then finds the first row of its run by a binary
//! search, and walks to the end of the run:
//!
//! ```text
//! a.x between b.lo and b.hi, build side a:   key a.x, low b.lo (included), high b.hi (included)
//! a.x < b.y, build side b:                   key b.y, low a.x (not included)
//! ```
//!
//! A join with equal keys can have a band, too: its build rows are sorted by those keys first, and a run has the rows
//! of one key. If only the first matches of a probe row in the order of the band's key are wanted ([`FirstMatches`]),
//! the walk ends with them; for the last ones, build rows are sorted by that key from the greatest value down.
//!
//! `optimizer/inequality_joins.rs` decides which joins use their bands.

use crate::{ColumnId, Expr, ExprKind, SortKey};
use frazil_types::CompareOp;

/// An end of a run of build rows.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Computed for each probe row. If its value is NULL, the probe row has no match.
    pub value: Expr,
    /// True if build rows with exactly this key belong to the run.
    pub included: bool,
}

/// The ends of the run of build rows that a probe row meets. At least one of them is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// The run begins here, or at the first build row.
    pub low: Option<End>,
    /// The run ends here, or at the last build row.
    pub high: Option<End>,
}

impl Ends {
    /// The values of the ends.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        self.low.iter().chain(&self.high).map(|end| &end.value)
    }

    /// The values of the ends, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.low
            .iter_mut()
            .chain(&mut self.high)
            .map(|end| &mut end.value)
    }

    /// Number of ends: 1 or 2.
    pub fn count(&self) -> usize {
        self.values().count()
    }
}

/// A condition on pairs of rows, cut into a band and the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// An expression of the build side, by which its rows are sorted. Rows with NULL match nothing.
    pub key: Expr,
    /// Expressions of the probe side.
    pub ends: Ends,
    /// Conditions that the band does not decide.
    pub rest: Vec<Expr>,
}

/// The first matches of each probe row of an inner join: others are not given.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstMatches {
    /// The column of the build side that is the key of the band; any key if `None`.
    pub by: Option<ColumnId>,
    /// True if build rows are sorted by the key of the band from the greatest value down.
    pub descending: bool,
    /// Columns of the build side that order rows of equal keys.
    pub then: Vec<SortKey>,
    /// Matches given for a probe row, after `offset`; all if `None`.
    pub limit: Option<u64>,
    /// Matches of a probe row that are skipped.
    pub offset: u64,
}

impl FirstMatches {
    /// Matches of a probe row that are looked for, those skipped among them.
    pub fn most(&self) -> u64 {
        self.limit
            .map_or(u64::MAX, |limit| limit.saturating_add(self.offset))
    }
}

impl Band {
    /// The band of a column of the build side, if the conditions bound that column.
    pub fn on(column: ColumnId, conditions: &[Expr], build: &[ColumnId], probe: &[ColumnId]) -> Option<Band> {
        let bounds: Vec<Option<Bound>> = conditions.iter().map(|e| bound(e, build, probe)).collect();
        let key = (bounds.iter().flatten())
            .find(|bound| bound.key.as_column() == Some(column))?
            .key;
        Some(cut(conditions, &bounds, key))
    }

    /// Cuts conditions, all of which must be true, by the first key that they bound on both sides, else by the
    /// first one that they bound at all. `None` if no condition compares an expression of the build side with
    /// one of the probe side.
    pub fn of(conditions: &[Expr], build: &[ColumnId], probe: &[ColumnId]) -> Option<Band> {
        let bounds: Vec<Option<Bound>> = conditions.iter().map(|e| bound(e, build, probe)).collect();
        let keys: Vec<&Expr> = bounds.iter().flatten().map(|b| b.key).collect();
        let bands = keys.into_iter().map(|key| cut(conditions, &bounds, key));
        // The last one of equal ones would win otherwise.
        bands.rev().max_by_key(|band| band.ends.count())
    }
}

/// A comparison of a build expression with a probe expression.
struct Bound<'a> {
    key: &'a Expr,
    /// Compares the key with the value.
    op: CompareOp,
    value: &'a Expr,
}

/// A condition as a bound of a build expression.
fn bound<'a>(e: &'a Expr, build: &[ColumnId], probe: &[ColumnId]) -> Option<Bound<'a>> {
    let ExprKind::Compare(op, l, r) = &e.kind else {
        return None;
    };
    if matches!(op, CompareOp::Eq | CompareOp::Ne) || l.ty != r.ty {
        return None;
    }
    if reads_only(l, build) && reads_only(r, probe) {
        return Some(Bound {
            key: l,
            op: *op,
            value: r,
        });
    }
    (reads_only(r, build) && reads_only(l, probe)).then(|| Bound {
        key: r,
        op: op.flip(),
        value: l,
    })
}

/// True if an expression reads columns, and all of them are among `columns`.
fn reads_only(e: &Expr, columns: &[ColumnId]) -> bool {
    let read = e.columns_read();
    !read.is_empty() && read.iter().all(|id| columns.contains(id))
}

/// The band of a key. A second bound on one side of the key is left to the rest.
fn cut(conditions: &[Expr], bounds: &[Option<Bound<'_>>], key: &Expr) -> Band {
    let mut band = Band {
        key: key.clone(),
        ends: Ends::default(),
        rest: vec![],
    };
    for (condition, bound) in conditions.iter().zip(bounds) {
        let Some(bound) = bound.as_ref().filter(|b| b.key == key) else {
            band.rest.push(condition.clone());
            continue;
        };
        let end = match bound.op {
            CompareOp::Gt | CompareOp::Ge => &mut band.ends.low,
            CompareOp::Lt | CompareOp::Le | CompareOp::Eq | CompareOp::Ne => &mut band.ends.high,
        };
        if end.is_some() {
            band.rest.push(condition.clone());
            continue;
        }
        *end = Some(End {
            value: bound.value.clone(),
            included: matches!(bound.op, CompareOp::Ge | CompareOp::Le),
        });
    }
    band
}
