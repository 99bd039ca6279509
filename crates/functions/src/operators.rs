//! Operators as data: the types they take and what they mean.

use crate::arithmetic::{
    Sign, add_intervals, date_difference, date_plus_days, negate, numbers, plus_interval, scale_interval,
    timestamp_difference,
};
use crate::build::call;
use crate::compare::comparison;
use crate::convert::{as_text, type_of_kind};
use crate::resolve::{CallKind, Resolution, no_operator, no_operator_between, resolve};
use crate::type_rules::{Category, Kind, name_of};
use crate::{CastContext, LikeKind, Operand, Typing, scalar_functions};
use frazil_plan::{Columns, Expr, ScalarFunction};
use frazil_types::value_ops::{ArithmeticOp, Divide};
use frazil_types::{LogicalType, Result, Span, SqlState};

/// What an infix operator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Infix {
    Numbers(ArithmeticOp),
    DatePlusDays,
    DaysPlusDate,
    DateMinusDays,
    DateDifference,
    PlusInterval,
    IntervalPlus,
    MinusInterval,
    TimestampDifference,
    AddIntervals,
    SubtractIntervals,
    IntervalTimes,
    TimesInterval,
    IntervalBy,
    Power,
    /// A function of the table with the same operands.
    Function(&'static str),
}

use Kind::{
    Array, BigInt, Date, Double, Integer, Interval, Json, JsonPath, Jsonb, Numeric, Real, SmallInt, Text,
    Time, Timestamp, TimestampTz,
};

