//! Window functions: what they take and give, and the offsets of frames.

use crate::build::function;
use crate::convert::{WIDEST, decimal, digits};
use crate::resolve::no_function;
use crate::type_rules::{Category, Kind, is_implicit, name_of};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{COUNT, Expr, ScalarFunction, WindowFunction};
use frazil_types::{Error, Interval, LogicalType, Result, Span, SqlState, Value};

/// A window function: name, function, its calls, description.
type Entry = (
    &'static str,
    WindowFunction,
    &'static [&'static str],
    &'static str,
);

/// The functions that are no aggregates.
pub(crate) const WINDOW_FUNCTIONS: &[Entry] = &[
    (
        "cume_dist",
        WindowFunction::CumeDist,
        &["cume_dist() → double precision"],
        "the number of rows up to the last peer, divided by the rows of the partition",
    ),
    (
        "dense_rank",
        WindowFunction::DenseRank,
        &["dense_rank() → bigint"],
        "number of the row's group of peers, from 1",
    ),
    (
        "first_value",
        WindowFunction::FirstValue,
        &["first_value(any) → any"],
        "the value in the first row of the frame",
    ),
    (
        "lag",
        WindowFunction::Lag,
        &[
            "lag(any) → any",
            "lag(any, integer) → any",
            "lag(any, integer, any) → any",
        ],
        "the value n rows before (default 1); the third argument if there is no such row",
    ),
    (
        "last_value",
        WindowFunction::LastValue,
        &["last_value(any) → any"],
        "the value in the last row of the frame",
    ),
    (
        "lead",
        WindowFunction::Lead,
        &[
            "lead(any) → any",
            "lead(any, integer) → any",
            "lead(any, integer, any) → any",
        ],
        "the value n rows after, otherwise like `lag`",
    ),
    (
        "nth_value",
        WindowFunction::NthValue,
        &["nth_value(any, integer) → any"],
        "the value in the n-th row of the frame",
    ),
    (
        "ntile",
        WindowFunction::Ntile,
        &["ntile(integer) → integer"],
        "number of the row's bucket, from 1, for n buckets of nearly equal size",
    ),
    (
        "percent_rank",
        WindowFunction::PercentRank,
        &["percent_rank() → double precision"],
        "the number of rows before the first peer, divided by all other rows",
    ),
    (
        "rank",
        WindowFunction::Rank,
        &["rank() → bigint"],
        "number of the first peer, from 1",
    ),
    (
        "row_number",
        WindowFunction::RowNumber,
        &["row_number() → bigint"],
        "number of the row in its partition, from 1",
    ),
];

/// A call with its types settled.
pub struct TypedWindowCall {
    /// The function.
    pub function: WindowFunction,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// Type of its result.
    pub ty: LogicalType,
}

/// Which end of a frame an offset belongs to, and on which side of the current row it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameSide {
    /// The first row of the frame lies before the current one, or its last row behind.
    Outward,
    /// The other way round.
    Inward,
}

impl Typing {
    /// Whether a name is that of a window function that is no aggregate.
    pub fn is_window_function(name: &str) -> bool {
        WINDOW_FUNCTIONS.iter().any(|f| f.0 == name)
    }

