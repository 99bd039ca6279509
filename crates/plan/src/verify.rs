//! Checks that a plan is well formed: every column read is made below, every id is made once, types
//! agree, nothing that may be NULL is called NOT NULL. Tests and debug builds run it after every
//! rewriting; what it finds is a defect of Frazil, never of a statement.

use crate::operators::node::Tree;
use crate::pipeline::{PipelineOperator, PipelinePlan, Source};
use crate::plan::Plan;
use crate::schedule::Step;
use crate::{ArithmeticOp, ColumnId, Columns, Expansion, Expr, ExprKind, RowCount, SharedId};
use frazil_types::{Error, LogicalType, Result};
use std::collections::BTreeSet;

/// Columns visible above an operator.
pub type Visible = BTreeSet<ColumnId>;

/// Checks a plan.
pub fn plan<T: Tree>(plan: &Plan<T>) -> Result<()> {
    let mut check = Check {
        columns: &plan.columns,
        subqueries: plan.subqueries.iter().map(|s| s.1).collect(),
        made: BTreeSet::new(),
        shared: plan.shared.len(),
        shared_visible: Vec::new(),
    };
    for (i, tree) in plan.shared.iter().enumerate() {
        // A shared subplan may read those before it.
        check.shared = i;
        let visible = check.tree(tree)?;
        check.shared_visible.push(visible);
    }
    check.shared = plan.shared.len();
    for (tree, column) in &plan.subqueries {
        let visible = check.tree(tree)?;
        check.reads_column(*column, &visible, "the result of a subquery")?;
    }
    let visible = check.tree(&plan.root)?;
    for (name, column) in &plan.output {
        check.reads_column(*column, &visible, &format!("the output \"{name}\""))?;
    }
    Ok(())
}

/// The error of a plan that is malformed.
pub fn defect(message: impl std::fmt::Display) -> Error {
    Error::internal(format!("malformed plan: {message}"))
}

/// A plan that is being checked: [`crate::operators::Node::verify`] is given it.
pub struct Check<'a> {
    columns: &'a Columns,
    /// The columns of scalar subqueries, by their ids.
    subqueries: Vec<ColumnId>,
    made: BTreeSet<ColumnId>,
    shared: usize,
    shared_visible: Vec<Visible>,
}

