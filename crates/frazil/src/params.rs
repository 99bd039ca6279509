//! The values for a statement's parameters, as a Rust program gives them.

use crate::given_values::GivenValues;
use crate::value::{ToValue, Value};
use frazil_types::{LogicalType, Result, Value as RawValue};

/// Values for `$1`, `$2` and so on: a tuple of them, a slice, array or vector of one type, [`params!`](crate::params)
/// of any types, or `()` for none.
pub trait Params {
    /// The values. The errors of one that its type does not hold.
    fn parameters(&self) -> Result<Parameters<'_>>;
}

/// Values that need no memory of their own: most statements have fewer parameters.
const FEW: usize = 8;

/// Values for a statement's parameters, with their own types.
#[derive(Debug)]
pub struct Parameters<'a>(Held<'a>);

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "few values are held without memory of their own"
)]
enum Held<'a> {
    /// Values that tell their types.
    Borrowed(&'a [RawValue]),
    /// The first `count` values, each with its type.
    Few {
        values: [RawValue; FEW],
        types: [Option<LogicalType>; FEW],
        count: usize,
    },
    /// Values, each with its type.
    Many(Vec<RawValue>, Vec<Option<LogicalType>>),
}

impl<'a> Parameters<'a> {
    pub(crate) fn given(&self) -> GivenValues<'_> {
        match &self.0 {
            Held::Borrowed(values) => GivenValues::raw(values),
            Held::Few { values, types, count } => GivenValues::typed(&values[..*count], &types[..*count]),
            Held::Many(values, types) => GivenValues::typed(values, types),
        }
    }

    fn of_slice<T: ToValue>(values: &'a [T]) -> Result<Parameters<'a>> {
        match T::as_raw(values) {
            Some(raw) => Ok(Parameters(Held::Borrowed(raw))),
            None => Parameters::of_values(values.iter().map(T::to_value)),
        }
    }

    fn of_values(given: impl ExactSizeIterator<Item = Value>) -> Result<Parameters<'a>> {
        let raw =
            |at: usize, value: Value| value.into_raw().map_err(|e| e.in_context(format!("${}", at + 1)));
        let count = given.len();
        if count > FEW {
            let (mut values, mut types) = (Vec::with_capacity(count), Vec::with_capacity(count));
            for (at, value) in given.enumerate() {
                types.push(value.ty());
                values.push(raw(at, value)?);
            }
            return Ok(Parameters(Held::Many(values, types)));
        }
        let (mut values, mut types) = ([const { RawValue::Null }; FEW], [None; FEW]);
        for (at, value) in given.enumerate() {
            types[at] = value.ty();
            values[at] = raw(at, value)?;
        }
        Ok(Parameters(Held::Few { values, types, count }))
    }
}

impl Params for () {
    fn parameters(&self) -> Result<Parameters<'_>> {
        Ok(Parameters(Held::Borrowed(&[])))
    }
}

impl<T: ToValue> Params for [T] {
    fn parameters(&self) -> Result<Parameters<'_>> {
        Parameters::of_slice(self)
    }
}

impl<T: ToValue, const N: usize> Params for [T; N] {
    fn parameters(&self) -> Result<Parameters<'_>> {
        Parameters::of_slice(self)
    }
}

impl<T: ToValue> Params for Vec<T> {
    fn parameters(&self) -> Result<Parameters<'_>> {
        Parameters::of_slice(self)
    }
}

impl<P: Params + ?Sized> Params for &P {
    fn parameters(&self) -> Result<Parameters<'_>> {
        (**self).parameters()
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: ToValue),+> Params for ($($name,)+) {
            fn parameters(&self) -> Result<Parameters<'_>> {
                #[expect(non_snake_case, reason = "each value is called as its type")]
                let ($($name,)+) = self;
                Parameters::of_values([$($name.to_value()),+].into_iter())
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);

/// Values for a statement's parameters, each of a type of its own.
///
/// ```
/// # let connection = frazil::Database::memory()?.connect();
/// connection.execute("create table t (a integer, b text)")?;
/// connection.execute_with("insert into t values ($1, $2)", frazil::params![1, "one"])?;
/// # Ok::<(), frazil::Error>(())
/// ```
#[macro_export]
macro_rules! params {
    () => {
        ()
    };
    ($($value:expr),+ $(,)?) => {
        [$($crate::ToValue::to_value(&$value)),+]
    };
}