    /// A call of a window function that is no aggregate. 42883.
    pub fn window_call(
        &self,
        name: &str,
        mut arguments: Vec<Operand>,
        span: Span,
    ) -> Result<TypedWindowCall> {
        let known = WINDOW_FUNCTIONS.iter().find(|f| f.0 == name);
        let missing = no_function(name, &arguments).at_span(span);
        let Some(&(_, function, ..)) = known else {
            return Err(missing);
        };
        let (least, most) = arity(function);
        if !(least..=most).contains(&arguments.len()) {
            return Err(missing);
        }
        let count = match function {
            WindowFunction::Ntile => Some(0),
            _ => (arguments.len() > 1).then_some(1),
        };
        if let Some(at) = count {
            let kind = arguments[at].ty().map(Kind::of);
            let whole = LogicalType::of_value(&Value::Int(0));
            if kind.is_some_and(|kind| !is_implicit(kind, whole.kind())) {
                return Err(missing);
            }
            let span = arguments[at].span();
            let typed = self.cast(arguments.remove(at), whole, CastContext::Implicit, span)?;
            arguments.insert(at, typed.into());
        }
        let values: Vec<usize> = (0..arguments.len()).filter(|at| Some(*at) != count).collect();
        let are_open = values.iter().all(|at| arguments[*at].ty().is_none());
        if !values.is_empty() && are_open {
            let message = "could not determine polymorphic type because input has type unknown";
            return Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span));
        }
        if let [_, _] = values[..] {
            let both: Vec<&Operand> = values.iter().map(|at| &arguments[*at]).collect();
            let ty = self.common_type(&both, name).map_err(|_| missing)?;
            for at in values {
                let span = arguments[at].span();
                arguments[at] = self
                    .cast(arguments[at].clone(), ty, CastContext::Implicit, span)?
                    .into();
            }
        }
        let arguments: Vec<Expr> = (arguments.into_iter())
            .map(|x| self.settle(x))
            .collect::<Result<_>>()?;
        let ty = result_type(function, &arguments);
        Ok(TypedWindowCall {
            function,
            arguments,
            ty,
        })
    }

    /// An offset that counts rows or groups. 42804.
    pub fn frame_count(&self, offset: Operand, unit: &str) -> Result<Expr> {
        let span = offset.span();
        let given = offset.ty();
        let cast = self.cast(offset, COUNT, CastContext::Assignment, span);
        match given.map(Kind::of) {
            None => cast,
            Some(kind) if kind.category() == Category::Numeric => cast,
            Some(_) => {
                let given = name_of(given);
                let message = format!("argument of {unit} must be type bigint, not type {given}");
                Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span))
            }
        }
    }

    /// An offset that is a difference of keys of a type. 0A000 where there is none, 22007 and the like for literals.
    pub fn frame_difference(&self, offset: Operand, key: LogicalType, side: FrameSide) -> Result<Expr> {
        let span = offset.span();
        let given = offset.ty().map(Kind::of);
        let refused = |rest: String| {
            let key = name_of(Some(key));
            let message =
                format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {key}{rest}");
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).at_span(span))
        };
        let (takes, ty): (fn(Kind) -> bool, LogicalType) = match key.info().category {
            Category::Numeric if key.is_integer() => (Kind::is_integer, COUNT),
            Category::Numeric if key.is_float() => (
                |kind| kind.category() == Category::Numeric,
                LogicalType::of_value(&Value::Double(0.0)),
            ),
            Category::Numeric if key.is_unscaled() => return refused(String::new()),
            Category::Numeric => (Kind::is_exact, decimal(WIDEST, digits(key).1)),
            Category::DateTime => (
                |kind| kind.category() == Category::Timespan,
                LogicalType::of_value(&Value::Interval(Interval::default())),
            ),
            Category::Timespan => (
                |kind| kind.category() == Category::Timespan,
                LogicalType::of_value(&Value::Interval(Interval::default())),
            ),
            Category::Boolean | Category::String | Category::Array | Category::UserDefined => {
                return refused(String::new());
            }
        };
        if let Some(kind) = given.filter(|kind| !takes(*kind)) {
            return refused(format!(" and offset type {}", kind.name()))
                .map_err(|e: Error| e.with_hint("Cast the offset value to an appropriate type."));
        }
        match offset {
            // A whole number of the key's last digits decides alike: no key lies between two of them.
            Operand::Typed(e) if ty.scale() < e.ty.scale() && key.scale().is_some() => {
                let nearest = match side {
                    FrameSide::Outward => ScalarFunction::FloorToScale,
                    FrameSide::Inward => ScalarFunction::CeilToScale,
                };
                Ok(function(nearest, vec![e], ty).at(span))
            }
            // Lengths add up, so that a length says how far a key may be.
            offset if key.is_span() => Ok(crate::compared_by(self.cast(
                offset,
                ty,
                CastContext::Implicit,
                span,
            )?)),
            offset => self.cast(offset, ty, CastContext::Implicit, span),
        }
    }
}

/// The least and greatest number of arguments.
fn arity(function: WindowFunction) -> (usize, usize) {
    match function {
        WindowFunction::Ntile | WindowFunction::FirstValue | WindowFunction::LastValue => (1, 1),
        WindowFunction::NthValue => (2, 2),
        WindowFunction::Lag | WindowFunction::Lead => (1, 3),
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::PercentRank
        | WindowFunction::CumeDist
        | WindowFunction::Aggregate(_) => (0, 0),
    }
}

/// The type of what a function gives: a number of rows, a share of them, or what its first argument is.
fn result_type(function: WindowFunction, arguments: &[Expr]) -> LogicalType {
    match function {
        WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => COUNT,
        WindowFunction::PercentRank | WindowFunction::CumeDist => LogicalType::of_value(&Value::Double(0.0)),
        WindowFunction::Ntile
        | WindowFunction::Lag
        | WindowFunction::Lead
        | WindowFunction::FirstValue
        | WindowFunction::LastValue
        | WindowFunction::NthValue
        | WindowFunction::Aggregate(_) => arguments.first().map_or(COUNT, |e| e.ty),
    }
}
