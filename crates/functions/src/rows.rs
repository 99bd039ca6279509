//! Functions that give rows.

use crate::arrays::{line, lines};
use crate::build::{LENGTH, case, constant_of, is_null, null};
use crate::convert::{convert, wider_decimal};
use crate::json_rows::json_rows;
use crate::resolve::{CallKind, Resolution, no_function, resolve, unresolved};
use crate::type_rules::Kind::{self, BigInt, Integer, Interval, Numeric, Timestamp, TimestampTz};
use crate::{CastContext, Operand, Typing};
use frazil_plan::subquery::has_subquery;
use frazil_plan::{CONDITION, ColumnId, Columns, Expr, RowsCall, RowsFunction};

use frazil_types::numeric::Numeric as Number;
use frazil_types::value_ops::CastLength;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

/// Arrays of bigint.
pub(crate) const BIGINTS: LogicalType = LogicalType::array_of(BigInt);

/// A call of a function that gives rows.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedRowsCall {
    /// A function of the plan.
    Call(RowsCall),
    /// The arrays along the first of an array's two dimensions.
    Lines(Expr),
    /// The elements of an array with their numbers, each as a row value of [`EXPANDED_FIELDS`].
    Numbered(Expr),
    /// A function of the plan whose arguments use values several times: `columns[i]`, read by it and calls beside it
    /// alone, stands for `values[i]`, which is computed once, below the rows.
    Over {
        /// The columns made.
        columns: Vec<ColumnId>,
        /// Their values.
        values: Vec<Expr>,
        /// The call, which reads those columns alone.
        call: RowsCall,
    },
}

impl TypedRowsCall {
    /// Type of the column that it gives.
    pub fn ty(&self) -> LogicalType {
        match self {
            TypedRowsCall::Call(call) | TypedRowsCall::Over { call, .. } => call.ty,
            TypedRowsCall::Lines(array) => array.ty,
            TypedRowsCall::Numbered(_) => LogicalType::Record,
        }
    }

    /// Whether it may give NULL.
    pub fn is_nullable(&self) -> bool {
        match self {
            TypedRowsCall::Call(call) | TypedRowsCall::Over { call, .. } => {
                call.function != RowsFunction::Series
            }
            TypedRowsCall::Lines(_) => true,
            TypedRowsCall::Numbered(_) => false,
        }
    }

    /// Names and types of the fields of the row values that it gives; none if it gives other values.
    pub fn fields(&self) -> Vec<(&'static str, LogicalType)> {
        match self {
            TypedRowsCall::Numbered(array) => {
                let [x, n] = EXPANDED_FIELDS;
                let element = array.ty.element().unwrap_or(array.ty);
                vec![(x, element), (n, LENGTH)]
            }
            TypedRowsCall::Call(_) | TypedRowsCall::Lines(_) | TypedRowsCall::Over { .. } => Vec::new(),
        }
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[Expr] {
        match self {
            TypedRowsCall::Call(call) => &call.arguments,
            TypedRowsCall::Lines(array) | TypedRowsCall::Numbered(array) => std::slice::from_ref(array),
            TypedRowsCall::Over { values, .. } => values,
        }
    }

    /// The same, to be changed.
    pub fn arguments_mut(&mut self) -> &mut [Expr] {
        match self {
            TypedRowsCall::Call(call) => &mut call.arguments,
            TypedRowsCall::Lines(array) | TypedRowsCall::Numbered(array) => std::slice::from_mut(array),
            TypedRowsCall::Over { values, .. } => values,
        }
    }
}

/// The elements of an array and their numbers from 1, side by side.
pub fn numbered_elements(array: Expr) -> [RowsCall; 2] {
    [RowsCall::elements(array.clone()), RowsCall::up_to(lines(array))]
}

impl From<RowsCall> for TypedRowsCall {
    fn from(call: RowsCall) -> TypedRowsCall {
        TypedRowsCall::Call(call)
    }
}

/// Arguments that calls of one function use several times.
pub(crate) struct Once {
    columns: Vec<ColumnId>,
    values: Vec<Expr>,
}

impl Once {
    /// Puts columns in the place of arguments if a subquery is among them, which makes its columns once; all else may
    /// stand in several places, so that equal calls are equal.
    pub fn of<'a>(arguments: impl Iterator<Item = &'a mut Expr>, columns: &mut Columns) -> Option<Once> {
        let arguments: Vec<&mut Expr> = arguments.collect();
        if !arguments.iter().any(|e| has_subquery(e)) {
            return None;
        }
        let mut once = Once {
            columns: Vec::with_capacity(arguments.len()),
            values: Vec::with_capacity(arguments.len()),
        };
        for e in arguments {
            let column = columns.add("argument", e.ty, e.nullable);
            let stands = Expr::column(column, columns).at(e.span);
            once.columns.push(column);
            once.values.push(std::mem::replace(e, stands));
        }
        Some(once)
    }

