//! Building expressions: constants folded, conditions flattened, what is used several times computed once.

use frazil_plan::{CONDITION, Columns, Expr, ExprKind, ScalarFunction};
use frazil_types::{LogicalType, Result, Span, Value};

/// The constant in an expression.
pub(crate) fn constant_of(e: &Expr) -> Option<&Value> {
    e.as_constant()
}

/// Whether it is the constant NULL.
pub(crate) fn is_null_constant(e: &Expr) -> bool {
    constant_of(e).is_some_and(Value::is_null)
}

/// The type of texts: of what nothing types.
pub(crate) const TEXT: LogicalType = LogicalType::Text;

/// The type of subscripts, of lengths of values, and of numbers of days.
pub(crate) const LENGTH: LogicalType = LogicalType::Integer;

/// TRUE or FALSE.
pub(crate) fn boolean(value: bool) -> Expr {
    Expr::truth(value)
}

/// A typed NULL.
pub(crate) fn null(ty: LogicalType) -> Expr {
    Expr::constant(Value::Null, ty)
}

/// An integer constant of a type.
pub(crate) fn int(value: i128, ty: LogicalType) -> Expr {
    Expr::constant(Value::Int(value), ty)
}

/// A text constant.
pub(crate) fn text(value: impl Into<String>) -> Expr {
    Expr::literal(Value::Text(value.into()))
}

/// A call that generated code knows, NULL where an argument is.
pub(crate) fn function(function: ScalarFunction, arguments: Vec<Expr>, ty: LogicalType) -> Expr {
    let nullable = arguments.iter().any(|a| a.nullable);
    Expr::new(ExprKind::Function(function, arguments), ty, nullable)
}

/// The same of a function that gives one type, whatever its arguments.
pub(crate) fn call(of: ScalarFunction, arguments: Vec<Expr>) -> Expr {
    let ty = of.result().or(arguments.first().map(|e| e.ty));
    function(of, arguments, ty.unwrap_or(CONDITION))
}

/// `e IS NULL`. Whether a column may be NULL is not looked at: an outer join around it may yet make it so.
pub(crate) fn is_null(e: Expr) -> Expr {
    match constant_of(&e) {
        Some(v) => boolean(v.is_null()),
        None => Expr::boolean(ExprKind::IsNull(Box::new(e)), false),
    }
}

/// A CASE of conditions whose results have one type.
pub(crate) fn case(branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    let ty = otherwise.ty;
    let nullable = otherwise.nullable || branches.iter().any(|b| b.1.nullable);
    let otherwise = (!is_null_constant(&otherwise)).then(|| Box::new(otherwise));
    Expr::new(ExprKind::Case { branches, otherwise }, ty, nullable)
}

/// `value` for every value of `e`, NULL where `e` is NULL.
pub(crate) fn known_unless_null(e: Expr, value: bool) -> Expr {
    match constant_of(&e) {
        Some(Value::Null) => Expr::unknown(),
        Some(_) => boolean(value),
        None => case(vec![(is_null(e), Expr::unknown())], boolean(value)),
    }
}

/// Whether using an expression twice costs nothing.
pub(crate) fn is_simple(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Column(_) | ExprKind::Constant(_) | ExprKind::Parameter(_)
    )
}

/// What `body` makes of an expression that it may use several times: a column or constant stands for itself, all
/// else is computed once.
pub(crate) fn once(
    e: Expr,
    columns: &mut Columns,
    body: impl FnOnce(Expr, &mut Columns) -> Result<Expr>,
) -> Result<Expr> {
    if is_simple(&e) {
        return body(e, columns);
    }
    let span = e.span;
    let column = columns.add("", e.ty, e.nullable);
    let body = body(Expr::column(column, columns).at(span), columns)?;
    let (ty, nullable) = (body.ty, body.nullable);
    let kind = ExprKind::Let {
        column,
        value: Box::new(e),
        body: Box::new(body),
    };
    Ok(Expr::new(kind, ty, nullable).at(span))
}

/// `NOT e`, moved into comparisons and through AND and OR.
pub(crate) fn not(e: Expr) -> Expr {
    let (ty, nullable, span) = (e.ty, e.nullable, e.span);
    let kind = match e.kind {
        ExprKind::Constant(Value::Bool(b)) => ExprKind::Constant(Value::Bool(!b)),
        ExprKind::Constant(Value::Null) => ExprKind::Constant(Value::Null),
        ExprKind::Not(inner) => return *inner,
        ExprKind::Compare(op, l, r) => ExprKind::Compare(op.negate(), l, r),
        ExprKind::Function(ScalarFunction::Compare(op), sides) => {
            ExprKind::Function(ScalarFunction::Compare(op.negate()), sides)
        }
        ExprKind::And(parts) => return or(parts.into_iter().map(not).collect()).at(span),
        ExprKind::Or(parts) => return and(parts.into_iter().map(not).collect()).at(span),
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
        kind => ExprKind::Not(Box::new(Expr::new(kind, ty, nullable).at(span))),
    };
    Expr::new(kind, ty, nullable).at(span)
}

#[derive(Clone, Copy, PartialEq)]
enum Junction {
    And,
    Or,
}

/// Conjunction of any number of conditions, flattened, constants folded.
pub(crate) fn and(parts: Vec<Expr>) -> Expr {
    combine(parts, Junction::And)
}

/// Disjunction of any number of conditions, flattened, constants folded.
pub(crate) fn or(parts: Vec<Expr>) -> Expr {
    combine(parts, Junction::Or)
}

fn combine(parts: Vec<Expr>, junction: Junction) -> Expr {
    let neutral = junction == Junction::And;
    let mut out = Vec::with_capacity(parts.len());
    let mut span = Span::NONE;
    for part in parts {
        span = span.to(part.span);
        match (part.kind, junction) {
            (ExprKind::And(inner), Junction::And) | (ExprKind::Or(inner), Junction::Or) => out.extend(inner),
            (ExprKind::Constant(Value::Bool(b)), _) if b == neutral => {}
            (ExprKind::Constant(Value::Bool(b)), _) => return boolean(b).at(span),
            (kind, _) => out.push(Expr { kind, ..part }),
        }
    }
    match out.len() {
        0 => boolean(neutral).at(span),
        1 => out.remove(0),
        _ => {
            let nullable = out.iter().any(|p| p.nullable);
            let kind = match junction {
                Junction::And => ExprKind::And(out),
                Junction::Or => ExprKind::Or(out),
            };
            Expr::boolean(kind, nullable).at(span)
        }
    }
}
