//! Statements against a catalog: names resolved, types final, plans made.

use crate::bind_drop::{
    drop_behavior, drop_indexes, drop_relations, refuse_drop_options, refuse_materialized,
};
use crate::binder::{
    self, Binder, Nesting, TableUses, alter_domain, alter_identity, alter_table, alter_type, copy_from,
    create_domain, create_index, create_table, create_type, create_view, delete, describe, describe_columns,
    drop_schemas, drop_types, find_table, find_unused_table, finished, insert, leave_generated_out,
    missing_relation, refuse_remote, rename, sequence, set_schema, tables, update,
};
use crate::binder::{column_position, unsupported_statement};
use crate::bound::{Bound, PlanSettings};
use crate::copy::{CopiedTable, CopyEnd, CopyOptions};
use crate::deep_stack::{Deep, SHALLOW, on_deep_stack};
use crate::limits::Limits;
use crate::parse::{Maintain, ParsedKind, ParsedStatement, ViewHead, parse};
use crate::statement::{CursorOptions, CursorStatement, Explained, Prepared, Writing};
use crate::summary;
use crate::{CatalogView, Definition, ExplainMode, ExplainOptions, Statement, TableEntry, catalog_view};
use frazil_catalog::{
    AlterAction, ConstraintKind, DropBehavior, DropTypes, RelationKind, ViewEntry, WrittenName,
};
use frazil_plan::ColumnId;
use frazil_types::{ColumnDef, Error, LogicalType, ObjectId, Result, SqlState};
use sqlparser::ast::{DataType, ObjectType, Query, SetExpr, Statement as Ast};

/// Binds a statement. `parameter_types` are those the client gave, by position. Errors have the position in the
/// statement's text.
pub fn bind(
    parsed: &ParsedStatement,
    catalog: &dyn CatalogView,
    settings: &PlanSettings,
    parameter_types: &[Option<LogicalType>],
) -> Result<Bound> {
    let bound = in_context(parsed, catalog, settings, parameter_types, |context| {
        context.bind(parsed)
    });
    bound.map(|(bound, depth)| Bound { depth, ..bound })
}

/// The positions of the columns of a table, by its identity in plans, that the query of a view reads itself.
fn columns_read(
    view: &ViewEntry,
    table: ObjectId,
    catalog: &dyn CatalogView,
    limits: &Limits,
) -> Result<TableUses> {
    let parsed = parse(&view.query, limits)?;
    let query = match &parsed[..] {
        [parsed] => parsed.query().map(|query| (parsed, query)),
        _ => None,
    };
    let (parsed, query) = query.ok_or_else(|| Error::internal("the text of a view is not one query"))?;
    in_context(parsed, catalog, &PlanSettings::default(), &[], |context| {
        binder::columns_read(context.binder(parsed), view, query, table)
    })
    .map(|(read, _)| read)
}

/// Binds in a context for a statement, on a stack that has room for it and its views. Returns with what was bound the
/// depth of that stack.
pub(crate) fn in_context<T>(
    parsed: &ParsedStatement,
    catalog: &dyn CatalogView,
    settings: &PlanSettings,
    parameter_types: &[Option<LogicalType>],
    bind: impl Fn(&Context<'_>) -> Result<T>,
) -> Result<(T, usize)> {
    in_context_asking(parsed, (catalog, settings, parameter_types), true, bind)
}

/// The catalog, settings and types of parameters that a statement is bound with.
type Given<'a> = (&'a dyn CatalogView, &'a PlanSettings, &'a [Option<LogicalType>]);

