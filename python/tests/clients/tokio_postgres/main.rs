//! tokio-postgres: types, prepared statements, portals, COPY, notifications, cancelling, pipelines.
//! Usage: tokio_postgres_steps PORT [OPTIONS | short], which does the work of a recording

mod short;

use futures_util::{SinkExt, StreamExt, TryStreamExt, future, pin_mut, stream};
use std::error::Error;
use std::time::Duration;
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::types::{FromSql, Kind, ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, IsolationLevel, NoTls, SimpleQueryMessage};

type Done = Result<(), Box<dyn Error>>;

/// Reports a step. The exit code is 1 if one failed.
fn report(failed: &mut bool, name: &str, done: Done) {
    match done {
        Ok(()) => println!("ok {name}"),
        Err(error) => {
            *failed = true;
            println!("FAIL {name}: {error:?}");
        }
    }
}

fn check(is_right: bool, what: &str) -> Done {
    match is_right {
        true => Ok(()),
        false => Err(format!("another answer: {what}").into()),
    }
}

/// Sends a value there and back, in binary.
async fn there_and_back<T>(client: &Client, ty: &str, value: T) -> Done
where
    T: ToSql + for<'a> FromSql<'a> + PartialEq + std::fmt::Debug + Sync,
{
    let row = client.query_one(&format!("select $1::{ty}"), &[&value]).await?;
    let back: T = row.try_get(0)?;
    check(back == value, &format!("{ty}: {back:?}"))
}

async fn types(client: &Client) -> Done {
    there_and_back(client, "boolean", true).await?;
    there_and_back(client, "smallint", i16::MIN).await?;
    there_and_back(client, "integer", i32::MAX).await?;
    there_and_back(client, "bigint", i64::MIN).await?;
    there_and_back(client, "real", 1.5f32).await?;
    there_and_back(client, "double precision", f64::NEG_INFINITY).await?;
    there_and_back(client, "text", "ä€".to_owned()).await?;
    there_and_back(client, "varchar", String::new()).await?;
    there_and_back(client, "bytea", vec![0u8, 255, 92]).await?;
    there_and_back(client, "\"char\"", 65i8).await?;
    there_and_back(client, "oid", u32::MAX).await?;
    there_and_back(client, "uuid", uuid::Uuid::from_u128(7)).await?;
    there_and_back(client, "jsonb", serde_json::json!({"a": [1, null, "x"]})).await?;
    there_and_back(client, "json", serde_json::json!([1, {"b": 2.5}])).await?;
    there_and_back(client, "date", time::macros::date!(1582 - 10 - 15)).await?;
    there_and_back(client, "time", time::macros::time!(23:59:59.999999)).await?;
    there_and_back(client, "timestamp", time::macros::datetime!(2024-02-29 12:30:15.123456)).await?;
    there_and_back(client, "timestamptz", time::macros::datetime!(2024-02-29 12:30:15 UTC)).await?;
    there_and_back(client, "integer[]", vec![Some(1), None, Some(3)]).await?;
    there_and_back(client, "text[]", vec!["a".to_owned(), "b,\"c\"".to_owned()]).await?;
    there_and_back(client, "integer", None::<i32>).await
}

async fn run(client: &mut Client, config: &Config, messages: &mut Messages) -> bool {
    let mut failed = false;
    let mut step = |name: &str, done: Done| report(&mut failed, name, done);
    let defined = client
        .batch_execute(
            "drop table if exists rust; drop type if exists rust_mood; drop domain if exists rust_positive;
             create table rust (id serial primary key, name text not null unique, n numeric(8, 2));
             create type rust_mood as enum ('sad', 'ok');
             create domain rust_positive as integer check (value > 0)",
        )
        .await;
    step("batch_execute", defined.map_err(Into::into));
    step("types", types(client).await);
    step("enumerations", enumerations(client).await);
    step("execute", execute(client).await);
    step("prepared", prepared(client).await);
    step("simple_query", simple(client).await);
    step("query_raw", streamed(client).await);
    step("errors", errors(client).await);
    step("transaction", transaction(client).await);
    step("portals", portals(client).await);
    step("isolation", isolation(client).await);
    step("copy_in", copy_in(client).await);
    step("copy_out", copy_out(client).await);
    step("binary copy", binary_copy(client).await);
    step("pipeline", pipeline(client).await);
    step("cancel", cancel(client, config).await);
    step("notices", notices(client, messages).await);
    step("notifications", notifications(client, messages).await);
    failed
}

