//! Groups by several sets of columns: GROUPING SETS, ROLLUP, CUBE. The optimizer makes of it aggregations whose rows are put
//! together, so that nothing below it knows of sets.

use super::aggregate::Aggregate;
use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::aggregation;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{ColumnId, Expr};
use frazil_types::{LogicalType, Result, Value};
use std::collections::HashSet;

/// Groups by several sets of columns: for each set the rows that grouping by it alone gives, with NULL in the columns of all
/// other groups.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupingSets<T> {
    /// The groups of all sets, and the aggregates.
    pub all: Aggregate<T>,
    /// The groups in each set: indexes into those of `all`, each once and ascending. One set may come several times.
    pub sets: Vec<Vec<usize>>,
    /// Columns of `grouping(…)` made, and the groups that are its arguments, as indexes.
    pub grouping: Vec<(ColumnId, Vec<usize>)>,
}

impl<T> GroupingSets<T> {
    /// The groups that are in every set, as indexes.
    pub fn in_all(&self) -> impl Iterator<Item = usize> {
        let is_in_all = |group: &usize| self.sets.iter().all(|set| set.binary_search(group).is_ok());
        (0..self.all.groups.len()).filter(is_in_all)
    }
}

/// The type of `grouping(…)`.
pub const GROUPING: LogicalType = LogicalType::Integer;

/// What `grouping` says of these groups in the rows of a set, which is ascending: a bit for each, the last one's the lowest, which
/// is 1 if the group is not in the set.
pub fn grouping_value(set: &[usize], groups: &[usize]) -> Expr {
    let bits = groups
        .iter()
        .map(|group| i128::from(set.binary_search(group).is_err()));
    Expr::constant(Value::Int(bits.fold(0, |all, bit| all * 2 + bit)), GROUPING)
}

impl<T: Tree> Node<T> for GroupingSets<T> {
    fn inputs(&self) -> Vec<&T> {
        self.all.inputs()
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        self.all.inputs_mut()
    }

    fn passes(&self) -> Vec<&T> {
        vec![]
    }

    fn unlockable(&self) -> Option<&'static str> {
        Some("GROUP BY clause")
    }

    fn expressions(&self) -> Vec<&Expr> {
        self.all.expressions()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        self.all.expressions_mut()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.all.ids(visit);
        self.grouping.iter().for_each(|g| visit(Role::Made, g.0));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.all.ids_mut(visit);
        self.grouping.iter_mut().for_each(|g| visit(Role::Made, &mut g.0));
    }

    fn at_most_one_row(&self) -> bool {
        matches!(&self.sets[..], [only] if only.is_empty())
    }

    fn surely_has_a_row(&self) -> bool {
        self.sets.iter().any(Vec::is_empty)
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        !self.surely_has_a_row() && empty.first() == Some(&true)
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        self.all.prune(needed);
        self.grouping.retain(|g| needed.contains(g.0));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let mut made = self.all.verify(check)?;
        let named = self.grouping.iter().map(|g| &g.1).chain(&self.sets).flatten();
        if named.into_iter().any(|at| *at >= self.all.groups.len()) {
            return Err(defect("grouping sets of a group that is not there"));
        }
        if !self.sets.iter().all(|set| set.is_sorted_by(|a, b| a < b)) {
            return Err(defect("a grouping set that is not in order"));
        }
        check.make(self.grouping.iter().map(|g| g.0))?;
        made.extend(self.grouping.iter().map(|g| g.0));
        Ok(made)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        self.all.find_nullable(pass);
        // A group that some set lacks is NULL in its rows, and so are aggregates of no rows.
        let in_all: HashSet<usize> = self.in_all().collect();
        for (i, (id, _)) in self.all.groups.iter().enumerate() {
            if !in_all.contains(&i) {
                pass.set(*id, true);
            }
        }
        let of_no_rows = self.sets.iter().any(Vec::is_empty);
        for (id, call) in &self.all.aggregates {
            if of_no_rows && !call.function.counts() {
                pass.set(*id, true);
            }
        }
        self.grouping.iter().for_each(|g| pass.set(g.0, false));
    }

    fn most_rows(&self, _of: &dyn MostRows<T>) -> Option<u64> {
        None
    }

    fn about_rows(&self, inputs: &[f64], of: &dyn AboutRows) -> f64 {
        of.groups(&self.all.groups, inputs[0]) * self.sets.len() as f64
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {
        // What reads its columns is estimated again once they are those of aggregations.
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        self.all.find_bounds(pass);
        self.grouping.iter().for_each(|g| pass.unknown(g.0));
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let list = |groups: &[usize]| names.list(groups.iter().map(|group| self.all.groups[*group].0));
        let sets: Vec<String> = self.sets.iter().map(|set| format!("({})", list(set))).collect();
        let grouping = (self.grouping.iter())
            .map(|(id, groups)| format!("; {} := grouping({})", names.name(*id), list(groups)));
        let aggregation = aggregation(&self.all.groups, &self.all.aggregates, names);
        format!(
            "Grouping sets {}{aggregation}{}",
            sets.join(", "),
            grouping.collect::<String>()
        )
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &T, _builder: &mut Builder<'_, T>, _needed: &NeededColumns) -> Opened {
        unreachable!("grouping sets of which no aggregations were made")
    }
}
