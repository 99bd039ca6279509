//! The rows of region, nation and supplier, which the CH-benCHmark adds to TPC-C.

use crate::cells::{money, text};
use crate::dice::Dice;
use crate::loading::Loader;
use crate::population::Population;
use frazil::{Connection, Result, Value};

/// The statements that make the three tables.
const SCHEMA: &str = include_str!("../sql/suppliers.sql");
/// The tables, each of which can be dropped alone.
const TABLES: [&str; 3] = ["supplier", "nation", "region"];
/// Their regions; `REGIONS[i]` has the key `i`.
const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
/// TPC-H's nations and Cambodia with the keys of their regions. `NATIONS[i]` has the code of the i-th capital letter as
/// its key, so that each state of a customer names one.
const NATIONS: [(&str, i32); 26] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CAMBODIA", 2),
    ("CANADA", 1),
    ("CHINA", 2),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("ROMANIA", 3),
    ("RUSSIA", 3),
    ("SAUDI ARABIA", 4),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
    ("VIETNAM", 2),
];
/// The key of the first nation: the code of A.
const FIRST_NATION: i32 = 'A' as i32;

/// Makes region, nation and supplier beside the tables of TPC-C, and fills them. After an error they are dropped.
/// 42P07 if one of them was there.
pub fn load_suppliers(connection: &Connection, population: &Population) -> Result<()> {
    connection.execute(SCHEMA)?;
    let mut dice = Dice::loading(*population, SEED);
    let filled = fill(connection, "region", regions(&mut dice))
        .and_then(|()| fill(connection, "nation", nations(&mut dice)))
        .and_then(|()| {
            let suppliers = (0..population.suppliers()).map(|key| supplier(&mut dice, key));
            fill(connection, "supplier", suppliers)
        });
    if filled.is_err() {
        for table in TABLES {
            // The error that counts is the first one.
            let _ = connection.execute(&format!("drop table if exists {table}"));
        }
    }
    filled
}

/// An arbitrary constant, so that the data are always the same.
const SEED: u64 = 0x5355_5050;

fn fill(connection: &Connection, table: &str, rows: impl IntoIterator<Item = Vec<Value>>) -> Result<()> {
    let mut loader = Loader::new(connection, table)?;
    for row in rows {
        loader.add(row)?;
    }
    loader.finish().map(drop)
}

fn regions(dice: &mut Dice) -> Vec<Vec<Value>> {
    let row = |(key, name): (i32, &&str)| vec![Value::Integer(key), text(*name), text(dice.text(31, 115))];
    (0..).zip(&REGIONS).map(row).collect()
}

fn nations(dice: &mut Dice) -> Vec<Vec<Value>> {
    let row = |(key, (name, region)): (i32, &(&str, i32))| {
        let comment = text(dice.text(31, 114));
        vec![Value::Integer(key), text(*name), Value::Integer(*region), comment]
    };
    (FIRST_NATION..).zip(&NATIONS).map(row).collect()
}

/// A supplier. One comment of a hundred has the word Complaints.
fn supplier(dice: &mut Dice, key: i32) -> Vec<Value> {
    let nations = i32::try_from(NATIONS.len()).unwrap_or(1);
    let address = text(dice.text(10, 40));
    let nation = FIRST_NATION + dice.number(0, nations - 1);
    let phone = text(dice.digits(15));
    let balance = money(dice.number(-99_999, 999_999).into());
    let comment = match dice.one_in(100) {
        true => format!("{} Complaints {}", dice.text(10, 40), dice.text(10, 40)),
        false => dice.text(25, 100),
    };
    vec![
        Value::Integer(key),
        text(format!("Supplier#{key:09}")),
        address,
        Value::Integer(nation),
        phone,
        balance,
        text(comment),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nation_has_a_region_and_a_letter() {
        let mut dice = Dice::loading(Population::new(1), 1);
        let rows = nations(&mut dice);
        assert_eq!(rows[0][0], Value::Integer('A' as i32));
        assert_eq!(rows[25][0], Value::Integer('Z' as i32));
        let regions = regions(&mut dice);
        assert!(
            rows.iter()
                .all(|row| regions.iter().any(|region| region[0] == row[2]))
        );
    }

    #[test]
    fn some_suppliers_have_complaints() {
        let mut dice = Dice::loading(Population::new(1), 1);
        let comments = (0..10_000).map(|key| supplier(&mut dice, key).pop());
        let complaints = comments.filter(|comment| match comment {
            Some(Value::Text(text)) => text.contains("Complaints") && text.len() <= 101,
            _ => false,
        });
        let complaints = complaints.count();
        assert!((50..200).contains(&complaints), "{complaints}");
    }
}
