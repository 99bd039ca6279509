//! Views: CREATE VIEW, and a view that a query reads.
//!
//! Where a view is read, its text is bound again by a binder of its own, which sees nothing of the query around it and
//! gives its expressions no place in that query's text. The names of relations in the text mean what the view recorded
//! when it was created ([`Reading`]). While a view is being created the views that it reads are not entered: their
//! columns are recorded, so that a chain of views is made in linear time.

use super::nesting::Names;
use super::rows::Computed;
use super::{Binder, OutputColumn, Relation, error, finished, missing_relation, naming};
use crate::deep_stack::on_deep_stack;
use crate::parse::{ParsedStatement, Refresh, ViewHead, parse};
use crate::{Bound, CatalogView, Definition, Statement, TableEntry, catalog_view};
use frazil_catalog::{
    Guarded, IndexEntry, IndexKey, NewView, PUBLIC, PUBLIC_ALIAS, QualifiedName, Reading, SearchPath,
    ViewEntry, WrittenName,
};
use frazil_functions::CastContext;
use frazil_plan::operators::Scan;
use frazil_plan::{Expr, Operator};
use frazil_types::{ColumnDef, Error, ObjectId, Result, Schema, Span, SqlState, Zone};
use sqlparser::ast::ObjectName;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Binds CREATE VIEW.
pub(crate) fn create_view<'a>(
    mut binder: Binder<'a>,
    head: &ViewHead,
    query: &'a ParsedStatement,
) -> Result<Bound> {
    let behind = binder.place.text().len() - head.tail - query.text.len();
    let Some(query) = query.query() else {
        return Err(Error::internal("a view without a query"));
    };
    binder.names = Names::Noted(Vec::new());
    binder.takes_parameters = false;
    let relation = binder.top_query(query)?;
    if head.columns.len() > relation.columns.len() {
        let message = "CREATE VIEW specifies more column names than columns";
        let (_, span) = head.columns[relation.columns.len()];
        return Err(error(SqlState::SYNTAX_ERROR, message, binder.place.span(span)));
    }
    let last = relation.columns.last().map_or(Span::NONE, |c| c.span);
    super::list_limits::columns(relation.columns.len(), last)?;
    let mut columns: Vec<ColumnDef> = Vec::with_capacity(relation.columns.len());
    for (at, column) in relation.columns.into_iter().enumerate() {
        let (name, span) = match head.columns.get(at) {
            Some((name, span)) => (name.clone(), binder.place.span(*span)),
            None => (column.name, column.span),
        };
        if columns.iter().any(|c| c.name == name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(error(SqlState::DUPLICATE_COLUMN, message, span));
        }
        columns.push(ColumnDef::new(name, binder.columns[column.id].ty));
    }
    let text = binder.kept_text(behind..binder.place.text().len() - head.tail);
    let Names::Noted(reads) = binder.names else {
        return Err(Error::internal("what a view reads was not noted"));
    };
    // A view of temporary tables is temporary, too.
    let reads_temporary = reads
        .iter()
        .any(|read| read.id.is_some_and(ObjectId::is_temporary));
    if reads_temporary && head.has_data.is_some() {
        let message = "materialized views must not use temporary tables or views";
        return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, Span::NONE));
    }
    let name = match head.is_temporary || reads_temporary {
        true => naming::to_create_temporary(binder.catalog, &head.name)?,
        false => naming::to_create(binder.catalog, &head.name)?,
    };
    if head.has_data.is_some() {
        columns
            .iter_mut()
            .for_each(|column| column.ty = column.ty.in_zone(Zone::UTC));
    }
    let view = NewView {
        name,
        existing: head.existing,
        schema: Schema::new(columns),
        query: text.ok_or_else(|| Error::internal("a view whose text is not that of its statement"))?,
        reads,
    };
    Ok(Bound::plain(match head.has_data {
        None => Definition::CreateView(view),
        Some(has_data) => Definition::CreateMaterialized { view, has_data },
    }))
}

