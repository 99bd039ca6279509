//! sqlparser's tree → plan, by PostgreSQL's rules for names and types. A file a clause.
//!
//! [`Binder`] holds what a statement needs; [`scope`] what its queries see of each other. An expression is bound to
//! an [`Operand`](frazil_functions::Operand), whose type may still be open; [`frazil_functions::Typing`] knows the
//! types. A query is bound in PostgreSQL's order: FROM, the select list, WHERE, HAVING, ORDER BY, GROUP BY; only then
//! is it known what is grouped, and [`grouping`] replaces what groups and aggregates make.

mod absent_objects;
mod aggregate_call;
mod alter;
mod alter_table;
mod alter_type;
mod arrays;
mod assignments;
mod column_name;
mod column_uses;
mod columns_read;
mod comment_on;
mod common_tables;
mod computed;
mod conflict_target;
mod constraints;
mod copy;
mod create_index;
mod create_table;
mod cte;
mod deferral;
mod delete;
mod dependents;
mod describe;
mod distinct;
mod domain;
mod execute;
mod expression;
mod file_table;
mod file_types;
mod finish;
mod foreign_keys;
mod from;
mod function;
mod generated_columns;
mod grants;
mod grouping;
mod grouping_call;
mod grouping_sets;
mod insert;
mod join;
mod json_records;
mod levels;
mod limit;
mod list_limits;
mod lock_table;
mod locking;
mod locking_clauses;
mod named_arguments;
mod names;
mod naming;
mod nesting;
mod on_conflict;
mod operator_class;
mod order_by;
mod origins;
mod query;
mod record_comparison;
mod recursion;
mod refuse;
mod reindex;
mod relation;
mod relation_call;
mod rename;
mod renames;
mod returning;
mod rights;
mod roles;
mod row_value;
mod rows;
mod rows_calls;
mod rows_function;
mod sample;
mod schemas;
mod scope;
mod search_cycle;
mod select;
mod select_list;
mod sequences;
mod set_operation;
mod statement_rights;
mod stored_expression;
mod subquery;
mod system_columns;
mod table_like;
mod target;
mod told_apart;
mod type_call;
mod typed_literals;
mod update;
mod user_types;
mod values;
mod variadic;
mod view;
mod walk;
mod whole_row;
mod whole_statement;
mod window;
mod windows;
mod with_ties;
mod writing_with;
mod written;

pub(crate) use absent_objects::absent_objects;
pub(crate) use alter_table::{alter_constraint, alter_table};
pub(crate) use column_uses::TableUses;
pub(crate) use columns_read::columns_read;
pub(crate) use comment_on::comment_on;
pub(crate) use copy::{copy_from, leave_generated_out, refuse_remote};
pub(crate) use create_index::create_index;
pub(crate) use create_table::create_table;
pub(crate) use delete::delete;
pub(crate) use describe::{describe, describe_columns, tables};
pub(crate) use domain::{alter_domain, create_domain};
pub(crate) use execute::execute_values;
pub(crate) use finish::finished;
pub(crate) use generated_columns::{generated_query, stored_expressions};
pub(crate) use grants::access;
pub(crate) use insert::{column_position, insert};
pub(crate) use lock_table::lock_table;
pub(crate) use naming::{find_table, find_unused_table, fold, missing_relation};
pub(crate) use nesting::Nesting;
pub(crate) use refuse::unsupported_statement;
pub(crate) use reindex::{advise, reindex};
pub(crate) use relation::{OutputColumn, Relation};
pub(crate) use renames::rename;
pub(crate) use schemas::{create_schema, drop_schemas, set_schema};
pub(crate) use sequences::{alter_identity, sequence};
pub(crate) use statement_rights::permitted;
pub(crate) use target::default_query;
pub(crate) use update::{fill_hidden, update};
pub(crate) use user_types::{alter_type, create_type, drop_types};
pub(crate) use view::{create_view, refresh, rows_of_view};
pub use writing_with::{MOST_WRITES, RETURNED_ID};

use crate::limits::Limits;
use crate::parse::{Overriding, Place, WrittenLike, WrittenOptions};
use crate::system_columns::SystemColumns;
use crate::{CatalogView, PlanSettings, TableEntry};
use column_name::ColumnNames;
use column_uses::ColumnUses;
use common_tables::{Cte, PendingWrite};
use frazil_catalog::{ColumnSequence, QualifiedName, RoleId, SearchPath, WrittenName};
use frazil_functions::Typing;
use frazil_plan::{ColumnId, Columns, Operator};
use frazil_types::{Error, LogicalType, ObjectId, Result, Span, SqlState, session_settings};
use locking_clauses::Locking;
use naming::error;
use nesting::Names;
use rights::NeededRights;
use scope::{Item, Level, Reference};
use sqlparser::ast::{Ident, ObjectName, Query, SelectItem};
use std::collections::HashMap;
use std::rc::Rc;

