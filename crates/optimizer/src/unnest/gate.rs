//! What may fail is computed only where somebody asks. A part of a subquery that depends on no outer row is computed
//! once for all of them; if it may fail, it stands above a *gate*: one row without columns if there is an outer row
//! that passes the guards, else none.

use super::domain::Domain;
use super::{Unnesting, first_row, join, mapped};
use crate::can_fail::may_fail;
use crate::pushdown::take;
use crate::rename::{Names, copied};
use frazil_plan::operators::{Join, Shared, UnionAll, Values};
use frazil_plan::{ColumnId, Expr, JoinKind, Operator, SharedId};

/// What becomes of a tree behind a closed gate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It has no row.
    Empty,
    /// It may have rows, which nobody asks for.
    Any,
}

/// A shared subplan behind the gates of a domain.
pub struct GatedShared {
    /// The subplan without gates.
    of: SharedId,
    /// The one with gates.
    id: SharedId,
    /// Its columns by those of the one without.
    names: Names,
    closed: Closed,
}

impl Unnesting<'_> {
    /// Whether any expression of a tree may fail, those of the subplans that it reads among them.
    pub(super) fn tree_may_fail(&self, op: &Operator) -> bool {
        let may_fail = |id: &SharedId| self.shared_may_fail.get(id.0).copied().unwrap_or(false);
        let shared = matches!(op, Operator::Shared(Shared { id, .. }) if may_fail(id));
        shared || self.own_may_fail(op) || op.inputs().into_iter().any(|input| self.tree_may_fail(input))
    }

    fn own_may_fail(&self, op: &Operator) -> bool {
        // Numbers of buckets and rows may be too small, offsets negative, sums too large, steps 0.
        let of_rows = matches!(op, Operator::Expand(expand) if expand.expansion.may_fail());
        of_rows
            || matches!(op, Operator::Window(_))
            || op.expressions().into_iter().any(|e| may_fail(e, self.columns))
    }

    /// A new shared subplan.
    pub(super) fn share(&mut self, tree: Operator) -> SharedId {
        self.shared_may_fail.push(self.tree_may_fail(&tree));
        self.shared.push(tree);
        SharedId(self.shared.len() - 1)
    }

    /// A tree in which all that may fail stands above a gate of the domain.
    pub(super) fn gated(&mut self, op: Operator, domain: &mut Domain) -> (Operator, Closed) {
        match self.tree_may_fail(&op) {
            true => self.behind_gates(op, domain),
            false => (op, Closed::Any),
        }
    }

    fn behind_gates(&mut self, op: Operator, domain: &mut Domain) -> (Operator, Closed) {
        let fails = self.own_may_fail(&op);
        if let Operator::Values(Values { columns, rows }) = op {
            return (self.gated_values(columns, rows, domain), Closed::Empty);
        }
        if let Operator::Shared(Shared { id, columns }) = op {
            return self.gated_shared(id, columns, domain);
        }
        let mut op = op;
        let mut empty = Vec::new();
        for input in op.inputs_mut() {
            let (gated, closed) = self.gated(take(input), domain);
            *input = gated;
            empty.push(closed == Closed::Empty);
        }
        let closed = rows_when(&op, &empty);
        // Keys are computed for rows of either side, conditions for pairs of rows.
        let of_keys = matches!(&op, Operator::Join(Join { keys, .. })
            if keys.iter().any(|(b, p)| may_fail(b, self.columns) || may_fail(p, self.columns)));
        let asked = match of_keys {
            true => empty.iter().all(|e| *e),
            false => empty.iter().any(|e| *e),
        };
        if !fails || asked {
            return (op, closed);
        }
        for (input, empty) in op.inputs_mut().into_iter().zip(&mut empty).rev() {
            if !std::mem::replace(empty, true) {
                *input = self.behind_gate(take(input), domain);
            }
            if !of_keys {
                break;
            }
        }
        let closed = rows_when(&op, &empty);
        (op, closed)
    }

    /// The rows of a shared subplan, which others may read behind other gates or none: of a subplan of its own, or a copy
    /// where the gates depend on columns further out.
    fn gated_shared(
        &mut self,
        id: SharedId,
        columns: Vec<(ColumnId, ColumnId)>,
        domain: &mut Domain,
    ) -> (Operator, Closed) {
        let known = domain.gated.iter().position(|g| g.of == id);
        let at = match known {
            Some(at) => at,
            None => {
                let (copy, names) = copied(&self.shared[id.0], self.columns);
                let (tree, closed) = self.behind_gates(copy, domain);
                if !domain.is_shared() {
                    let read = (columns.into_iter())
                        .map(|(made, stored)| (made, Expr::column(names[&stored], self.columns)))
                        .collect();
                    return (mapped(tree, read), closed);
                }
                let gated = GatedShared {
                    of: id,
                    id: self.share(tree),
                    names,
                    closed,
                };
                domain.gated.push(gated);
                domain.gated.len() - 1
            }
        };
        let gated = &domain.gated[at];
        let columns = columns
            .into_iter()
            .map(|(made, stored)| (made, gated.names[&stored]));
        let op = Operator::Shared(Shared {
            id: gated.id,
            columns: columns.collect(),
        });
        (op, gated.closed)
    }

    /// A tree's rows if the gate is open.
    fn behind_gate(&mut self, op: Operator, domain: &mut Domain) -> Operator {
        join(JoinKind::Inner, self.gate(domain), op, vec![])
    }

    fn gate(&mut self, domain: &mut Domain) -> Operator {
        let rows = self.reading(domain).op;
        match domain.has_columns() {
            true => first_row(rows),
            false => rows,
        }
    }

    fn gated_values(
        &mut self,
        columns: Vec<ColumnId>,
        rows: Vec<Vec<Expr>>,
        domain: &mut Domain,
    ) -> Operator {
        let mut inputs = Vec::new();
        for row in rows {
            let mut made = Vec::new();
            for id in &columns {
                let info = self.columns[*id].clone();
                made.push(self.columns.add(info.label, info.ty, info.nullable));
            }
            let cells = made.iter().copied().zip(row).collect();
            inputs.push((mapped(self.gate(domain), cells), made));
        }
        Operator::UnionAll(UnionAll { inputs, columns })
    }
}

/// What an operator gives where the inputs marked are empty.
fn rows_when(op: &Operator, empty: &[bool]) -> Closed {
    match op.node().is_empty_where(empty) {
        true => Closed::Empty,
        false => Closed::Any,
    }
}
