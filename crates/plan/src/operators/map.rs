//! Computed columns.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::assignments;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::pipeline::PipelineOperator;
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Expr};
use frazil_types::Result;

/// Adds computed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<T> {
    /// Input.
    pub input: Box<T>,
    /// New columns and what they are; later ones may read earlier ones.
    pub expressions: Vec<(ColumnId, Expr)>,
}

impl<T: Tree> Node<T> for Map<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn expressions(&self) -> Vec<&Expr> {
        self.expressions.iter().map(|e| &e.1).collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        self.expressions.iter_mut().map(|e| &mut e.1).collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.expressions.iter().for_each(|e| visit(Role::Made, e.0));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.expressions
            .iter_mut()
            .for_each(|e| visit(Role::Made, &mut e.0));
    }

    fn at_most_one_row(&self) -> bool {
        self.input.node().at_most_one_row()
    }

    fn surely_has_a_row(&self) -> bool {
        self.input.node().surely_has_a_row()
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        // Later expressions may read earlier ones.
        for (id, e) in self.expressions.iter().rev() {
            if needed.contains(*id) {
                needed.add(&e.columns_read());
            }
        }
        self.expressions.retain(|e| needed.contains(e.0));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let mut visible = check.tree(&*self.input)?;
        for (id, e) in &self.expressions {
            check.reads(e, &visible, "a map")?;
            check.same_type(*id, e)?;
            check.make([*id])?;
            visible.insert(*id);
        }
        Ok(visible)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (id, e) in &mut self.expressions {
            pass.expression(e);
            pass.set(*id, e.nullable);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        of.operator(&self.input)
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        inputs[0]
    }

    fn learn(&self, _inputs: &[f64], facts: &mut dyn Facts) {
        for (id, e) in &self.expressions {
            facts.computed(*id, e);
        }
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for (id, e) in &self.expressions {
            pass.computed(*id, e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Map {}", assignments(&self.expressions, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        // Later expressions may read earlier ones: walk backwards to keep what is read.
        let mut below = needed.clone();
        let mut kept = Vec::new();
        for (id, e) in self.expressions.iter().rev() {
            if below.remove(id) {
                below.extend(e.columns_read());
                kept.push((*id, e.clone()));
            }
        }
        kept.reverse();
        let opened = builder.open(&self.input, &below);
        let rows = opened.rows;
        match kept.is_empty() {
            true => opened,
            false => opened.append(PipelineOperator::Map(kept), rows),
        }
    }
}
