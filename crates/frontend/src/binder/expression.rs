//! Expressions: sqlparser's nodes handed to the type rules, with the place of each.

use super::row_value::is_row;
use super::{Binder, error, fold};
use crate::parse::{IS_DISTINCT_FROM, IS_NOT_DISTINCT_FROM, SYMMETRIC};
use frazil_functions::{
    BetweenKind, CastContext, LikeKind, Operand, Quantifier, Truth, Typing, negated_literal,
};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr as SqlExpr, ObjectName, UnaryOperator, Value, ValueWithSpan,
};

/// Highest number of a parameter.
const MAX_PARAMETER: usize = 65_535;

impl<'a> Binder<'a> {
    /// Binds an expression. What no rule typed is still open.
    pub(super) fn expression(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        self.nesting.limits.cancel.check()?;
        match e {
            SqlExpr::Identifier(name) => match self.row_as_value(e)? {
                Some(row) => Ok(row),
                None => Ok(self.column(std::slice::from_ref(name))?.into()),
            },
            SqlExpr::Tuple(_) | SqlExpr::Function(_) if is_row(e) => {
                let row = self.row_as_value(e)?;
                row.ok_or_else(|| Error::internal("a row value without parts"))
            }
            SqlExpr::CompoundIdentifier(parts) => Ok(self.column(parts)?.into()),
            SqlExpr::Nested(inner) => self.expression(inner),
            SqlExpr::Value(value) => self.value(value),
            SqlExpr::BinaryOp { left, op, right } => self.binary(left, op, right, e),
            SqlExpr::UnaryOp { op, expr } => self.unary(*op, expr),
            SqlExpr::Between {
                expr,
                negated,
                low,
                high,
            } => self.between(expr, *negated, low, high),
            SqlExpr::Like { any: false, .. }
            | SqlExpr::ILike { any: false, .. }
            | SqlExpr::SimilarTo { .. } => self.pattern_test(e),
            SqlExpr::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            SqlExpr::InSubquery {
                expr,
                subquery,
                negated,
            } => self.in_subquery(expr, subquery, *negated),
            SqlExpr::AnyOp {
                left,
                compare_op,
                right,
                ..
            } => self.any_or_all(left, compare_op, right, Quantifier::Any),
            SqlExpr::AllOp {
                left,
                compare_op,
                right,
            } => self.any_or_all(left, compare_op, right, Quantifier::All),
            SqlExpr::Exists { subquery, negated } => self.exists(subquery, *negated),
            SqlExpr::Subquery(query) => self.scalar_subquery(query),
            SqlExpr::Case { .. } => self.case(e),
            SqlExpr::Cast {
                kind,
                expr,
                data_type,
                array: false,
                format: None,
            } => self.cast(kind, expr, data_type),
            SqlExpr::TypedString(typed) if !typed.uses_odbc_syntax => {
                self.typed_string(&typed.data_type, &typed.value)
            }
            SqlExpr::Array(array) => self.array(&array.elem, None),
            SqlExpr::CompoundFieldAccess { root, access_chain } => self.subscripted(root, access_chain),
            SqlExpr::Function(call) => self.function(call),
            SqlExpr::Collate { expr, collation } => self.collated(expr, collation),
            // Options of read_csv alone take names with values.
            SqlExpr::Dictionary(fields) => {
                let span = fields.first().map_or(Span::NONE, |field| self.span(&field.key));
                let message = "syntax error at or near \"{\"";
                Err(Error::new(SqlState::SYNTAX_ERROR, message).at_span(span))
            }
            _ => self.test(e),
        }
    }

    /// LIKE, ILIKE and SIMILAR TO.
    fn pattern_test(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        let (kind, (negated, expr, pattern, escape)) = match e {
            SqlExpr::Like {
                negated,
                expr,
                pattern,
                escape_char,
                ..
            } => (LikeKind::Like, (negated, expr, pattern, escape_char)),
            SqlExpr::ILike {
                negated,
                expr,
                pattern,
                escape_char,
                ..
            } => (LikeKind::ILike, (negated, expr, pattern, escape_char)),
            SqlExpr::SimilarTo {
                negated,
                expr,
                pattern,
                escape_char,
            } => (LikeKind::SimilarTo, (negated, expr, pattern, escape_char)),
            other => return self.test(other),
        };
        self.like((expr, pattern, escape.as_ref()), kind, *negated)
    }

