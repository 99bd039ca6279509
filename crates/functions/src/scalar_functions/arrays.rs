//! Functions of arrays: PostgreSQL's manual, 9.19. They take arrays of any type, and elements of the same one: a common type is found for
//! them as for the branches of a CASE.

use super::splits;
use crate::array_function::Takes::{Array, ArrayOf, Element, Of};
use crate::array_function::{ArrayFunction, Gives, array_functions};
use crate::build::{LENGTH, TEXT};
use crate::convert::type_of_kind;
use crate::resolve::no_function;
use crate::type_rules::Kind::{Boolean, Integer, Text};
use crate::vector::{Output, Row, rows, volatile_rows};
use crate::{CastContext, Operand, Typing};
use frazil_plan::Expr;
use frazil_types::array::{self, ArrayRef, Dimension, order_elements};

use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

/// Functions that may give something else each time.
const VOLATILE: &[&str] = &["pg_blocking_pids"];

static FUNCTIONS: &[ArrayFunction] = array_functions! {
    "array_append", [Array, Element], Gives::Array, Called, append, "the array with an element after it";
    "array_cat", [Array, Array], Gives::Array, Called, concatenated, "the first array followed by the second";
    "array_dims", [Array], Gives::Of(Text), Null, dims, "the bounds of its dimensions, as a text";
    "array_fill", [Element, ArrayOf(Integer)], Gives::Array, Called, fill, "an array with the given lengths, filled with a value";
    "array_fill", [Element, ArrayOf(Integer), ArrayOf(Integer)], Gives::Array, Called, fill,
        "an array of these lengths and least subscripts, full of a value";
    "array_length", [Array, Of(Integer)], Gives::Of(Integer), Null, |r, o| bound(r, |d| d.length.into(), o),
        "the length of a dimension";
    "array_lower", [Array, Of(Integer)], Gives::Of(Integer), Null, |r, o| bound(r, |d| d.lower.into(), o),
        "the least subscript of a dimension";
    "array_ndims", [Array], Gives::Of(Integer), Null, ndims, "the number of dimensions";
    "array_position", [Array, Element], Gives::Of(Integer), Called, position, "the subscript of the first element that is equal";
    "array_position", [Array, Element, Of(Integer)], Gives::Of(Integer), Called, position,
        "the subscript of the first element that is equal, from a subscript on";
    "array_positions", [Array, Element], Gives::ArrayOf(Integer), Called, positions, "the subscripts of all elements that are equal";
    "array_prepend", [Element, Array], Gives::Array, Called, prepend, "the array with an element before it";
    "array_remove", [Array, Element], Gives::Array, Called, remove, "the array without the elements that are equal";
    "array_replace", [Array, Element, Element], Gives::Array, Called, replace,
        "the array with each equal element replaced by another one";
    "array_to_string", [Array, Of(Text)], Gives::Of(Text), Null, to_string, "the elements as a text with a separator between them; NULLs are skipped";
    "array_to_string", [Array, Of(Text), Of(Text)], Gives::Of(Text), Called, to_string,
        "the elements as a text, with a text between them and another in place of NULL";
    "array_upper", [Array, Of(Integer)], Gives::Of(Integer), Null,
        |r, o| bound(r, |d| i64::from(d.lower) + i64::from(d.length) - 1, o), "the greatest subscript of a dimension";
    "arraycontained", [Array, Array], Gives::Of(Boolean), Null, |r, o| contains(r, 1, 0, o),
        "true if each element of the first is also in the second";
    "arraycontains", [Array, Array], Gives::Of(Boolean), Null, |r, o| contains(r, 0, 1, o),
        "true if each element of the second is also in the first";
    "arrayoverlap", [Array, Array], Gives::Of(Boolean), Null, overlaps, "true if they have an element in common";
    "cardinality", [Array], Gives::Of(Integer), Null, |r, o| o.int(elements_of(r, 0)?.len() as i128),
        "the number of elements, of all dimensions";
    "list_contains", [Array, Element], Gives::Of(Boolean), Null, list_contains, "true if an element is equal";
    "list_distinct", [Array], Gives::Array, Null, list_distinct, "the elements that are not NULL, each once, in order";
    "list_reverse", [Array], Gives::Array, Null, list_reverse, "the elements from the last to the first";
    "list_sort", [Array], Gives::Array, Null, list_sort, "the elements in ascending order, NULLs at the end";
    "trim_array", [Array, Of(Integer)], Gives::Array, Null, trim, "the array without the last n elements";
};

