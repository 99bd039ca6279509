//! CREATE VIEW, and views that queries read: what names in their text mean, their columns, errors, depth.

mod support;

use frazil_catalog::{
    ExistingView, NewView, PUBLIC, QualifiedName, Reading, SYSTEM_SCHEMA, SchemaEntry, SearchPath, ViewEntry,
    WrittenName,
};
use frazil_frontend::{
    Bound, CatalogView, Definition, FileSource, Limits, PlanSettings, Relation, Statement, TableEntry,
    Writing, bind, on_deep_stack, parse,
};
use frazil_plan::operators::Scan;
use frazil_plan::{Operator, Plan};
use frazil_types::{ColumnDef, Error, LogicalType, ObjectId, Result, Schema};
use std::sync::{Arc, LazyLock};

/// Tables, and views by their names.
struct Relations {
    tables: Vec<TableEntry>,
    views: Vec<Arc<ViewEntry>>,
}

impl CatalogView for Relations {
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
        let view = self.views.iter().find(|v| v.id == id);
        let table = self.tables.iter().find(|t| t.id == id);
        view.map(|v| Relation::View(v.clone()))
            .or_else(|| table.map(|t| Relation::Table(t.clone())))
    }

    fn user_type(&self, _: &QualifiedName) -> Option<Arc<frazil_catalog::TypeEntry>> {
        None
    }

    fn user_type_of(&self, _: ObjectId) -> Option<Arc<frazil_catalog::TypeEntry>> {
        None
    }

    fn schema_id(&self, _: &str) -> Option<ObjectId> {
        None
    }

    fn index_id(&self, _: &QualifiedName) -> Option<ObjectId> {
        None
    }

    fn relation(&self, name: &QualifiedName) -> Option<Relation> {
        let view = (self.views.iter()).find(|v| name.schema == PUBLIC && v.name == name.name);
        let table = self.tables.iter().find(|t| t.qualified() == *name);
        view.map(|v| Relation::View(v.clone()))
            .or_else(|| table.map(|t| Relation::Table(t.clone())))
    }

    fn read_by(&self, reading: &Reading) -> Option<Relation> {
        match reading.id {
            Some(id) => self.relation_of(id),
            None => self.relation(&QualifiedName::new(SYSTEM_SCHEMA, &reading.name.name)),
        }
    }

    fn catalog_id(&self, table: ObjectId) -> Option<ObjectId> {
        let is_system = table.0 > 1_000_000;
        (!is_system).then_some(table)
    }

    fn file(&self, source: &FileSource) -> Result<TableEntry> {
        Err(Error::unsupported(format!("{source:?}")))
    }

    fn own_relation_names(&self) -> Vec<QualifiedName> {
        self.relation_names()
    }

    fn relation_names(&self) -> Vec<QualifiedName> {
        let tables = self.tables.iter().map(TableEntry::qualified);
        let views = self.views.iter().map(|v| QualifiedName::in_public(&v.name));
        tables.chain(views).collect()
    }
}

fn table(id: u32, name: &str, columns: &[&str]) -> TableEntry {
    let columns = columns.iter().map(|c| ColumnDef::new(*c, LogicalType::Integer));
    TableEntry {
        id: ObjectId(id),
        oid: None,
        schema_name: if id == u32::MAX { SYSTEM_SCHEMA } else { PUBLIC }.to_string(),
        name: name.to_string(),
        schema: Schema::new(columns.collect()).into(),
        hidden: Vec::new(),
        row_count: 10,
        constraints: Vec::new(),
        indexes: Vec::new(),
        materialized: None,
    }
}

impl Relations {
    /// Tables `t` (a, b) and `u` (c), and a system table.
    fn new() -> Relations {
        Relations {
            tables: vec![
                table(1, "t", &["a", "b"]),
                table(2, "u", &["c"]),
                table(u32::MAX, "frazil_things", &["thing"]),
            ],
            views: Vec::new(),
        }
    }