    /// IS NULL, IS TRUE and the like, or what has a grammar of its own.
    fn test(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        match e {
            SqlExpr::IsNull(x) => self.is_null(x, false),
            SqlExpr::IsNotNull(x) => self.is_null(x, true),
            SqlExpr::IsTrue(x) => self.is_truth(x, Truth::True, false),
            SqlExpr::IsNotTrue(x) => self.is_truth(x, Truth::True, true),
            SqlExpr::IsFalse(x) => self.is_truth(x, Truth::False, false),
            SqlExpr::IsNotFalse(x) => self.is_truth(x, Truth::False, true),
            SqlExpr::IsUnknown(x) => self.is_truth(x, Truth::Unknown, false),
            SqlExpr::IsNotUnknown(x) => self.is_truth(x, Truth::Unknown, true),
            _ => self.special_call(e),
        }
    }

    fn case(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        let SqlExpr::Case {
            operand,
            conditions,
            else_result,
            case_token,
            end_token,
        } = e
        else {
            return self.special_call(e);
        };
        let begin = self.place.span(case_token.0.span);
        let span = begin.to(self.place.span(end_token.0.span));
        if let Some(row) = operand.as_deref().filter(|e| is_row(e)) {
            return self.row_case(row, conditions, else_result.as_deref(), span);
        }
        let before = self.rows_functions();
        let operand = operand.as_deref().map(|e| self.expression(e)).transpose()?;
        let mut branches = Vec::with_capacity(conditions.len());
        for branch in conditions {
            branches.push((
                self.expression(&branch.condition)?,
                self.expression(&branch.result)?,
            ));
        }
        let otherwise = else_result.as_deref().map(|e| self.expression(e)).transpose()?;
        self.without_rows(before, "CASE", begin)?;
        let bound = self
            .typing
            .case(operand, branches, otherwise, span, &mut self.columns)?;
        Ok(bound.at(span))
    }

    /// Where an expression's first name or literal stands, without binding it.
    pub(super) fn leaf_span(&self, e: &SqlExpr) -> Span {
        let mut e = e;
        loop {
            e = match e {
                SqlExpr::Identifier(name) => return self.span(name),
                SqlExpr::CompoundIdentifier(parts) => {
                    return parts.first().map_or(Span::NONE, |p| self.span(p));
                }
                SqlExpr::Value(value) => return self.place.span(value.span),
                SqlExpr::Function(call) => return self.name_span(&call.name),
                SqlExpr::BinaryOp { left, .. } => left,
                SqlExpr::Nested(inner)
                | SqlExpr::UnaryOp { expr: inner, .. }
                | SqlExpr::Cast { expr: inner, .. } => inner,
                _ => return Span::NONE,
            }
        }
    }

    /// Place of the last expression of a list.
    pub(super) fn last_span(&self, list: &[SqlExpr]) -> Span {
        list.last().map_or(Span::NONE, |e| self.leaf_span(e))
    }

    /// A literal or parameter.
    pub(super) fn value(&mut self, value: &ValueWithSpan) -> Result<Operand> {
        let span = self.place.span(value.span);
        match &value.value {
            Value::Number(text, _) => Typing::number_literal(text, span),
            Value::SingleQuotedString(text)
            | Value::EscapedStringLiteral(text)
            | Value::UnicodeStringLiteral(text)
            | Value::NationalStringLiteral(text) => Ok(Operand::literal(text.clone(), span)),
            Value::DollarQuotedString(text) => Ok(Operand::literal(text.value.clone(), span)),
            Value::Boolean(b) => Ok(Expr::truth(*b).at(span).into()),
            Value::Null => Ok(Operand::null(span)),
            Value::Placeholder(name) => {
                let number = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
                match number {
                    Some(n @ 1..=MAX_PARAMETER) if self.takes_parameters => {
                        Ok(self.typing.parameter(n - 1, span))
                    }
                    Some(_) => {
                        let message = format!("there is no parameter {name}");
                        Err(error(SqlState::UNDEFINED_PARAMETER, message, span))
                    }
                    None => Err(self.syntax_error(name, span)),
                }
            }
            other => Err(Error::unsupported(format!("the literal {other}")).at_span(span)),
        }
    }

