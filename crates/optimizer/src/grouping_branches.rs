//! The rows of grouping sets put together: each set's are those of an aggregation, with NULL in the columns of the groups that it
//! lacks, and `grouping(…)` is a constant in them.

use crate::rename::copied;
use frazil_plan::operators::{Aggregate, GroupingSets, Map, UnionAll, grouping_value};
use frazil_plan::{ColumnId, Columns, Expr, Operator};
use frazil_types::Value;

/// Each set as an aggregation of its own over a copy of the input, put together: what is correlated cannot be shared.
pub fn apart(sets: GroupingSets, columns: &mut Columns) -> Operator {
    let mut branches = Branches::of(&sets);
    for set in &sets.sets {
        let whole = Operator::Aggregate(sets.all.clone());
        let (copy, names) = copied(&whole, columns);
        let Operator::Aggregate(Aggregate {
            input,
            groups,
            aggregates,
        }) = copy
        else {
            unreachable!("a copy that is another operator")
        };
        let groups: Vec<(ColumnId, Expr)> = set.iter().map(|at| groups[*at].clone()).collect();
        let made = Made {
            groups: groups.iter().map(|g| g.0).collect(),
            values: aggregates.iter().map(|a| Expr::column(a.0, columns)).collect(),
        };
        debug_assert!(sets.all.aggregates.iter().all(|a| names.contains_key(&a.0)));
        let op = Operator::Aggregate(Aggregate {
            input,
            groups,
            aggregates,
        });
        branches.add(op, set, made, &sets, columns);
    }
    branches.together()
}

/// Rows of sets that are put together.
pub struct Branches {
    inputs: Vec<(Operator, Vec<ColumnId>)>,
    columns: Vec<ColumnId>,
}

/// What an aggregation by a set made.
pub struct Made {
    /// The groups, those of the set.
    pub groups: Vec<ColumnId>,
    /// The aggregates, all of them.
    pub values: Vec<Expr>,
}

impl Branches {
    /// No rows yet.
    pub fn of(sets: &GroupingSets) -> Branches {
        let groups = sets.all.groups.iter().map(|g| g.0);
        let aggregates = sets.all.aggregates.iter().map(|a| a.0);
        let grouping = sets.grouping.iter().map(|g| g.0);
        Branches {
            inputs: Vec::with_capacity(sets.sets.len()),
            columns: groups.chain(aggregates).chain(grouping).collect(),
        }
    }

    /// Adds the rows of a set, with NULL in place of what it does not group by.
    pub fn add(&mut self, op: Operator, set: &[usize], made: Made, of: &GroupingSets, columns: &mut Columns) {
        let mut computed = Vec::new();
        let mut compute = |label: &str, e: Expr, columns: &mut Columns| {
            let id = columns.add(label, e.ty, e.nullable);
            computed.push((id, e));
            id
        };
        let mut from = Vec::with_capacity(self.columns.len());
        for (at, (id, e)) in of.all.groups.iter().enumerate() {
            from.push(match set.binary_search(&at) {
                Ok(place) => made.groups[place],
                Err(_) => {
                    let label = columns[*id].label.clone();
                    compute(&label, Expr::constant(Value::Null, e.ty), columns)
                }
            });
        }
        for ((id, _), value) in of.all.aggregates.iter().zip(made.values) {
            from.push(value.as_column().unwrap_or_else(|| {
                let label = columns[*id].label.clone();
                compute(&label, value, columns)
            }));
        }
        for (_, arguments) in &of.grouping {
            from.push(compute("grouping", grouping_value(set, arguments), columns));
        }
        self.inputs.push((Map::above(op, computed), from));
    }

    /// All of them.
    pub fn together(self) -> Operator {
        Operator::UnionAll(UnionAll {
            inputs: self.inputs,
            columns: self.columns,
        })
    }
}
