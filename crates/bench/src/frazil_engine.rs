//! Frazil as an engine of the experiments on queries.

use crate::arguments::BenchArgs;
use crate::engine::{Clients, Engine, Prepare, Run, fingerprint};
use crate::experiments::{Data, Figure};
use crate::rust_loop::RustLoop;
use crate::taking_turns::lines;
use frazil::{Connection, Database, LogicalType, Outcome};
use frazil_tpch::{TABLES, Table};
use frazil_types::{Error, Result, Value};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Frazil with data in memory.
pub struct Frazil {
    connection: Connection,
    /// The text of a query.
    query: Box<dyn Fn(usize) -> String + Send + Sync>,
    /// A number of the query whose scan figures speak of, and the table it scans.
    scanned: (usize, &'static str),
}

impl Frazil {
    /// Over a connection whose tables are filled. Every run plans and compiles.
    pub fn new(
        connection: Connection,
        query: Box<dyn Fn(usize) -> String + Send + Sync>,
        scanned: (usize, &'static str),
    ) -> Result<Frazil> {
        connection.execute("set frazil.plan_cache = off")?;
        Ok(Frazil {
            connection,
            query,
            scanned,
        })
    }

    /// Its connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Columns of a statement's rows as text, by their names.
    pub fn columns<const N: usize>(&self, sql: &str, names: [&str; N]) -> Result<Vec<[String; N]>> {
        let Outcome::Rows(rows) = self.connection.execute(sql)?.outcome else {
            return Err(Error::internal(format!("{sql} has no rows")));
        };
        let columns = &rows.schema().columns;
        let mut places = [0; N];
        for (place, name) in places.iter_mut().zip(names) {
            let found = columns.iter().position(|c| c.name == name);
            *place = found.ok_or_else(|| Error::internal(format!("{sql} has no column {name}")))?;
        }
        let cell = |row: &[Value], at: usize| row[at].display(columns[at].ty).to_string();
        Ok(rows.raw().map(|row| places.map(|at| cell(&row, at))).collect())
    }
}

/// Loads what an experiment on queries of TPC-H runs on.
pub fn load(data: Data, args: &BenchArgs, lineitem_only: bool) -> Result<Box<dyn Engine>> {
    Ok(match data {
        Data::Arrays => Box::new(RustLoop::load(args)),
        _ => Box::new(load_frazil(data, args, lineitem_only)?),
    })
}

/// Loads TPC-H in a form: all of it, or lineitem alone.
pub fn load_frazil(data: Data, args: &BenchArgs, lineitem_only: bool) -> Result<Frazil> {
    let (freeze, options): (&[&str], &str) = match data {
        Data::Hot => (&[], ""),
        Data::Frozen => (&["freeze table "], ""),
        Data::FrozenWith(options) => (&["freeze table "], options),
        Data::FrozenSorted => (&["freeze table ", " order by l_shipdate"], ""),
        Data::Arrays => return Err(Error::unsupported("a database of arrays")),
    };
    let connection = Database::memory()?.connect();
    // Hot data stays hot.
    // Blocks are to be held alike in every run, however many queries went before.
    connection.execute(
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off; set frazil.access_counters = off",
    )?;
    for table in TABLES {
        if lineitem_only && table != Table::Lineitem {
            continue;
        }
        fill(&connection, table, options, args.scale_factor)?;
        match freeze {
            [] => continue,
            [freeze, order] if table == Table::Lineitem => {
                connection.execute(&format!("{freeze}{}{order}", table.name()))?
            }
            [freeze, ..] => connection.execute(&format!("{freeze}{}", table.name()))?,
        };
    }
    let scale_factor = args.scale_factor;
    let query = Box::new(move |number| frazil_tpch::query(number, scale_factor));
    Frazil::new(connection, query, (6, "lineitem"))
}

/// Creates a table with options, as WITH takes them, and fills it.
pub fn fill(connection: &Connection, table: Table, options: &str, scale_factor: f64) -> Result<()> {
    let with = match options {
        "" => String::new(),
        options => format!(" with ({options})"),
    };
    connection.execute(&format!("{}{with}", table.ddl()))?;
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
        let sql = (self.query)(number);
        let response = self.connection.execute(&sql)?;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        Ok(Run {
            prepare: Some(Prepare {
                plan: milliseconds(response.timing.plan()),
                compile: milliseconds(response.timing.compile),
            }),
            execute: milliseconds(response.timing.execute),
            answer: fingerprint(lines(&response.outcome).into_iter()),
        })
    }

