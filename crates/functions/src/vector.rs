//! Functions that run on vectors: one Rust function over the values of a row, called for each row whose arguments
//! are not NULL.

use crate::build::constant_of;
use frazil_plan::vector_function::{CallContext, VectorFunction, VectorFunctionRef};
use frazil_plan::{CONDITION, Expr, ExprKind};
use frazil_types::array::ArrayRef;
use frazil_types::numeric::Numeric;
use frazil_types::{
    Cancel, ColumnVector, Error, Interval, LogicalType, MemoryBudget, NativeType, Reservation, Result,
    SqlState, StringVectorBuilder, Strings, Value,
};
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Most bytes that the results of one vector may have: results of functions are not counted by the statement's
/// budget, and a vector is at most 1,024 rows.
pub const MAX_VECTOR_BYTES: usize = 1 << 28;
/// Most bytes of a result that is computed while a statement is bound, beside those of its arguments and
/// [`FOLDED_BYTES_EACH`]: longer ones are left to the run, whose budget and timeout hold.
const MAX_FOLDED_BYTES: usize = 1 << 16;
/// Bytes that each constant argument may add to a result computed while a statement is bound, so that a constant array
/// of any length is one value.
const FOLDED_BYTES_EACH: usize = 64;
/// Most bytes of one text that a function makes; PostgreSQL allows 2^30 − 1.
pub const MAX_TEXT_BYTES: usize = 1 << 28;

/// Rows between two looks at the cancel flag: one row's work is bounded by its result and the limits of functions.
const POLLED_ROWS: usize = 16;

/// What a function does with a row.
pub type RowFn = fn(&Row<'_>, &mut Output<'_>) -> Result<()>;

/// Whether a function sees rows of which an argument is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnNull {
    /// It does not: its result is NULL.
    Null,
    /// It does.
    Called,
}

/// The values of an argument, told apart once for a vector.
enum Argument<'a> {
    Bools(&'a [u8]),
    Doubles(&'a [f64]),
    /// Integers of at most 64 bits.
    Narrow(Cow<'a, [i64]>),
    /// Integers of 128 bits.
    Wide(&'a [i128]),
    /// With the type of the elements, if they are arrays.
    Strings(Strings<'a>, Option<LogicalType>),
}

impl Argument<'_> {
    fn of(column: &ColumnVector) -> Argument<'_> {
        match column.native() {
            NativeType::I16 => {
                let values = column.values::<i16>().iter();
                Argument::Narrow(values.map(|v| i64::from(*v)).collect())
            }
            NativeType::I32 => {
                let values = column.values::<i32>().iter();
                Argument::Narrow(values.map(|v| i64::from(*v)).collect())
            }
            NativeType::I64 => Argument::Narrow(column.values::<i64>().into()),
            NativeType::I128 => Argument::Wide(column.values::<i128>()),
            NativeType::Bool => Argument::Bools(column.values::<u8>()),
            NativeType::F64 => Argument::Doubles(column.values::<f64>()),
            NativeType::String => Argument::Strings(column.strings(), column.ty().element()),
        }
    }
}

/// One row's arguments.
pub struct Row<'a> {
    columns: &'a [ColumnVector],
    arguments: &'a [Argument<'a>],
    row: usize,
}