/// Binds as [`in_context`] does; `asks_rights`: the current role must have the rights that the statement needs.
fn in_context_asking<T>(
    parsed: &ParsedStatement,
    (catalog, settings, parameter_types): Given<'_>,
    asks_rights: bool,
    bind: impl Fn(&Context<'_>) -> Result<T>,
) -> Result<(T, usize)> {
    let depth = parsed.depth();
    // A stack for a deep statement has room for some views, too.
    let mut room = if depth > SHALLOW { depth + SHALLOW } else { SHALLOW };
    let mut marks_rows = false;
    loop {
        let context = Context {
            catalog,
            settings: *settings,
            parameter_types,
            nesting: Nesting::new(depth, room, parsed.limits.clone()).marking_rows(marks_rows),
            asks_rights,
        };
        let bound = on_deep_stack(room, || bind(&context));
        if context.nesting.wants_marks() {
            marks_rows = true;
            continue;
        }
        match context.nesting.wanted.get() {
            0 => {
                let depth = room.max(context.nesting.plan_levels());
                return bound.map(|bound| (bound, depth));
            }
            // Bound again, with room for as much again: few times, however many views there are.
            wanted => room = 2 * wanted,
        }
    }
}

/// What binding a statement needs.
pub(crate) struct Context<'a> {
    pub catalog: &'a dyn CatalogView,
    settings: PlanSettings,
    parameter_types: &'a [Option<LogicalType>],
    nesting: Nesting,
    /// False for PREPARE: EXECUTE asks for the rights.
    asks_rights: bool,
}

impl<'a> Context<'a> {
    fn bind(&self, parsed: &ParsedStatement) -> Result<Bound> {
        let bound = self.bind_kind(parsed);
        let bound = bound.and_then(|bound| binder::permitted(self.catalog, self.asks_rights, bound));
        bound.map_err(|e| parsed.place.located(e))
    }

    pub fn binder<'s>(&'s self, parsed: &'s ParsedStatement) -> Binder<'s> {
        let mut binder = Binder::new(
            self.catalog,
            self.settings,
            &parsed.place,
            self.parameter_types,
            &self.nesting,
        );
        if !self.asks_rights {
            binder.with_all_rights();
        }
        binder.counts_rows |= parsed.counts_rows;
        binder.system_columns = parsed.system_columns();
        binder.groups = parsed.groups;
        binder.definitions = &parsed.definitions;
        binder.identities = &parsed.identities;
        binder.likes = &parsed.likes;
        binder.overriding = parsed.overriding;
        binder
    }

    fn bind_kind(&self, parsed: &ParsedStatement) -> Result<Bound> {
        Ok(Bound::plain(match &parsed.kind {
            ParsedKind::Ast(ast) => return bind_ast(self.binder(parsed), tree(ast)?),
            ParsedKind::CreateDomain(ast) | ParsedKind::AlterDomain(ast) => {
                return self.domain(parsed, ast.get());
            }
            ParsedKind::ShowTables => return tables(self.binder(parsed)),
            ParsedKind::Describe { table } => return describe(self.binder(parsed), table),
            ParsedKind::DescribeQuery { query } => return self.describe_query(parsed, query),
            ParsedKind::Summarize { query, is_query } => return self.summarize(query, *is_query),
            ParsedKind::Refresh(refresh) => return binder::refresh(self.catalog, refresh),
            ParsedKind::CreateView { head, query } => return self.create_view(parsed, head, query),
            ParsedKind::Explain { options, inner } => return self.explain(*options, inner),
            ParsedKind::CopyFrom {
                table,
                columns,
                end,
                options,
            } => copy_from(self.catalog, table, columns, end, options)?.into(),
            ParsedKind::CopyTo { source, end, options } => return self.copy_to(source, end, options),
            ParsedKind::Freeze { table, order_by } => self.freezing(table, order_by.as_deref())?.into(),
            ParsedKind::Checkpoint => Statement::Checkpoint,
            ParsedKind::Backup { directory } => Statement::backup(directory),
            ParsedKind::Publish(publish) => Statement::Publish(publish.clone()),
            ParsedKind::Begin { modes, tag } => Statement::Begin { modes: *modes, tag },
            ParsedKind::Commit { chain } => Statement::Commit { chain: *chain },
            ParsedKind::Rollback { chain } => Statement::Rollback { chain: *chain },
            ParsedKind::SetTransaction { modes } => Statement::SetTransaction { modes: *modes },
            ParsedKind::SetSessionTransaction { modes } => Statement::SetSessionTransaction { modes: *modes },
            ParsedKind::Maintain(maintain) => self.maintain(maintain)?,
            ParsedKind::Reindex(reindex) => binder::reindex(self.catalog, reindex)?,
            ParsedKind::AbsentObjects(absent) => binder::absent_objects(self.catalog, absent)?,
            ParsedKind::TableAdvice(advice) => binder::advise(self.catalog, advice)?,
            ParsedKind::Truncate {
                tables,
                restarts,
                cascade,
            } => self.truncate(tables, *restarts, *cascade)?.into(),
            ParsedKind::AlterConstraint(altered) => return binder::alter_constraint(self.catalog, altered),
            ParsedKind::Identity(altered) => return alter_identity(self.catalog, altered),
            ParsedKind::Access(written) => binder::access(self.catalog, written, &self.settings)?.into(),
            ParsedKind::CommentOn(written) => binder::comment_on(self.catalog, written),
            ParsedKind::CreateSchema(written) => binder::create_schema(self.catalog, written)?.into(),
            ParsedKind::Sequence(written) => return sequence(self.catalog, written),
            ParsedKind::SetSchema(moved) => return set_schema(self.catalog, moved),
            ParsedKind::Rename(renamed) => return rename(self.catalog, renamed),
            ParsedKind::SetConstraints(set) => Statement::SetConstraints(set.clone()),
            ParsedKind::Savepoint { name } => Statement::Savepoint { name: name.clone() },
            ParsedKind::RollbackTo { name } => Statement::RollbackTo { name: name.clone() },
            ParsedKind::Release { name } => Statement::Release { name: name.clone() },
            ParsedKind::Setting(setting) => Statement::Setting(setting.clone()),
            ParsedKind::LockTable(lock) => binder::lock_table(self.catalog, lock)?,
            ParsedKind::Notification(notification) => Statement::Notification(notification.clone()),
            ParsedKind::Prepare {
                name,
                types,
                types_at,
                inner,
            } => self.prepare(parsed, name, (types, *types_at), inner)?,
            ParsedKind::Execute { name, values } => Prepared::Execute {
                name: name.clone(),
                values: values.as_deref().cloned(),
            }
            .into(),
            ParsedKind::Deallocate { name } => Prepared::Deallocate { name: name.clone() }.into(),
            ParsedKind::Declare { name, options, query } => return self.declare(name, *options, query),
            ParsedKind::Cursor(statement) => Statement::Cursor(statement.clone()),
        }))
    }

