//! Every operation of integers and decimals on the edges of its types, against whole numbers of any length: the
//! exact result, or 22003 where the type does not hold it, whatever was proved of the operands.

mod support;

use frazil_codegen::{CompileOptions, CompiledPlan, OpenPipeline, Opening, PlanState, compile};
use frazil_plan::operators::{Aggregate, Filter, Map, Values};
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::pipeline_builder::build;
use frazil_plan::{AggregateCall, AggregateFunction, ArithmeticOp, Bounds, Expr, ExprKind, Operator};
use frazil_plan::{ScalarFunction, bounds};
use frazil_storage::ScanOptions;
use frazil_types::numeric::Numeric;
use frazil_types::{Cancel, CompareOp, LogicalType, MemoryBudget, Result, Span, Value};
use num_bigint::BigInt;
use std::sync::Arc;
use support::{Few, Maker, OneThread, compare, int};

const SMALL: LogicalType = LogicalType::SmallInt;
const INT: LogicalType = LogicalType::Integer;
const BIG: LogicalType = LogicalType::BigInt;

const fn decimal(precision: u8, scale: u8) -> LogicalType {
    LogicalType::Decimal { precision, scale }
}

const TYPES: [LogicalType; 9] = [
    SMALL,
    INT,
    BIG,
    decimal(10, 2),
    decimal(18, 0),
    decimal(19, 3),
    decimal(38, 0),
    decimal(38, 10),
    decimal(38, 38),
];

/// An expression over two parameters, compiled.
struct Compiled {
    plan: PipelinePlan,
    code: Arc<CompiledPlan>,
}

/// What is proved of the operands.
#[derive(Clone, Copy)]
enum Proofs {
    Forgotten,
    Bounds(Bounds, Bounds),
}

fn compiled(operands: [LogicalType; 2], proofs: Proofs, e: impl Fn(Expr, Expr) -> Expr) -> Compiled {
    let mut m = Maker::default();
    let parameter = |i| Expr::new(ExprKind::Parameter(i), operands[i], true);
    let [a, b] = [0, 1].map(|i| m.add(operands[i], true));
    match proofs {
        Proofs::Forgotten => m.columns.forget_proofs(),
        Proofs::Bounds(x, y) => (m.columns[a].bounds, m.columns[b].bounds) = (Some(x), Some(y)),
    }
    let made = e(m.column(a), m.column(b)).at(Span::new(7, 9));
    let x = m.add(made.ty, true);
    let known = bounds::of_expression(&made, &m.columns);
    m.columns[x].bounds = known.proved();
    let input = Operator::Values(Values {
        columns: vec![],
        rows: vec![vec![]],
    });
    let operands_made = Operator::Map(Map {
        input: Box::new(input),
        expressions: vec![(a, parameter(0)), (b, parameter(1))],
    });
    let root = Operator::Map(Map {
        input: Box::new(operands_made),
        expressions: vec![(x, made)],
    });
    let mut plan = m.plan(root, &[x]);
    plan.parameters = operands.to_vec();
    let plan = build(plan, &Few);
    let options = CompileOptions {
        verify: true,
        ..CompileOptions::default()
    };
    let code = Arc::new(compile(&plan, &options, &|_| None).unwrap());
    Compiled { plan, code }
}

impl Compiled {
    fn run(&self, a: Value, b: Value) -> Result<Value> {
        let plan = Arc::new(self.plan.clone());
        let (budget, cancel) = (MemoryBudget::unlimited(), Cancel::new());
        let state = Arc::new(PlanState::new(&plan, vec![a, b]));
        let layout = self.code.layouts.of_breaker(plan.result.unwrap()).lays();
        let buffer = layout.open(state.values())?;
        let opening = Opening {
            table: None,
            scan: ScanOptions::default(),
            first_rows: None,
            state: &state,
            breaker: Some(buffer.clone()),
            budget: &budget,
            cancel: &cancel,
        };
        let open = Arc::new(OpenPipeline::new(&plan, &self.code, 0, opening)?);
        let mut worker = open.worker()?;
        for morsel in 0..open.morsels() {
            worker.run(morsel)?;
        }
        let parts = worker.finish().into_iter().collect();
        let rows = buffer.finish(parts, &OneThread(&budget, &cancel))?;
        Ok(rows.batch(0).unwrap().columns[0].value(0))
    }

