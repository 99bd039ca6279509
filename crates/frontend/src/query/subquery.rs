//! Subqueries as joins.
//!
//! A subquery is translated like any query, only that its expressions may read columns of the queries
//! around it. Since every column has an id that is unique in the plan and operators hide nothing, a
//! predicate that reads such a column can be lifted as it stands: through filters, maps and inner
//! joins freely; through an aggregation if it says `inner = outer`, which makes `inner` a group. At
//! the top it becomes the condition of the join that takes the subquery's place:
//!
//! - EXISTS, IN as a conjunct: semi join; negated: anti join, for NOT IN aware of NULL;
//! - EXISTS, IN anywhere else: mark join, whose column stands for the predicate;
//! - a correlated scalar subquery: outer join on groups, each with one row; where there is no group,
//!   the value is that of the aggregates over no rows (count: 0), the rest NULL;
//! - an uncorrelated scalar subquery stays an expression, computed once.

use super::expression::{Context, is_null, not, or};
use super::relation::mapped;
use super::typing::constant_of;
use super::{Relation, Translator, join};
use datafusion_common::DFSchema;
use datafusion_expr::expr::{Exists, InSubquery};
use datafusion_expr::{Expr as DfExpr, Subquery};
use frazil_plan::{
    AggregateCall, AggregateFunction, ColumnId, Expr, ExprKind, JoinKind, Operator, RowCount, SubqueryId,
};
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, SqlState, Value};
use std::collections::HashSet;

/// A subquery with its correlated predicates lifted out.
struct Lifted {
    relation: Relation,
    conjuncts: Vec<Expr>,
    /// An aggregation that was grouped already took more groups.
    regrouped: bool,
}

fn refuse(form: &str) -> Error {
    Error::unsupported(format!("a correlated subquery {form}"))
        .with_hint("write it as a join, or with equality conditions in its WHERE clause")
}

/// All columns made in an operator tree.
fn made(op: &Operator, into: &mut HashSet<ColumnId>) {
    match op {
        Operator::Map { expressions, .. } => into.extend(expressions.iter().map(|e| e.0)),
        Operator::Join {
            kind: JoinKind::ProbeMark(mark),
            ..
        } => {
            into.insert(*mark);
        }
        Operator::Filter { .. } | Operator::Join { .. } | Operator::Sort { .. } | Operator::Limit { .. } => {}
        other => into.extend(other.visible()),
    }
    for input in op.inputs() {
        made(input, into);
    }
}

/// Lifts predicates that read columns from outside.
struct Lifting<'a> {
    translator: &'a mut Translator,
    own: HashSet<ColumnId>,
    exists: bool,
    regrouped: bool,
}

