//! Order, and the first rows in it.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::breakers::{Breaker, SortTable};
use crate::display_expression::Names;
use crate::display_operator::{limits, sort_keys};
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened, rows_of};
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Expr, RowCount, SortKey, row_count};
use frazil_types::Result;

/// Orders rows; with a limit keeps only the first ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort<T> {
    /// Input.
    pub input: Box<T>,
    /// The keys, most significant first.
    pub keys: Vec<SortKey>,
    /// Rows kept, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows skipped.
    pub offset: RowCount,
}

impl<T: Tree> Node<T> for Sort<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn limits_rows(&self) -> bool {
        self.limit.is_some() || !self.offset.is_zero()
    }

    fn expressions(&self) -> Vec<&Expr> {
        row_count::values(&self.limit, &self.offset)
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        row_count::values_mut(&mut self.limit, &mut self.offset)
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.keys.iter().for_each(|k| visit(Role::Read, k.column));
        row_count::ids(&self.limit, &self.offset, visit);
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.keys
            .iter_mut()
            .for_each(|k| visit(Role::Read, &mut k.column));
        row_count::ids_mut(&mut self.limit, &mut self.offset, visit);
    }

    fn at_most_one_row(&self) -> bool {
        row_count::at_most_one(&self.limit) || self.input.node().at_most_one_row()
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        check.row_counts(self.limit.iter().chain([&self.offset]))?;
        let visible = check.tree(&*self.input)?;
        for key in &self.keys {
            check.reads_column(key.column, &visible, "a sort")?;
        }
        Ok(visible)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for e in self.expressions_mut() {
            pass.expression(e);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        row_count::most(of.operator(&self.input), &self.limit)
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        row_count::about(inputs[0], &self.limit)
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let limits = limits(&self.limit, &self.offset, names);
        format!("Sort by {}{limits}", sort_keys(&self.keys, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        open_sorted(
            op,
            &self.input,
            SortTable {
                keys: self.keys.clone(),
                groups: 0,
                columns: vec![],
                limit: self.limit.clone(),
                offset: self.offset.clone(),
            },
            builder,
            needed,
        )
    }
}

/// A sorter of the rows of `input`, of the columns that it is asked for and those that it reads itself.
pub(super) fn open_sorted<T: Tree>(
    op: &T,
    input: &T,
    table: SortTable,
    builder: &mut Builder<'_, T>,
    needed: &NeededColumns,
) -> Opened {
    let mut columns = needed.clone();
    columns.extend(table.keys.iter().map(|k| k.column));
    let counts = table.limit.iter().chain([&table.offset]);
    columns.extend(counts.filter_map(RowCount::column));
    let opened = builder.open(input, &columns);
    let rows = builder.rows(op, &[opened.rows]);
    let columns: Vec<ColumnId> = columns.into_iter().collect();
    let table = SortTable {
        columns: columns.clone(),
        ..table
    };
    let id = builder.fill(Breaker::Sorter(table), opened, vec![]);
    Opened::of(rows_of(id, columns), rows)
}