    /// Compares with the exact result, or the SQLSTATE.
    fn check(&self, a: Value, b: Value, want: &std::result::Result<Value, &str>, what: &str) {
        let found = self.run(a.clone(), b.clone());
        match (&found, want) {
            (Ok(found), Ok(want)) if found == want => {}
            (Err(error), Err(state)) if error.state().0 == *state => {
                assert_eq!(error.span(), Span::new(7, 9), "{what} of {a:?}, {b:?}");
            }
            _ => panic!("{what} of {a:?}, {b:?}: {found:?}, not {want:?}"),
        }
    }
}

fn range(ty: LogicalType) -> Bounds {
    bounds::of_type(ty).unwrap()
}

/// Values on the edges of a range, and some between.
fn edges(b: Bounds) -> Vec<i128> {
    let mut all = vec![
        b.min,
        b.min + 1,
        b.min / 2,
        b.min / 3,
        b.max / 3,
        b.max / 2,
        b.max - 1,
        b.max,
    ];
    all.extend(
        [-1000, -10, -3, -2, -1, 0, 1, 2, 3, 10, 1000]
            .into_iter()
            .filter(|v| b.contains(*v)),
    );
    all.retain(|v| b.contains(*v));
    all.sort();
    all.dedup();
    all
}

fn power_of(n: u8) -> BigInt {
    BigInt::from(10).pow(n.into())
}

/// `a / b`, both at one scale, with PostgreSQL's digits after the point: as many as make 16 significant ones, counted
/// in units of four, and at least those of both. With more than 38 digits those at the end are rounded away.
fn numeric_quotient(a: i128, b: i128, scale: u8) -> Value {
    let first_unit = |v: i128| -> (i64, BigInt) {
        if v == 0 {
            return (0, BigInt::from(0));
        }
        let power = v.unsigned_abs().ilog10() as i64 - i64::from(scale);
        let unit = power.div_euclid(4);
        let shift = unit * 4 + i64::from(scale);
        let v = BigInt::from(v.unsigned_abs());
        let first = match u8::try_from(shift) {
            Ok(shift) => v / power_of(shift),
            Err(_) => v * power_of((-shift) as u8),
        };
        (unit, first)
    };
    let ((a_unit, a_first), (b_unit, b_first)) = (first_unit(a), first_unit(b));
    let units = a_unit - b_unit - i64::from(a_first <= b_first);
    let wanted = (16 - 4 * units).max(scale.into()).clamp(0, 38) as u8;
    let at = |digits: u8| {
        let exact = quotient(BigInt::from(a) * power_of(digits), BigInt::from(b));
        let held = i128::try_from(exact).ok()?;
        Numeric::new(held, digits).ok().map(Value::from)
    };
    (0..=wanted)
        .rev()
        .find_map(at)
        .expect("a quotient of up to 38 digits")
}

/// Half away from zero.
fn quotient(a: BigInt, b: BigInt) -> BigInt {
    let (two, zero) = (BigInt::from(2), BigInt::from(0));
    let negative = (a < zero) != (b < zero);
    let (a, b) = (
        BigInt::from(a.magnitude().clone()),
        BigInt::from(b.magnitude().clone()),
    );
    let rounded = (&a * &two + &b) / (&b * two);
    if negative { -rounded } else { rounded }
}

fn rescaled(v: BigInt, from: u8, to: u8) -> BigInt {
    match to >= from {
        true => v * power_of(to - from),
        false => quotient(v, power_of(from - to)),
    }
}

/// The value of a type, or the failure.
fn held(v: BigInt, ty: LogicalType) -> std::result::Result<Value, &'static str> {
    let value = i128::try_from(v).ok().filter(|v| range(ty).contains(*v));
    value.map(Value::Int).ok_or("22003")
}

fn of_arithmetic(
    op: ArithmeticOp,
    operand: LogicalType,
    result: LogicalType,
    a: i128,
    b: i128,
) -> std::result::Result<Value, &'static str> {
    let (x, y) = (BigInt::from(a), BigInt::from(b));
    let exact = match op {
        ArithmeticOp::Add => x + y,
        ArithmeticOp::Sub => x - y,
        ArithmeticOp::Mul => x * y,
        _ if b == 0 => return Err("22012"),
        ArithmeticOp::Rem => x % y,
        ArithmeticOp::Div if operand.is_integer() => x / y,
        ArithmeticOp::Div => return Ok(numeric_quotient(a, b, operand.scale().unwrap())),
    };
    held(exact, result)
}