impl Row<'_> {
    /// Number of arguments.
    pub fn arguments(&self) -> usize {
        self.columns.len()
    }

    /// Whether an argument is NULL.
    pub fn is_null(&self, argument: usize) -> bool {
        self.columns[argument].is_null(self.row)
    }

    /// The type of an argument.
    pub fn ty(&self, argument: usize) -> LogicalType {
        self.columns[argument].ty()
    }

    /// An argument of whatever type.
    pub fn value(&self, argument: usize) -> Value {
        self.columns[argument].value(self.row)
    }

    /// A string.
    #[inline]
    pub fn text(&self, argument: usize) -> &str {
        match &self.arguments[argument] {
            Argument::Strings(strings, _) => strings.text(self.row),
            _ => self.is_other(argument, "texts"),
        }
    }

    /// Bytes; of a text its own.
    #[inline]
    pub fn bytes(&self, argument: usize) -> &[u8] {
        match &self.arguments[argument] {
            Argument::Strings(strings, _) => strings.bytes(self.row),
            _ => self.is_other(argument, "bytes"),
        }
    }

    /// An array. Error XX001 for bytes that are none.
    #[inline]
    pub fn array(&self, argument: usize) -> Result<ArrayRef<'_>> {
        match &self.arguments[argument] {
            Argument::Strings(strings, Some(element)) => ArrayRef::new(strings.bytes(self.row), *element),
            _ => Err(Error::internal("an argument that is no array")),
        }
    }

    /// An integer, date, timestamp or unscaled decimal.
    #[inline]
    pub fn wide(&self, argument: usize) -> i128 {
        match &self.arguments[argument] {
            Argument::Narrow(values) => values[self.row].into(),
            Argument::Wide(values) => values[self.row],
            _ => self.is_other(argument, "integers"),
        }
    }

    /// An integer of at most 64 bits, a date or a timestamp.
    #[inline]
    pub fn int(&self, argument: usize) -> i64 {
        match &self.arguments[argument] {
            Argument::Narrow(values) => values[self.row],
            Argument::Wide(values) => values[self.row] as i64,
            _ => self.is_other(argument, "integers"),
        }
    }

    /// An exact number with its digits after the point. Error XX001 for bytes that are not one.
    pub fn numeric(&self, argument: usize) -> Result<Numeric> {
        match self.ty(argument).scale() {
            Some(scale) => Numeric::new(self.wide(argument), scale),
            None => Numeric::of_bytes(self.bytes(argument)),
        }
    }

    /// A double.
    pub fn double(&self, argument: usize) -> f64 {
        match &self.arguments[argument] {
            Argument::Doubles(values) => values[self.row],
            _ => self.is_other(argument, "doubles"),
        }
    }

    /// A boolean.
    pub fn bool(&self, argument: usize) -> bool {
        match &self.arguments[argument] {
            Argument::Bools(values) => values[self.row] != 0,
            _ => self.is_other(argument, "booleans"),
        }
    }

    /// An interval.
    pub fn interval(&self, argument: usize) -> Interval {
        Interval::from_native(self.wide(argument))
    }

    #[cold]
    fn is_other(&self, argument: usize, asked: &str) -> ! {
        let ty = self.columns[argument].ty();
        unreachable!("argument {argument} of type {ty} has no {asked}")
    }
}

enum Values {
    Texts(StringVectorBuilder),
    Others(ColumnVector, usize),
}

/// Where a function puts its results, one for each row.
pub struct Output<'a> {
    context: CallContext<'a>,
    /// What `scratch` holds of the budget.
    held: Option<Reservation>,
    ty: LogicalType,
    /// Least and greatest integer of the type.
    range: Option<(i128, i128)>,
    values: Values,
    bytes: usize,
    /// Most that `bytes` may become.
    most: usize,
    /// Room for a text in the making; empty when a row begins.
    pub scratch: String,
    /// What a function made of a row's arguments and may keep for the next rows of the vector. Nothing when the first
    /// row begins.
    pub kept: Option<Rc<dyn Any>>,
}

impl<'a> Output<'a> {
    fn new(ty: LogicalType, rows: usize, most: usize, context: CallContext<'a>) -> Output<'a> {
        let values = if ty.native() == NativeType::String {
            Values::Texts(context.strings(ty, rows))
        } else {
            let mut column = ColumnVector::new(ty, rows);
            column.resize(rows);
            Values::Others(column, 0)
        };
        Output {
            context,
            held: None,
            ty,
            range: ty.range(),
            values,
            bytes: 0,
            most,
            scratch: String::new(),
            kept: None,
        }
    }

    /// The type of the result.
    pub fn ty(&self) -> LogicalType {
        self.ty
    }

    /// NULL.
    pub fn null(&mut self) -> Result<()> {
        match &mut self.values {
            Values::Texts(texts) => texts.push_null(),
            Values::Others(column, row) => {
                column.set_null(*row);
                *row += 1;
            }
        }
        Ok(())
    }

    /// A text. Errors: 54000 for one that is too long, 53200 where a vector's are.
    pub fn text(&mut self, text: &str) -> Result<()> {
        check_length(text.len())?;
        self.check_total(text.len())?;
        self.bytes += text.len();
        match &mut self.values {
            Values::Texts(texts) => texts.try_push(text),
            Values::Others(..) => Err(Error::internal("a text from a function that gives none")),
        }
    }

    /// Bytes. Errors as of [`Output::text`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        check_length(bytes.len())?;
        self.check_total(bytes.len())?;
        self.bytes += bytes.len();
        match &mut self.values {
            Values::Texts(column) if self.ty.is_binary() => column.try_push_bytes(bytes),
            Values::Texts(_) | Values::Others(..) => {
                Err(Error::internal("bytes from a function that gives none"))
            }
        }
    }

