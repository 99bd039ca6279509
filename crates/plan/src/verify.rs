//! Checks that a plan is well formed: every column read is made below, every id is made once, types
//! agree, nothing that may be NULL is called NOT NULL. Tests and debug builds run it after every
//! rewriting; what it finds is a defect of Frazil, never of a statement.

use crate::operators::{
    Aggregate, Expand, Filter, Given, GroupingSets, Join, Limit, Map, Recursion, Scan, Shared, Sort,
    TopPerGroup, UnionAll, Values, Window,
};
use crate::pipeline::{PipelineOperator, PipelinePlan, Source};
use crate::schedule::Step;
use crate::{
    AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Columns, Expansion, Expr, ExprKind, JoinKind,
    Operator, Plan, RowCount, ScanDisjunction, ScanRestriction, SharedId, Write,
};
use frazil_types::{Error, LogicalType, Result};
use std::collections::BTreeSet;

type Visible = BTreeSet<ColumnId>;

/// Checks a plan.
pub fn plan(plan: &Plan) -> Result<()> {
    let mut check = Check {
        plan,
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

fn defect(message: String) -> Error {
    Error::internal(format!("malformed plan: {message}"))
}

struct Check<'a> {
    plan: &'a Plan,
    made: BTreeSet<ColumnId>,
    shared: usize,
    shared_visible: Vec<Visible>,
}

impl Check<'_> {
    fn columns(&self) -> &Columns {
        &self.plan.columns
    }

    fn make(&mut self, ids: impl IntoIterator<Item = ColumnId>) -> Result<()> {
        for id in ids {
            if id.0 as usize >= self.plan.columns.len() {
                return Err(defect(format!("column {} is unknown", id.0)));
            }
            if !self.made.insert(id) {
                let label = &self.columns()[id].label;
                return Err(defect(format!("column {label}#{} is made twice", id.0)));
            }
        }
        Ok(())
    }

    fn reads_column(&self, id: ColumnId, visible: &Visible, place: &str) -> Result<()> {
        if visible.contains(&id) {
            return Ok(());
        }
        let label = match (id.0 as usize) < self.plan.columns.len() {
            true => self.columns()[id].label.as_str(),
            false => "?",
        };
        Err(defect(format!(
            "{place} reads column {label}#{}, which is not made below",
            id.0
        )))
    }

    fn reads(&self, e: &Expr, visible: &Visible, place: &str) -> Result<()> {
        for id in e.columns_read() {
            self.reads_column(id, visible, place)?;
        }
        expression(e, self.plan).map_err(|e| e.in_context(place))
    }

    fn predicate(&self, e: &Expr, visible: &Visible, place: &str) -> Result<()> {
        match e.ty {
            LogicalType::Boolean => self.reads(e, visible, place),
            ty => Err(defect(format!("{place} is of type {ty}"))),
        }
    }

    fn same_type(&self, id: ColumnId, e: &Expr) -> Result<()> {
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

    /// Checks a tree; gives what is visible above it.
    fn tree(&mut self, op: &Operator) -> Result<Visible> {
        match op {
            Operator::Scan(Scan {
                columns,
                row_id,
                restrictions,
                disjunctions,
                ..
            }) => {
                let others = disjunctions.iter().flat_map(ScanDisjunction::restrictions);
                self.scan(columns, *row_id, restrictions.iter().chain(others))
            }
            Operator::Values(Values { columns, rows }) => self.values(columns, rows),
            Operator::Given(Given { columns }) => {
                self.make(columns.iter().map(|c| c.0))?;
                Ok(columns.iter().map(|c| c.0).collect())
            }
            Operator::Filter(Filter { input, predicate }) => {
                let visible = self.tree(input)?;
                self.predicate(predicate, &visible, "a filter")?;
                Ok(visible)
            }
            Operator::Map(Map { input, expressions }) => {
                let mut visible = self.tree(input)?;
                for (id, e) in expressions {
                    self.reads(e, &visible, "a map")?;
                    self.same_type(*id, e)?;
                    self.make([*id])?;
                    visible.insert(*id);
                }
                Ok(visible)
            }
            Operator::Join(_) => self.join(op),
            Operator::DependentJoin(_) => Err(defect("a dependent join that was not unnested".into())),
            Operator::Aggregate(Aggregate {
                input,
                groups,
                aggregates,
            }) => self.aggregate(input, groups, aggregates),
            Operator::GroupingSets(sets) => self.grouping_sets(sets),
            Operator::Sort(Sort { limit, offset, .. }) | Operator::Limit(Limit { limit, offset, .. })
                if limit.iter().chain([offset]).any(|n| n.column().is_some()) =>
            {
                Err(defect("a number of rows that differs from row to row".into()))
            }
            Operator::Sort(Sort { input, keys, .. }) => {
                self.row_counts(op)?;
                let visible = self.tree(input)?;
                for key in keys {
                    self.reads_column(key.column, &visible, "a sort")?;
                }
                Ok(visible)
            }
            Operator::TopPerGroup(_) => self.top_per_group(op),
            Operator::Window(window) => self.window(window),
            Operator::Recursion(recursion) => self.recursion(recursion),
            Operator::Turn(turn) => {
                self.make(turn.columns.iter().map(|c| c.0))?;
                Ok(turn.columns.iter().map(|c| c.0).collect())
            }
            Operator::Limit(Limit { input, .. }) => {
                self.row_counts(op)?;
                self.tree(input)
            }
            Operator::Expand(expand) => self.expand(expand),
            Operator::UnionAll(UnionAll { inputs, columns }) => self.union(inputs, columns),
            Operator::Shared(Shared { id, columns }) => self.shared_read(*id, columns),
            Operator::Write(write) => self.write(write),
        }
    }

    fn expand(&mut self, Expand { input, expansion }: &Expand) -> Result<Visible> {
        let mut visible = self.tree(input)?;
        for (id, call) in &expansion.calls {
            for e in &call.arguments {
                self.reads(e, &visible, "a function that gives rows")?;
            }
            if !call.takes_its_arguments() || self.columns()[*id].ty != call.ty {
                return Err(defect(format!("{} of other types", call.function.name())));
            }
        }
        self.make(expansion.made())?;
        visible.extend(expansion.made());
        Ok(visible)
    }

    fn write(&mut self, write: &Write) -> Result<Visible> {
        let visible = self.tree(&write.input)?;
        let change = &write.change;
        for id in change.kept() {
            self.reads_column(id, &visible, "a write")?;
        }
        for id in change.checks.iter().map(|c| c.1) {
            if self.columns()[id].ty != LogicalType::Boolean {
                return Err(defect(format!(
                    "a condition of a write is of type {}",
                    self.columns()[id].ty
                )));
            }
        }
        write.queries().try_for_each(plan)?;
        let update = change.conflict_update();
        match (update, &write.update) {
            (None, None) => {}
            (Some(update), Some(query)) if query.output.len() == update.width() => {}
            _ => return Err(defect("a write whose query does not compute what it sets".into())),
        }
        Ok(change.returning.iter().copied().collect())
    }

    fn recursion(&mut self, recursion: &Recursion) -> Result<Visible> {
        for (input, from) in [&recursion.start, &recursion.turn] {
            let visible = self.tree(input)?;
            if from.len() != recursion.columns.len() {
                return Err(defect("a recursion of inputs that are not as wide as it".into()));
            }
            for (id, made) in from.iter().zip(&recursion.columns) {
                self.reads_column(*id, &visible, "a recursion")?;
                if self.columns()[*id].ty != self.columns()[*made].ty {
                    return Err(defect("a recursion of columns of other types".into()));
                }
            }
        }
        self.make(recursion.columns.iter().copied())?;
        Ok(recursion.columns.iter().copied().collect())
    }

    fn window(&mut self, window: &Window) -> Result<Visible> {
        let mut visible = self.tree(&window.input)?;
        let order = window.order.iter().map(|k| k.column);
        for id in window.partition.iter().copied().chain(order) {
            self.reads_column(id, &visible, "a window")?;
        }
        for (id, call) in &window.calls {
            for e in call.expressions() {
                self.reads(e, &visible, "a window function")?;
            }
            if let Some(e) = &call.filter {
                self.predicate(e, &visible, "the filter of a window function")?;
            }
            if self.columns()[*id].ty != call.ty {
                return Err(defect(format!(
                    "a window function of type {} in a column of another",
                    call.ty
                )));
            }
        }
        let made = window.calls.iter().map(|c| c.0);
        self.make(made.clone())?;
        visible.extend(made);
        Ok(visible)
    }

    fn top_per_group(&mut self, op: &Operator) -> Result<Visible> {
        let Operator::TopPerGroup(TopPerGroup {
            input,
            groups,
            keys,
            limit,
            offset,
        }) = op
        else {
            return Err(defect("not the first rows of a group".into()));
        };
        let visible = self.tree(input)?;
        for id in limit.iter().chain([offset]).filter_map(RowCount::column) {
            self.reads_column(id, &visible, "a number of rows")?;
            if self.columns()[id].ty != Expansion::NUMBER {
                return Err(defect("a number of rows that is no bigint".into()));
            }
        }
        for id in groups.iter().copied().chain(keys.iter().map(|k| k.column)) {
            self.reads_column(id, &visible, "the first rows of a group")?;
        }
        if groups.is_empty() && limit.iter().chain([offset]).all(|n| n.column().is_none()) {
            return Err(defect("the first rows of no group".into()));
        }
        self.row_counts(op)?;
        Ok(visible)
    }

    /// Checks LIMIT and OFFSET of an operator.
    fn row_counts(&self, op: &Operator) -> Result<()> {
        for e in op.expressions() {
            self.reads(e, &Visible::new(), "a number of rows")?;
            if e.ty != Expansion::NUMBER {
                return Err(defect(format!("a number of rows of type {}", e.ty)));
            }
        }
        Ok(())
    }

    fn scan<'r>(
        &mut self,
        columns: &[(ColumnId, usize)],
        row_id: Option<ColumnId>,
        restrictions: impl Iterator<Item = &'r ScanRestriction>,
    ) -> Result<Visible> {
        self.make(columns.iter().map(|c| c.0).chain(row_id))?;
        let visible: Visible = columns.iter().map(|c| c.0).chain(row_id).collect();
        for r in restrictions {
            self.reads_column(r.column, &visible, "a restriction")?;
            for e in r.kind.operands() {
                self.reads(e, &Visible::new(), "an operand of a restriction")?;
                if !comparable(self.columns()[r.column].ty, e.ty) {
                    return Err(defect(format!("a restriction compares with {}", e.ty)));
                }
            }
        }
        Ok(visible)
    }

    /// Checks rows of constants, each as wide as `columns`.
    fn values(&mut self, columns: &[ColumnId], rows: &[Vec<Expr>]) -> Result<Visible> {
        for row in rows {
            if row.len() != columns.len() {
                return Err(defect("a row of values has the wrong width".into()));
            }
            for (e, id) in row.iter().zip(columns) {
                self.reads(e, &Visible::new(), "a row of values")?;
                self.same_type(*id, e)?;
            }
        }
        self.make(columns.iter().copied())?;
        Ok(columns.iter().copied().collect())
    }

    /// Checks a read of a shared subplan: pairs of a column that is made and the subplan's column that it repeats.
    fn shared_read(&mut self, id: SharedId, columns: &[(ColumnId, ColumnId)]) -> Result<Visible> {
        if id.0 >= self.shared {
            return Err(defect(format!(
                "shared subplan {} is read before it is computed",
                id.0
            )));
        }
        for (made, stored) in columns {
            let visible = &self.shared_visible[id.0];
            self.reads_column(*stored, visible, "a read of a shared subplan")?;
            self.same_type(*made, &Expr::column(*stored, self.columns()))?;
        }
        self.make(columns.iter().map(|c| c.0))?;
        Ok(columns.iter().map(|c| c.0).collect())
    }

    fn join(&mut self, op: &Operator) -> Result<Visible> {
        let Operator::Join(Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
        }) = op
        else {
            return Err(defect("not a join".into()));
        };
        let (left, right) = (self.tree(build)?, self.tree(probe)?);
        for (b, p) in keys {
            self.reads(b, &left, "a build key")?;
            self.reads(p, &right, "a probe key")?;
            if !comparable(b.ty, p.ty) {
                return Err(defect(format!("join keys of types {} and {}", b.ty, p.ty)));
            }
        }
        let both: Visible = left.union(&right).copied().collect();
        if let Some(e) = residual {
            self.predicate(e, &both, "a join's condition")?;
        }
        let may_be_null_aware = matches!(
            kind,
            JoinKind::ProbeAnti | JoinKind::BuildAnti | JoinKind::ProbeMark(_)
        );
        if *null_aware && !may_be_null_aware {
            return Err(defect(format!("a null-aware join of kind {kind:?}")));
        }
        Ok(match kind {
            JoinKind::ProbeSemi | JoinKind::ProbeAnti => right,
            JoinKind::BuildSemi | JoinKind::BuildAnti => left,
            JoinKind::ProbeMark(mark) => {
                self.make([*mark])?;
                let mut visible = right;
                visible.insert(*mark);
                visible
            }
            _ => both,
        })
    }

    fn grouping_sets(&mut self, sets: &GroupingSets) -> Result<Visible> {
        let mut made = self.aggregate(&sets.all.input, &sets.all.groups, &sets.all.aggregates)?;
        let named = sets.grouping.iter().map(|g| &g.1).chain(&sets.sets).flatten();
        if named.into_iter().any(|at| *at >= sets.all.groups.len()) {
            return Err(defect("grouping sets of a group that is not there".into()));
        }
        if !sets.sets.iter().all(|set| set.is_sorted_by(|a, b| a < b)) {
            return Err(defect("a grouping set that is not in order".into()));
        }
        self.make(sets.grouping.iter().map(|g| g.0))?;
        made.extend(sets.grouping.iter().map(|g| g.0));
        Ok(made)
    }

    fn aggregate(
        &mut self,
        input: &Operator,
        groups: &[(ColumnId, Expr)],
        aggregates: &[(ColumnId, AggregateCall)],
    ) -> Result<Visible> {
        let visible = self.tree(input)?;
        for (id, e) in groups {
            self.reads(e, &visible, "a group key")?;
            self.same_type(*id, e)?;
        }
        for (id, call) in aggregates {
            if call.argument.is_none() != (call.function == AggregateFunction::CountRows) {
                return Err(defect(format!("{:?} with a wrong argument", call.function)));
            }
            if call.function == AggregateFunction::CountRows && call.distinct == call.order.is_empty() {
                return Err(defect(
                    "rows that are told apart by no key, or counted by one".to_string(),
                ));
            }
            for e in call.values() {
                self.reads(e, &visible, "an aggregate")?;
            }
            if let Some(e) = &call.filter {
                self.predicate(e, &visible, "an aggregate's filter")?;
            }
            if self.columns()[*id].ty != call.ty {
                return Err(defect(format!(
                    "an aggregate of type {} in a column of another",
                    call.ty
                )));
            }
        }
        let made: Visible = groups
            .iter()
            .map(|g| g.0)
            .chain(aggregates.iter().map(|a| a.0))
            .collect();
        self.make(groups.iter().map(|g| g.0).chain(aggregates.iter().map(|a| a.0)))?;
        Ok(made)
    }

    fn union(&mut self, inputs: &[(Operator, Vec<ColumnId>)], columns: &[ColumnId]) -> Result<Visible> {
        for (input, from) in inputs {
            let visible = self.tree(input)?;
            if from.len() != columns.len() {
                return Err(defect("an input of a union has the wrong width".into()));
            }
            for (made, stored) in columns.iter().zip(from) {
                self.reads_column(*stored, &visible, "a union")?;
                self.same_type(*made, &Expr::column(*stored, self.columns()))?;
            }
        }
        self.make(columns.iter().copied())?;
        Ok(columns.iter().copied().collect())
    }
}

