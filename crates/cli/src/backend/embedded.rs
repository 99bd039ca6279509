//! The database that runs in this process: calls of the library.

use super::{
    Backend, Canceler, Column, Constraint, DefinedType, Function, Index, ListedIndex, Relation, RelationKind,
    Sequence, Structure,
};
use frazil::{
    Block, ColumnDef, Connection, ConstraintInfo, CopyStreams, FunctionClass, Notification, Outcome,
    Progress, RawValue as Value, Response, Result, RowSink, Schema, TableInfo, ViewInfo, default_clause,
    default_text,
};

impl Backend for Connection {
    fn execute(&self, sql: &str, values: &[Value]) -> Result<Response> {
        self.execute_with(sql, values)
    }

    fn execute_into(&self, sql: &str, values: &[Value], sink: &mut dyn RowSink) -> Result<Response> {
        Connection::execute_into(self, sql, values, sink)
    }

    fn copy(&self, sql: &str, streams: &mut dyn CopyStreams) -> Result<Response> {
        self.execute_copy(sql, streams)
    }

    fn describe(&self, sql: &str) -> Result<Vec<(String, String)>> {
        let Outcome::Rows(rows) = Connection::execute(self, &format!("describe {sql}"))?.outcome else {
            return Ok(Vec::new());
        };
        let columns = rows.schema().columns.clone();
        let text = |value: &Value, column: &ColumnDef| value.display(column.ty).to_string();
        let described = rows
            .raw()
            .map(|row| (text(&row[0], &columns[0]), text(&row[1], &columns[1])));
        Ok(described.collect())
    }

    fn canceler(&self) -> Canceler {
        let handle = self.cancel_handle();
        Box::new(move || handle.cancel())
    }

    fn block(&self) -> Block {
        match (self.in_failed_transaction(), self.in_transaction()) {
            (true, _) => Block::Failed,
            (false, true) => Block::Open,
            (false, false) => Block::Idle,
        }
    }

    fn progress(&self) -> Option<&Progress> {
        Some(Connection::progress(self))
    }

    fn notifications(&self) -> Vec<Notification> {
        self.listener().take()
    }

    fn relations(&self) -> Result<Vec<Relation>> {
        let names = |schema: &Schema| schema.columns.iter().map(|c| c.name.clone()).collect();
        let tables = self.tables().into_iter().map(|table| Relation {
            columns: names(&table.schema),
            schema: table.namespace,
            name: table.name,
            kind: RelationKind::Table,
            rows: Some(table.rows),
        });
        let views = self.views().into_iter().map(|view| Relation {
            columns: names(&view.schema),
            kind: kind_of(&view),
            schema: view.namespace,
            name: view.name,
            rows: None,
        });
        Ok(tables.chain(views).collect())
    }

    fn structure(&self, name: &str) -> Result<Structure> {
        match self.view(name) {
            Some(view) => Ok(of_view(view)),
            None => self.table(name).map(of_table),
        }
    }

    fn definitions(&self, name: Option<&str>) -> Result<Vec<String>> {
        let Some(name) = name else {
            return Ok(all_definitions(self));
        };
        Ok(match self.view(name) {
            Some(view) => std::iter::once(view.ddl()).chain(view.index_ddl()).collect(),
            None => vec![self.table(name)?.ddl()],
        })
    }

    fn indexes(&self) -> Result<Vec<ListedIndex>> {
        let tables = self.tables().into_iter();
        let of_one = |table: TableInfo| {
            let (schema, name) = (table.namespace, table.name);
            table.indexes.into_iter().map(move |index| ListedIndex {
                schema: schema.clone(),
                name: index.name,
                table: name.clone(),
                columns: index.columns,
            })
        };
        Ok(tables.flat_map(of_one).collect())
    }

    fn sequences(&self) -> Result<Vec<Sequence>> {
        let sequences = Connection::sequences(self).into_iter();
        let shown = sequences.map(|sequence| Sequence {
            schema: sequence.namespace,
            name: sequence.name,
            owner: (sequence.owner).map(|(table, column, _)| format!("{table}.{column}")),
        });
        Ok(shown.collect())
    }

    fn schemas(&self) -> Result<Vec<String>> {
        Ok(Connection::schemas(self))
    }

