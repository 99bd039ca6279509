//! What the shell and other tools ask of tables, views and types.

use crate::sequence_info::generated_clause;
use crate::view_text::restated;
use frazil_catalog::{
    Catalog, Constraint, ConstraintKind, Domain, DomainCheck, ForeignKey, IndexEntry, PUBLIC, QualifiedName,
    ReferentialAction, SearchPath, TableEntry, TypeEntry, ViewEntry, identifier, is_temporary_schema,
    key_sql,
};
use frazil_types::{ColumnDef, ColumnDefault, ColumnNumber, LogicalType, ObjectId, Schema, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// A table of the database.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// The name of its schema.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// The names of the columns' types, with their schemas if these are not `public`.
    types: Vec<String>,
    /// The clause of each column whose values the system makes: an identity, or a generated column.
    generated: Vec<Option<String>>,
    /// The domain of each column that has one, by position; with its schema if that is not `public`.
    pub domains: Vec<Option<String>>,
    /// Its rows.
    pub rows: u64,
    /// Its keys and checks, in the order in which they were made.
    pub constraints: Vec<ConstraintInfo>,
    /// Its indexes, in the order in which they were made.
    pub indexes: Vec<IndexInfo>,
}

/// A key or check of a table.
#[derive(Clone, Debug)]
pub struct ConstraintInfo {
    /// Its name.
    pub name: String,
    /// The condition on rows as a dump writes it: `PRIMARY KEY (a, b)`.
    pub definition: String,
    /// `definition` with the names by which the session finds tables.
    pub shown: String,
    /// True for a check that the table has because a column is of a domain.
    pub is_of_domain: bool,
    /// True for a check or foreign key that is NOT VALID.
    is_open: bool,
    /// The name of the parent as SQL text, if the constraint is a foreign key.
    pub references: Option<String>,
}

/// An index of a table.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// Its name.
    pub name: String,
    /// Its columns and what follows them, as SQL: `(a, b DESC) INCLUDE (c)`.
    pub columns: String,
    /// Whether no two rows may have one key.
    pub is_unique: bool,
    /// The constraint that it enforces.
    pub constraint: Option<String>,
    /// ` DEFERRABLE` and ` DEFERRABLE INITIALLY DEFERRED`; empty for an index that refuses rows at once.
    pub deferral: &'static str,
}

/// A view of the database.
#[derive(Clone, Debug)]
pub struct ViewInfo {
    /// The name of its schema.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// The text of its query, as it was given.
    pub query: String,
    /// The same by the names that are today.
    restated: String,
    /// Rows and indexes of a materialized view; `None` for another view.
    pub materialized: Option<MaterializedInfo>,
}

/// Rows and indexes of a materialized view.
#[derive(Clone, Debug)]
pub struct MaterializedInfo {
    /// False before the first REFRESH.
    pub is_populated: bool,
    /// Its indexes, in the order in which they were made.
    pub indexes: Vec<IndexInfo>,
}

/// An enumeration of the database.
#[derive(Clone, Debug)]
pub struct EnumInfo {
    /// The name of its schema.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its labels in their order.
    pub labels: Vec<String>,
}

impl EnumInfo {
    /// Its name as SQL text: quoted where necessary, and with its schema unless that is `public`.
    pub fn sql_name(&self) -> String {
        shown(&self.namespace, &self.name)
    }

    /// What the catalog has of it.
    pub(crate) fn of(entry: &TypeEntry, catalog: &Catalog) -> Option<EnumInfo> {
        Some(EnumInfo {
            namespace: schema_of(entry.namespace, catalog),
            name: entry.name.clone(),
            labels: (entry.as_enumeration()?.labels().iter())
                .map(|label| label.text.clone())
                .collect(),
        })
    }

    /// Its CREATE TYPE statement.
    pub fn ddl(&self) -> String {
        let labels = self.labels.iter();
        let labels: Vec<String> = labels
            .map(|label| format!("'{}'", label.replace('\'', "''")))
            .collect();
        format!("create type {} as enum ({});", self.sql_name(), labels.join(", "))
    }
}