impl Check<'_> {
    /// The columns of the plan.
    pub fn columns(&self) -> &Columns {
        self.columns
    }

    /// Says that columns are made. Error for one that is made already.
    pub fn make(&mut self, ids: impl IntoIterator<Item = ColumnId>) -> Result<()> {
        for id in ids {
            if id.0 as usize >= self.columns.len() {
                return Err(defect(format!("column {} is unknown", id.0)));
            }
            if !self.made.insert(id) {
                let label = &self.columns[id].label;
                return Err(defect(format!("column {label}#{} is made twice", id.0)));
            }
        }
        Ok(())
    }

    /// Error for a column that is not visible.
    pub fn reads_column(&self, id: ColumnId, visible: &Visible, place: &str) -> Result<()> {
        if visible.contains(&id) {
            return Ok(());
        }
        let label = match (id.0 as usize) < self.columns.len() {
            true => self.columns[id].label.as_str(),
            false => "?",
        };
        Err(defect(format!(
            "{place} reads column {label}#{}, which is not made below",
            id.0
        )))
    }

    /// Error for an expression that reads a column which is not visible, or whose types do not go together.
    pub fn reads(&self, e: &Expr, visible: &Visible, place: &str) -> Result<()> {
        for id in e.columns_read() {
            self.reads_column(id, visible, place)?;
        }
        self.types(e).map_err(|e| e.in_context(place))
    }

    /// As [`Check::reads`], and for one that is not boolean.
    pub fn predicate(&self, e: &Expr, visible: &Visible, place: &str) -> Result<()> {
        match e.ty.is_condition() {
            true => self.reads(e, visible, place),
            false => Err(defect(format!("{place} is of type {}", e.ty))),
        }
    }

    /// Error for a column made of an expression of another type, or of one that may be NULL though it is NOT NULL.
    pub fn same_type(&self, id: ColumnId, e: &Expr) -> Result<()> {
        let info = &self.columns()[id];
        if info.ty != e.ty {
            let label = &info.label;
            return Err(defect(format!(
                "column {label}#{} of {} is made of {}",
                id.0, info.ty, e.ty
            )));
        }
        if e.nullable && !info.nullable {
            return Err(defect(format!(
                "NOT NULL column {}#{} may be NULL",
                info.label, id.0
            )));
        }
        Ok(())
    }

    /// Error for a column of another type than what is put there has.
    pub fn is_of_type(&self, id: ColumnId, ty: LogicalType, what: &str) -> Result<()> {
        match self.columns()[id].ty {
            found if found == ty => Ok(()),
            found => Err(defect(format!("{what} of type {ty} in a column of type {found}"))),
        }
    }

    /// Checks the types inside an expression.
    fn types(&self, e: &Expr) -> Result<()> {
        if let Some(what) = self.mismatch(e) {
            return Err(defect(format!("{what} in {:?}", e.kind)));
        }
        e.children().into_iter().try_for_each(|c| self.types(c))
    }

    /// A mismatch of types between an expression and its direct parts.
    fn mismatch(&self, e: &Expr) -> Option<&'static str> {
        let unless = |holds: bool, what: &'static str| (!holds).then_some(what);
        let boolean = |e: &Expr| e.ty.is_condition();
        match &e.kind {
            ExprKind::Subquery(_) => Some("a subquery that was not unnested"),
            // A cast between strings that changes nothing is left out, and the value keeps its own type.
            ExprKind::Let { column, value, body } => unless(
                comparable(self.columns[*column].ty, value.ty) && comparable(body.ty, e.ty),
                "a let of another type",
            ),
            ExprKind::Column(id) => unless(self.columns[*id].ty == e.ty, "a column of another type"),
            ExprKind::Compare(_, l, r)
            | ExprKind::Distinct {
                left: l, right: r, ..
            } => unless(comparable(l.ty, r.ty), "a comparison of different types"),
            ExprKind::And(list) | ExprKind::Or(list) => unless(
                list.len() >= 2 && list.iter().all(boolean),
                "a part that is not boolean, or too few,",
            ),
            ExprKind::Not(v) => unless(boolean(v), "NOT of something not boolean"),
            ExprKind::Arithmetic(op, l, r) => unless(
                arithmetic_types(*op, l.ty, r.ty, e.ty),
                "arithmetic of types that do not go together",
            ),
            ExprKind::ScalarSubquery(id) => {
                let column = self.subqueries.get(id.0);
                let is_known = column.is_some_and(|column| self.columns[*column].ty == e.ty);
                unless(is_known, "an unknown subquery or one of another type")
            }
            ExprKind::Case { branches, otherwise } => {
                let mut results = branches.iter().map(|b| &b.1).chain(otherwise.as_deref());
                let is_result = |r: &Expr| r.ty == e.ty || comparable(r.ty, e.ty);
                let conditions = branches.iter().all(|b| boolean(&b.0));
                unless(conditions, "a condition that is not boolean")
                    .or_else(|| unless(results.all(is_result), "a result of another type"))
            }
            ExprKind::Constant(_)
            | ExprKind::Parameter(_)
            | ExprKind::IsNull(_)
            | ExprKind::Negate(_)
            | ExprKind::Cast(_)
            | ExprKind::Like { .. }
            | ExprKind::InList { .. }
            | ExprKind::Extract(..)
            | ExprKind::AddInterval(..)
            | ExprKind::Function(..)
            | ExprKind::VectorFunction(..) => None,
        }
    }

    /// Checks a tree; gives what is visible above it.
    pub fn tree<T: Tree>(&mut self, op: &T) -> Result<Visible> {
        op.node().verify(self)
    }

    /// Checks LIMIT and OFFSET of an operator, which are the same for all its rows.
    pub fn row_counts<'c>(&self, counts: impl IntoIterator<Item = &'c RowCount>) -> Result<()> {
        for count in counts {
            if count.column().is_some() {
                return Err(defect("a number of rows that differs from row to row"));
            }
            if let Some(e) = count.value() {
                self.reads(e, &Visible::new(), "a number of rows")?;
                if e.ty != Expansion::NUMBER {
                    return Err(defect(format!("a number of rows of type {}", e.ty)));
                }
            }
        }
        Ok(())
    }

    /// Error for columns that a shared subplan does not give, or one that is not computed yet.
    pub fn reads_shared(&self, id: SharedId, stored: impl Iterator<Item = ColumnId>) -> Result<()> {
        if id.0 >= self.shared {
            return Err(defect(format!(
                "shared subplan {} is read before it is computed",
                id.0
            )));
        }
        for column in stored {
            let visible = &self.shared_visible[id.0];
            self.reads_column(column, visible, "a read of a shared subplan")?;
        }
        Ok(())
    }
}