async fn enumerations(client: &Client) -> Done {
    for expression in [
        "'ok'::rust_mood",
        "max(m) from unnest(enum_range(null::rust_mood)) m",
        "coalesce(null, 'sad'::rust_mood)",
        "$1::rust_mood",
        "x.m from (values ('ok'::rust_mood)) x (m)",
    ] {
        let statement = client.prepare(&format!("select {expression}")).await?;
        let ty = statement.columns()[0].type_();
        let labels = matches!(ty.kind(), Kind::Enum(labels) if labels == &["sad", "ok"]);
        check(ty.name() == "rust_mood" && labels, expression)?;
    }
    let statement = client.prepare("select enum_range(null::rust_mood)").await?;
    let is_array = matches!(statement.columns()[0].type_().kind(), Kind::Array(of) if of.name() == "rust_mood");
    check(is_array, "array")
}

async fn execute(client: &Client) -> Done {
    let inserted = client
        .execute("insert into rust (name) values ($1), ($2)", &[&"Ada", &"Bob"])
        .await?;
    check(inserted == 2, "rows")?;
    let row = client
        .query_one("insert into rust (name) values ($1) returning id, name", &[&"Cyd"])
        .await?;
    check(row.get::<_, i32>("id") == 3 && row.get::<_, &str>(1) == "Cyd", "returning")?;
    let none = client.query_opt("select 1 from rust where id = $1", &[&99]).await?;
    check(none.is_none(), "no row")
}

async fn prepared(client: &Client) -> Done {
    let statement = client.prepare_typed("select $1 + 1, $2", &[Type::INT8, Type::TEXT]).await?;
    check(statement.params() == [Type::INT8, Type::TEXT], "parameters")?;
    for n in 0..20i64 {
        let row = client.query_one(&statement, &[&n, &"x"]).await?;
        check(row.get::<_, i64>(0) == n + 1, "sum")?;
    }
    let statement = client.prepare("select id, name from rust where name = $1").await?;
    let column = &statement.columns()[0];
    check(column.name() == "id" && column.table_oid().is_some() && column.column_id() == Some(1), "origin")
}

async fn simple(client: &Client) -> Done {
    let messages = client
        .simple_query("select id, n from rust where id < 3 order by id; update rust set n = id")
        .await?;
    let mut rows = 0;
    for message in &messages {
        match message {
            SimpleQueryMessage::Row(row) => {
                rows += 1;
                check(row.get(1).is_none(), "NULL")?;
            }
            SimpleQueryMessage::CommandComplete(count) => check(*count == 2 || *count == 3, "count")?,
            _ => {}
        }
    }
    check(rows == 2, "rows")
}

async fn streamed(client: &Client) -> Done {
    let parameters: [i64; 1] = [100_000];
    let rows = client.query_raw("select g from generate_series(1, $1::bigint) g", parameters).await?;
    pin_mut!(rows);
    let mut sum = 0;
    while let Some(row) = rows.try_next().await? {
        sum += row.get::<_, i64>(0);
    }
    check(sum == 5_000_050_000, "sum")
}

async fn errors(client: &Client) -> Done {
    let error = client.execute("insert into rust (name) values ('Ada')", &[]).await.expect_err("a duplicate");
    let error = error.as_db_error().ok_or("no error of the server")?;
    check(error.code().code() == "23505", error.code().code())?;
    let named = (error.table(), error.constraint());
    check(named == (Some("rust"), Some("rust_name_key")), &format!("{named:?}"))?;
    let error = client.query("select missing", &[]).await.expect_err("no column");
    let error = error.as_db_error().ok_or("no error of the server")?;
    check(error.position().is_some(), "position")
}

async fn transaction(client: &mut Client) -> Done {
    let mut transaction = client.transaction().await?;
    transaction.execute("delete from rust", &[]).await?;
    let inner = transaction.savepoint("here").await?;
    inner.execute("insert into rust (name) values ('Dan')", &[]).await?;
    inner.rollback().await?;
    let count: i64 = transaction.query_one("select count(*) from rust", &[]).await?.get(0);
    check(count == 0, "deleted")?;
    transaction.rollback().await?;
    let count: i64 = client.query_one("select count(*) from rust", &[]).await?.get(0);
    check(count == 3, "rolled back")
}

async fn portals(client: &mut Client) -> Done {
    let transaction = client.transaction().await?;
    let statement = transaction.prepare("select g from generate_series(1, $1::integer) g").await?;
    let (a, b) = (transaction.bind(&statement, &[&10]).await?, transaction.bind(&statement, &[&5]).await?);
    let mut lengths = Vec::new();
    for (portal, most) in [(&a, 4), (&b, 2), (&a, 4), (&b, 0), (&a, 4)] {
        lengths.push(transaction.query_portal(portal, most).await?.len());
    }
    check(lengths == [4, 2, 4, 3, 2], &format!("{lengths:?}"))?;
    transaction.commit().await?;
    Ok(())
}

