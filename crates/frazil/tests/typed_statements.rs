//! Statements that are described before they run, and run with values of their parameters' types.

use frazil::{Block, Connection, Database, Declared, Described, Kind, LogicalType, RawValue, SqlState};

/// PostgreSQL 15's answers to Parse and Describe: declared types, statement, types of parameters, columns with theirs.
const RECORDED: &str = include_str!("recorded/describe.txt");

const TABLE: &str = "create table d (i integer, s smallint, b bigint, n numeric(10,2), t text, v varchar(5), \
     c char(3), f double precision, r real, dt date, \
     ts timestamp, tz timestamptz, u uuid, j jsonb, a integer[], bo boolean, iv interval)";

/// The number of the type void.
const VOID: u32 = 2278;

fn declared(oid: u32) -> Option<Declared> {
    if oid == Kind::Numeric.info().oid {
        return Some(Declared::Numeric);
    }
    if oid == VOID {
        return Some(Declared::Void);
    }
    let of_kind = |kind: &Kind| {
        let (ty, info) = (kind.plain()?, kind.info());
        match oid {
            oid if oid == info.oid => Some(ty),
            oid if oid == info.array_oid => ty.array(),
            _ => None,
        }
    };
    Kind::ALL
        .iter()
        .filter(|_| oid != 0)
        .find_map(of_kind)
        .map(Declared::Type)
}

fn oid(declared: Declared) -> u32 {
    match declared {
        Declared::Type(ty) => ty.oid(),
        Declared::Numeric => Kind::Numeric.info().oid,
        Declared::Void => VOID,
    }
}