impl Lifting<'_> {
    fn is_free(&self, e: &Expr) -> bool {
        e.columns_read().iter().any(|c| !self.own.contains(c))
    }

    fn refuse_free<'e>(&self, mut all: impl Iterator<Item = &'e Expr>, form: &str) -> Result<()> {
        if all.any(|e| self.is_free(e)) {
            Err(refuse(form))
        } else {
            Ok(())
        }
    }

    fn lift(&mut self, op: Operator) -> Result<(Operator, Vec<Expr>)> {
        match op {
            Operator::Filter { input, predicate } => {
                let (input, mut lifted) = self.lift(*input)?;
                let (free, kept): (Vec<_>, Vec<_>) = predicate
                    .into_conjuncts()
                    .into_iter()
                    .partition(|e| self.is_free(e));
                lifted.extend(free);
                Ok((super::relation::filtered(input, kept), lifted))
            }
            Operator::Map { input, expressions } => {
                let (input, lifted) = self.lift(*input)?;
                self.refuse_free(
                    expressions.iter().map(|e| &e.1),
                    "that computes with outer columns",
                )?;
                Ok((mapped(input, expressions), lifted))
            }
            Operator::Join { .. } => self.lift_join(op),
            Operator::Aggregate {
                input,
                groups,
                aggregates,
            } => self.lift_aggregate(*input, groups, aggregates),
            Operator::Sort {
                input,
                limit: None,
                offset: RowCount::Constant(0),
                ..
            } => self.lift(*input),
            Operator::Sort {
                input,
                keys,
                limit,
                offset,
            } => {
                let (input, lifted) = self.lift(*input)?;
                self.lift_limit(lifted, input, limit, offset, |input, limit, offset| {
                    Operator::Sort {
                        input,
                        keys,
                        limit,
                        offset,
                    }
                })
            }
            Operator::Limit { input, limit, offset } => {
                let (input, lifted) = self.lift(*input)?;
                self.lift_limit(lifted, input, limit, offset, |input, limit, offset| {
                    Operator::Limit { input, limit, offset }
                })
            }
            Operator::UnionAll { inputs, columns } => self.lift_union(inputs, columns),
            Operator::Values { columns, rows } => {
                self.refuse_free(rows.iter().flatten(), "with outer columns in VALUES")?;
                Ok((Operator::Values { columns, rows }, Vec::new()))
            }
            other => Ok((other, Vec::new())),
        }
    }

    fn lift_union(
        &mut self,
        inputs: Vec<(Operator, Vec<ColumnId>)>,
        columns: Vec<ColumnId>,
    ) -> Result<(Operator, Vec<Expr>)> {
        let mut kept = Vec::new();
        for (input, ids) in inputs {
            let (input, lifted) = self.lift(input)?;
            if !lifted.is_empty() || ids.iter().any(|id| !self.own.contains(id)) {
                return Err(refuse("with UNION"));
            }
            kept.push((input, ids));
        }
        let union = Operator::UnionAll {
            inputs: kept,
            columns,
        };
        Ok((union, Vec::new()))
    }

    fn lift_limit(
        &self,
        lifted: Vec<Expr>,
        input: Operator,
        limit: Option<RowCount>,
        offset: RowCount,
        again: impl FnOnce(Box<Operator>, Option<RowCount>, RowCount) -> Operator,
    ) -> Result<(Operator, Vec<Expr>)> {
        if lifted.is_empty() {
            return Ok((again(Box::new(input), limit, offset), lifted));
        }
        // Whether a row exists does not depend on how many are asked for.
        if self.exists && offset.is_zero() && !limit.is_some_and(|l| l.is_zero()) {
            return Ok((input, lifted));
        }
        Err(refuse("with LIMIT"))
    }

    fn lift_join(&mut self, op: Operator) -> Result<(Operator, Vec<Expr>)> {
        let Operator::Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
        } = op
        else {
            return Err(Error::internal("no join"));
        };
        let (build, from_build) = self.lift(*build)?;
        let (probe, mut lifted) = self.lift(*probe)?;
        let outer = !matches!(kind, JoinKind::Inner);
        if outer && !from_build.is_empty() || kind == JoinKind::FullOuter && !lifted.is_empty() {
            return Err(refuse("in an outer or nested semi join"));
        }
        lifted.extend(from_build);
        let from_inputs = lifted.len();
        let (mut kept_keys, mut kept_residual) = (Vec::new(), Vec::new());
        for (b, p) in keys {
            if self.is_free(&b) || self.is_free(&p) {
                let nullable = b.nullable || p.nullable;
                let kind = ExprKind::Compare(CompareOp::Eq, Box::new(b), Box::new(p));
                lifted.push(Expr::boolean(kind, nullable));
            } else {
                kept_keys.push((b, p));
            }
        }
        for conjunct in residual.into_iter().flat_map(Expr::into_conjuncts) {
            if self.is_free(&conjunct) {
                lifted.push(conjunct);
            } else {
                kept_residual.push(conjunct);
            }
        }
        if outer && lifted.len() > from_inputs {
            return Err(refuse("over more than one level"));
        }
        let op = Operator::Join {
            kind,
            build: Box::new(build),
            probe: Box::new(probe),
            keys: kept_keys,
            residual: Expr::conjunction(kept_residual),
            null_aware,
        };
        Ok((op, lifted))
    }

    fn lift_aggregate(
        &mut self,
        input: Operator,
        mut groups: Vec<(ColumnId, Expr)>,
        aggregates: Vec<(ColumnId, AggregateCall)>,
    ) -> Result<(Operator, Vec<Expr>)> {
        let (input, lifted) = self.lift(input)?;
        self.refuse_free(groups.iter().map(|g| &g.1), "grouped by outer columns")?;
        let calls = aggregates
            .iter()
            .flat_map(|(_, a)| a.argument.iter().chain(&a.filter));
        self.refuse_free(calls, "with outer columns in an aggregate")?;
        self.regrouped |= !groups.is_empty() && !aggregates.is_empty() && !lifted.is_empty();
        let mut above = Vec::new();
        for mut conjunct in lifted {
            if aggregates.is_empty() {
                // Distinct rows: grouping by more columns keeps every match.
                let own: Vec<ColumnId> = conjunct
                    .columns_read()
                    .into_iter()
                    .filter(|c| self.own.contains(c))
                    .collect();
                for id in own {
                    let e = Expr::column(id, &self.translator.columns);
                    let group = self.group(&mut groups, e);
                    let columns = &self.translator.columns;
                    conjunct.replace_columns(&|c| (c == id).then(|| Expr::column(group, columns)));
                }
                above.push(conjunct);
                continue;
            }
            let (inner, outer) = self.equality(conjunct)?;
            let group = self.group(&mut groups, inner);
            let column = Expr::column(group, &self.translator.columns);
            above.push(self.translator.typing.compare(CompareOp::Eq, column, outer)?);
        }
        let op = Operator::Aggregate {
            input: Box::new(input),
            groups,
            aggregates,
        };
        Ok((op, above))
    }

    fn equality(&self, conjunct: Expr) -> Result<(Expr, Expr)> {
        let (is_own, is_outer) = (
            |e: &Expr| !self.is_free(e) && !e.columns_read().is_empty(),
            |e: &Expr| e.columns_read().iter().all(|c| !self.own.contains(c)),
        );
        if let ExprKind::Compare(CompareOp::Eq, l, r) = conjunct.kind {
            if is_own(&l) && is_outer(&r) {
                return Ok((*l, *r));
            }
            if is_own(&r) && is_outer(&l) {
                return Ok((*r, *l));
            }
        }
        Err(refuse(
            "with an aggregate and a condition other than inner = outer",
        ))
    }

    fn group(&mut self, groups: &mut Vec<(ColumnId, Expr)>, e: Expr) -> ColumnId {
        if let Some((id, _)) = groups.iter().find(|g| g.1 == e) {
            return *id;
        }
        let label = match e.kind {
            ExprKind::Column(id) => self.translator.columns[id].label.clone(),
            _ => "group".to_string(),
        };
        let id = self.translator.columns.add(label, e.ty, e.nullable);
        self.own.insert(id);
        groups.push((id, e));
        id
    }
}