const OPERATIONS: [ArithmeticOp; 5] = [
    ArithmeticOp::Add,
    ArithmeticOp::Sub,
    ArithmeticOp::Mul,
    ArithmeticOp::Div,
    ArithmeticOp::Rem,
];

/// The type of an operation's result, the narrowest one that is right.
fn result_type(op: ArithmeticOp, ty: LogicalType) -> Option<LogicalType> {
    let LogicalType::Decimal { precision, scale } = ty else {
        return Some(ty);
    };
    match op {
        ArithmeticOp::Mul if scale * 2 > 38 => None,
        ArithmeticOp::Mul => Some(decimal((precision * 2).min(38), scale * 2)),
        ArithmeticOp::Div => Some(LogicalType::Numeric),
        _ => Some(ty),
    }
}

/// What may be proved of operands of a type: all of it, its middle, a few values.
fn ranges(ty: LogicalType) -> [Bounds; 3] {
    let all = range(ty);
    let middle = Bounds {
        min: -(all.max as f64).sqrt() as i128,
        max: (all.max as f64).sqrt() as i128,
    };
    [all, middle, Bounds { min: -3, max: 1 }]
}

#[test]
fn arithmetic_is_exact_or_fails() {
    for ty in TYPES {
        for op in OPERATIONS {
            let Some(result) = result_type(op, ty) else {
                continue;
            };
            let make = |a: Expr, b: Expr| {
                Expr::new(ExprKind::Arithmetic(op, Box::new(a), Box::new(b)), result, true)
            };
            let [all, middle, few] = ranges(ty);
            let pairs = [(all, all), (middle, middle), (all, few), (few, all), (few, few)];
            let proofs = pairs.map(|(x, y)| (x, y, Proofs::Bounds(x, y)));
            for (x, y, proofs) in proofs.into_iter().chain([(all, all, Proofs::Forgotten)]) {
                let code = compiled([ty; 2], proofs, make);
                let what = format!("{} {}", op.symbol(), ty);
                for a in edges(x) {
                    for b in edges(y) {
                        let want = of_arithmetic(op, ty, result, a, b);
                        code.check(Value::Int(a), Value::Int(b), &want, &what);
                    }
                    // A NULL fails nowhere, whatever stands beside it.
                    code.check(Value::Int(a), Value::Null, &Ok(Value::Null), &what);
                    code.check(Value::Null, Value::Int(0), &Ok(Value::Null), &what);
                }
            }
        }
    }
}

#[test]
fn unary_operations_are_exact_or_fail() {
    for ty in TYPES {
        let [all, middle, few] = ranges(ty);
        let proofs = [all, middle, few].map(|x| (x, Proofs::Bounds(x, all)));
        for (x, proofs) in proofs.into_iter().chain([(all, Proofs::Forgotten)]) {
            let negate = |a: Expr, _| Expr::new(ExprKind::Negate(Box::new(a)), ty, true);
            let abs = |a: Expr, _| Expr::new(ExprKind::Function(ScalarFunction::Abs, vec![a]), ty, true);
            let (negate, abs) = (compiled([ty; 2], proofs, negate), compiled([ty; 2], proofs, abs));
            for a in edges(x) {
                negate.check(Value::Int(a), Value::Null, &held(-BigInt::from(a), ty), "-");
                let magnitude = BigInt::from(BigInt::from(a).magnitude().clone());
                abs.check(Value::Int(a), Value::Null, &held(magnitude, ty), "abs");
            }
        }
    }
}

#[test]
fn casts_are_exact_or_fail() {
    for from in TYPES {
        for to in TYPES {
            let [all, middle, few] = ranges(from);
            let proofs = [all, middle, few].map(|x| (x, Proofs::Bounds(x, all)));
            for (x, proofs) in proofs.into_iter().chain([(all, Proofs::Forgotten)]) {
                let cast = |a: Expr, _| Expr::new(ExprKind::Cast(Box::new(a)), to, true);
                let code = compiled([from; 2], proofs, cast);
                let what = format!("{from} to {to}");
                for a in edges(x) {
                    let exact = rescaled(a.into(), from.scale().unwrap(), to.scale().unwrap());
                    code.check(Value::Int(a), Value::Null, &held(exact, to), &what);
                }
                code.check(Value::Null, Value::Null, &Ok(Value::Null), &what);
            }
        }
    }
}

/// Types of different scales, narrow and wide.
const SCALES: [LogicalType; 6] = [
    SMALL,
    BIG,
    decimal(19, 3),
    decimal(38, 0),
    decimal(38, 10),
    decimal(38, 38),
];