#[test]
fn statements_are_described_as_postgresql_describes_them() {
    let connection = Database::memory().unwrap().connect();
    connection.execute(TABLE).unwrap();
    let mut wrong = Vec::new();
    for line in RECORDED.lines() {
        let [given, sql, parameters, columns] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let types: Vec<_> = given
            .split_whitespace()
            .map(|oid| declared(oid.parse().unwrap()))
            .collect();
        let statement = match connection.prepare_typed(sql, &types) {
            Ok(statement) => statement.unwrap(),
            Err(error) => {
                wrong.push(format!("{line}: {}", error.message()));
                continue;
            }
        };
        let own: Vec<String> = statement.parameters().map(|ty| oid(ty).to_string()).collect();
        let described = statement.describe().unwrap();
        let shown = described.columns().map_or(Vec::new(), |schema| {
            let column = |c: &frazil::ColumnDef| format!("{}:{}", c.name, c.ty.oid());
            schema.columns.iter().map(column).collect()
        });
        let (own, shown) = (own.join(" "), shown.join(" "));
        if (own.as_str(), shown.as_str()) != (parameters, columns) {
            wrong.push(format!("{line}: {own}\t{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn parameters_of_the_type_void_are_no_arguments() {
    let connection = Database::memory().unwrap().connect();
    let types = [Some(Declared::Void), Some(Declared::Type(LogicalType::Text))];
    for sql in [
        "select * from upper($1, $2) as result",
        "select upper($2, $1)",
        "select upper(lower($1, $2))",
    ] {
        let values = [RawValue::Null, RawValue::Text("ab".into())];
        assert_eq!(row(&connection, sql, &types, &values), ["AB"], "{sql}");
    }
}

#[test]
fn describing_runs_and_compiles_nothing() {
    let connection = Database::memory().unwrap().connect();
    connection.execute(TABLE).unwrap();
    let insert = connection.prepare_typed("insert into d (i) values ($1) returning i", &[None]);
    let insert = insert.unwrap().unwrap();
    assert!(matches!(*insert.describe().unwrap(), Described::Rows(_)));
    assert_eq!(count(&connection), 0);
    insert.execute(&[RawValue::Int(7)]).unwrap();
    assert_eq!(count(&connection), 1);
}

fn count(connection: &Connection) -> i64 {
    connection
        .query_row("select count(*) from d", ())
        .unwrap()
        .get(0)
        .unwrap()
}

/// The texts of a statement's only row.
fn row(connection: &Connection, sql: &str, types: &[Option<Declared>], values: &[RawValue]) -> Vec<String> {
    let statement = connection.prepare_typed(sql, types).unwrap().unwrap();
    let rows = statement.execute(values).unwrap().outcome.into_rows().unwrap();
    let row = rows.raw().next().unwrap_or_default();
    let columns = rows.schema().columns.iter();
    row.iter()
        .zip(columns)
        .map(|(value, column)| value.display(column.ty).to_string())
        .collect()
}

#[test]
fn values_of_declared_types_mean_what_they_mean_in_postgresql() {
    let connection = Database::memory().unwrap().connect();
    connection.execute(TABLE).unwrap();
    connection
        .execute("insert into d (i, n) values (1, 1.50), (2, 2.00)")
        .unwrap();
    let int = |ty| Some(Declared::Type(ty));
    let text = |text: &str| RawValue::Text(text.to_owned());
    // A value beyond the column's type is compared as what it is.
    let beyond = [RawValue::Int(1 << 40)];
    assert!(
        row(
            &connection,
            "select i from d where i = $1",
            &[int(LogicalType::BigInt)],
            &beyond
        )
        .is_empty()
    );
    let small = [RawValue::Int(2)];
    assert_eq!(
        row(
            &connection,
            "select i from d where i = $1",
            &[int(LogicalType::SmallInt)],
            &small
        ),
        ["2"]
    );
    let numeric = [Some(Declared::Numeric)];
    for (sql, value, expected) in [
        ("select i from d where n = $1", "1.5", vec!["1"]),
        ("select i from d where n = $1", "1.501", vec![]),
        ("select i from d where i = $1", "1.5", vec![]),
        ("select i from d where i = $1", "2.0", vec!["2"]),
        ("select max(i) from d where i < $1", "1.5", vec!["1"]),
        ("select $1", "123.4500", vec!["123.4500"]),
        ("select $1", "-0.5", vec!["-0.5"]),
        ("select $1 + 1", "0.25", vec!["1.25"]),
        ("insert into d (n) values ($1) returning n", "1.005", vec!["1.01"]),
    ] {
        assert_eq!(
            row(&connection, sql, &numeric, &[text(value)]),
            expected,
            "{sql} {value}"
        );
    }
    let statement = connection
        .prepare_typed("select i from d where n = $1", &numeric)
        .unwrap()
        .unwrap();
    let error = statement.execute(&[text("abc")]).unwrap_err();
    assert_eq!(error.state(), SqlState::INVALID_TEXT);
}

#[test]
fn statements_are_kept_by_the_names_of_prepare() {
    let connection = Database::memory().unwrap().connect();
    let statement = connection
        .prepare_typed("select $1::int + 1", &[])
        .unwrap()
        .unwrap();
    connection.keep("s", &statement).unwrap();
    assert_eq!(
        connection.keep("s", &statement).unwrap_err().state(),
        SqlState::DUPLICATE_STATEMENT
    );
    let value: i32 = connection.query_row("execute s(41)", ()).unwrap().get(0).unwrap();
    assert_eq!(value, 42);
    connection.execute("prepare p as select 1").unwrap();
    assert_eq!(connection.kept("p").unwrap().parameters().len(), 0);
    connection.execute("deallocate all").unwrap();
    assert_eq!(
        connection.kept("s").unwrap_err().state(),
        SqlState::INVALID_STATEMENT_NAME
    );
    // A statement that would run itself.
    let itself = connection.prepare_typed("select 1", &[]).unwrap().unwrap();
    connection.keep("e", &itself).unwrap();
    let execute = connection.prepare_typed("execute e", &[]).unwrap().unwrap();
    connection.forget("e");
    connection.keep("e", &execute).unwrap();
    assert_eq!(
        connection.execute("execute e").unwrap_err().state(),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    assert!(connection.prepare_typed(" ; ", &[]).unwrap().is_none());
    let several = connection.prepare_typed("select 1; select 2", &[]);
    assert_eq!(several.unwrap_err().state(), SqlState::SYNTAX_ERROR);
}

#[test]
fn an_implicit_transaction_holds_statements_without_begin() {
    let connection = Database::memory().unwrap().connect();
    connection.execute("create table d (i integer)").unwrap();
    let insert = |value: i32| connection.execute(&format!("insert into d values ({value})"));
    // Committed at its end.
    connection.begin_implicit().unwrap();
    insert(1).unwrap();
    assert_eq!(connection.block(), Block::Idle);
    connection.end_implicit().unwrap();
    assert_eq!(count(&connection), 1);
    // An error takes all of it back.
    connection.begin_implicit().unwrap();
    insert(2).unwrap();
    assert!(connection.execute("select 1/0").is_err());
    connection.end_implicit().unwrap();
    assert_eq!(count(&connection), 1);
    // BEGIN makes it a block, whose ROLLBACK takes back what came before BEGIN.
    connection.begin_implicit().unwrap();
    insert(3).unwrap();
    assert!(connection.execute("begin").unwrap().notices.is_empty());
    assert_eq!(connection.block(), Block::Open);
    connection.end_implicit().unwrap();
    assert_eq!(connection.block(), Block::Open);
    connection.execute("rollback").unwrap();
    assert_eq!(count(&connection), 1);
    // COMMIT in it commits, with a warning; SAVEPOINT is refused.
    connection.begin_implicit().unwrap();
    insert(4).unwrap();
    let committed = connection.execute("commit").unwrap();
    assert_eq!(committed.notices[0].state, SqlState::NO_ACTIVE_TRANSACTION);
    assert_eq!(count(&connection), 2);
    connection.begin_implicit().unwrap();
    let refused = connection.execute("savepoint a").unwrap_err();
    assert_eq!(refused.state(), SqlState::NO_ACTIVE_TRANSACTION);
    connection.end_implicit().unwrap();
}

#[test]
fn positions_are_those_of_the_whole_text() {
    let connection = Database::memory().unwrap().connect();
    let mut statements = connection.statements("select 'ä';  select nope").unwrap();
    assert_eq!(statements.len(), 2);
    let last = statements.by_ref().last().unwrap().unwrap();
    let error = last.execute(()).unwrap_err();
    assert_eq!(error.position(), Some(21));
}
