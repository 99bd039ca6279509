//! Nodes of DataFusion's logical plan → operators.

use super::typing::constant_of;
use super::{Relation, Translator};
use crate::catalog_view::{Source, SourceKind};
use arrow::datatypes::DataType;
use datafusion_common::{DFSchema, NullEquality};
use datafusion_expr::{
    Distinct, Expr as DfExpr, ExprSchemable, JoinType, LogicalPlan, Projection, Sort, TableScan, Union,
    Values,
};
use frazil_plan::{ColumnId, Expr, ExprKind, JoinKind, Operator, RowCount, SortKey};
use frazil_types::{CompareOp, Error, LogicalType, Result, SqlState, Value};

impl Translator {
    /// A node and all below it.
    pub(super) fn relation(&mut self, plan: &LogicalPlan) -> Result<Relation> {
        match plan {
            LogicalPlan::Projection(p) => self.projection(p),
            LogicalPlan::Filter(f) => {
                let input = self.relation(&f.input)?;
                self.filter(input, f.input.schema(), &f.predicate)
            }
            LogicalPlan::Aggregate(a) => self.aggregate(a),
            LogicalPlan::Sort(s) => self.sort(s),
            LogicalPlan::Join(j) => self.join(j),
            LogicalPlan::Union(u) => self.union(u),
            LogicalPlan::TableScan(t) => self.scan(t),
            LogicalPlan::EmptyRelation(e) => Ok(Relation {
                op: Operator::Values {
                    columns: Vec::new(),
                    rows: if e.produce_one_row {
                        vec![Vec::new()]
                    } else {
                        Vec::new()
                    },
                },
                out: Vec::new(),
            }),
            LogicalPlan::SubqueryAlias(s) => self.relation(&s.input),
            LogicalPlan::Limit(l) => {
                let input = self.relation(&l.input)?;
                let count = |e: &Option<Box<DfExpr>>| e.as_deref().map(row_count).transpose();
                let (limit, offset) = (count(&l.fetch)?.flatten(), count(&l.skip)?.flatten());
                Ok(limited(input, limit, offset.unwrap_or(0)))
            }
            LogicalPlan::Values(v) => self.values(v),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let input = self.relation(input)?;
                Ok(self.distinct(input))
            }
            LogicalPlan::Distinct(Distinct::On(_)) => Err(Error::unsupported("DISTINCT ON")),
            LogicalPlan::Window(_) => Err(Error::unsupported("a window function")),
            LogicalPlan::RecursiveQuery(_) => Err(Error::unsupported("WITH RECURSIVE")),
            LogicalPlan::Unnest(_) => Err(Error::unsupported("UNNEST")),
            LogicalPlan::Subquery(_) => Err(Error::unsupported("LATERAL")),
            other => {
                let text = other.display().to_string();
                Err(Error::unsupported(text.split(':').next().unwrap_or("this node")))
            }
        }
    }

    fn projection(&mut self, p: &Projection) -> Result<Relation> {
        let input = self.relation(&p.input)?;
        let (mut op, mut added, mut out) = (input.op, Vec::new(), Vec::new());
        for (e, field) in p.expr.iter().zip(p.schema.fields()) {
            let expression;
            (op, expression) = self.expression_over(op, p.input.schema(), &input.out, e)?;
            out.push(self.materialize(expression, field.name(), &mut added));
        }
        Ok(Relation {
            op: mapped(op, added),
            out,
        })
    }

    /// Filters by a predicate; its EXISTS and IN conjuncts become semi joins.
    pub(super) fn filter(
        &mut self,
        input: Relation,
        schema: &DFSchema,
        predicate: &DfExpr,
    ) -> Result<Relation> {
        let mut conjuncts = Vec::new();
        split_conjunction(predicate, &mut conjuncts);
        let Relation { mut op, out } = input;
        let (plain, subqueries): (Vec<_>, Vec<_>) =
            conjuncts.into_iter().partition(|e| !contains_subquery(e));
        let mut translated = Vec::new();
        for e in plain {
            let conjunct;
            (op, conjunct) = self.expression_over(op, schema, &out, e)?;
            translated.push(never_null(self.as_predicate(conjunct)?));
        }
        op = filtered(op, translated);
        for e in subqueries {
            op = self.subquery_conjunct(op, schema, &out, e)?;
        }
        Ok(Relation { op, out })
    }

    /// Requires a boolean.
    pub(super) fn as_predicate(&self, e: Expr) -> Result<Expr> {
        if e.ty == LogicalType::Boolean {
            return Ok(e);
        }
        if self.typing.is_untyped(&e) {
            return self.typing.cast(e, LogicalType::Boolean);
        }
        Err(Error::new(
            SqlState::DATATYPE_MISMATCH,
            format!("a condition must be boolean, not {}", e.ty),
        ))
    }

    fn sort(&mut self, s: &Sort) -> Result<Relation> {
        let input = self.relation(&s.input)?;
        let (mut op, mut added, mut keys) = (input.op, Vec::new(), Vec::new());
        for key in &s.expr {
            let expression;
            (op, expression) = self.expression_over(op, s.input.schema(), &input.out, &key.expr)?;
            if constant_of(&expression).is_some() {
                continue;
            }
            let column = self.materialize(expression, "sort key", &mut added);
            keys.push(SortKey {
                column,
                descending: !key.asc,
                nulls_first: key.nulls_first,
            });
        }
        let op = mapped(op, added);
        let limit = s.fetch.map(|n| RowCount::Constant(n as u64));
        if keys.is_empty() && limit.is_none() {
            return Ok(Relation { op, out: input.out });
        }
        Ok(Relation {
            op: Operator::Sort {
                input: Box::new(op),
                keys,
                limit,
                offset: RowCount::Constant(0),
            },
            out: input.out,
        })
    }

    fn join(&mut self, j: &datafusion_expr::Join) -> Result<Relation> {
        let left = self.relation(&j.left)?;
        let right = self.relation(&j.right)?;
        let mut conjuncts = Vec::new();
        let both: Vec<ColumnId> = left.out.iter().chain(&right.out).copied().collect();
        let null_safe = j.null_equality == NullEquality::NullEqualsNull;
        for (l, r) in &j.on {
            let l = self.simple_expression(j.left.schema(), &left.out, l)?;
            let r = self.simple_expression(j.right.schema(), &right.out, r)?;
            conjuncts.push(if null_safe && (l.nullable || r.nullable) {
                let (l, r) = self.typing.pair(l, r)?;
                null_safe_equal(l, r)
            } else {
                self.typing.compare(CompareOp::Eq, l, r)?
            });
        }
        if let Some(filter) = &j.filter {
            let schema = j.left.schema().join(j.right.schema());
            let schema = schema.map_err(crate::errors::from_datafusion)?;
            let condition = self.simple_expression(&schema, &both, filter)?;
            conjuncts.extend(self.as_predicate(condition)?.into_conjuncts());
        }
        let (left_op, right_op) = (left.op, right.op);
        let (op, out) = match j.join_type {
            JoinType::Inner => {
                let op = super::join::build(JoinKind::Inner, right_op, left_op, conjuncts);
                (op, both)
            }
            JoinType::Left => {
                self.make_nullable(&right_op);
                (
                    super::join::build(JoinKind::ProbeOuter, right_op, left_op, conjuncts),
                    both,
                )
            }
            JoinType::Right => {
                self.make_nullable(&left_op);
                (
                    super::join::build(JoinKind::ProbeOuter, left_op, right_op, conjuncts),
                    both,
                )
            }
            JoinType::Full => {
                self.make_nullable(&left_op);
                self.make_nullable(&right_op);
                (
                    super::join::build(JoinKind::FullOuter, right_op, left_op, conjuncts),
                    both,
                )
            }
            JoinType::LeftSemi => {
                let op = super::join::build(JoinKind::ProbeSemi, right_op, left_op, conjuncts);
                (op, left.out)
            }
            JoinType::LeftAnti => {
                let op = super::join::build(JoinKind::ProbeAnti, right_op, left_op, conjuncts);
                (op, left.out)
            }
            other => return Err(Error::unsupported(format!("a {other} join"))),
        };
        Ok(Relation { op, out })
    }

    /// The columns of the side of an outer join that may have no partner.
    pub(super) fn make_nullable(&mut self, op: &Operator) {
        for id in op.visible() {
            self.columns[id].nullable = true;
        }
    }

    fn union(&mut self, u: &Union) -> Result<Relation> {
        let inputs = u
            .inputs
            .iter()
            .map(|i| self.relation(i))
            .collect::<Result<Vec<_>>>()?;
        let width = inputs.first().map_or(0, |i| i.out.len());
        if inputs.iter().any(|i| i.out.len() != width) {
            return Err(Error::new(
                SqlState::SYNTAX_ERROR,
                "each UNION query must have the same number of columns",
            ));
        }
        let mut types = Vec::new();
        let mut columns = Vec::new();
        for (i, field) in u.schema.fields().iter().enumerate() {
            let parts: Vec<Expr> = inputs
                .iter()
                .map(|input| defining_expression(&input.op, input.out[i], &self.columns))
                .collect();
            let ty = self
                .typing
                .common_type(&parts.iter().collect::<Vec<_>>(), "UNION")?;
            let nullable = parts.iter().any(|p| p.nullable);
            types.push(ty);
            columns.push(self.columns.add(field.name(), ty, nullable));
        }
        let mut made = Vec::new();
        for input in inputs {
            let (mut added, mut ids) = (Vec::new(), Vec::new());
            for (id, ty) in input.out.iter().zip(&types) {
                let e = if self.columns[*id].ty == *ty {
                    Expr::column(*id, &self.columns)
                } else {
                    let e = defining_expression(&input.op, *id, &self.columns);
                    self.typing.cast(e, *ty)?
                };
                ids.push(self.materialize(e, "union", &mut added));
            }
            made.push((mapped(input.op, added), ids));
        }
        Ok(Relation {
            op: Operator::UnionAll {
                inputs: made,
                columns: columns.clone(),
            },
            out: columns,
        })
    }

    fn scan(&mut self, t: &TableScan) -> Result<Relation> {
        let source = t.source.downcast_ref::<Source>();
        let source = source.ok_or_else(|| Error::internal("a table that is not ours"))?;
        let positions: Vec<usize> = match &t.projection {
            Some(p) => p.clone(),
            None => (0..source.columns.len()).collect(),
        };
        match &source.kind {
            SourceKind::Table { id, name } => {
                let (mut columns, mut out, mut row_id) = (Vec::new(), Vec::new(), None);
                for position in positions {
                    let c = &source.columns[position];
                    let column = self.columns.add(&c.name, c.ty, c.nullable);
                    out.push(column);
                    if c.name == crate::catalog_view::ROW_ID {
                        row_id = Some(column);
                    } else {
                        columns.push((column, position));
                    }
                }
                let op = Operator::Scan {
                    table: *id,
                    name: name.clone(),
                    columns,
                    row_id,
                    restrictions: Vec::new(),
                    disjunctions: Vec::new(),
                };
                Ok(Relation { op, out })
            }
            SourceKind::Shared(id) => {
                let from = self.shared[id.0].1.clone();
                let mut columns = Vec::new();
                for position in positions {
                    let c = &source.columns[position];
                    let column = self.columns.add(&c.name, c.ty, c.nullable);
                    columns.push((column, from[position]));
                }
                let out = columns.iter().map(|c| c.0).collect();
                Ok(Relation {
                    op: Operator::Shared { id: *id, columns },
                    out,
                })
            }
        }
    }

    fn values(&mut self, v: &Values) -> Result<Relation> {
        let empty = DFSchema::empty();
        let expected = std::mem::take(&mut self.expected);
        let apart = self.row_width.take();
        let fields = v.schema.fields();
        let width = apart.unwrap_or(fields.len());
        let with_doubles: Vec<bool> = (0..width).map(|i| makes_decimals_of_doubles(v, i)).collect();
        let mut rows = Vec::with_capacity(v.values.len());
        for row in v.values.iter().flat_map(|row| row.chunks(width)) {
            let row = row.iter().zip(&with_doubles).map(|(e, with_doubles)| {
                let e = if *with_doubles { without_cast(e) } else { e };
                self.simple_expression(&empty, &[], e)
            });
            rows.push(row.collect::<Result<Vec<_>>>()?);
        }
        let mut columns = Vec::new();
        for (i, field) in fields.iter().enumerate().take(width) {
            let parts: Vec<&Expr> = rows.iter().map(|r| &r[i]).collect();
            let ty = match expected.get(i) {
                Some(ty) if apart.is_some() || parts.iter().all(|p| self.typing.is_untyped(p)) => *ty,
                _ => self.typing.common_type(&parts, "VALUES")?,
            };
            let nullable = parts.iter().any(|p| p.nullable);
            for row in rows.iter_mut().filter(|_| apart.is_none()) {
                let e = std::mem::replace(&mut row[i], Expr::constant(Value::Null, ty));
                row[i] = self.typing.cast(e, ty)?;
            }
            columns.push(self.columns.add(field.name(), ty, nullable));
        }
        Ok(Relation {
            op: Operator::Values {
                columns: columns.clone(),
                rows,
            },
            out: columns,
        })
    }

    /// Distinct rows: groups of all columns.
    fn distinct(&mut self, input: Relation) -> Relation {
        let mut groups: Vec<(ColumnId, Expr)> = Vec::new();
        let mut out = Vec::new();
        for id in input.out {
            let e = Expr::column(id, &self.columns);
            if let Some((known, _)) = groups.iter().find(|g| g.1 == e) {
                out.push(*known);
                continue;
            }
            let label = self.columns[id].label.clone();
            let made = self.columns.add(label, e.ty, e.nullable);
            groups.push((made, e));
            out.push(made);
        }
        let op = Operator::Aggregate {
            input: Box::new(input.op),
            groups,
            aggregates: Vec::new(),
        };
        Relation { op, out }
    }
}

