//! Binds values that no statement of the user's computes as such: those of EXECUTE, of a column that comes, and of
//! generated columns of rows that no plan computes.

use crate::bind::in_context;
use crate::binder::{
    self, Binder, default_query, fill_hidden, generated_query, rows_of_view, stored_expressions,
};
use crate::bound::{Bound, PlanSettings};
use crate::limits::Limits;
use crate::parse::{ParsedStatement, parse};
use crate::{CatalogView, TableEntry, catalog_view};
use frazil_catalog::{QualifiedName, ViewEntry};
use frazil_plan::StoredExpression;
use frazil_types::{ColumnDef, Error, LogicalType, Result};

/// Binds the values of EXECUTE for a statement whose parameters have these types: a query of one row. 42601 if they are
/// more or fewer; 42804.
pub fn bind_values(
    values: &ParsedStatement,
    types: &[LogicalType],
    name: &str,
    catalog: &dyn CatalogView,
) -> Result<Bound> {
    let query = values.query();
    let query = query.ok_or_else(|| Error::internal("values that are no query"))?;
    let bound = in_context(values, catalog, &PlanSettings::default(), &[], |context| {
        let bound = binder::execute_values(context.binder(values), query, types, name);
        bound.map_err(|e| values.place.located(e))
    });
    bound.map(|(bound, depth)| Bound { depth, ..bound })
}

/// Binds the value that rows get in a column that no INSERT names: a query of one row and one column. Errors are those
/// of an assignment.
pub fn bind_default(column: &ColumnDef, catalog: &dyn CatalogView, limits: &Limits) -> Result<Bound> {
    let parsed = parse("select null", limits)?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("a statement that is not one"));
    };
    let bound = in_context(parsed, catalog, &PlanSettings::default(), &[], |context| {
        default_query(context.binder(parsed), column)
    });
    bound.map(|(bound, depth)| Bound { depth, ..bound })
}

/// Binds the values of the generated columns of a table, hidden ones among these: a query over its rows, with a column
/// for each of them.
pub fn bind_generated(table: &QualifiedName, catalog: &dyn CatalogView, limits: &Limits) -> Result<Bound> {
    let bound = over_rows(table, catalog, limits, |binder, entry| {
        generated_query(binder, entry)
    });
    bound.map(|(bound, depth)| Bound { depth, ..bound })
}

/// Binds the expressions and conditions of the indexes of a table.
pub fn bind_stored_expressions(
    table: &QualifiedName,
    catalog: &dyn CatalogView,
    limits: &Limits,
) -> Result<Vec<StoredExpression>> {
    over_rows(table, catalog, limits, |binder, entry| {
        stored_expressions(binder, entry)
    })
    .map(|(expressions, _)| expressions)
}

/// Binds the UPDATE that computes the hidden columns of an index that comes, at position `first` and behind, for all
/// rows of a table. `condition`: the position of the index's condition.
pub fn bind_hidden(
    table: &QualifiedName,
    first: usize,
    condition: Option<usize>,
    catalog: &dyn CatalogView,
    limits: &Limits,
) -> Result<Bound> {
    let bound = over_rows(table, catalog, limits, |binder, entry| {
        fill_hidden(binder, entry, first, condition)
    });
    bound.map(|(bound, depth)| Bound { depth, ..bound })
}

/// Binds what is Frazil's own over the rows of a table. Returns with it the depth of the stack that it needed.
fn over_rows<T>(
    table: &QualifiedName,
    catalog: &dyn CatalogView,
    limits: &Limits,
    bind: impl Fn(Binder<'_>, &TableEntry) -> Result<T>,
) -> Result<(T, usize)> {
    let parsed = parse("select null", limits)?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("a statement that is not one"));
    };
    in_context(
        parsed,
        catalog,
        &PlanSettings::default(),
        &[],
        |context| match catalog.relation(table) {
            Some(catalog_view::Relation::Table(entry)) => bind(context.binder(parsed), &entry),
            Some(catalog_view::Relation::View(_)) | None => {
                Err(Error::internal("generated columns of a table that is not there"))
            }
        },
    )
}

/// Binds the query of a view, whose rows have the names and types of the view's columns.
pub fn bind_view(view: &ViewEntry, catalog: &dyn CatalogView, limits: &Limits) -> Result<Bound> {
    let parsed = parse("select null", limits)?;
    let [parsed] = &parsed[..] else {
        return Err(Error::internal("a statement that is not one"));
    };
    let bound = in_context(parsed, catalog, &PlanSettings::default(), &[], |context| {
        rows_of_view(context.binder(parsed), view)
    });
    bound.map(|(bound, depth)| Bound { depth, ..bound })
}
