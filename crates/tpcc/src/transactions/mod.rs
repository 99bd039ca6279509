//! The five transactions (TPC-C, 2.4 to 2.8): how each draws its input, and the statements that it runs.

mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use crate::dice::Dice;
use crate::population::DISTRICTS;
use crate::session::Session;
use crate::steps::Step;
use frazil::{Result, Value};

/// A kind of transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Enters an order.
    NewOrder,
    /// Enters a payment of a customer.
    Payment,
    /// Shows the newest order of a customer.
    OrderStatus,
    /// Delivers the oldest order of each district of a warehouse.
    Delivery,
    /// Counts items of a district's last 20 orders of which little is in stock.
    StockLevel,
}

impl Kind {
    /// All kinds; `ALL[kind as usize]` is `kind`.
    pub const ALL: [Kind; 5] = [
        Kind::NewOrder,
        Kind::Payment,
        Kind::OrderStatus,
        Kind::Delivery,
        Kind::StockLevel,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::NewOrder => "new_order",
            Kind::Payment => "payment",
            Kind::OrderStatus => "order_status",
            Kind::Delivery => "delivery",
            Kind::StockLevel => "stock_level",
        }
    }
}

/// The place of a terminal: each has a warehouse and a district of its own while there are enough of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The warehouse, from 1.
    pub warehouse: i32,
    /// The district that stock-level is about, from 1 to 10.
    pub district: i32,
}

/// The end of a transaction that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The transaction committed.
    Committed,
    /// The transaction rolled back, because a line of a new order named an item that does not exist (2.4.1.4).
    RolledBack,
}

/// A transaction with its input.
#[derive(Clone, Debug)]
pub enum Request {
    /// New-order.
    NewOrder(new_order::NewOrder),
    /// Payment.
    Payment(payment::Payment),
    /// Order-status.
    OrderStatus(order_status::OrderStatus),
    /// Delivery.
    Delivery(delivery::Delivery),
    /// Stock-level.
    StockLevel(stock_level::StockLevel),
}

impl Request {
    /// Draws the input of a transaction of a terminal. `now` is the time in microseconds since 1970.
    pub fn draw(kind: Kind, dice: &mut Dice, home: Home, now: i64) -> Request {
        match kind {
            Kind::NewOrder => Request::NewOrder(new_order::NewOrder::draw(dice, home.warehouse, now)),
            Kind::Payment => Request::Payment(payment::Payment::draw(dice, home.warehouse, now)),
            Kind::OrderStatus => Request::OrderStatus(order_status::OrderStatus::draw(dice, home.warehouse)),
            Kind::Delivery => Request::Delivery(delivery::Delivery::draw(dice, home.warehouse, now)),
            Kind::StockLevel => Request::StockLevel(stock_level::StockLevel::draw(dice, home)),
        }
    }

    /// Runs the transaction, from BEGIN to COMMIT. After an error it is still open.
    pub fn run(&self, session: &mut dyn Session) -> Result<Ended> {
        match self {
            Request::NewOrder(request) => return request.run(session),
            Request::Payment(request) => request.run(session)?,
            Request::OrderStatus(request) => request.run(session)?,
            Request::Delivery(request) => request.run(session)?,
            Request::StockLevel(request) => request.run(session)?,
        }
        Ok(Ended::Committed)
    }
}

/// The customer of a payment or an order-status.
#[derive(Clone, Debug)]
enum Chosen {
    /// By number.
    Number(i32),
    /// By last name: the one in the middle of all who have it, in the order of their first names.
    LastName(String),
}

impl Chosen {
    /// Draws a customer: by last name in 60 of 100 cases (2.5.1.2, 2.6.1.2).
    fn draw(dice: &mut Dice) -> Chosen {
        match dice.number(1, 100) <= 60 {
            true => Chosen::LastName(dice.last_name()),
            false => Chosen::Number(dice.customer()),
        }
    }

    /// The customer's number.
    fn number(&self, session: &mut dyn Session, warehouse: i32, district: i32) -> Result<Value> {
        let name = match self {
            Chosen::Number(number) => return Ok(Value::Integer(*number)),
            Chosen::LastName(name) => name.as_str(),
        };
        let named = session.run(
            Step::CustomersByName,
            &[
                Value::Integer(warehouse),
                Value::Integer(district),
                Value::from(name),
            ],
        )?;
        // Position n / 2, rounded up, counted from 1.
        let middle = named.rows.len().div_ceil(2).saturating_sub(1);
        match named.rows.get(middle) {
            Some(row) => Ok(row[0].clone()),
            None => named.first().map(|row| row[0].clone()),
        }
    }
}

/// Draws a district.
fn any_district(dice: &mut Dice) -> i32 {
    dice.number(1, DISTRICTS)
}

/// Draws a warehouse other than `home`; `home` if there is only one.
fn other_warehouse(dice: &mut Dice, home: i32) -> i32 {
    let warehouses = dice.population().warehouses;
    if warehouses < 2 {
        return home;
    }
    let drawn = dice.number(1, warehouses - 1);
    if drawn >= home { drawn + 1 } else { drawn }
}