/// The constant a column of a Map or one-row VALUES stands for, or the column: `SELECT NULL UNION …`.
fn defining_expression(op: &Operator, id: ColumnId, columns: &frazil_plan::Columns) -> Expr {
    if let Operator::Map { input, expressions } = op {
        return match expressions.iter().find(|e| e.0 == id) {
            Some((_, e)) if constant_of(e).is_some() => e.clone(),
            Some(_) => Expr::column(id, columns),
            None => defining_expression(input, id, columns),
        };
    }
    Expr::column(id, columns)
}

/// `l IS NOT DISTINCT FROM r`.
pub(super) fn null_safe_equal(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Distinct {
        left: Box::new(left),
        right: Box::new(right),
        negated: true,
    };
    Expr::boolean(kind, false)
}

/// A Map above `op`, if there is anything to compute.
pub(super) fn mapped(op: Operator, expressions: Vec<(ColumnId, Expr)>) -> Operator {
    if expressions.is_empty() {
        return op;
    }
    Operator::Map {
        input: Box::new(op),
        expressions,
    }
}

/// A Filter above `op`, if there is anything to ask.
pub(super) fn filtered(op: Operator, conjuncts: Vec<Expr>) -> Operator {
    let conjuncts = conjuncts.into_iter().flat_map(Expr::into_conjuncts).collect();
    match Expr::conjunction(conjuncts) {
        Some(predicate) => Operator::Filter {
            input: Box::new(op),
            predicate,
        },
        None => op,
    }
}