impl Translator {
    fn lifted(&mut self, cx: &Context, subquery: &Subquery, exists: bool) -> Result<Lifted> {
        self.outer.push(cx.scope());
        let relation = self.relation(&subquery.subquery);
        self.outer.pop();
        let Relation { op, out } = relation?;
        let mut own = HashSet::new();
        made(&op, &mut own);
        let mut lifting = Lifting {
            translator: self,
            own,
            exists,
            regrouped: false,
        };
        let (op, conjuncts) = lifting.lift(op)?;
        let regrouped = lifting.regrouped;
        Ok(Lifted {
            relation: Relation { op, out },
            conjuncts,
            regrouped,
        })
    }

    /// A conjunct of WHERE or HAVING with a subquery in it.
    pub(super) fn subquery_conjunct(
        &mut self,
        op: Operator,
        schema: &DFSchema,
        out: &[ColumnId],
        e: &DfExpr,
    ) -> Result<Operator> {
        let mut cx = Context {
            schema,
            out,
            input: Some(op),
        };
        let (inner, flip) = match e {
            DfExpr::Not(inner) => (&**inner, true),
            e => (e, false),
        };
        match inner {
            DfExpr::Exists(x) => self.exists_conjunct(cx, &x.subquery, x.negated != flip),
            DfExpr::InSubquery(x) => self.in_conjunct(cx, x, x.negated != flip),
            _ => {
                let conjunct = self.expression(&mut cx, e)?;
                let conjunct = self.as_predicate(conjunct)?;
                Ok(super::relation::filtered(rows(cx)?, vec![conjunct]))
            }
        }
    }

    fn exists_conjunct(&mut self, cx: Context, subquery: &Subquery, negated: bool) -> Result<Operator> {
        let Lifted {
            relation, conjuncts, ..
        } = self.lifted(&cx, subquery, true)?;
        let build = if conjuncts.is_empty() {
            first_row(relation.op)
        } else {
            relation.op
        };
        let kind = if negated {
            JoinKind::ProbeAnti
        } else {
            JoinKind::ProbeSemi
        };
        Ok(join::build(kind, build, rows(cx)?, conjuncts))
    }

