//! Short work, for a recording.

use futures_util::{SinkExt, TryStreamExt, pin_mut};
use tokio_postgres::NoTls;
use tokio_postgres::types::Type;

pub async fn run(port: &str) -> Result<(), Box<dyn std::error::Error>> {
    let place = format!("host=127.0.0.1 port={port} user=me dbname=frazil sslmode=disable");
    let (mut client, connection) = tokio_postgres::connect(&place, NoTls).await?;
    let driving = tokio::spawn(connection);
    client
        .batch_execute("create table short (id integer primary key, name text, price float8, at timestamp)")
        .await?;
    let insert = client.prepare("insert into short (id, name) values ($1, $2)").await?;
    client.execute(&insert, &[&1, &"one"]).await?;
    client.execute(&insert, &[&2, &None::<&str>]).await?;
    let rows = client
        .query("select id, name, price from short where id = any($1) order by id", &[&vec![1, 2]])
        .await?;
    assert_eq!(rows.len(), 2);
    client.query_typed("select $1", &[(&"x", Type::TEXT)]).await?;
    assert!(client.query("select $1::integer / 0", &[&1]).await.is_err());
    let transaction = client.transaction().await?;
    let portal = transaction.bind("select n from generate_series(1, 5) as n", &[]).await?;
    transaction.query_portal(&portal, 2).await?;
    transaction.query_portal(&portal, 0).await?;
    transaction.execute("delete from short", &[]).await?;
    transaction.rollback().await?;
    let sink = client.copy_in("copy short (id, name) from stdin").await?;
    pin_mut!(sink);
    sink.send(bytes()).await?;
    sink.finish().await?;
    let copied = client.copy_out("copy short to stdout").await?;
    let _: Vec<_> = copied.try_collect().await?;
    drop(client);
    driving.await??;
    Ok(())
}

fn bytes() -> std::io::Cursor<&'static [u8]> {
    std::io::Cursor::new(b"7\tseven\n")
}
