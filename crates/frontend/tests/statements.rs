//! Statements other than queries.

mod support;

use frazil_catalog::{DropBehavior, NewConstraintKind, QualifiedName, ReferentialAction, RelationKind};
use frazil_frontend::{
    CatalogView, CopyCompression, CopyEnd, CopyFormat, CopyHeader, Definition, ExplainMode, ExplainOptions,
    Limits, Relation, Script, SettingStatement, Statement, Writing, bind, parse,
};
use frazil_plan::operators::{Map, Scan, Values};
use frazil_plan::{Operator, WriteKind};
use frazil_types::{Cancel, ColumnDefault, LogicalType, MemoryBudget, ObjectId, SqlState, Value};
use support::{Tables, bound, failure, operators};

/// The identity of a table.
fn id_of(name: &'static str) -> ObjectId {
    match Tables::new().relation(&name.into()) {
        Some(Relation::Table(table)) => table.id,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn several_statements_keep_their_text() {
    let all = parse("select 1; -- done\n  begin ;; commit", &Limits::none()).unwrap();
    let texts: Vec<&str> = all.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts, ["select 1", "begin", "commit"]);
    assert!(all[0].returns_rows() && !all[1].returns_rows());
}

#[test]
fn a_script_is_read_before_it_runs_and_again_as_it_runs() {
    let script = Script::new("begin; select 1; commit", &Limits::none()).unwrap();
    assert_eq!(script.len(), 3);
    let texts: Vec<String> = script.map(|s| s.unwrap().text).collect();
    assert_eq!(texts, ["begin", "select 1", "commit"]);
    let error = Script::new("select 1; selec 2; select 3", &Limits::none())
        .err()
        .unwrap();
    assert_eq!(
        (error.state(), error.position()),
        (SqlState::SYNTAX_ERROR, Some(11))
    );
    assert_eq!(Script::new(" ; -- nothing", &Limits::none()).unwrap().len(), 0);
}

#[test]
fn reading_and_binding_hear_a_cancel() {
    let limits = Limits::none();
    let parsed = parse("select a + 1 from t", &limits).unwrap();
    limits.cancel.cancel();
    for sql in [
        "select 1",
        "values (1), (2)",
        "select",
        "select 'a",
        "select 1.5e",
        "",
    ] {
        assert_eq!(
            parse(sql, &limits).unwrap_err().state(),
            SqlState::QUERY_CANCELED,
            "{sql}"
        );
    }
    let bound = bind(&parsed[0], &Tables::new(), &Default::default(), &[]);
    assert_eq!(bound.unwrap_err().state(), SqlState::QUERY_CANCELED);
    limits.cancel.reset();
    parse("select 1", &limits).unwrap();
}

#[test]
fn the_tree_of_a_long_statement_is_in_the_budget() {
    let budget = MemoryBudget::new(4 << 20);
    let limits = Limits {
        cancel: Cancel::new(),
        budget: budget.clone(),
    };
    let values = |n: usize| format!("values {}", vec!["(1, 'a')"; n].join(", "));
    let kept = parse(&values(400), &limits).unwrap();
    assert!(budget.used() > 400 * 6 * 500, "{}", budget.used());
    let error = parse(&values(4000), &limits).unwrap_err();
    assert_eq!(error.state(), SqlState::OUT_OF_MEMORY);
    assert!(error.detail().unwrap().contains("words and signs"), "{error:?}");
    // Tokens are counted while they are made: few more than have room.
    let error = parse(&values(1 << 20), &limits).unwrap_err();
    let detail = error.detail().unwrap();
    let made: usize = detail.split(' ').find_map(|word| word.parse().ok()).unwrap();
    assert!(made < 20_000, "{detail}");
    drop(kept);
    assert_eq!(budget.used(), 0);
    // As one statement it would be too long; of a script one statement is held at a time.
    let script = Script::new(&format!("{};", values(200)).repeat(6), &limits).unwrap();
    assert_eq!(script.filter(|s| s.is_ok()).count(), 6);
}

#[test]
fn create_table_takes_not_null_and_default() {
    let sql = "create table New (Id integer not null, n decimal(10,2) default 1.5, d date default date '2024-02-29', \
               c char(3) default 'ab ', \"Q\" varchar(4) default 'x', f char default 'Y') with (pax_rows = 64, \
               layout.Id = byteslice, encoding.\"Q\" = 'dictionary', \"layout.n\" = 'bit-packed', freeze_for = default)";
    let Statement::Writing(Writing::CreateTable {
        name,
        schema,
        options,
        ..
    }) = bound(sql).statement
    else {
        panic!();
    };
    assert_eq!(name, "new".into());
    let columns: Vec<_> = schema
        .columns
        .iter()
        .map(|c| (c.name.as_str(), c.nullable, c.constant_default()))
        .collect();
    assert_eq!(
        columns,
        [
            ("id", false, Some(Value::Null)),
            ("n", true, Some(Value::Int(150))),
            ("d", true, Some(Value::Int(19782))),
            ("c", true, Some(Value::Text("ab".into()))),
            ("Q", true, Some(Value::Text("x".into()))),
            ("f", true, Some(Value::Int('Y' as i128))),
        ]
    );
    let text = |t: &str| Value::Text(t.to_string());
    let options: Vec<_> = options.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
    assert_eq!(
        options,
        [
            ("pax_rows", Value::Int(64)),
            ("layout.id", text("byteslice")),
            ("encoding.Q", text("dictionary")),
            ("layout.n", text("bit-packed")),
            ("freeze_for", Value::Null),
        ]
    );
}

#[test]
fn alter_table_sets_options_and_nothing_else() {
    let Statement::Writing(Writing::Define(Definition::AlterOptions { table, options })) =
        bound("alter table T set (layout.A = vbp, pax_rows = default)").statement
    else {
        panic!();
    };
    assert_eq!(table, id_of("t"));
    let expected = [
        ("layout.a", Value::Text("vbp".to_string())),
        ("pax_rows", Value::Null),
    ];
    assert_eq!(options, expected.map(|(n, v)| (n.to_string(), v)));
    for (sql, state) in [
        ("alter table t alter nothing type bigint", "42703"),
        ("alter table nothing set (pax_rows = 1)", "42P01"),
        ("alter table t set (pax_rows = 1, Pax_Rows = 2)", "42601"),
        ("alter table t set (layout. = vbp)", "42601"),
    ] {
        assert_eq!(failure(sql).0, state, "{sql}");
    }
}

#[test]
fn explain_freeze_names_table_and_column() {
    for (sql, expected) in [
        ("explain freeze t", (None, false)),
        ("explain freeze table t order by a", (Some(0), false)),
        ("explain analyze freeze t", (None, true)),
        ("explain (analyze) freeze t order by A asc", (Some(0), true)),
    ] {
        let Statement::ExplainFreeze {
            order_by, analyze, ..
        } = bound(sql).statement
        else {
            panic!("{sql}");
        };
        assert_eq!((order_by, analyze), expected, "{sql}");
    }
    assert_eq!(failure("explain freeze nothing").0, "42P01");
    assert_eq!(failure("explain freeze t order by nothing").0, "42703");
    assert_eq!(failure("explain (clif) freeze t").0, "0A000");
}

/// The constraints of a table's definition: each its name, and what it is.
fn constraints(sql: &str) -> Vec<String> {
    let Statement::Writing(Writing::CreateTable { constraints, .. }) = bound(sql).statement else {
        panic!("{sql}");
    };
    let shown = constraints.into_iter().map(|c| {
        let name = c.name.unwrap_or_else(|| "-".to_string());
        match c.kind {
            NewConstraintKind::PrimaryKey { columns, deferral } => {
                format!("{name} primary {columns:?}{}", deferral.words())
            }
            NewConstraintKind::Unique {
                columns,
                nulls_distinct,
                deferral,
            } => {
                format!("{name} unique {columns:?} {nulls_distinct}{}", deferral.words())
            }
            NewConstraintKind::Check {
                expression, columns, ..
            } => {
                format!("{name} check {expression} {columns:?}")
            }
            NewConstraintKind::ForeignKey(key) => {
                let action = |action: ReferentialAction| action.words().to_lowercase();
                format!(
                    "{name} refers {:?} {:?}, {}, {} {:?}",
                    key.columns,
                    key.parent_columns,
                    action(key.on_update),
                    action(key.on_delete),
                    key.set_columns
                )
            }
        }
    });
    shown.collect()
}

#[test]
fn constraints_come_in_the_order_in_which_they_are_written() {
    assert_eq!(
        constraints(
            "create table n (a int constraint k primary key check (a > 0), check ( a + b < 9 /* few */ ), \
             b int unique nulls not distinct constraint \"C\" check ((b is null) or n.b between 1 and 5) unique, \
             constraint u unique nulls not distinct (b, a), unique (a), \
             check (case when a > 1 then length(t) in (1, 2) else true end), t text default 'check (' check (true))"
        ),
        [
            "k primary [0]",
            "- check a > 0 [0]",
            "- check a + b < 9 [0, 1]",
            "- unique [1] false",
            "C check (b is null) or n.b between 1 and 5 [1]",
            "- unique [1] true",
            "u unique [1, 0] false",
            "- unique [0] true",
            "- check case when a > 1 then length(t) in (1, 2) else true end [0, 2]",
            "- check true []",
        ]
    );
}

#[test]
fn a_foreign_key_names_columns_and_actions() {
    assert_eq!(
        constraints(
            "create table n (a int references t, b int constraint k references n (a) on update cascade, \
             foreign key (b, a) references public.t (b, a) match full on delete set null (a) on update restrict, \
             foreign key (a) references public.t on delete set default (\"A\", b))"
        ),
        [
            "- refers [\"a\"] [], no action, no action []",
            "k refers [\"b\"] [\"a\"], cascade, no action []",
            "- refers [\"b\", \"a\"] [\"b\", \"a\"], restrict, set null [\"a\"]",
            "- refers [\"a\"] [], no action, set default [\"A\", \"b\"]",
        ]
    );
}

#[test]
fn definitions_that_cannot_be_are_refused() {
    for (definition, state) in [
        ("a integer primary key, b integer primary key", "42P16"),
        ("a integer primary key, b integer, primary key (b)", "42P16"),
        ("a integer, primary key (b)", "42703"),
        ("a integer, b integer, primary key (a, a)", "42701"),
        ("a integer, b integer, unique (b, b)", "42701"),
        ("a integer, b integer, unique (c)", "42703"),
        ("a integer default 1 default 2", "42601"),
        ("a integer check (b > 0)", "42703"),
        ("a integer check (a + 1)", "42804"),
        ("a integer check (sum(a) > 0)", "42803"),
        ("a integer check (a in (select b from t))", "0A000"),
        ("a integer check (exists (select 1))", "0A000"),
        ("a integer check (a > 'x')", "22P02"),
        ("a integer check (t.b > 0)", "42P01"),
        ("a integer check (a > $1)", "42P02"),
        ("a integer, unique (a desc)", "42601"),
        ("a integer, unique (a + 1)", "42601"),
        ("a integer references t match partial", "0A000"),
        ("a integer references t on update set null (a)", "0A000"),
        (
            "a integer references t on delete cascade on delete cascade",
            "42601",
        ),
        (
            "a integer references t initially deferred not deferrable",
            "42601",
        ),
        ("a integer references nowhere", "42P01"),
        ("a integer default b", "0A000"),
        ("a integer default sum(1)", "42803"),
        ("a integer default (select 1)", "0A000"),
        ("a integer default 'x'", "22P02"),
    ] {
        let (found, message) = failure(&format!("create table n ({definition})"));
        assert_eq!(found, state, "{definition}: {message}");
    }
}

#[test]
fn a_default_is_a_value_or_its_text() {
    let sql = "create table n (a integer default 1 + 2 not null, b text default upper('x') || 'y' check (b > ''), \
               c varchar(2) default 'abc', d integer default case when true then 1 else null end unique, \
               e timestamp default now(), f integer default (not false)::integer)";
    let Statement::Writing(Writing::CreateTable { schema, .. }) = bound(sql).statement else {
        panic!();
    };
    let text = |t: &str| Some(ColumnDefault::Expression(t.to_string()));
    let defaults: Vec<_> = schema.columns.iter().map(|c| c.default.clone()).collect();
    assert_eq!(
        defaults,
        [
            Some(ColumnDefault::Value(Value::Int(3))),
            text("upper('x') || 'y'"),
            text("'abc'"),
            text("case when true then 1 else null end"),
            text("now()"),
            Some(ColumnDefault::Value(Value::Int(1))),
        ]
    );
}

#[test]
fn indexes_are_bound_to_columns() {
    let made = |sql: &str| match bound(sql).statement {
        Statement::Writing(Writing::Define(Definition::CreateIndex(new))) => new,
        other => panic!("{sql}: {other:?}"),
    };
    let new = made(
        "create unique index if not exists i on u using btree (note desc, id nulls first) include (price) nulls not distinct",
    );
    let keys: Vec<_> = new
        .keys
        .iter()
        .map(|k| (k.column, k.descending, k.nulls_first))
        .collect();
    assert_eq!(keys, [(2, true, true), (0, false, true)]);
    assert_eq!(
        (new.name.as_deref(), new.include, new.unique),
        (Some("i"), vec![1], true)
    );
    assert!(new.if_not_exists && !new.nulls_distinct);
    let new = made("create index on u (id)");
    assert_eq!(
        (new.name, new.table, new.nulls_distinct),
        (None, id_of("u"), true)
    );
    for (sql, state) in [
        ("create index i on nowhere (id)", "42P01"),
        ("create index i on u (nothing)", "42703"),
        ("create index i on u (id) include (nothing)", "42703"),
        ("create index i on u (id + 1)", "42601"),
        ("create index i on u (id) where id", "42804"),
        ("create index i on u using hash (id)", "0A000"),
        ("create index i on u (id text_pattern_ops)", "42804"),
        ("create index i on u (note gin_trgm_ops)", "42704"),
    ] {
        let (found, message) = failure(sql);
        assert_eq!(found, state, "{sql}: {message}");
    }
    for sql in [
        "truncate u, only t * restart identity cascade",
        "truncate table u continue identity restrict",
    ] {
        assert!(
            matches!(
                bound(sql).statement,
                Statement::Writing(Writing::Define(Definition::Truncate { .. }))
            ),
            "{sql}"
        );
    }
    assert_eq!(failure("truncate u, nowhere").0, "42P01");
    assert_eq!(failure("truncate").0, "42601");
}

#[test]
fn what_is_not_enforced_is_refused() {
    for (sql, what) in [
        ("create table n (a money)", "type money"),
        ("create table n (a timetz)", "type TIMETZ"),
        ("update t set a = 1 where current of c", "WHERE CURRENT OF"),
        ("delete from t where current of c", "WHERE CURRENT OF"),
        (
            "insert into t (a) values (1) on duplicate key update a = 1",
            "ON DUPLICATE KEY",
        ),
        ("update t set (a) = 1", "a source of several columns"),
        ("set transaction snapshot 'x'", "SNAPSHOT"),
        ("explain (format json) select 1", "EXPLAIN"),
        ("explain create table n (a int)", "EXPLAIN"),
    ] {
        let (state, message) = failure(sql);
        assert_eq!(state, "0A000", "{sql}: {message}");
        assert!(message.contains(what), "{sql}: {message}");
    }
    assert_eq!(failure("create table n (a int, A text)").0, "42701");
    assert_eq!(failure("create table n (a decimal(39,0))").0, "22023");
}

#[test]
fn copy_options() {
    let sql =
        "copy t (b, a) from '/data/f.csv' with (format csv, header, delimiter '|', quote '''', null 'NULL')";
    let Statement::Writing(Writing::CopyFrom {
        columns,
        source,
        options,
        ..
    }) = bound(sql).statement
    else {
        panic!();
    };
    assert_eq!(
        (columns, source),
        (vec![1, 0], CopyEnd::File("/data/f.csv".into()))
    );
    assert_eq!(options.header, CopyHeader::Names);
    assert_eq!(
        (options.delimiter, options.quote, options.escape),
        ('|', '\'', '\'')
    );
    assert_eq!((options.format, options.null.as_str()), (CopyFormat::Csv, "NULL"));
    let Statement::Writing(Writing::CopyFrom { options, .. }) = bound("copy t from 'x.parquet'").statement
    else {
        panic!();
    };
    assert_eq!(options.format, CopyFormat::Parquet);
    let Statement::CopyTo {
        target,
        options,
        plan,
    } = bound("copy (select a from t) to stdout (header)").statement
    else {
        panic!();
    };
    assert_eq!(
        (target, options.header, plan.output.len()),
        (CopyEnd::Client, CopyHeader::Names, 1)
    );
    let to = "copy t (b, a) to 'x.jsonl.gz' (array true, compression zstd)";
    let Statement::CopyTo { plan, options, .. } = bound(to).statement else {
        panic!();
    };
    let names: Vec<&str> = plan.output.iter().map(|c| c.0.as_str()).collect();
    assert_eq!(
        (names, options.format, options.array),
        (vec!["b", "a"], CopyFormat::Json, true)
    );
    assert_eq!(options.compression, CopyCompression::Zstd);
    assert_eq!(failure("copy t (nope) to 'x'").0, "42703");
    assert_eq!(failure("copy (delete from t) to 'x'").0, "0A000");
    assert_eq!(failure("copy (select 1 to 'x'").0, "42601");
    assert_eq!(failure("copy (select 1) from 'x'").0, "42601");
    assert_eq!(failure("copy t to stdin").0, "42601");
    assert_eq!(failure("copy t (nope) from 'x'").0, "42703");
    // A column that is left out may be NOT NULL: the file may have no rows.
    bound("copy u (note) from 'x'");
    assert_eq!(failure("copy t from 'x' (delimiter 'ab')").0, "0A000");
}

#[test]
fn insert_casts_and_fills_defaults() {
    let Statement::Writing(Writing::Write(plan)) =
        bound("insert into u (note, id) values ('a', 1), ('b', '2')").statement
    else {
        panic!();
    };
    let Operator::Write(write) = &plan.root else {
        panic!("{:#?}", plan.root);
    };
    let columns = write.change.values();
    let types: Vec<LogicalType> = columns.iter().map(|c| plan.columns[*c].ty).collect();
    assert_eq!(types[0], LogicalType::Integer);
    assert_eq!(types[2], LogicalType::Varchar(10));
    let Operator::Map(Map { expressions, input }) = &*write.input else {
        panic!("{write:#?}");
    };
    assert_eq!(
        expressions[0].1.kind,
        frazil_plan::ExprKind::Constant(Value::Int(150))
    );
    assert!(matches!(&**input, Operator::Values(Values { rows, .. }) if rows.len() == 2));
    bound("insert into u values (1, default, null)");
    bound("insert into u (id) select a from t where a is not null");
    bound("insert into t default values");
    // NULL in a NOT NULL column is an error of the row.
    bound("insert into u default values");
    bound("insert into u (id) values (null)");
    bound("insert into u (note) values ('x')");
    assert_eq!(
        failure("insert into u (id, note) values (1, 'much too long a note')").0,
        "22001"
    );
    assert_eq!(failure("insert into u (id) values ('x')").0, "22P02");
    // What does not fit is an error when the row is made.
    bound("insert into u (id) values (3000000000)");
    assert_eq!(failure("insert into u (id) select w from t").0, "42804");
    assert_eq!(failure("insert into u (id, id) values (1, 2)").0, "42701");
    assert_eq!(failure("insert into u (id) values (1, 2)").0, "42601");
    assert_eq!(failure("insert into u (nope) values (1)").0, "42703");
}

#[test]
fn delete_reads_row_ids() {
    for sql in [
        "delete from t",
        "delete from t where a = 1 and w like 'x%'",
        "delete from t as o where exists (select 1 from u where id = o.a)",
        "delete from t where a not in (select id from u)",
    ] {
        let Statement::Writing(Writing::Write(plan)) = bound(sql).statement else {
            panic!("{sql}");
        };
        let Operator::Write(write) = &plan.root else {
            panic!("{sql}: {:#?}", plan.root);
        };
        let WriteKind::Delete { row_id } = &write.change.kind else {
            panic!("{sql}: {write:#?}");
        };
        let all = operators(&plan.root);
        let found = all
            .iter()
            .any(|op| matches!(op, Operator::Scan(Scan { row_id: Some(id), .. }) if id == row_id));
        assert!(found, "{sql}: {:#?}", plan.root);
    }
}

#[test]
fn settings_transactions_and_explain() {
    let set = |sql: &str| match bound(sql).statement {
        Statement::Setting(SettingStatement::Set {
            name,
            values,
            is_local,
        }) => {
            let values = values.map_or("default".to_owned(), |values| values.join("|"));
            format!("{}{name}={values}", if is_local { "local " } else { "" })
        }
        Statement::Setting(SettingStatement::Reset { name }) => format!("reset {name}"),
        other => panic!("{other:?}"),
    };
    for (sql, wanted) in [
        ("set threads = 4", "threads=4"),
        ("SET frazil.isa TO 'avx2'", "frazil.isa=avx2"),
        ("set local frazil.stages = relaxed", "local frazil.stages=relaxed"),
        (
            "set session a.b = 007, -2, +3.10, 'x', \"Y\", Z",
            "a.b=7|-2|3.10|x|Y|z",
        ),
        ("set enable_sort = off", "enable_sort=off"),
        ("set enable_sort = on", "enable_sort=on"),
        ("set threads to default", "threads=default"),
        ("set time zone 'UTC'", "timezone=UTC"),
        ("set local time zone -5", "local timezone=-5"),
        ("set time zone local", "timezone=default"),
        ("set names 'utf8'", "client_encoding=utf8"),
        ("set names", "client_encoding=default"),
        ("set schema 'x'", "search_path=x"),
        (
            "set session authorization default",
            "session_authorization=default",
        ),
        (
            "set session session authorization 'me'",
            "session_authorization=me",
        ),
        (
            "set local session authorization me",
            "local session_authorization=me",
        ),
        ("set role none", "role=none"),
        ("set role = none", "role=none"),
        ("set xml option document", "xmloption=document"),
        ("reset threads", "reset threads"),
        ("reset time zone", "reset timezone"),
        ("reset session authorization", "reset session_authorization"),
    ] {
        assert_eq!(set(sql), wanted, "{sql}");
    }
    for sql in [
        "set application_name = user",
        "set application_name = null",
        "set search_path = default, a",
        "set application_name = -'a'",
        "set role",
        "set session authorization",
        "discard nothing",
        "reset session characteristics",
    ] {
        assert_eq!(failure(sql).0, "42601", "{sql}");
    }
    let show = bound("show threads").statement;
    assert!(matches!(show, Statement::Setting(SettingStatement::Show { name }) if name == "threads"));
    assert!(matches!(
        bound("start transaction").statement,
        Statement::Begin { .. }
    ));
    assert!(matches!(
        bound("end").statement,
        Statement::Commit { chain: false }
    ));
    assert!(matches!(
        bound("abort").statement,
        Statement::Rollback { chain: false }
    ));
    assert!(matches!(bound("checkpoint").statement, Statement::Checkpoint));
    let freeze = bound("freeze table lineitem order by l_shipdate").statement;
    assert!(
        matches!(freeze, Statement::Writing(Writing::Freeze { table, order_by: Some(10) }) if table == id_of("lineitem"))
    );
    let explain = bound("explain analyze (stages) select 1").statement;
    assert!(matches!(
        explain,
        Statement::Explain {
            options: ExplainOptions {
                mode: ExplainMode::Stages,
                analyze: true,
                ..
            },
            ..
        }
    ));
    let explain = bound("explain (clif) delete from t").statement;
    assert!(matches!(
        explain,
        Statement::Explain {
            options: ExplainOptions {
                mode: ExplainMode::Clif,
                analyze: false,
                ..
            },
            ..
        }
    ));
    let Statement::Writing(Writing::Define(Definition::Drop(drop))) =
        bound("drop table if exists t, u").statement
    else {
        panic!("not DROP");
    };
    assert!(drop.if_exists && drop.kind == RelationKind::Table && drop.behavior == DropBehavior::Restrict);
    assert_eq!(drop.names, ["t", "u"].map(QualifiedName::from));
    let Statement::Writing(Writing::Define(Definition::Drop(drop))) =
        bound("drop view public.v, \"W\" cascade").statement
    else {
        panic!("not DROP");
    };
    assert!(!drop.if_exists && drop.kind == RelationKind::View && drop.behavior == DropBehavior::Cascade);
    assert_eq!(drop.names, ["v", "W"].map(QualifiedName::from));
}