    /// FREEZE TABLE.
    fn freezing(&self, table: &WrittenName, order_by: Option<&str>) -> Result<Writing> {
        let (entry, order_by) = self.freeze(table, order_by)?;
        let table = self.own(&entry, table)?;
        Ok(Writing::Freeze { table, order_by })
    }

    fn create_view(
        &self,
        parsed: &ParsedStatement,
        head: &ViewHead,
        query: &ParsedStatement,
    ) -> Result<Bound> {
        let mut binder = self.binder(parsed);
        binder.counts_rows |= query.counts_rows;
        binder.system_columns = binder.system_columns.and(query.system_columns());
        binder.groups = query.groups;
        create_view(binder, head, query)
    }

    /// CREATE DOMAIN and ALTER DOMAIN, which are read as statements on a table of one column.
    fn domain(&self, parsed: &ParsedStatement, ast: Option<&Ast>) -> Result<Bound> {
        match ast {
            Some(Ast::CreateTable(create)) => create_domain(self.binder(parsed), create),
            Some(Ast::AlterTable(alter)) => alter_domain(self.binder(parsed), alter),
            _ => Err(Error::internal("a domain that was not read as a table")),
        }
    }

    fn describe_query(&self, parsed: &ParsedStatement, query: &ParsedStatement) -> Result<Bound> {
        let columns = self.columns_of(query, "DESCRIBE")?;
        describe_columns(self.binder(parsed), &columns)
    }

    /// VACUUM and ANALYZE.
    fn maintain(&self, maintain: &Maintain) -> Result<Statement> {
        self.check_maintained(maintain)?;
        Ok(match maintain.is_vacuum {
            true => Statement::Alone {
                what: "VACUUM",
                tag: "VACUUM",
            },
            false => Statement::checked("ANALYZE"),
        })
    }

