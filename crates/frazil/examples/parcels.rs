//! Typed rows, parameters and a prepared statement: `cargo run -p frazil --example parcels`.

use frazil::{Database, Date, Decimal, Result, params};

/// Stores parcels and prints those that were sent.
pub fn main() -> Result<()> {
    let connection = Database::memory()?.connect();
    connection.execute(
        "create table parcel (id integer primary key, weight decimal(8, 2), tags text[], sent date)",
    )?;
    let insert = connection.prepare("insert into parcel values ($1, $2, $3, $4)")?;
    insert.execute((1, "2.50", vec!["fragile", "glass"], Date::new(2024, 2, 29)?))?;
    insert.execute(params![
        2,
        "12.00".parse::<Decimal>()?,
        Vec::<String>::new(),
        None::<Date>
    ])?;
    let sent = connection.query(
        "select * from parcel where sent <= $1",
        [Date::new(2024, 12, 31)?],
    )?;
    for row in &sent {
        let (id, weight) = (row.get::<i32>("id")?, row.get::<Decimal>("weight")?);
        let tags: Vec<String> = row.get("tags")?;
        println!("parcel {id}: {weight} kg, {}", tags.join(", "));
    }
    assert_eq!(sent.len(), 1);
    // A value goes in as it came out.
    let weights = connection.query("select weight from parcel", ())?;
    for weight in weights.iter().map(frazil::Row::into_values) {
        let same = "select count(*) from parcel where weight = $1";
        assert_eq!(connection.query_row(same, weight)?.get::<i64>(0)?, 1);
    }
    Ok(())
}