    fn binary(
        &mut self,
        left: &'a SqlExpr,
        op: &'a BinaryOperator,
        right: &'a SqlExpr,
        whole: &'a SqlExpr,
    ) -> Result<Operand> {
        match op {
            BinaryOperator::And | BinaryOperator::Or => return self.chain(op, whole),
            _ => {}
        }
        let name = operator_name(op)?;
        if let Some(compared) = self.compare_whole_rows(left, &name, right)? {
            return Ok(compared);
        }
        if is_row(left) || is_row(right) {
            return self.row_operator(left, &name, right);
        }
        let l = self.expression(left)?;
        let at = self.place.operator_after(l.span(), name.len());
        // Comparisons do not chain.
        if is_comparison(op) && matches!(left, SqlExpr::BinaryOp { op: before, .. } if is_comparison(before))
        {
            return Err(self.syntax_error(&name, at));
        }
        let r = self.expression(right)?;
        let span = l.span().to(r.span());
        let bound = self.typing.infix(&name, l, r, at, &mut self.columns)?;
        Ok(bound.at(span))
    }

    /// A chain of AND or of OR, bound from the left without a frame for each part.
    fn chain(&mut self, op: &BinaryOperator, whole: &'a SqlExpr) -> Result<Operand> {
        let mut bound = Vec::new();
        // What is still to be bound, the leftmost on top.
        let mut rest = vec![whole];
        while let Some(e) = rest.pop() {
            match e {
                SqlExpr::BinaryOp {
                    left,
                    op: same,
                    right,
                } if same == op => rest.extend([&**right, &**left]),
                part => bound.push(self.expression(part)?),
            }
        }
        let span = row_span(&bound);
        let chained = match op {
            BinaryOperator::And => self.typing.and(bound, span)?,
            _ => self.typing.or(bound, span)?,
        };
        Ok(chained.at(span))
    }

    fn unary(&mut self, op: UnaryOperator, x: &'a SqlExpr) -> Result<Operand> {
        let bound = self.expression(x)?;
        if op == UnaryOperator::Minus
            && is_number(x)
            && let Operand::Typed(e) = &bound
        {
            let span = self.place.keyword_before(e.span, 1).to(e.span);
            let negative = negated_literal(e).map_err(|e| e.at_span(span))?;
            return Ok(negative.at(span).into());
        }
        let name = match op {
            UnaryOperator::Not => {
                let at = self.place.keyword_before(bound.span(), 3);
                let span = at.to(bound.span());
                return Ok(self.typing.not(bound, at)?.at(span));
            }
            UnaryOperator::Plus => "+",
            UnaryOperator::Minus => "-",
            UnaryOperator::BitwiseNot => "~",
            UnaryOperator::PGAbs => "@",
            UnaryOperator::PGSquareRoot => "|/",
            UnaryOperator::PGCubeRoot => "||/",
            other => return Err(Error::unsupported(format!("the operator {other}")).at_span(bound.span())),
        };
        let at = self.place.keyword_before(bound.span(), name.len());
        let span = at.to(bound.span());
        Ok(self.typing.prefix(name, bound, at, &mut self.columns)?.at(span))
    }

    fn is_null(&mut self, x: &'a SqlExpr, negated: bool) -> Result<Operand> {
        // A row is NULL, or not, if every part is.
        if let Some(row) = self.whole_row(x)? {
            let values = self.record_of(row).values.into_iter();
            let each = values.map(|value| self.null_test(value.into(), negated));
            let each = each.collect::<Result<Vec<_>>>()?;
            let span = row_span(&each);
            return self.typing.and(each, span);
        }
        if let Some(test) = self.null_test_of_query(x, negated)? {
            return Ok(test);
        }
        if let Some(parts) = self.row_value(x)? {
            let mut each = Vec::new();
            for part in parts {
                each.push(self.null_test(part, negated)?);
            }
            let span = row_span(&each);
            return self.typing.and(each, span);
        }
        let bound = self.expression(x)?;
        self.null_test_of_value(bound, negated)
    }

    /// IS NULL, negated IS NOT NULL, of one value. 0A000 for a row whose columns are not known.
    pub(super) fn null_test_of_value(&self, x: Operand, negated: bool) -> Result<Operand> {
        if x.ty() == Some(LogicalType::Record) {
            let what = "IS NULL of a row that is neither a relation's nor written as one";
            return Err(Error::unsupported(what).at_span(x.span()));
        }
        self.null_test(x, negated)
    }

    pub(super) fn null_test(&self, x: Operand, negated: bool) -> Result<Operand> {
        let span = x.span();
        let tested = self.typing.is_null(x, span)?;
        self.negated(tested, negated, span)
    }

    fn is_truth(&mut self, x: &'a SqlExpr, truth: Truth, negated: bool) -> Result<Operand> {
        let bound = self.expression(x)?;
        let span = bound.span();
        let tested = self.typing.is_truth(bound, truth, span)?;
        self.negated(tested, negated, span)
    }

