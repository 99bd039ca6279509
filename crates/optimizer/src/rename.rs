//! Copies of operator trees with columns of their own: a tree that is read in two places of a plan makes each column
//! twice, under different ids.

use frazil_plan::operators::{Role, Shared};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, Operator, Own, OwnMut, SharedId};
use std::collections::BTreeMap;

/// New ids by old ones.
pub type Names = BTreeMap<ColumnId, ColumnId>;

/// A copy of a tree in which every column it makes has a new id, and the new ids by the old ones.
pub fn copied(op: &Operator, columns: &mut Columns) -> (Operator, Names) {
    let mut names = Names::new();
    made_anywhere(op, &mut |id| {
        let info = columns[id].clone();
        let new = columns.add(info.label, info.ty, info.nullable);
        columns[new].bounds = info.bounds;
        columns[new].observed = info.observed;
        names.insert(id, new);
    });
    let mut copy = op.clone();
    rename(&mut copy, &names);
    (copy, names)
}

/// Gives every column that a tree makes to `visit`, those that its expressions make for themselves among them.
fn made_anywhere(op: &Operator, visit: &mut dyn FnMut(ColumnId)) {
    op.makes().into_iter().for_each(&mut *visit);
    for e in op.expressions() {
        made_inside(e, visit);
    }
    for input in op.inputs() {
        made_anywhere(input, visit);
    }
}

fn made_inside(e: &Expr, visit: &mut dyn FnMut(ColumnId)) {
    match e.own() {
        Own::Makes(column) => visit(column),
        Own::Asks(subquery) => made_anywhere(subquery.root(), visit),
        Own::Reads(_) | Own::Nothing => {}
    }
    for child in e.children() {
        made_inside(child, visit);
    }
}

/// Replaces ids of columns in a tree, where they are made and where they are read.
fn rename(op: &mut Operator, names: &Names) {
    let put = |id: &mut ColumnId| *id = names.get(id).copied().unwrap_or(*id);
    op.node_mut().ids_mut(&mut |role, id| match role {
        Role::Made | Role::MadeAlready | Role::Read | Role::Passed => put(id),
        Role::Stored => {}
    });
    for e in op.expressions_mut() {
        rename_in(e, names);
    }
    for input in op.inputs_mut() {
        rename(input, names);
    }
}

/// Replaces ids of columns in an expression.
pub fn rename_in(e: &mut Expr, names: &Names) {
    let put = |id: &mut ColumnId| *id = names.get(id).copied().unwrap_or(*id);
    match e.own_mut() {
        OwnMut::Reads(id) | OwnMut::Makes(id) => put(id),
        OwnMut::Asks(subquery) => {
            rename(subquery.root_mut(), names);
            subquery.columns.iter_mut().for_each(put);
        }
        OwnMut::Nothing => {}
    }
    for child in e.children_mut() {
        rename_in(child, names);
    }
}

/// An expression with ids of columns replaced.
pub fn renamed(mut e: Expr, names: &Names) -> Expr {
    rename_in(&mut e, names);
    e
}

/// Makes a tree, subqueries in its expressions included, read shared subplans at their new places.
pub fn move_shared(op: &mut Operator, moved: &[SharedId]) {
    fn inside(e: &mut Expr, moved: &[SharedId]) {
        if let ExprKind::Subquery(subquery) = &mut e.kind {
            move_shared(subquery.root_mut(), moved);
        }
        for child in e.children_mut() {
            inside(child, moved);
        }
    }
    if moved.is_empty() {
        return;
    }
    if let Operator::Shared(Shared { id, .. }) = op {
        *id = moved[id.0];
    }
    for e in op.expressions_mut() {
        inside(e, moved);
    }
    for input in op.inputs_mut() {
        move_shared(input, moved);
    }
}
