//! A proved range is never violated: random expressions over random values within their columns' bounds, against an
//! evaluator that computes every part exactly.

use frazil_plan::bounds::{self, Part};
use frazil_plan::{
    ArithmeticOp, Bounds, ColumnId, Columns, Expr, ExprKind, Grid, ScalarFunction, ValueBounds,
};
use frazil_types::{CompareOp, LogicalType, Value, decimal};
use std::collections::HashMap;

/// A generator of numbers that repeats itself (Knuth's constants).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn within(&mut self, b: Bounds) -> i128 {
        let width = b.max.wrapping_sub(b.min) as u128;
        let edge = self.below(6);
        if edge < 2 {
            return if edge == 0 { b.min } else { b.max };
        }
        let bits = u128::from(self.below(1 << 31)) << 62
            ^ u128::from(self.below(1 << 31)) << 31
            ^ u128::from(self.below(1 << 31));
        let offset = if width == u128::MAX {
            bits
        } else {
            bits % (width + 1)
        };
        b.min.wrapping_add(offset as i128)
    }
}

const TYPES: [LogicalType; 6] = [
    LogicalType::SmallInt,
    LogicalType::Integer,
    LogicalType::BigInt,
    LogicalType::Decimal {
        precision: 10,
        scale: 0,
    },
    LogicalType::Decimal {
        precision: 20,
        scale: 0,
    },
    LogicalType::Decimal {
        precision: 38,
        scale: 0,
    },
];

struct Case {
    random: Random,
    columns: Columns,
    values: HashMap<ColumnId, i128>,
    /// Columns that may be read, of the enclosing Lets too.
    visible: Vec<ColumnId>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut case = Case {
            random: Random(seed),
            columns: Columns::default(),
            values: HashMap::new(),
            visible: vec![],
        };
        for ty in TYPES {
            let id = case.columns.add("c", ty, false);
            let of_type = bounds::of_type(ty).unwrap();
            let shift = case.random.below(127) as u32;
            let small = Bounds {
                min: of_type.min >> shift,
                max: of_type.max >> shift,
            };
            let (a, b) = (case.random.within(small), case.random.within(small));
            let observed = Bounds {
                min: a.min(b),
                max: a.max(b),
            };
            let value = case.random.within(observed);
            case.values.insert(id, value);
            let grid = Grid::ALL[case.random.below(3) as usize];
            if case.random.below(4) > 0 {
                case.columns[id].bounds = grid.around(observed).intersection(of_type);
            }
            case.visible.push(id);
        }
        case
    }

    fn expression(&mut self, ty: LogicalType, depth: u32) -> Expr {
        let make = |kind| Expr::new(kind, ty, false);
        if depth == 0 || self.random.below(8) == 0 {
            let fits: Vec<ColumnId> = self
                .visible
                .iter()
                .copied()
                .filter(|c| self.columns[*c].ty == ty)
                .collect();
            if self.random.below(3) > 0 && !fits.is_empty() {
                let id = fits[self.random.below(fits.len() as u64) as usize];
                return make(ExprKind::Column(id));
            }
            let value = self.random.within(Bounds { min: -9, max: 9 });
            return Expr::constant(Value::Int(value), ty);
        }
        match self.random.below(9) {
            0..=4 => {
                let op = [
                    ArithmeticOp::Add,
                    ArithmeticOp::Sub,
                    ArithmeticOp::Mul,
                    ArithmeticOp::Div,
                    ArithmeticOp::Rem,
                ][self.random.below(5) as usize];
                let (l, r) = (self.expression(ty, depth - 1), self.expression(ty, depth - 1));
                make(ExprKind::Arithmetic(op, Box::new(l), Box::new(r)))
            }
            5 => {
                let from = TYPES[self.random.below(TYPES.len() as u64) as usize];
                make(ExprKind::Cast(Box::new(self.expression(from, depth - 1))))
            }
            6 if self.random.below(2) == 0 => {
                make(ExprKind::Negate(Box::new(self.expression(ty, depth - 1))))
            }
            6 => make(ExprKind::Function(
                ScalarFunction::Abs,
                vec![self.expression(ty, depth - 1)],
            )),
            7 => {
                let (l, r) = (self.expression(ty, depth - 1), self.expression(ty, depth - 1));
                let condition = ExprKind::Compare(CompareOp::Lt, Box::new(l), Box::new(r));
                let condition = Expr::boolean(condition, false);
                let branches = vec![(condition, self.expression(ty, depth - 1))];
                let otherwise = Some(Box::new(self.expression(ty, depth - 1)));
                make(ExprKind::Case { branches, otherwise })
            }
            _ => {
                let of = TYPES[self.random.below(TYPES.len() as u64) as usize];
                let value = Box::new(self.expression(of, depth - 1));
                let column = self.columns.add("let", of, false);
                self.visible.push(column);
                let body = Box::new(self.expression(ty, depth - 1));
                self.visible.pop();
                make(ExprKind::Let { column, value, body })
            }
        }
    }
}