/// Binds one statement.
pub(crate) struct Binder<'a> {
    pub catalog: &'a dyn CatalogView,
    pub settings: PlanSettings,
    pub place: &'a Place,
    /// Whether every relation gets a column that tells its rows from those an outer join makes: `count(t.*)`.
    pub counts_rows: bool,
    /// The system columns that the statement names.
    pub system_columns: SystemColumns,
    /// True if the statement has a GROUP BY, which tells two names of one column apart.
    pub groups: bool,
    /// Whether `$1` may stand in it.
    pub takes_parameters: bool,
    /// Where the expressions of a definition stand in the statement.
    pub definitions: &'a [Span],
    /// The options of identity columns that were not bound yet.
    pub identities: &'a [WrittenOptions],
    /// LIKE among the columns of CREATE TABLE, in order.
    pub likes: &'a [WrittenLike],
    /// OVERRIDING … VALUE.
    pub overriding: Option<Overriding>,
    /// The sequence of the column that was defined last, if it owns one.
    column_sequence: Option<ColumnSequence>,
    /// True if a function was called whose result another statement may not give for the same arguments.
    calls_stable: bool,
    pub columns: Columns,
    pub typing: Typing,
    /// The queries around the one being bound, outermost first, itself last.
    levels: Vec<Level>,
    /// The depth of the query in whose FROM a column stands, by column.
    owners: Vec<u32>,
    /// The domain of each column whose values are of one.
    domains: HashMap<ColumnId, ObjectId>,
    /// Names and types of the fields of each column of row values, as far as they are known.
    row_fields: HashMap<ColumnId, Rc<[(&'static str, LogicalType)]>>,
    /// What was named so far, but what stands inside an aggregate of its own query.
    references: Vec<Reference>,
    ctes: Vec<Cte<'a>>,
    /// Number of recursive queries bound so far.
    recursions: usize,
    /// WITH queries that write.
    writes: Vec<PendingWrite>,
    /// Whether the next WITH is that of the statement, whose queries may write.
    pub may_write: bool,
    shared: Vec<Operator>,
    /// The locking clauses of the SELECT that is bound next, and then the tables that it locks.
    locking: Locking,
    /// The relations of the SELECT that was bound last, which its LIMIT must not read.
    read: Vec<Item>,
    names: Names<'a>,
    /// The path along which names are found: the session's, or that of texts which the catalog keeps.
    path: SearchPath,
    /// The places of names of types that the path found outside of `public`, and the names with their schemas: texts
    /// that the catalog keeps need them.
    type_names: Vec<(Span, String)>,
    /// The role whose rights the queries need.
    reader: RoleId,
    /// The rights that they need.
    rights: NeededRights,
    /// True for the text of an expression that the catalog keeps.
    is_stored: bool,
    /// What of tables is read, if that is noted.
    uses: Option<ColumnUses>,
    column_names: ColumnNames<'a>,
    /// An item of a subquery's select list that gives the columns of a relation if it is the relation's row.
    row_item: Option<&'a SelectItem>,
    nesting: &'a Nesting,
}

impl<'a> Binder<'a> {
    pub fn new(
        catalog: &'a dyn CatalogView,
        settings: PlanSettings,
        place: &'a Place,
        parameters: &[Option<LogicalType>],
        nesting: &'a Nesting,
    ) -> Binder<'a> {
        Binder {
            catalog,
            settings,
            place,
            counts_rows: nesting.marks_rows(),
            system_columns: SystemColumns::default(),
            groups: false,
            takes_parameters: true,
            definitions: &[],
            identities: &[],
            likes: &[],
            overriding: None,
            column_sequence: None,
            calls_stable: false,
            columns: Columns::in_zone(settings.zone),
            typing: Typing::in_zone(parameters, settings.zone),
            levels: Vec::new(),
            owners: Vec::new(),
            domains: HashMap::new(),
            row_fields: HashMap::new(),
            references: Vec::new(),
            ctes: Vec::new(),
            recursions: 0,
            writes: Vec::new(),
            may_write: false,
            shared: Vec::new(),
            locking: Locking::default(),
            read: Vec::new(),
            names: Names::Catalog,
            reader: catalog.user().current,
            rights: NeededRights::default(),
            is_stored: false,
            uses: None,
            path: catalog.path().clone(),
            type_names: Vec::new(),
            column_names: ColumnNames::default(),
            row_item: None,
            nesting,
        }
    }

    /// What the statement keeps to.
    pub fn limits(&self) -> &Limits {
        &self.nesting.limits
    }

    /// The text of the statement from `range` of its bytes, in which types that are not in `public` have their schemas:
    /// the same wherever it is read.
    fn kept_text(&self, range: std::ops::Range<usize>) -> Option<String> {
        let mut text = self.place.text().get(range.clone())?.to_string();
        let mut names: Vec<&(Span, String)> = self.type_names.iter().collect();
        names.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        names.dedup();
        for (span, name) in names {
            let (start, end) = (span.start as usize, span.end as usize);
            if range.start <= start && end <= range.end {
                text.replace_range(start - range.start..end - range.start, name);
            }
        }
        Some(text)
    }

    /// Binds a query that is a statement.
    pub fn top_query(&mut self, query: &'a Query) -> Result<Relation> {
        self.query(query)
    }

    fn span(&self, ident: &Ident) -> Span {
        self.place.span(ident.span)
    }

    /// The span of a dotted name.
    fn name_span(&self, name: &ObjectName) -> Span {
        let parts = name.0.iter().filter_map(|p| p.as_ident());
        parts.fold(Span::NONE, |span, part| span.to(self.span(part)))
    }

    /// The table that a name names; 42P01, 42809.
    pub fn table(&self, name: &ObjectName) -> Result<TableEntry> {
        let span = self.name_span(name);
        let written = self.written_name(name)?;
        find_table(self.catalog, &written).map_err(|e| e.at_span(span))
    }

    /// The identity of a table of the catalog; 42P01, 42809.
    pub fn own_table(&self, name: &ObjectName) -> Result<ObjectId> {
        let span = self.name_span(name);
        let written = self.written_name(name)?;
        naming::find_own_table(self.catalog, &written).map_err(|e| e.at_span(span))
    }

    /// The table whose rows a statement changes; 42P01, 0A000 for a view, 42809 for a materialized one.
    pub fn table_to_change(&self, name: &ObjectName, what: &str) -> Result<TableEntry> {
        let entry = self.table(name).map_err(|e| match e.state() {
            SqlState::WRONG_OBJECT_TYPE if self.is_sequence(name) => {
                let message = format!("cannot change sequence \"{name}\"");
                error(SqlState::WRONG_OBJECT_TYPE, message, e.span())
            }
            SqlState::WRONG_OBJECT_TYPE => Error::unsupported(format!("{what} view {name}"))
                .with_hint("change the rows of the tables that it reads")
                .at_span(e.span()),
            _ => e,
        })?;
        match entry.materialized {
            Some(_) => {
                let message = format!("cannot change materialized view \"{}\"", entry.name);
                Err(error(SqlState::WRONG_OBJECT_TYPE, message, self.name_span(name)))
            }
            None => Ok(entry),
        }
    }

    /// A name as it is written, folded. 42601 for a reserved word, 0A000 for a name of another database, 42501 for a
    /// schema without USAGE.
    pub fn written_name(&self, name: &ObjectName) -> Result<WrittenName> {
        let written = self.name_as_written(name)?;
        self.check_schema(&written)?;
        Ok(written)
    }

    /// [`Binder::written_name`], without asking for the right to its schema.
    fn name_as_written(&self, name: &ObjectName) -> Result<WrittenName> {
        let parts: Option<Vec<&Ident>> = name.0.iter().map(|p| p.as_ident()).collect();
        match parts.as_deref() {
            Some([name]) => {
                self.not_reserved(name)?;
                Ok(WrittenName::unqualified(fold(name)))
            }
            Some([schema, name]) => Ok(WrittenName {
                schema: Some(fold(schema)),
                name: fold(name),
            }),
            Some([database, schema, name]) if fold(database) == session_settings::database() => {
                Ok(WrittenName {
                    schema: Some(fold(schema)),
                    name: fold(name),
                })
            }
            _ => {
                let message = format!("cross-database references are not implemented: \"{name}\"");
                let error = Error::new(SqlState::FEATURE_NOT_SUPPORTED, message);
                Err(error.at_span(self.name_span(name)))
            }
        }
    }

    /// Binds with all rights: for a statement that asks for them when it runs.
    pub fn with_all_rights(&mut self) {
        self.reader = RoleId::SUPERUSER;
    }

    /// The name of something that is to be created. 3F000.
    pub fn name_to_create(&self, name: &ObjectName) -> Result<QualifiedName> {
        let written = self.written_name(name)?;
        naming::to_create(self.catalog, &written).map_err(|e| e.at_span(self.name_span(name)))
    }

    /// The name of a table, view or index that is to be dropped.
    pub fn name_to_drop(&self, name: &ObjectName) -> Result<QualifiedName> {
        Ok(naming::to_drop(self.catalog, &self.written_name(name)?))
    }

    /// 42601 for an unquoted word that PostgreSQL reserves.
    fn not_reserved(&self, ident: &Ident) -> Result<()> {
        if ident.quote_style.is_none() && frazil_catalog::is_reserved(&ident.value) {
            return Err(self.syntax_error(&ident.value, self.span(ident)));
        }
        // sqlparser takes a string for an alias.
        if ident.quote_style == Some('\'') {
            let text = format!("'{}'", ident.value);
            return Err(self.syntax_error(&text, self.span(ident)));
        }
        Ok(())
    }

    fn syntax_error(&self, near: &str, span: Span) -> Error {
        let message = format!("syntax error at or near \"{near}\"");
        Error::new(SqlState::SYNTAX_ERROR, message).at_span(span)
    }
}
