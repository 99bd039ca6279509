//! Payment (TPC-C, 2.5).

use super::{Chosen, any_district, other_warehouse};
use crate::cells::{money, text, text_of, timestamp};
use crate::dice::Dice;
use crate::session::Session;
use crate::steps::Step;
use frazil::{Result, Value};

/// The input.
#[derive(Clone, Debug)]
pub struct Payment {
    warehouse: i32,
    district: i32,
    customer_warehouse: i32,
    customer_district: i32,
    customer: Chosen,
    cents: i64,
    /// Microseconds since 1970.
    paid: i64,
}

impl Payment {
    /// Draws an amount of 1.00 to 5,000.00 (2.5.1). Fifteen customers in a hundred are of another warehouse.
    pub fn draw(dice: &mut Dice, warehouse: i32, paid: i64) -> Payment {
        let district = any_district(dice);
        let is_remote = dice.number(1, 100) <= 15 && dice.population().warehouses > 1;
        let (customer_warehouse, customer_district) = match is_remote {
            true => (other_warehouse(dice, warehouse), any_district(dice)),
            false => (warehouse, district),
        };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: Chosen::draw(dice),
            cents: dice.number(100, 500_000).into(),
            paid,
        }
    }

    /// Runs it.
    pub fn run(&self, session: &mut dyn Session) -> Result<()> {
        let (warehouse, district) = (Value::Integer(self.warehouse), Value::Integer(self.district));
        let amount = money(self.cents);
        session.run(Step::Begin, &[])?;
        let found = session.run(Step::PaymentWarehouse, &[warehouse.clone(), amount.clone()])?;
        let warehouse_name = text_of(&found.first()?[0])?.to_owned();
        let found = session.run(
            Step::PaymentDistrict,
            &[warehouse.clone(), district.clone(), amount.clone()],
        )?;
        let district_name = text_of(&found.first()?[0])?.to_owned();
        let customer_warehouse = Value::Integer(self.customer_warehouse);
        let customer_district = Value::Integer(self.customer_district);
        let customer = (self.customer).number(session, self.customer_warehouse, self.customer_district)?;
        let found = session.run(
            Step::PaymentCustomer,
            &[
                customer_warehouse.clone(),
                customer_district.clone(),
                customer.clone(),
                amount.clone(),
            ],
        )?;
        if text_of(&found.first()?[CREDIT])? == "BC" {
            let note = self.note(&customer);
            session.run(
                Step::PaymentBadCredit,
                &[
                    customer_warehouse.clone(),
                    customer_district.clone(),
                    customer.clone(),
                    note,
                ],
            )?;
        }
        session.run(
            Step::PaymentHistory,
            &[
                customer,
                customer_district,
                customer_warehouse,
                district,
                warehouse,
                timestamp(self.paid),
                amount,
                text(format!("{warehouse_name}    {district_name}")),
            ],
        )?;
        session.run(Step::Commit, &[]).map(drop)
    }

    /// The text that c_data of a customer with bad credit begins with.
    fn note(&self, customer: &Value) -> Value {
        let number = match customer {
            Value::Integer(number) => i64::from(*number),
            Value::BigInt(number) => *number,
            _ => 0,
        };
        text(format!(
            "{number} {} {} {} {} {}.{:02} | ",
            self.customer_district,
            self.customer_warehouse,
            self.district,
            self.warehouse,
            self.cents / 100,
            self.cents % 100
        ))
    }
}

/// Position of c_credit in the result of the customer's update.
const CREDIT: usize = 10;