fn limited(input: Relation, limit: Option<u64>, offset: u64) -> Relation {
    let Relation { mut op, out } = input;
    if let Operator::Sort {
        limit: kept @ None,
        offset: skipped @ RowCount::Constant(0),
        ..
    } = &mut op
    {
        *kept = limit.map(RowCount::Constant);
        *skipped = RowCount::Constant(offset);
        return Relation { op, out };
    }
    if limit.is_some() || offset > 0 {
        let input = Box::new(op);
        op = Operator::Limit {
            input,
            limit: limit.map(RowCount::Constant),
            offset: RowCount::Constant(offset),
        };
    }
    Relation { op, out }
}

/// The number in LIMIT or OFFSET; `None` for NULL.
fn row_count(e: &DfExpr) -> Result<Option<u64>> {
    use datafusion_common::ScalarValue;
    let of = |n: i128| {
        u64::try_from(n)
            .map(Some)
            .map_err(|_| Error::new(SqlState("2201W"), "LIMIT and OFFSET must not be negative"))
    };
    match e {
        DfExpr::Literal(ScalarValue::Int64(Some(n)), _) => of((*n).into()),
        DfExpr::Literal(ScalarValue::UInt64(Some(n)), _) => of((*n).into()),
        DfExpr::Literal(v, _) if v.is_null() => Ok(None),
        DfExpr::Cast(c) => row_count(&c.expr),
        _ => Err(Error::unsupported("LIMIT or OFFSET that is no whole constant")),
    }
}