impl ArrayFunction {
    /// The way to call it.
    fn signature(&self) -> String {
        let takes: Vec<&str> = self
            .takes
            .iter()
            .map(|takes| match *takes {
                Array => "anyarray",
                Element => "anyelement",
                Of(kind) => kind.name(),
                ArrayOf(kind) => kind.info().array_name,
            })
            .collect();
        let gives = match self.gives {
            Gives::Array => "anyarray",
            Gives::Of(kind) => kind.name(),
            Gives::ArrayOf(kind) => kind.info().array_name,
        };
        format!("{}({}) → {gives}", self.name, takes.join(", "))
    }
}

fn functions() -> impl Iterator<Item = &'static ArrayFunction> {
    FUNCTIONS.iter().chain(splits::FUNCTIONS)
}

/// Functions behind those that give rows.
fn is_internal(function: &ArrayFunction) -> bool {
    function.name == "regexp_matches_all"
}

/// The functions' names, ways to call and descriptions.
pub(super) fn documentation() -> Vec<(&'static str, Vec<String>, &'static str)> {
    let mut listed: Vec<(&'static str, Vec<String>, &'static str)> = Vec::new();
    for function in functions().filter(|f| !is_internal(f)) {
        match listed.last_mut().filter(|last| last.0 == function.name) {
            Some(last) => last.1.push(function.signature()),
            None => listed.push((function.name, vec![function.signature()], function.description)),
        }
    }
    listed
}

/// The function of a name that takes so many arguments; another of the name if none does.
pub(crate) fn array_function(name: &str, arguments: usize) -> Option<&'static ArrayFunction> {
    let named = || functions().filter(|f| f.name == name);
    named()
        .find(|f| f.takes.len() == arguments)
        .or_else(|| named().next())
}

/// The array that an argument is.
pub(crate) fn elements_of<'a>(row: &'a Row<'_>, argument: usize) -> Result<ArrayRef<'a>> {
    row.array(argument)
}

impl Typing {
    /// A call of a function of arrays. 42883, 42804.
    pub(crate) fn array_call(
        &self,
        function: &'static ArrayFunction,
        arguments: Vec<Operand>,
    ) -> Result<Expr> {
        let missing = |arguments: &[Operand]| no_function(function.name, arguments);
        if arguments.len() != function.takes.len() {
            return Err(missing(&arguments));
        }
        let is_array = |x: &Operand| x.ty().is_none_or(|ty| ty.element().is_some());
        let of_elements = |x: &Operand| x.ty().is_none_or(|ty| ty.element().is_none());
        let fits = arguments
            .iter()
            .zip(function.takes)
            .all(|(x, takes)| match takes {
                Array => is_array(x),
                Element => of_elements(x),
                Of(_) | ArrayOf(_) => true,
            });
        if !fits {
            return Err(missing(&arguments));
        }
        let element = self.element_type(function, &arguments)?;
        let array = element
            .array()
            .ok_or_else(|| Error::internal("an array of arrays"))?;
        let mut typed = Vec::with_capacity(arguments.len());
        for (x, takes) in arguments.into_iter().zip(function.takes) {
            typed.push(match *takes {
                Array => self.part(x, array)?,
                Element => self.part(x, element)?,
                Of(kind) => self.cast(x, type_of_kind(kind, None), CastContext::Implicit, Span::NONE)?,
                ArrayOf(kind) => {
                    self.cast(x, LogicalType::array_of(kind), CastContext::Implicit, Span::NONE)?
                }
            });
        }
        let gives = match function.gives {
            Gives::Array => array,
            Gives::Of(kind) => type_of_kind(kind, None),
            Gives::ArrayOf(kind) => LogicalType::array_of(kind),
        };
        let call = match VOLATILE.contains(&function.name) {
            true => volatile_rows,
            false => rows,
        };
        Ok(call(function.name, function.on_null, function.run, typed, gives))
    }

    /// The type that the elements of all arguments have in common. 42804 where they have none.
    fn element_type(&self, function: &ArrayFunction, arguments: &[Operand]) -> Result<LogicalType> {
        let mut samples: Vec<Operand> = Vec::new();
        for (x, takes) in arguments.iter().zip(function.takes) {
            match (takes, x) {
                (Array, Operand::Typed(e)) => {
                    let ty = e.ty.element().unwrap_or(TEXT);
                    samples.push(Operand::Typed(crate::build::null(ty).at(e.span)));
                }
                (Element, x) => samples.push(x.clone()),
                (Array, Operand::Unknown(_)) | (Of(_) | ArrayOf(_), _) => {}
            }
        }
        let samples: Vec<&Operand> = samples.iter().collect();
        self.common_type(&samples, function.name)
            .map_err(|e| match e.state() {
                SqlState::DATATYPE_MISMATCH => no_function(function.name, arguments),
                _ => e,
            })
    }
}

