//! DataFusion's expressions → ours.

use super::relation::null_safe_equal;
use super::typing::constant_of;
use super::{Scope, Translator};
use crate::sql_type;
use datafusion_common::{DFSchema, ScalarValue};
use datafusion_expr::expr::{Between, BinaryExpr, Case, InList, Like};
use datafusion_expr::{Expr as DfExpr, Operator as DfOperator};
use frazil_plan::{ArithmeticOp, ColumnId, Expr, ExprKind, Operator, ScalarFunction};
use frazil_types::{CompareOp, Error, Interval, LogicalType, Result, Span, SqlState, Value};

/// Where an expression stands: the names it sees, and the rows it is computed over, to which its
/// subqueries are joined. Without rows, subqueries that need a join are refused.
pub(super) struct Context<'a> {
    pub schema: &'a DFSchema,
    pub out: &'a [ColumnId],
    pub input: Option<Operator>,
}

impl Context<'_> {
    pub fn scope(&self) -> Scope {
        Scope {
            schema: self.schema.clone(),
            out: self.out.to_vec(),
        }
    }
}

fn boolean(value: bool) -> Expr {
    Expr::constant(Value::Bool(value), LogicalType::Boolean)
}

impl Translator {
    /// An expression over the rows of `op`; subqueries in it add joins.
    pub(super) fn expression_over(
        &mut self,
        op: Operator,
        schema: &DFSchema,
        out: &[ColumnId],
        e: &DfExpr,
    ) -> Result<(Operator, Expr)> {
        let mut context = Context {
            schema,
            out,
            input: Some(op),
        };
        let e = self.expression(&mut context, e)?;
        let op = context
            .input
            .ok_or_else(|| Error::internal("rows lost in translation"))?;
        Ok((op, e))
    }

    /// An expression where no join can be added.
    pub(super) fn simple_expression(
        &mut self,
        schema: &DFSchema,
        out: &[ColumnId],
        e: &DfExpr,
    ) -> Result<Expr> {
        let mut context = Context {
            schema,
            out,
            input: None,
        };
        self.expression(&mut context, e)
    }

    pub(super) fn expression(&mut self, cx: &mut Context, e: &DfExpr) -> Result<Expr> {
        match e {
            DfExpr::Alias(a) => self.expression(cx, &a.expr),
            DfExpr::Column(c) => self.column_of(cx.schema, cx.out, c),
            DfExpr::OuterReferenceColumn(_, c) => self.outer_column(c),
            DfExpr::Literal(v, _) => literal(v),
            DfExpr::BinaryExpr(b) => self.binary(cx, b),
            DfExpr::Like(l) => self.like(cx, l),
            DfExpr::Not(inner) => {
                let inner = self.expression(cx, inner)?;
                Ok(not(self.as_predicate(inner)?))
            }
            DfExpr::IsNull(inner) => self.expression(cx, inner).map(is_null),
            DfExpr::IsNotNull(inner) => self.expression(cx, inner).map(|e| not(is_null(e))),
            DfExpr::IsTrue(inner) => self.truth(cx, inner, true, true),
            DfExpr::IsNotTrue(inner) => self.truth(cx, inner, true, false),
            DfExpr::IsFalse(inner) => self.truth(cx, inner, false, true),
            DfExpr::IsNotFalse(inner) => self.truth(cx, inner, false, false),
            DfExpr::IsUnknown(inner) => self.expression(cx, inner).map(is_null),
            DfExpr::IsNotUnknown(inner) => self.expression(cx, inner).map(|e| not(is_null(e))),
            DfExpr::Negative(inner) => {
                let inner = self.expression(cx, inner)?;
                self.typing.negate(inner)
            }
            DfExpr::Between(b) => self.between(cx, b),
            DfExpr::Case(c) => self.case(cx, c),
            DfExpr::Cast(c) => {
                let inner = self.expression(cx, &c.expr)?;
                self.explicit_cast(inner, sql_type::of_field(&c.field)?)
            }
            DfExpr::ScalarFunction(f) => self.function(cx, f),
            DfExpr::InList(list) => self.in_list(cx, list),
            DfExpr::Exists(x) => self.exists_mark(cx, x),
            DfExpr::InSubquery(x) => self.in_mark(cx, x),
            DfExpr::ScalarSubquery(s) => self.scalar_subquery(cx, s),
            DfExpr::Placeholder(p) => {
                let index = p.id.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
                match index {
                    Some(n) if (1..=65_535).contains(&n) => Ok(self.typing.parameter(n - 1)),
                    _ => Err(Error::new(
                        SqlState::UNDEFINED_PARAMETER,
                        format!("there is no parameter {}; parameters are $1, $2, …", p.id),
                    )),
                }
            }
            DfExpr::AggregateFunction(_) => Err(Error::new(
                SqlState::GROUPING_ERROR,
                "aggregate functions are not allowed here",
            )),
            DfExpr::WindowFunction(_) => Err(Error::unsupported("a window function")),
            DfExpr::TryCast(_) => Err(Error::unsupported("TRY_CAST")),
            DfExpr::SimilarTo(_) => Err(Error::unsupported("SIMILAR TO")),
            DfExpr::SetComparison(_) => Err(Error::unsupported("a comparison with ANY or ALL of a subquery")),
            other => Err(Error::unsupported(format!("the expression {other}"))),
        }
    }