/// Whether values of two types are compared natively: equal types, decimals and integers of one scale,
/// strings of any kind but char(1).
pub fn comparable(a: LogicalType, b: LogicalType) -> bool {
    let text = |t: LogicalType| t.is_string() && t != LogicalType::Char(1);
    let decimal = |t: LogicalType| match t {
        LogicalType::Decimal { scale, .. } => Some(scale),
        _ => None,
    };
    a == b || text(a) && text(b) || decimal(a).is_some() && decimal(a) == decimal(b)
}

/// Checks the types inside an expression.
fn expression(e: &Expr, plan: &Plan) -> Result<()> {
    let wrong = |what: &str| Err(defect(format!("{what} in {:?}", e.kind)));
    let boolean = |e: &Expr| e.ty == LogicalType::Boolean;
    match &e.kind {
        ExprKind::Subquery(_) => return wrong("a subquery that was not unnested"),
        // A cast between strings that changes nothing is left out, and the value keeps its own type.
        ExprKind::Let { column, value, body }
            if !comparable(plan.columns[*column].ty, value.ty) || !comparable(body.ty, e.ty) =>
        {
            return wrong("a let of another type");
        }
        ExprKind::Column(id) if plan.columns[*id].ty != e.ty => return wrong("a column of another type"),
        ExprKind::Compare(_, l, r)
        | ExprKind::Distinct {
            left: l, right: r, ..
        } if !comparable(l.ty, r.ty) => {
            return wrong("a comparison of different types");
        }
        ExprKind::And(list) | ExprKind::Or(list) if list.len() < 2 || !list.iter().all(boolean) => {
            return wrong("a part that is not boolean, or too few,");
        }
        ExprKind::Not(v) if !boolean(v) => return wrong("NOT of something not boolean"),
        ExprKind::Arithmetic(op, l, r) if !arithmetic_types(*op, l.ty, r.ty, e.ty) => {
            return wrong("arithmetic of types that do not go together");
        }
        ExprKind::ScalarSubquery(id) => match plan.subqueries.get(id.0) {
            Some((_, column)) if plan.columns[*column].ty == e.ty => {}
            _ => return wrong("an unknown subquery or one of another type"),
        },
        ExprKind::Case { branches, otherwise } => {
            if !branches.iter().all(|b| boolean(&b.0)) {
                return wrong("a condition that is not boolean");
            }
            let mut results = branches.iter().map(|b| &b.1).chain(otherwise.as_deref());
            if !results.all(|r| r.ty == e.ty || comparable(r.ty, e.ty)) {
                return wrong("a result of another type");
            }
        }
        _ => {}
    }
    e.children().into_iter().try_for_each(|c| expression(c, plan))
}

fn arithmetic_types(op: ArithmeticOp, l: LogicalType, r: LogicalType, result: LogicalType) -> bool {
    match result {
        LogicalType::Decimal { scale, .. } => match (l.scale(), r.scale()) {
            (Some(a), Some(b)) => match op {
                ArithmeticOp::Mul => a + b == scale,
                ArithmeticOp::Div => true,
                _ => a == scale && b == scale,
            },
            _ => false,
        },
        // Dates minus dates and the like are integers.
        _ => l == r && (l == result || result.is_integer()),
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
                    return Err(defect("turns whose rows no pipeline makes".into()));
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
