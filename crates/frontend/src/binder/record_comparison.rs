//! Comparisons of whole rows as values: with operators, in lists, in BETWEEN, and with the rows of a subquery.
//! PostgreSQL compares `(a, b) = (c, d)` part by part. It compares the row that a relation's name stands for as one
//! value, in which NULLs equal each other.

use super::rows::Computed;
use super::whole_row::PartsAs;
use super::{Binder, OutputColumn, Relation, error};
use frazil_functions::{BetweenKind, Operand, Quantifier, Record};
use frazil_plan::{Expr, ExprKind, Subquery, SubqueryKind};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, Query, Select, SelectItem, SetExpr};

impl<'a> Binder<'a> {
    /// True for the name of a relation that stands for its row.
    pub(super) fn is_whole_row(&mut self, e: &SqlExpr) -> Result<bool> {
        Ok(self.whole_row(e)?.is_some())
    }

    /// True if an expression, or one of a list, is a whole row.
    pub(super) fn has_whole_row(&mut self, list: &[SqlExpr]) -> Result<bool> {
        for e in list {
            if self.is_whole_row(e)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A comparison with a whole row on either side; `None` if there is none.
    pub(super) fn compare_whole_rows(
        &mut self,
        left: &'a SqlExpr,
        op: &str,
        right: &'a SqlExpr,
    ) -> Result<Option<Operand>> {
        let is_left = self.is_whole_row(left)?;
        if !is_left && !self.is_whole_row(right)? {
            return Ok(None);
        }
        let Some((l, first)) = self.record(left, PartsAs::Values)? else {
            return Ok(None);
        };
        let at = self.place.operator_after(first, op.len());
        if is_left && let Some(query) = super::row_value::query_of(right) {
            return self.compare_with_row_of(l, op, query, at).map(Some);
        }
        let Some((r, last)) = self.record(right, PartsAs::Values)? else {
            return Ok(None);
        };
        let compared = self.typing.compare_records(op, (l, r), at, &mut self.columns)?;
        Ok(Some(compared.at(first.to(last))))
    }

    /// A whole row against the one row of a subquery: NULL if it has none, error 21000 if it has several.
    fn compare_with_row_of(&mut self, l: Record, op: &str, query: &'a Query, at: Span) -> Result<Operand> {
        self.nesting.subquery()?;
        let span = self.query_span(query);
        let mark = l.mark.clone();
        let (relation, compared) = self.condition_of_records(l, op, query, at)?;
        let compared = self.computed_in(relation, compared, op, span)?;
        // No row is NULL, which is distinct from each row that is there.
        let beside_none = match (op, mark) {
            ("is distinct from", None) => Expr::truth(true).into(),
            ("is not distinct from", None) => Expr::truth(false).into(),
            ("is distinct from", Some(mark)) => self.typing.not(self.typing.is_null(mark.into(), at)?, at)?,
            ("is not distinct from", Some(mark)) => self.typing.is_null(mark.into(), at)?,
            _ => return Ok(compared),
        };
        self.typing
            .coalesce(vec![compared, beside_none], span, &mut self.columns)
    }

    /// A condition that the one row of a relation computes: NULL without a row, error 21000 for several.
    fn computed_in(
        &mut self,
        relation: Relation,
        condition: Operand,
        what: &str,
        span: Span,
    ) -> Result<Operand> {
        let condition = self.typing.predicate(condition, what)?;
        let id = self.columns.add_mark("", true);
        let computed = Computed {
            expressions: vec![(id, condition)],
        };
        let subquery = Subquery::new(SubqueryKind::Scalar, computed.above(relation.op), vec![id]);
        let kind = ExprKind::Subquery(Box::new(subquery));
        Ok(Expr::boolean(kind, true).at(span).into())
    }

    /// IS NULL, negated IS NOT NULL, of a subquery's row: all columns are, or are not; without a row it is NULL. `None`
    /// if the subquery does not select one name.
    pub(super) fn null_test_of_query(&mut self, x: &'a SqlExpr, negated: bool) -> Result<Option<Operand>> {
        let Some(query) = super::row_value::query_of(x).filter(|query| only_item(query).is_some()) else {
            return Ok(None);
        };
        self.nesting.subquery()?;
        let span = self.query_span(query);
        let (relation, is_row) = self.query_of_rows(query)?;
        if !is_row {
            let value = self.value_of(relation, span)?;
            return self.null_test_of_value(value, negated).map(Some);
        }
        let values = self.record_of_columns(&relation.columns).values.into_iter();
        let each = values.map(|value| self.null_test(value.into(), negated));
        let all = self.typing.and(each.collect::<Result<_>>()?, span)?;
        let all = self.computed_in(relation, all, "IS NULL", span)?;
        let without_row = Expr::truth(!negated).into();
        let tested = self
            .typing
            .coalesce(vec![all, without_row], span, &mut self.columns)?;
        Ok(Some(tested))
    }

    /// Binds a subquery, which gives the columns of a relation if it selects the relation's row; true if it does.
    fn query_of_rows(&mut self, query: &'a Query) -> Result<(Relation, bool)> {
        let item = only_item(query);
        let outer = std::mem::replace(&mut self.row_item, item);
        let relation = self.query(query);
        let left = std::mem::replace(&mut self.row_item, outer);
        Ok((relation?, item.is_some() && left.is_none()))
    }

    /// Tests if a whole row compares with any row of a subquery, or with all; `None` if `x` is not a whole row.
    pub(super) fn any_record(
        &mut self,
        x: &'a SqlExpr,
        (op, quantifier): (&str, Quantifier),
        query: &'a Query,
    ) -> Result<Option<Operand>> {
        let Some(row) = self.whole_row(x)? else {
            return Ok(None);
        };
        self.nesting.subquery()?;
        let span = row.span();
        let at = self.place.operator_after(span, op.len());
        let l = self.record_of(row);
        let (relation, condition) = self.condition_of_records(l, op, query, at)?;
        self.any_of(condition, quantifier, relation, (span, at)).map(Some)
    }

    /// A subquery of whole rows, and the comparison of a row with its columns. 42601 for several columns, 42883 for one
    /// that is not a row, 0A000 for a row whose columns are not known any more.
    fn condition_of_records(
        &mut self,
        l: Record,
        op: &str,
        query: &'a Query,
        at: Span,
    ) -> Result<(Relation, Operand)> {
        let (relation, is_row) = self.query_of_rows(query)?;
        match &relation.columns[..] {
            _ if is_row => {}
            [only] if self.columns[only.id].ty == frazil_types::LogicalType::Record => {
                let what = "a comparison with a row of a subquery that is not the row of a relation";
                return Err(Error::unsupported(what).at_span(at));
            }
            [only] => {
                let ty = self.columns[only.id].ty.kind().name();
                let message = format!("operator does not exist: record {op} {ty}");
                return Err(error(SqlState::UNDEFINED_FUNCTION, message, at));
            }
            _ => {
                let message = "subquery must return only one column";
                return Err(error(SqlState::SYNTAX_ERROR, message, at));
            }
        }
        let r = self.record_of_columns(&relation.columns);
        let compared = self.typing.compare_records(op, (l, r), at, &mut self.columns)?;
        Ok((relation, compared))
    }

    fn record_of_columns(&self, columns: &[OutputColumn]) -> Record {
        let values = columns.iter().map(|c| Expr::column(c.id, &self.columns));
        Record {
            names: columns.iter().map(|c| c.name.clone()).collect(),
            values: values.collect(),
            open: Vec::new(),
            mark: None,
        }
    }

    /// `t IN (…)` of a whole row, or of rows of which some are whole.
    pub(super) fn records_in(
        &mut self,
        x: &'a SqlExpr,
        list: &'a [SqlExpr],
        negated: bool,
    ) -> Result<Operand> {
        let span = self.leaf_span(x);
        let mut any = Vec::with_capacity(list.len());
        for item in list {
            any.push(self.compare_rows(x, "=", item)?);
        }
        let bound = self.typing.or(any, span)?;
        self.negated(bound, negated, span)
    }

    /// `t BETWEEN … AND …` where at least one is a whole row.
    pub(super) fn records_between(
        &mut self,
        x: &'a SqlExpr,
        (low, high): (&'a SqlExpr, &'a SqlExpr),
        kind: BetweenKind,
        negated: bool,
    ) -> Result<Operand> {
        let span = self.leaf_span(x);
        let mut within = |low, high| {
            let from = self.compare_rows(x, ">=", low)?;
            let to = self.compare_rows(x, "<=", high)?;
            self.typing.and(vec![from, to], span)
        };
        let ordered = within(low, high)?;
        let bound = match kind {
            BetweenKind::Ordered => ordered,
            BetweenKind::Symmetric => {
                let turned = within(high, low)?;
                self.typing.or(vec![ordered, turned], span)?
            }
        };
        self.negated(bound, negated, span)
    }

    /// A comparison as the operator would be bound.
    fn compare_rows(&mut self, x: &'a SqlExpr, op: &str, item: &'a SqlExpr) -> Result<Operand> {
        match self.compare_whole_rows(x, op, item)? {
            Some(compared) => Ok(compared),
            None => self.row_operator(x, op, item),
        }
    }
}

/// The item of a query that selects one name; `None` for any other query.
fn only_item(query: &Query) -> Option<&SelectItem> {
    let mut body = &*query.body;
    loop {
        match body {
            SetExpr::Query(inner) => body = &inner.body,
            SetExpr::Select(select) => return only_name(select),
            _ => return None,
        }
    }
}

fn only_name(select: &Select) -> Option<&SelectItem> {
    match &select.projection[..] {
        [item @ (SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. })]
            if select.distinct.is_none() && matches!(e, SqlExpr::Identifier(_)) =>
        {
            Some(item)
        }
        _ => None,
    }
}