    fn truncate(&self, tables: &[WrittenName], restarts: bool, cascade: bool) -> Result<Definition> {
        let find = |name: &WrittenName| {
            refuse_materialized(self.catalog, name)?;
            find_unused_table(self.catalog, name, "TRUNCATE")
        };
        let tables = tables.iter().map(find);
        Ok(Definition::Truncate {
            tables: tables.collect::<Result<_>>()?,
            restarts,
            behavior: drop_behavior(cascade),
        })
    }

    /// The columns of a query's result.
    fn columns_of(&self, query: &ParsedStatement, what: &str) -> Result<Vec<ColumnDef>> {
        let bound = self.bind(query)?;
        let Statement::Query(plan) = &bound.statement else {
            let what = format!("{what} of anything but a table, a view, a query or files");
            return Err(Error::unsupported(what));
        };
        let column = |(name, id): &(String, ColumnId)| {
            let known = &plan.columns[*id];
            ColumnDef {
                nullable: known.nullable,
                ..ColumnDef::new(name, known.ty)
            }
        };
        Ok(plan.output.iter().map(column).collect())
    }

    /// SUMMARIZE is a query over the one that it summarizes.
    fn summarize(&self, query: &ParsedStatement, is_query: bool) -> Result<Bound> {
        let columns = self.columns_of(query, "SUMMARIZE")?;
        let text = summary::query(&query.text, is_query, &columns);
        match &parse(&text, &query.limits)?[..] {
            [summary] => self.bind_kind(summary),
            _ => Err(Error::internal("a summary that is not one statement")),
        }
    }

    /// PREPARE of a statement, whose parameters have the types that stand at a position of the text.
    fn prepare(
        &self,
        parsed: &ParsedStatement,
        name: &str,
        (types, at): (&[Option<DataType>], usize),
        inner: &ParsedStatement,
    ) -> Result<Statement> {
        let mut binder = self.binder(parsed);
        let mut given = Vec::with_capacity(types.len());
        for ty in types {
            let ty = ty.as_ref().map(|ty| binder.parameter_type(ty)).transpose();
            given.push(ty.map_err(|e| e.at_position(at))?);
        }
        let given_types = (self.catalog, &self.settings, &given[..]);
        let (bound, _) = in_context_asking(inner, given_types, false, |context| context.bind(inner))?;
        let prepare = Prepared::Prepare {
            name: name.to_string(),
            types: bound.parameters,
            typed_by_text: types.iter().all(Option::is_none),
            statement: inner.clone(),
        };
        Ok(prepare.into())
    }

    fn explain(&self, options: ExplainOptions, inner: &ParsedStatement) -> Result<Bound> {
        if let ParsedKind::Freeze { table, order_by } = &inner.kind
            && options.mode == ExplainMode::Plan
        {
            let (entry, order_by) = self.freeze(table, order_by.as_deref())?;
            return Ok(Bound::plain(Statement::ExplainFreeze {
                table: entry.id,
                order_by,
                analyze: options.analyze,
            }));
        }
        let bound = self.bind(inner)?;
        let statement = Explained::of(bound.statement).ok_or_else(|| {
            Error::unsupported("EXPLAIN of anything but a query, INSERT, UPDATE, DELETE, EXECUTE or FREEZE")
        })?;
        Ok(Bound {
            statement: Statement::Explain { options, statement },
            ..bound
        })
    }

    /// 42P01, 42703 and 42809 for what VACUUM or ANALYZE names and there is not.
    fn check_maintained(&self, maintain: &Maintain) -> Result<()> {
        for (table, columns) in &maintain.tables {
            let entry = find_table(self.catalog, table)?;
            for column in columns {
                column_position(&entry, column)?;
            }
        }
        Ok(())
    }

    fn copy_to(
        &self,
        (query, table): &(ParsedStatement, Option<CopiedTable>),
        end: &CopyEnd,
        options: &CopyOptions,
    ) -> Result<Bound> {
        refuse_remote(end)?;
        let mut bound = self.bind(query)?;
        if let Some((table, _)) = table {
            refuse_copy_of_materialized(self.catalog, table)?;
        }
        if let (Some((table, columns)), Statement::Query(plan)) = (table, &mut bound.statement) {
            leave_generated_out(self.catalog, table, columns, &mut plan.output)?;
        }
        let Statement::Query(plan) = bound.statement else {
            return Err(Error::unsupported("COPY of anything but a table or a query"));
        };
        let statement = Statement::CopyTo {
            plan,
            target: end.clone(),
            options: options.clone(),
        };
        Ok(Bound { statement, ..bound })
    }