    fn outer_column(&mut self, c: &datafusion_common::Column) -> Result<Expr> {
        for scope in self.outer.iter().rev() {
            if let Some(index) = scope.schema.maybe_index_of_column(c) {
                return Ok(Expr::column(scope.out[index], &self.columns));
            }
        }
        Err(Error::new(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{}\" does not exist", c.name),
        ))
    }

    fn binary(&mut self, cx: &mut Context, b: &BinaryExpr) -> Result<Expr> {
        let l = self.expression(cx, &b.left)?;
        let r = self.expression(cx, &b.right)?;
        let compare = |op| self.typing.compare(op, l.clone(), r.clone());
        match b.op {
            DfOperator::Eq => compare(CompareOp::Eq),
            DfOperator::NotEq => compare(CompareOp::Ne),
            DfOperator::Lt => compare(CompareOp::Lt),
            DfOperator::LtEq => compare(CompareOp::Le),
            DfOperator::Gt => compare(CompareOp::Gt),
            DfOperator::GtEq => compare(CompareOp::Ge),
            DfOperator::And => Ok(and(vec![self.as_predicate(l)?, self.as_predicate(r)?])),
            DfOperator::Or => Ok(or(vec![self.as_predicate(l)?, self.as_predicate(r)?])),
            DfOperator::Plus => self.typing.arithmetic(ArithmeticOp::Add, l, r),
            DfOperator::Minus => self.typing.arithmetic(ArithmeticOp::Sub, l, r),
            DfOperator::Multiply => self.typing.arithmetic(ArithmeticOp::Mul, l, r),
            DfOperator::Divide => self.typing.arithmetic(ArithmeticOp::Div, l, r),
            DfOperator::Modulo => self.typing.arithmetic(ArithmeticOp::Rem, l, r),
            DfOperator::IsDistinctFrom | DfOperator::IsNotDistinctFrom => {
                let (l, r) = self.typing.pair(l, r)?;
                let same = null_safe_equal(l, r);
                Ok(if b.op == DfOperator::IsDistinctFrom {
                    not(same)
                } else {
                    same
                })
            }
            other => Err(Error::unsupported(format!("the operator {other}"))),
        }
    }

    fn like(&mut self, cx: &mut Context, l: &Like) -> Result<Expr> {
        let mut value = self.expression(cx, &l.expr)?;
        let pattern = self.expression(cx, &l.pattern)?;
        let mut pattern = match constant_of(&pattern) {
            Some(Value::Text(t)) => t.clone(),
            Some(Value::Null) => return Ok(Expr::constant(Value::Null, LogicalType::Boolean)),
            _ => return Err(Error::unsupported("LIKE with a pattern that is no constant")),
        };
        if !value.ty.is_string() {
            return Err(super::typing::no_operator("~~", value.ty, LogicalType::Text));
        }
        if l.case_insensitive {
            value = lower(self.typing.cast(value, LogicalType::Text)?);
            pattern = pattern.to_lowercase();
        }
        let escape = Some(l.escape_char.unwrap_or('\\'));
        if pattern.ends_with('\\') && escape == Some('\\') && !pattern.ends_with("\\\\") {
            return Err(Error::new(
                SqlState::INVALID_ESCAPE,
                "LIKE pattern must not end with escape character",
            ));
        }
        if value.ty == LogicalType::Char(1) || constant_of(&value).is_some() {
            value = self.typing.cast(value, LogicalType::Text)?;
        }
        let nullable = value.nullable;
        Ok(Expr::boolean(
            ExprKind::Like {
                value: Box::new(value),
                pattern,
                escape,
                negated: l.negated,
            },
            nullable,
        ))
    }

    /// `x IS [NOT] TRUE` and `x IS [NOT] FALSE`: never NULL.
    fn truth(&mut self, cx: &mut Context, inner: &DfExpr, wanted: bool, is: bool) -> Result<Expr> {
        let inner = self.expression(cx, inner)?;
        let inner = self.as_predicate(inner)?;
        let condition = if wanted { inner } else { not(inner) };
        if !condition.nullable {
            return Ok(if is { condition } else { not(condition) });
        }
        Ok(Expr::boolean(
            ExprKind::Case {
                branches: vec![(condition, boolean(is))],
                otherwise: Some(Box::new(boolean(!is))),
            },
            false,
        ))
    }

    fn between(&mut self, cx: &mut Context, b: &Between) -> Result<Expr> {
        let value = self.expression(cx, &b.expr)?;
        let low = self.expression(cx, &b.low)?;
        let high = self.expression(cx, &b.high)?;
        let from = self.typing.compare(CompareOp::Ge, value.clone(), low)?;
        let to = self.typing.compare(CompareOp::Le, value, high)?;
        let within = and(vec![from, to]);
        Ok(if b.negated { not(within) } else { within })
    }

    fn case(&mut self, cx: &mut Context, c: &Case) -> Result<Expr> {
        let operand = c.expr.as_ref().map(|e| self.expression(cx, e)).transpose()?;
        let (mut conditions, mut results) = (Vec::new(), Vec::new());
        for (when, then) in &c.when_then_expr {
            let when = self.expression(cx, when)?;
            conditions.push(match &operand {
                Some(operand) => self.typing.compare(CompareOp::Eq, operand.clone(), when)?,
                None => self.as_predicate(when)?,
            });
            results.push(self.expression(cx, then)?);
        }
        let otherwise = match &c.else_expr {
            Some(e) => self.expression(cx, e)?,
            None => Expr::constant(Value::Null, LogicalType::Text),
        };
        self.make_case(conditions, results, otherwise)
    }

    /// A CASE whose results are brought to one type.
    pub(super) fn make_case(
        &self,
        conditions: Vec<Expr>,
        results: Vec<Expr>,
        otherwise: Expr,
    ) -> Result<Expr> {
        let parts: Vec<&Expr> = results.iter().chain([&otherwise]).collect();
        let ty = self.typing.common_type(&parts, "CASE")?;
        let otherwise = self.typing.cast(otherwise, ty)?;
        let mut branches = Vec::new();
        for (condition, result) in conditions.into_iter().zip(results) {
            branches.push((condition, self.typing.cast(result, ty)?));
        }
        let nullable = otherwise.nullable || branches.iter().any(|b| b.1.nullable);
        let otherwise = (constant_of(&otherwise) != Some(&Value::Null)).then(|| Box::new(otherwise));
        Ok(Expr {
            kind: ExprKind::Case { branches, otherwise },
            ty,
            nullable,
            span: Span::NONE,
        })
    }

    /// CAST and `::`. Unlike an assignment, a cast to char(n) or varchar(n) cuts what is too long.
    pub(super) fn explicit_cast(&self, e: Expr, ty: LogicalType) -> Result<Expr> {
        let (LogicalType::Char(n) | LogicalType::Varchar(n)) = ty else {
            return self.typing.cast(e, ty);
        };
        let text = self.typing.cast(e, LogicalType::Text)?;
        if let Some(Value::Text(t)) = constant_of(&text) {
            let cut: String = t.chars().take(n as usize).collect();
            return self
                .typing
                .cast(Expr::constant(Value::Text(cut), LogicalType::Text), ty);
        }
        let nullable = text.nullable;
        let number = |n: i128| Expr::constant(Value::Int(n), LogicalType::Integer);
        let cut = Expr {
            kind: ExprKind::Function(ScalarFunction::Substring, vec![text, number(1), number(n.into())]),
            ty: LogicalType::Text,
            nullable,
            span: Span::NONE,
        };
        self.typing.cast(cut, ty)
    }

    fn in_list(&mut self, cx: &mut Context, list: &InList) -> Result<Expr> {
        let value = self.expression(cx, &list.expr)?;
        let (mut constants, mut rest) = (Vec::new(), Vec::new());
        for item in &list.list {
            let item = self.expression(cx, item)?;
            let equal = self.typing.compare(CompareOp::Eq, value.clone(), item)?;
            match &equal.kind {
                ExprKind::Compare(CompareOp::Eq, l, r) if **l == value => match constant_of(r) {
                    Some(v) if r.ty == value.ty || value.ty.is_string() => {
                        if !constants.contains(v) {
                            constants.push(v.clone());
                        }
                    }
                    _ => rest.push(equal),
                },
                _ => rest.push(equal),
            }
        }
        match constants.len() {
            0 => {}
            1 => {
                let ty = if value.ty == LogicalType::Char(1) || !value.ty.is_string() {
                    value.ty
                } else {
                    LogicalType::Text
                };
                let constant = Expr::constant(constants.remove(0), ty);
                rest.insert(0, self.typing.compare(CompareOp::Eq, value, constant)?);
            }
            _ => {
                let nullable = value.nullable;
                let kind = ExprKind::InList {
                    value: Box::new(value),
                    list: constants,
                    negated: false,
                };
                rest.insert(0, Expr::boolean(kind, nullable));
            }
        }
        let found = or(rest);
        Ok(if list.negated { not(found) } else { found })
    }
}

