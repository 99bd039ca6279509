//! Frazil as an engine of the experiments on queries.

use crate::arguments::BenchArgs;
use crate::engine::{Engine, Prepare, Run, fingerprint};
use crate::experiments::Data;
use crate::rust_loop::RustLoop;
use frazil::{Connection, Database, LogicalType, Outcome};
use frazil_tpch::{TABLES, Table};
use frazil_types::{Error, Result, Value};
use std::time::Duration;

struct Frazil {
    connection: Connection,
    scale_factor: f64,
}

/// Loads TPC-H in a form: all of it, or lineitem alone.
pub fn load(data: Data, args: &BenchArgs, lineitem_only: bool) -> Result<Box<dyn Engine>> {
    let freeze: &[&str] = match data {
        Data::Hot => &[],
        Data::Frozen => &["freeze table "],
        Data::FrozenSorted => &["freeze table ", " order by l_shipdate"],
        Data::Arrays => return Ok(Box::new(RustLoop::load(args))),
    };
    let connection = Database::memory()?.connect();
    // Every run plans and compiles, and hot data stays hot.
    connection.execute("set frazil.plan_cache = off; set frazil.freeze_after = off")?;
    for table in TABLES {
        if lineitem_only && table != Table::Lineitem {
            continue;
        }
        fill(&connection, table, args.scale_factor)?;
        match freeze {
            [] => continue,
            [freeze, order] if table == Table::Lineitem => {
                connection.execute(&format!("{freeze}{}{order}", table.name()))?
            }
            [freeze, ..] => connection.execute(&format!("{freeze}{}", table.name()))?,
        };
    }
    Ok(Box::new(Frazil {
        connection,
        scale_factor: args.scale_factor,
    }))
}

/// Creates a table and fills it.
pub fn fill(connection: &Connection, table: Table, scale_factor: f64) -> Result<()> {
    connection.execute(&table.ddl())?;
    let mut appender = connection.appender(table.name())?;
    for batch in frazil_tpch::generate(table, scale_factor, 1, 1) {
        appender.append(batch)?;
    }
    appender.finish()?;
    Ok(())
}

impl Engine for Frazil {
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        self.connection.execute(&format!("set {name} = '{value}'"))?;
        Ok(())
    }

    fn run(&mut self, number: usize) -> Result<Run> {
        let sql = frazil_tpch::query(number, self.scale_factor);
        let response = self.connection.execute(&sql)?;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        Ok(Run {
            prepare: Some(Prepare {
                plan: milliseconds(response.timing.plan),
                compile: milliseconds(response.timing.compile),
            }),
            execute: milliseconds(response.timing.execute),
            answer: fingerprint(lines(&response.outcome).into_iter()),
        })
    }

    fn skipped_by_psma(&mut self) -> Result<f64> {
        let sql = format!("explain analyze {}", frazil_tpch::query(6, self.scale_factor));
        let text = lines(&self.connection.execute(&sql)?.outcome).join("\n");
        let skipped = number_before(&text, " rows skipped by PSMA")
            .ok_or_else(|| Error::internal("EXPLAIN ANALYZE does not tell the rows skipped by PSMA"))?;
        Ok(skipped as f64 / self.connection.table("lineitem")?.rows.max(1) as f64)
    }
}

/// The rows of a result as text, one line each.
fn lines(outcome: &Outcome) -> Vec<String> {
    let Outcome::Rows(rows) = outcome else {
        return Vec::new();
    };
    let types: Vec<LogicalType> = rows.schema().columns.iter().map(|c| c.ty).collect();
    let line = |row: Vec<Value>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&types)
            .map(|(v, ty)| v.display(*ty).to_string())
            .collect();
        cells.join("|")
    };
    rows.iter().map(line).collect()
}

/// The number that stands directly before `marker`.
fn number_before(text: &str, marker: &str) -> Option<u64> {
    let before = &text[..text.find(marker)?];
    let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    before[digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_before_their_words() {
        let text = "scan: 92 chunks, 0 skipped by SMA, 4100 rows skipped by PSMA, 7 rows scanned";
        assert_eq!(number_before(text, " rows skipped by PSMA"), Some(4100));
        assert_eq!(number_before("12 x", " x"), Some(12));
        assert_eq!(number_before(text, " rows eaten"), None);
        assert_eq!(number_before("no x", " x"), None);
    }
}
