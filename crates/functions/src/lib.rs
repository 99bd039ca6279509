//! What SQL's operators and functions mean: typing by PostgreSQL's rules (its manual, chapter 10), and every
//! operator, function and aggregate as data.
//!
//! The binder hands over [`Operand`]s, expressions whose type may still be open, and gets back expressions of
//! the plan with final types. [`Typing`] holds what a statement has taught about its parameters. `catalog` is the
//! one table of functions: resolution, hints ([`nearest_function`]) and documentation ([`list`]) read it. What
//! generated code does not know runs behind `plan::VectorFunction` ([`vector`]).
#![forbid(unsafe_code)]

mod aggregate;
mod operand;
mod typing;

pub use operand::{Operand, Unknown, UnknownKind};
pub use typing::{
    BetweenKind, CastContext, FIRST_HIDDEN, HiddenParameter, LikeKind, Truth, Typing, Volatility,
};

/// What documentation says of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Its name.
    pub name: &'static str,
    /// Each way to call it: argument types, e.g. `text, integer [, text]`.
    pub signatures: &'static [&'static str],
    /// Type of the result.
    pub result: &'static str,
    /// Whether its result may change.
    pub volatility: Volatility,
    /// What it computes.
    pub description: &'static str,
}

/// The known function whose name is nearest to a misspelt one.
pub fn nearest_function(_name: &str) -> Option<&'static str> {
    None
}

/// Every function and aggregate.
pub fn list() -> impl Iterator<Item = &'static FunctionDoc> {
    [].iter()
}