    /// A call that reads the columns, and below it their values, which calls beside it read, too.
    pub fn below(self, call: RowsCall) -> TypedRowsCall {
        TypedRowsCall::Over {
            columns: self.columns,
            values: self.values,
            call,
        }
    }
}

/// The lines of an array: their numbers from 1 on, of which the second makes arrays.
pub struct ArrayLines {
    /// The numbers.
    pub numbers: RowsCall,
    array: Expr,
}

impl ArrayLines {
    /// Those of an array that is computed once.
    pub fn of(array: Expr) -> ArrayLines {
        ArrayLines {
            numbers: RowsCall::up_to(lines(array.clone())),
            array,
        }
    }

    /// The line of a number; NULL of NULL.
    pub fn row(self, number: Expr) -> Expr {
        line(self.array, number)
    }
}

/// What gives the elements of an array, and functions whose array is given by elements: how they are called, the
/// function of the array, the description.
pub(crate) const ELEMENTS: &[(&str, &str, Option<&str>, &str)] = &[
    (
        "regexp_matches",
        "regexp_matches(text, text[, text]) → rows of text[]",
        Some("regexp_matches_all"),
        "the texts that the groups of a regular expression, or the whole, match; with the flag `g` for every match",
    ),
    (
        "regexp_split_to_table",
        "regexp_split_to_table(text, text[, text]) → rows of text",
        Some("regexp_split_to_array"),
        "the parts between the matches of a regular expression, each as a row",
    ),
    (
        "string_to_table",
        "string_to_table(text, text[, text]) → rows of text",
        Some("string_to_array"),
        "the parts between the separators, each as a row",
    ),
    (
        "unnest",
        "unnest(anyarray) → rows of anyelement",
        None,
        "the elements of an array, each as a row",
    ),
];

/// The function that gives an array's elements with their numbers. Clients call it by its schema alone.
pub const EXPAND_ARRAY: &str = "information_schema._pg_expandarray";
/// The names of the columns that it gives.
pub const EXPANDED_FIELDS: [&str; 2] = ["x", "n"];

/// The function that gives an array's subscripts.
pub(crate) const SUBSCRIPTS: &str = "generate_subscripts";

/// A function of one name.
pub(crate) struct RowsEntry {
    pub name: &'static str,
    function: RowsFunction,
    /// What its calls take.
    overloads: &'static [&'static [Kind]],
    pub description: &'static str,
}

/// All of them.
pub(crate) const ROWS_FUNCTIONS: &[RowsEntry] = &[RowsEntry {
    name: "generate_series",
    function: RowsFunction::Series,
    overloads: &[
        &[Integer, Integer],
        &[Integer, Integer, Integer],
        &[BigInt, BigInt],
        &[BigInt, BigInt, BigInt],
        &[Numeric, Numeric],
        &[Numeric, Numeric, Numeric],
        &[Timestamp, Timestamp, Interval],
        &[TimestampTz, TimestampTz, Interval],
    ],
    description: "the values from the first argument to the second, in steps of the third (default 1)",
}];