async fn isolation(client: &mut Client) -> Done {
    for (level, name) in [
        (IsolationLevel::ReadUncommitted, "read uncommitted"),
        (IsolationLevel::ReadCommitted, "read committed"),
        (IsolationLevel::RepeatableRead, "repeatable read"),
        (IsolationLevel::Serializable, "serializable"),
    ] {
        let begun = client.build_transaction().isolation_level(level).read_only(true).start().await?;
        let shown: String = begun.query_one("show transaction_isolation", &[]).await?.get(0);
        check(shown == name, &shown)?;
        begun.commit().await?;
    }
    Ok(())
}

async fn copy_in(client: &Client) -> Done {
    let sink = client.copy_in("copy rust (name) from stdin").await?;
    let parts = stream::iter([&b"E"[..], b"ve\nF", b"in\n"]).map(Ok);
    pin_mut!(sink);
    let mut parts = parts;
    sink.send_all(&mut parts).await?;
    check(sink.finish().await? == 2, "rows")
}

async fn copy_out(client: &Client) -> Done {
    let parts = client.copy_out("copy (select name from rust where id > 3 order by id) to stdout").await?;
    let bytes: Vec<_> = parts.try_collect().await?;
    check(bytes.concat() == b"Eve\nFin\n", &String::from_utf8_lossy(&bytes.concat()))
}

async fn binary_copy(client: &Client) -> Done {
    let types = [Type::TEXT, Type::INT4];
    client.batch_execute("drop table if exists rust_copy; create table rust_copy (b text, a integer)").await?;
    let sink = client.copy_in("copy rust_copy from stdin binary").await?;
    let writer = BinaryCopyInWriter::new(sink, &types);
    pin_mut!(writer);
    for n in 0..1000i32 {
        let text = (n % 7 != 0).then(|| format!("row {n}"));
        writer.as_mut().write(&[&text, &n]).await?;
    }
    check(writer.finish().await? == 1000, "rows")?;
    let parts = client.copy_out("copy (select b, a from rust_copy order by a) to stdout binary").await?;
    let rows = BinaryCopyOutStream::new(parts, &types);
    pin_mut!(rows);
    let mut count = 0;
    while let Some(row) = rows.try_next().await? {
        let (text, n): (Option<&str>, i32) = (row.try_get(0)?, row.try_get(1)?);
        check(n == count && text.is_some() == (n % 7 != 0), "a row")?;
        count += 1;
    }
    check(count == 1000, "rows back")
}

async fn pipeline(client: &Client) -> Done {
    let one = |n: i32| async move { client.query_one("select $1::integer * 2", &[&n]).await };
    let rows = future::try_join_all((0..50).map(one)).await?;
    let is_right = rows.iter().enumerate().all(|(n, row)| row.get::<_, i32>(0) == 2 * n as i32);
    check(is_right, "rows")
}

async fn cancel(client: &Client, config: &Config) -> Done {
    let token = client.cancel_token();
    let canceling = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel_query(NoTls).await
    };
    let running = client.batch_execute("select count(*) from generate_series(1, 100000000000)");
    let (ran, cancelled) = future::join(running, canceling).await;
    cancelled?;
    let error = ran.expect_err("cancelled");
    check(error.code().is_some_and(|code| code.code() == "57014"), "57014")?;
    check(config.get_user() == Some("me") || config.get_user().is_some(), "user")
}

type Messages = tokio::sync::mpsc::UnboundedReceiver<AsyncMessage>;

async fn notices(client: &Client, messages: &mut Messages) -> Done {
    while messages.try_recv().is_ok() {}
    client.batch_execute("drop table if exists rust_never").await?;
    let told = tokio::time::timeout(Duration::from_secs(10), messages.recv()).await?;
    let is_notice = matches!(&told, Some(AsyncMessage::Notice(notice)) if notice.code().code() == "00000");
    check(is_notice, &format!("{told:?}"))
}

async fn notifications(client: &Client, messages: &mut Messages) -> Done {
    client.batch_execute("listen rust; notify rust, 'hello'").await?;
    let told = tokio::time::timeout(Duration::from_secs(10), messages.recv()).await?;
    let is_told = matches!(&told, Some(AsyncMessage::Notification(n)) if n.channel() == "rust" && n.payload() == "hello");
    check(is_told, &format!("{told:?}"))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().ok_or("PORT")?;
    let others = arguments.next();
    if others.as_deref() == Some("short") {
        return short::run(&port).await;
    }
    let others = others.unwrap_or_else(|| "user=me dbname=frazil".to_owned());
    let config: Config = format!("host=127.0.0.1 port={port} {others} application_name=rust").parse()?;
    let (mut client, mut connection) = config.connect(NoTls).await?;
    let (sender, mut messages) = tokio::sync::mpsc::unbounded_channel();
    let told = stream::poll_fn(move |context| connection.poll_message(context));
    tokio::spawn(told.try_for_each(move |message| {
        let _ = sender.send(message);
        future::ready(Ok(()))
    }));
    let failed = run(&mut client, &config, &mut messages).await;
    std::process::exit(failed.into());
}
