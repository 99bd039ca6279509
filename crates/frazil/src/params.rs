//! The values for a statement's parameters, as a Rust program gives them.

use crate::given_values::GivenValues;
use crate::value::{ToValue, Value};
use frazil_types::{LogicalType, Result, Value as RawValue};
use std::borrow::Cow;

/// Values for `$1`, `$2` and so on: a tuple of them, a slice, array or vector of one type, [`params!`](crate::params)
/// of any types, or `()` for none.
pub trait Params {
    /// The values. The errors of one that its type does not hold.
    fn parameters(&self) -> Result<Parameters<'_>>;
}

/// Values for a statement's parameters, with their own types.
#[derive(Debug)]
pub struct Parameters<'a> {
    values: Cow<'a, [RawValue]>,
    /// One for each value, or none if the values tell their types.
    types: Vec<Option<LogicalType>>,
}

impl<'a> Parameters<'a> {
    pub(crate) fn given(&self) -> GivenValues<'_> {
        match self.types.is_empty() {
            true => GivenValues::raw(&self.values),
            false => GivenValues::typed(&self.values, &self.types),
        }
    }

    fn of_slice<T: ToValue>(values: &'a [T]) -> Result<Parameters<'a>> {
        match T::as_raw(values) {
            Some(raw) => Ok(Parameters {
                values: Cow::Borrowed(raw),
                types: Vec::new(),
            }),
            None => Parameters::of_values(values.iter().map(T::to_value)),
        }
    }

    fn of_values(values: impl ExactSizeIterator<Item = Value>) -> Result<Parameters<'a>> {
        let mut raw = Vec::with_capacity(values.len());
        let mut types = Vec::with_capacity(values.len());
        for value in values {
            types.push(value.ty());
            let at = types.len();
            raw.push(value.into_raw().map_err(|e| e.in_context(format!("${at}")))?);
        }
        Ok(Parameters {
            values: raw.into(),
            types,
        })
    }
}

impl Params for () {
    fn parameters(&self) -> Result<Parameters<'_>> {
        Ok(Parameters {
            values: Cow::Borrowed(&[]),
            types: Vec::new(),
        })
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
