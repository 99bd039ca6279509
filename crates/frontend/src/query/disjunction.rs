//! What a disjunction says of each of its tables: common conjuncts, and weaker predicates that each
//! table can be filtered by before the join (Q7, Q19).

use super::expression::{and, or};
use frazil_plan::{ColumnId, Expr, ExprKind};
use std::collections::HashSet;

/// Takes out what all branches have in common: `(a and b) or (a and c)` is `a and (b or c)`.
pub(super) fn factored(e: Expr) -> Vec<Expr> {
    let ExprKind::Or(branches) = e.kind else {
        return vec![e];
    };
    let mut branches: Vec<Vec<Expr>> = branches.into_iter().map(Expr::into_conjuncts).collect();
    let mut common = Vec::new();
    let first = branches[0].clone();
    for part in first {
        if branches.iter().all(|b| b.contains(&part)) {
            for branch in &mut branches {
                branch.retain(|e| *e != part);
            }
            if !common.contains(&part) {
                common.push(part);
            }
        }
    }
    if branches.iter().any(Vec::is_empty) {
        return common;
    }
    common.push(or(branches.into_iter().map(and).collect()));
    common
}

/// What the disjunction implies for the columns of one input, if every branch says something of it.
pub(super) fn implied(e: &Expr, columns: &HashSet<ColumnId>) -> Option<Expr> {
    let ExprKind::Or(branches) = &e.kind else {
        return None;
    };
    let mut weaker = Vec::new();
    for branch in branches {
        let parts: Vec<Expr> = branch
            .clone()
            .into_conjuncts()
            .into_iter()
            .filter(|part| {
                let read = part.columns_read();
                !read.is_empty() && !part.can_fail() && read.iter().all(|c| columns.contains(c))
            })
            .collect();
        if parts.is_empty() {
            return None;
        }
        weaker.push(and(parts));
    }
    Some(or(weaker))
}
