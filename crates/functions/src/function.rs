//! A scalar function as data: a row of the table in `scalar_functions`, and how a call of it is made.

use crate::build::{function, is_null_constant, null};
use crate::convert::type_of_kind;
use crate::type_rules::Kind;
use crate::vector::{self, OnNull, RowFn};
use frazil_plan::{Expr, ScalarFunction};
use frazil_types::{Error, Result, Zone};

/// A function of one name.
#[derive(Debug)]
pub(crate) struct Function {
    pub name: &'static str,
    pub overloads: &'static [Overload],
    pub description: &'static str,
}

/// One way to call a function: the kinds that it takes, and [`Run`] the kind that it gives.
#[derive(Debug)]
pub(crate) struct Overload {
    pub parameters: &'static [Kind],
    pub run: Run,
}

/// How a function runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    /// Inline, as a function of the plan.
    Plan(ScalarFunction, Kind),
    /// On vectors, row by row.
    Rows(RowFn, Kind),
    /// On vectors, row by row, with a result for whatever arguments of its types: it never fails.
    Total(RowFn, Kind),
    /// On vectors, row by row, anew in each call: calls are never one, nor computed before.
    Volatile(RowFn, Kind),
    /// Like [`Run::Volatile`], also for rows of which an argument is NULL.
    VolatileOnNull(RowFn, Kind),
    /// On vectors, row by row, with the number of the statement's catalog as one more argument.
    Catalog(RowFn, OnNull, Kind),
    /// As an expression made of others; the kind is that of the result, for documentation.
    Build(fn(Vec<Expr>) -> Result<Expr>, Kind),
}

impl Run {
    /// The kind of what it gives.
    pub(crate) fn gives(self) -> Kind {
        match self {
            Run::Plan(_, kind)
            | Run::Rows(_, kind)
            | Run::Total(_, kind)
            | Run::Volatile(_, kind)
            | Run::VolatileOnNull(_, kind)
            | Run::Catalog(_, _, kind)
            | Run::Build(_, kind) => kind,
        }
    }
}

/// A way to call a function that runs row by row.
pub(crate) const fn rows(parameters: &'static [Kind], f: RowFn, gives: Kind) -> Overload {
    Overload {
        parameters,
        run: Run::Rows(f, gives),
    }
}

/// A way to call a function that the plan knows.
pub(crate) const fn plan(parameters: &'static [Kind], f: ScalarFunction, gives: Kind) -> Overload {
    Overload {
        parameters,
        run: Run::Plan(f, gives),
    }
}

/// A way to call a function that runs row by row, anew in each call.
pub(crate) const fn volatile(parameters: &'static [Kind], f: RowFn, gives: Kind) -> Overload {
    Overload {
        parameters,
        run: Run::Volatile(f, gives),
    }
}

/// A way to call a function that asks the statement's catalog.
pub(crate) const fn asking(parameters: &'static [Kind], f: RowFn, gives: Kind) -> Overload {
    Overload {
        parameters,
        run: Run::Catalog(f, OnNull::Null, gives),
    }
}

/// A way to call a function that is an expression made of others.
pub(crate) const fn build(
    parameters: &'static [Kind],
    f: fn(Vec<Expr>) -> Result<Expr>,
    gives: Kind,
) -> Overload {
    Overload {
        parameters,
        run: Run::Build(f, gives),
    }
}

/// A way to call a function that runs row by row and never fails.
pub(crate) const fn total(parameters: &'static [Kind], f: RowFn, gives: Kind) -> Overload {
    Overload {
        parameters,
        run: Run::Total(f, gives),
    }
}

/// Rows of the table: a name, the ways to call the function, a description.
macro_rules! functions {
    ($($name:literal, $overloads:expr, $description:literal;)*) => {
        &[$($crate::function::Function { name: $name, overloads: &$overloads, description: $description }),*]
    };
}

pub(crate) use functions;

/// Shows a way to call a function: `abs(integer) → integer`.
pub(crate) fn signature(name: &str, o: &Overload) -> String {
    let parameters: Vec<&str> = o.parameters.iter().map(|k| k.name()).collect();
    let result = o.run.gives().name();
    format!("{name}({}) → {result}", parameters.join(", "))
}

/// A call of one of these functions whose arguments have the types of one of its overloads. XX000 if there is none.
pub(crate) fn call_of<'f>(
    mut functions: impl Iterator<Item = &'f Function>,
    name: &str,
    arguments: Vec<Expr>,
) -> Result<Expr> {
    let missing = || Error::internal(format!("no function {name} of these types"));
    let function = functions.find(|f| f.name == name).ok_or_else(missing)?;
    let kinds: Vec<Kind> = arguments.iter().map(|a| Kind::of(a.ty)).collect();
    let overload = function.overloads.iter().find(|o| o.parameters == kinds);
    let how = overload.ok_or_else(missing)?.run;
    run(function.name, how, Zone::UTC, arguments)
}

/// A call in a session with a zone, whose clock reads and shows what it gives.
pub(crate) fn run(name: &'static str, how: Run, zone: Zone, arguments: Vec<Expr>) -> Result<Expr> {
    let ty = type_of_kind(how.gives(), None).in_zone(zone);
    match how {
        Run::Rows(f, _) => Ok(vector::rows(name, OnNull::Null, f, arguments, ty)),
        Run::Total(f, _) => Ok(vector::total(name, f, arguments, ty)),
        Run::Volatile(f, _) => Ok(vector::volatile(name, OnNull::Null, f, arguments, ty)),
        Run::VolatileOnNull(f, _) => Ok(vector::volatile(name, OnNull::Called, f, arguments, ty)),
        Run::Catalog(f, on_null, _) => Ok(vector::rows(name, on_null, f, arguments, ty)),
        Run::Build(f, _) => f(arguments),
        Run::Plan(f, _) => {
            if arguments.iter().any(is_null_constant) {
                return Ok(null(ty));
            }
            Ok(function(f, arguments, ty))
        }
    }
}
