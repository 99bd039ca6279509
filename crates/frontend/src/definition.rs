//! Bound statements that change the catalog.

use crate::AccessChange;
use frazil_catalog::{
    AlterAction, AlterSequence, AlterType, Domain, DropBehavior, DropIndexes, DropRelations, DropSchemas,
    DropTypes, NewComment, NewIndex, NewSchema, NewSequence, NewView, QualifiedName, RenameObject,
    is_temporary_schema,
};
use frazil_types::{ObjectId, SqlState, Value};

/// CREATE, ALTER and DROP of what the catalog has, but for the tables that CREATE TABLE fills; TRUNCATE.
#[derive(Clone, Debug)]
pub enum Definition {
    /// Roles, owners and privileges.
    Access(Box<AccessChange>),
    /// ALTER TABLE … SET (name = value, …); DEFAULT is NULL.
    AlterOptions {
        /// The table.
        table: ObjectId,
        /// The options.
        options: Vec<(String, Value)>,
    },
    /// ALTER TABLE … with actions.
    AlterTable {
        /// The table; `None` if it need not be there and is not.
        table: Option<ObjectId>,
        /// The actions, in order.
        actions: Vec<AlterAction>,
        /// Notices of what IF EXISTS and IF NOT EXISTS left out.
        skipped: Vec<(SqlState, String)>,
    },
    /// COMMENT ON.
    CommentOn(NewComment),
    /// CREATE SCHEMA.
    CreateSchema(NewSchema),
    /// DROP SCHEMA.
    DropSchemas {
        /// The objects that it drops.
        drop: DropSchemas,
        /// Tables with the columns that CASCADE drops: of types in the schemas.
        columns: Vec<(ObjectId, Vec<AlterAction>)>,
    },
    /// CREATE VIEW.
    CreateView(NewView),
    /// CREATE MATERIALIZED VIEW.
    CreateMaterialized {
        /// The view.
        view: NewView,
        /// False for WITH NO DATA.
        has_data: bool,
    },
    /// REFRESH MATERIALIZED VIEW.
    Refresh {
        /// The table of the view's rows.
        table: ObjectId,
        /// False for WITH NO DATA.
        has_data: bool,
    },
    /// RENAME, SET SCHEMA of a view, an index or a schema.
    Rename {
        /// The object with its new name; `None` if the object need not exist and does not.
        renamed: Option<RenameObject>,
        /// The tag of the command.
        tag: &'static str,
    },
    /// CREATE INDEX.
    CreateIndex(NewIndex),
    /// CREATE SEQUENCE.
    CreateSequence(NewSequence),
    /// ALTER SEQUENCE; `None` if nothing is to be done.
    AlterSequence(Option<(ObjectId, AlterSequence)>),
    /// DROP TABLE, DROP VIEW, DROP SEQUENCE.
    Drop(DropRelations),
    /// DROP INDEX.
    DropIndexes(DropIndexes),
    /// CREATE TYPE … AS ENUM.
    CreateType {
        /// Its name.
        name: QualifiedName,
        /// Its labels in order.
        labels: Vec<String>,
    },
    /// ALTER TYPE.
    AlterType {
        /// The type.
        id: ObjectId,
        /// The action.
        action: AlterType,
        /// The tag of the command.
        tag: &'static str,
    },
    /// CREATE DOMAIN.
    CreateDomain {
        /// Its name.
        name: QualifiedName,
        /// Its base type, default and checks.
        domain: Domain,
    },
    /// DROP TYPE, DROP DOMAIN.
    DropTypes {
        /// The objects that it drops.
        drop: DropTypes,
        /// Tables with the columns that CASCADE drops.
        columns: Vec<(ObjectId, Vec<AlterAction>)>,
    },
    /// TRUNCATE.
    Truncate {
        /// The tables.
        tables: Vec<ObjectId>,
        /// RESTART IDENTITY: the sequences that their columns own begin again.
        restarts: bool,
        /// CASCADE also empties tables whose foreign keys refer to one of them.
        behavior: DropBehavior,
    },
}

impl Definition {
    /// ALTER TABLE IF EXISTS of a relation that there is not.
    pub(crate) fn skipped_alter(name: &str) -> Definition {
        let notice = format!("relation \"{name}\" does not exist, skipping");
        Definition::AlterTable {
            table: None,
            actions: Vec::new(),
            skipped: vec![(SqlState::SUCCESSFUL_COMPLETION, notice)],
        }
    }

    /// True if the statement concerns temporary objects alone.
    pub fn is_of_temporary(&self) -> bool {
        let is_one = |name: &QualifiedName| is_temporary_schema(&name.schema);
        match self {
            Definition::AlterOptions { table, .. } => table.is_temporary(),
            Definition::AlterTable { table, .. } => table.is_some_and(ObjectId::is_temporary),
            Definition::CreateView(view) => is_one(&view.name),
            Definition::Rename { renamed, .. } => renamed.as_ref().is_some_and(|r| r.id().is_temporary()),
            Definition::CreateIndex(new) => new.table.is_temporary(),
            Definition::CreateSequence(new) => is_one(&new.name),
            Definition::AlterSequence(altered) => altered.as_ref().is_some_and(|(id, _)| id.is_temporary()),
            Definition::Drop(drop) => drop.names.iter().all(is_one),
            Definition::DropIndexes(drop) => drop.names.iter().all(is_one),
            Definition::Truncate { tables, .. } => tables.iter().all(|table| table.is_temporary()),
            Definition::Access(_)
            | Definition::CommentOn(_)
            | Definition::CreateMaterialized { .. }
            | Definition::Refresh { .. }
            | Definition::CreateSchema(_)
            | Definition::DropSchemas { .. }
            | Definition::CreateType { .. }
            | Definition::AlterType { .. }
            | Definition::CreateDomain { .. }
            | Definition::DropTypes { .. } => false,
        }
    }
}
