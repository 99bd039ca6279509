//! Subqueries inside expressions: scalar ones, EXISTS, IN, ANY and ALL.

use super::expression::{boolean, operator_name, row_span};
use super::rows::one_row;
use super::rows_calls::expanded;
use super::scope::Clause;
use super::{Binder, OutputColumn, Relation, error};
use frazil_functions::{Operand, Quantifier, TypedRowsCall};
use frazil_plan::{Expr, ExprKind, RowsCall, Subquery, SubqueryKind};
use frazil_types::{Result, Span, SqlState};
use sqlparser::ast::{BinaryOperator, Expr as SqlExpr, Query, SetExpr};

impl<'a> Binder<'a> {
    /// `(SELECT …)` as a value.
    pub(super) fn scalar_subquery(&mut self, query: &'a Query) -> Result<Operand> {
        self.nesting.subquery()?;
        let span = self.query_span(query);
        let relation = self.query(query)?;
        self.value_of(relation, span)
    }

    /// The value of the one row of a relation with one column. 42601 for several columns.
    pub(super) fn value_of(&mut self, relation: Relation, span: Span) -> Result<Operand> {
        let id = self.one_column(&relation, span)?;
        let ty = self.columns[id].ty;
        let subquery = Subquery::new(SubqueryKind::Scalar, relation.op, vec![id]);
        let kind = ExprKind::Subquery(Box::new(subquery));
        Ok(Expr::new(kind, ty, true).at(span).into())
    }

    pub(super) fn exists(&mut self, query: &'a Query, negated: bool) -> Result<Operand> {
        self.nesting.subquery()?;
        let span = self.query_span(query);
        let relation = self.query(query)?;
        let columns = relation.columns.iter().map(|c| c.id).collect();
        let subquery = Subquery::new(SubqueryKind::Exists, relation.op, columns);
        let kind = ExprKind::Subquery(Box::new(subquery));
        self.negated(boolean(kind, false, span), negated, span)
    }

    /// `x IN (SELECT …)`, also of a row value.
    pub(super) fn in_subquery(&mut self, x: &'a SqlExpr, query: &'a Query, negated: bool) -> Result<Operand> {
        let any = self.any(x, "=", query, Quantifier::Any)?;
        let span = any.span();
        self.negated(any, negated, span)
    }

    pub(super) fn any_or_all(
        &mut self,
        x: &'a SqlExpr,
        op: &'a BinaryOperator,
        right: &'a SqlExpr,
        quantifier: Quantifier,
    ) -> Result<Operand> {
        let name = operator_name(op)?;
        let mut right = right;
        while let SqlExpr::Nested(inner) = right {
            right = inner;
        }
        match right {
            SqlExpr::Subquery(query) => self.any(x, &name, query, quantifier),
            right => self.quantified(x, &name, right, quantifier),
        }
    }

    /// Whether a condition holds for any element of an array, or for all: asked of the rows that `unnest` gives.
    pub(super) fn any_of_elements(
        &mut self,
        (op, quantifier): (&str, Quantifier),
        x: Operand,
        array: Operand,
        at: Span,
    ) -> Result<Operand> {
        let mut array = self.typing.settle(array)?;
        if array.nullable {
            // What a missing array holds is not known: a NULL, as far as conditions go.
            let unknown = self
                .typing
                .array(vec![Operand::null(at)], array.ty.element(), at)?;
            let known = vec![array.into(), unknown];
            let given = self.typing.coalesce(known, at, &mut self.columns)?;
            array = self.typing.settle(given)?;
        }
        let call = TypedRowsCall::from(RowsCall::elements(array));
        let id = self.columns.add("element", call.ty(), true);
        let relation = Relation::new(
            expanded(one_row(), vec![(id, call)], None, &mut self.columns),
            vec![OutputColumn::new("element", id)],
        );
        self.any_row((op, quantifier), vec![x], relation, at)
    }