fn all(array: &ArrayRef<'_>) -> Result<Vec<Value>> {
    array.elements().collect()
}

/// Whether two elements are the same: NULL is NULL.
fn is_same(a: &Value, b: &Value, element: LogicalType) -> bool {
    match (a.is_null(), b.is_null()) {
        (false, false) => order_elements(a, b, element).is_eq(),
        (a, b) => a == b,
    }
}

/// Refuses arrays of several dimensions. Error 0A000.
fn one_dimension(array: &ArrayRef<'_>, what: &str) -> Result<()> {
    if array.dimensions().len() <= 1 {
        return Ok(());
    }
    Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, what))
}

/// The array with an element at an end; NULL is an array without elements.
fn extended(
    row: &Row<'_>,
    (array, element): (usize, usize),
    is_first: bool,
    out: &mut Output<'_>,
) -> Result<()> {
    let ty = row.ty(element);
    let (mut values, mut lower) = (Vec::new(), 1);
    if !row.is_null(array) {
        let array = elements_of(row, array)?;
        if array.dimensions().len() > 1 {
            let message = "argument must be empty or one-dimensional array";
            return Err(Error::new(SqlState::DATA_EXCEPTION, message));
        }
        lower = array.dimensions().next().map_or(1, |d| d.lower);
        values = all(&array)?;
    }
    match is_first {
        true => values.insert(0, row.value(element)),
        false => values.push(row.value(element)),
    }
    let length = values.len() as u32;
    out.bytes(&array::encode(&[Dimension { length, lower }], &values, ty)?)
}

fn append(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    extended(row, (0, 1), false, out)
}

fn prepend(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    extended(row, (1, 0), true, out)
}

fn concatenated(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let argument = match (row.is_null(0), row.is_null(1)) {
        (true, true) => return out.null(),
        (true, false) => Some(1),
        (false, true) => Some(0),
        (false, false) => match (elements_of(row, 0)?.is_empty(), elements_of(row, 1)?.is_empty()) {
            (true, _) => Some(1),
            (_, true) => Some(0),
            _ => None,
        },
    };
    if let Some(argument) = argument {
        return out.bytes(row.bytes(argument));
    }
    let (a, b) = (elements_of(row, 0)?, elements_of(row, 1)?);
    let dimensions = [&a, &b].map(|array| array.dimensions().collect::<Vec<_>>());
    let bounds = |dimensions: &[Dimension]| {
        let pairs = dimensions.iter().map(|d| (d.length, d.lower));
        pairs.collect::<Vec<_>>()
    };
    let [da, db] = dimensions;
    // One may be an element of the other.
    let (mut shape, more) = match da.len() as i64 - db.len() as i64 {
        0 if bounds(&da[1..]) == bounds(&db[1..]) => (da.clone(), db[0].length),
        1 if bounds(&da[1..]) == bounds(&db) => (da.clone(), 1),
        -1 if bounds(&db[1..]) == bounds(&da) => (db.clone(), 1),
        difference => {
            let detail = match difference {
                0 => "Arrays with differing element dimensions are not compatible for concatenation."
                    .to_owned(),
                -1 | 1 => "Arrays with differing dimensions are not compatible for concatenation.".to_owned(),
                _ => format!(
                    "Arrays of {} and {} dimensions are not compatible for concatenation.",
                    da.len(),
                    db.len()
                ),
            };
            return Err(Error::new(
                SqlState::ARRAY_SUBSCRIPT_ERROR,
                "cannot concatenate incompatible arrays",
            )
            .with_detail(detail));
        }
    };
    shape[0].length += more;
    let values = [all(&a)?, all(&b)?].concat();
    out.bytes(&array::encode(&shape, &values, a.element())?)
}

fn dims(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let array = elements_of(row, 0)?;
    if array.is_empty() {
        return out.null();
    }
    let bounds = array.dimensions().map(|d| {
        let upper = i64::from(d.lower) + i64::from(d.length) - 1;
        format!("[{}:{upper}]", d.lower)
    });
    out.text(&bounds.collect::<String>())
}