    /// The operand, or its negation.
    pub(super) fn negated(&self, x: Operand, negated: bool, span: Span) -> Result<Operand> {
        let x = x.at(span);
        if !negated {
            return Ok(x);
        }
        Ok(self.typing.not(x, span)?.at(span))
    }

    fn between(
        &mut self,
        x: &'a SqlExpr,
        negated: bool,
        low: &'a SqlExpr,
        high: &'a SqlExpr,
    ) -> Result<Operand> {
        let (kind, low) = match low {
            SqlExpr::Prefixed { prefix, value } if prefix.value == SYMMETRIC => {
                (BetweenKind::Symmetric, &**value)
            }
            other => (BetweenKind::Ordered, other),
        };
        if self.is_whole_row(x)? || self.is_whole_row(low)? || self.is_whole_row(high)? {
            return self.records_between(x, (low, high), kind, negated);
        }
        if is_row(x) || is_row(low) || is_row(high) {
            return self.row_between(x, (low, high), kind, negated);
        }
        let x = self.expression(x)?;
        let low = self.expression(low)?;
        let high = self.expression(high)?;
        let span = x.span().to(high.span());
        let at = self.place.operator_after(x.span(), "between".len());
        let bound = self.typing.between(x, low, high, kind, at, &mut self.columns)?;
        self.negated(bound, negated, span)
    }

    fn like(
        &mut self,
        (x, pattern, escape): (&'a SqlExpr, &'a SqlExpr, Option<&'a ValueWithSpan>),
        kind: LikeKind,
        negated: bool,
    ) -> Result<Operand> {
        // Patterns do not chain.
        if matches!(
            x,
            SqlExpr::Like { .. } | SqlExpr::ILike { .. } | SqlExpr::SimilarTo { .. }
        ) {
            return Err(self.syntax_error("like", self.leaf_span(x)));
        }
        let x = self.expression(x)?;
        let pattern = self.expression(pattern)?;
        let escape = escape.map(|e| self.value(e)).transpose()?;
        let span = x.span().to(pattern.span());
        let at = self.place.operator_after(x.span(), "like".len());
        let bound = self
            .typing
            .like(x, pattern, escape, kind, at, &mut self.columns)?;
        self.negated(bound, negated, span)
    }

    fn in_list(&mut self, x: &'a SqlExpr, list: &'a [SqlExpr], negated: bool) -> Result<Operand> {
        if self.is_whole_row(x)? || is_row(x) && self.has_whole_row(list)? {
            return self.records_in(x, list, negated);
        }
        if is_row(x) || list.iter().any(is_row) {
            return self.row_in(x, list, negated);
        }
        let x = self.expression(x)?;
        let list = self.expressions(list)?;
        let span = x.span().to(list.last().map_or(Span::NONE, Operand::span));
        let at = self.place.operator_after(x.span(), "in".len());
        let bound = self.typing.in_list(x, list, at, &mut self.columns)?;
        self.negated(bound, negated, span)
    }

    pub(super) fn expressions(&mut self, list: &'a [SqlExpr]) -> Result<Vec<Operand>> {
        let mut bound = Vec::with_capacity(list.len());
        for e in list {
            bound.push(self.expression(e)?);
        }
        Ok(bound)
    }

    fn cast(&mut self, kind: &CastKind, x: &'a SqlExpr, ty: &DataType) -> Result<Operand> {
        if !matches!(kind, CastKind::Cast | CastKind::DoubleColon) {
            return Err(Error::unsupported("TRY_CAST or SAFE_CAST"));
        }
        if let DataType::Array(_) = ty {
            let ty = self.ty(ty, Span::NONE)?;
            if let Some(array) = self.array_cast(x, ty)? {
                return Ok(array);
            }
        }
        let bound = self.expression(x)?;
        let at = match kind {
            CastKind::DoubleColon => self.place.operator_after(bound.span(), 2),
            _ => self.place.keyword_before(bound.span(), 4),
        };
        let span = bound.span().to(at);
        if let Some((fields, digits)) = fields_of_interval(ty) {
            return Ok(self.typing.interval_of(bound, &fields, digits, at)?.at(span));
        }
        let (ty, domain) = self.ty_or_domain(ty, at)?;
        let mut cast = self.typing.cast(bound, ty, CastContext::Explicit, at)?;
        if let Some(domain) = domain {
            cast = self.through_domain(cast, &domain)?;
        }
        Ok(cast.at(span).into())
    }

    /// `x COLLATE "C"`: strings compare by their bytes. 0A000 for another collation, 42804 for what is no string.
    fn collated(&mut self, x: &'a SqlExpr, collation: &ObjectName) -> Result<Operand> {
        self.known_collation(collation)?;
        let bound = self.expression(x)?;
        let span = bound.span();
        let e = self.typing.settle(bound)?;
        self.collation_of(collation, e.ty)?;
        Ok(e.at(span).into())
    }

    /// 0A000 for a collation that does not order strings by their bytes.
    fn known_collation(&self, collation: &ObjectName) -> Result<()> {
        match is_by_bytes(collation) {
            true => Ok(()),
            false => Err(Error::unsupported(format!("COLLATE {collation}"))
                .with_hint("strings compare by their UTF-8 bytes: COLLATE \"C\"")
                .at_span(self.name_span(collation))),
        }
    }

    /// As [`Self::known_collation`]; 42804 for a collation of a type that is no string.
    pub(super) fn collation_of(&self, collation: &ObjectName, ty: LogicalType) -> Result<()> {
        self.known_collation(collation)?;
        if ty.is_string() {
            return Ok(());
        }
        let message = format!("collations are not supported by type {ty}");
        let at = self.name_span(collation);
        Err(error(SqlState::DATATYPE_MISMATCH, message, at))
    }

    /// `date '2024-01-01'`.
    fn typed_string(&mut self, ty: &DataType, value: &ValueWithSpan) -> Result<Operand> {
        let literal = self.value(value)?;
        let at = literal.span();
        if !matches!(&literal, Operand::Unknown(_)) {
            return Err(self.syntax_error(&value.value.to_string(), at));
        }
        if let Some((fields, digits)) = fields_of_interval(ty) {
            return self.typing.interval_of(literal, &fields, digits, at);
        }
        let (ty, domain) = self.ty_or_domain(ty, at)?;
        let cast = self.typing.cast(literal, ty, CastContext::Explicit, at)?;
        match domain {
            Some(domain) => Ok(self.through_domain(cast, &domain)?.into()),
            None => Ok(cast.into()),
        }
    }
}

/// The fields of an interval type, in lower case or empty, and the digits of its seconds; `None` for another type, and
/// for an interval of all fields and digits.
fn fields_of_interval(ty: &DataType) -> Option<(String, Option<u64>)> {
    match ty {
        DataType::Interval { fields, precision } if fields.is_some() || precision.is_some() => {
            let fields = fields.as_ref().map(|fields| fields.to_string().to_lowercase());
            Some((fields.unwrap_or_default(), *precision))
        }
        _ => None,
    }
}

/// Whether a collation orders strings by their bytes.
pub(super) fn is_by_bytes(collation: &ObjectName) -> bool {
    let name = collation.0.last().and_then(|part| part.as_ident()).map(fold);
    matches!(name.as_deref(), Some("C" | "POSIX" | "ucs_basic" | "default"))
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq)
}

