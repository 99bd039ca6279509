//! Arrays where operators and syntax make them: constructors, subscripts and slices, `||`, ANY and ALL.

use crate::build::{LENGTH, TEXT, and, boolean, constant_of, int, null, once, or, text};
use crate::compare::{comparison, comparison_kind};
use crate::convert::{convert, join_types, type_of_kind};
use crate::resolve::{Resolution, no_operator_between};
use crate::scalar_functions::{array_function, elements_of};
use crate::type_rules::{Kind, name_of};
use crate::vector::{OnNull, Output, Row, predicate, rows};
use crate::{CastContext, Operand, Subscript, Typing, UnknownKind};
use frazil_plan::{COUNT, Columns, Expr};
use frazil_types::array::{self, ArrayRef, Dimension, order_elements};
use frazil_types::sql_type::DocumentForm;
use frazil_types::value_ops::CastLength;
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, SqlState, Value};

/// What ANY (SOME) or ALL asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Whether a condition holds for one value at least.
    Any,
    /// Whether it holds for all.
    All,
}

/// How many arrays lie along an array's first dimension.
pub(crate) fn lines(array: Expr) -> Expr {
    let run = |row: &Row<'_>, out: &mut Output<'_>| {
        let first = elements_of(row, 0)?.dimensions().next();
        out.int(first.map_or(0, |d| d.length.into()))
    };
    rows("lines", OnNull::Null, run, vec![array], LENGTH)
}

/// One of them, by its number from 1.
pub(crate) fn line(array: Expr, number: Expr) -> Expr {
    let run = |row: &Row<'_>, out: &mut Output<'_>| {
        let array = elements_of(row, 0)?;
        let each: usize = array.dimensions().skip(1).map(|d| d.length as usize).product();
        let from = (row.int(1) - 1) as usize * each;
        let values = (from..from + each)
            .map(|at| array.get(at))
            .collect::<Result<Vec<_>>>()?;
        out.bytes(&array::encode_list(&values, array.element())?)
    };
    let ty = array.ty;
    rows("line", OnNull::Null, run, vec![array, number], ty)
}

impl Typing {
    /// `ARRAY[…]`: of elements, or of arrays that all have one shape. `element`: the type of the elements where a
    /// cast stands around it. 42P18 without elements or a type, 42804 for elements of types that do not go together.
    pub fn array(&self, parts: Vec<Operand>, element: Option<LogicalType>, span: Span) -> Result<Operand> {
        let common = match element {
            Some(element) => {
                let is_array = |part: &Operand| part.ty().is_some_and(|ty| ty.element().is_some());
                match parts.iter().any(is_array) {
                    true => element.array().unwrap_or(element),
                    false => element,
                }
            }
            None if parts.is_empty() => {
                let message = "cannot determine type of empty array";
                return Err(Error::new(SqlState::INDETERMINATE_TYPE, message)
                    .with_hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
                    .at_span(span));
            }
            None => self.common_type(&parts.iter().collect::<Vec<_>>(), "ARRAY")?,
        };
        let whole = common.element().unwrap_or(common).array().unwrap_or(common);
        let cast = |part: Operand| match element {
            Some(_) => self.cast(part, common, CastContext::Explicit, Span::NONE),
            None => self.part(part, common),
        };
        let parts = parts.into_iter().map(cast).collect::<Result<Vec<_>>>()?;
        if parts.is_empty() {
            return Ok(
                Expr::constant(Value::Bytes(array::encode_list(&[], common)?), whole)
                    .at(span)
                    .into(),
            );
        }
        let mut made = rows("array", OnNull::Called, constructed, parts, whole);
        made.nullable = false;
        Ok(made.at(span).into())
    }