/// A domain of the database.
#[derive(Clone, Debug)]
pub struct DomainInfo {
    /// The name of its schema.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub base: LogicalType,
    /// The name of that type, with its schema if it is not in `public`.
    base_name: String,
    domain: Domain,
}

impl DomainInfo {
    /// Its name as SQL text: quoted where necessary, and with its schema unless that is `public`.
    pub fn sql_name(&self) -> String {
        shown(&self.namespace, &self.name)
    }

    /// What the catalog has of it.
    pub(crate) fn of(entry: &TypeEntry, domain: &Domain, catalog: &Catalog) -> DomainInfo {
        DomainInfo {
            namespace: schema_of(entry.namespace, catalog),
            base_name: type_name(domain.base, catalog),
            name: entry.name.clone(),
            base: domain.base,
            domain: domain.clone(),
        }
    }

    /// Its CREATE DOMAIN statement.
    pub fn ddl(&self) -> String {
        let mut column = ColumnDef::new("value", self.base);
        column.default.clone_from(&self.domain.default);
        let default = default_text(&column).map_or(String::new(), |text| format!(" default {text}"));
        let null = if self.domain.nullable { "" } else { " not null" };
        let checks = self
            .domain
            .checks
            .iter()
            .filter(|check| check.is_valid)
            .map(|check| {
                let (name, condition) = (identifier(&check.name), before_more(&check.expression));
                format!(" constraint {name} check ({condition})")
            });
        let name = self.sql_name();
        format!(
            "create domain {name} as {}{default}{null}{};",
            self.base_name,
            checks.collect::<String>()
        )
    }
}

impl DomainInfo {
    /// ALTER DOMAIN statements for its checks that are NOT VALID: rows of tables that were there may violate them.
    pub fn open_check_ddl(&self) -> Vec<String> {
        let open = self.domain.checks.iter().filter(|check| !check.is_valid);
        let name = self.sql_name();
        let statement = |check: &DomainCheck| {
            let (check, condition) = (identifier(&check.name), before_more(&check.expression));
            format!("alter domain {name} add constraint {check} check ({condition}) not valid;")
        };
        open.map(statement).collect()
    }
}

impl ViewInfo {
    /// True if it is in a session's schema of temporary objects.
    pub fn is_temporary(&self) -> bool {
        is_temporary_schema(&self.namespace)
    }

    /// Its name as SQL text: quoted where necessary, and with its schema unless that is `public`.
    pub fn sql_name(&self) -> String {
        shown(&self.namespace, &self.name)
    }

    /// What the catalog has of a view.
    pub(crate) fn of(view: &ViewEntry, catalog: &Catalog) -> ViewInfo {
        ViewInfo {
            namespace: schema_of(view.namespace, catalog),
            name: view.name.clone(),
            schema: view.schema.clone(),
            query: view.query.clone(),
            restated: restated(view, catalog).into_owned(),
            materialized: catalog.table_by_id(view.id).and_then(MaterializedInfo::of),
        }
    }

    /// CREATE INDEX statements for the indexes of a materialized view.
    pub fn index_ddl(&self) -> Vec<String> {
        let indexes = self.materialized.iter().flat_map(|m| &m.indexes);
        indexes.map(|index| index.ddl(&self.sql_name())).collect()
    }

    /// Its CREATE VIEW statement, which makes it over the tables that there are.
    pub fn ddl(&self) -> String {
        let columns = self.schema.columns.iter().map(|c| identifier(&c.name));
        let columns: Vec<String> = columns.collect();
        let list = match columns.is_empty() {
            true => String::new(),
            false => format!(" ({})", columns.join(", ")),
        };
        let name = self.sql_name();
        let query = before_more(&self.restated);
        match &self.materialized {
            None => format!("create view {name}{list} as\n{query};"),
            Some(materialized) => {
                let data = if materialized.is_populated {
                    ""
                } else {
                    "\nwith no data"
                };
                format!("create materialized view {name}{list} as\n{query}{data};")
            }
        }
    }
}