    fn in_conjunct(&mut self, mut cx: Context, x: &InSubquery, negated: bool) -> Result<Operator> {
        let value = self.expression(&mut cx, &x.expr)?;
        let Lifted {
            relation,
            mut conjuncts,
            ..
        } = self.lifted(&cx, &x.subquery, false)?;
        let (equal, nullable) = self.membership(value, &relation)?;
        let probe = rows(cx)?;
        if !negated {
            conjuncts.insert(0, equal);
            return Ok(join::build(JoinKind::ProbeSemi, relation.op, probe, conjuncts));
        }
        if !nullable {
            conjuncts.insert(0, equal);
            return Ok(join::build(JoinKind::ProbeAnti, relation.op, probe, conjuncts));
        }
        let build_columns: HashSet<ColumnId> = relation.op.visible().into_iter().collect();
        if conjuncts.is_empty()
            && let Some(key) = join::as_key(&equal, &build_columns)
        {
            return Ok(Operator::Join {
                kind: JoinKind::ProbeAnti,
                build: Box::new(relation.op),
                probe: Box::new(probe),
                keys: vec![key],
                residual: None,
                null_aware: true,
            });
        }
        // x NOT IN (…) holds if no row makes x = y true or unknown.
        conjuncts.push(not_false(equal));
        Ok(join::build(JoinKind::ProbeAnti, relation.op, probe, conjuncts))
    }

    /// `value = column of the subquery`, and whether it may be unknown.
    fn membership(&mut self, value: Expr, relation: &Relation) -> Result<(Expr, bool)> {
        let [column] = relation.out[..] else {
            return Err(Error::new(
                SqlState::SYNTAX_ERROR,
                "subquery has too many columns",
            ));
        };
        let equal = self
            .typing
            .compare(CompareOp::Eq, value, Expr::column(column, &self.columns))?;
        let nullable = equal.nullable;
        Ok((equal, nullable))
    }

    /// EXISTS as an expression.
    pub(super) fn exists_mark(&mut self, cx: &mut Context, x: &Exists) -> Result<Expr> {
        let Lifted {
            relation, conjuncts, ..
        } = self.lifted(cx, &x.subquery, true)?;
        let build = if conjuncts.is_empty() {
            first_row(relation.op)
        } else {
            relation.op
        };
        let mark = self.columns.add("exists", LogicalType::Boolean, false);
        let joined = join::build(JoinKind::ProbeMark(mark), build, take_rows(cx)?, conjuncts);
        cx.input = Some(joined);
        let mark = Expr::column(mark, &self.columns);
        Ok(if x.negated { not(mark) } else { mark })
    }

    /// IN as an expression.
    pub(super) fn in_mark(&mut self, cx: &mut Context, x: &InSubquery) -> Result<Expr> {
        let value = self.expression(cx, &x.expr)?;
        let Lifted {
            relation,
            mut conjuncts,
            ..
        } = self.lifted(cx, &x.subquery, false)?;
        let (equal, nullable) = self.membership(value, &relation)?;
        let build_columns: HashSet<ColumnId> = relation.op.visible().into_iter().collect();
        let mark = self.columns.add("in", LogicalType::Boolean, nullable);
        let joined = if nullable {
            let key = join::as_key(&equal, &build_columns).filter(|_| conjuncts.is_empty());
            let key =
                key.ok_or_else(|| refuse("after IN that may compare with NULL, inside an expression"))?;
            Operator::Join {
                kind: JoinKind::ProbeMark(mark),
                build: Box::new(relation.op),
                probe: Box::new(take_rows(cx)?),
                keys: vec![key],
                residual: None,
                null_aware: true,
            }
        } else {
            conjuncts.insert(0, equal);
            join::build(JoinKind::ProbeMark(mark), relation.op, take_rows(cx)?, conjuncts)
        };
        cx.input = Some(joined);
        let mark = Expr::column(mark, &self.columns);
        Ok(if x.negated { not(mark) } else { mark })
    }

