//! Classes of columns that the equalities between relations make equal.
//!
//! Queries often state an equality that follows from others: `a = b`, `b = c` and `a = c`. Once two of the relations
//! are joined, the two equalities that lead to the third keep the same rows, so an estimate that multiplies their
//! selectivities is far too small. A join counts one equality of each class.

use crate::join_graph::{Predicate, Set};
use frazil_plan::{ColumnId, ExprKind};
use std::collections::HashMap;

/// Most classes. Equalities of further classes count each by itself.
const MOST_CLASSES: usize = u64::BITS as usize;

/// The selectivities of predicates, by what joins them.
#[derive(Debug, Default)]
pub struct Selectivities(Vec<Counted>);

#[derive(Debug)]
struct Counted {
    reads: Set,
    selectivity: f64,
    /// The class of the equality's columns, as a bit; none for other predicates.
    class: u64,
}

impl Selectivities {
    /// Takes those of a region's predicates that are not weighed.
    pub fn of(predicates: &[Predicate]) -> Selectivities {
        let classes = classes(predicates);
        let counted = |(p, class): (&Predicate, u64)| Counted {
            reads: p.reads,
            selectivity: p.selectivity,
            class,
        };
        let counts = predicates.iter().zip(classes).filter(|(p, _)| !p.is_weighed);
        let mut all: Vec<Counted> = counts.map(counted).collect();
        // The columns of a class have as many values as the one that has fewest, so the equality that keeps most of the
        // rows counts.
        all.sort_by(|a, b| b.selectivity.total_cmp(&a.selectivity));
        Selectivities(all)
    }

    /// The part of the pairs of rows that a join of two sets of relations keeps.
    pub fn of_join(&self, a: Set, b: Set) -> f64 {
        let mut kept = 1.0;
        let mut counted = 0;
        for p in &self.0 {
            let is_checked = p.reads & !(a | b) == 0 && p.reads & !a != 0 && p.reads & !b != 0;
            if is_checked && p.class & counted == 0 {
                kept *= p.selectivity;
                counted |= p.class;
            }
        }
        kept
    }
}

/// The class of each predicate's columns as a bit; 0 if it is not an equality of two columns.
fn classes(predicates: &[Predicate]) -> Vec<u64> {
    let pairs: Vec<Option<[ColumnId; 2]>> = predicates.iter().map(columns_of).collect();
    let mut above: HashMap<ColumnId, ColumnId> = HashMap::new();
    for [a, b] in pairs.iter().flatten() {
        let (a, b) = (root(&above, *a), root(&above, *b));
        if a != b {
            above.insert(a, b);
        }
    }
    let mut numbers: HashMap<ColumnId, usize> = HashMap::new();
    let mut number = |column: ColumnId| {
        let next = numbers.len();
        *numbers.entry(root(&above, column)).or_insert(next)
    };
    let bit = |number: usize| if number < MOST_CLASSES { 1 << number } else { 0 };
    pairs
        .iter()
        .map(|pair| pair.map_or(0, |[a, _]| bit(number(a))))
        .collect()
}

fn root(above: &HashMap<ColumnId, ColumnId>, mut column: ColumnId) -> ColumnId {
    while let Some(next) = above.get(&column) {
        column = *next;
    }
    column
}

/// The columns that an equality compares, if it compares nothing else.
fn columns_of(predicate: &Predicate) -> Option<[ColumnId; 2]> {
    predicate.sides?;
    let ExprKind::Compare(_, l, r) = &predicate.expr.kind else {
        return None;
    };
    let (ExprKind::Column(l), ExprKind::Column(r)) = (&l.kind, &r.kind) else {
        return None;
    };
    Some([*l, *r])
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_plan::{Columns, Expr};
    use frazil_types::{CompareOp, LogicalType};

    /// Equalities between columns of relations, which have one column each, and the part of the pairs that they keep.
    fn equalities(between: &[(usize, usize, f64)]) -> Selectivities {
        let mut columns = Columns::default();
        let ids: Vec<ColumnId> = (0..8)
            .map(|i| columns.add(format!("c{i}"), LogicalType::Integer, false))
            .collect();
        let column = |i: usize| Box::new(Expr::column(ids[i], &columns));
        let predicate = |&(l, r, selectivity): &(usize, usize, f64)| Predicate {
            expr: Expr::boolean(ExprKind::Compare(CompareOp::Eq, column(l), column(r)), false),
            reads: 1 << l | 1 << r,
            sides: Some((1 << l, 1 << r)),
            selectivity,
            is_weighed: false,
        };
        let predicates: Vec<Predicate> = between.iter().map(predicate).collect();
        Selectivities::of(&predicates)
    }

    #[test]
    fn an_equality_that_follows_from_others_keeps_all() {
        let all = equalities(&[(0, 1, 0.01), (1, 2, 0.02), (0, 2, 0.04), (3, 0, 0.5)]);
        assert_eq!(all.of_join(0b011, 0b100), 0.04);
        assert_eq!(all.of_join(0b001, 0b010), 0.01);
        assert_eq!(all.of_join(0b001, 0b110), 0.04);
        assert_eq!(all.of_join(0b0111, 0b1000), 0.5);
        // Equalities of different columns count each.
        let two = equalities(&[(0, 2, 0.1), (1, 2, 0.1), (3, 5, 0.25), (4, 6, 0.5)]);
        assert_eq!(two.of_join(0b11000, 0b1100000), 0.125);
        assert_eq!(two.of_join(0b000011, 0b000100), 0.1);
        assert_eq!(two.of_join(0b000001, 0b100000), 1.0);
    }
}