impl TableInfo {
    /// True if it is in a session's schema of temporary objects.
    pub fn is_temporary(&self) -> bool {
        is_temporary_schema(&self.namespace)
    }

    /// Its name as SQL text: quoted where necessary, and with its schema unless that is `public`.
    pub fn sql_name(&self) -> String {
        shown(&self.namespace, &self.name)
    }

    /// Describes a table of `rows` rows by the catalog, for a session of a search path.
    pub(crate) fn of(table: &TableEntry, rows: u64, catalog: &Catalog, path: &SearchPath) -> TableInfo {
        let shown_name = |table: &TableEntry| catalog.shown_table(table, path);
        TableInfo {
            namespace: schema_of(table.namespace, catalog),
            types: table
                .schema
                .columns
                .iter()
                .map(|c| type_name(c.ty, catalog))
                .collect(),
            name: table.name.clone(),
            generated: (table.schema.columns.iter())
                .map(|c| generated_clause(c.default.as_ref()?, catalog))
                .collect(),
            schema: with_shown_defaults(&table.schema, catalog),
            domains: (table.schema.columns.iter())
                .map(|c| domain_name(c, catalog))
                .collect(),
            rows,
            constraints: (table.constraints.iter())
                .map(|constraint| ConstraintInfo {
                    name: constraint.name.clone(),
                    definition: definition(table, constraint, catalog, &dumped_name(catalog)),
                    shown: definition(table, constraint, catalog, &shown_name),
                    is_of_domain: constraint.is_of_domain(),
                    is_open: !constraint.is_valid() && constraint.index().is_none(),
                    references: parent_name(constraint, catalog),
                })
                .collect(),
            indexes: IndexInfo::of(table),
        }
    }