/// Whether values of two types are compared natively: equal types, decimals and integers of one scale,
/// strings of any kind but char(1).
pub fn comparable(a: LogicalType, b: LogicalType) -> bool {
    let decimal = |t: LogicalType| t.decimal_digits().map(|(_, scale)| scale);
    a == b || a.is_text() && b.is_text() || decimal(a).is_some() && decimal(a) == decimal(b)
}

fn arithmetic_types(op: ArithmeticOp, l: LogicalType, r: LogicalType, result: LogicalType) -> bool {
    if result.is_unscaled() {
        return l.kind().is_exact() && r.kind().is_exact();
    }
    match result.decimal_digits() {
        Some((_, scale)) => match (l.scale(), r.scale()) {
            (Some(a), Some(b)) => match op {
                ArithmeticOp::Mul => a + b == scale,
                ArithmeticOp::Div => false,
                _ => a == scale && b == scale,
            },
            _ => false,
        },
        // Dates minus dates and the like are integers.
        None => l == r && (l == result || result.is_integer()),
    }
}

/// Checks pipelines in the order of their schedule: whatever an operator or sink reads is made before it in its own pipeline,
/// and breakers are finished before they are read.
pub fn pipelines(plan: &PipelinePlan) -> Result<()> {
    steps(plan, &plan.schedule.steps, &mut BTreeSet::new())
}

fn steps(plan: &PipelinePlan, list: &[Step], filled: &mut BTreeSet<usize>) -> Result<()> {
    for step in list {
        match step {
            Step::Run(i) => pipeline(plan, *i, filled)?,
            Step::Finish(id) => drop(filled.insert(id.0)),
            Step::Turns(turns) => {
                steps(plan, &turns.steps, filled)?;
                if [turns.work, turns.next].iter().any(|id| !filled.contains(&id.0)) {
                    return Err(defect("turns whose rows no pipeline makes"));
                }
                filled.insert(turns.all.0);
            }
        }
    }
    Ok(())
}

fn pipeline(plan: &PipelinePlan, i: usize, filled: &BTreeSet<usize>) -> Result<()> {
    let pipeline = &plan.pipelines[i];
    let place = |what: &str| format!("pipeline {i}: {what}");
    let read = match &pipeline.source {
        Source::Scan { .. }
        | Source::Lookup(_)
        | Source::Values { .. }
        | Source::Given { .. }
        | Source::Expansion(_) => None,
        Source::Of { breaker, .. } => Some(*breaker),
    };
    let probed = pipeline.operators.iter().filter_map(PipelineOperator::looks_into);
    if let Some(id) = probed.chain(read).find(|id| !filled.contains(&id.0)) {
        return Err(defect(place(&format!("{id:?} is read before it is finished"))));
    }
    let mut made: Visible = pipeline.source.columns().into_iter().collect();
    for op in &pipeline.operators {
        if let PipelineOperator::Map(expressions) = op {
            for (id, e) in expressions {
                missing(&e.columns_read(), &made).map_err(|e| e.in_context(place("a map")))?;
                made.insert(*id);
            }
            continue;
        }
        // A residual reads build columns too, also where the kind adds none.
        let mut readable = made.clone();
        if let Some(id) = op.looks_into() {
            readable.extend(plan.keeps(id).reads());
        }
        missing(&op.reads(), &readable).map_err(|e| e.in_context(place("an operator")))?;
        made.extend(op.adds(plan));
    }
    missing(&pipeline.sink.reads(plan), &made).map_err(|e| e.in_context(place("the sink")))?;
    if !pipeline.boundaries.is_sorted() || pipeline.boundaries.last() > Some(&pipeline.operators.len()) {
        return Err(defect(place("stage boundaries out of order")));
    }
    let is_missing = |k: &usize| pipeline.needs_boundary(*k) && !pipeline.boundaries.contains(k);
    if (0..pipeline.operators.len()).any(|k| is_missing(&k)) {
        return Err(defect(place("a call that no stage begins with")));
    }
    if pipeline
        .boundaries
        .iter()
        .any(|k| !pipeline.may_have_boundary(*k, plan))
    {
        return Err(defect(place("a stage boundary that does nothing")));
    }
    Ok(())
}

fn missing(reads: &[ColumnId], made: &Visible) -> Result<()> {
    match reads.iter().find(|id| !made.contains(id)) {
        Some(id) => Err(defect(format!("column {} is read but not made", id.0))),
        None => Ok(()),
    }
}
