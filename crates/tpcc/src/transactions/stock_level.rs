//! Stock-level (TPC-C, 2.8).

use super::Home;
use crate::cells::unscaled;
use crate::dice::Dice;
use crate::session::Session;
use crate::steps::Step;
use frazil::{Result, Value};

/// Orders that it looks at.
const ORDERS: i32 = 20;

/// The input.
#[derive(Clone, Debug)]
pub struct StockLevel {
    home: Home,
    threshold: i32,
}

impl StockLevel {
    /// Draws a threshold from 10 to 20 for the terminal's district (2.8.1).
    pub fn draw(dice: &mut Dice, home: Home) -> StockLevel {
        StockLevel {
            home,
            threshold: dice.number(10, 20),
        }
    }

    /// Runs it.
    pub fn run(&self, session: &mut dyn Session) -> Result<()> {
        let place = [
            Value::Integer(self.home.warehouse),
            Value::Integer(self.home.district),
        ];
        session.run(Step::BeginReading, &[])?;
        let found = session.run(Step::StockLevelDistrict, &place)?;
        let next = i32::try_from(unscaled(&found.first()?[0])?).unwrap_or(i32::MAX);
        let [warehouse, district] = place;
        let low = session.run(
            Step::StockLevelCount,
            &[
                warehouse,
                district,
                Value::Integer(next - ORDERS),
                Value::Integer(next),
                Value::Integer(self.threshold),
            ],
        )?;
        low.first()?;
        session.run(Step::Commit, &[]).map(drop)
    }
}
