//! All rows of several inputs.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::union;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::pipeline::PipelineOperator;
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{ColumnId, Expr};
use frazil_types::Result;

/// All rows of all inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionAll<T> {
    /// Inputs, each with the columns that become the output's, in order.
    pub inputs: Vec<(T, Vec<ColumnId>)>,
    /// The columns made.
    pub columns: Vec<ColumnId>,
}

impl<T: Tree> Node<T> for UnionAll<T> {
    fn inputs(&self) -> Vec<&T> {
        self.inputs.iter().map(|i| &i.0).collect()
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        self.inputs.iter_mut().map(|i| &mut i.0).collect()
    }

    fn passes(&self) -> Vec<&T> {
        vec![]
    }

    fn unlockable(&self) -> Option<&'static str> {
        Some("UNION/INTERSECT/EXCEPT")
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![]
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        vec![]
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.columns.iter().for_each(|id| visit(Role::Made, *id));
        self.inputs
            .iter()
            .flat_map(|i| &i.1)
            .for_each(|id| visit(Role::Read, *id));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.columns.iter_mut().for_each(|id| visit(Role::Made, id));
        self.inputs
            .iter_mut()
            .flat_map(|i| &mut i.1)
            .for_each(|id| visit(Role::Read, id));
    }

    fn at_most_one_row(&self) -> bool {
        false
    }

    fn surely_has_a_row(&self) -> bool {
        self.inputs.iter().any(|i| i.0.node().surely_has_a_row())
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.iter().all(|e| *e)
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        let kept: Vec<bool> = self.columns.iter().map(|c| needed.contains(*c)).collect();
        let keep = |ids: &mut Vec<ColumnId>| {
            let mut flags = kept.iter();
            ids.retain(|_| flags.next().copied().unwrap_or(true));
        };
        keep(&mut self.columns);
        self.inputs.iter_mut().for_each(|i| keep(&mut i.1));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        for (input, from) in &self.inputs {
            let visible = check.tree(input)?;
            if from.len() != self.columns.len() {
                return Err(defect("an input of a union has the wrong width"));
            }
            for (made, stored) in self.columns.iter().zip(from) {
                check.reads_column(*stored, &visible, "a union")?;
                check.same_type(*made, &Expr::column(*stored, check.columns()))?;
            }
        }
        check.make(self.columns.iter().copied())?;
        Ok(self.columns.iter().copied().collect())
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (i, id) in self.columns.iter().enumerate() {
            let any = self.inputs.iter().any(|(_, from)| pass.is_nullable(from[i]));
            pass.set(*id, any);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        let inputs = &mut self.inputs.iter();
        inputs.try_fold(0u64, |sum, (i, _)| sum.checked_add(of.operator(i)?))
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        inputs.iter().sum()
    }

    fn learn(&self, _inputs: &[f64], facts: &mut dyn Facts) {
        for (i, id) in self.columns.iter().enumerate() {
            if let Some((_, from)) = self.inputs.first() {
                facts.same(*id, from[i]);
            }
        }
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for (i, id) in self.columns.iter().enumerate() {
            pass.union(
                *id,
                &self.inputs.iter().map(|(_, from)| from[i]).collect::<Vec<_>>(),
            );
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let inputs: Vec<&[ColumnId]> = self.inputs.iter().map(|(_, c)| c.as_slice()).collect();
        format!("Union all {}", union(&inputs, &self.columns, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let mut all = Opened::none();
        for (input, from) in &self.inputs {
            let pairs = self.columns.iter().zip(from);
            let pairs: Vec<_> = pairs.filter(|(c, _)| needed.contains(c)).collect();
            let opened = builder.open(input, &pairs.iter().map(|p| *p.1).collect());
            let column = |(made, from): &(&ColumnId, &ColumnId)| (**made, builder.column(**from));
            let map = pairs.iter().map(column).collect();
            let rows = opened.rows;
            all.add(opened.append(PipelineOperator::Map(map), rows));
        }
        all
    }
}