/// Binds REFRESH MATERIALIZED VIEW. 42P01, 42809 for a view and 0A000 for a table; 42601 for CONCURRENTLY WITH NO DATA,
/// and for CONCURRENTLY 55000 without a unique index and 0A000 without rows.
pub(crate) fn refresh(catalog: &dyn CatalogView, refresh: &Refresh) -> Result<Bound> {
    let found = naming::find_relation(catalog, catalog.path(), &refresh.name);
    let (name, relation) = found.ok_or_else(|| missing_relation(catalog, &refresh.name))?;
    let catalog_view::Relation::Table(table) = &relation else {
        let message = format!("\"{}\" is not a table or materialized view", name.name);
        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
    };
    let Some((_, is_populated)) = &table.materialized else {
        let message = format!("\"{}\" is not a materialized view", name.name);
        return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    };
    if refresh.is_concurrent && !refresh.has_data {
        let message = "REFRESH options CONCURRENTLY and WITH NO DATA cannot be used together";
        return Err(Error::new(SqlState::SYNTAX_ERROR, message));
    }
    if refresh.is_concurrent && !is_populated {
        let message = "CONCURRENTLY cannot be used when the materialized view is not populated";
        return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let is_column = |key: &IndexKey| key.column < table.schema.columns.len();
    let is_whole = |index: &Arc<IndexEntry>| {
        index.unique && index.condition.is_none() && index.keys.iter().all(is_column)
    };
    if refresh.is_concurrent && !table.indexes.iter().any(is_whole) {
        let message = format!("cannot refresh materialized view \"{name}\" concurrently");
        return Err(Error::new(SqlState::NOT_IN_STATE, message).with_hint(
            "Create a unique index with no WHERE clause on one or more columns of the materialized view.",
        ));
    }
    Ok(Bound::plain(Definition::Refresh {
        table: table.id,
        has_data: refresh.has_data,
    }))
}

/// Binds the query of a view: its rows under the names and types of the view's columns.
pub(crate) fn rows_of_view<'a>(mut binder: Binder<'a>, view: &'a ViewEntry) -> Result<Bound> {
    binder.takes_parameters = false;
    let relation = binder.view(view)?;
    finished(binder, relation.op, relation.columns, Statement::Query)
}

impl<'a> Binder<'a> {
    /// The rows of the table or view that a name in FROM names, and its name. 42P01.
    pub(super) fn read(&mut self, name: &ObjectName) -> Result<(Relation, QualifiedName)> {
        let span = self.name_span(name);
        let written = self.written_name(name)?;
        let (name, relation, columns) = self.find(&written).map_err(|e| e.at_span(span))?;
        let (id, schema) = match relation {
            catalog_view::Relation::Table(table) => {
                self.refuse_unpopulated(&table)?;
                let names = columns.unwrap_or_else(|| names_of(&table.schema));
                let relation = self.scan(table.id, &name.name, names, &table.schema);
                self.originate(table.oid, &table.schema, &relation.columns);
                self.note_key(&table, relation.columns.iter().map(|c| c.id).collect());
                self.note_read(table.id, &table.name, &relation.columns)?;
                return Ok((relation, name));
            }
            catalog_view::Relation::View(view) => match self.names {
                Names::Noted(_) => (ObjectId(0), view.schema.clone()),
                Names::Catalog | Names::View(_) => {
                    let mut relation = self.view(&view)?;
                    if let Some(names) = columns {
                        relation.columns.truncate(names.len());
                        for (column, name) in relation.columns.iter_mut().zip(names) {
                            column.name = name;
                        }
                    }
                    self.note_read(view.id, &view.name, &relation.columns)?;
                    return Ok((relation, name));
                }
            },
        };
        let names = columns.unwrap_or_else(|| names_of(&schema));
        Ok((self.scan(id, &name.name, names, &schema), name))
    }

    /// 55000 for a materialized view without rows, unless a view is being defined.
    fn refuse_unpopulated(&self, table: &TableEntry) -> Result<()> {
        let is_defining = matches!(self.names, Names::Noted(_)) || self.uses.is_some();
        if is_defining || !matches!(table.materialized, Some((_, false))) {
            return Ok(());
        }
        let message = format!("materialized view \"{}\" has not been populated", table.name);
        Err(Error::new(SqlState::NOT_IN_STATE, message)
            .with_hint("Use the REFRESH MATERIALIZED VIEW command."))
    }

    /// The relation of a name with the name by which the query sees it, and the names of the columns that are seen of
    /// it, if not all are.
    pub(super) fn find(
        &mut self,
        written: &WrittenName,
    ) -> Result<(QualifiedName, catalog_view::Relation, Option<Vec<String>>)> {
        if let Names::View(view) = self.names
            && let Some((reading, relation)) = self.recorded(view, written)
        {
            let schema = reading.name.schema.as_deref().unwrap_or(PUBLIC);
            let name = QualifiedName::new(naming::schema_name(self.catalog, schema), &written.name);
            return Ok((name, relation, Some(reading.columns.clone())));
        }
        let found = naming::find_relation(self.catalog, &self.path, written);
        let (name, relation) = found.ok_or_else(|| missing_relation(self.catalog, written))?;
        naming::refuse_of_others(self.catalog, &name)?;
        if let Names::Noted(reads) = &mut self.names
            && !reads.iter().any(|r| r.name == *written)
        {
            let (id, schema) = match &relation {
                catalog_view::Relation::Table(table) => (self.catalog.catalog_id(table.id), &*table.schema),
                catalog_view::Relation::View(view) => (Some(view.id), &*view.schema),
            };
            reads.push(Reading {
                name: written.clone(),
                id,
                columns: schema.columns.iter().map(|c| c.name.clone()).collect(),
            });
        }
        Ok((name, relation, None))
    }