    fn bind(&self, sql: &str) -> Result<Bound> {
        let parsed = parse(sql, &Limits::none())?;
        assert_eq!(parsed.len(), 1, "{sql}");
        bind(&parsed[0], self, &PlanSettings::default(), &[])
    }

    fn definition(&self, sql: &str) -> NewView {
        match self.bind(sql).map(|b| b.statement) {
            Ok(Statement::Writing(Writing::Define(Definition::CreateView(view)))) => view,
            other => panic!("{sql}: {other:?}"),
        }
    }

    /// Runs CREATE VIEW.
    fn create(&mut self, sql: &str) {
        let view = self.definition(sql);
        self.views.push(Arc::new(ViewEntry {
            id: ObjectId(1000 + self.views.len() as u32),
            namespace: SchemaEntry::PUBLIC_ID,
            name: view.name.name,
            schema: Arc::new(view.schema),
            query: view.query,
            reads: view.reads,
        }));
    }

    fn query(&self, sql: &str) -> Plan {
        match self.bind(sql) {
            Ok(Bound {
                statement: Statement::Query(plan),
                ..
            }) => plan,
            other => panic!("{sql}: {other:?}"),
        }
    }

    /// The names of a query's columns, with the label of the column that each is.
    fn columns(&self, sql: &str) -> Vec<String> {
        let plan = self.query(sql);
        let columns = plan.output.iter();
        columns
            .map(|(name, id)| format!("{name}={}", plan.columns[*id].label))
            .collect()
    }
}

#[test]
fn a_definition_keeps_its_text_and_what_it_reads() {
    let mut relations = Relations::new();
    relations.create("create view w as select c from u");
    let sql = "create or replace view \"V\" (x) as -- one\n select *, 'é' as \"É\" /* two */ from t, w, frazil_things ";
    let view = relations.definition(sql);
    assert_eq!(
        (view.name.name.as_str(), view.existing),
        ("V", ExistingView::Replace)
    );
    assert_eq!(
        view.query,
        "select *, 'é' as \"É\" /* two */ from t, w, frazil_things"
    );
    let columns: Vec<String> = (view.schema.columns.iter())
        .map(|c| format!("{} {}", c.name, c.ty))
        .collect();
    assert_eq!(
        columns,
        ["x integer", "b integer", "c integer", "thing integer", "É text"]
    );
    let read = |name: &str, id: Option<u32>, columns: &[&str]| Reading {
        name: WrittenName::unqualified(name),
        id: id.map(ObjectId),
        columns: columns.iter().map(|c| c.to_string()).collect(),
    };
    assert_eq!(
        view.reads,
        [
            read("t", Some(1), &["a", "b"]),
            read("w", Some(1000), &["c"]),
            read("frazil_things", None, &["thing"]),
        ]
    );
    let nested = "create view n as with t as (select 1 as a) select a, (select max(c) from u) from t, \
                  (select c from w) s where exists (table u)";
    let names: Vec<String> = (relations.definition(nested).reads.into_iter())
        .map(|r| r.name.name)
        .collect();
    assert_eq!(names, ["w", "u"]);
    let plain = relations.definition("create view if not exists main.v as table t");
    assert_eq!(
        (plain.name.name.as_str(), plain.existing),
        ("v", ExistingView::Keep)
    );
    assert_eq!(plain.query, "table t");
}

#[test]
fn a_text_means_the_same_when_tables_are_renamed_and_grow() {
    let mut relations = Relations::new();
    relations.create("create view v as select *, t.a + c as sum from t join u on b = c");
    relations.create("create view w as select * from v natural join u");
    let before = relations.columns("select v.*, w.c from v, w");
    assert_eq!(before, ["a=a", "b=b", "c=c", "sum=sum", "c=c"]);
    relations.tables[0] = table(1, "renamed", &["other", "b", "c", "sum"]);
    relations.tables[1] = table(2, "t", &["c", "a", "b"]);
    assert_eq!(relations.columns("select v.*, w.c from v, w"), before);
    assert_eq!(relations.columns("select * from t"), ["c=c", "a=a", "b=b"]);
    let scanned = scans(&relations.query("select * from v").root);
    assert_eq!(scanned, [(1, vec![0, 1]), (2, vec![0])]);
}

