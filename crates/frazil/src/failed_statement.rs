//! The end of a statement that failed.

use crate::notification_statement;
use crate::session::Session;
use frazil_catalog::{Catalog, ConstraintKind, TypeEntry, domain_violation};
use frazil_types::{Error, Result, SqlState};

/// Ends the transaction of a statement that failed, and returns its error; that of the log, if rows that the error
/// tells of are not durable.
pub fn end<T>(session: &mut Session, error: Error) -> Result<T> {
    let error = explained(session, error);
    let settled = session.transaction_mut().settle();
    session.transaction_mut().fail();
    notification_statement::drop_statement(session);
    settled.and(Err(error))
}

/// An error with what the transaction's catalog says of it: the name of its schema; and the domain whose condition a
/// row violates, in the place of the table that repeats the condition.
pub fn explained(session: &Session, error: Error) -> Error {
    if error.namespace().is_none() {
        return error;
    }
    session.look(|snapshot| {
        let catalog = snapshot.catalog();
        let error = of_domain(catalog, &error).unwrap_or(error);
        error.naming_schema(|id| Some(catalog.schema_of(id)?.name.clone()))
    })
}

/// The error of a domain, if `error` says that a row violates a condition which a column has from its domain.
fn of_domain(catalog: &Catalog, error: &Error) -> Option<Error> {
    let name = catalog.qualified(error.namespace()?, error.table()?);
    let table = catalog.table(&name).ok()?;
    let domain_of = |column: usize| catalog.user_type_of(table.schema.columns.get(column)?.domain_id()?);
    let blaming = |domain: &TypeEntry, message: &str| {
        let error = Error::new(error.state(), message).at_span(error.span());
        error.of_type(&domain.name).in_namespace(domain.namespace)
    };
    match error.state() {
        SqlState::CHECK_VIOLATION => {
            let violated = error.constraint()?;
            let constraint = table.constraints.iter().find(|other| other.name == violated)?;
            let ConstraintKind::Check {
                of_domain, columns, ..
            } = &constraint.kind
            else {
                return None;
            };
            let (_, check) = catalog.check_of_domain((*of_domain)?)?;
            let domain = domain_of(*columns.first()?)?;
            let error = blaming(domain, &domain_violation(&domain.name, &check.name));
            Some(error.of_constraint(&check.name))
        }
        SqlState::NOT_NULL_VIOLATION => {
            let column = error.column()?;
            let domain = domain_of(
                table
                    .schema
                    .columns
                    .iter()
                    .position(|other| other.name == column)?,
            )?;
            let is_refused = domain.as_domain().is_some_and(|domain| !domain.nullable);
            // The message says in which column the NULL is, and in which line of a file.
            is_refused.then(|| blaming(domain, error.message()))
        }
        _ => None,
    }
}