/// Whether DataFusion has made a column of VALUES decimals, some of which are doubles that do not fit them: beside a
/// double we make doubles of all. (Doubles and decimals that a query itself casts to such wide decimals look alike.)
fn makes_decimals_of_doubles(v: &Values, column: usize) -> bool {
    let Some(to @ DataType::Decimal128(30.., 15..)) = v.schema.fields().get(column).map(|f| f.data_type())
    else {
        return false;
    };
    let parts = || v.values.iter().filter_map(|row| row.get(column));
    let types = || parts().map(|e| without_cast(e).get_type(&DFSchema::empty()));
    let is_cast = |e: &DfExpr| matches!(e, DfExpr::Cast(c) if c.field.data_type() == to);
    parts().any(is_cast)
        && types().any(|ty| matches!(ty, Ok(DataType::Float64)))
        && types().any(|ty| matches!(ty, Ok(DataType::Decimal128(..))))
}

/// What is cast, or the expression.
fn without_cast(e: &DfExpr) -> &DfExpr {
    match e {
        DfExpr::Cast(c) => &c.expr,
        _ => e,
    }
}

fn split_conjunction<'a>(e: &'a DfExpr, into: &mut Vec<&'a DfExpr>) {
    match e {
        DfExpr::BinaryExpr(b) if b.op == datafusion_expr::Operator::And => {
            split_conjunction(&b.left, into);
            split_conjunction(&b.right, into);
        }
        DfExpr::Alias(a) => split_conjunction(&a.expr, into),
        _ => into.push(e),
    }
}

/// In a filter NULL is as good as false.
fn never_null(e: Expr) -> Expr {
    match constant_of(&e) {
        Some(Value::Null) => Expr::constant(Value::Bool(false), LogicalType::Boolean),
        _ => e,
    }
}

/// Whether an EXISTS, IN or correlated subquery is in it: such conjuncts come after the plain ones.
fn contains_subquery(e: &DfExpr) -> bool {
    use datafusion_common::tree_node::TreeNode;
    e.exists(|e| {
        Ok(match e {
            DfExpr::Exists(_) | DfExpr::InSubquery(_) | DfExpr::SetComparison(_) => true,
            DfExpr::ScalarSubquery(s) => !s.outer_ref_columns.is_empty(),
            _ => false,
        })
    })
    .unwrap_or(true)
}
