//! New-order (TPC-C, 2.4).

use super::{Ended, any_district, other_warehouse};
use crate::cells::{money, text_of, timestamp, unscaled};
use crate::dice::Dice;
use crate::session::Session;
use crate::steps::Step;
use frazil::{Result, Value};

/// The input.
#[derive(Clone, Debug)]
pub struct NewOrder {
    warehouse: i32,
    district: i32,
    customer: i32,
    /// In the order of the stock that they take from, so that two orders do not wait for each other in a circle.
    lines: Vec<Line>,
    /// Microseconds since 1970.
    entered: i64,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    supplier: i32,
    item: i32,
    quantity: i32,
}

impl NewOrder {
    /// Draws 5 to 15 lines (2.4.1). One in a hundred is from another warehouse, and the last line of one order in a
    /// hundred names an item that does not exist.
    pub fn draw(dice: &mut Dice, warehouse: i32, entered: i64) -> NewOrder {
        let count = dice.number(5, 15);
        let mut lines: Vec<Line> = (0..count)
            .map(|_| Line {
                supplier: match dice.one_in(100) {
                    true => other_warehouse(dice, warehouse),
                    false => warehouse,
                },
                item: dice.item(),
                quantity: dice.number(1, 10),
            })
            .collect();
        lines.sort_by_key(|line| (line.supplier, line.item));
        if dice.one_in(100)
            && let Some(last) = lines.last_mut()
        {
            last.item = dice.population().items + 1;
        }
        NewOrder {
            warehouse,
            district: any_district(dice),
            customer: dice.customer(),
            lines,
            entered,
        }
    }

    /// Runs it.
    pub fn run(&self, session: &mut dyn Session) -> Result<Ended> {
        let (warehouse, district) = (Value::Integer(self.warehouse), Value::Integer(self.district));
        session.run(Step::Begin, &[])?;
        let found = session.run(Step::NewOrderWarehouse, std::slice::from_ref(&warehouse))?;
        let warehouse_tax = unscaled(&found.first()?[0])?;
        let customer = Value::Integer(self.customer);
        let found = session.run(
            Step::NewOrderCustomer,
            &[warehouse.clone(), district.clone(), customer.clone()],
        )?;
        let discount = unscaled(&found.first()?[0])?;
        let taken = session.run(Step::NewOrderDistrict, &[warehouse.clone(), district.clone()])?;
        let next = i32::try_from(unscaled(&taken.first()?[0])?).unwrap_or(i32::MAX);
        let district_tax = unscaled(&taken.first()?[1])?;
        let order = Value::Integer(next - 1);
        self.insert_order(session, &order, customer)?;
        let mut amount = 0;
        for (line, number) in self.lines.iter().zip(1..) {
            match self.take(session, *line, &order, number)? {
                Some(cents) => amount += cents,
                None => {
                    session.run(Step::Rollback, &[])?;
                    return Ok(Ended::RolledBack);
                }
            }
        }
        session.run(Step::Commit, &[])?;
        // The terminal would show it; taxes and discounts are in ten-thousandths.
        let total = amount as f64 * (10_000 - discount) as f64 / 1e4;
        std::hint::black_box(total * (10_000 + warehouse_tax + district_tax) as f64 / 1e4);
        Ok(Ended::Committed)
    }

    fn insert_order(&self, session: &mut dyn Session, order: &Value, customer: Value) -> Result<()> {
        let (warehouse, district) = (Value::Integer(self.warehouse), Value::Integer(self.district));
        let is_local = self.lines.iter().all(|line| line.supplier == self.warehouse);
        let lines = i32::try_from(self.lines.len()).unwrap_or(i32::MAX);
        session.run(
            Step::NewOrderOrders,
            &[
                order.clone(),
                district.clone(),
                warehouse.clone(),
                customer,
                timestamp(self.entered),
                Value::Integer(lines),
                Value::Integer(is_local.into()),
            ],
        )?;
        let waiting = [order.clone(), district, warehouse];
        session.run(Step::NewOrderNewOrder, &waiting).map(drop)
    }

    /// Takes a line's item from the stock and inserts the line. Returns its cents; `None` if the item does not exist.
    fn take(&self, session: &mut dyn Session, line: Line, order: &Value, number: i32) -> Result<Option<i64>> {
        let item = Value::Integer(line.item);
        let found = session.run(Step::NewOrderItem, std::slice::from_ref(&item))?;
        let Some(row) = found.rows.first() else {
            return Ok(None);
        };
        let (price, item_data) = (unscaled(&row[0])?, text_of(&row[2])?);
        let is_remote = line.supplier != self.warehouse;
        let supplier = Value::Integer(line.supplier);
        let quantity = Value::Integer(line.quantity);
        let stock = session.run(
            Step::stock_of_district(self.district),
            &[
                supplier.clone(),
                item.clone(),
                quantity.clone(),
                Value::Integer(is_remote.into()),
            ],
        )?;
        let stock = stock.first()?;
        // The terminal would show it: B for brand, G for generic.
        let is_brand = item_data.contains("ORIGINAL") && text_of(&stock[2])?.contains("ORIGINAL");
        std::hint::black_box(is_brand);
        let cents = price * i64::from(line.quantity);
        session.run(
            Step::NewOrderLine,
            &[
                order.clone(),
                Value::Integer(self.district),
                Value::Integer(self.warehouse),
                Value::Integer(number),
                item,
                supplier,
                quantity,
                money(cents),
                stock[1].clone(),
            ],
        )?;
        Ok(Some(cents))
    }
}
