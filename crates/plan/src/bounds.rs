//! Value bounds of expressions, worked out from those of the columns that they read.

pub use crate::value_bounds::of_type;
use crate::{ArithmeticOp, Bounds, ColumnId, Columns, DatePart, Expr, ExprKind, ScalarFunction, ValueBounds};
use frazil_types::value_ops::casts::{self, CastMethod};
use frazil_types::{LogicalType, Value, value_ops};
use std::collections::HashMap;

/// What is known of an expression's value, from what was proved of the columns it reads. Nothing is proved where
/// the columns say so: see [`Columns::forget_proofs`].
pub fn of_expression(e: &Expr, columns: &Columns) -> ValueBounds {
    match each_part(e, columns, &mut |_, _| {}) {
        ValueBounds::Proved(_) if columns.proofs_forgotten() => ValueBounds::of_type(e.ty),
        known => known,
    }
}

/// The values that are to be expected of an expression, from those that statistics observed in the columns it
/// reads: for estimates, never a proof. `None` where nothing narrower than the type is known.
pub fn expected(e: &Expr, columns: &Columns) -> Option<Bounds> {
    let of_column = |id| {
        let info = &columns[id];
        match info.observed.or(info.bounds) {
            Some(bounds) => ValueBounds::Proved(bounds),
            None => ValueBounds::of_type(info.ty),
        }
    };
    Walk::new(&of_column, &mut |_, _| {}).of(e).proved()
}

/// A part of an expression of whose values something is known.
#[derive(Clone, Copy, Debug)]
pub enum Part<'e> {
    /// A part, or the expression itself.
    Expression(&'e Expr),
    /// The column that a [`ExprKind::Let`] makes.
    Let(ColumnId),
}

/// What is known of an expression's value. `visit` hears of each part once, parts first: right before a whole of the
/// last of its parts.
pub fn each_part<'e>(
    e: &'e Expr,
    columns: &Columns,
    visit: &mut dyn FnMut(Part<'e>, ValueBounds),
) -> ValueBounds {
    let of_column = |id| match columns[id].bounds {
        Some(bounds) => ValueBounds::Proved(bounds),
        None => ValueBounds::of_type(columns[id].ty),
    };
    Walk::new(&of_column, visit).of(e)
}

/// One walk over an expression, parts first.
struct Walk<'w, 'e> {
    of_column: &'w dyn Fn(ColumnId) -> ValueBounds,
    /// What is known of the columns that the expression makes for itself.
    made: HashMap<ColumnId, ValueBounds>,
    visit: &'w mut dyn FnMut(Part<'e>, ValueBounds),
}

impl<'w, 'e> Walk<'w, 'e> {
    fn new(
        of_column: &'w dyn Fn(ColumnId) -> ValueBounds,
        visit: &'w mut dyn FnMut(Part<'e>, ValueBounds),
    ) -> Walk<'w, 'e> {
        Walk {
            of_column,
            made: HashMap::new(),
            visit,
        }
    }

    fn of(&mut self, e: &'e Expr) -> ValueBounds {
        let known = match &e.kind {
            ExprKind::Column(id) => {
                let made = self.made.get(id).copied();
                made.unwrap_or_else(|| (self.of_column)(*id))
            }
            ExprKind::Let { column, value, body } => {
                let value = self.of(value);
                self.made.insert(*column, value);
                (self.visit)(Part::Let(*column), value);
                self.of(body)
            }
            _ => ValueBounds::of_exact(self.exact(e), e.ty),
        };
        (self.visit)(Part::Expression(e), known);
        known
    }

    /// Bounds of the exact result; `None` if 128 bits do not hold them, or if they are not worked out.
    fn exact(&mut self, e: &'e Expr) -> Option<Bounds> {
        match &e.kind {
            ExprKind::Constant(Value::Int(v)) => Some(Bounds::exactly(*v)),
            ExprKind::Arithmetic(op, l, r) => {
                let (a, b) = (self.of(l), self.of(r));
                of_arithmetic(*op, e.ty, a.range()?, b.range()?)
            }
            ExprKind::Negate(v) => self.of(v).range()?.negated(),
            ExprKind::Cast(v) => of_cast(v.ty, e.ty, self.of(v)),
            ExprKind::Case { branches, otherwise } => self.of_case(branches, otherwise.as_deref()),
            ExprKind::Extract(part, v) => of_extract(*part, v.ty, self.of(v)),
            ExprKind::Function(ScalarFunction::Abs, list) => {
                let argument = self.of(list.first()?);
                absolute(argument.range()?)
            }
            _ => {
                for child in e.children() {
                    self.of(child);
                }
                None
            }
        }
    }

    fn of_case(&mut self, branches: &'e [(Expr, Expr)], otherwise: Option<&'e Expr>) -> Option<Bounds> {
        for (condition, _) in branches {
            self.of(condition);
        }
        let mut all: Option<Option<Bounds>> = None;
        for result in branches.iter().map(|b| &b.1).chain(otherwise) {
            let is_null = matches!(result.kind, ExprKind::Constant(Value::Null));
            let range = self.of(result).range();
            all = match all {
                _ if is_null => all,
                None => Some(range),
                Some(all) => Some(all.zip(range).map(|(a, b)| a.union(b))),
            };
        }
        all.flatten()
    }
}

