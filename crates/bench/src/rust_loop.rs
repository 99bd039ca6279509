//! Q6 as a person writes it in Rust: a loop with branches over plain arrays. The compiled configuration
//! is measured by it.

use crate::arguments::BenchArgs;
use crate::engine::{Clients, Engine, Run, fingerprint};
use crate::experiments::Figure;
use frazil_tpch::Table;
use frazil_types::{Error, Result, date, decimal};
use std::time::Instant;

/// The columns of Q6.
#[derive(Default)]
pub struct RustLoop {
    shipdate: Vec<i32>,
    discount: Vec<i64>,
    quantity: Vec<i64>,
    extendedprice: Vec<i64>,
}

impl RustLoop {
    /// Makes the data.
    pub fn load(args: &BenchArgs) -> RustLoop {
        let schema = Table::Lineitem.schema();
        let place = |name: &str| schema.index_of(name).expect("lineitem has it");
        let (shipdate, discount) = (place("l_shipdate"), place("l_discount"));
        let (quantity, extendedprice) = (place("l_quantity"), place("l_extendedprice"));
        let mut out = RustLoop::default();
        for batch in frazil_tpch::generate(Table::Lineitem, args.scale_factor, 1, 1) {
            out.shipdate.extend_from_slice(batch.columns[shipdate].values());
            out.discount.extend_from_slice(batch.columns[discount].values());
            out.quantity.extend_from_slice(batch.columns[quantity].values());
            out.extendedprice
                .extend_from_slice(batch.columns[extendedprice].values());
        }
        out
    }

    /// Its answer, at scale 4.
    fn revenue(&self, from: i32, to: i32) -> i64 {
        revenue(
            &self.shipdate,
            &self.discount,
            &self.quantity,
            &self.extendedprice,
            from,
            to,
        )
    }
}

/// Not inlined, so that the bounds stay variables as they are in a compiled query's context.
#[inline(never)]
fn revenue(shipdate: &[i32], discount: &[i64], quantity: &[i64], price: &[i64], from: i32, to: i32) -> i64 {
    let mut sum = 0;
    let rows = shipdate
        .len()
        .min(discount.len())
        .min(quantity.len())
        .min(price.len());
    for row in 0..rows {
        if shipdate[row] < from || shipdate[row] >= to {
            continue;
        }
        if discount[row] < 5 || discount[row] > 7 {
            continue;
        }
        if quantity[row] >= 2400 {
            continue;
        }
        sum += price[row] * discount[row];
    }
    sum
}

impl Engine for RustLoop {
    fn set(&mut self, _name: &str, _value: &str) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, number: usize) -> Result<Run> {
        if number != 6 {
            return Err(Error::unsupported(format!("Q{number} as a loop in Rust")));
        }
        let (from, to) = (
            date::days_from_civil(1994, 1, 1),
            date::days_from_civil(1995, 1, 1),
        );
        let begun = Instant::now();
        let revenue = self.revenue(from, to);
        let execute = begun.elapsed().as_secs_f64() * 1e3;
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = decimal::write(&mut text, revenue.into(), 4);
        Ok(Run {
            prepare: None,
            execute,
            answer: fingerprint([text].into_iter()),
        })
    }

    fn figure(&mut self, _: Figure) -> Result<f64> {
        Ok(0.0)
    }

    fn parts(&mut self, _: Figure) -> Result<Vec<(String, f64)>> {
        Ok(Vec::new())
    }

    fn serve(&mut self, _: &Clients<'_>) -> Result<f64> {
        Err(Error::unsupported("a loop in Rust with clients"))
    }
}
