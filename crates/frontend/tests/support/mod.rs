//! A catalog of TPC-H's tables and a few small ones, and shortcuts.
#![allow(dead_code, reason = "each test binary uses a part")]

use frazil_catalog::{PUBLIC, QualifiedName, Reading, SearchPath};
use frazil_frontend::{
    Bound, CatalogView, FileSource, Limits, PlanSettings, Relation, Statement, TableEntry, bind, parse,
};
use frazil_plan::{Operator, Plan};
use frazil_tpch::TABLES;
use frazil_types::{ColumnDef, ColumnDefault, Error, LogicalType, ObjectId, Result, Schema, Value};
use std::sync::LazyLock;

/// TPC-H's tables, `t` with nullable columns of every type, `u` with defaults.
pub struct Tables(Vec<TableEntry>);

pub const MONEY: LogicalType = LogicalType::Decimal {
    precision: 15,
    scale: 2,
};

impl Tables {
    pub fn new() -> Tables {
        let mut all = Vec::new();
        for table in TABLES {
            all.push((table.name(), table.schema(), table.rows(1.0)));
        }
        let nullable = [
            ("a", LogicalType::Integer),
            ("b", LogicalType::BigInt),
            ("s", LogicalType::SmallInt),
            ("m", MONEY),
            ("x", LogicalType::Double),
            ("d", LogicalType::Date),
            ("ts", LogicalType::TIMESTAMP),
            ("f", LogicalType::Char(1)),
            ("c", LogicalType::Char(10)),
            ("v", LogicalType::Varchar(5)),
            ("w", LogicalType::Text),
            ("p", LogicalType::Boolean),
        ];
        let columns = nullable.iter().map(|(n, ty)| ColumnDef::new(*n, *ty)).collect();
        all.push(("t", Schema::new(columns), 100));
        let mut with_default = ColumnDef::new("price", MONEY).not_null();
        with_default.default = Some(ColumnDefault::Value(Value::Int(150)));
        let columns = vec![
            ColumnDef::new("id", LogicalType::Integer).not_null(),
            with_default,
            ColumnDef::new("note", LogicalType::Varchar(10)),
        ];
        all.push(("u", Schema::new(columns), 10));
        let entries = all
            .into_iter()
            .enumerate()
            .map(|(i, (name, schema, row_count))| TableEntry {
                id: ObjectId(i as u32 + 1),
                oid: None,
                schema_name: PUBLIC.to_string(),
                name: name.to_string(),
                schema: schema.into(),
                hidden: Vec::new(),
                row_count,
                constraints: Vec::new(),
                indexes: Vec::new(),
                materialized: None,
            });
        Tables(entries.collect())
    }
}

impl CatalogView for Tables {
    fn user(&self) -> frazil_frontend::UserRoles {
        frazil_frontend::UserRoles::SUPERUSER
    }

    fn guard(&self) -> &frazil_catalog::Catalog {
        static CATALOG: LazyLock<frazil_catalog::Catalog> = LazyLock::new(frazil_catalog::Catalog::new);
        &CATALOG
    }

    fn path(&self) -> &SearchPath {
        static PATH: LazyLock<SearchPath> = LazyLock::new(SearchPath::default);
        &PATH
    }

    fn has_schema(&self, name: &str) -> bool {
        name == PUBLIC
    }

    fn refuse_used(&self, _: ObjectId, _: &str) -> Result<()> {
        Ok(())
    }

    fn has_relation(&self, name: &QualifiedName) -> bool {
        self.relation(name).is_some()
    }

    fn columns_of_domain(&self, _domain: ObjectId) -> Vec<(ObjectId, std::sync::Arc<Schema>, Vec<usize>)> {
        Vec::new()
    }

    fn sequence(&self, _: &QualifiedName) -> Option<std::sync::Arc<frazil_catalog::SequenceEntry>> {
        None
    }

    fn sequence_of(&self, _: ObjectId) -> Option<std::sync::Arc<frazil_catalog::SequenceEntry>> {
        None
    }

    fn owned_sequence(&self, _: ObjectId, _: frazil_types::ColumnNumber) -> Option<QualifiedName> {
        None
    }

    fn type_schema(&self, _: ObjectId) -> Option<String> {
        None
    }

    fn relation_of(&self, id: ObjectId) -> Option<Relation> {
        let table = self.0.iter().find(|t| t.id == id).cloned();
        table.map(Relation::Table)
    }

    fn user_type(&self, _: &QualifiedName) -> Option<std::sync::Arc<frazil_catalog::TypeEntry>> {
        None
    }

    fn user_type_of(&self, _: ObjectId) -> Option<std::sync::Arc<frazil_catalog::TypeEntry>> {
        None
    }

    fn schema_id(&self, _: &str) -> Option<ObjectId> {
        None
    }

    fn index_id(&self, _: &QualifiedName) -> Option<ObjectId> {
        None
    }

    fn relation(&self, name: &QualifiedName) -> Option<Relation> {
        let table = self.0.iter().find(|t| t.qualified() == *name).cloned();
        table.map(Relation::Table)
    }

    fn read_by(&self, reading: &Reading) -> Option<Relation> {
        self.relation(&QualifiedName::in_public(&reading.name.name))
    }

    fn catalog_id(&self, table: ObjectId) -> Option<ObjectId> {
        Some(table)
    }

    fn file(&self, source: &FileSource) -> Result<TableEntry> {
        Err(Error::unsupported(format!("{source:?}")))
    }

    fn own_relation_names(&self) -> Vec<QualifiedName> {
        self.relation_names()
    }

    fn relation_names(&self) -> Vec<QualifiedName> {
        self.0.iter().map(TableEntry::qualified).collect()
    }
}

pub fn try_bind(sql: &str) -> Result<Bound> {
    let parsed = parse(sql, &Limits::none())?;
    assert_eq!(parsed.len(), 1, "{sql}");
    bind(&parsed[0], &Tables::new(), &PlanSettings::default(), &[])
}

pub fn bound(sql: &str) -> Bound {
    try_bind(sql).unwrap_or_else(|e| panic!("{sql}: {} {e} {:?}", e.state(), e.hint()))
}

pub fn query(sql: &str) -> Plan {
    match bound(sql).statement {
        Statement::Query(plan) => plan,
        other => panic!("{sql}: {other:?}"),
    }
}

/// SQLSTATE and message.
pub fn failure(sql: &str) -> (String, String) {
    match try_bind(sql) {
        Ok(b) => panic!("{sql}: {:?}", b.statement),
        Err(e) => (e.state().0.to_string(), e.message().to_string()),
    }
}

/// Every operator, top down.
pub fn operators(op: &Operator) -> Vec<&Operator> {
    let mut out = vec![op];
    for input in op.inputs() {
        out.extend(operators(input));
    }
    out
}