    /// Its CREATE TABLE statement, and behind it CREATE INDEX statements for the indexes that no constraint makes, and
    /// ALTER TABLE statements for foreign keys.
    pub fn ddl(&self) -> String {
        let table = std::iter::once(self.table_ddl()).chain(self.index_ddl());
        let keys = self.foreign_key_ddl(|_| true);
        table
            .chain(self.repeated_key_ddl())
            .chain(self.open_check_ddl())
            .chain(keys)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// ALTER TABLE statements for its checks that are NOT VALID: rows that are there may violate them.
    pub fn open_check_ddl(&self) -> Vec<String> {
        let is_one = |c: &&ConstraintInfo| c.is_open && !c.is_of_domain && c.references.is_none();
        self.constraints
            .iter()
            .filter(is_one)
            .map(|c| self.added(c))
            .collect()
    }

    /// True for a unique key of the columns of another key: CREATE TABLE would make one of the two.
    fn is_repeated(&self, constraint: &ConstraintInfo) -> bool {
        let columns = |c: &ConstraintInfo| c.definition.strip_prefix("UNIQUE").map(str::to_owned);
        let Some(own) = columns(constraint) else {
            return false;
        };
        let primary = |c: &ConstraintInfo| c.definition.strip_prefix("PRIMARY KEY").map(str::to_owned);
        let mut before = self.constraints.iter().take_while(|c| c.name != constraint.name);
        before.any(|c| columns(c).as_ref() == Some(&own))
            || self.constraints.iter().any(|c| primary(c).as_ref() == Some(&own))
    }

    /// ALTER TABLE statements for unique keys of the columns of another key.
    pub fn repeated_key_ddl(&self) -> Vec<String> {
        let repeated = self.constraints.iter().filter(|c| self.is_repeated(c));
        repeated.map(|c| self.added(c)).collect()
    }

    /// ALTER TABLE … ADD CONSTRAINT.
    fn added(&self, constraint: &ConstraintInfo) -> String {
        let (table, name) = (self.sql_name(), identifier(&constraint.name));
        format!(
            "alter table {table} add constraint {name} {};",
            constraint.definition
        )
    }

    /// ALTER TABLE statements for its foreign keys, whose parents must be there, of those whose parents, by their names
    /// as SQL text, are wanted.
    pub fn foreign_key_ddl(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let wanted = |c: &&ConstraintInfo| c.references.as_deref().is_some_and(&is_wanted);
        self.constraints
            .iter()
            .filter(wanted)
            .map(|c| self.added(c))
            .collect()
    }

    /// Its CREATE TABLE statement, which makes the indexes of constraints, without foreign keys.
    pub fn table_ddl(&self) -> String {
        let types = self.types.iter().zip(&self.domains).zip(&self.generated);
        let columns = self
            .schema
            .columns
            .iter()
            .zip(types)
            .map(|(c, ((ty, domain), generated))| {
                let null = if c.has_own_not_null() { " not null" } else { "" };
                let clause = generated.clone().or_else(|| default_clause(c));
                let default = clause.map_or(String::new(), |clause| format!(" {clause}"));
                let ty = domain.as_ref().unwrap_or(ty);
                format!("  {} {ty}{default}{null}", identifier(&c.name))
            });
        let constraints = self.constraints_in_place().into_iter();
        let constraints =
            constraints.map(|c| format!("  constraint {} {}", identifier(&c.name), c.definition));
        let parts: Vec<String> = columns.chain(constraints).collect();
        let table = self.sql_name();
        format!("create table {table} (\n{}\n);", parts.join(",\n"))
    }

    /// The constraints of CREATE TABLE in the order that it gives them: the primary key comes before UNIQUE even if
    /// ALTER TABLE added it later. So a dump of a dump has the same text.
    fn constraints_in_place(&self) -> Vec<&ConstraintInfo> {
        let is_part = |c: &&ConstraintInfo| {
            !c.is_of_domain && !c.is_open && c.references.is_none() && !self.is_repeated(c)
        };
        let mut constraints: Vec<&ConstraintInfo> = self.constraints.iter().filter(is_part).collect();
        let first = |word: &str| constraints.iter().position(|c| c.definition.starts_with(word));
        if let (Some(primary), Some(unique)) = (first("PRIMARY KEY"), first("UNIQUE"))
            && unique < primary
        {
            constraints[unique..=primary].rotate_right(1);
        }
        constraints
    }

    /// CREATE INDEX statements for the indexes that no constraint makes.
    pub fn index_ddl(&self) -> Vec<String> {
        let own = self.indexes.iter().filter(|index| index.constraint.is_none());
        own.map(|index| index.ddl(&self.sql_name())).collect()
    }
}

impl IndexInfo {
    /// The indexes of a table.
    fn of(table: &TableEntry) -> Vec<IndexInfo> {
        let info = |index: &Arc<IndexEntry>| IndexInfo {
            name: index.name.clone(),
            columns: index_columns(table, index),
            is_unique: index.unique,
            constraint: index.constraint.clone(),
            deferral: index.deferral.words(),
        };
        table.indexes.iter().map(info).collect()
    }