/// A fact of the dimension that the second argument names.
fn bound(row: &Row<'_>, of: fn(Dimension) -> i64, out: &mut Output<'_>) -> Result<()> {
    let number = usize::try_from(row.int(1) - 1).ok();
    let dimension = number.and_then(|n| elements_of(row, 0).map(|a| a.dimensions().nth(n)).transpose());
    match dimension.transpose()? {
        Some(dimension) => out.int(of(dimension).into()),
        None => out.null(),
    }
}

fn ndims(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match elements_of(row, 0)?.dimensions().len() {
        0 => out.null(),
        n => out.int(n as i128),
    }
}

fn fill(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let null = |what: &str| Error::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("{what} cannot be null"));
    if (1..row.arguments()).any(|argument| row.is_null(argument)) {
        return Err(null("dimension array or low bound array"));
    }
    let numbers = |argument: usize| {
        let array = elements_of(row, argument)?;
        if array.dimensions().len() > 1 {
            return Err(Error::new(
                SqlState::ARRAY_SUBSCRIPT_ERROR,
                "wrong number of array subscripts",
            )
            .with_detail("Dimension array must be one dimensional."));
        }
        let values = array.elements().map(|value| match value? {
            Value::Int(v) => Ok(v as i32),
            _ => Err(null("dimension values")),
        });
        values.collect::<Result<Vec<i32>>>()
    };
    let lengths = numbers(1)?;
    let lowers = match row.arguments() > 2 {
        true => numbers(2)?,
        false => vec![1; lengths.len()],
    };
    if lowers.len() != lengths.len() {
        return Err(Error::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            "wrong number of array subscripts",
        )
        .with_detail("Low bound array has different size than dimensions array."));
    }
    if lengths.iter().any(|&length| length < 0) || lengths.len() > array::MAX_DIMENSIONS {
        return Err(array::too_many_dimensions(lengths.len()));
    }
    let count = lengths
        .iter()
        .try_fold(1_usize, |count, &length| count.checked_mul(length as usize));
    if lengths.is_empty() || count == Some(0) {
        return out.bytes(&array::encode(&[], &[], row.ty(0))?);
    }
    let dimensions: Vec<Dimension> = lengths
        .iter()
        .zip(lowers)
        .map(|(&length, lower)| Dimension {
            length: length as u32,
            lower,
        })
        .collect();
    array::check_shape(&dimensions)?;
    let bytes = row
        .value(0)
        .as_bytes()
        .map_or(row.ty(0).native().size(), <[u8]>::len);
    let count = count.unwrap_or(usize::MAX);
    out.room(count.saturating_mul(bytes.max(4)))?;
    out.bytes(&array::encode(
        &dimensions,
        &vec![row.value(0); count],
        row.ty(0),
    )?)
}

/// The subscripts of equal elements of an array of one dimension.
fn found<'a>(row: &'a Row<'_>) -> Result<impl Iterator<Item = Result<i64>> + use<'a>> {
    let array = elements_of(row, 0)?;
    one_dimension(
        &array,
        "searching for elements in multidimensional arrays is not supported",
    )?;
    let lower = array.dimensions().next().map_or(1, |d| d.lower);
    let wanted = row.value(1);
    Ok((0..array.len()).filter_map(move |at| match array.get(at) {
        Ok(value) => is_same(&value, &wanted, array.element()).then(|| Ok(i64::from(lower) + at as i64)),
        Err(e) => Some(Err(e)),
    }))
}

fn position(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let mut least = i64::MIN;
    if row.arguments() > 2 {
        if row.is_null(2) {
            return Err(Error::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "initial position must not be null",
            ));
        }
        least = row.int(2);
    }
    let mut from = found(row)?.filter(|at| !matches!(at, Ok(at) if *at < least));
    match from.next().transpose()? {
        Some(at) => out.int(at.into()),
        None => out.null(),
    }
}

fn positions(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let found = found(row)?.map(|at| at.map(|at| Value::Int(at.into())));
    out.bytes(&array::encode_list(&found.collect::<Result<Vec<_>>>()?, LENGTH)?)
}

fn remove(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let array = elements_of(row, 0)?;
    one_dimension(
        &array,
        "removing elements from multidimensional arrays is not supported",
    )?;
    let (wanted, mut values) = (row.value(1), all(&array)?);
    values.retain(|value| !is_same(value, &wanted, array.element()));
    let lower = array.dimensions().next().map_or(1, |d| d.lower);
    let line = Dimension {
        length: values.len() as u32,
        lower,
    };
    let shape = if values.is_empty() {
        &[][..]
    } else {
        std::slice::from_ref(&line)
    };
    out.bytes(&array::encode(shape, &values, array.element())?)
}