    fn declare(&self, name: &str, options: CursorOptions, query: &ParsedStatement) -> Result<Bound> {
        let bound = self.bind(query)?;
        if matches!(bound.statement, Statement::Writing(Writing::Write(_))) {
            return Err(Error::unsupported("FOR UPDATE or FOR SHARE in DECLARE CURSOR"));
        }
        let Statement::Query(plan) = bound.statement else {
            let message = "DECLARE CURSOR must not contain data-modifying statements in WITH";
            return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        let name = name.to_owned();
        let plan = Box::new(plan);
        let statement = CursorStatement::Declare { name, options, plan }.into();
        Ok(Bound { statement, ..bound })
    }

    /// The identity in the catalog of a table that was found. 42P01 for a table of the system.
    fn own(&self, entry: &TableEntry, written: &WrittenName) -> Result<ObjectId> {
        let id = self.catalog.catalog_id(entry.id);
        id.ok_or_else(|| missing_relation(self.catalog, written))
    }

    /// A table to be frozen, and the position of the column to sort it by.
    fn freeze(&self, table: &WrittenName, order_by: Option<&str>) -> Result<(TableEntry, Option<usize>)> {
        let entry = find_table(self.catalog, table)?;
        let order_by = order_by.map(|c| column_position(&entry, c)).transpose()?;
        Ok((entry, order_by))
    }
}

/// Binds a query, or a statement that writes behind WITH.
fn bind_query<'a>(mut binder: Binder<'a>, query: &'a Query) -> Result<Bound> {
    if let SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) = &*query.body {
        if let Some(with) = &query.with {
            binder.may_write = true;
            binder.with(with)?;
        }
        return bind_ast(binder, inner);
    }
    binder.may_write = true;
    let relation = binder.top_query(query)?;
    finished(binder, relation.op, relation.columns, Statement::Query)
}

/// The tree of a statement that sqlparser read.
fn tree(ast: &Deep<Ast>) -> Result<&Ast> {
    ast.get()
        .ok_or_else(|| Error::internal("a statement without a tree"))
}

fn bind_ast<'a>(binder: Binder<'a>, ast: &'a Ast) -> Result<Bound> {
    match ast {
        Ast::Query(query) => bind_query(binder, query),
        Ast::Insert(statement) => insert(binder, statement),
        Ast::Update(statement) => update(binder, statement),
        Ast::Delete(statement) => delete(binder, statement),
        Ast::CreateTable(create) => create_table(binder, create),
        Ast::AlterTable(statement) => {
            let (catalog, limits) = (binder.catalog, binder.limits().clone());
            with_readers(alter_table(binder, statement)?, catalog, &limits)
        }
        Ast::Drop { .. } => bind_drop(binder, ast),
        Ast::CreateIndex(create) => create_index(binder, create),
        Ast::CreateType { name, representation } => create_type(&binder, name, representation.as_ref()),
        Ast::AlterType(statement) => alter_type(&binder, statement),
        Ast::DropDomain(drop) => {
            let of = DropTypes {
                names: Vec::new(),
                only_domains: true,
                if_exists: drop.if_exists,
                behavior: drop_behavior(drop.drop_behavior == Some(sqlparser::ast::DropBehavior::Cascade)),
                path: binder.catalog.path().clone(),
            };
            let (catalog, limits) = (binder.catalog, binder.limits().clone());
            let bound = drop_types(&binder, std::slice::from_ref(&drop.name), of)?;
            with_columns(bound, catalog, &limits)
        }
        other => Err(unsupported_statement(other)),
    }
}

