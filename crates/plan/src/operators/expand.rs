//! Rows of functions: generate_series and its like.

use super::node::{Needed, Node, Tree, visible};
use crate::Columns;
use crate::display_expression::Names;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::pipeline::{PipelineOperator, Source};
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{ColumnId, Expansion, Expr, RowsFunction};
use frazil_types::Result;

/// Gives each row of its input as often as functions give rows for it, with what they give.
#[derive(Clone, Debug, PartialEq)]
pub struct Expand<T> {
    /// Input.
    pub input: Box<T>,
    /// The functions.
    pub expansion: Expansion,
}

impl<T: Tree> Expand<T> {
    /// True if it has no input but one row without columns, and the arguments are known before it runs: then it is where rows
    /// come from, on all workers.
    fn is_source(&self) -> bool {
        let is_one_row = self.input.node().inputs().is_empty()
            && visible(&*self.input).is_empty()
            && self.input.node().at_most_one_row()
            && self.input.node().surely_has_a_row();
        is_one_row && self.expansion.calls.iter().all(|c| c.1.is_known_before())
    }
}

impl<T: Tree> Node<T> for Expand<T> {
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
        self.expansion.arguments().collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        self.expansion.arguments_mut().collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.expansion.made().for_each(|id| visit(Role::Made, id));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        let calls = self.expansion.calls.iter_mut().map(|c| &mut c.0);
        let made = calls.chain(&mut self.expansion.ordinality);
        made.for_each(|id| visit(Role::Made, id));
    }

    fn at_most_one_row(&self) -> bool {
        self.input.node().at_most_one_row() && self.expansion.rows().is_some_and(|rows| rows <= 1)
    }

    fn surely_has_a_row(&self) -> bool {
        self.input.node().surely_has_a_row() && self.expansion.rows().is_some_and(|rows| rows > 0)
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        // Calls say how many rows there are, whoever reads what they give.
        self.expansion.ordinality = (self.expansion.ordinality).filter(|id| needed.contains(*id));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let mut visible = check.tree(&*self.input)?;
        for (id, call) in &self.expansion.calls {
            for e in &call.arguments {
                check.reads(e, &visible, "a function that gives rows")?;
            }
            if !call.takes_its_arguments() {
                return Err(defect(format!("{} of other types", call.function.name())));
            }
            check.is_of_type(*id, call.ty, call.function.name())?;
        }
        check.make(self.expansion.made())?;
        visible.extend(self.expansion.made());
        Ok(visible)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        let pads = self.expansion.pads();
        for (id, call) in &mut self.expansion.calls {
            call.arguments.iter_mut().for_each(|e| pass.expression(e));
            let gives_null = match call.function {
                RowsFunction::Series => false,
                RowsFunction::Elements => true,
                RowsFunction::Once => call.arguments.iter().any(|e| e.nullable),
            };
            pass.set(*id, pads || gives_null);
        }
        if let Some(id) = self.expansion.ordinality {
            pass.set(id, false);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        of.operator(&self.input)?.checked_mul(self.expansion.rows()?)
    }

    fn about_rows(&self, inputs: &[f64], of: &dyn AboutRows) -> f64 {
        let rows = self.expansion.calls.iter().map(|c| of.call(&c.1));
        inputs[0] * rows.fold(0.0, f64::max)
    }

    fn learn(&self, _inputs: &[f64], facts: &mut dyn Facts) {
        for (id, call) in &self.expansion.calls {
            facts.series(*id, call);
        }
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        pass.expansion(&self.expansion);
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Expand {}", self.expansion.text(names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        if self.is_source() {
            let source = Source::Expansion(self.expansion.clone());
            return Opened::of(source, builder.rows(op, &[1.0]));
        }
        let mut below = needed.clone();
        let made: Vec<ColumnId> = self.expansion.made().collect();
        below.retain(|id| !made.contains(id));
        below.extend(self.expansion.arguments().flat_map(Expr::columns_read));
        let opened = builder.open(&self.input, &below);
        let rows = builder.rows(op, &[opened.rows]);
        opened.append(PipelineOperator::Expand(self.expansion.clone()), rows)
    }
}