/// Pairs of types whose scales differ.
fn scales() -> impl Iterator<Item = (LogicalType, LogicalType)> {
    let pairs = SCALES.into_iter().flat_map(|l| SCALES.map(|r| (l, r)));
    pairs.filter(|(l, r)| l.scale() != r.scale())
}

#[test]
fn numbers_of_different_scales_compare_exactly() {
    let ops = [CompareOp::Eq, CompareOp::Lt, CompareOp::Ge];
    for ((l, r), op) in scales().flat_map(|types| ops.map(|op| (types, op))) {
        let make = |a: Expr, b: Expr| {
            let kind = ExprKind::Function(ScalarFunction::Compare(op), vec![a, b]);
            Expr::new(kind, LogicalType::Boolean, true)
        };
        let ([all_l, some_l, _], [all_r, some_r, _]) = (ranges(l), ranges(r));
        let pairs = [(all_l, all_r), (some_l, all_r), (all_l, some_r)];
        let proofs = pairs.map(|(x, y)| (x, y, Proofs::Bounds(x, y)));
        let [at_l, at_r] = [l, r].map(|ty| ty.scale().unwrap());
        for (x, y, proofs) in proofs.into_iter().chain([(all_l, all_r, Proofs::Forgotten)]) {
            let code = compiled([l, r], proofs, make);
            let what = format!("{l} {} {r}", op.symbol());
            let exact = |v: i128, at: u8| BigInt::from(v) * power_of(38 - at);
            for a in edges(x) {
                // Of the other scale the same number, if it is one, and those beside it.
                let same = quotient(BigInt::from(a) * power_of(at_r), power_of(at_l));
                let beside = [-1, 0, 1].map(|d| i128::try_from(&same + BigInt::from(d)));
                let beside = beside.into_iter().flatten().filter(|b| y.contains(*b));
                for b in edges(y).into_iter().step_by(3).chain(beside) {
                    let holds = op.holds(exact(a, at_l).cmp(&exact(b, at_r)));
                    code.check(Value::Int(a), Value::Int(b), &Ok(Value::Bool(holds)), &what);
                }
                code.check(Value::Int(a), Value::Null, &Ok(Value::Null), &what);
            }
            code.check(Value::Null, Value::Int(y.max), &Ok(Value::Null), &what);
        }
    }
}

#[test]
fn numbers_are_rounded_down_and_up_to_a_scale() {
    for (from, coarse) in scales().filter(|(from, to)| from.scale() > to.scale()) {
        let to = decimal(38, coarse.scale().unwrap());
        let [all, middle, few] = ranges(from);
        let proofs = [all, middle, few].map(|x| (x, Proofs::Bounds(x, all)));
        for (x, proofs) in proofs.into_iter().chain([(all, Proofs::Forgotten)]) {
            for function in [ScalarFunction::FloorToScale, ScalarFunction::CeilToScale] {
                let make = |a: Expr, _| Expr::new(ExprKind::Function(function, vec![a]), to, true);
                let code = compiled([from; 2], proofs, make);
                let divisor = 10i128.pow(u32::from(from.scale().unwrap() - to.scale().unwrap()));
                for a in edges(x) {
                    let want = match function {
                        ScalarFunction::FloorToScale => a.div_euclid(divisor),
                        _ => -(-a).div_euclid(divisor),
                    };
                    let what = format!("{function:?} of {from} to {to}");
                    code.check(Value::Int(a), Value::Null, &Ok(Value::Int(want)), &what);
                }
                code.check(Value::Null, Value::Null, &Ok(Value::Null), "NULL");
            }
        }
    }
}

