//! A union of unions is one union: else the rows of the innermost of many would be renamed once for each around them.

use frazil_plan::operators::UnionAll;
use frazil_plan::{ColumnId, Operator, Plan};
use std::collections::HashMap;

/// Joins nested unions of a plan without subqueries in its expressions.
pub fn plan(plan: &mut Plan) {
    plan.trees_mut().0.for_each(operator);
}

fn operator(op: &mut Operator) {
    if let Operator::UnionAll(UnionAll { inputs, .. }) = op {
        let mut open: Vec<_> = inputs.drain(..).rev().collect();
        while let Some((input, read)) = open.pop() {
            let Operator::UnionAll(UnionAll {
                inputs: inner,
                columns,
            }) = input
            else {
                inputs.push((input, read));
                continue;
            };
            let at: HashMap<ColumnId, usize> = columns.iter().enumerate().map(|(i, id)| (*id, i)).collect();
            let through = |ids: &[ColumnId]| read.iter().map(|id| ids[at[id]]).collect();
            open.extend(inner.into_iter().rev().map(|(op, ids)| {
                let ids = through(&ids);
                (op, ids)
            }));
        }
    }
    op.inputs_mut().into_iter().for_each(operator);
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_plan::Columns;
    use frazil_plan::operators::Values;
    use frazil_types::LogicalType;

    #[test]
    fn columns_are_those_of_the_innermost_inputs() {
        let mut columns = Columns::default();
        let mut id = |name: &str| columns.add(name, LogicalType::Integer, false);
        let rows = |columns: &[ColumnId]| {
            Operator::Values(Values {
                columns: columns.to_vec(),
                rows: vec![],
            })
        };
        let (a, b, c, d, e, f, g) = (id("a"), id("b"), id("c"), id("d"), id("e"), id("f"), id("g"));
        let inner = Operator::UnionAll(UnionAll {
            inputs: vec![(rows(&[a, b]), vec![a, b]), (rows(&[c, d]), vec![d, c])],
            columns: vec![e, f],
        });
        let mut outer = Operator::UnionAll(UnionAll {
            inputs: vec![(inner, vec![f]), (rows(&[a]), vec![a])],
            columns: vec![g],
        });
        operator(&mut outer);
        let expected = Operator::UnionAll(UnionAll {
            inputs: vec![
                (rows(&[a, b]), vec![b]),
                (rows(&[c, d]), vec![c]),
                (rows(&[a]), vec![a]),
            ],
            columns: vec![g],
        });
        assert_eq!(outer, expected);
    }
}