    /// Its CREATE INDEX statement. `table`: the table's name as SQL text.
    fn ddl(&self, table: &str) -> String {
        let unique = if self.is_unique { "unique " } else { "" };
        let name = identifier(&self.name);
        format!("create {unique}index {name} on {table} {};", self.columns)
    }
}

impl MaterializedInfo {
    /// `None` for a table.
    fn of(table: &Arc<TableEntry>) -> Option<MaterializedInfo> {
        Some(MaterializedInfo {
            is_populated: table.materialized.as_ref()?.is_populated,
            indexes: IndexInfo::of(table),
        })
    }
}

/// The name of a schema.
fn schema_of(namespace: ObjectId, catalog: &Catalog) -> String {
    catalog.qualified(namespace, "").schema
}

/// A name as a dump writes it: with its schema, unless that is `public`.
pub(crate) fn shown(namespace: &str, name: &str) -> String {
    match namespace {
        PUBLIC => identifier(name),
        _ => QualifiedName::new(namespace, name).to_string(),
    }
}

/// The name of a type as a dump writes it: that of an enumeration with its schema, unless that is `public`.
fn type_name(ty: LogicalType, catalog: &Catalog) -> String {
    let entry = ty
        .enumeration_within()
        .and_then(|e| catalog.user_type_of(ObjectId(e.id())));
    let schema = entry.map(|entry| schema_of(entry.namespace, catalog));
    match schema {
        Some(schema) if schema != PUBLIC => format!("{}.{ty}", identifier(&schema)),
        Some(_) | None => ty.to_string(),
    }
}

/// The columns of a table with their own defaults, which name sequences by their names.
fn with_shown_defaults(schema: &Arc<Schema>, catalog: &Catalog) -> Arc<Schema> {
    let mut schema = schema.clone();
    let changes =
        |c: &ColumnDef| c.domain.is_some() || matches!(c.default, Some(ColumnDefault::Expression(_)));
    if schema.columns.iter().any(changes) {
        for column in &mut Arc::make_mut(&mut schema).columns {
            column.default = shown_default(column, catalog);
            if let Some(ColumnDefault::Expression(text)) = &mut column.default {
                *text = catalog.shown_default(text);
            }
        }
    }
    schema
}

/// The default that a column declares: NULL if it has none, but its domain does.
pub(crate) fn shown_default(column: &ColumnDef, catalog: &Catalog) -> Option<ColumnDefault> {
    let Some(domain) = column.domain.filter(|_| column.default.is_none()) else {
        return column.own_default().cloned();
    };
    let entry = catalog.user_type_of(domain.id);
    let has_one = entry
        .and_then(|entry| entry.as_domain()?.default.as_ref())
        .is_some();
    (has_one && !domain.gives_default).then_some(ColumnDefault::Value(Value::Null))
}

/// The name of a column's domain as a dump writes it.
fn domain_name(column: &ColumnDef, catalog: &Catalog) -> Option<String> {
    let entry = catalog.user_type_of(column.domain_id()?)?;
    Some(shown(&schema_of(entry.namespace, catalog), &entry.name))
}

/// The clause of a column that gives its values, as SQL without the options of a sequence: `default 1`, `generated
/// always as identity`.
pub fn default_clause(column: &ColumnDef) -> Option<String> {
    let text = default_text(column)?;
    Some(match column.default {
        Some(ColumnDefault::Identity { .. } | ColumnDefault::Generated { .. }) => text,
        Some(ColumnDefault::Value(_) | ColumnDefault::Expression(_)) | None => format!("default {text}"),
    })
}

/// A column's default as SQL, if it has one; for an identity or generated column the clause that makes it one.
pub fn default_text(column: &ColumnDef) -> Option<String> {
    column.default.as_ref().map(|default| match default {
        ColumnDefault::Value(Value::Null) => "NULL".to_string(),
        ColumnDefault::Value(value) => literal(&value.display(column.ty).to_string(), column.ty),
        ColumnDefault::Expression(sql) => before_more(sql).into_owned(),
        ColumnDefault::Identity { always: true, .. } => "generated always as identity".to_string(),
        ColumnDefault::Identity { always: false, .. } => "generated by default as identity".to_string(),
        ColumnDefault::Generated { text, .. } => {
            format!("generated always as ({}) stored", before_more(text))
        }
    })
}

/// A text that others may follow: a comment may end it.
fn before_more(sql: &str) -> Cow<'_, str> {
    match sql.contains("--") {
        true => Cow::Owned(format!("{sql}\n")),
        false => Cow::Borrowed(sql),
    }
}

/// Returns a function that names a table as a dump does.
fn dumped_name(catalog: &Catalog) -> impl Fn(&TableEntry) -> String {
    |table| shown(&schema_of(table.namespace, catalog), &table.name)
}