/// Bounds of the exact result; `None` if 128 bits do not hold them, or if they are not worked out.
fn of_arithmetic(op: ArithmeticOp, ty: LogicalType, a: Bounds, b: Bounds) -> Option<Bounds> {
    match op {
        ArithmeticOp::Add => Some(Bounds {
            min: a.min.checked_add(b.min)?,
            max: a.max.checked_add(b.max)?,
        }),
        ArithmeticOp::Sub => Some(Bounds {
            min: a.min.checked_sub(b.max)?,
            max: a.max.checked_sub(b.min)?,
        }),
        ArithmeticOp::Mul => a.corners(b, i128::checked_mul),
        // A quotient of integers is at most its dividend, but for the sign.
        ArithmeticOp::Div if ty.is_integer() && b.min >= 0 => Some(Bounds {
            min: a.min.min(0),
            max: a.max.max(0),
        }),
        ArithmeticOp::Div if ty.is_integer() => Some(a.union(a.negated()?)),
        // The rest has the dividend's sign.
        ArithmeticOp::Rem if ty.is_integer() => Some(Bounds {
            min: a.min.min(0),
            max: a.max.max(0),
        }),
        ArithmeticOp::Div | ArithmeticOp::Rem => None,
    }
}

fn absolute(b: Bounds) -> Option<Bounds> {
    let (low, high) = (b.min.checked_abs()?, b.max.checked_abs()?);
    Some(Bounds {
        min: if b.contains(0) { 0 } else { low.min(high) },
        max: low.max(high),
    })
}

fn of_cast(from: LogicalType, to: LogicalType, value: ValueBounds) -> Option<Bounds> {
    let cast = casts::between(from, to)?;
    if cast.method == CastMethod::BooleanToInteger {
        return Some(Bounds { min: 0, max: 1 });
    }
    let range = value.range().filter(|_| cast.is_monotone)?;
    Some(Bounds {
        min: casts::exact(range.min, from, to)?,
        max: casts::exact(range.max, from, to)?,
    })
}

fn of_extract(part: DatePart, ty: LogicalType, value: ValueBounds) -> Option<Bounds> {
    let fixed = |min, max| Some(Bounds { min, max });
    match part {
        DatePart::Year => {
            let b = value.range()?;
            let year = |v: i128| {
                let year = value_ops::extract(part, &Value::Int(v), ty).ok()?;
                year.as_int()
            };
            fixed(year(b.min)?, year(b.max)?)
        }
        // 0 is that of an infinite date.
        DatePart::Quarter => fixed(0, 4),
        DatePart::Month => fixed(0, 12),
        DatePart::Week => fixed(0, 53),
        DatePart::Day => fixed(0, 31),
        DatePart::DayOfWeek => fixed(0, 6),
        DatePart::DayOfYear => fixed(0, 366),
        DatePart::Hour => fixed(0, 23),
        DatePart::Minute => fixed(0, 59),
        DatePart::Second => fixed(0, 60_000_000),
        DatePart::Epoch => None,
    }
}