    fn figure(&mut self, figure: Figure) -> Result<f64> {
        if figure == Figure::IntegerBytes {
            return Ok(self.integer_bytes()?.iter().map(|part| part.1).sum());
        }
        let (query, table) = self.scanned;
        let sql = format!("explain analyze {}", (self.query)(query));
        let text = lines(&self.connection.execute(&sql)?.outcome).join("\n");
        let number = |words: &str| {
            number_before(&text, words)
                .map(|n| n as f64)
                .ok_or_else(|| Error::internal(format!("EXPLAIN ANALYZE tells no number of{words}")))
        };
        let skipped = number(" rows skipped by PSMA")?;
        Ok(match figure {
            Figure::SkippedByPsmaOfLeft => skipped / (skipped + number(" rows scanned")?).max(1.0),
            Figure::BlocksSkippedBySma => number(" skipped by SMA")? / number(" chunks")?.max(1.0),
            _ => skipped / self.connection.table(table)?.rows.max(1) as f64,
        })
    }

    fn parts(&mut self, figure: Figure) -> Result<Vec<(String, f64)>> {
        match figure {
            Figure::IntegerBytes => self.integer_bytes(),
            _ => Ok(Vec::new()),
        }
    }

    fn serve(&mut self, clients: &Clients<'_>) -> Result<f64> {
        let database = self.connection.database();
        let mut connections = Vec::new();
        for _ in clients.orders {
            let connection = database.connect();
            for (name, value) in clients.settings {
                connection.execute(&format!("set {name} = '{value}'"))?;
            }
            connections.push(connection);
        }
        let queries = clients.orders.iter().flatten();
        let texts: HashMap<usize, String> = queries.map(|q| (*q, (self.query)(*q))).collect();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let texts = &texts;
            let clients: Vec<_> = (connections.iter().zip(clients.orders))
                .map(|(connection, order)| scope.spawn(move || issue(connection, order, texts)))
                .collect();
            let ended = clients.into_iter().map(|client| {
                let ended = client.join();
                ended.unwrap_or_else(|_| Err(Error::internal("a client panicked")))
            });
            ended.collect::<Result<Vec<()>>>()
        })?;
        Ok(begun.elapsed().as_secs_f64())
    }
}

/// Issues queries one after the other.
fn issue(connection: &Connection, order: &[usize], texts: &HashMap<usize, String>) -> Result<()> {
    for query in order {
        connection
            .execute(&texts[query])
            .map_err(|e| e.in_context(format!("Q{query}")))?;
    }
    Ok(())
}

impl Frazil {
    /// Bytes of integer columns by `encoding/layout`.
    fn integer_bytes(&self) -> Result<Vec<(String, f64)>> {
        let mut columns = Vec::new();
        for table in TABLES {
            let schema = table.schema();
            let integers = (schema.columns.iter())
                .filter(|c| matches!(c.ty, LogicalType::Integer | LogicalType::BigInt));
            columns.extend(integers.map(|c| format!("'{}'", c.name)));
        }
        // TPC-H's columns have the names of their tables in them.
        let sql = format!(
            "select encoding, layout, sum(bytes) from frazil_blocks where column_name in ({}) \
             group by encoding, layout order by encoding, layout",
            columns.join(", ")
        );
        let rows = lines(&self.connection.execute(&sql)?.outcome);
        let part = |row: &String| {
            let (form, bytes) = row.rsplit_once('|')?;
            Some((
                form.replace('|', "/").replace([' ', '-'], "_"),
                bytes.parse().ok()?,
            ))
        };
        let parts = rows.iter().map(part).collect::<Option<Vec<_>>>();
        parts.ok_or_else(|| Error::internal(format!("frazil_blocks tells no bytes: {rows:?}")))
    }
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