/// Returns a constraint as SQL, without its name. `name_of` names the parent of a foreign key.
pub(crate) fn definition(
    table: &TableEntry,
    constraint: &Constraint,
    catalog: &Catalog,
    name_of: &dyn Fn(&TableEntry) -> String,
) -> String {
    let key = constraint.index().and_then(|id| table.index(id));
    let columns = key.map_or(String::new(), |key| index_columns(table, key));
    let deferral = key.map_or("", |key| key.deferral.words());
    match &constraint.kind {
        ConstraintKind::PrimaryKey { .. } => format!("PRIMARY KEY {columns}{deferral}"),
        ConstraintKind::Unique { .. } => match columns.strip_suffix(NOT_DISTINCT) {
            Some(columns) => format!("UNIQUE{NOT_DISTINCT} {columns}{deferral}"),
            None => format!("UNIQUE {columns}{deferral}"),
        },
        ConstraintKind::Check {
            expression, is_valid, ..
        } => {
            let open = if *is_valid { "" } else { NOT_VALID };
            format!("CHECK ({}){open}", before_more(expression))
        }
        ConstraintKind::ForeignKey(key) => match catalog.table_by_id(key.parent) {
            Some(parent) => foreign_key_text(table, key, parent, &name_of(parent)),
            None => String::new(),
        },
    }
}

/// A CHECK with its condition in parentheses of its own, as PostgreSQL shows it.
pub(crate) fn check_text(condition: &str, is_valid: bool) -> String {
    let is_word = condition.chars().all(|c| c.is_alphanumeric() || c == '_');
    let open = if is_valid { "" } else { NOT_VALID };
    match is_word {
        true => format!("CHECK ({condition}){open}"),
        false => format!("CHECK (({})){open}", before_more(condition.trim())),
    }
}

/// The CREATE INDEX statement of an index, as PostgreSQL shows it. `table_name`: the table's name as SQL text.
pub(crate) fn index_definition(table_name: &str, table: &TableEntry, index: &IndexEntry) -> String {
    let unique = if index.unique { "UNIQUE " } else { "" };
    let columns = index_columns(table, index);
    format!(
        "CREATE {unique}INDEX {} ON {table_name} USING btree {columns}",
        identifier(&index.name)
    )
}

/// The query of a view as text that means the view today, with a semicolon.
pub(crate) fn view_text(view: &ViewEntry, catalog: &Catalog) -> String {
    format!("{};", before_more(&restated(view, catalog)))
}

/// The name of the parent of a foreign key as SQL text.
fn parent_name(constraint: &Constraint, catalog: &Catalog) -> Option<String> {
    let ConstraintKind::ForeignKey(key) = &constraint.kind else {
        return None;
    };
    let parent = catalog.table_by_id(key.parent)?;
    Some(dumped_name(catalog)(parent))
}

/// A foreign key as SQL, in PostgreSQL's words. `parent_name`: the parent's name as SQL text.
fn foreign_key_text(child: &TableEntry, key: &ForeignKey, parent: &TableEntry, parent_name: &str) -> String {
    let names = |table: &TableEntry, numbers: &[ColumnNumber]| {
        let positions = numbers.iter().filter_map(|number| table.position_of(*number));
        let names: Vec<String> = positions
            .map(|at| identifier(&table.schema.columns[at].name))
            .collect();
        names.join(", ")
    };
    let mut text = format!(
        "FOREIGN KEY ({}) REFERENCES {parent_name}({})",
        names(child, &key.columns),
        names(parent, &key.parent_columns)
    );
    if key.match_full {
        text.push_str(" MATCH FULL");
    }
    for (event, action) in [("UPDATE", key.on_update), ("DELETE", key.on_delete)] {
        if action != ReferentialAction::NoAction {
            text.push_str(&format!(" ON {event} {}", action.words()));
        }
    }
    if !key.set_columns.is_empty() {
        text.push_str(&format!(" ({})", names(child, &key.set_columns)));
    }
    text.push_str(key.deferral.words());
    if !key.is_valid {
        text.push_str(NOT_VALID);
    }
    text
}

