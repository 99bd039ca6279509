//! The version of the directory format that a manifest needs.

use crate::format_version::{
    PUBLISHED, VERSION, WITH_CHANGES, WITH_COMMENTS, WITH_MATERIALIZED_VIEWS, WITH_PARTIAL_INDEXES,
    WITH_REFERENCES, WITH_ROLES, WITH_SCHEMAS,
};
use crate::manifest::Manifest;
use frazil_catalog::{Constraint, ConstraintKind, Deferral, TypeKind};
use frazil_types::LogicalType;
use serde_json::Value as Json;

impl Manifest {
    /// The version that its bytes are of.
    pub(crate) fn version(&self) -> u32 {
        let has_changes = self.tables.iter().any(|table| table.behind.is_some())
            || self.unread.iter().any(|table| !table.json()["behind"].is_null());
        if self.published.is_some() {
            return PUBLISHED;
        }
        if !self.access.is_initial() {
            return WITH_ROLES;
        }
        if self.has_materialized_views() {
            return WITH_MATERIALIZED_VIEWS;
        }
        if self.has_hidden_columns() || self.has_open_checks() {
            return WITH_PARTIAL_INDEXES;
        }
        if self.has_deferrable_keys() || !self.comments.is_empty() {
            return WITH_COMMENTS;
        }
        let has_those = self.has_generated_columns() || self.has_numerics() || self.has_foreign_keys();
        if has_those || !self.sequences.is_empty() {
            return WITH_REFERENCES;
        }
        match (self.schemas.is_some(), has_changes) {
            (true, _) => WITH_SCHEMAS,
            (false, true) => WITH_CHANGES,
            (false, false) => VERSION,
        }
    }

    /// True if a column of a view or table, or of a chunk or a table that is not read, or a domain may hold numerics
    /// without precision.
    fn has_numerics(&self) -> bool {
        let is_numeric = |ty: LogicalType| ty.element().unwrap_or(ty).is_unscaled();
        let mut columns = self.tables.iter().flat_map(|table| {
            let entries = [&table.entry, table.entry_of_chunks()];
            entries.into_iter().flat_map(|entry| entry.stored_columns())
        });
        let mut domains = self.types.iter().filter_map(|entry| match &entry.kind {
            TypeKind::Domain(domain) => Some(domain.base),
            TypeKind::Enum(_) => None,
        });
        let mut of_views = self.views.iter().flat_map(|view| &view.schema.columns);
        columns.any(|column| is_numeric(column.ty))
            || of_views.any(|column| is_numeric(column.ty))
            || domains.any(is_numeric)
            || self
                .unread
                .iter()
                .any(|table| table.json().to_string().contains("\"numeric"))
    }

    /// True if a table has a generated column.
    fn has_generated_columns(&self) -> bool {
        let mut columns = self.tables.iter().flat_map(|table| &table.entry.schema.columns);
        let unread = self.unread.iter().map(|table| &table.json()["columns"]);
        let mut unread = unread.flat_map(|columns| columns.as_array().into_iter().flatten());
        columns.any(|column| column.is_generated())
            || unread.any(|column| !column["default"]["generated"].is_null())
    }

    /// True if a table has an index on an expression or a partial index.
    fn has_hidden_columns(&self) -> bool {
        let mut entries = (self.tables.iter()).flat_map(|table| [&table.entry, table.entry_of_chunks()]);
        entries.any(|entry| !entry.hidden.is_empty())
            || self.unread.iter().any(|table| !table.json()["hidden"].is_null())
    }

    fn has_foreign_keys(&self) -> bool {
        let is_one = |json: &Json| !json["foreign_key"].is_null();
        let has = |constraints: &Json| constraints.as_array().is_some_and(|all| all.iter().any(is_one));
        self.tables
            .iter()
            .any(|table| table.entry.foreign_keys().next().is_some())
            || self.unread.iter().any(|table| has(&table.json()["constraints"]))
    }

    /// True if a table holds the rows of a materialized view.
    fn has_materialized_views(&self) -> bool {
        let mut entries = self
            .tables
            .iter()
            .flat_map(|table| [&table.entry, table.entry_of_chunks()]);
        entries.any(|entry| entry.materialized.is_some())
            || self
                .unread
                .iter()
                .any(|table| !table.json()["materialized"].is_null())
    }

    /// True if a check of a table or domain is NOT VALID.
    fn has_open_checks(&self) -> bool {
        let is_open = |constraint: &Constraint| match constraint.kind {
            ConstraintKind::Check { is_valid, .. } => !is_valid,
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::ForeignKey(_) => false,
        };
        let mut constraints = self.tables.iter().flat_map(|table| {
            let entries = [&table.entry, table.entry_of_chunks()];
            entries.into_iter().flat_map(|entry| &entry.constraints)
        });
        let domains = self.types.iter().filter_map(|entry| entry.as_domain());
        let has_one = |json: &Json| {
            let constraints = json["constraints"].as_array();
            constraints.is_some_and(|all| all.iter().any(|one| !one["not_valid"].is_null()))
        };
        constraints.any(is_open)
            || domains
                .into_iter()
                .flat_map(|domain| &domain.checks)
                .any(|check| !check.is_valid)
            || self.unread.iter().any(|table| has_one(table.json()))
    }

    fn has_deferrable_keys(&self) -> bool {
        let mut indexes = self.tables.iter().flat_map(|table| {
            let entries = [&table.entry, table.entry_of_chunks()];
            entries.into_iter().flat_map(|entry| &entry.indexes)
        });
        let has_one = |json: &Json| {
            let indexes = json["indexes"].as_array();
            indexes.is_some_and(|all| all.iter().any(|index| !index["deferral"].is_null()))
        };
        indexes.any(|index| index.deferral != Deferral::Never)
            || self.unread.iter().any(|table| has_one(table.json()))
    }
}
