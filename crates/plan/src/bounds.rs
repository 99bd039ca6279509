//! Value bounds: the smallest and largest integer a value can be. An expression whose bounds fit in 64
//! bits is computed there without checks; sums of bounded values over a bounded number of rows too.

use crate::{ArithmeticOp, Columns, DatePart, Expr, ExprKind};
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::{LogicalType, Value};

/// An inclusive range of integer-like values (decimals unscaled).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Smallest.
    pub min: i128,
    /// Largest.
    pub max: i128,
}

impl Bounds {
    /// A single value.
    pub fn exactly(value: i128) -> Bounds {
        Bounds {
            min: value,
            max: value,
        }
    }

    /// Whether every value fits in an `i64`.
    pub fn fits_i64(self) -> bool {
        self.min >= i128::from(i64::MIN) && self.max <= i128::from(i64::MAX)
    }

    /// The smallest range that holds both.
    pub fn union(self, other: Bounds) -> Bounds {
        Bounds {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Number of values, if it fits in 64 bits.
    pub fn width(self) -> Option<u64> {
        u64::try_from(self.max.checked_sub(self.min)?.checked_add(1)?).ok()
    }

    /// Bounds of a sum of up to `rows` values (0 included, for no rows).
    pub fn sum_over(self, rows: u64) -> Option<Bounds> {
        let rows = i128::from(rows);
        Some(Bounds {
            min: self.min.min(0).checked_mul(rows)?,
            max: self.max.max(0).checked_mul(rows)?,
        })
    }

    fn corners(self, other: Bounds, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Bounds> {
        let mut out: Option<Bounds> = None;
        for a in [self.min, self.max] {
            for b in [other.min, other.max] {
                let v = Bounds::exactly(f(a, b)?);
                out = Some(out.map_or(v, |o| o.union(v)));
            }
        }
        out
    }
}

/// Bounds every value of a type has.
pub fn of_type(ty: LogicalType) -> Option<Bounds> {
    let symmetric = |max: i128| Some(Bounds { min: -max, max });
    match ty {
        LogicalType::SmallInt => Some(Bounds {
            min: i16::MIN.into(),
            max: i16::MAX.into(),
        }),
        LogicalType::Integer | LogicalType::Date => Some(Bounds {
            min: i32::MIN.into(),
            max: i32::MAX.into(),
        }),
        LogicalType::BigInt | LogicalType::Timestamp => Some(Bounds {
            min: i64::MIN.into(),
            max: i64::MAX.into(),
        }),
        LogicalType::Decimal { precision, .. } => symmetric(POWERS_OF_TEN[usize::from(precision)] - 1),
        LogicalType::Char(1) => Some(Bounds {
            min: 0,
            max: 0x10ffff,
        }),
        _ => None,
    }
}

/// Bounds of an expression, from those of the columns it reads. `None`: not integer-like, or unknown
/// beyond what 128 bits hold.
pub fn of_expression(e: &Expr, columns: &Columns) -> Option<Bounds> {
    let narrowed = match &e.kind {
        ExprKind::Column(id) => columns[*id].bounds,
        ExprKind::Constant(Value::Int(v)) => Some(Bounds::exactly(*v)),
        ExprKind::Arithmetic(op, l, r) => of_arithmetic(*op, e, l, r, columns),
        ExprKind::Negate(v) => of_expression(v, columns).and_then(|b| {
            Some(Bounds {
                min: b.max.checked_neg()?,
                max: b.min.checked_neg()?,
            })
        }),
        ExprKind::Cast(v) => of_cast(v, e.ty, columns),
        ExprKind::Case { branches, otherwise } => {
            let results = branches.iter().map(|b| &b.1).chain(otherwise.as_deref());
            let mut out: Option<Bounds> = None;
            for r in results.filter(|r| !matches!(r.kind, ExprKind::Constant(Value::Null))) {
                let b = of_expression(r, columns)?;
                out = Some(out.map_or(b, |o| o.union(b)));
            }
            out
        }
        ExprKind::Extract(part, v) => of_extract(*part, v, columns),
        _ => None,
    };
    narrowed.or_else(|| of_type(e.ty))
}

fn of_arithmetic(op: ArithmeticOp, e: &Expr, l: &Expr, r: &Expr, columns: &Columns) -> Option<Bounds> {
    if e.ty == LogicalType::Double {
        return None;
    }
    let (a, b) = (of_expression(l, columns)?, of_expression(r, columns)?);
    let exact = match op {
        ArithmeticOp::Add => Bounds {
            min: a.min.checked_add(b.min)?,
            max: a.max.checked_add(b.max)?,
        },
        ArithmeticOp::Sub => Bounds {
            min: a.min.checked_sub(b.max)?,
            max: a.max.checked_sub(b.min)?,
        },
        ArithmeticOp::Mul => a.corners(b, i128::checked_mul)?,
        ArithmeticOp::Div | ArithmeticOp::Rem => return None,
    };
    Some(exact)
}

fn of_cast(v: &Expr, to: LogicalType, columns: &Columns) -> Option<Bounds> {
    let (from, to) = (v.ty.scale()?, to.scale()?);
    let b = of_expression(v, columns)?;
    let rescale = |x| frazil_types::decimal::rescale(x, from, to);
    Some(Bounds {
        min: rescale(b.min)?,
        max: rescale(b.max)?,
    })
}

fn of_extract(part: DatePart, v: &Expr, columns: &Columns) -> Option<Bounds> {
    let fixed = |min, max| Some(Bounds { min, max });
    match part {
        DatePart::Year if v.ty == LogicalType::Date => {
            let b = of_expression(v, columns)?;
            let year = |d: i128| {
                Some(i128::from(
                    frazil_types::date::civil_from_days(i32::try_from(d).ok()?).0,
                ))
            };
            fixed(year(b.min)?, year(b.max)?)
        }
        DatePart::Year => fixed(-5000, 300_000),
        DatePart::Quarter => fixed(1, 4),
        DatePart::Month => fixed(1, 12),
        DatePart::Week => fixed(1, 53),
        DatePart::Day => fixed(1, 31),
        DatePart::DayOfWeek => fixed(0, 6),
        DatePart::DayOfYear => fixed(1, 366),
        DatePart::Hour => fixed(0, 23),
        DatePart::Minute => fixed(0, 59),
        DatePart::Second => fixed(0, 60),
        DatePart::Epoch => None,
    }
}
