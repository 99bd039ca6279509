//! Whether two expressions are the same though they were bound one after the other.

use crate::operators::{RecursionId, Role};
use crate::vector_function::VectorFunctionRef;
use crate::{ColumnId, Expr, ExprKind, Operator, Own, OwnMut};
use std::collections::HashMap;

/// Whether two expressions compute the same: equal but for the columns and rows of recursions that they make for themselves, in a Let
/// or a subquery, and but for what makes each call of a volatile function one of its own.
pub fn same(a: &Expr, b: &Expr) -> bool {
    if a.ty != b.ty || std::mem::discriminant(&a.kind) != std::mem::discriminant(&b.kind) {
        return false;
    }
    if a == b {
        return true;
    }
    let (mut ours, mut theirs) = (Owned::default(), Owned::default());
    ours.add(a);
    if ours.is_empty() {
        return false;
    }
    theirs.add(b);
    let Some(mut renamed) = Renamed::of(ours, theirs) else {
        return false;
    };
    let mut b = b.clone();
    renamed.rename(&mut b);
    *a == b
}

/// What an expression has of its own, in the order in which it stands there.
#[derive(Default)]
struct Owned {
    columns: Vec<ColumnId>,
    recursions: Vec<RecursionId>,
    calls: Vec<VectorFunctionRef>,
}

impl Owned {
    fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.recursions.is_empty() && self.calls.is_empty()
    }

    fn add(&mut self, e: &Expr) {
        match e.own() {
            Own::Makes(column) => self.columns.push(column),
            Own::Asks(subquery) => self.add_tree(subquery.root()),
            Own::Reads(_) | Own::Nothing => {}
        }
        if let ExprKind::VectorFunction(f, _) = &e.kind
            && f.0.is_volatile()
        {
            self.calls.push(f.clone());
        }
        for child in e.children() {
            self.add(child);
        }
    }

    fn add_tree(&mut self, op: &Operator) {
        self.columns.extend(op.makes());
        self.recursions.extend(op.node().recursion());
        for e in op.expressions() {
            self.add(e);
        }
        for input in op.inputs() {
            self.add_tree(input);
        }
    }
}

/// What stands for what the second of two expressions has of its own: the same of the first.
struct Renamed {
    columns: HashMap<ColumnId, ColumnId>,
    recursions: HashMap<RecursionId, RecursionId>,
    /// Of the calls that are still to come.
    calls: std::vec::IntoIter<VectorFunctionRef>,
}

impl Renamed {
    /// `None` where one has more than the other, or calls other functions.
    fn of(ours: Owned, theirs: Owned) -> Option<Renamed> {
        let names = |own: &Owned| {
            own.calls
                .iter()
                .map(|f| f.0.name().to_owned())
                .collect::<Vec<_>>()
        };
        let alike = ours.columns.len() == theirs.columns.len()
            && ours.recursions.len() == theirs.recursions.len()
            && names(&ours) == names(&theirs);
        alike.then(|| Renamed {
            columns: theirs.columns.into_iter().zip(ours.columns).collect(),
            recursions: theirs.recursions.into_iter().zip(ours.recursions).collect(),
            calls: ours.calls.into_iter(),
        })
    }

    fn put(&self, id: &mut ColumnId) {
        *id = self.columns.get(id).copied().unwrap_or(*id);
    }

    fn put_recursion(&self, id: &mut RecursionId) {
        *id = self.recursions.get(id).copied().unwrap_or(*id);
    }

    fn rename(&mut self, e: &mut Expr) {
        match e.own_mut() {
            OwnMut::Reads(id) | OwnMut::Makes(id) => self.put(id),
            OwnMut::Asks(subquery) => {
                subquery.columns.iter_mut().for_each(|id| self.put(id));
                self.rename_tree(subquery.root_mut());
            }
            OwnMut::Nothing => {}
        }
        if let ExprKind::VectorFunction(f, _) = &mut e.kind
            && f.0.is_volatile()
            && let Some(ours) = self.calls.next()
        {
            *f = ours;
        }
        for child in e.children_mut() {
            self.rename(child);
        }
    }

    fn rename_tree(&mut self, op: &mut Operator) {
        op.node_mut().ids_mut(&mut |role, id| match role {
            Role::Made | Role::MadeAlready | Role::Read | Role::Passed => self.put(id),
            Role::Stored => {}
        });
        if let Some(id) = op.node_mut().recursion_mut() {
            self.put_recursion(id);
        }
        for e in op.expressions_mut() {
            self.rename(e);
        }
        for input in op.inputs_mut() {
            self.rename_tree(input);
        }
    }
}
