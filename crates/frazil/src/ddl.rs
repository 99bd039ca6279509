//! CREATE, ALTER and DROP of schemas, tables, views, indexes and types, TRUNCATE, FREEZE TABLE.

use crate::access_statement::{self, adopting};
use crate::alter_domain;
use crate::alter_table::alter_table;
use crate::bundle::Bundle;
use crate::definition_notices;
use crate::materialized_view;
use crate::notice::Notice;
use crate::own_queries::fill_hidden;
use crate::query::{self, Runner};
use crate::row_checks::{self, RowChecks};
use crate::rows::{Response, counted, done, noted};
use crate::system_tables;
use crate::used_tables::UsedTables;
use frazil_catalog::{
    AlterAction, AlterSequence, ColumnSequence, CopiedComments, DropBehavior, NewConstraint, NewIndex,
    NewSequence, NewTable, NewView, OnCommit, QualifiedName, RelationKind, TableOptions,
};
use frazil_frontend::Definition;
use frazil_plan::Plan;
use frazil_storage::{TableMode, Transaction};
use frazil_types::{Error, ObjectId, Result, Schema, Value};
use std::sync::Arc;
use std::time::Instant;

/// Runs a definition, whose objects belong to the current role.
pub fn run(
    runner: &Runner,
    transaction: &mut Transaction,
    definition: Definition,
    started: Instant,
) -> Result<Response> {
    let mut notices = definition_notices::of(transaction.view().catalog(), &definition)?;
    let (tag, rows) = adopting(runner, transaction, |transaction| {
        define(runner, transaction, definition, &mut notices)
    })?;
    let response = match rows {
        Some(rows) => counted(tag, rows, started),
        None => done(tag, started),
    };
    Ok(Response { notices, ..response })
}

/// Runs a definition. Returns the command's tag, and the number of rows that CREATE MATERIALIZED VIEW computed. Adds
/// the notices of roles and privileges.
fn define(
    runner: &Runner,
    transaction: &mut Transaction,
    definition: Definition,
    notices: &mut Vec<Notice>,
) -> Result<(&'static str, Option<u64>)> {
    let mut rows = None;
    let tag = match definition {
        Definition::Access(change) => access_statement::run(runner, transaction, *change, notices)?,
        Definition::AlterOptions { table, options } => {
            alter_options(transaction, table, &options)?;
            "ALTER TABLE"
        }
        Definition::AlterTable { table, actions, .. } => {
            table.map_or(Ok(()), |table| alter_table(runner, transaction, table, actions))?;
            "ALTER TABLE"
        }
        Definition::CommentOn(new) => transaction.set_comment(&new).map(|()| "COMMENT")?,
        Definition::CreateSchema(new) => transaction.create_schema(&new).map(|()| "CREATE SCHEMA")?,
        Definition::DropSchemas { drop, columns } => {
            drop_columns(runner, transaction, columns)?;
            drop_unused(runner, transaction, |t| t.drop_schemas(&drop))?;
            "DROP SCHEMA"
        }
        Definition::CreateSequence(new) => create_sequence(transaction, &new)?,
        Definition::AlterSequence(altered) => alter_sequence(transaction, altered)?,
        Definition::CreateView(view) => create_view(transaction, view).map(|()| "CREATE VIEW")?,
        Definition::CreateMaterialized { view, has_data } => {
            rows = materialized_view::create(runner, transaction, view, has_data)?;
            "CREATE MATERIALIZED VIEW"
        }
        Definition::Refresh { table, has_data } => {
            materialized_view::refresh(runner, transaction, table, has_data)
                .map(|_| "REFRESH MATERIALIZED VIEW")?
        }
        Definition::CreateIndex(new) => create_index(runner, transaction, new).map(|()| "CREATE INDEX")?,
        Definition::DropIndexes(drop) => transaction.drop_indexes(&drop).map(|()| "DROP INDEX")?,
        Definition::CreateType { name, labels } => {
            transaction.create_type(&name, &labels).map(|()| "CREATE TYPE")?
        }
        Definition::AlterType { id, action, tag } => {
            alter_domain::check_rows(runner, transaction, id, &action)?;
            transaction.alter_type(id, &action).map(|()| tag)?
        }
        Definition::Rename { renamed, tag } => {
            let renamed = renamed.map_or(Ok(()), |renamed| transaction.rename(&renamed));
            renamed.map(|()| tag)?
        }
        Definition::CreateDomain { name, domain } => {
            transaction.create_domain(&name, domain)?;
            "CREATE DOMAIN"
        }
        Definition::DropTypes { drop, columns } => {
            drop_columns(runner, transaction, columns)?;
            transaction.drop_types(&drop)?;
            ["DROP TYPE", "DROP DOMAIN"][usize::from(drop.only_domains)]
        }
        Definition::Truncate {
            tables,
            restarts,
            behavior,
        } => truncate(runner, transaction, &tables, (restarts, behavior))?,
        Definition::Drop(drop) => {
            drop_unused(runner, transaction, |t| t.drop_relations(&drop))?;
            drop_tag(drop.kind)
        }
    };
    Ok((tag, rows))
}