    /// `array[i]`, `array[from:to]` and as many brackets as there are, `jsonb['key'][0]`. 42804 for what has no
    /// subscripts, or a bound that is no integer.
    pub fn subscript(&self, x: Operand, subscripts: Vec<Subscript>, span: Span) -> Result<Operand> {
        if x.ty().and_then(LogicalType::document) == Some(DocumentForm::Binary) {
            return self.document_subscript(x, subscripts, span);
        }
        if let (Operand::Typed(name), [Subscript::Index(_)]) = (&x, &subscripts[..])
            && let Some(ty) = name.ty.letter()
        {
            return self.letter((name.clone(), ty), subscripts, span);
        }
        let Some((array, element)) = typed_array(&x) else {
            let name = name_of(x.ty());
            let message = format!("cannot subscript type {name} because it does not support subscripting");
            return Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span));
        };
        if subscripts.len() > array::MAX_DIMENSIONS {
            return Err(array::too_many_dimensions(subscripts.len()).at_span(span));
        }
        let is_slice = subscripts.iter().any(|s| matches!(s, Subscript::Slice(..)));
        let bound = |x: Option<Operand>, without: i128| match x {
            None => Ok(int(without, COUNT)),
            Some(x) => self.bound(x),
        };
        let ty = array.ty;
        let mut arguments = vec![array];
        for subscript in subscripts {
            match subscript {
                Subscript::Index(at) if is_slice => {
                    arguments.extend([bound(None, 1)?, bound(Some(at), 0)?]);
                }
                Subscript::Index(at) => arguments.push(bound(Some(at), 0)?),
                Subscript::Slice(from, to) => {
                    arguments.extend([bound(from, i64::MIN.into())?, bound(to, i64::MAX.into())?]);
                }
            }
        }
        Ok(match is_slice {
            true => rows("slice", OnNull::Null, slice, arguments, ty),
            false => rows("subscript", OnNull::Null, element_at, arguments, element),
        }
        .at(span)
        .into())
    }

    /// A subscript as a number. 42804 for one that cannot be an integer.
    fn bound(&self, x: Operand) -> Result<Expr> {
        let at = x.span();
        let cast = self.cast(x, LENGTH, CastContext::Assignment, Span::NONE);
        let e = cast.map_err(|e| match e.state() {
            SqlState::DATATYPE_MISMATCH | SqlState::CANNOT_COERCE => {
                let message = "array subscript must have type integer";
                Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(at)
            }
            _ => e,
        })?;
        Ok(convert(e, COUNT, CastLength::Refuse))
    }

    /// `name[i]`: a byte of a name as a "char", counted from 0, as PostgreSQL has it.
    fn letter(
        &self,
        (name, ty): (Expr, LogicalType),
        subscripts: Vec<Subscript>,
        span: Span,
    ) -> Result<Operand> {
        let mut arguments = vec![name];
        for subscript in subscripts {
            if let Subscript::Index(at) = subscript {
                arguments.push(self.bound(at)?);
            }
        }
        Ok(rows("name_letter", OnNull::Null, letter_at, arguments, ty)
            .at(span)
            .into())
    }

    /// `||` where an operand is an array: two arrays, or an array and an element. 42883.
    pub(crate) fn array_concatenation(&self, l: Operand, r: Operand, span: Span) -> Result<Expr> {
        let is_array = |x: &Operand| x.ty().is_none_or(|ty| ty.element().is_some());
        let name = match (is_array(&l), is_array(&r)) {
            (true, true) => "array_cat",
            (true, false) => "array_append",
            (false, _) => "array_prepend",
        };
        let types = (l.ty(), r.ty());
        let function = array_function(name, 2).ok_or_else(|| Error::internal("no such function"))?;
        self.array_call(function, vec![l, r])
            .map_err(|e| match e.state() {
                SqlState::UNDEFINED_FUNCTION => {
                    no_operator_between("||", types.0, types.1, Resolution::None).at_span(span)
                }
                _ => e,
            })
    }

    /// `x op ANY (array)` and `x op ALL (array)`; `None` where the operator is no comparison and the elements are not
    /// constants: it is asked of the rows that `unnest` gives. 42809 for what is no array, 42883.
    pub fn quantified(
        &self,
        (op, quantifier): (&str, Quantifier),
        x: &Operand,
        right: &Operand,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Option<Operand>> {
        let array = match right {
            Operand::Typed(e) => e.clone(),
            Operand::Unknown(_) => {
                let element = x.ty().filter(|ty| ty.element().is_none()).unwrap_or(TEXT);
                // A literal has as many digits as its elements.
                let element = match element.enumeration() {
                    Some(_) => element,
                    None => type_of_kind(Kind::of(element), Some(element)),
                };
                let ty = element.array().unwrap_or(LogicalType::TEXT_ARRAY);
                self.cast(right.clone(), ty, CastContext::Implicit, Span::NONE)?
            }
        };
        let Some(element) = array.ty.element() else {
            let message = "op ANY/ALL (array) requires array on right side";
            return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message)
                .with_hint("write IN (…), an array or a subquery")
                .at_span(span));
        };
        if let Some(value) = constant_of(&array) {
            let Value::Bytes(bytes) = value else {
                return Ok(Some(Expr::unknown().at(span).into()));
            };
            let elements = ArrayRef::new(bytes, element)?.elements();
            let elements: Vec<Operand> = elements
                .map(|value| Ok(Expr::constant(value?, element).at(array.span).into()))
                .collect::<Result<_>>()?;
            return self
                .against_each((op, quantifier), x.clone(), elements, span, columns)
                .map(Some);
        }
        let Some(comparison) = comparison(op) else {
            return Ok(None);
        };
        let sample: Operand = null(element).into();
        let kind = comparison_kind(op, x, &sample, span)?;
        let x = match x {
            Operand::Typed(e) => e.clone(),
            unknown => self.operand_of_kind(kind, unknown.clone(), Some(element))?,
        };
        // A real is compared with numbers of another type as a double, although a real could hold both.
        let joined = join_types(x.ty, element).filter(|ty| !kind.is_float() || Kind::of(*ty) == kind);
        let common = joined.unwrap_or_else(|| type_of_kind(kind, Some(element)));
        let x = convert(x, common, CastLength::Refuse);
        let array = convert(array, common.array().unwrap_or(common), CastLength::Refuse);
        let how = match quantifier {
            Quantifier::Any => text(format!("{} any", comparison.symbol())),
            Quantifier::All => text(format!("{} all", comparison.symbol())),
        };
        let e = predicate("quantified", OnNull::Called, quantified, vec![x, array, how]);
        Ok(Some(e.at(span).into()))
    }

    /// The same of elements that are known: IN where that is what it asks, else a condition for each.
    fn against_each(
        &self,
        (op, quantifier): (&str, Quantifier),
        x: Operand,
        elements: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        if elements.is_empty() {
            return Ok(boolean(quantifier == Quantifier::All).at(span).into());
        }
        let is_literal = matches!(&x, Operand::Unknown(u) if !matches!(u.kind, UnknownKind::Parameter(_)));
        match (op, quantifier) {
            ("=", Quantifier::Any) => return self.among(x, elements, span, columns),
            ("<>" | "!=", Quantifier::All) => {
                let found = self.among(x, elements, span, columns)?;
                return self.not(found, span);
            }
            _ => {}
        }
        let x = match x {
            Operand::Typed(e) => e,
            unknown if is_literal => self.settle(unknown)?,
            unknown => {
                let ty = elements[0].ty().unwrap_or(TEXT);
                self.cast(unknown, ty, CastContext::Implicit, Span::NONE)?
            }
        };
        let e = once(x, columns, |x, columns| {
            let mut conditions = Vec::with_capacity(elements.len());
            for element in elements {
                let condition = self.infix(op, x.clone().into(), element, span, columns)?;
                let condition = self
                    .predicate(condition, "op ANY/ALL")
                    .map_err(|e| match e.state() {
                        SqlState::DATATYPE_MISMATCH => {
                            let message = "op ANY/ALL (array) requires operator to yield boolean";
                            Error::new(SqlState::WRONG_OBJECT_TYPE, message).at_span(span)
                        }
                        _ => e,
                    })?;
                conditions.push(condition);
            }
            Ok(match quantifier {
                Quantifier::Any => or(conditions),
                Quantifier::All => and(conditions),
            })
        })?;
        Ok(e.at(span).into())
    }
}