const NOT_VALID: &str = " NOT VALID";
const NOT_DISTINCT: &str = " NULLS NOT DISTINCT";

fn index_columns(table: &TableEntry, index: &IndexEntry) -> String {
    let name = |column: usize| key_sql(table, column);
    let keys = index.keys.iter().map(|key| {
        let order = match (key.descending, key.nulls_first) {
            (false, false) => "",
            (false, true) => " NULLS FIRST",
            (true, true) => " DESC",
            (true, false) => " DESC NULLS LAST",
        };
        format!("{}{order}", name(key.column))
    });
    let keys: Vec<String> = keys.collect();
    let include: Vec<String> = index.include.iter().map(|&column| name(column)).collect();
    let include = match include.is_empty() {
        true => String::new(),
        false => format!(" INCLUDE ({})", include.join(", ")),
    };
    let nulls = if index.nulls_distinct { "" } else { NOT_DISTINCT };
    let condition = match table.condition_text(index) {
        Some(text) => format!(" WHERE ({})", before_more(text)),
        None => String::new(),
    };
    format!("({}){include}{nulls}{condition}", keys.join(", "))
}

fn literal(text: &str, ty: LogicalType) -> String {
    // NaN and infinities are words.
    match ty.is_numeric() && text.ends_with(|c: char| c.is_ascii_digit()) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_catalog::{
        Deferral, IndexKey, NewConstraint, NewConstraintKind, NewIndex, NewTable, TableOptions,
    };

    #[test]
    fn ddl_quotes_what_needs_it() {
        let mut columns = vec![
            ColumnDef::new("a", LogicalType::Integer).not_null(),
            ColumnDef::new("B c", LogicalType::Text),
        ];
        columns[1].default = Some(ColumnDefault::Value(Value::Text("it's".into())));
        let unnamed = |kind| NewConstraint { name: None, kind };
        let key = NewConstraintKind::PrimaryKey {
            columns: vec![0],
            deferral: Deferral::Deferred,
        };
        let unique = NewConstraintKind::Unique {
            columns: vec![1, 0],
            nulls_distinct: false,
            deferral: Deferral::Never,
        };
        let check = NewConstraintKind::Check {
            expression: "a > 0".to_string(),
            columns: vec![0],
            is_valid: true,
            of_domain: None,
        };
        let new = NewTable {
            name: "t".into(),
            schema: Arc::new(Schema::new(columns)),
            options: TableOptions::default(),
            constraints: vec![unnamed(key), unnamed(unique), unnamed(check)],
        };
        let index = NewIndex {
            name: None,
            if_not_exists: false,
            table: ObjectId(1),
            keys: vec![IndexKey {
                column: 1,
                descending: true,
                nulls_first: false,
            }],
            include: vec![0],
            unique: false,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        let (catalog, _) = Catalog::new().create(new).unwrap();
        let (_, entry, _) = catalog.create_index(index).unwrap().unwrap();
        let table = TableInfo::of(&entry, 0, &catalog, &SearchPath::default());
        assert_eq!(
            table.ddl(),
            "create table t (\n  a integer not null,\n  \"B c\" text default 'it''s',\n  \
             constraint t_a_check CHECK (a > 0),\n  \
             constraint t_pkey PRIMARY KEY (a) DEFERRABLE INITIALLY DEFERRED,\n  \
             constraint \"t_B c_a_key\" UNIQUE NULLS NOT DISTINCT (\"B c\", a)\n);\n\
             create index \"t_B c_a_idx\" on t (\"B c\" DESC NULLS LAST) INCLUDE (a);"
        );
        let view = ViewInfo {
            namespace: PUBLIC.into(),
            name: "V".into(),
            schema: table.schema,
            query: "table t".into(),
            restated: "table t".into(),
            materialized: None,
        };
        assert_eq!(view.ddl(), "create view \"V\" (a, \"B c\") as\ntable t;");
    }
}
