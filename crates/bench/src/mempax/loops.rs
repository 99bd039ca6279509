//! The two queries by loops in Rust on each instruction set, over arrays that lie in memPAX(k) without any padding.

use super::{Out, Plan, number, tables};
use crate::micro::trials::{self, Metrics, Trial};
use frazil_kernels::strided::{self, Number};
use frazil_kernels::{Isa, Strided};
use frazil_types::{Error, Result};
use std::hint::black_box;

const PER_ROW: Metrics = Metrics {
    ns: "ns_per_row",
    cycles: "cycles_per_row",
    events: [
        "instructions_per_row",
        "counted_cycles_per_row",
        "cache_misses_per_row",
        "branch_misses_per_row",
    ],
};

/// Measures it.
pub fn run(out: &mut Out, plan: &Plan, scale: f64, runs: usize) -> Result<()> {
    of_type::<u8>(out, plan, "char", scale, runs)?;
    of_type::<i32>(out, plan, "int", scale, runs)?;
    of_type::<i64>(out, plan, "long", scale, runs)
}

/// A table: an array with k rows at a time in columns.
struct Laid<T> {
    cells: Vec<T>,
    k: usize,
    rows: usize,
}

impl<T: Number + From<u8>> Laid<T> {
    fn new(k: usize, rows: usize) -> Laid<T> {
        // A chunk of the engine has no more rows in a partition.
        let mut cells = vec![T::default(); rows.div_ceil(k) * k * 4];
        for (partition, cells) in cells.chunks_exact_mut(4 * k).enumerate() {
            for (column, cells) in cells.chunks_exact_mut(k).enumerate() {
                for (within, cell) in cells.iter_mut().enumerate() {
                    *cell = T::from(number(column, partition * k + within));
                }
            }
        }
        Laid { cells, k, rows }
    }

    fn columns(&self) -> [Strided<'_, T>; 4] {
        let k = self.k;
        [0, 1, 2, 3].map(|c| Strided::of_slice(&self.cells[c * k..], k, 4 * k, self.rows))
    }
}

fn of_type<T: Number + From<u8>>(
    out: &mut Out,
    plan: &Plan,
    schema: &str,
    scale: f64,
    runs: usize,
) -> Result<()> {
    let rows = tables::rows(scale, 4 * size_of::<T>());
    let laid: Vec<Laid<T>> = plan.ks.iter().map(|&k| Laid::new(k, rows)).collect();
    let answer = |t: &Laid<T>, isa| {
        let sum = strided::sum_of_products(isa, t.columns());
        (strided::least_sum(isa, t.columns()), sum)
    };
    let wanted = laid.first().map(|t| answer(t, Isa::Scalar));
    for query in ["q1", "q2"] {
        let mut work: Vec<Trial> = Vec::new();
        for table in &laid {
            for isa in Isa::available() {
                if Some(answer(table, isa)) != wanted {
                    return Err(Error::internal(format!("{isa}, k {}: another answer", table.k)));
                }
                work.push(Trial {
                    case: format!("loops/{schema}/{query}/k_{}/{isa}", table.k),
                    units: rows as f64,
                    work: Box::new(move || match query {
                        "q1" => _ = black_box(strided::least_sum(isa, table.columns())),
                        _ => _ = black_box(strided::sum_of_products(isa, table.columns())),
                    }),
                });
            }
        }
        let found = trials::run(runs, work);
        let names: Vec<String> = found.iter().map(|o| o.case.clone()).collect();
        for outcome in &found {
            outcome.add_to(&mut out.report, out.name, PER_ROW);
        }
        out.judge(&format!("loops/{schema}/{query}"), &names, PER_ROW.ns);
    }
    Ok(())
}
