//! The columns of tables and views that columns of a query show, as PostgreSQL's RowDescription tells them to clients.
//!
//! A column keeps its origin through joins, subqueries, common table expressions, groups and DISTINCT, as long as no
//! expression changes its values. The columns of a view begin anew: they are the view's. Set operations and recursion
//! have columns of their own.

use super::computed::Computed;
use super::{Binder, OutputColumn};
use crate::TableEntry;
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Origin, Schema};
use std::collections::BTreeSet;

impl Binder<'_> {
    /// Notes that `made` has the values of an expression: it keeps the domain and the origin of the column that the
    /// expression is.
    pub(super) fn keep_descent(&mut self, made: ColumnId, e: &Expr) {
        let domain = self.domain_of(e);
        self.domains.extend(domain.map(|domain| (made, domain)));
        if let Some(id) = e.as_column() {
            self.keep_fields(made, id);
            self.columns[made].origin = self.columns[id].origin;
        }
    }

    /// Notes that `made` has the row values of another column, if that has such with known fields.
    pub(super) fn keep_fields(&mut self, made: ColumnId, from: ColumnId) {
        if let Some(fields) = self.row_fields.get(&from).cloned() {
            self.row_fields.insert(made, fields);
        }
    }

    /// Notes that columns show the first columns of a relation, in order. `relation`: its oid, if it has one.
    pub(super) fn originate(&mut self, relation: Option<u32>, schema: &Schema, columns: &[OutputColumn]) {
        let Some(relation) = relation else { return };
        for (at, column) in columns.iter().enumerate() {
            let column_number = schema.attribute_number(at);
            self.columns[column.id].origin = Some(Origin {
                relation,
                column: column_number,
            });
        }
    }

    /// The new row's columns as columns of the table that is written, for RETURNING: those that statements see. A
    /// column that shows another one, or that fills two columns, is copied.
    pub(super) fn as_written(
        &mut self,
        entry: &TableEntry,
        columns: &[ColumnId],
        copies: &mut Computed,
    ) -> Vec<ColumnId> {
        let mut own = Vec::with_capacity(columns.len());
        let mut seen = BTreeSet::new();
        let visible = entry.schema.columns.len();
        for (at, &id) in columns.iter().take(visible).enumerate() {
            let origin = entry.oid.map(|relation| Origin {
                relation,
                column: entry.schema.attribute_number(at),
            });
            let is_free =
                seen.insert(id) && self.columns[id].origin.is_none_or(|known| Some(known) == origin);
            let id = if is_free { id } else { self.copied(id, copies) };
            self.columns[id].origin = origin;
            own.push(id);
        }
        own
    }

    /// A new column with the values of another one.
    pub(super) fn copied(&mut self, id: ColumnId, copies: &mut Computed) -> ColumnId {
        let e = Expr::column(id, &self.columns);
        let copy = self.columns.add(self.columns[id].label.clone(), e.ty, e.nullable);
        self.own(copy);
        self.keep_descent(copy, &e);
        copies.expressions.push((copy, e));
        copy
    }
}
