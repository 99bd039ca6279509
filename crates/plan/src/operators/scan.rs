//! Rows of a table, with what storage is asked to test.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::{scan, scan_places, scan_predicates};
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::pipeline::Source;
use crate::role::Role;
use crate::scan_restriction::ScanRestrictionKind;
use crate::verify::{Check, Visible, comparable, defect};
use crate::{ColumnId, Expr, ScanDisjunction, ScanRestriction};
use frazil_types::{CompareOp, ObjectId, Result};

/// Rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// The table.
    pub table: ObjectId,
    /// Its name, for EXPLAIN.
    pub name: String,
    /// Columns read: id in the plan, position in the table.
    pub columns: Vec<(ColumnId, usize)>,
    /// A column of row ids, for UPDATE, DELETE and the system column `ctid`.
    pub row_id: Option<ColumnId>,
    /// Predicates pushed into storage.
    pub restrictions: Vec<ScanRestriction>,
    /// Disjunctions of such, pushed as well.
    pub disjunctions: Vec<ScanDisjunction>,
    /// Restrictions of the row id: rows that do not satisfy them need not be looked at. A filter tests them, too.
    pub places: Vec<ScanRestriction>,
}

impl Scan {
    /// Its restrictions, those of disjunctions included.
    pub fn all_restrictions(&self) -> impl Iterator<Item = &ScanRestriction> {
        let others = self.disjunctions.iter().flat_map(ScanDisjunction::restrictions);
        self.restrictions.iter().chain(others).chain(&self.places)
    }

    /// The same, to be changed.
    pub fn all_restrictions_mut(&mut self) -> impl Iterator<Item = &mut ScanRestriction> {
        let others = (self.disjunctions.iter_mut()).flat_map(ScanDisjunction::restrictions_mut);
        (self.restrictions.iter_mut().chain(others)).chain(&mut self.places)
    }

    /// An estimate of rows, and no more than its restrictions of the row id let pass.
    pub fn at_most(&self, rows: f64) -> f64 {
        let most = self.places.iter().map(|place| most_places(&place.kind));
        most.fold(rows, f64::min)
    }

    /// True if it reads all rows of its table.
    pub(crate) fn is_whole_table(&self) -> bool {
        self.restrictions.is_empty() && self.disjunctions.is_empty() && self.places.is_empty()
    }
}

/// Most rows that a restriction of the row id lets pass.
fn most_places(kind: &ScanRestrictionKind) -> f64 {
    match kind {
        ScanRestrictionKind::Compare(CompareOp::Eq, _) => 1.0,
        ScanRestrictionKind::In(list) => list.len() as f64,
        _ => f64::INFINITY,
    }
}

impl<T: Tree> Node<T> for Scan {
    fn inputs(&self) -> Vec<&T> {
        vec![]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![]
    }

    fn passes(&self) -> Vec<&T> {
        vec![]
    }

    fn expressions(&self) -> Vec<&Expr> {
        (self.all_restrictions())
            .flat_map(|r| r.kind.operands())
            .collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        (self.all_restrictions_mut())
            .flat_map(|r| r.kind.operands_mut())
            .collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        (self.columns.iter()).for_each(|c| visit(Role::Made, c.0));
        (self.row_id.iter()).for_each(|id| visit(Role::Made, *id));
        (self.all_restrictions()).for_each(|r| visit(Role::MadeAlready, r.column));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        (self.columns.iter_mut()).for_each(|c| visit(Role::Made, &mut c.0));
        (self.row_id.iter_mut()).for_each(|id| visit(Role::Made, id));
        (self.all_restrictions_mut()).for_each(|r| visit(Role::MadeAlready, &mut r.column));
    }

    fn at_most_one_row(&self) -> bool {
        false
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, _empty: &[bool]) -> bool {
        false
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        self.columns.retain(|c| needed.contains(c.0));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        check.make(self.columns.iter().map(|c| c.0).chain(self.row_id))?;
        let visible: Visible = self.columns.iter().map(|c| c.0).chain(self.row_id).collect();
        for r in self.all_restrictions() {
            check.reads_column(r.column, &visible, "a restriction")?;
            for e in r.kind.operands() {
                check.reads(e, &Visible::new(), "an operand of a restriction")?;
                if !comparable(check.columns()[r.column].ty, e.ty) {
                    return Err(defect(format!("a restriction compares with {}", e.ty)));
                }
            }
        }
        Ok(visible)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (id, _) in &self.columns {
            pass.keep(*id);
        }
        if let Some(id) = self.row_id {
            pass.set(id, false);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        Some(of.table(self.table))
    }

    fn about_rows(&self, _inputs: &[f64], of: &dyn AboutRows) -> f64 {
        let part = of.restricted(self.table, &self.columns, &self.restrictions, &self.disjunctions);
        self.at_most(of.table(self.table) * part)
    }

    fn learn(&self, _inputs: &[f64], facts: &mut dyn Facts) {
        facts.table(self.table, &self.columns);
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for (id, position) in &self.columns {
            pass.base_column(*id, self.table, *position);
        }
        self.row_id.iter().for_each(|id| pass.unknown(*id));
    }

    fn text(&self, names: &Names, columns: &Columns) -> String {
        format!(
            "Scan {}{}{}",
            scan(&self.name, &self.columns, self.row_id, names),
            scan_predicates(&self.restrictions, &self.disjunctions, names, columns),
            scan_places(&self.places, names, columns)
        )
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let restricts = |id: ColumnId| {
            let others = self.disjunctions.iter().flat_map(ScanDisjunction::restrictions);
            self.restrictions.iter().chain(others).any(|r| r.column == id)
        };
        let kept = self.columns.iter();
        let kept = kept.filter(|c| needed.contains(&c.0) || restricts(c.0));
        let source = Source::Scan {
            table: self.table,
            name: self.name.clone(),
            columns: kept.copied().collect(),
            row_id: self.row_id.filter(|r| needed.contains(r)),
            restrictions: self.restrictions.clone(),
            disjunctions: self.disjunctions.clone(),
            places: self.places.clone(),
            early_probes: vec![],
            bound: None,
        };
        Opened::of(source, builder.rows(op, &[]))
    }
}