type Known = HashMap<*const Expr, ValueBounds>;

/// The value; an error where it leaves its type or is divided by 0. What is proved of each part must hold.
fn evaluate(e: &Expr, values: &mut HashMap<ColumnId, i128>, known: &Known) -> Result<i128, ()> {
    let exact = match &e.kind {
        ExprKind::Column(id) => return Ok(values[id]),
        ExprKind::Constant(Value::Int(v)) => Some(*v),
        ExprKind::Arithmetic(op, l, r) => {
            let (a, b) = (evaluate(l, values, known)?, evaluate(r, values, known)?);
            match op {
                ArithmeticOp::Add => a.checked_add(b),
                ArithmeticOp::Sub => a.checked_sub(b),
                ArithmeticOp::Mul => a.checked_mul(b),
                _ if b == 0 => return Err(()),
                ArithmeticOp::Rem => Some(a % b),
                ArithmeticOp::Div if e.ty.is_integer() => Some(a / b),
                ArithmeticOp::Div => Some(decimal::divide_round(a, b)),
            }
        }
        ExprKind::Negate(v) => Some(-evaluate(v, values, known)?),
        ExprKind::Cast(v) => Some(evaluate(v, values, known)?),
        ExprKind::Function(ScalarFunction::Abs, list) => Some(evaluate(&list[0], values, known)?.abs()),
        ExprKind::Case { branches, otherwise } => {
            let ExprKind::Compare(_, l, r) = &branches[0].0.kind else {
                return Err(());
            };
            let holds = evaluate(l, values, known)? < evaluate(r, values, known)?;
            Some(match otherwise {
                Some(other) if !holds => evaluate(other, values, known)?,
                _ => evaluate(&branches[0].1, values, known)?,
            })
        }
        ExprKind::Let { column, value, body } => {
            let value = evaluate(value, values, known)?;
            values.insert(*column, value);
            Some(evaluate(body, values, known)?)
        }
        other => panic!("{other:?}"),
    };
    let of_type = bounds::of_type(e.ty).unwrap();
    if let Some(proved) = known[&std::ptr::from_ref(e)].proved() {
        assert!(
            exact.is_some_and(|v| proved.contains(v)),
            "{exact:?} outside {proved:?}: {e:?}"
        );
        assert!(proved.within(of_type), "{proved:?} leaves {}", e.ty);
    }
    exact.filter(|v| of_type.contains(*v)).ok_or(())
}

#[test]
fn no_value_leaves_a_proved_range() {
    let (mut answered, mut proofs) = (0, 0);
    for seed in 0..4_000 {
        let mut case = Case::new(seed);
        let ty = TYPES[case.random.below(TYPES.len() as u64) as usize];
        let e = case.expression(ty, 4);
        let mut known = Known::new();
        bounds::each_part(&e, &case.columns, &mut |part, of_part| {
            if let Part::Expression(part) = part {
                proofs += usize::from(of_part.proved().is_some());
                known.insert(std::ptr::from_ref(part), of_part);
            }
        });
        answered += usize::from(evaluate(&e, &mut case.values, &known).is_ok());
        case.columns.forget_proofs();
        assert_eq!(bounds::of_expression(&e, &case.columns).proved(), None);
    }
    assert!(
        answered > 1000 && proofs > 5000,
        "{answered} values, {proofs} proofs"
    );
}

#[test]
fn a_range_beyond_128_bits_proves_nothing() {
    let mut columns = Columns::default();
    let x = columns.add("x", LogicalType::BigInt, false);
    columns[x].bounds = bounds::of_type(LogicalType::BigInt);
    let mul = |l: Expr, r: Expr| {
        let kind = ExprKind::Arithmetic(ArithmeticOp::Mul, Box::new(l), Box::new(r));
        Expr::new(kind, LogicalType::BigInt, false)
    };
    let column = || Expr::column(x, &columns);
    let cube = mul(mul(column(), column()), column());
    assert_eq!(
        bounds::of_expression(&cube, &columns),
        ValueBounds::of_type(LogicalType::BigInt)
    );
}
