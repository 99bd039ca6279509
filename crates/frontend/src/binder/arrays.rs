//! Arrays as syntax makes them: constructors, subscripts, slices, and `op ANY (array)`.

use super::rows::{Computed, one_group};
use super::{Binder, error};
use frazil_functions::{CastContext, Operand, Quantifier, Subscript, array_of_rows};
use frazil_plan::{AggregateKey, Expr, ExprKind, Subquery, SubqueryKind};
use frazil_types::{LogicalType, Result, Span, SqlState};
use sqlparser::ast::{AccessExpr, Expr as SqlExpr, Ident, Query, Subscript as SqlSubscript};

impl<'a> Binder<'a> {
    /// `ARRAY[…]`, and the lists in brackets within it. `element`: what a cast around it makes of the elements.
    pub(super) fn array(&mut self, elements: &'a [SqlExpr], element: Option<LogicalType>) -> Result<Operand> {
        let mut parts = Vec::with_capacity(elements.len());
        for e in elements {
            parts.push(match e {
                SqlExpr::Array(inner) => self.array(&inner.elem, element)?,
                e => self.expression(e)?,
            });
        }
        let spans = parts.iter().map(Operand::span);
        let inside = spans.reduce(Span::to).unwrap_or(Span::NONE);
        self.typing.array(parts, element, inside)
    }

    /// `x[1]`, `x[1:2][3]`, `t.x[1]`.
    pub(super) fn subscripted(&mut self, root: &'a SqlExpr, chain: &'a [AccessExpr]) -> Result<Operand> {
        let name = qualified_name(root, chain);
        let (x, chain) = match (self.field_of_row(root, chain)?, &name[..]) {
            (Some(field), _) => (field.into(), &chain[1..]),
            (None, []) => (self.expression(root)?, chain),
            (None, name) => (self.column(name)?.into(), &chain[name.len() - 1..]),
        };
        let (x, chain) = match (chain.first(), &x) {
            (Some(AccessExpr::Dot(SqlExpr::Identifier(field))), Operand::Typed(row)) => {
                match self.field_of_column(row, field)? {
                    Some(field) => (field.into(), &chain[1..]),
                    None => (x, chain),
                }
            }
            _ => (x, chain),
        };
        if chain.is_empty() {
            return Ok(x);
        }
        let span = x.span();
        let mut subscripts = Vec::with_capacity(chain.len());
        for access in chain {
            let AccessExpr::Subscript(subscript) = access else {
                let message = "column notation needs a row: there are no row types";
                return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
            };
            subscripts.push(match subscript {
                SqlSubscript::Index { index } => Subscript::Index(self.expression(index)?),
                SqlSubscript::Slice {
                    lower_bound,
                    upper_bound,
                    stride: None,
                } => {
                    let mut bound =
                        |e: &'a Option<SqlExpr>| e.as_ref().map(|e| self.expression(e)).transpose();
                    Subscript::Slice(bound(lower_bound)?, bound(upper_bound)?)
                }
                SqlSubscript::Slice { .. } => return Err(self.syntax_error(":", span)),
            });
        }
        self.typing.subscript(x, subscripts, span)
    }

    /// `x op ANY (array)`, `x op ALL (array)`. 42809 for what is no array.
    pub(super) fn quantified(
        &mut self,
        x: &'a SqlExpr,
        op: &str,
        right: &'a SqlExpr,
        quantifier: Quantifier,
    ) -> Result<Operand> {
        let x = self.expression(x)?;
        let at = self.place.operator_after(x.span(), op.len());
        let right = self.expression(right)?;
        let span = x.span().to(right.span());
        let made = self
            .typing
            .quantified((op, quantifier), &x, &right, at, &mut self.columns)?;
        match made {
            Some(made) => Ok(made.at(span)),
            None => self.any_of_elements((op, quantifier), x, right, at),
        }
    }

    /// `ARRAY(SELECT …)`: the values of the rows, in their order; no elements if there are no rows.
    pub(super) fn array_of_query(&mut self, query: &'a Query, span: Span) -> Result<Operand> {
        self.nesting.subquery()?;
        let relation = self.query(query)?;
        let id = self.one_column(&relation, span)?;
        let keys = relation.op.order().iter().map(|key| AggregateKey {
            e: Expr::column(key.column, &self.columns),
            descending: key.descending,
            nulls_first: key.nulls_first,
        });
        let value = Expr::column(id, &self.columns);
        let (call, made) = array_of_rows(value, keys.collect());
        let column = self.columns.add("rows", call.ty, true);
        let array = made(Expr::column(column, &self.columns))?;
        let ty = array.ty;
        let result = self.columns.add("array", ty, false);
        let made = Computed {
            expressions: vec![(result, array)],
        };
        let subquery = Subquery::new(
            SubqueryKind::Scalar,
            made.above(one_group(relation.op, vec![(column, call)])),
            vec![result],
        );
        let kind = ExprKind::Subquery(Box::new(subquery));
        Ok(Expr::new(kind, ty, true).at(span).into())
    }

    /// What a cast makes of `ARRAY[…]`: each element is cast.
    pub(super) fn array_cast(&mut self, x: &'a SqlExpr, ty: LogicalType) -> Result<Option<Operand>> {
        let mut x = x;
        while let SqlExpr::Nested(inner) = x {
            x = inner;
        }
        let (SqlExpr::Array(array), Some(element)) = (x, ty.element()) else {
            return Ok(None);
        };
        let array = self.array(&array.elem, Some(element))?;
        let span = array.span();
        // Elements that were arrays of another type are cast as a whole.
        let cast = self.typing.cast(array, ty, CastContext::Explicit, span)?;
        Ok(Some(cast.into()))
    }
}

/// The name of a column with what qualifies it, if a chain of fields begins with one; no parts if it does not.
fn qualified_name(root: &SqlExpr, chain: &[AccessExpr]) -> Vec<Ident> {
    let SqlExpr::Identifier(first) = root else {
        return Vec::new();
    };
    let fields = chain.iter().map_while(|access| match access {
        AccessExpr::Dot(SqlExpr::Identifier(field)) => Some(field),
        AccessExpr::Dot(_) | AccessExpr::Subscript(_) => None,
    });
    [first].into_iter().chain(fields).cloned().collect()
}
