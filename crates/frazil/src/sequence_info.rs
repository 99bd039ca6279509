//! Sequences, as the shell and other tools see them.

use crate::table_info::{TableInfo, shown};
use frazil_catalog::{Catalog, Position, SequenceEntry, identifier, is_temporary_schema};
use frazil_types::ColumnDefault;

/// A sequence of the database.
#[derive(Clone, Debug)]
pub struct SequenceInfo {
    /// The name of its schema.
    pub namespace: String,
    /// Name of the sequence.
    pub name: String,
    /// The column that owns it: the table as SQL text, the column's name, and true for an identity column.
    pub owner: Option<(String, String, bool)>,
    /// Options of the sequence as SQL: `as integer increment by 2 …`.
    options: String,
    /// Position of the sequence.
    position: Position,
}

impl SequenceInfo {
    /// True if it is in a session's schema of temporary objects.
    pub fn is_temporary(&self) -> bool {
        is_temporary_schema(&self.namespace)
    }

    /// Describes a sequence of the catalog.
    pub(crate) fn of(sequence: &SequenceEntry, catalog: &Catalog) -> SequenceInfo {
        let owner = sequence.owner.and_then(|owner| {
            let table = catalog.table_by_id(owner.table)?;
            let mut columns = table.schema.columns.iter();
            let column = columns.find(|column| column.number == owner.column)?;
            let namespace = catalog.qualified(table.namespace, "").schema;
            Some((
                shown(&namespace, &table.name),
                column.name.clone(),
                owner.is_identity,
            ))
        });
        SequenceInfo {
            namespace: catalog.qualified(sequence.namespace, "").schema,
            name: sequence.name.clone(),
            owner,
            options: format!("as {} {}", sequence.definition.ty, options(sequence)),
            position: sequence.state.shown().0,
        }
    }

    /// The name as SQL text: quoted where necessary, and with its schema unless that is `public`.
    pub fn sql_name(&self) -> String {
        shown(&self.namespace, &self.name)
    }

    /// True if a column of a table owns it, or a default of the table names it.
    pub fn is_used_by(&self, table: &TableInfo) -> bool {
        let name = table.sql_name();
        let named = format!("'{}'::regclass", self.sql_name().replace('\'', "''"));
        let mut defaults = table
            .schema
            .columns
            .iter()
            .filter_map(|c| c.default.as_ref()?.expression());
        self.owner.as_ref().is_some_and(|owner| owner.0 == name) || defaults.any(|text| text.contains(&named))
    }

    /// The CREATE SEQUENCE statement; `None` for the sequence of an identity column, which CREATE TABLE makes.
    pub fn ddl(&self) -> Option<String> {
        match &self.owner {
            Some((_, _, true)) => None,
            Some((_, _, false)) | None => {
                Some(format!("create sequence {} {};", self.sql_name(), self.options))
            }
        }
    }

    /// The ALTER SEQUENCE statement that says which column owns it; `None` if none does, or CREATE TABLE says so.
    pub fn owner_ddl(&self) -> Option<String> {
        match &self.owner {
            Some((table, column, false)) => Some(format!(
                "alter sequence {} owned by {table}.{};",
                self.sql_name(),
                identifier(column)
            )),
            Some((_, _, true)) | None => None,
        }
    }

    /// The statement that lets it go on where it stands.
    pub fn position_ddl(&self) -> String {
        let Position { value, is_called } = self.position;
        let name = self.sql_name().replace('\'', "''");
        format!("select setval('{name}', {value}, {is_called});")
    }
}

/// The options of a sequence as SQL, all but its type.
fn options(sequence: &SequenceEntry) -> String {
    let of = &sequence.definition;
    let cycle = if of.cycle { " cycle" } else { "" };
    format!(
        "increment by {} minvalue {} maxvalue {} start with {} cache {}{cycle}",
        of.increment, of.min, of.max, of.start, of.cache
    )
}

/// The clause of a column whose values the system makes, as SQL; `None` for another column.
pub(crate) fn generated_clause(default: &ColumnDefault, catalog: &Catalog) -> Option<String> {
    match default {
        ColumnDefault::Value(_) | ColumnDefault::Expression(_) => None,
        ColumnDefault::Generated { text, .. } => Some(format!("generated always as ({text}\n) stored")),
        ColumnDefault::Identity { sequence, always } => {
            let when = if *always { "always" } else { "by default" };
            let options = catalog.sequence_of(*sequence).map(|sequence| {
                let namespace = catalog.qualified(sequence.namespace, "").schema;
                let name = shown(&namespace, &sequence.name);
                format!(" (sequence name {name} {})", options(sequence))
            });
            Some(format!(
                "generated {when} as identity{}",
                options.unwrap_or_default()
            ))
        }
    }
}