    /// The relation that the query of a view has under a name, as recorded when the view was created. Views of older
    /// directories recorded names without the schema.
    fn recorded<'v>(
        &self,
        view: &'v ViewEntry,
        written: &WrittenName,
    ) -> Option<(&'v Reading, catalog_view::Relation)> {
        let found = |reading: &'v Reading| Some((reading, self.catalog.read_by(reading)?));
        let mut exact = view.reads.iter().filter(|r| r.name == *written);
        let without_schema = |r: &&Reading| r.name.schema.is_none() && r.name.name == written.name;
        exact.find_map(found).or_else(|| {
            let schema = written
                .schema
                .as_deref()
                .filter(|s| [PUBLIC, PUBLIC_ALIAS].contains(s));
            schema.and_then(|_| view.reads.iter().filter(without_schema).find_map(found))
        })
    }

    /// The rows of a table, whose first columns are seen under these names.
    pub(super) fn scan(
        &mut self,
        table: ObjectId,
        name: &str,
        names: Vec<String>,
        schema: &Schema,
    ) -> Relation {
        let mut columns = Vec::with_capacity(names.len());
        let mut read = Vec::with_capacity(names.len());
        for (position, (name, column)) in names.into_iter().zip(&schema.columns).enumerate() {
            let id = self.columns.add(name.as_str(), column.ty, column.nullable);
            read.push((id, position));
            self.domains.extend(column.domain_id().map(|domain| (id, domain)));
            columns.push(OutputColumn::new(name, id));
        }
        self.note_scan(table, &columns);
        let op = Operator::Scan(Scan {
            table,
            name: name.to_string(),
            columns: read,
            row_id: None,
            restrictions: Vec::new(),
            disjunctions: Vec::new(),
            places: Vec::new(),
        });
        Relation { op, columns }
    }

    /// The rows of a view. Errors name it.
    fn view(&mut self, view: &ViewEntry) -> Result<Relation> {
        let named = |e: Error| match e.detail() {
            // The innermost view is named.
            Some(_) => e,
            None => e.with_detail(format!("it comes from the query of view \"{}\"", view.name)),
        };
        let parsed = parse(&view.query, &self.nesting.limits).map_err(named)?;
        let [parsed] = &parsed[..] else {
            return Err(named(Error::internal("the text of a view is not one query")));
        };
        self.nesting.enter(parsed.depth()).map_err(named)?;
        on_deep_stack(parsed.depth(), || self.view_query(view, parsed)).map_err(named)
    }

    fn view_query(&mut self, view: &ViewEntry, parsed: &ParsedStatement) -> Result<Relation> {
        let Some(query) = parsed.query() else {
            return Err(Error::internal("the text of a view is not a query"));
        };
        let place = parsed.place.of_view();
        let mut inner = Binder::new(self.catalog, self.settings, &place, &[], self.nesting);
        inner.counts_rows |= parsed.counts_rows;
        inner.system_columns = parsed.system_columns();
        inner.groups = parsed.groups;
        inner.takes_parameters = false;
        inner.names = Names::View(view);
        inner.path = SearchPath::public();
        inner.reader = self.catalog.guard().owner_of(Guarded::Object(view.id));
        inner.locking.from_above = self.locking.from_above;
        self.exchange(&mut inner);
        let bound = inner.top_query(query).and_then(|r| inner.as_created(r, view));
        self.exchange(&mut inner);
        self.put_off_refusal(inner.check_rights().err());
        bound
    }

    /// Exchanges what all queries of a statement share.
    pub(super) fn exchange(&mut self, other: &mut Binder<'_>) {
        std::mem::swap(&mut self.columns, &mut other.columns);
        std::mem::swap(&mut self.typing, &mut other.typing);
        std::mem::swap(&mut self.owners, &mut other.owners);
        std::mem::swap(&mut self.domains, &mut other.domains);
        std::mem::swap(&mut self.row_fields, &mut other.row_fields);
        std::mem::swap(&mut self.shared, &mut other.shared);
        std::mem::swap(&mut self.writes, &mut other.writes);
    }

    /// The rows of a view's query under the names and types that the view had when it was created.
    fn as_created(&mut self, relation: Relation, view: &ViewEntry) -> Result<Relation> {
        let declared = &view.schema.columns;
        if relation.columns.len() != declared.len() {
            return Err(Error::internal(format!(
                "the query has {} columns, the view {}",
                relation.columns.len(),
                declared.len()
            )));
        }
        let mut computed = Computed::default();
        let mut columns = Vec::with_capacity(declared.len());
        let mut shown = BTreeSet::new();
        for (given, declared) in relation.columns.into_iter().zip(declared) {
            let mut id = given.id;
            if self.columns[id].ty != declared.ty.in_zone(self.settings.zone).with_all_digits() {
                let value = Expr::column(id, &self.columns).into();
                let cast = self
                    .typing
                    .cast(value, declared.ty, CastContext::Explicit, Span::NONE)?;
                id = self.as_column(cast, &declared.name, &mut computed);
            }
            if !shown.insert(id) {
                // Two columns of the view have an origin each.
                id = self.copied(id, &mut computed);
            }
            columns.push(OutputColumn::new(declared.name.clone(), id));
        }
        self.originate(Some(view.id.oid()), &view.schema, &columns);
        Ok(Relation::new(computed.above(relation.op), columns))
    }
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.columns.iter().map(|c| c.name.clone()).collect()
}