/// The tag of DROP of relations of a kind.
fn drop_tag(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Table => "DROP TABLE",
        RelationKind::View => "DROP VIEW",
        RelationKind::MaterializedView => "DROP MATERIALIZED VIEW",
        RelationKind::Sequence => "DROP SEQUENCE",
    }
}

/// Drops tables and what depends on them. 55006 if the session uses one, once it is known that the rest may go.
fn drop_unused(
    runner: &Runner,
    transaction: &mut Transaction,
    drop: impl FnOnce(&mut Transaction) -> Result<()>,
) -> Result<()> {
    let used = UsedTables::of(&runner.cursors(), Some(transaction));
    let before = transaction.view().catalog().clone();
    drop(transaction)?;
    used.refuse_gone(&before, transaction.view().catalog())
}

/// CREATE SEQUENCE.
fn create_sequence(transaction: &mut Transaction, new: &NewSequence) -> Result<&'static str> {
    system_tables::refuse_name(&new.name.name)?;
    transaction.create_sequence(new)?;
    Ok("CREATE SEQUENCE")
}

/// ALTER SEQUENCE.
fn alter_sequence(
    transaction: &mut Transaction,
    altered: Option<(ObjectId, AlterSequence)>,
) -> Result<&'static str> {
    if let Some((id, action)) = altered {
        transaction.alter_sequence(id, &action)?;
    }
    Ok("ALTER SEQUENCE")
}

/// Drops the columns of tables that go with types.
fn drop_columns(
    runner: &Runner,
    transaction: &mut Transaction,
    columns: Vec<(ObjectId, Vec<AlterAction>)>,
) -> Result<()> {
    let mut columns = columns.into_iter();
    columns.try_for_each(|(table, actions)| alter_table(runner, transaction, table, actions))
}

/// The table that CREATE TABLE makes.
pub struct Create<'a> {
    /// Its name.
    pub name: &'a QualifiedName,
    /// Its columns.
    pub schema: Schema,
    /// Whether a table of that name may be there already.
    pub if_not_exists: bool,
    /// ON COMMIT, if it is temporary.
    pub on_commit: OnCommit,
    /// Its keys and checks.
    pub constraints: Vec<NewConstraint>,
    /// The sequences that its columns own.
    pub sequences: Vec<ColumnSequence>,
    /// Its indexes without constraints, which do not know the table.
    pub indexes: Vec<NewIndex>,
    /// The comments that LIKE copies.
    pub comments: Vec<CopiedComments>,
    /// WITH (name = value, …).
    pub options: &'a [(String, Value)],
}

/// CREATE TABLE, also AS a query.
pub fn create_table(
    runner: &Runner,
    transaction: &mut Transaction,
    create: Create<'_>,
    as_query: Option<Plan>,
    bundle: Bundle,
) -> Result<Response> {
    let started = bundle.started;
    if create.if_not_exists && transaction.view().catalog().has_relation(create.name) {
        let tag = ["CREATE TABLE", "CREATE TABLE AS"][usize::from(as_query.is_some())];
        let notice = definition_notices::existing_relation(&create.name.name);
        return Ok(noted(tag, Some(notice), started));
    }
    system_tables::refuse_name(&create.name.name)?;
    let options = set_options(TableOptions::default(), &create.schema, create.options)?;
    let entry = transaction.create(NewTable {
        name: create.name.clone(),
        schema: Arc::new(create.schema),
        options,
        constraints: create.constraints,
    })?;
    if create.on_commit != OnCommit::default() {
        transaction.set_on_commit(entry.id, create.on_commit)?;
    }
    for sequence in create.sequences {
        transaction.alter_table(entry.id, AlterAction::AddSequence(sequence), runner.cancel())?;
    }
    for index in create.indexes {
        let table = entry.id;
        transaction.create_index(NewIndex { table, ..index }, runner.cancel())?;
    }
    for copied in &create.comments {
        let entry = transaction.view().table(entry.id)?.table().entry().clone();
        transaction.copy_comments(&entry, copied)?;
    }
    let Some(plan) = as_query else {
        return Ok(done("CREATE TABLE", started));
    };
    // Columns of domains bring checks with them.
    let checks = RowChecks::of(runner, transaction.snapshot(), &entry)?;
    let rows = query::rows(runner, plan, bundle)?;
    let mut count = 0;
    for batch in rows.batches() {
        count += row_checks::insert(transaction, entry.id, batch, checks.as_ref())?;
    }
    Ok(counted("CREATE TABLE AS", count, started))
}