    fn defined_types(&self) -> Result<Vec<DefinedType>> {
        let enumerations = self.enumerations().into_iter().map(|ty| DefinedType {
            schema: ty.namespace,
            name: ty.name,
            of: ty.labels.join(", "),
        });
        let domains = self.domains().into_iter().map(|domain| DefinedType {
            schema: domain.namespace,
            name: domain.name,
            of: domain.base.to_string(),
        });
        Ok(enumerations.chain(domains).collect())
    }

    fn functions(&self) -> Result<Vec<Function>> {
        Ok(built_in_functions())
    }

    fn has_blocks(&self) -> bool {
        true
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn embedded(&self) -> Option<&Connection> {
        Some(self)
    }
}

/// The functions that this version of Frazil has.
pub fn built_in_functions() -> Vec<Function> {
    let mut found = Vec::new();
    for function in frazil::functions() {
        let kind = match function.class {
            FunctionClass::Scalar => "function",
            FunctionClass::Aggregate => "aggregate",
            FunctionClass::Window => "window",
            FunctionClass::Rows => "rows",
        };
        found.extend(function.signatures.iter().map(|signature| Function {
            name: function.name.to_owned(),
            call: signature.to_string(),
            kind,
            description: function.description.to_owned(),
        }));
    }
    found
}

fn kind_of(view: &ViewInfo) -> RelationKind {
    match view.materialized {
        Some(_) => RelationKind::Materialized,
        None => RelationKind::View,
    }
}

fn of_column(column: &ColumnDef) -> Column {
    Column {
        name: column.name.clone(),
        ty: column.ty.to_string(),
        nullable: column.nullable,
        default: default_text(column),
        clause: default_clause(column),
    }
}

fn of_view(view: ViewInfo) -> Structure {
    Structure {
        kind: kind_of(&view),
        schema: view.namespace,
        name: view.name,
        rows: None,
        columns: view.schema.columns.iter().map(of_column).collect(),
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        query: Some(view.query),
    }
}

fn of_table(table: TableInfo) -> Structure {
    let indexes = table.indexes.iter().map(|index| {
        let constraint = (table.constraints.iter()).find(|c| index.constraint.as_deref() == Some(&c.name));
        Index {
            name: index.name.clone(),
            kind: match constraint {
                Some(c) if c.definition.starts_with("PRIMARY KEY") => "PRIMARY KEY, ",
                Some(_) => "UNIQUE CONSTRAINT, ",
                None if index.is_unique => "UNIQUE, ",
                None => "",
            },
            columns: index.columns.clone(),
            deferral: index.deferral.to_owned(),
        }
    });
    let named = |c: &ConstraintInfo, definition: &str| Constraint {
        name: c.name.clone(),
        definition: definition.to_owned(),
    };
    let (mut checks, mut foreign_keys) = (Vec::new(), Vec::new());
    for constraint in &table.constraints {
        if constraint.definition.starts_with("CHECK") {
            checks.push(named(constraint, &constraint.definition));
        }
        if constraint.references.is_some() {
            foreign_keys.push(named(constraint, &constraint.shown));
        }
    }
    checks.sort_by(|a, b| a.name.cmp(&b.name));
    foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
    Structure {
        kind: RelationKind::Table,
        rows: Some(table.rows),
        columns: table.schema.columns.iter().map(of_column).collect(),
        indexes: indexes.collect(),
        checks,
        foreign_keys,
        query: None,
        schema: table.namespace,
        name: table.name,
    }
}

/// The statements that make everything: tables with their indexes and keys, foreign keys between them, then views.
fn all_definitions(connection: &Connection) -> Vec<String> {
    let (tables, views) = (connection.tables(), connection.views());
    let own = |table: &TableInfo| {
        let keys = table.repeated_key_ddl().into_iter().chain(table.open_check_ddl());
        std::iter::once(table.table_ddl())
            .chain(table.index_ddl())
            .chain(keys)
    };
    let keys = tables.iter().flat_map(|table| table.foreign_key_ddl(|_| true));
    let views = (views.iter()).flat_map(|view| std::iter::once(view.ddl()).chain(view.index_ddl()));
    tables.iter().flat_map(own).chain(keys).chain(views).collect()
}