/// The array of some values, in row-major order, that has a shape.
pub(crate) fn shaped(values: Vec<Expr>, dimensions: &[Dimension], element: LogicalType) -> Expr {
    let whole = element.array().unwrap_or(element);
    let [_, inner @ ..] = dimensions else {
        let empty = array::encode_list(&[], element).unwrap_or_default();
        return Expr::constant(Value::Bytes(empty), whole);
    };
    let each: usize = inner.iter().map(|d| d.length as usize).product();
    let parts = match inner.is_empty() {
        true => values,
        false => values
            .chunks(each)
            .map(|part| shaped(part.to_vec(), inner, element))
            .collect(),
    };
    rows("array", OnNull::Called, constructed, parts, whole)
}

/// An array and the type of its elements.
fn typed_array(x: &Operand) -> Option<(Expr, LogicalType)> {
    let Operand::Typed(e) = x else { return None };
    Some((e.clone(), e.ty.element()?))
}

/// The array of its arguments: elements, or arrays that become those of one dimension more.
fn constructed(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let Some(element) = row.ty(0).element() else {
        let values: Vec<Value> = (0..row.arguments()).map(|at| row.value(at)).collect();
        return out.bytes(&array::encode_list(&values, row.ty(0))?);
    };
    let values = (0..row.arguments()).map(|at| row.value(at));
    out.bytes(&stacked(values, element)?)
}

