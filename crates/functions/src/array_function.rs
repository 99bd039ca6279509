//! A function of arrays as data: what it takes and gives depends on the type of the elements.

use crate::type_rules::Kind;
use crate::vector::{OnNull, RowFn};

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// An array of the elements.
    Array,
    /// An element.
    Element,
    /// A value of this type.
    Of(Kind),
    /// An array of elements of this kind.
    ArrayOf(Kind),
}

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// An array of the elements.
    Array,
    /// A value of this type.
    Of(Kind),
    /// An array of elements of this kind.
    ArrayOf(Kind),
}

/// A function of arrays.
#[derive(Debug)]
pub(crate) struct ArrayFunction {
    pub name: &'static str,
    pub takes: &'static [Takes],
    pub gives: Gives,
    pub on_null: OnNull,
    pub run: RowFn,
    pub description: &'static str,
}

macro_rules! array_functions {
    ($($name:literal, [$($takes:expr),*], $gives:expr, $on_null:ident, $run:expr, $description:literal;)*) => {
        &[$($crate::array_function::ArrayFunction {
            name: $name,
            takes: &[$($takes),*],
            gives: $gives,
            on_null: $crate::vector::OnNull::$on_null,
            run: $run,
            description: $description,
        }),*]
    };
}

pub(crate) use array_functions;