    /// A numeric without precision.
    pub fn numeric(&mut self, number: Numeric) -> Result<()> {
        self.bytes(&number.to_bytes())
    }

    fn check_total(&self, more: usize) -> Result<()> {
        if self.bytes + more <= self.most {
            return Ok(());
        }
        let detail = format!("the results of a function exceed {} bytes", self.most);
        Err(Error::new(SqlState::OUT_OF_MEMORY, "out of memory").with_detail(detail))
    }

    /// What the call runs under.
    pub fn context(&self) -> CallContext<'a> {
        self.context
    }

    /// Error 57014 once the statement is cancelled or its time is up.
    pub fn check(&self) -> Result<()> {
        self.context.check()
    }

    /// Makes room for a text of so many bytes in [`Output::scratch`]. Errors 54000, 53200.
    pub fn room(&mut self, bytes: usize) -> Result<()> {
        check_length(bytes)?;
        self.check_total(bytes)?;
        if bytes > self.scratch.capacity() {
            self.held = None;
            self.held = Some(self.context.budget().reserve(bytes)?);
        }
        self.scratch
            .try_reserve(bytes)
            .map_err(|_| Error::new(SqlState::OUT_OF_MEMORY, "out of memory"))
    }

    /// The text in [`Output::scratch`].
    pub fn scratch(&mut self) -> Result<()> {
        let text = std::mem::take(&mut self.scratch);
        let put = self.text(&text);
        self.scratch = text;
        put
    }

    /// An integer, date, timestamp or unscaled decimal. Error 22003 where its type does not hold it.
    pub fn int(&mut self, value: i128) -> Result<()> {
        if self
            .range
            .is_some_and(|(least, most)| value < least || most < value)
        {
            return Err(self.ty.overflow());
        }
        let Values::Others(column, row) = &mut self.values else {
            return Err(Error::internal("a number from a function that gives text"));
        };
        match column.native() {
            NativeType::I16 => column.values_mut::<i16>()[*row] = value as i16,
            NativeType::I32 => column.values_mut::<i32>()[*row] = value as i32,
            NativeType::I64 => column.values_mut::<i64>()[*row] = value as i64,
            NativeType::I128 => column.values_mut::<i128>()[*row] = value,
            _ => return Err(Error::internal("an integer from a function that gives none")),
        }
        *row += 1;
        Ok(())
    }

    /// A double.
    pub fn double(&mut self, value: f64) -> Result<()> {
        let Values::Others(column, row) = &mut self.values else {
            return Err(Error::internal("a double from a function that gives text"));
        };
        column.values_mut::<f64>()[*row] = value;
        *row += 1;
        Ok(())
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) -> Result<()> {
        let Values::Others(column, row) = &mut self.values else {
            return Err(Error::internal("a boolean from a function that gives text"));
        };
        column.values_mut::<u8>()[*row] = u8::from(value);
        *row += 1;
        Ok(())
    }

    /// An interval.
    pub fn interval(&mut self, value: Interval) -> Result<()> {
        self.int(value.to_native())
    }

    /// A value of whatever type. Errors as of the type's own.
    pub fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Null => self.null(),
            Value::Bool(b) => self.bool(*b),
            Value::Int(v) => self.int(*v),
            Value::Double(v) => self.double(*v),
            Value::Text(text) => self.text(text),
            Value::Bytes(bytes) => self.bytes(bytes),
            Value::Interval(v) => self.interval(*v),
        }
    }

    fn finish(self) -> ColumnVector {
        match self.values {
            Values::Texts(texts) => texts.finish(),
            Values::Others(column, _) => column,
        }
    }
}

/// The error 22023 of an argument.
pub(crate) fn invalid_parameter(message: impl Into<String>) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// Refuses a text longer than [`MAX_TEXT_BYTES`], before it is made. Error 54000.
pub fn check_length(bytes: usize) -> Result<()> {
    if bytes <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let message = "requested length too large";
    Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
        .with_detail(format!("a text has at most {MAX_TEXT_BYTES} bytes")))
}

#[derive(Debug)]
struct RowFunction {
    name: &'static str,
    on_null: OnNull,
    run: RowFn,
    is_volatile: bool,
    can_fail: bool,
}