/// CREATE INDEX.
fn create_index(runner: &Runner, transaction: &mut Transaction, new: NewIndex) -> Result<()> {
    if let Some(name) = &new.name {
        system_tables::refuse_name(name)?;
    }
    let used = UsedTables::of(&runner.cursors(), Some(transaction));
    used.refuse(transaction.view().catalog(), new.table, "CREATE INDEX")?;
    transaction.lock_whole(new.table, TableMode::Share)?;
    runner.progress().enter("indexing");
    let Some(new) = with_hidden_columns(runner, transaction, new)? else {
        return Ok(());
    };
    transaction.create_index(new, runner.cancel()).map(drop)
}

/// Adds the hidden columns of an index to its table, and computes their values. Returns what is left to be created;
/// `None` if there is an index of the name, and may be. Until the transaction commits, other sessions see the table as
/// it was.
fn with_hidden_columns(
    runner: &Runner,
    transaction: &mut Transaction,
    mut new: NewIndex,
) -> Result<Option<NewIndex>> {
    if new.hidden.is_empty() || transaction.view().table(new.table)?.rows() == 0 {
        return Ok(Some(new));
    }
    // Names are checked before rows are computed.
    let Some((_, _, index)) = transaction.view().catalog().create_index(new.clone())? else {
        return Ok(None);
    };
    // Rows get other ids: nobody may hold locks on them meanwhile.
    transaction.lock_whole(new.table, TableMode::Exclusive)?;
    let entry = transaction.view().table(new.table)?.table().entry().clone();
    let first = entry.stored_columns().count();
    transaction.add_hidden_columns(new.table, std::mem::take(&mut new.hidden))?;
    new.name = Some(index.name.clone());
    new.keys.clone_from(&index.keys);
    new.condition = index.condition;
    fill_hidden(runner, transaction, &entry, first, index.condition)?;
    Ok(Some(new))
}

/// TRUNCATE, with CASCADE also of the tables whose foreign keys refer to one of these; `restarts`: RESTART IDENTITY.
fn truncate(
    runner: &Runner,
    transaction: &mut Transaction,
    tables: &[ObjectId],
    (restarts, behavior): (bool, DropBehavior),
) -> Result<&'static str> {
    let used = UsedTables::of(&runner.cursors(), Some(transaction));
    let catalog = transaction.view().catalog();
    let refuse_used = |tables: &[ObjectId]| {
        tables
            .iter()
            .try_for_each(|table| used.refuse(catalog, *table, "TRUNCATE"))
    };
    refuse_used(tables)?;
    let cascades = behavior == DropBehavior::Cascade;
    let tables = catalog.tables_to_truncate(tables, cascades)?;
    refuse_used(&tables)?;
    transaction.guard_statement();
    for table in &tables {
        transaction.truncate(*table)?;
    }
    if restarts {
        transaction.restart_owned(&tables)?;
    }
    Ok("TRUNCATE TABLE")
}

/// The options of a table with some of them set.
fn set_options(mut options: TableOptions, schema: &Schema, set: &[(String, Value)]) -> Result<TableOptions> {
    for (name, value) in set {
        options.set(schema, name, value)?;
    }
    Ok(options)
}

/// ALTER TABLE … SET (…).
fn alter_options(transaction: &mut Transaction, table: ObjectId, set: &[(String, Value)]) -> Result<()> {
    let entry = transaction.view().table(table)?.table().entry().clone();
    let options = set_options(entry.options.clone(), &entry.schema, set)?;
    transaction.set_options(table, options)
}

/// CREATE VIEW.
fn create_view(transaction: &mut Transaction, view: NewView) -> Result<()> {
    system_tables::refuse_name(&view.name.name)?;
    refuse_frame(&view, "a view")?;
    transaction.create_view(view)
}

/// 0A000 for a view that reads a frame, which is gone when the view is read.
pub(crate) fn refuse_frame(view: &NewView, what: &str) -> Result<()> {
    let mut reads = view.reads.iter();
    match reads.find(|r| r.id.is_none() && !system_tables::is_one(&r.name)) {
        Some(frame) => {
            let message = format!("a frame in {what}: \"{}\"", frame.name);
            let hint = "load it: CREATE TABLE t AS SELECT * FROM the frame";
            Err(Error::unsupported(message).with_hint(hint))
        }
        None => Ok(()),
    }
}

/// FREEZE TABLE. Returns the number of blocks that were built.
pub fn freeze(
    runner: &Runner,
    transaction: &mut Transaction,
    table: ObjectId,
    order_by: Option<usize>,
) -> Result<u64> {
    UsedTables::put_off(transaction).refuse(transaction.view().catalog(), table, "FREEZE TABLE")?;
    transaction.lock_whole(table, TableMode::Exclusive)?;
    runner.progress().enter("freezing");
    let options = transaction.snapshot().table(table)?.build_options();
    let report = transaction.freeze_table(table, order_by, options, runner.cancel())?;
    Ok(report.blocks)
}
