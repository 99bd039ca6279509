//! The rows for which an expression with subqueries is computed, and the conditions that its parts stand behind: OR
//! asks its second part for rows whose first part is not true, CASE a branch for rows that no branch before it took.
//!
//! A subquery copies its guards into its domain, and reads the outer rows once more. The n-th part of COALESCE has
//! n - 1 guards and n - 1 values beside it, so that a long list would take memory by its square. Two things keep it
//! small. A few guards are *folded*: their conjunction becomes a column of the rows, and the parts behind them read the
//! column. A second reading takes only the columns that somebody reads.

use super::{Unnesting, mapped};
use crate::can_fail::may_fail;
use crate::pushdown::take;
use frazil_plan::{ColumnId, Expr, Operator};
use std::collections::BTreeSet;

/// Most guards that a subquery copies. More are folded into one, if they cannot fail.
const MOST_COPIED: usize = 4;

/// Rows for which an expression is computed, and what holds wherever it is.
pub struct Site {
    /// The rows, with what subqueries added to them.
    pub op: Operator,
    /// Conditions on them. What may fail is computed for rows that pass them all.
    pub guards: Guards,
    /// Columns of the rows that expressions may read: those the rows had at first, values of subqueries, mapped ones.
    kept: BTreeSet<ColumnId>,
}

/// Outer rows, as a subquery asks for them. The subquery may change `op` into a reading of a shared subplan.
pub struct Outer<'a> {
    pub op: &'a mut Operator,
    /// Conditions on the rows. What may fail is computed for rows that pass them all.
    pub guards: Vec<Expr>,
    /// Columns that stay in `op` if it becomes a reading. `None`: all.
    pub kept: Option<&'a BTreeSet<ColumnId>>,
}

impl<'a> Outer<'a> {
    /// All rows and columns of a tree.
    pub fn all(op: &'a mut Operator) -> Outer<'a> {
        Outer {
            op,
            guards: vec![],
            kept: None,
        }
    }
}

impl Site {
    pub fn new(op: Operator) -> Site {
        Site {
            kept: op.visible().into_iter().collect(),
            op,
            guards: Guards::default(),
        }
    }

    /// The site's rows for a subquery that stands behind its guards.
    pub fn outer(&mut self) -> Outer<'_> {
        Outer {
            op: &mut self.op,
            guards: self.guards.conjuncts(),
            kept: Some(&self.kept),
        }
    }

    /// Adds computed columns to the rows.
    pub fn map(&mut self, expressions: Vec<(ColumnId, Expr)>) {
        self.kept.extend(expressions.iter().map(|e| e.0));
        self.op = mapped(take(&mut self.op), expressions);
    }

    /// Keeps the columns that a value reads, which a subquery added to the rows.
    pub fn keep(&mut self, value: &Expr) {
        self.kept.extend(value.columns_read());
    }
}

/// Conditions on the rows of a site, outermost first.
#[derive(Default)]
pub struct Guards(Vec<Guard>);

struct Guard {
    condition: Expr,
    /// A column of the site's rows that is true where this guard and all before it hold.
    folded: Option<Expr>,
}

impl Guards {
    /// Adds a condition behind those that are there.
    pub fn push(&mut self, condition: Expr) {
        self.0.push(Guard {
            condition,
            folded: None,
        });
    }

    /// Number of conditions: what `truncate` takes to go back to this state.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Drops all conditions behind the first `depth`.
    pub fn truncate(&mut self, depth: usize) {
        self.0.truncate(depth);
    }

    /// True if every row of the site counts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Conjuncts that are all true for rows that pass the guards: folded ones as one column.
    pub fn conjuncts(&self) -> Vec<Expr> {
        let last = self.0.iter().rposition(|guard| guard.folded.is_some());
        let folded = last.and_then(|at| self.0[at].folded.clone());
        let rest = &self.0[last.map_or(0, |at| at + 1)..];
        let rest = rest.iter().map(|guard| guard.condition.clone());
        folded.into_iter().chain(rest).collect()
    }
}

impl Unnesting<'_> {
    /// Folds a site's guards into a column of its rows if there are many of them, and none may fail.
    pub(super) fn fold_guards(&mut self, site: &mut Site) {
        let conjuncts = site.guards.conjuncts();
        if conjuncts.len() <= MOST_COPIED || conjuncts.iter().any(|e| may_fail(e, self.columns)) {
            return;
        }
        let nullable = conjuncts.iter().any(|e| e.nullable);
        let mark = self.columns.add_mark("reached", nullable);
        if let Some(reached) = Expr::conjunction(conjuncts) {
            site.map(vec![(mark, reached)]);
            let folded = Some(Expr::column(mark, self.columns));
            site.guards.0.last_mut().expect("a conjunct is a guard's").folded = folded;
        }
    }
}
