//! The first rows of each group.

use super::node::{Needed, Node, Tree};
use super::sort::open_sorted;
use crate::Columns;
use crate::breakers::SortTable;
use crate::display_expression::Names;
use crate::display_operator::{by_keys, limits};
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{ColumnId, Expansion, Expr, RowCount, SortKey, row_count};
use frazil_types::Result;

/// Of the rows of each group some, in the order of the keys: LIMIT for each outer row.
#[derive(Clone, Debug, PartialEq)]
pub struct TopPerGroup<T> {
    /// Input.
    pub input: Box<T>,
    /// What makes a group: rows equal in these columns, NULLs counting as equal. Without one all rows are a group, whose
    /// numbers of rows are columns.
    pub groups: Vec<ColumnId>,
    /// The keys, most significant first; without one any rows of a group do.
    pub keys: Vec<SortKey>,
    /// Rows kept of each group, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows of each group skipped.
    pub offset: RowCount,
}

impl<T: Tree> Node<T> for TopPerGroup<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn unlockable(&self) -> Option<&'static str> {
        Some("DISTINCT clause")
    }

    fn expressions(&self) -> Vec<&Expr> {
        row_count::values(&self.limit, &self.offset)
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        row_count::values_mut(&mut self.limit, &mut self.offset)
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.groups.iter().for_each(|id| visit(Role::Read, *id));
        self.keys.iter().for_each(|k| visit(Role::Read, k.column));
        row_count::ids(&self.limit, &self.offset, visit);
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.groups.iter_mut().for_each(|id| visit(Role::Read, id));
        self.keys
            .iter_mut()
            .for_each(|k| visit(Role::Read, &mut k.column));
        row_count::ids_mut(&mut self.limit, &mut self.offset, visit);
    }

    fn at_most_one_row(&self) -> bool {
        false
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let visible = check.tree(&*self.input)?;
        let (of_rows, fixed): (Vec<_>, Vec<_>) =
            (self.limit.iter().chain([&self.offset])).partition(|n| n.column().is_some());
        for id in of_rows.iter().filter_map(|n| n.column()) {
            check.reads_column(id, &visible, "a number of rows")?;
            check.is_of_type(id, Expansion::NUMBER, "a number of rows")?;
        }
        for id in self
            .groups
            .iter()
            .copied()
            .chain(self.keys.iter().map(|k| k.column))
        {
            check.reads_column(id, &visible, "the first rows of a group")?;
        }
        if self.groups.is_empty() && of_rows.is_empty() {
            return Err(defect("the first rows of no group"));
        }
        check.row_counts(fixed)?;
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
        of.operator(&self.input)
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        inputs[0]
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!(
            "First rows for each ({}){}{}",
            names.list(self.groups.iter().copied()),
            by_keys(&self.keys, names),
            limits(&self.limit, &self.offset, names)
        )
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let group = |column: &ColumnId| SortKey {
            column: *column,
            descending: false,
            nulls_first: false,
        };
        open_sorted(
            op,
            &self.input,
            SortTable {
                keys: self
                    .groups
                    .iter()
                    .map(group)
                    .chain(self.keys.iter().cloned())
                    .collect(),
                groups: self.groups.len(),
                columns: vec![],
                limit: self.limit.clone(),
                offset: self.offset.clone(),
            },
            builder,
            needed,
        )
    }
}
