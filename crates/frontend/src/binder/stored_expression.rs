//! Expressions that the catalog keeps as SQL text: DEFAULT and CHECK. Each statement that needs one binds its text again,
//! by a binder of its own, which sees the columns of the row and nothing of the statement around it.

use super::insert::named;
use super::rows::Computed;
use super::scope::{Clause, Item, Level};
use super::{Binder, TableEntry};
use crate::deep_stack::on_deep_stack;
use crate::parse::{ParsedStatement, parse};
use frazil_catalog::{ConstraintKind, SearchPath};
use frazil_functions::Operand;
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Error, Result};
use sqlparser::ast::{Expr as SqlExpr, SelectItem, SetExpr};

impl Binder<'_> {
    /// Binds the text of an expression over some relations.
    pub(super) fn stored(&mut self, text: &str, items: Vec<Item>, clause: Clause) -> Result<Operand> {
        // A comment may end the text.
        let parsed = parse(&format!("select ({text}\n)"), &self.nesting.limits)?;
        let [parsed] = &parsed[..] else {
            return Err(not_one(text));
        };
        self.nesting.enter(parsed.depth())?;
        on_deep_stack(parsed.depth(), || {
            let place = parsed.place.of_view();
            let mut inner = Binder::new(self.catalog, self.settings, &place, &[], self.nesting);
            inner.takes_parameters = false;
            inner.is_stored = true;
            inner.reader = self.reader;
            inner.path = SearchPath::public();
            inner.levels.push(Level {
                items,
                clause,
                ..Level::default()
            });
            self.exchange(&mut inner);
            let bound = match written(parsed) {
                Some(e) => inner.expression(e),
                None => Err(not_one(text)),
            };
            self.exchange(&mut inner);
            bound
        })
    }

    /// The CHECK constraints of a table for rows of its `columns`: names, and boolean columns that are computed. With
    /// `touched`, only those that read one of these positions, and those that rows may violate that are
    /// there. Where `guard` is not true they are not computed.
    pub(super) fn checks(
        &mut self,
        entry: &TableEntry,
        columns: &[ColumnId],
        touched: Option<&[usize]>,
        guard: Option<&Expr>,
        computed: &mut Computed,
    ) -> Result<Vec<(String, ColumnId)>> {
        let row = Item::named(&entry.name, named(entry, columns)).in_schema(&entry.schema_name);
        let mut checks = Vec::new();
        for constraint in &entry.constraints {
            let ConstraintKind::Check {
                expression,
                columns: read,
                is_valid,
                of_domain,
            } = &constraint.kind
            else {
                continue;
            };
            // A row that is there satisfies the checks of the columns that it keeps, unless a check is NOT VALID. The
            // value of a domain is not asked again.
            let holds_before = *is_valid || of_domain.is_some();
            let is_touched = |touched: &[usize]| read.iter().any(|c| touched.contains(c));
            if holds_before && touched.is_some_and(|touched| !is_touched(touched)) {
                continue;
            }
            let bound = self.stored(expression, vec![row.clone()], Clause::Check)?;
            let mut holds = self.typing.predicate(bound, "CHECK")?;
            if let Some(guard) = guard {
                holds = self.where_true(guard.clone(), holds)?;
            }
            let id = self.as_column(holds, &constraint.name, computed);
            checks.push((constraint.name.clone(), id));
        }
        Ok(checks)
    }
}

/// The expression of `select (expression)`.
fn written(parsed: &ParsedStatement) -> Option<&SqlExpr> {
    let SetExpr::Select(select) = &*parsed.query()?.body else {
        return None;
    };
    match &select.projection[..] {
        [SelectItem::UnnamedExpr(e)] => Some(e),
        _ => None,
    }
}

fn not_one(text: &str) -> Error {
    Error::internal(format!(
        "the catalog keeps a text that is not one expression: {text}"
    ))
}