impl RowsEntry {
    /// Each way to call it, with what it gives.
    pub fn signatures(&self) -> Vec<String> {
        let signature = |parameters: &&[Kind]| {
            let names: Vec<&str> = parameters.iter().map(|kind| kind.name()).collect();
            let gives = names.first().copied().unwrap_or_default();
            format!("{}({}) → rows of {gives}", self.name, names.join(", "))
        };
        self.overloads.iter().map(signature).collect()
    }
}

/// The argument of [`EXPAND_ARRAY`]. 42883 for another one, 42804 for one without a type.
fn expanded_array(arguments: &[Operand], span: Span) -> Result<Expr> {
    match arguments {
        [Operand::Typed(e)] if e.ty.element().is_some() => Ok(e.clone()),
        [Operand::Unknown(_)] => {
            let message = "could not determine polymorphic type because input has type unknown";
            Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span))
        }
        _ => Err(no_function(EXPAND_ARRAY, arguments).at_span(span)),
    }
}

fn no_arguments() -> Error {
    Error::internal("a function that gives rows of no arguments")
}

impl Typing {
    /// Whether a function of this name, in lower case, gives rows.
    pub fn gives_rows(name: &str) -> bool {
        [SUBSCRIPTS, EXPAND_ARRAY].contains(&name)
            || ROWS_FUNCTIONS.iter().any(|f| f.name == name)
            || ELEMENTS.iter().any(|f| f.0 == name)
            || json_rows(name).is_some()
    }

