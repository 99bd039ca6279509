//! DEFERRABLE and INITIALLY: the time at which a constraint of any kind is checked.

use frazil_catalog::Deferral;
use frazil_types::{Error, Result, SqlState};
use sqlparser::ast::{ConstraintCharacteristics, DeferrableInitial};

/// The deferral that DEFERRABLE and INITIALLY ask for. 42601 for NOT DEFERRABLE INITIALLY DEFERRED, 0A000 for NOT
/// ENFORCED.
pub(super) fn deferral(characteristics: &Option<ConstraintCharacteristics>) -> Result<Deferral> {
    let Some(given) = characteristics else {
        return Ok(Deferral::Never);
    };
    if given.enforced == Some(false) {
        return Err(Error::unsupported("NOT ENFORCED"));
    }
    match (given.deferrable, given.initially) {
        (Some(false), Some(DeferrableInitial::Deferred)) => {
            let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
            Err(Error::new(SqlState::SYNTAX_ERROR, message))
        }
        (_, Some(DeferrableInitial::Deferred)) => Ok(Deferral::Deferred),
        (Some(true), _) => Ok(Deferral::Immediate),
        (Some(false) | None, Some(DeferrableInitial::Immediate) | None) => Ok(Deferral::Never),
    }
}