/// 42809 for COPY of a materialized view to a file or client.
fn refuse_copy_of_materialized(catalog: &dyn CatalogView, written: &WrittenName) -> Result<()> {
    match find_table(catalog, written) {
        Ok(table) if table.materialized.is_some() => {
            let message = format!("cannot copy from materialized view \"{}\"", written.name);
            let hint = "Try the COPY (SELECT ...) TO variant.";
            Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message).with_hint(hint))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Binds a DROP of tables, views, schemas, indexes or types. 0A000 for other objects.
fn bind_drop<'a>(binder: Binder<'a>, ast: &'a Ast) -> Result<Bound> {
    match ast {
        Ast::Drop {
            object_type: ObjectType::Table,
            ..
        } => drop_relations(&binder, ast, RelationKind::Table),
        Ast::Drop {
            object_type: ObjectType::View,
            ..
        } => drop_relations(&binder, ast, RelationKind::View),
        Ast::Drop {
            object_type: ObjectType::Sequence,
            ..
        } => drop_relations(&binder, ast, RelationKind::Sequence),
        Ast::Drop {
            object_type: ObjectType::Schema,
            names,
            if_exists,
            cascade,
            ..
        } => {
            refuse_drop_options(ast)?;
            let (catalog, limits) = (binder.catalog, binder.limits().clone());
            let drop = drop_schemas(&binder, names, *if_exists, drop_behavior(*cascade))?;
            let columns = match drop.behavior {
                DropBehavior::Restrict => Vec::new(),
                DropBehavior::Cascade => columns_of_schemas(&drop.names, catalog, &limits)?,
            };
            Ok(Bound::plain(Definition::DropSchemas { drop, columns }))
        }
        Ast::Drop {
            object_type: ObjectType::Index,
            names,
            if_exists,
            ..
        } => drop_indexes(&binder, ast, names, *if_exists),
        Ast::Drop {
            object_type: ObjectType::Type,
            names,
            if_exists,
            cascade,
            ..
        } => {
            refuse_drop_options(ast)?;
            let of = DropTypes {
                names: Vec::new(),
                only_domains: false,
                if_exists: *if_exists,
                behavior: drop_behavior(*cascade),
                path: binder.catalog.path().clone(),
            };
            let (catalog, limits) = (binder.catalog, binder.limits().clone());
            with_columns(drop_types(&binder, names, of)?, catalog, &limits)
        }
        Ast::Drop {
            object_type: ObjectType::MaterializedView,
            ..
        } => drop_relations(&binder, ast, RelationKind::MaterializedView),
        other => Err(unsupported_statement(other)),
    }
}

/// DROP TYPE … CASCADE with the columns of tables that go with the types, and the views that read these.
fn with_columns(mut bound: Bound, catalog: &dyn CatalogView, limits: &Limits) -> Result<Bound> {
    let Statement::Writing(Writing::Define(Definition::DropTypes { drop, columns })) = &mut bound.statement
    else {
        return Ok(bound);
    };
    if drop.behavior == DropBehavior::Restrict {
        return Ok(bound);
    }
    let types = (drop.names.iter()).filter_map(|name| catalog.user_type(name));
    let types: Vec<ObjectId> = types.map(|entry| entry.id).collect();
    let is_gone = |ty: ObjectId| types.contains(&ty);
    *columns = columns_of_types(&is_gone, |_| true, catalog, limits)?;
    Ok(bound)
}

/// The columns that go with some schemas: those of other schemas' tables, of types in these.
fn columns_of_schemas(
    schemas: &[String],
    catalog: &dyn CatalogView,
    limits: &Limits,
) -> Result<Vec<(ObjectId, Vec<AlterAction>)>> {
    let is_gone = |ty: ObjectId| {
        catalog
            .type_schema(ty)
            .is_some_and(|schema| schemas.contains(&schema))
    };
    columns_of_types(
        &is_gone,
        |schema| !schemas.contains(&schema.to_string()),
        catalog,
        limits,
    )
}