/// lower(text).
fn lower(text: Expr) -> Expr {
    let nullable = text.nullable;
    Expr {
        kind: ExprKind::Function(ScalarFunction::Lower, vec![text]),
        ty: LogicalType::Text,
        nullable,
        span: Span::NONE,
    }
}

/// A literal: integers as narrow as they fit, decimals exact.
fn literal(v: &ScalarValue) -> Result<Expr> {
    let exact = |v: i128| {
        let ty = if i32::try_from(v).is_ok() {
            LogicalType::Integer
        } else if i64::try_from(v).is_ok() {
            LogicalType::BigInt
        } else {
            LogicalType::Decimal {
                precision: 38,
                scale: 0,
            }
        };
        Ok(Expr::constant(Value::Int(v), ty))
    };
    let interval = |months, days, micros| {
        let i = Interval { months, days, micros };
        Ok(Expr::constant(Value::Interval(i), LogicalType::Interval))
    };
    match v {
        ScalarValue::Int64(Some(v)) => exact((*v).into()),
        ScalarValue::Int32(Some(v)) => exact((*v).into()),
        ScalarValue::UInt64(Some(v)) => exact((*v).into()),
        ScalarValue::Decimal128(Some(v), precision, scale) if *scale >= 0 => {
            let ty = LogicalType::Decimal {
                precision: (*precision).clamp(1, 38),
                scale: *scale as u8,
            };
            Ok(Expr::constant(Value::Int(*v), ty))
        }
        ScalarValue::Decimal128(Some(v), _, scale) => {
            let power = frazil_types::decimal::POWERS_OF_TEN.get(usize::from(scale.unsigned_abs()));
            match power.and_then(|p| v.checked_mul(*p)) {
                Some(v) => exact(v),
                None => Err(super::convert::out_of_range(LogicalType::Decimal {
                    precision: 38,
                    scale: 0,
                })),
            }
        }
        ScalarValue::Decimal256(..) => Err(Error::new(
            SqlState::NUMERIC_OUT_OF_RANGE,
            "a number of more than 38 digits",
        )),
        ScalarValue::Float64(Some(v)) => Ok(Expr::constant(Value::Double(*v), LogicalType::Double)),
        ScalarValue::Boolean(Some(v)) => Ok(boolean(*v)),
        ScalarValue::Utf8(Some(v)) | ScalarValue::Utf8View(Some(v)) | ScalarValue::LargeUtf8(Some(v)) => {
            Ok(Expr::constant(Value::Text(v.clone()), LogicalType::Text))
        }
        ScalarValue::IntervalMonthDayNano(Some(i)) if i.nanoseconds % 1000 == 0 => {
            interval(i.months, i.days, i.nanoseconds / 1000)
        }
        ScalarValue::IntervalYearMonth(Some(months)) => interval(*months, 0, 0),
        ScalarValue::IntervalDayTime(Some(i)) => interval(0, i.days, i64::from(i.milliseconds) * 1000),
        v if v.is_null() => Ok(Expr::constant(Value::Null, LogicalType::Text)),
        other => Err(Error::unsupported(format!("the literal {other}"))),
    }
}

