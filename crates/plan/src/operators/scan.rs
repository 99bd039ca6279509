//! Rows of a table, with what storage is asked to test.

use super::Aggregate;
use super::node::{Needed, Node, Role};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::{scan, scan_predicates};
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::pipeline::Source;
use crate::pipeline_builder::{Builder, NeededColumns, Opened};
use crate::verify::{Check, Visible, comparable, defect};
use crate::{ColumnId, Expr, Operator};
use frazil_types::{CompareOp, ObjectId, Result, Value};

/// Rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// The table.
    pub table: ObjectId,
    /// Its name, for EXPLAIN.
    pub name: String,
    /// Columns read: id in the plan, position in the table.
    pub columns: Vec<(ColumnId, usize)>,
    /// A column of row ids (bigint), for UPDATE and DELETE.
    pub row_id: Option<ColumnId>,
    /// Predicates pushed into storage.
    pub restrictions: Vec<ScanRestriction>,
    /// Disjunctions of such, pushed as well.
    pub disjunctions: Vec<ScanDisjunction>,
}

impl Scan {
    /// Its restrictions, those of disjunctions included.
    pub fn all_restrictions(&self) -> impl Iterator<Item = &ScanRestriction> {
        let others = self.disjunctions.iter().flat_map(ScanDisjunction::restrictions);
        self.restrictions.iter().chain(others)
    }

    /// The same, to be changed.
    pub fn all_restrictions_mut(&mut self) -> impl Iterator<Item = &mut ScanRestriction> {
        let others = (self.disjunctions.iter_mut()).flat_map(ScanDisjunction::restrictions_mut);
        self.restrictions.iter_mut().chain(others)
    }
}

/// The table of an operator that reads all rows of one.
pub fn table_read_whole(op: &Operator) -> Option<ObjectId> {
    let Operator::Scan(scan) = op else {
        return None;
    };
    (scan.restrictions.is_empty() && scan.disjunctions.is_empty()).then_some(scan.table)
}

impl Node for Scan {
    fn inputs(&self) -> Vec<&Operator> {
        vec![]
    }

    fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        vec![]
    }

    fn passes(&self) -> Vec<&Operator> {
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

    fn null_supplied(&self) -> Vec<&Operator> {
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

    fn most_rows(&self, of: &dyn MostRows) -> Option<u64> {
        Some(of.table(self.table))
    }

    fn about_rows(&self, _inputs: &[f64], of: &dyn AboutRows) -> f64 {
        let mut rows = of.table(self.table);
        for r in &self.restrictions {
            rows *= of.restriction(r);
        }
        for d in &self.disjunctions {
            rows *= of.disjunction(d);
        }
        rows
    }

    fn learn(&self, _inputs: &[f64], facts: &mut dyn Facts) {
        facts.table(self.table, &self.columns);
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues) {
        for (id, position) in &self.columns {
            pass.base_column(*id, self.table, *position);
        }
        self.row_id.iter().for_each(|id| pass.unknown(*id));
    }

    fn aggregation(&self) -> Option<&Aggregate> {
        None
    }

    fn text(&self, names: &Names, columns: &Columns) -> String {
        format!(
            "Scan {}{}",
            scan(&self.name, &self.columns, self.row_id, names),
            scan_predicates(&self.restrictions, &self.disjunctions, names, columns)
        )
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &Operator, builder: &mut Builder<'_>, needed: &NeededColumns) -> Opened {
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
            early_probes: vec![],
            bound: None,
        };
        Opened::of(source, builder.rows(op, &[]))
    }
}

/// What a scan pushes into storage: a SARGable predicate whose operands are known when the pipeline
/// opens (constants, parameters, scalar subqueries).
#[derive(Clone, Debug, PartialEq)]
pub struct ScanRestriction {
    /// The column, one of the scan's.
    pub column: ColumnId,
    /// What is asked.
    pub kind: ScanRestrictionKind,
}

/// As [`frazil_types::RestrictionKind`], with operands still to be bound.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanRestrictionKind {
    /// A comparison.
    Compare(CompareOp, Expr),
    /// Both bounds inclusive.
    Between(Expr, Expr),
    /// Any of the constants.
    In(Vec<Value>),
    /// IS NULL.
    IsNull,
    /// IS NOT NULL.
    IsNotNull,
    /// LIKE 'prefix%'.
    Prefix(String),
    /// LIKE with a pattern that has backslash as escape.
    Like {
        /// The pattern.
        pattern: String,
        /// NOT LIKE.
        negated: bool,
    },
}

impl ScanRestrictionKind {
    /// The operands still to be bound.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            ScanRestrictionKind::Compare(_, operand) => vec![operand],
            ScanRestrictionKind::Between(low, high) => vec![low, high],
            _ => vec![],
        }
    }

    /// The same, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            ScanRestrictionKind::Compare(_, operand) => vec![operand],
            ScanRestrictionKind::Between(low, high) => vec![low, high],
            _ => vec![],
        }
    }
}

/// Alternatives that a scan pushes into storage as [`frazil_types::Disjunction`]: a row has to satisfy all
/// restrictions of one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanDisjunction {
    /// The alternatives, none of them empty.
    pub alternatives: Vec<Vec<ScanRestriction>>,
}

impl ScanDisjunction {
    /// The restrictions of all alternatives.
    pub fn restrictions(&self) -> impl Iterator<Item = &ScanRestriction> {
        self.alternatives.iter().flatten()
    }

    /// The same, to be changed.
    pub fn restrictions_mut(&mut self) -> impl Iterator<Item = &mut ScanRestriction> {
        self.alternatives.iter_mut().flatten()
    }
}