impl RowFunction {
    /// The results of `rows` rows, of at most `most` bytes of text.
    fn results(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        most: usize,
        context: &CallContext<'_>,
    ) -> Result<ColumnVector> {
        let mut out = Output::new(result, rows, most, *context);
        let known: Vec<Argument<'_>> = arguments.iter().map(Argument::of).collect();
        let skips_nulls = self.on_null == OnNull::Null && arguments.iter().any(|a| a.nulls().is_some());
        for row in 0..rows {
            if row % POLLED_ROWS == 0 {
                context.check()?;
            }
            if skips_nulls && arguments.iter().any(|a| a.is_null(row)) {
                out.null()?;
                continue;
            }
            out.scratch.clear();
            let row = Row {
                columns: arguments,
                arguments: &known,
                row,
            };
            (self.run)(&row, &mut out)?;
        }
        Ok(out.finish())
    }
}

impl VectorFunction for RowFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn can_fail(&self) -> bool {
        self.can_fail
    }

    fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    fn evaluate(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        context: &CallContext<'_>,
    ) -> Result<ColumnVector> {
        self.results(arguments, rows, result, MAX_VECTOR_BYTES, context)
    }
}

/// One object a function: calls of it are equal where their arguments are.
type Known = Mutex<HashMap<(&'static str, usize), VectorFunctionRef>>;

fn known(function: RowFunction) -> VectorFunctionRef {
    static KNOWN: LazyLock<Known> = LazyLock::new(Known::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (function.name, function.run as usize);
    known
        .entry(key)
        .or_insert_with(|| VectorFunctionRef(Arc::new(function)))
        .clone()
}

/// A call of a function that gives something else each time: equal to no other call, and never computed before the
/// statement runs.
pub(crate) fn volatile(
    name: &'static str,
    on_null: OnNull,
    run: RowFn,
    arguments: Vec<Expr>,
    ty: LogicalType,
) -> Expr {
    let function = VectorFunctionRef(Arc::new(RowFunction {
        name,
        on_null,
        run,
        is_volatile: true,
        can_fail: true,
    }));
    Expr::new(ExprKind::VectorFunction(function, arguments), ty, true)
}

/// A call of a function that tells true from false.
pub(crate) fn predicate(name: &'static str, on_null: OnNull, run: RowFn, arguments: Vec<Expr>) -> Expr {
    rows(name, on_null, run, arguments, CONDITION)
}

/// A call of a function, computed at once where all arguments are constants and it does not fail.
pub(crate) fn rows(
    name: &'static str,
    on_null: OnNull,
    run: RowFn,
    arguments: Vec<Expr>,
    ty: LogicalType,
) -> Expr {
    let function = RowFunction {
        name,
        on_null,
        run,
        is_volatile: false,
        can_fail: true,
    };
    call(function, arguments, ty)
}

/// The call of a function that may give something else each time.
pub(crate) fn volatile_rows(
    name: &'static str,
    on_null: OnNull,
    run: RowFn,
    arguments: Vec<Expr>,
    ty: LogicalType,
) -> Expr {
    let function = RowFunction {
        name,
        on_null,
        run,
        is_volatile: true,
        can_fail: true,
    };
    call(function, arguments, ty)
}

/// A call of a function that gives something for whatever arguments of its types, and NULL where one is NULL.
pub(crate) fn total(name: &'static str, run: RowFn, arguments: Vec<Expr>, ty: LogicalType) -> Expr {
    let function = RowFunction {
        name,
        on_null: OnNull::Null,
        run,
        is_volatile: false,
        can_fail: false,
    };
    call(function, arguments, ty)
}

fn call(function: RowFunction, arguments: Vec<Expr>, ty: LogicalType) -> Expr {
    let constants: Option<Vec<&Value>> = arguments.iter().map(constant_of).collect();
    if let Some(values) = constants {
        let vectors: Vec<ColumnVector> = arguments
            .iter()
            .zip(&values)
            .map(|(a, v)| ColumnVector::from_values(a.ty, std::slice::from_ref(*v)))
            .collect();
        let (cancel, budget) = (Cancel::new(), MemoryBudget::unlimited());
        let context = CallContext::new(&cancel, &budget);
        let strings = values.iter().filter_map(|value| value.as_bytes());
        let given: usize = strings.map(<[u8]>::len).sum();
        let most = MAX_FOLDED_BYTES + FOLDED_BYTES_EACH * vectors.len() + given;
        if let Ok(result) = function.results(&vectors, 1, ty, most, &context) {
            return Expr::constant(result.value(0), ty);
        }
    }
    Expr::new(ExprKind::VectorFunction(known(function), arguments), ty, true)
}