/// IS NULL, known at once for what is never NULL.
pub(super) fn is_null(e: Expr) -> Expr {
    if let Some(v) = constant_of(&e) {
        return boolean(v.is_null());
    }
    if !e.nullable {
        return boolean(false);
    }
    Expr::boolean(ExprKind::IsNull(Box::new(e)), false)
}

/// Negation, moved inwards as far as it goes.
pub(super) fn not(e: Expr) -> Expr {
    let (ty, nullable) = (e.ty, e.nullable);
    let kind = match e.kind {
        ExprKind::Constant(Value::Bool(b)) => ExprKind::Constant(Value::Bool(!b)),
        ExprKind::Constant(Value::Null) => ExprKind::Constant(Value::Null),
        ExprKind::Not(inner) => return *inner,
        ExprKind::Compare(op, l, r) => ExprKind::Compare(op.negate(), l, r),
        ExprKind::And(parts) => return or(parts.into_iter().map(not).collect()),
        ExprKind::Or(parts) => return and(parts.into_iter().map(not).collect()),
        ExprKind::InList { value, list, negated } => ExprKind::InList {
            value,
            list,
            negated: !negated,
        },
        ExprKind::Like {
            value,
            pattern,
            escape,
            negated,
        } => ExprKind::Like {
            value,
            pattern,
            escape,
            negated: !negated,
        },
        ExprKind::Distinct { left, right, negated } => ExprKind::Distinct {
            left,
            right,
            negated: !negated,
        },
        kind => ExprKind::Not(Box::new(Expr {
            kind,
            ty,
            nullable,
            span: Span::NONE,
        })),
    };
    Expr {
        kind,
        ty,
        nullable,
        span: Span::NONE,
    }
}