#[test]
fn a_view_that_got_columns_shows_them_to_new_readers_alone() {
    let mut relations = Relations::new();
    relations.create("create view v as select a from t");
    relations.create("create view w as select * from v, u");
    let wider = relations.definition("create or replace view v as select a, b as c from t");
    let old = &relations.views[0];
    relations.views[0] = Arc::new(ViewEntry {
        id: old.id,
        namespace: SchemaEntry::PUBLIC_ID,
        name: wider.name.name,
        schema: Arc::new(wider.schema),
        query: wider.query,
        reads: wider.reads,
    });
    assert_eq!(relations.columns("select c from w"), ["c=c"]);
    assert_eq!(relations.columns("table w").len(), 2);
    assert_eq!(relations.columns("table v"), ["a=a", "c=b"]);
}

/// Ids of the tables scanned, and the positions of the columns read.
fn scans(op: &Operator) -> Vec<(u32, Vec<usize>)> {
    let mut found: Vec<(u32, Vec<usize>)> = Vec::new();
    for op in support::operators(op) {
        if let Operator::Scan(Scan { table, columns, .. }) = op {
            found.push((table.0, columns.iter().map(|c| c.1).collect()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_view_keeps_the_types_that_it_was_created_with() {
    let mut relations = Relations::new();
    relations.create("create view v as select a, b from t");
    let mut view = (*relations.views[0]).clone();
    view.schema = Arc::new(Schema::new(vec![
        ColumnDef::new("a", LogicalType::BigInt),
        ColumnDef::new("b", LogicalType::Text),
    ]));
    relations.views[0] = Arc::new(view.clone());
    let plan = relations.query("select * from v");
    let types: Vec<LogicalType> = plan.output.iter().map(|(_, id)| plan.columns[*id].ty).collect();
    assert_eq!(types, [LogicalType::BigInt, LogicalType::Text]);
    view.schema = Arc::new(Schema::default());
    relations.views[0] = Arc::new(view);
    let error = relations.bind("select * from v").unwrap_err();
    assert_eq!(error.state().0, "XX000");
    assert_eq!(error.detail(), Some("it comes from the query of view \"v\""));
}

#[test]
fn what_stands_in_a_view_has_no_place_in_the_query() {
    let mut relations = Relations::new();
    relations.create("create view v as select a / (b - 1) as q, now() as n from t where a + b > 0");
    relations.create("create view w as select q from v where q > 1");
    let plan = relations.query("select q + 1, n from v");
    for op in support::operators(&plan.root) {
        for e in op.expressions() {
            e.walk(&mut |e| {
                let outside = e.span.start >= 7 && e.span.end <= 15;
                assert!(!e.span.is_some() || outside, "{e:?}");
            });
        }
    }
    Arc::make_mut(&mut relations.tables[0].schema).columns[1].ty = LogicalType::Text;
    let error = relations.bind("select 1 from w").unwrap_err();
    assert_eq!(error.state().0, "42883");
    assert_eq!((error.position(), error.span().is_some()), (None, false));
    assert_eq!(error.detail(), Some("it comes from the query of view \"v\""));
}

#[test]
fn positions_in_a_definition_are_those_of_the_statement() {
    let relations = Relations::new();
    for (sql, state, position) in [
        ("create view v as select nope from t", "42703", 25),
        ("create view v as select 1 from nope", "42P01", 32),
        ("create view v as select $1 + a from t", "42P02", 25),
        (
            "create view v as select a from t where a = $1::integer",
            "42P02",
            44,
        ),
        ("create view v as select a, b as a from t", "42701", 28),
        ("create view v (a, b, c) as select a, b from t", "42601", 22),
        ("create view v (a, a) as select a, b from t", "42701", 19),
        ("create view v as insert into t values (1)", "42601", 18),
        ("create view v as", "42601", 17),
        ("create view v as select 1 1", "42601", 27),
        ("create view v () as select 1", "42601", 16),
        ("create view v (select) as select 1", "42601", 16),
        ("create view order as select 1", "42601", 13),
        ("create or replace view if not exists v as select 1", "42601", 27),
        ("create view v select 1", "42601", 15),
    ] {
        let error = relations.bind(sql).expect_err(sql);
        assert_eq!(
            (error.state().0, error.position()),
            (state, Some(position)),
            "{sql}: {error}"
        );
    }
}

#[test]
fn what_there_is_not_is_refused_by_name() {
    let mut relations = Relations::new();
    relations.create("create view v as select a from t");
    for (sql, what) in [
        ("create recursive view r (n) as select 1", "CREATE RECURSIVE VIEW"),
        (
            "create view r as select a from t with check option",
            "WITH CHECK OPTION",
        ),
        (
            "create view r as select a from t with local check option",
            "WITH CHECK OPTION",
        ),
        (
            "create view r as select a from t with cascaded check option",
            "WITH CHECK OPTION",
        ),
        (
            "create view r with (security_barrier) as select 1",
            "WITH (…) of a view",
        ),
        ("create view r as select a into n from t", "SELECT INTO"),
        ("alter view v alter a set default 1", "ALTER VIEW"),
        ("insert into v values (1)", "INSERT into view v"),
        ("delete from v", "DELETE from view v"),
        ("explain create view r as select 1", "EXPLAIN of anything but"),
    ] {
        let error = relations.bind(sql).expect_err(sql);
        assert_eq!(error.state().0, "0A000", "{sql}: {error}");
        assert!(error.message().contains(what), "{sql}: {error}");
    }
    for (sql, message) in [
        ("freeze v", "\"v\" is not a table"),
        ("alter table v set (pax_rows = 1)", "\"v\" is not a table"),
        ("copy v from 'x.csv'", "cannot copy to view \"v\""),
    ] {
        let error = relations.bind(sql).expect_err(sql);
        assert_eq!((error.state().0, error.message()), ("42809", message), "{sql}");
    }
}

/// A chain of views, each over the one before.
fn chain(length: usize, query: impl Fn(&str) -> String) -> Relations {
    let mut relations = Relations::new();
    relations.create("create view v0 as select a from t");
    for at in 1..=length {
        relations.create(&format!(
            "create view v{at} as {}",
            query(&format!("v{}", at - 1))
        ));
    }
    relations
}

/// SQLSTATE of a query on a thread of 2 MB.
fn state_of(relations: &Relations, sql: &str) -> &'static str {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let bound = thread.spawn_scoped(scope, || match relations.bind(sql) {
            Ok(bound) => {
                on_deep_stack(bound.depth, || drop(bound.statement));
                "00000"
            }
            Err(e) => e.state().0,
        });
        bound.unwrap().join().unwrap()
    })
}

#[test]
fn views_nest_some_hundred_deep_and_no_deeper() {
    let plain = chain(2_000, |below| format!("select * from {below}"));
    assert_eq!(state_of(&plain, "select * from v400"), "00000");
    assert_eq!(state_of(&plain, "select * from v2000"), "54001");
    let computing = chain(1_000, |below| {
        format!("select a + 1 as a from (select distinct a from {below} where a > 0) s")
    });
    assert_eq!(state_of(&computing, "select * from v200"), "00000");
    assert_eq!(
        state_of(&computing, "select (((1))) from v1000 where (((a))) > 0"),
        "54001"
    );
    // Two readers of each: as many views as a power of two.
    let doubling = chain(40, |below| format!("select x.a from {below} x, {below} y"));
    assert_eq!(state_of(&doubling, "select * from v5"), "00000");
    assert_eq!(state_of(&doubling, "select * from v40"), "54001");
}