#[test]
fn doubles_become_numbers_as_in_postgresql() {
    let cast = |to| {
        compiled([LogicalType::Double; 2], Proofs::Forgotten, move |a, _| {
            Expr::new(ExprKind::Cast(Box::new(a)), to, true)
        })
    };
    let cases: [(LogicalType, f64, std::result::Result<i128, &str>); 17] = [
        (INT, 2.5, Ok(2)),
        (INT, -2.5, Ok(-2)),
        (INT, 3.5, Ok(4)),
        (INT, 2_147_483_647.4, Ok(2_147_483_647)),
        (INT, 2_147_483_647.5, Err("22003")),
        (INT, -2_147_483_648.5, Ok(-2_147_483_648)),
        (INT, f64::NAN, Err("22003")),
        (SMALL, 32_768.0, Err("22003")),
        (BIG, 9_223_372_036_854_775_807.0, Err("22003")),
        (BIG, -9_223_372_036_854_775_808.0, Ok(i64::MIN.into())),
        (decimal(20, 17), 0.1 + 0.2, Ok(30_000_000_000_000_000)),
        (
            decimal(38, 0),
            123_456_789_012_345_678.0,
            Ok(123_456_789_012_346_000),
        ),
        (decimal(10, 1), 0.15, Ok(2)),
        (decimal(10, 1), -0.25, Ok(-3)),
        (decimal(38, 0), 1e38, Err("22003")),
        (decimal(5, 2), 999.994, Ok(99_999)),
        (decimal(5, 2), 999.995, Err("22003")),
    ];
    for (to, v, want) in cases {
        cast(to).check(
            Value::Double(v),
            Value::Null,
            &want.map(Value::Int),
            &format!("{v} to {to}"),
        );
    }
}

#[test]
fn doubles_neither_overflow_nor_vanish() {
    let apply = |op, a, b| {
        let code = compiled([LogicalType::Double; 2], Proofs::Forgotten, |a, b| {
            Expr::new(
                ExprKind::Arithmetic(op, Box::new(a), Box::new(b)),
                LogicalType::Double,
                true,
            )
        });
        match code.run(Value::Double(a), Value::Double(b)) {
            Ok(Value::Double(v)) => format!("{v}"),
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("{} {}", error.state().0, error.message()),
        }
    };
    let (mul, div) = (ArithmeticOp::Mul, ArithmeticOp::Div);
    assert_eq!(apply(mul, 1e200, 1e200), "22003 value out of range: overflow");
    assert_eq!(apply(mul, 1e-200, 1e-200), "22003 value out of range: underflow");
    assert_eq!(apply(mul, 0.0, 1e-200), "0");
    assert_eq!(apply(div, 1e-200, 1e200), "22003 value out of range: underflow");
    assert_eq!(apply(div, 1.0, f64::INFINITY), "0");
    assert_eq!(apply(div, f64::NAN, 0.0), "NaN");
    assert_eq!(apply(div, 1.0, 0.0), "22012 division by zero");
    assert_eq!(apply(mul, f64::INFINITY, 2.0), "inf");
}

/// A column of these values.
fn column(ty: LogicalType, values: &[i128]) -> (Maker, Operator, Expr) {
    let mut m = Maker::default();
    let rows: Vec<Vec<Value>> = values.iter().map(|v| vec![Value::Int(*v)]).collect();
    let (input, c) = m.values(&[ty], &rows);
    let column = m.column(c[0]);
    (m, input, column)
}

fn aggregated(
    function: AggregateFunction,
    ty: LogicalType,
    values: &[i128],
    argument: impl Fn(Expr) -> Expr,
) -> std::result::Result<Value, String> {
    let (mut m, input, c) = column(ty, values);
    let argument = argument(c);
    let scale = argument.ty.scale().unwrap();
    let ty = match function {
        AggregateFunction::Avg => LogicalType::Numeric,
        _ if matches!(argument.ty, SMALL | INT) => BIG,
        _ => decimal(38, scale),
    };
    let x = m.add(ty, true);
    let call = AggregateCall {
        function,
        argument: Some(argument),
        second: None,
        distinct: false,
        order: Vec::new(),
        filter: None,
        ty,
    };
    let root = Operator::Aggregate(Aggregate {
        input: Box::new(input),
        groups: vec![],
        aggregates: vec![(x, call)],
    });
    match m.run(root, &[x]) {
        Ok(mut rows) => Ok(rows.remove(0).remove(0)),
        Err(error) => Err(error.state().0.to_owned()),
    }
}