/// From the first of some operands to the last.
pub(super) fn row_span(parts: &[Operand]) -> Span {
    let first = parts.first().map_or(Span::NONE, Operand::span);
    parts.last().map_or(first, |last| first.to(last.span()))
}

/// An operator as the type rules call it. 0A000.
pub(super) fn operator_name(op: &BinaryOperator) -> Result<String> {
    use BinaryOperator as B;
    let name = match op {
        B::NotEq => "<>",
        B::PGLikeMatch => "~~",
        B::PGNotLikeMatch => "!~~",
        B::PGILikeMatch => "~~*",
        B::PGNotILikeMatch => "!~~*",
        B::PGExp => "^",
        B::PGBitwiseXor => "#",
        B::Custom(name) if name == IS_DISTINCT_FROM || name == IS_NOT_DISTINCT_FROM => name,
        B::PGCustomBinaryOperator(parts) => match parts.last() {
            Some(name) if parts.len() <= 2 => name,
            _ => return Err(Error::unsupported(format!("the operator {op}"))),
        },
        other => return Ok(other.to_string()),
    };
    Ok(name.to_string())
}

/// A boolean expression of a subquery.
pub(super) fn boolean(kind: ExprKind, nullable: bool, span: Span) -> Operand {
    Expr::boolean(kind, nullable).at(span).into()
}

/// Whether an expression is a number as it is written, with signs and parentheses perhaps.
fn is_number(x: &SqlExpr) -> bool {
    match x {
        SqlExpr::Value(value) => matches!(value.value, Value::Number(..)),
        SqlExpr::Nested(inner) => is_number(inner),
        SqlExpr::UnaryOp { op, expr } => *op == UnaryOperator::Minus && is_number(expr),
        _ => false,
    }
}