/// Every infix operator but comparisons, `||` and the pattern operators, whose operands are of any type.
const INFIX: &[(&str, Kind, Kind, Infix)] = &[
    ("+", SmallInt, SmallInt, Infix::Numbers(ArithmeticOp::Add)),
    ("+", Integer, Integer, Infix::Numbers(ArithmeticOp::Add)),
    ("+", BigInt, BigInt, Infix::Numbers(ArithmeticOp::Add)),
    ("+", Numeric, Numeric, Infix::Numbers(ArithmeticOp::Add)),
    ("+", Real, Real, Infix::Numbers(ArithmeticOp::Add)),
    ("+", Real, Double, Infix::Numbers(ArithmeticOp::Add)),
    ("+", Double, Real, Infix::Numbers(ArithmeticOp::Add)),
    ("+", Double, Double, Infix::Numbers(ArithmeticOp::Add)),
    ("+", Date, Integer, Infix::DatePlusDays),
    ("+", Integer, Date, Infix::DaysPlusDate),
    ("+", Date, Interval, Infix::PlusInterval),
    ("+", Interval, Date, Infix::IntervalPlus),
    ("+", Date, Time, Infix::Function("datetime_pl")),
    ("+", Time, Date, Infix::Function("timedate_pl")),
    ("+", Time, Interval, Infix::Function("time_pl_interval")),
    ("+", Interval, Time, Infix::Function("interval_pl_time")),
    ("+", Timestamp, Interval, Infix::PlusInterval),
    ("+", Interval, Timestamp, Infix::IntervalPlus),
    ("+", TimestampTz, Interval, Infix::PlusInterval),
    ("+", Interval, TimestampTz, Infix::IntervalPlus),
    ("+", Interval, Interval, Infix::AddIntervals),
    ("-", SmallInt, SmallInt, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", Integer, Integer, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", BigInt, BigInt, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", Numeric, Numeric, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", Real, Real, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", Real, Double, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", Double, Real, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", Double, Double, Infix::Numbers(ArithmeticOp::Sub)),
    ("-", Date, Date, Infix::DateDifference),
    ("-", Date, Integer, Infix::DateMinusDays),
    ("-", Date, Interval, Infix::MinusInterval),
    ("-", Time, Time, Infix::Function("time_mi_time")),
    ("-", Time, Interval, Infix::Function("time_mi_interval")),
    ("-", Timestamp, Interval, Infix::MinusInterval),
    ("-", Timestamp, Timestamp, Infix::TimestampDifference),
    ("-", TimestampTz, Interval, Infix::MinusInterval),
    ("-", TimestampTz, TimestampTz, Infix::TimestampDifference),
    ("-", Interval, Interval, Infix::SubtractIntervals),
    ("*", SmallInt, SmallInt, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", Integer, Integer, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", BigInt, BigInt, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", Numeric, Numeric, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", Real, Real, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", Real, Double, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", Double, Real, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", Double, Double, Infix::Numbers(ArithmeticOp::Mul)),
    ("*", Interval, Double, Infix::IntervalTimes),
    ("*", Double, Interval, Infix::TimesInterval),
    ("/", SmallInt, SmallInt, Infix::Numbers(ArithmeticOp::Div)),
    ("/", Integer, Integer, Infix::Numbers(ArithmeticOp::Div)),
    ("/", BigInt, BigInt, Infix::Numbers(ArithmeticOp::Div)),
    ("/", Numeric, Numeric, Infix::Numbers(ArithmeticOp::Div)),
    ("/", Real, Real, Infix::Numbers(ArithmeticOp::Div)),
    ("/", Real, Double, Infix::Numbers(ArithmeticOp::Div)),
    ("/", Double, Real, Infix::Numbers(ArithmeticOp::Div)),
    ("/", Double, Double, Infix::Numbers(ArithmeticOp::Div)),
    ("/", Interval, Double, Infix::IntervalBy),
    ("%", SmallInt, SmallInt, Infix::Numbers(ArithmeticOp::Rem)),
    ("%", Integer, Integer, Infix::Numbers(ArithmeticOp::Rem)),
    ("%", BigInt, BigInt, Infix::Numbers(ArithmeticOp::Rem)),
    ("%", Numeric, Numeric, Infix::Numbers(ArithmeticOp::Rem)),
    ("^", Double, Double, Infix::Power),
    ("&", SmallInt, SmallInt, Infix::Function("bit_and_of")),
    ("&", Integer, Integer, Infix::Function("bit_and_of")),
    ("&", BigInt, BigInt, Infix::Function("bit_and_of")),
    ("|", SmallInt, SmallInt, Infix::Function("bit_or_of")),
    ("|", Integer, Integer, Infix::Function("bit_or_of")),
    ("|", BigInt, BigInt, Infix::Function("bit_or_of")),
    ("#", SmallInt, SmallInt, Infix::Function("bit_xor_of")),
    ("#", Integer, Integer, Infix::Function("bit_xor_of")),
    ("#", BigInt, BigInt, Infix::Function("bit_xor_of")),
    ("<<", SmallInt, Integer, Infix::Function("shift_left")),
    ("<<", Integer, Integer, Infix::Function("shift_left")),
    ("<<", BigInt, Integer, Infix::Function("shift_left")),
    (">>", SmallInt, Integer, Infix::Function("shift_right")),
    (">>", Integer, Integer, Infix::Function("shift_right")),
    (">>", BigInt, Integer, Infix::Function("shift_right")),
    ("^@", Text, Text, Infix::Function("starts_with")),
    ("->", Json, Text, Infix::Function("json_object_field")),
    ("->", Json, Integer, Infix::Function("json_array_element")),
    ("->", Jsonb, Text, Infix::Function("jsonb_object_field")),
    ("->", Jsonb, Integer, Infix::Function("jsonb_array_element")),
    ("->>", Json, Text, Infix::Function("json_object_field_text")),
    ("->>", Json, Integer, Infix::Function("json_array_element_text")),
    ("->>", Jsonb, Text, Infix::Function("jsonb_object_field_text")),
    ("->>", Jsonb, Integer, Infix::Function("jsonb_array_element_text")),
    ("#>", Json, Array, Infix::Function("json_at_path")),
    ("#>", Jsonb, Array, Infix::Function("jsonb_at_path")),
    ("#>>", Json, Array, Infix::Function("json_at_path_text")),
    ("#>>", Jsonb, Array, Infix::Function("jsonb_at_path_text")),
    ("@>", Jsonb, Jsonb, Infix::Function("jsonb_contains")),
    ("<@", Jsonb, Jsonb, Infix::Function("jsonb_contained")),
    ("@?", Jsonb, JsonPath, Infix::Function("jsonb_path_exists_opr")),
    ("@@", Jsonb, JsonPath, Infix::Function("jsonb_path_match_opr")),
    ("?", Jsonb, Text, Infix::Function("jsonb_exists")),
    ("?|", Jsonb, Array, Infix::Function("jsonb_exists_any")),
    ("?&", Jsonb, Array, Infix::Function("jsonb_exists_all")),
    ("-", Jsonb, Text, Infix::Function("jsonb_delete")),
    ("-", Jsonb, Integer, Infix::Function("jsonb_delete")),
    ("-", Jsonb, Array, Infix::Function("jsonb_delete")),
    ("#-", Jsonb, Array, Infix::Function("jsonb_delete_path")),
];

/// What a prefix operator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    Same,
    Negate,
    Abs,
    Sqrt,
    CubeRoot,
    BitNot,
}

const PREFIX: &[(&str, Kind, Prefix)] = &[
    ("+", SmallInt, Prefix::Same),
    ("+", Integer, Prefix::Same),
    ("+", BigInt, Prefix::Same),
    ("+", Numeric, Prefix::Same),
    ("+", Real, Prefix::Same),
    ("+", Double, Prefix::Same),
    ("-", SmallInt, Prefix::Negate),
    ("-", Integer, Prefix::Negate),
    ("-", BigInt, Prefix::Negate),
    ("-", Numeric, Prefix::Negate),
    ("-", Real, Prefix::Negate),
    ("-", Double, Prefix::Negate),
    ("-", Interval, Prefix::Negate),
    ("@", SmallInt, Prefix::Abs),
    ("@", Integer, Prefix::Abs),
    ("@", BigInt, Prefix::Abs),
    ("@", Numeric, Prefix::Abs),
    ("@", Real, Prefix::Abs),
    ("@", Double, Prefix::Abs),
    ("|/", Double, Prefix::Sqrt),
    ("||/", Double, Prefix::CubeRoot),
    ("~", SmallInt, Prefix::BitNot),
    ("~", Integer, Prefix::BitNot),
    ("~", BigInt, Prefix::BitNot),
];

/// How many operators of a name there are, of those that are declared on types.
pub(crate) fn operators_named(name: &str) -> usize {
    let prefixes = PREFIX.iter().filter(|c| c.0 == name).count();
    prefixes + INFIX.iter().filter(|c| c.0 == name).count()
}

/// Whether an operator is declared on one operand or two of these kinds.
pub(crate) fn has_operator(name: &str, kinds: &[Kind]) -> bool {
    match *kinds {
        [x] => PREFIX.iter().any(|c| (c.0, c.1) == (name, x)),
        [l, r] => {
            // Comparisons and patterns are of operands of one kind.
            let null = |kind: Kind| Some(Operand::from(crate::build::null(kind.plain()?)));
            let pair = null(l).zip(null(r)).filter(|_| l == r);
            let columns = &mut Columns::default();
            INFIX.iter().any(|c| (c.0, c.1, c.2) == (name, l, r))
                || pair.is_some_and(|(l, r)| Typing::new(&[]).infix(name, l, r, Span::NONE, columns).is_ok())
        }
        _ => false,
    }
}

impl Typing {
    /// A prefix operator. 42883, 42725.
    pub fn prefix(&self, op: &str, x: Operand, span: Span, _: &mut Columns) -> Result<Operand> {
        let candidates: Vec<&(&str, Kind, Prefix)> = PREFIX.iter().filter(|c| c.0 == op).collect();
        let kinds: Vec<&[Kind]> = candidates.iter().map(|c| std::slice::from_ref(&c.1)).collect();
        let found = match resolve(&kinds, &[x.ty().map(Kind::of)], CallKind::Operator) {
            Resolution::Found(at) => candidates[at],
            other => return Err(no_operator(&format!("{op} {}", name_of(x.ty())), other).at_span(span)),
        };
        // PostgreSQL finds no best candidate for an unknown operand of `-`, which interval has too.
        let e = self.argument(x, found.1)?;
        let e = match found.2 {
            Prefix::Same => e,
            Prefix::Negate => negate(e),
            Prefix::Abs => scalar_functions::build("abs", vec![e])?,
            Prefix::Sqrt => call(ScalarFunction::Sqrt, vec![e]),
            Prefix::CubeRoot => scalar_functions::build("cbrt", vec![e])?,
            Prefix::BitNot => scalar_functions::build("bit_not_of", vec![e])?,
        };
        Ok(e.at(span).into())
    }

    /// An infix operator. 42883, 42725.
    pub fn infix(
        &self,
        op: &str,
        l: Operand,
        r: Operand,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        if let Some(op) = comparison(op) {
            return Ok(self.compare(op, l, r, span)?.into());
        }
        match op {
            "is distinct from" => return Ok(self.distinct(l, r, span)?.into()),
            "is not distinct from" => {
                return Ok(crate::build::not(self.distinct(l, r, span)?).at(span).into());
            }
            "@>" if is_of_arrays(&l, &r) => return self.array_operator(op, "arraycontains", [l, r], span),
            "<@" if is_of_arrays(&l, &r) => return self.array_operator(op, "arraycontained", [l, r], span),
            "&&" if is_of_arrays(&l, &r) => return self.array_operator(op, "arrayoverlap", [l, r], span),
            "||" => return Ok(self.concat(l, r, span)?.into()),
            "~~" | "!~~" => return self.like_operator(op, LikeKind::Like, l, r, span, columns),
            "~~*" | "!~~*" => return self.like_operator(op, LikeKind::ILike, l, r, span, columns),
            "~" | "~*" | "!~" | "!~*" => return Ok(self.regex_match(op, l, r, span)?.into()),
            _ => {}
        }
        let candidates: Vec<&(&str, Kind, Kind, Infix)> = INFIX.iter().filter(|c| c.0 == op).collect();
        let pairs: Vec<[Kind; 2]> = candidates.iter().map(|c| [c.1, c.2]).collect();
        let kinds: Vec<&[Kind]> = pairs.iter().map(|p| &p[..]).collect();
        let given = [l.ty().map(Kind::of), r.ty().map(Kind::of)];
        let found = match resolve(&kinds, &given, CallKind::Operator) {
            Resolution::Found(at) => candidates[at],
            other => return Err(no_operator_between(op, l.ty(), r.ty(), other).at_span(span)),
        };
        let (lt, rt) = (l.ty(), r.ty());
        let l = self.beside(l, found.1, rt)?;
        let r = self.beside(r, found.2, lt)?;
        Ok(infix(found.3, l, r)?.at(span).into())
    }

    /// An operator of two arrays, as a function. 42883.
    fn array_operator(&self, op: &str, function: &str, [l, r]: [Operand; 2], span: Span) -> Result<Operand> {
        let (lt, rt) = (l.ty(), r.ty());
        let missing = || no_operator_between(op, lt, rt, Resolution::None).at_span(span);
        let function = scalar_functions::array_function(function, 2).ok_or_else(missing)?;
        match self.array_call(function, vec![l, r]) {
            Err(e) if e.state() == SqlState::UNDEFINED_FUNCTION => Err(missing()),
            e => Ok(e?.at(span).into()),
        }
    }

    /// An operand as a kind. A literal beside a decimal keeps its own digits.
    fn beside(&self, x: Operand, kind: Kind, partner: Option<LogicalType>) -> Result<Expr> {
        match x {
            // Arithmetic takes integers beside decimals as they are, so that they are cast once.
            Operand::Typed(e) if kind == Kind::Numeric && e.ty.is_integer() => Ok(e),
            Operand::Typed(e) => self.argument(e.into(), kind),
            unknown => self.operand_of_kind(kind, unknown, partner),
        }
    }

    /// An argument as a parameter's kind, which was found to take it.
    pub(crate) fn argument(&self, x: Operand, kind: Kind) -> Result<Expr> {
        let span = x.span();
        match x {
            Operand::Typed(e) if Kind::of(e.ty) == kind => Ok(e),
            Operand::Typed(e) if kind.category() == Category::String => Ok(as_text(e)),
            x => {
                let ty = type_of_kind(kind, x.ty());
                Ok(self.cast(x, ty, CastContext::Implicit, Span::NONE)?.at(span))
            }
        }
    }

    fn like_operator(
        &self,
        op: &str,
        kind: LikeKind,
        l: Operand,
        r: Operand,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let matched = self.like(l, r, None, kind, span, columns)?;
        if op.starts_with('!') {
            self.not(matched, span)
        } else {
            Ok(matched)
        }
    }
}

/// Whether one operand at least is an array.
fn is_of_arrays(l: &Operand, r: &Operand) -> bool {
    [l, r]
        .iter()
        .any(|x| x.ty().is_some_and(|ty| ty.element().is_some()))
}

fn infix(meaning: Infix, l: Expr, r: Expr) -> Result<Expr> {
    Ok(match meaning {
        Infix::Numbers(op) => numbers(op, l, r),
        Infix::DatePlusDays => date_plus_days(l, r, Sign::Plus),
        Infix::DaysPlusDate => date_plus_days(r, l, Sign::Plus),
        Infix::DateMinusDays => date_plus_days(l, r, Sign::Minus),
        Infix::DateDifference => date_difference(l, r),
        Infix::PlusInterval => plus_interval(l, r, Sign::Plus),
        Infix::IntervalPlus => plus_interval(r, l, Sign::Plus),
        Infix::MinusInterval => plus_interval(l, r, Sign::Minus),
        Infix::TimestampDifference => timestamp_difference(l, r),
        Infix::AddIntervals => add_intervals(l, r, Sign::Plus),
        Infix::SubtractIntervals => add_intervals(l, r, Sign::Minus),
        Infix::IntervalTimes => scale_interval(l, r, Divide::No),
        Infix::TimesInterval => scale_interval(r, l, Divide::No),
        Infix::IntervalBy => scale_interval(l, r, Divide::Yes),
        Infix::Power => scalar_functions::build("power", vec![l, r])?,
        Infix::Function(name) => scalar_functions::build(name, vec![l, r])?,
    })
}
