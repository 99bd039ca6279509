//! UNION, INTERSECT and EXCEPT.

use super::distinct::null_safe_equal;
use super::query::Literals;
use super::rows_calls::expanded;
use super::{Binder, OutputColumn, Relation, error};
use frazil_functions::{CastContext, Operand, compared_by};
use frazil_plan::operators::{Aggregate, Join, Map, UnionAll};
use frazil_plan::{
    AggregateCall, ArithmeticOp, COUNT, ColumnId, Expr, ExprKind, JoinKind, Operator, RowsCall,
};
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{SetExpr, SetOperator, SetQuantifier};

/// A side of a set operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl<'a> Binder<'a> {
    pub(super) fn set_operation(
        &mut self,
        op: SetOperator,
        quantifier: SetQuantifier,
        left: &'a SetExpr,
        right: &'a SetExpr,
    ) -> Result<Relation> {
        let all = match quantifier {
            SetQuantifier::All => true,
            SetQuantifier::None | SetQuantifier::Distinct => false,
            _ => return Err(Error::unsupported("a set operation BY NAME")),
        };
        let name = match op {
            SetOperator::Union => "UNION",
            SetOperator::Intersect => "INTERSECT",
            SetOperator::Except => "EXCEPT",
            SetOperator::Minus => return Err(Error::unsupported("MINUS (write EXCEPT)")),
        };
        let left = self.set_expression(left, Literals::Keep)?;
        let right = self.set_expression(right, Literals::Keep)?;
        if left.columns.len() != right.columns.len() {
            let message = format!("each {name} query must have the same number of columns");
            let span = right.columns.first().map_or(Span::NONE, |c| c.span);
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        let (left, right) = self.of_one_type(left, right, name)?;
        match (op, all) {
            (SetOperator::Union, true) => Ok(self.union(left, right)),
            (SetOperator::Union, false) => {
                let both = self.union(left, right);
                Ok(self.distinct_rows(both))
            }
            (SetOperator::Intersect, true) => self.counted(left, right, lesser),
            (_, true) => self.counted(left, right, difference),
            (SetOperator::Intersect, false) => Ok(self.matching(left, right, JoinKind::ProbeSemi)),
            (_, false) => Ok(self.matching(left, right, JoinKind::ProbeAnti)),
        }
    }

    /// Brings the columns of both sides to common types. 42804.
    pub(super) fn of_one_type(
        &mut self,
        left: Relation,
        right: Relation,
        name: &str,
    ) -> Result<(Relation, Relation)> {
        let mut types = Vec::with_capacity(left.columns.len());
        for (l, r) in left.columns.iter().zip(&right.columns) {
            let (l, r) = (self.operand(l), self.operand(r));
            types.push(self.typing.common_type(&[&l, &r], name)?);
        }
        Ok((
            self.cast_columns(left, &types)?,
            self.cast_columns(right, &types)?,
        ))
    }

    fn operand(&self, column: &OutputColumn) -> Operand {
        match &column.open {
            Some(open) => Operand::Unknown(open.clone()),
            None => Expr::column(column.id, &self.columns).at(column.span).into(),
        }
    }

    /// The relation with its columns cast where their types are others.
    pub(super) fn cast_columns(&mut self, relation: Relation, types: &[LogicalType]) -> Result<Relation> {
        let mut expressions: Vec<(ColumnId, Expr)> = Vec::new();
        let mut columns = Vec::with_capacity(types.len());
        for (column, ty) in relation.columns.into_iter().zip(types) {
            if column.open.is_none() && self.columns[column.id].ty == *ty {
                columns.push(column);
                continue;
            }
            let operand = self.operand(&column);
            let span = operand.span();
            let e = self.typing.cast(operand, *ty, CastContext::Implicit, span)?;
            let id = self.columns.add(column.name.clone(), e.ty, e.nullable);
            expressions.push((id, e));
            columns.push(OutputColumn::new(column.name, id));
        }
        let op = super::rows::Computed { expressions }.above(relation.op);
        Ok(Relation::new(op, columns))
    }

    pub(super) fn union(&mut self, left: Relation, right: Relation) -> Relation {
        let ids = |relation: &Relation| relation.columns.iter().map(|c| c.id).collect::<Vec<_>>();
        let (of_left, of_right) = (ids(&left), ids(&right));
        // A union of a union is one of all.
        if let Operator::UnionAll(UnionAll { mut inputs, columns }) = left.op {
            let made = columns.clone();
            if of_left == made {
                for (id, from) in made.iter().zip(&of_right) {
                    if self.domains.get(id) != self.domains.get(from) {
                        self.domains.remove(id);
                    }
                    self.columns[*id].nullable |= self.columns[*from].nullable;
                }
                inputs.push((right.op, of_right));
                let op = Operator::UnionAll(UnionAll { inputs, columns });
                return Relation::new(op, left.columns);
            }
            let left = Relation::new(Operator::UnionAll(UnionAll { inputs, columns }), left.columns);
            return self.union_of_two(left, right, (of_left, of_right));
        }
        self.union_of_two(left, right, (of_left, of_right))
    }

    fn union_of_two(
        &mut self,
        left: Relation,
        right: Relation,
        (of_left, of_right): (Vec<ColumnId>, Vec<ColumnId>),
    ) -> Relation {
        let mut columns = Vec::with_capacity(left.columns.len());
        for (l, r) in left.columns.iter().zip(&right.columns) {
            let nullable = self.columns[l.id].nullable || self.columns[r.id].nullable;
            let id = self.columns.add(l.name.clone(), self.columns[l.id].ty, nullable);
            let domain = self.domains.get(&l.id).copied();
            let common = domain.filter(|domain| self.domains.get(&r.id) == Some(domain));
            self.domains.extend(common.map(|domain| (id, domain)));
            columns.push(OutputColumn::new(l.name.clone(), id));
        }
        let op = Operator::UnionAll(UnionAll {
            inputs: vec![(left.op, of_left), (right.op, of_right)],
            columns: columns.iter().map(|c| c.id).collect(),
        });
        Relation::new(op, columns)
    }

    /// Distinct rows of the left with, or without, an equal row on the right. NULLs are equal.
    fn matching(&mut self, left: Relation, right: Relation, kind: JoinKind) -> Relation {
        let left = self.distinct_rows(left);
        for column in &left.columns {
            self.columns[column.id].origin = None;
        }
        let mut equal = Vec::with_capacity(left.columns.len());
        for (l, r) in left.columns.iter().zip(&right.columns) {
            let [l, r] = [l.id, r.id].map(|id| {
                let e = Expr::column(id, &self.columns);
                compared_by(e)
            });
            equal.push(null_safe_equal(r, l));
        }
        let op = Operator::Join(Join {
            kind,
            build: Box::new(right.op),
            probe: Box::new(left.op),
            keys: Vec::new(),
            residual: Expr::conjunction(equal),
            null_aware: false,
            in_order: false,
            first: None,
        });
        Relation::new(op, left.columns)
    }

    /// Multisets: each distinct row of both sides as often as `times` makes of how often either side has it. NULLs are
    /// equal. The rows of both sides are united, with the side they are from, and grouped by all other columns.
    fn counted(
        &mut self,
        left: Relation,
        right: Relation,
        times: fn(Expr, Expr) -> Expr,
    ) -> Result<Relation> {
        let (left, right) = (
            self.with_side(left, Side::Left),
            self.with_side(right, Side::Right),
        );
        let Relation { op, mut columns } = self.union(left, right);
        let Some(side) = columns.pop() else {
            return Err(Error::internal(
                "a union without the column that was added to its sides",
            ));
        };
        let of_left = Expr::column(side.id, &self.columns);
        let of_right = Expr::boolean(ExprKind::Not(Box::new(of_left.clone())), false);
        let mut groups = Vec::with_capacity(columns.len());
        for column in &mut columns {
            let e = Expr::column(column.id, &self.columns);
            column.id = self.columns.add(column.name.clone(), e.ty, e.nullable);
            self.own(column.id);
            groups.push((column.id, e));
        }
        let ids = ["left", "right"].map(|label| self.columns.add_count(label));
        let calls = [of_left, of_right].map(|filter| AggregateCall {
            filter: Some(filter),
            ..AggregateCall::count(None)
        });
        let [l, r] = ids.map(|id| Expr::column(id, &self.columns));
        let count = self.columns.add_count("times");
        let op = Operator::Aggregate(Aggregate {
            input: Box::new(op),
            groups,
            aggregates: ids.into_iter().zip(calls).collect(),
        });
        let op = Map::above(op, vec![(count, times(l, r))]);
        let one_by_one = self.columns.add_count("row");
        let call = RowsCall::up_to(Expr::column(count, &self.columns));
        Ok(Relation::new(
            expanded(op, vec![(one_by_one, call.into())], None, &mut self.columns),
            columns,
        ))
    }

    /// The relation with one more column: whether its rows are from the left side.
    fn with_side(&mut self, relation: Relation, side: Side) -> Relation {
        let Relation { op, mut columns } = relation;
        let id = self.columns.add_mark("side", false);
        columns.push(OutputColumn::new("side", id));
        let e = Expr::truth(side == Side::Left);
        let op = Map::above(op, vec![(id, e)]);
        Relation::new(op, columns)
    }
}

/// How often EXCEPT ALL gives a row that the left side has `left` times and the right side `right` times.
fn difference(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Arithmetic(ArithmeticOp::Sub, Box::new(left), Box::new(right));
    Expr::new(kind, COUNT, false)
}

/// As [`difference`], of INTERSECT ALL.
fn lesser(left: Expr, right: Expr) -> Expr {
    let fewer = ExprKind::Compare(CompareOp::Lt, Box::new(left.clone()), Box::new(right.clone()));
    let kind = ExprKind::Case {
        branches: vec![(Expr::boolean(fewer, false), left)],
        otherwise: Some(Box::new(right)),
    };
    Expr::new(kind, COUNT, false)
}