    /// Whether a condition holds for any row of a subquery, or for all.
    fn any(&mut self, x: &'a SqlExpr, op: &str, query: &'a Query, quantifier: Quantifier) -> Result<Operand> {
        if let Some(any) = self.any_record(x, (op, quantifier), query)? {
            return Ok(any);
        }
        self.nesting.subquery()?;
        let left = match self.row_value(x)? {
            Some(parts) => parts,
            None => vec![self.expression(x)?],
        };
        let span = row_span(&left);
        let at = self.place.operator_after(span, op.len());
        let relation = self.query(query)?;
        self.any_row((op, quantifier), left, relation, at)
    }

    /// Whether a condition holds for any row of a relation, or for all.
    fn any_row(
        &mut self,
        (op, quantifier): (&str, Quantifier),
        left: Vec<Operand>,
        relation: Relation,
        at: Span,
    ) -> Result<Operand> {
        let span = row_span(&left);
        let condition = self.condition_on(left, op, &relation, at)?;
        self.any_of(condition, quantifier, relation, (span, at))
    }

    /// Tests if a condition that reads a relation holds for any of its rows, or for all.
    pub(super) fn any_of(
        &mut self,
        condition: Operand,
        quantifier: Quantifier,
        relation: Relation,
        (span, at): (Span, Span),
    ) -> Result<Operand> {
        let condition = match quantifier {
            Quantifier::Any => condition,
            Quantifier::All => self.typing.not(condition, at)?,
        };
        let condition = self.typing.predicate(condition, "IN")?;
        let columns = relation.columns.iter().map(|c| c.id).collect();
        let subquery = Subquery::new(SubqueryKind::Any(condition), relation.op, columns);
        let kind = ExprKind::Subquery(Box::new(subquery));
        let any = boolean(kind, true, span);
        self.negated(any, quantifier == Quantifier::All, span)
    }

    /// The comparison of an operand or row with a subquery's columns. 42601.
    pub(super) fn condition_on(
        &mut self,
        left: Vec<Operand>,
        op: &str,
        relation: &Relation,
        at: Span,
    ) -> Result<Operand> {
        if relation.columns.len() != left.len() {
            let message = if relation.columns.len() > left.len() {
                "subquery has too many columns"
            } else {
                "subquery has too few columns"
            };
            return Err(error(SqlState::SYNTAX_ERROR, message, at));
        }
        let mut right: Vec<Operand> = relation
            .columns
            .iter()
            .map(|c| Expr::column(c.id, &self.columns).into())
            .collect();
        let mut left = left;
        match (left.pop(), right.pop()) {
            (Some(l), Some(r)) if left.is_empty() => self.typing.infix(op, l, r, at, &mut self.columns),
            (Some(l), Some(r)) => {
                left.push(l);
                right.push(r);
                self.typing.row_compare(op, left, right, at, &mut self.columns)
            }
            _ => Err(error(SqlState::SYNTAX_ERROR, "subquery has too few columns", at)),
        }
    }

    /// Where a subquery begins.
    pub(super) fn query_span(&self, query: &Query) -> Span {
        let with = query.with.as_ref().map(|w| w.with_token.0.span);
        let mut body = &*query.body;
        let begins = loop {
            match body {
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Query(inner) => body = &inner.body,
                SetExpr::Select(select) => break Some(select.select_token.0.span),
                SetExpr::Values(values) => break values.rows.first().map(|r| r.opening_token.0.span),
                _ => break None,
            }
        };
        let Some(begins) = with.or(begins) else {
            return Span::NONE;
        };
        let span = self.place.span(begins);
        // An error points at the parenthesis.
        let before = self.place.text().get(..span.start as usize).unwrap_or_default();
        match before.trim_end().strip_suffix('(') {
            Some(outside) => Span::new(outside.len(), outside.len() + 1).to(span),
            None => span,
        }
    }

    /// Whether aggregates may stand in the clause being bound; its name if not.
    pub(super) fn clause_without_aggregates(&self, depth: u32) -> Option<&'static str> {
        let level = self.levels.get((depth as usize).checked_sub(1)?)?;
        Clause::without_aggregates(level.clause)
    }
}
