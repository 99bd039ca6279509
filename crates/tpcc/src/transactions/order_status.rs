//! Order-status (TPC-C, 2.6).

use super::{Chosen, any_district};
use crate::dice::Dice;
use crate::session::Session;
use crate::steps::Step;
use frazil::{Result, Value};

/// The input.
#[derive(Clone, Debug)]
pub struct OrderStatus {
    warehouse: i32,
    district: i32,
    customer: Chosen,
}

impl OrderStatus {
    /// Draws a customer of the warehouse (2.6.1).
    pub fn draw(dice: &mut Dice, warehouse: i32) -> OrderStatus {
        OrderStatus {
            warehouse,
            district: any_district(dice),
            customer: Chosen::draw(dice),
        }
    }

    /// Runs it.
    pub fn run(&self, session: &mut dyn Session) -> Result<()> {
        session.run(Step::BeginReading, &[])?;
        let customer = self.customer.number(session, self.warehouse, self.district)?;
        let (warehouse, district) = (Value::Integer(self.warehouse), Value::Integer(self.district));
        let key = [warehouse.clone(), district.clone(), customer];
        session.run(Step::OrderStatusCustomer, &key)?.first()?;
        let order = session.run(Step::OrderStatusOrder, &key)?;
        let number = order.first()?[0].clone();
        session
            .run(Step::OrderStatusLines, &[warehouse, district, number])?
            .first()?;
        session.run(Step::Commit, &[]).map(drop)
    }
}