fn replace(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let array = elements_of(row, 0)?;
    let (from, to) = (row.value(1), row.value(2));
    let values = array.elements().map(|value| {
        let value = value?;
        Ok(if is_same(&value, &from, array.element()) {
            to.clone()
        } else {
            value
        })
    });
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    out.bytes(&array::encode(
        &dimensions,
        &values.collect::<Result<Vec<_>>>()?,
        array.element(),
    )?)
}

fn to_string(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) || row.is_null(1) {
        return out.null();
    }
    let array = elements_of(row, 0)?;
    let for_null = (row.arguments() > 2 && !row.is_null(2)).then(|| row.text(2));
    let mut text = String::new();
    let mut is_first = true;
    for value in array.elements() {
        let value = value?;
        let shown = match (&value, for_null) {
            (Value::Null, None) => continue,
            (Value::Null, Some(for_null)) => for_null.to_owned(),
            (value, _) => value.display(array.element()).to_string(),
        };
        if !is_first {
            text.push_str(row.text(1));
        }
        is_first = false;
        crate::vector::check_length(text.len() + shown.len())?;
        text.push_str(&shown);
    }
    out.text(&text)
}

/// Whether each element of one is equal to one of the other; NULL is equal to none.
fn contains(row: &Row<'_>, whole: usize, part: usize, out: &mut Output<'_>) -> Result<()> {
    let (whole, part) = (elements_of(row, whole)?, elements_of(row, part)?);
    let whole_values = all(&whole)?;
    for value in part.elements() {
        let value = value?;
        let is_there = !value.is_null() && whole_values.iter().any(|v| is_same(v, &value, whole.element()));
        if !is_there {
            return out.bool(false);
        }
    }
    out.bool(true)
}

fn overlaps(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (a, b) = (elements_of(row, 0)?, elements_of(row, 1)?);
    let (values, others) = (all(&a)?, all(&b)?);
    let is_common = |v: &&Value| !v.is_null() && others.iter().any(|o| is_same(v, o, a.element()));
    out.bool(values.iter().any(|v| is_common(&v)))
}

fn list_contains(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (array, wanted) = (elements_of(row, 0)?, row.value(1));
    for value in array.elements() {
        if is_same(&value?, &wanted, array.element()) {
            return out.bool(true);
        }
    }
    out.bool(false)
}

fn sorted(row: &Row<'_>) -> Result<(Vec<Value>, LogicalType)> {
    let array = elements_of(row, 0)?;
    let mut values = all(&array)?;
    let element = array.element();
    values.sort_by(|a, b| match (a.is_null(), b.is_null()) {
        (false, false) => order_elements(a, b, element),
        (a, b) => a.cmp(&b),
    });
    Ok((values, element))
}

fn list_sort(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (values, element) = sorted(row)?;
    out.bytes(&array::encode_list(&values, element)?)
}

fn list_distinct(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (mut values, element) = sorted(row)?;
    values.retain(|value| !value.is_null());
    values.dedup_by(|a, b| is_same(a, b, element));
    out.bytes(&array::encode_list(&values, element)?)
}

fn list_reverse(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let array = elements_of(row, 0)?;
    let mut values = all(&array)?;
    values.reverse();
    out.bytes(&array::encode_list(&values, array.element())?)
}

fn trim(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let array = elements_of(row, 0)?;
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    let length = dimensions.first().map_or(0, |d| i64::from(d.length));
    let fewer = row.int(1);
    if !(0..=length).contains(&fewer) {
        let message = format!("number of elements to trim must be between 0 and {length}");
        return Err(Error::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    }
    let kept = length - fewer;
    if kept == 0 {
        return out.bytes(&array::encode(&[], &[], array.element())?);
    }
    let others: usize = dimensions[1..].iter().map(|d| d.length as usize).product();
    let values = array
        .elements()
        .take(kept as usize * others)
        .collect::<Result<Vec<_>>>()?;
    // As of a slice, subscripts begin with 1.
    let mut shape: Vec<Dimension> = dimensions.iter().map(|d| Dimension { lower: 1, ..*d }).collect();
    shape[0].length = kept as u32;
    out.bytes(&array::encode(&shape, &values, array.element())?)
}
