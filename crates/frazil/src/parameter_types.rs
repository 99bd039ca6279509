//! The types of parameters that only values tell.

use crate::compiled_statement::mistyped;
use crate::given_values::GivenValues;
use frazil_frontend::Bound;
use frazil_types::{LogicalType, Result, SqlState};

/// The statement bound anew, with the own types of values for the parameters that nothing else types. `None` if the
/// text types them all; `Some(None)` if it stays as it was bound, because a text is what is needed there.
pub fn bound_by_values(
    bound: &Result<Bound>,
    given: GivenValues<'_>,
    bind_as: impl Fn(&[Option<LogicalType>]) -> Result<Bound>,
) -> Option<Option<Result<Bound>>> {
    match bound {
        Err(e) if !given.values.is_empty() && lacks_types(e.state()) => {
            let own: Vec<_> = given.own_types().collect();
            let again = bind_as(&own);
            if !again.as_ref().is_err_and(|e| lacks_types(e.state())) {
                return Some(Some(again));
            }
            // NULL and texts that nothing types at all are texts.
            let texts: Vec<_> = own.iter().map(|ty| ty.or(Some(LogicalType::UNTYPED))).collect();
            Some(Some(bind_as(&texts)))
        }
        Ok(bound) => {
            mistyped(&bound.guessed, given).next()?;
            let mut types: Vec<_> = bound.parameters.iter().copied().map(Some).collect();
            for &at in &bound.guessed {
                types[at] = given.own_type(at);
            }
            Some(bind_as(&types).ok().map(Ok))
        }
        Err(_) => None,
    }
}

/// Whether a statement fails so whose parameters nothing types.
fn lacks_types(state: SqlState) -> bool {
    [
        SqlState::UNDEFINED_PARAMETER,
        SqlState::INDETERMINATE_TYPE,
        SqlState::AMBIGUOUS_FUNCTION,
    ]
    .contains(&state)
}