    /// A scalar subquery.
    pub(super) fn scalar_subquery(&mut self, cx: &mut Context, subquery: &Subquery) -> Result<Expr> {
        let Lifted {
            relation,
            conjuncts,
            regrouped,
        } = self.lifted(cx, subquery, false)?;
        let [column] = relation.out[..] else {
            return Err(Error::new(
                SqlState::SYNTAX_ERROR,
                "subquery must return only one column",
            ));
        };
        let ty = self.columns[column].ty;
        if conjuncts.is_empty() {
            if !relation.op.visible().contains(&column) {
                return Err(refuse("that returns an outer column"));
            }
            let id = SubqueryId(self.subqueries.len());
            self.subqueries.push((relation.op, column));
            return Ok(Expr {
                kind: ExprKind::ScalarSubquery(id),
                ty,
                nullable: true,
                span: Span::NONE,
            });
        }
        if regrouped {
            return Err(refuse("that is a scalar with GROUP BY"));
        }
        let empty = self.value_over_no_rows(&relation.op, column)?;
        let (mut build, mut marker) = (relation.op, None);
        if !is_surely_null(&empty) {
            let made = self.columns.add("matched", LogicalType::Boolean, false);
            let constant = Expr::constant(Value::Bool(true), LogicalType::Boolean);
            build = mapped(build, vec![(made, constant)]);
            marker = Some(made);
        }
        self.make_nullable(&build);
        let joined = join::build(JoinKind::ProbeOuter, build, take_rows(cx)?, conjuncts);
        cx.input = Some(joined);
        let value = Expr::column(column, &self.columns);
        match marker {
            None => Ok(value),
            Some(marker) => {
                let unmatched = is_null(Expr::column(marker, &self.columns));
                self.make_case(vec![unmatched], vec![empty], value)
            }
        }
    }

    /// What a correlated scalar subquery gives where no row matches: its expression over the
    /// aggregates of no rows. Refuses a subquery that may give several rows.
    fn value_over_no_rows(&self, op: &Operator, column: ColumnId) -> Result<Expr> {
        let mut value = Expr::column(column, &self.columns);
        let (mut at, mut filtered) = (op, false);
        loop {
            match at {
                Operator::Map { input, expressions } => {
                    value.replace_columns(&|id| expressions.iter().find(|e| e.0 == id).map(|e| e.1.clone()));
                    at = input;
                }
                Operator::Filter { input, .. } => {
                    filtered = true;
                    at = input;
                }
                Operator::Aggregate { aggregates, .. } if !aggregates.is_empty() => {
                    value.replace_columns(&|id| {
                        let (_, call) = aggregates.iter().find(|a| a.0 == id)?;
                        let counts = matches!(
                            call.function,
                            AggregateFunction::Count | AggregateFunction::CountRows
                        );
                        let over_none = if counts { Value::Int(0) } else { Value::Null };
                        Some(Expr::constant(over_none, call.ty))
                    });
                    if filtered && !is_surely_null(&value) {
                        return Err(refuse("with HAVING over a count"));
                    }
                    if !value.columns_read().is_empty() {
                        return Err(refuse("that returns a grouped column"));
                    }
                    return Ok(value);
                }
                _ => return Err(refuse("that is a scalar without an aggregate")),
            }
        }
    }
}

fn rows(cx: Context) -> Result<Operator> {
    cx.input
        .ok_or_else(|| Error::unsupported("a subquery in this place"))
}

fn take_rows(cx: &mut Context) -> Result<Operator> {
    cx.input
        .take()
        .ok_or_else(|| Error::unsupported("a correlated or IN subquery in a join condition or VALUES"))
}

fn first_row(op: Operator) -> Operator {
    Operator::Limit {
        input: Box::new(op),
        limit: Some(RowCount::Constant(1)),
        offset: RowCount::Constant(0),
    }
}

/// True where `e` is true or unknown.
fn not_false(e: Expr) -> Expr {
    let ExprKind::Compare(_, l, r) = &e.kind else {
        return or(vec![is_null(e.clone()), e]);
    };
    let (l_null, r_null) = (is_null((**l).clone()), is_null((**r).clone()));
    or(vec![e, l_null, r_null])
}

fn is_surely_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Constant(v) => v.is_null(),
        ExprKind::Arithmetic(_, l, r) | ExprKind::Compare(_, l, r) => is_surely_null(l) || is_surely_null(r),
        ExprKind::Cast(inner) | ExprKind::Negate(inner) | ExprKind::Not(inner) => is_surely_null(inner),
        _ => constant_of(e).is_some_and(Value::is_null),
    }
}
