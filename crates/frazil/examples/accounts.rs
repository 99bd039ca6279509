//! Transactions that end with their scope: `cargo run -p frazil --example accounts`.

use frazil::{Connection, Database, Decimal, Error, Result, SqlState};

/// Moves money from one account to another. 23514 if the first one has less: then nothing is moved.
fn transfer(connection: &Connection, from: i32, to: i32, amount: Decimal) -> Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_with(
        "update account set balance = balance + $2 where id = $1",
        (to, amount),
    )?;
    // An error leaves the function, and the guard rolls back what was done.
    transaction.execute_with(
        "update account set balance = balance - $2 where id = $1",
        (from, amount),
    )?;
    transaction.commit()
}

fn balance(connection: &Connection, id: i32) -> Result<Decimal> {
    connection
        .query_row("select balance from account where id = $1", (id,))?
        .get(0)
}

/// Moves money twice; the second time there is not enough.
pub fn main() -> Result<()> {
    let connection = Database::memory()?.connect();
    connection.execute(
        "create table account (id integer primary key, balance decimal(12, 2) check (balance >= 0));
         insert into account values (1, 100), (2, 0)",
    )?;
    transfer(&connection, 1, 2, "30.00".parse()?)?;
    let refused = transfer(&connection, 1, 2, "1000.00".parse()?);
    assert_eq!(
        refused.map_err(|e: Error| e.state()),
        Err(SqlState::CHECK_VIOLATION)
    );
    println!("{} and {}", balance(&connection, 1)?, balance(&connection, 2)?);
    assert_eq!(balance(&connection, 2)?.to_string(), "30.00");
    Ok(())
}
