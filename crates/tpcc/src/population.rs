//! Sizes of the tables (TPC-C, 1.2 and 4.3.3).

use frazil::{Connection, Error, Result, SqlState};

/// Districts of a warehouse.
pub const DISTRICTS: i32 = 10;
/// Items of the specification, and rows of `stock` for each warehouse.
const ITEMS: i32 = 100_000;
/// Customers of a district in the specification, and its orders after loading.
const CUSTOMERS: i32 = 3_000;

/// Sizes of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// Warehouses.
    pub warehouses: i32,
    /// Items, and rows of `stock` for each warehouse.
    pub items: i32,
    /// Customers of a district, and its orders after loading.
    pub customers: i32,
}

impl Population {
    /// The specification's sizes.
    pub fn new(warehouses: i32) -> Population {
        Population::reduced(warehouses, 1)
    }

    /// The specification's sizes, with items, customers and orders divided by `divisor`: for tests. The ratios of the
    /// specification hold if 300 is a multiple of the divisor.
    pub fn reduced(warehouses: i32, divisor: i32) -> Population {
        Population {
            warehouses,
            items: ITEMS / divisor,
            customers: CUSTOMERS / divisor,
        }
    }

    /// The sizes of a database that [`crate::load`] filled. 42P01 if it does not have the tables, 55000 if they
    /// are not filled.
    pub fn of(connection: &Connection) -> Result<Population> {
        let count = |sql| connection.query_row(sql, ())?.get::<Option<i32>>(0);
        let found = (
            count("select max(w_id) from warehouse")?,
            count("select max(i_id) from item")?,
            count("select max(c_id) from customer where c_w_id = 1 and c_d_id = 1")?,
        );
        match found {
            (Some(warehouses), Some(items), Some(customers)) => Ok(Population {
                warehouses,
                items,
                customers,
            }),
            _ => Err(Error::new(
                SqlState::NOT_IN_STATE,
                "the tables of TPC-C are not filled: loading them did not end",
            )
            .with_hint("drop them, or choose another directory")),
        }
    }

    /// Orders of a district that wait for delivery after loading: the newest three of ten.
    pub fn waiting_orders(&self) -> i32 {
        self.customers * 3 / 10
    }

    /// Suppliers: one for ten items, so that the specification's 100,000 items have the CH-benCHmark's 10,000.
    pub fn suppliers(&self) -> i32 {
        (self.items / 10).max(1)
    }

    /// Different last names: as many as a third of a district's customers, at most 1,000.
    pub fn last_names(&self) -> i32 {
        (self.customers / 3).clamp(1, 1_000)
    }

    /// Rows of all tables after loading, with 10 lines for each order.
    pub fn rows(&self) -> u64 {
        let (items, customers) = (
            u64::from(self.items.unsigned_abs()),
            u64::from(self.customers.unsigned_abs()),
        );
        let waiting = u64::from(self.waiting_orders().unsigned_abs());
        // A customer, a row of history, an order and its lines.
        let district = 1 + 13 * customers + waiting;
        items + u64::from(self.warehouses.unsigned_abs()) * (1 + items + 10 * district)
    }
}