    /// The columns that a call in FROM gives, with the names of those that have one of their own. 42883, 42725.
    pub fn rows_columns(
        &self,
        name: &str,
        arguments: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Vec<(Option<&'static str>, TypedRowsCall)>> {
        match json_rows(name) {
            Some(function) => self.json_rows_call(function, arguments, span, columns),
            None if name == EXPAND_ARRAY => {
                let mut array = expanded_array(&arguments, span)?;
                let once = Once::of(std::iter::once(&mut array), columns);
                let [elements, numbers] = numbered_elements(array);
                let elements = match once {
                    Some(once) => once.below(elements),
                    None => elements.into(),
                };
                let [x, n] = EXPANDED_FIELDS;
                Ok(vec![(Some(x), elements), (Some(n), numbers.into())])
            }
            None => Ok(vec![(None, self.rows_call(name, arguments, span, columns)?)]),
        }
    }

    /// A call of a function that gives rows. 42883, 42725; 0A000 where it gives several columns.
    pub fn rows_call(
        &self,
        name: &str,
        arguments: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<TypedRowsCall> {
        if let Some(function) = json_rows(name) {
            let mut made = self.json_rows_call(function, arguments, span, columns)?;
            return match (made.pop(), made.is_empty()) {
                (Some((_, call)), true) => Ok(call),
                _ => Err(Error::unsupported(format!("a row of {name} as a value"))
                    .with_hint("call it in FROM, where it gives columns")
                    .at_span(span)),
            };
        }
        match ELEMENTS.iter().find(|f| f.0 == name) {
            None if name == EXPAND_ARRAY => expanded_array(&arguments, span).map(TypedRowsCall::Numbered),
            None if name == SUBSCRIPTS => self.subscripts(arguments, span, columns),
            None => self.series_call(name, arguments, span).map(TypedRowsCall::Call),
            Some((_, _, Some(of), _)) => {
                let array = self.call(of, arguments, span, columns)?;
                let array = self.settle(array)?;
                Ok(match name {
                    "regexp_matches" => TypedRowsCall::Lines(array),
                    _ => RowsCall::elements(array).into(),
                })
            }
            Some((_, _, None, _)) => match &arguments[..] {
                [Operand::Typed(e)] if e.ty.element().is_some() => Ok(RowsCall::elements(e.clone()).into()),
                _ => Err(no_function(name, &arguments).at_span(span)),
            },
        }
    }

    /// generate_subscripts(array, dimension [, reverse]): none where the array has no such dimension.
    fn subscripts(
        &self,
        mut arguments: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<TypedRowsCall> {
        let missing = no_function(SUBSCRIPTS, &arguments).at_span(span);
        let typed = arguments.iter_mut().filter_map(|x| match x {
            Operand::Typed(e) => Some(e),
            Operand::Unknown(_) => None,
        });
        let once = Once::of(typed, columns);
        let reversed = match arguments.len() {
            3 => arguments.pop(),
            2 => None,
            _ => return Err(missing),
        };
        let mut bound = |name: &str| {
            let bound = self.call(name, arguments.clone(), span, columns)?;
            self.settle(bound)
        };
        let (lower, upper) = (bound("array_lower")?, bound("array_upper")?);
        let ty = lower.ty;
        let one = |v: i128| Expr::constant(Value::Int(v), ty);
        let arguments = match reversed {
            None => vec![lower, upper, one(1)],
            Some(reversed) => {
                let reversed = self.cast(reversed, CONDITION, CastContext::Implicit, Span::NONE)?;
                let either = |yes: Expr, no: Expr| case(vec![(reversed.clone(), yes)], no);
                let unknown = is_null(reversed.clone());
                let first = either(upper.clone(), lower.clone());
                let first = case(vec![(unknown, null(ty))], first);
                vec![first, either(lower, upper), either(one(-1), one(1))]
            }
        };
        let call = RowsCall {
            function: RowsFunction::Series,
            arguments,
            ty,
        };
        Ok(match once {
            Some(once) => once.below(call),
            None => call.into(),
        })
    }

    fn series_call(&self, name: &str, arguments: Vec<Operand>, span: Span) -> Result<RowsCall> {
        let missing = || no_function(name, &arguments).at_span(span);
        let entry = ROWS_FUNCTIONS.iter().find(|f| f.name == name);
        let entry = entry.ok_or_else(missing)?;
        let given: Vec<Option<Kind>> = arguments.iter().map(|a| a.ty().map(Kind::of)).collect();
        let parameters = match resolve(entry.overloads, &given, CallKind::Function) {
            Resolution::Found(at) => entry.overloads[at],
            other => return Err(unresolved(name, &arguments, other).at_span(span)),
        };
        let typed = arguments
            .into_iter()
            .zip(parameters)
            .map(|(a, kind)| self.argument(a, *kind));
        let mut arguments: Vec<Expr> = typed.collect::<Result<_>>()?;
        if parameters.first() == Some(&Numeric) {
            // All at one scale.
            arguments = arguments.into_iter().map(with_scale).collect();
            let types = arguments.iter().map(|e| e.ty);
            let wide = types.reduce(wider_decimal);
            for e in &mut arguments {
                let span = e.span;
                let wide = wide.unwrap_or(e.ty);
                *e = self.cast(e.clone().into(), wide, CastContext::Implicit, Span::NONE)?;
                e.span = span;
            }
        }
        let ty = arguments.first().map(|e| e.ty).ok_or_else(no_arguments)?;
        if arguments.len() == 2 {
            let one = 10i128.pow(u32::from(ty.scale().unwrap_or(0)));
            arguments.push(Expr::constant(Value::Int(one), ty));
        }
        Ok(RowsCall {
            function: entry.function,
            arguments,
            ty,
        })
    }
}

/// Digits after the point of numerics that are not constants, of which rows of decimals are made.
const SERIES_SCALE: u8 = 10;

/// A numeric as a decimal: a constant at its own scale. Other numbers stay as they are.
fn with_scale(e: Expr) -> Expr {
    if !e.ty.is_unscaled() {
        return e;
    }
    let number = match constant_of(&e) {
        Some(Value::Bytes(bytes)) => Number::of_bytes(bytes).ok(),
        _ => None,
    };
    let scale = number.map_or(SERIES_SCALE, Number::scale);
    convert(e, LogicalType::widest_exact(scale), CastLength::Refuse)
}