#[test]
fn sums_and_averages_near_the_limits() {
    use AggregateFunction::{Avg, Sum};
    let most = i128::from(i64::MAX);
    let same = |e: Expr| e;
    assert_eq!(
        aggregated(Sum, BIG, &[most, most, most], same),
        Ok(Value::Int(3 * most))
    );
    assert_eq!(
        aggregated(Sum, BIG, &[-most - 1, -most - 1], same),
        Ok(Value::Int(-2 * most - 2))
    );
    assert_eq!(
        aggregated(Avg, BIG, &[most, most - 1], same),
        Ok(Numeric::read("9223372036854775807").unwrap().into())
    );
    let wide = decimal(38, 0);
    let big = 9 * 10i128.pow(37);
    assert_eq!(aggregated(Sum, wide, &[big], same), Ok(Value::Int(big)));
    assert_eq!(aggregated(Sum, wide, &[big, big], same), Err("22003".into()));
    assert_eq!(aggregated(Sum, wide, &[-big, -big], same), Err("22003".into()));
    assert_eq!(aggregated(Avg, wide, &[big, big], same), Err("22003".into()));
    let square = |e: Expr| {
        Expr::new(
            ExprKind::Arithmetic(ArithmeticOp::Mul, Box::new(e.clone()), Box::new(e)),
            wide,
            false,
        )
    };
    assert_eq!(aggregated(Sum, wide, &[big], square), Err("22003".into()));
    assert_eq!(
        aggregated(Sum, INT, &[i32::MAX.into(), i32::MAX.into()], same),
        Ok(Value::Int(4_294_967_294))
    );
}

#[test]
fn lists_hold_numbers_wider_than_their_value() {
    let (mut m, input, c) = column(decimal(38, 0), &[1, 5]);
    let Operator::Values(Values { columns, .. }) = &input else {
        panic!()
    };
    m.columns[columns[0]].bounds = Some(Bounds { min: 0, max: 9 });
    for (list, kept) in [
        (vec![(1 << 64) + 1, 5], vec![5]),
        (vec![-(10i128.pow(38) - 1), 10i128.pow(38) - 1, 1, 7, 8], vec![1]),
        (
            vec![(1 << 64) + 1, (1 << 64) + 2, (1 << 64) + 3, (1 << 64) + 4],
            vec![],
        ),
    ] {
        let in_list = ExprKind::InList {
            value: Box::new(c.clone()),
            list: list.into_iter().map(Value::Int).collect(),
            negated: false,
        };
        let root = Operator::Filter(Filter {
            input: Box::new(input.clone()),
            predicate: Expr::boolean(in_list, false),
        });
        let found = m.run(root, &columns[..]).unwrap();
        let kept: Vec<Vec<Value>> = kept.into_iter().map(|v| vec![Value::Int(v)]).collect();
        assert_eq!(found, kept);
    }
}

/// coalesce(x / y, 0) + coalesce(x / y, 0), the quotient computed once.
#[test]
fn a_let_is_computed_where_it_stands() {
    let make = |kind| Expr::new(kind, INT, true);
    for guarded in [false, true] {
        let mut m = Maker::default();
        let rows: Vec<Vec<Value>> = [(Some(7), 2), (None, 3), (Some(9), 0)]
            .iter()
            .map(|(x, y): &(Option<i128>, i128)| vec![x.map_or(Value::Null, Value::Int), Value::Int(*y)])
            .collect();
        let (input, c) = m.values(&[INT, INT], &rows);
        let (x, y) = (m.column(c[0]), m.column(c[1]));
        let made = m.add(INT, true);
        let read = || Expr::new(ExprKind::Column(made), INT, true);
        let quotient = make(ExprKind::Arithmetic(
            ArithmeticOp::Div,
            Box::new(x),
            Box::new(y.clone()),
        ));
        let is_null = Expr::boolean(ExprKind::IsNull(Box::new(read())), false);
        let coalesce = make(ExprKind::Case {
            branches: vec![(is_null, int(0, INT))],
            otherwise: Some(Box::new(read())),
        });
        let twice = make(ExprKind::Arithmetic(
            ArithmeticOp::Add,
            Box::new(coalesce.clone()),
            Box::new(coalesce),
        ));
        let whole = make(ExprKind::Let {
            column: made,
            value: Box::new(quotient),
            body: Box::new(twice),
        });
        let e = match guarded {
            false => whole,
            true => make(ExprKind::Case {
                branches: vec![(
                    compare(CompareOp::Eq, y, int(0, INT)),
                    Expr::constant(Value::Null, INT),
                )],
                otherwise: Some(Box::new(whole)),
            }),
        };
        let out = m.add(INT, true);
        let root = Operator::Map(Map {
            input: Box::new(input),
            expressions: vec![(out, e)],
        });
        let found = m.run(root, &[out]);
        match guarded {
            false => assert_eq!(found.unwrap_err().state().0, "22012"),
            true => {
                let want = [Value::Int(6), Value::Int(0), Value::Null].map(|v| vec![v]);
                assert_eq!(found.unwrap(), want);
            }
        }
    }
}