/// The array of arrays of one shape, of one dimension more. Those without elements, and NULL, are none where all are
/// so. Error 2202E.
pub(crate) fn stacked(arrays: impl Iterator<Item = Value>, element: LogicalType) -> Result<Vec<u8>> {
    let mut shape: Option<Vec<Dimension>> = None;
    let (mut elements, mut length) = (Vec::new(), 0);
    for value in arrays {
        let array = value
            .as_bytes()
            .map(|bytes| ArrayRef::new(bytes, element))
            .transpose()?;
        let own = array.iter().flat_map(ArrayRef::dimensions).collect();
        if *shape.get_or_insert_with(|| Vec::clone(&own)) != own {
            return Err(Error::new(
                SqlState::ARRAY_SUBSCRIPT_ERROR,
                "multidimensional arrays must have array expressions with matching dimensions",
            ));
        }
        length += 1;
        if let Some(array) = array {
            for value in array.elements() {
                elements.push(value?);
            }
        }
    }
    let shape = shape.unwrap_or_default();
    if shape.is_empty() {
        return array::encode(&[], &[], element);
    }
    let outer = Dimension { length, lower: 1 };
    array::encode(&[&[outer], &shape[..]].concat(), &elements, element)
}

/// `array[i][j]`: NULL outside, and where there are not as many subscripts as dimensions.
fn element_at(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let array = elements_of(row, 0)?;
    if array.dimensions().len() != row.arguments() - 1 {
        return out.null();
    }
    let mut at = 0;
    for (number, dimension) in array.dimensions().enumerate() {
        let place = row.int(number + 1) - i64::from(dimension.lower);
        if !(0..i64::from(dimension.length)).contains(&place) {
            return out.null();
        }
        at = at * dimension.length as usize + place as usize;
    }
    out.value(&array.get(at)?)
}

/// A byte of a name: NULL outside of its 64 bytes, and nothing behind the name's own. Other bytes than those of ASCII
/// are shown as their octal digits.
fn letter_at(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (name, at) = (row.text(0), row.int(1));
    match usize::try_from(at).ok().filter(|&at| at < NAME_BYTES) {
        None => out.null(),
        Some(at) => match name.as_bytes().get(at) {
            None => out.text(""),
            Some(byte) if byte.is_ascii() => out.text(&name[at..=at]),
            Some(byte) => out.text(&format!("\\{byte:o}")),
        },
    }
}

/// Bytes of PostgreSQL's type name, with a zero at the end.
const NAME_BYTES: usize = 64;

/// `array[from:to][from:to]`: what of it lies within the bounds, counted from 1; all of dimensions without bounds.
fn slice(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let array = elements_of(row, 0)?;
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    let empty = || array::encode(&[], &[], array.element());
    if (row.arguments() - 1) / 2 > dimensions.len() {
        return out.bytes(&empty()?);
    }
    // First place and number of places in each dimension.
    let mut kept: Vec<(usize, usize)> = Vec::with_capacity(dimensions.len());
    for (number, dimension) in dimensions.iter().enumerate() {
        let (lower, length) = (i64::from(dimension.lower), i64::from(dimension.length));
        let (mut from, mut to) = (lower, lower + length - 1);
        if 2 * number + 2 < row.arguments() {
            (from, to) = (from.max(row.int(2 * number + 1)), to.min(row.int(2 * number + 2)));
        }
        if from > to {
            return out.bytes(&empty()?);
        }
        kept.push(((from - lower) as usize, (to - from + 1) as usize));
    }
    let count: usize = kept.iter().map(|k| k.1).product();
    let mut elements = Vec::with_capacity(count);
    for number in 0..count {
        let (mut rest, mut at, mut stride) = (number, 0, 1);
        for (dimension, (first, length)) in dimensions.iter().zip(&kept).rev() {
            at += (first + rest % length) * stride;
            rest /= length;
            stride *= dimension.length as usize;
        }
        elements.push(array.get(at)?);
    }
    let shape: Vec<Dimension> = kept
        .iter()
        .map(|k| Dimension {
            length: k.1 as u32,
            lower: 1,
        })
        .collect();
    out.bytes(&array::encode(&shape, &elements, array.element())?)
}

/// Whether a value compares so with any, or all, elements of an array: arguments are the value, the array and `= any`
/// or its like.
fn quantified(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(1) {
        return out.null();
    }
    let how = row.text(2).split_once(' ');
    let (op, quantifier) = how.ok_or_else(|| Error::internal("a quantifier without an operator"))?;
    let op: CompareOp = comparison(op).ok_or_else(|| Error::internal("no comparison"))?;
    let (array, decides) = (elements_of(row, 1)?, quantifier == "any");
    let (x, mut is_unknown) = (row.value(0), false);
    for at in 0..array.len() {
        if x.is_null() || array.is_null(at) {
            is_unknown = true;
        } else if op.holds(order_elements(&x, &array.get(at)?, array.element())) == decides {
            return out.bool(decides);
        }
    }
    match is_unknown {
        true => out.null(),
        false => out.bool(!decides),
    }
}
