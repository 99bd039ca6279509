//! Making a join of a condition: which conjuncts are hash keys, which belong to one side.

use super::relation::filtered;
use frazil_plan::{ColumnId, Expr, ExprKind, JoinKind, Operator};
use frazil_types::CompareOp;
use std::collections::HashSet;

/// Which side of a join an expression reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reads {
    Nothing,
    Build,
    Probe,
    Both,
}

/// Which columns it reads: `build`, `probe` (anything else), both or none.
pub(super) fn reads(e: &Expr, build: &HashSet<ColumnId>) -> Reads {
    let mut out = Reads::Nothing;
    e.walk(&mut |e| {
        if let ExprKind::Column(id) = e.kind {
            let side = if build.contains(&id) {
                Reads::Build
            } else {
                Reads::Probe
            };
            out = match out {
                Reads::Nothing => side,
                same if same == side => same,
                _ => Reads::Both,
            };
        }
    });
    out
}

/// The sides of an equality, build side first, if it can be a hash key.
pub(super) fn as_key(e: &Expr, build: &HashSet<ColumnId>) -> Option<(Expr, Expr)> {
    let ExprKind::Compare(CompareOp::Eq, l, r) = &e.kind else {
        return None;
    };
    match (reads(l, build), reads(r, build)) {
        (Reads::Build, Reads::Probe) => Some(((**l).clone(), (**r).clone())),
        (Reads::Probe, Reads::Build) => Some(((**r).clone(), (**l).clone())),
        _ => None,
    }
}

/// A join on a conjunction. Conjuncts on the build side alone filter it, where the kind allows.
pub(super) fn build(kind: JoinKind, build: Operator, probe: Operator, conjuncts: Vec<Expr>) -> Operator {
    let columns: HashSet<ColumnId> = build.visible().into_iter().collect();
    let filters_build = !matches!(
        kind,
        JoinKind::BuildOuter | JoinKind::FullOuter | JoinKind::BuildAnti
    );
    let (mut keys, mut residual, mut below) = (Vec::new(), Vec::new(), Vec::new());
    for conjunct in conjuncts {
        if let Some(key) = as_key(&conjunct, &columns) {
            keys.push(key);
        } else if filters_build && reads(&conjunct, &columns) == Reads::Build {
            below.push(conjunct);
        } else {
            residual.push(conjunct);
        }
    }
    Operator::Join {
        kind,
        build: Box::new(filtered(build, below)),
        probe: Box::new(probe),
        keys,
        residual: Expr::conjunction(residual),
        null_aware: false,
    }
}