/// The columns of types that go, in the tables of schemas that stay, with the views that read them.
fn columns_of_types(
    is_gone: &dyn Fn(ObjectId) -> bool,
    stays: impl Fn(&str) -> bool,
    catalog: &dyn CatalogView,
    limits: &Limits,
) -> Result<Vec<(ObjectId, Vec<AlterAction>)>> {
    let is_of_them = |column: &ColumnDef| {
        let e = column.ty.enumeration_within().map(|e| ObjectId(e.id()));
        column.domain_id().or(e).is_some_and(is_gone) || e.is_some_and(is_gone)
    };
    let mut columns = Vec::new();
    for name in catalog
        .own_relation_names()
        .iter()
        .filter(|name| stays(&name.schema))
    {
        let Some(catalog_view::Relation::Table(table)) = catalog.relation(name) else {
            continue;
        };
        let mut gone: Vec<usize> = (table.schema.columns.iter().enumerate())
            .filter_map(|(at, column)| is_of_them(column).then_some(at))
            .collect();
        // Positions of those before do not move.
        gone.reverse();
        let drop = |column| AlterAction::DropColumn {
            column,
            behavior: DropBehavior::Cascade,
            readers: Vec::new(),
            path: catalog.path().clone(),
            is_dependent: false,
        };
        if !gone.is_empty() {
            let mut actions = gone.into_iter().map(drop).collect();
            find_readers(&table, &mut actions, catalog, limits)?;
            columns.push((table.id, actions));
        }
    }
    Ok(columns)
}

/// ALTER TABLE with the views that read the columns, or need the primary key, which it drops.
fn with_readers(mut bound: Bound, catalog: &dyn CatalogView, limits: &Limits) -> Result<Bound> {
    let Statement::Writing(Writing::Define(Definition::AlterTable {
        table: Some(table),
        actions,
        ..
    })) = &mut bound.statement
    else {
        return Ok(bound);
    };
    if let Some(catalog_view::Relation::Table(table)) = catalog.relation_of(*table) {
        find_readers(&table, actions, catalog, limits)?;
    }
    Ok(bound)
}

/// Gives the actions that drop columns or the primary key of a table, or change a type, the views that need these.
fn find_readers(
    table: &TableEntry,
    actions: &mut Vec<AlterAction>,
    catalog: &dyn CatalogView,
    limits: &Limits,
) -> Result<()> {
    // Positions of the columns that are left, as they were before the first action: nothing comes before columns are
    // dropped.
    let mut left: Vec<usize> = (0..table.schema.columns.len()).collect();
    for action in actions {
        // The position of a column that is dropped; `None` if the primary key is.
        let (dropped, readers) = match action {
            AlterAction::DropColumn { column, readers, .. } => (Some(left.remove(*column)), readers),
            AlterAction::SetType(set) => (Some(left[set.column]), &mut set.readers),
            AlterAction::DropConstraint { name, readers, .. } if is_primary_key(table, name) => {
                (None, readers)
            }
            AlterAction::DropConstraint { .. }
            | AlterAction::AddColumn { .. }
            | AlterAction::ReplaceColumn(_)
            | AlterAction::AddConstraint(_)
            | AlterAction::SetNotNull { .. }
            | AlterAction::DropNotNull { .. }
            | AlterAction::SetDefault { .. }
            | AlterAction::DropDefault { .. }
            | AlterAction::AddSequence(_)
            | AlterAction::SetIdentity { .. }
            | AlterAction::DropIdentity { .. }
            | AlterAction::DropExpression { .. }
            | AlterAction::RenameTable { .. }
            | AlterAction::SetSchema { .. }
            | AlterAction::RenameColumn { .. }
            | AlterAction::ValidateConstraint { .. }
            | AlterAction::SetDeferral { .. }
            | AlterAction::FillColumn { .. }
            | AlterAction::RenameConstraint { .. } => continue,
        };
        let needs_it = |uses: TableUses| match dropped {
            Some(column) => uses.columns.contains(&column),
            None => uses.needs_key,
        };
        for name in catalog.own_relation_names() {
            let view = match catalog.relation(&name) {
                Some(catalog_view::Relation::View(view)) => view,
                Some(catalog_view::Relation::Table(table)) => match table.materialized {
                    Some((view, _)) => view,
                    None => continue,
                },
                None => continue,
            };
            let id = catalog.catalog_id(table.id);
            if view.reads.iter().any(|reading| reading.id == id)
                && needs_it(columns_read(&view, table.id, catalog, limits)?)
            {
                readers.push(view.id);
            }
        }
    }
    Ok(())
}

fn is_primary_key(table: &TableEntry, constraint: &str) -> bool {
    let named = table.constraints.iter().find(|c| c.name == constraint);
    named.is_some_and(|c| matches!(c.kind, ConstraintKind::PrimaryKey { .. }))
}
