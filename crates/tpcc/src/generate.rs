//! The rows that the tables are loaded with (TPC-C, 4.3.3.1).

use crate::cells::{money, rate, text, timestamp};
use crate::dice::{Dice, last_name};
use crate::population::{DISTRICTS, Population};
use crate::tables::Table;
use frazil::{Result, Value};

/// The time of loading, in microseconds since 1970: 2026-01-01 00:00, so that the data are always the same.
pub const SINCE: i64 = 1_767_225_600_000_000;

/// Receives rows one by one.
type Take<'t> = &'t mut dyn FnMut(Vec<Value>) -> Result<()>;

/// Makes the rows of a table for one warehouse, in the order of their keys, and hands each to `take`: its values are in
/// the order of the columns. A shared table's rows come with the first warehouse. The errors of `take`.
pub fn generate(table: Table, population: &Population, warehouse: i32, take: Take<'_>) -> Result<()> {
    let seed = (u64::from(warehouse.unsigned_abs()) << 8) | table as u64;
    let mut dice = Dice::loading(*population, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    if table.is_shared() && warehouse > 1 {
        return Ok(());
    }
    match table {
        Table::Item => (1..=population.items).try_for_each(|id| take(item(&mut dice, id))),
        Table::Warehouse => take(warehouse_row(&mut dice, warehouse)),
        Table::Stock => (1..=population.items).try_for_each(|id| take(stock(&mut dice, warehouse, id))),
        Table::District
        | Table::Customer
        | Table::History
        | Table::Orders
        | Table::OrderLine
        | Table::NewOrder => (1..=DISTRICTS).try_for_each(|district| {
            let place = Place { warehouse, district };
            place.rows(table, &mut dice, take)
        }),
    }
}

/// A district of a warehouse.
#[derive(Clone, Copy)]
struct Place {
    warehouse: i32,
    district: i32,
}

impl Place {
    fn rows(self, table: Table, dice: &mut Dice, take: Take<'_>) -> Result<()> {
        let customers = dice.population().customers;
        match table {
            Table::District => take(self.district_row(dice)),
            Table::Customer => (1..=customers).try_for_each(|id| take(self.customer(dice, id))),
            Table::History => (1..=customers).try_for_each(|id| take(self.history(dice, id))),
            Table::Orders => {
                let permutation = dice.permutation(customers);
                let lines = self.lines_of_orders(dice.population());
                (1..=customers)
                    .zip(permutation)
                    .zip(lines)
                    .try_for_each(|((id, customer), lines)| take(self.order(dice, id, customer, lines)))
            }
            Table::OrderLine => {
                let lines = self.lines_of_orders(dice.population());
                (1..=customers).zip(lines).try_for_each(|(order, lines)| {
                    (1..=lines).try_for_each(|number| take(self.order_line(dice, order, number)))
                })
            }
            Table::NewOrder => (first_waiting(dice.population())..=customers)
                .try_for_each(|id| take(vec![int(id), int(self.district), int(self.warehouse)])),
            Table::Item | Table::Warehouse | Table::Stock => Ok(()),
        }
    }

    /// The number of lines of each order: the rows of `orders` and of `order_line` agree on it.
    fn lines_of_orders(self, population: &Population) -> Vec<i32> {
        let seed = u64::from((self.warehouse * DISTRICTS + self.district).unsigned_abs());
        let mut dice = Dice::loading(*population, seed);
        (0..population.customers).map(|_| dice.number(5, 15)).collect()
    }

    fn district_row(self, dice: &mut Dice) -> Vec<Value> {
        let customers = dice.population().customers;
        let mut row = vec![int(self.district), int(self.warehouse), text(dice.text(6, 10))];
        row.extend(address(dice));
        row.push(rate(dice.number(0, 2_000)));
        row.push(money(PAID * i64::from(customers)));
        row.push(int(customers + 1));
        row
    }

    fn customer(self, dice: &mut Dice, id: i32) -> Vec<Value> {
        let names = dice.population().last_names();
        let mut row = vec![int(id), int(self.district), int(self.warehouse)];
        row.push(text(dice.text(8, 16)));
        row.push(text("OE"));
        row.push(text(match id <= names {
            true => last_name(id - 1),
            false => dice.last_name(),
        }));
        row.extend(address(dice));
        row.push(text(dice.digits(16)));
        row.push(timestamp(SINCE));
        row.push(text(if dice.one_in(10) { "BC" } else { "GC" }));
        row.push(money(5_000_000));
        row.push(rate(dice.number(0, 5_000)));
        row.extend([money(-PAID), money(PAID), int(1), int(0)]);
        row.push(text(dice.text(300, 500)));
        row
    }

    fn history(self, dice: &mut Dice, customer: i32) -> Vec<Value> {
        let (district, warehouse) = (int(self.district), int(self.warehouse));
        vec![
            int(customer),
            district.clone(),
            warehouse.clone(),
            district,
            warehouse,
            timestamp(SINCE),
            money(PAID),
            text(dice.text(12, 24)),
        ]
    }

    fn order(self, dice: &mut Dice, id: i32, customer: i32, lines: i32) -> Vec<Value> {
        let is_waiting = id >= first_waiting(dice.population());
        let carrier = dice.number(1, 10);
        vec![
            int(id),
            int(self.district),
            int(self.warehouse),
            int(customer),
            timestamp(SINCE),
            if is_waiting { Value::Null } else { int(carrier) },
            int(lines),
            int(1),
        ]
    }

    fn order_line(self, dice: &mut Dice, order: i32, number: i32) -> Vec<Value> {
        let is_waiting = order >= first_waiting(dice.population());
        let items = dice.population().items;
        let item = dice.number(1, items);
        let amount = dice.number(1, 999_999);
        vec![
            int(order),
            int(self.district),
            int(self.warehouse),
            int(number),
            int(item),
            int(self.warehouse),
            if is_waiting { Value::Null } else { timestamp(SINCE) },
            int(5),
            money(if is_waiting { amount.into() } else { 0 }),
            text(dice.text(24, 24)),
        ]
    }
}

/// Cents that each customer has paid when the tables are loaded.
const PAID: i64 = 1_000;

/// The first order of a district that waits for delivery.
fn first_waiting(population: &Population) -> i32 {
    population.customers - population.waiting_orders() + 1
}

fn int(number: i32) -> Value {
    Value::Integer(number)
}

/// Two streets, city, state and zip code.
fn address(dice: &mut Dice) -> [Value; 5] {
    [
        text(dice.text(10, 20)),
        text(dice.text(10, 20)),
        text(dice.text(10, 20)),
        text(dice.state()),
        text(dice.zip()),
    ]
}

fn item(dice: &mut Dice, id: i32) -> Vec<Value> {
    vec![
        int(id),
        int(dice.number(1, 10_000)),
        text(dice.text(14, 24)),
        money(dice.number(100, 10_000).into()),
        text(dice.data()),
    ]
}

fn warehouse_row(dice: &mut Dice, id: i32) -> Vec<Value> {
    let customers = i64::from(dice.population().customers);
    let mut row = vec![int(id), text(dice.text(6, 10))];
    row.extend(address(dice));
    row.push(rate(dice.number(0, 2_000)));
    row.push(money(PAID * customers * i64::from(DISTRICTS)));
    row
}

fn stock(dice: &mut Dice, warehouse: i32, item: i32) -> Vec<Value> {
    let mut row = vec![int(item), int(warehouse), int(dice.number(10, 100))];
    row.extend((0..DISTRICTS).map(|_| text(dice.text(24, 24))));
    row.extend([int(0), int(0), int(0), text(dice.data())]);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TABLES;

    /// The number of rows and their first values.
    fn rows(table: Table, population: &Population, warehouse: i32) -> Vec<Vec<Value>> {
        let mut rows = Vec::new();
        generate(table, population, warehouse, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
        rows
    }

    #[test]
    fn tables_have_the_rows_of_their_population() {
        let population = Population::reduced(2, 30);
        let count = |table, warehouse| rows(table, &population, warehouse).len();
        assert_eq!((count(Table::Item, 1), count(Table::Item, 2)), (3_333, 0));
        assert_eq!(count(Table::Stock, 2), 3_333);
        assert_eq!(count(Table::Customer, 1), 1_000);
        assert_eq!(count(Table::NewOrder, 1), 300);
        let lines: i32 = rows(Table::Orders, &population, 2)
            .iter()
            .map(|row| match &row[6] {
                Value::Integer(lines) => *lines,
                other => panic!("{other:?}"),
            })
            .sum();
        assert_eq!(count(Table::OrderLine, 2), lines as usize);
    }

    #[test]
    fn rows_follow_from_the_warehouse() {
        let population = Population::reduced(2, 300);
        for table in TABLES.into_iter().filter(|table| !table.is_shared()) {
            let first = rows(table, &population, 1);
            assert_eq!(first, rows(table, &population, 1), "{}", table.name());
            assert_ne!(first, rows(table, &population, 2), "{}", table.name());
        }
    }

    #[test]
    fn the_first_customers_have_all_last_names() {
        let population = Population::reduced(1, 1);
        let customers = rows(Table::Customer, &population, 1);
        assert_eq!(customers[371][5], text("PRICALLYOUGHT"));
        assert_eq!(customers[999][5], text("EINGEINGEING"));
    }
}
