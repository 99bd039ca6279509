//! Bytes of a table as CSV, as `tpchgen-cli csv` and dbgen's users write it: a header, commas, quotes
//! around comments. The text is counted, never kept.

use frazil_tpch::Table;
use std::fmt::{self, Display, Write};
use tpchgen::{csv, generators};

struct Counter(u64);

impl Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len() as u64;
        Ok(())
    }
}

fn count<T: Display>(header: &str, lines: impl Iterator<Item = T>) -> u64 {
    let mut counter = Counter(header.len() as u64 + 1);
    for line in lines {
        // Counting cannot fail.
        let _ = writeln!(counter, "{line}");
    }
    counter.0
}

/// Bytes of a table's CSV at a scale factor.
pub fn csv_bytes(table: Table, scale_factor: f64) -> u64 {
    macro_rules! of {
        ($generator:ident, $line:ident) => {{
            let rows = generators::$generator::new(scale_factor, 1, 1).iter();
            count(csv::$line::header(), rows.map(csv::$line::new))
        }};
    }
    match table {
        Table::Region => of!(RegionGenerator, RegionCsv),
        Table::Nation => of!(NationGenerator, NationCsv),
        Table::Supplier => of!(SupplierGenerator, SupplierCsv),
        Table::Customer => of!(CustomerGenerator, CustomerCsv),
        Table::Part => of!(PartGenerator, PartCsv),
        Table::Partsupp => of!(PartSuppGenerator, PartSuppCsv),
        Table::Orders => of!(OrderGenerator, OrderCsv),
        Table::Lineitem => of!(LineItemGenerator, LineItemCsv),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_files() {
        // Sizes of the files that tpchgen-cli 4 writes at scale factor 0.01.
        let files = [
            (Table::Region, 423),
            (Table::Nation, 2_290),
            (Table::Supplier, 14_162),
            (Table::Customer, 245_570),
            (Table::Part, 239_216),
            (Table::Partsupp, 1_169_764),
            (Table::Orders, 1_674_246),
            (Table::Lineitem, 7_324_613),
        ];
        for (table, bytes) in files {
            assert_eq!(csv_bytes(table, 0.01), bytes, "{}", table.name());
        }
    }
}
