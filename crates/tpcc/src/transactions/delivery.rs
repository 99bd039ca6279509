//! Delivery (TPC-C, 2.7): all districts of a warehouse in one transaction.

use crate::cells::{money, timestamp, unscaled};
use crate::dice::Dice;
use crate::population::DISTRICTS;
use crate::session::Session;
use crate::steps::Step;
use frazil::{Result, Value};

/// The input.
#[derive(Clone, Debug)]
pub struct Delivery {
    warehouse: i32,
    carrier: i32,
    /// Microseconds since 1970.
    delivered: i64,
}

impl Delivery {
    /// Draws a carrier (2.7.1).
    pub fn draw(dice: &mut Dice, warehouse: i32, delivered: i64) -> Delivery {
        Delivery {
            warehouse,
            carrier: dice.number(1, 10),
            delivered,
        }
    }

    /// Runs it.
    pub fn run(&self, session: &mut dyn Session) -> Result<()> {
        session.run(Step::Begin, &[])?;
        (1..=DISTRICTS).try_for_each(|district| self.deliver(session, district))?;
        session.run(Step::Commit, &[]).map(drop)
    }

    /// Delivers the oldest order of a district, if one waits.
    fn deliver(&self, session: &mut dyn Session, district: i32) -> Result<()> {
        let place = [Value::Integer(self.warehouse), Value::Integer(district)];
        let order = loop {
            let oldest = session.run(Step::DeliveryOldest, &place)?.first()?[0].clone();
            if oldest.is_null() {
                return Ok(());
            }
            let key = of_order(&place, &oldest);
            // Another terminal may have taken the order since.
            if session.run(Step::DeliveryNewOrder, &key)?.count == 1 {
                break key;
            }
        };
        let [warehouse, district, number] = order;
        let key = |last| [warehouse.clone(), district.clone(), number.clone(), last];
        let given = session.run(Step::DeliveryOrder, &key(Value::Integer(self.carrier)))?;
        let customer = given.first()?[0].clone();
        let lines = session.run(Step::DeliveryLines, &key(timestamp(self.delivered)))?;
        let amounts = lines.rows.iter().map(|row| unscaled(&row[0]));
        let cents: i64 = amounts.sum::<Result<i64>>()?;
        session
            .run(
                Step::DeliveryCustomer,
                &[warehouse, district, customer, money(cents)],
            )
            .map(drop)
    }
}

/// The key of an order of a district.
fn of_order(place: &[Value; 2], order: &Value) -> [Value; 3] {
    let [warehouse, district] = place.clone();
    [warehouse, district, order.clone()]
}
