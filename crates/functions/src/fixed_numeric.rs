//! Numerics whose values are decimals of a few scales: `case when … then price else 0 end`.
//!
//! If exact numbers with different digits after the point meet, each value keeps its own: the type is numeric. But
//! their numbers have one decimal type, so that a sum, a comparison or a cast of them is one of decimals: only the text
//! of a value depends on the branch that it is from.

use crate::build::{LENGTH, case, constant_of, int, is_null, not, null};
use frazil_plan::subquery::has_subquery;
use frazil_plan::{Expr, ExprKind};
use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::numeric::Numeric;
use frazil_types::{LogicalType, Value};

/// A numeric as a decimal, and the number of its digits after the point.
pub(crate) struct Fixed {
    /// The number.
    pub value: Expr,
    /// Digits after the point, an integer; NULL where the number is.
    pub scale: Expr,
}

impl Fixed {
    /// A numeric that is chosen among decimals; `None` for what is computed otherwise, for constants, and if a choice
    /// cannot be made twice.
    pub(crate) fn of(e: &Expr) -> Option<Fixed> {
        if !e.ty.is_unscaled() || constant_of(e).is_some() || !can_be_repeated(e) {
            return None;
        }
        let ty = decimal_of(e)?;
        Some(Fixed {
            value: with_leaves(e, ty, &|leaf| at_scale(leaf, ty)),
            scale: with_leaves(e, LENGTH, &scale_of),
        })
    }
}

/// True if two evaluations of an expression give one value, and cost no subquery.
fn can_be_repeated(e: &Expr) -> bool {
    let mut is_volatile = false;
    e.walk(&mut |part| {
        is_volatile |= matches!(&part.kind, ExprKind::VectorFunction(f, _) if f.0.is_volatile());
    });
    !is_volatile && !has_subquery(e)
}

/// The decimal that holds the values of all leaves; `None` if there is none, or if a leaf is not a decimal.
fn decimal_of(e: &Expr) -> Option<LogicalType> {
    let mut room = Room::default();
    let precision = room.make_for(e).then_some(room.whole + room.scale)?;
    (1..=DECIMAL_MAX_DIGITS)
        .contains(&precision)
        .then_some(LogicalType::Decimal {
            precision,
            scale: room.scale,
        })
}

/// Digits before and after the point.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    whole: u8,
    scale: u8,
}

impl Room {
    /// Makes room for the leaves of an expression; false if one of them is not a decimal.
    fn make_for(&mut self, e: &Expr) -> bool {
        if let ExprKind::Let { body, .. } = &e.kind {
            return self.make_for(body);
        }
        if let ExprKind::Case { branches, otherwise } = &e.kind {
            let mut results = branches.iter().map(|b| &b.1).chain(otherwise.as_deref());
            return results.all(|result| self.make_for(result));
        }
        if let ExprKind::Cast(inner) = &e.kind {
            let digits = inner.ty.exact_digits();
            return digits.is_some_and(|(precision, scale)| self.widen(precision - scale, scale));
        }
        match constant_of(e) {
            Some(Value::Bytes(bytes)) => Numeric::of_bytes(bytes).is_ok_and(|number| {
                let count = number.coefficient().unsigned_abs().checked_ilog10();
                let count = count.map_or(1, |n| n as u8 + 1);
                self.widen(count.saturating_sub(number.scale()), number.scale())
            }),
            value => value.is_some_and(Value::is_null),
        }
    }

    fn widen(&mut self, whole: u8, scale: u8) -> bool {
        self.whole = self.whole.max(whole);
        self.scale = self.scale.max(scale);
        true
    }
}

/// The expression with other leaves, of type `ty`.
fn with_leaves(e: &Expr, ty: LogicalType, leaf: &dyn Fn(&Expr) -> Expr) -> Expr {
    if let ExprKind::Let { column, value, body } = &e.kind {
        let body = with_leaves(body, ty, leaf);
        let nullable = body.nullable;
        let kind = ExprKind::Let {
            column: *column,
            value: value.clone(),
            body: Box::new(body),
        };
        return Expr::new(kind, ty, nullable).at(e.span);
    }
    if let ExprKind::Case { branches, otherwise } = &e.kind {
        let branches = branches
            .iter()
            .map(|(condition, result)| (condition.clone(), with_leaves(result, ty, leaf)));
        let otherwise = otherwise
            .as_deref()
            .map_or_else(|| null(ty), |e| with_leaves(e, ty, leaf));
        let mut made = case(branches.collect(), otherwise).at(e.span);
        made.nullable = e.nullable;
        return made;
    }
    leaf(e)
}

/// A leaf as a decimal of type `ty`.
fn at_scale(leaf: &Expr, ty: LogicalType) -> Expr {
    if let ExprKind::Cast(inner) = &leaf.kind {
        return match inner.ty == ty {
            true => (**inner).clone(),
            false => Expr::new(ExprKind::Cast(inner.clone()), ty, leaf.nullable).at(leaf.span),
        };
    }
    let exact = number_of(leaf).and_then(|number| number.at_scale(ty.scale().unwrap_or(0)));
    exact.map_or_else(|| null(ty), |exact| int(exact, ty))
}

/// The digits after the point of a leaf.
fn scale_of(leaf: &Expr) -> Expr {
    let digits = |scale: u8| int(scale.into(), LENGTH);
    if let ExprKind::Cast(inner) = &leaf.kind {
        let scale = digits(inner.ty.scale().unwrap_or(0));
        return match inner.nullable {
            true => case(vec![(not(is_null((**inner).clone())), scale)], null(LENGTH)),
            false => scale,
        };
    }
    number_of(leaf).map_or_else(|| null(LENGTH), |number| digits(number.scale()))
}

/// The number that a constant is.
fn number_of(leaf: &Expr) -> Option<Numeric> {
    match constant_of(leaf) {
        Some(Value::Bytes(bytes)) => Numeric::of_bytes(bytes).ok(),
        _ => None,
    }
}