fn gather(parts: Vec<Expr>, conjunction: bool) -> Vec<Expr> {
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        match part.kind {
            ExprKind::And(inner) if conjunction => out.extend(inner),
            ExprKind::Or(inner) if !conjunction => out.extend(inner),
            ExprKind::Constant(Value::Bool(b)) if b == conjunction => {}
            _ => out.push(part),
        }
    }
    out
}

fn combine(parts: Vec<Expr>, conjunction: bool) -> Expr {
    let mut parts = gather(parts, conjunction);
    let decides = |e: &Expr| matches!(e.kind, ExprKind::Constant(Value::Bool(b)) if b != conjunction);
    if parts.iter().any(decides) {
        return boolean(!conjunction);
    }
    match parts.len() {
        0 => boolean(conjunction),
        1 => parts.remove(0),
        _ => {
            let nullable = parts.iter().any(|p| p.nullable);
            let kind = if conjunction {
                ExprKind::And(parts)
            } else {
                ExprKind::Or(parts)
            };
            Expr::boolean(kind, nullable)
        }
    }
}

/// Conjunction of any number of predicates, flattened, constants folded.
pub(super) fn and(parts: Vec<Expr>) -> Expr {
    combine(parts, true)
}

/// Disjunction of any number of predicates, flattened, constants folded.
pub(super) fn or(parts: Vec<Expr>) -> Expr {
    combine(parts, false)
}
