//! TPC-H Q1 and Q6 by k, over lineitem as the specification has it and over one whose columns are as narrow as SQL's
//! types and the values allow (section 6, table 4). SQL's narrowest integer has two bytes, not one.

use super::tables::same;
use super::{COLUMN, LINEITEM, Out, Plan, in_turns};
use frazil::{Connection, Database, Outcome};
use frazil_tpch::Table;
use frazil_types::{Result, RowBatch, Value};

/// What is measured.
pub const METRIC: &str = "execute";

const SCHEMAS: [&str; 2] = ["plain", "narrow"];
const QUERIES: [&str; 2] = ["q1", "q6"];

/// Table 4: small numbers as smallint, percentages in hundredths, words and comments as codes of a dictionary.
const NARROW: &str = "l_orderkey integer not null, l_partkey integer not null, l_suppkey integer not null, \
    l_linenumber smallint not null, l_quantity smallint not null, l_extendedprice decimal(15,2) not null, \
    l_discount smallint not null, l_tax smallint not null, l_returnflag char(1) not null, l_linestatus char(1) not null, \
    l_shipdate date not null, l_commitdate date not null, l_receiptdate date not null, l_shipinstruct smallint not null, \
    l_shipmode smallint not null, l_comment integer not null";

const NARROWED: &str = "l_orderkey, l_partkey, l_suppkey, cast(l_linenumber as smallint), cast(l_quantity as smallint), \
    l_extendedprice, cast(l_discount * 100 as smallint), cast(l_tax * 100 as smallint), l_returnflag, l_linestatus, \
    l_shipdate, l_commitdate, l_receiptdate, \
    cast(case l_shipinstruct when 'DELIVER IN PERSON' then 0 when 'COLLECT COD' then 1 when 'NONE' then 2 else 3 end as smallint), \
    cast(case l_shipmode when 'REG AIR' then 0 when 'AIR' then 1 when 'RAIL' then 2 when 'SHIP' then 3 when 'TRUCK' then 4 \
    when 'MAIL' then 5 else 6 end as smallint), l_orderkey * 8 + l_linenumber";

const Q1: &str = "select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), \
    sum(l_extendedprice * (100 - l_discount)), sum(l_extendedprice * (100 - l_discount) * (100 + l_tax)), \
    avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*) from TABLE \
    where l_shipdate <= date '1998-12-01' - interval '90' day \
    group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus";

const Q6: &str = "select sum(l_extendedprice * l_discount) from TABLE where l_shipdate >= date '1994-01-01' \
    and l_shipdate < date '1995-01-01' and l_discount between 5 and 7 and l_quantity < 24";

/// How hot chunks are read: as by default, by code made for k; and gathered.
const CODES: [&str; 2] = ["compile_time", "gathered"];

/// The cases of a k as scans are by default.
pub fn cases(k: usize) -> Vec<String> {
    let of_schema = |schema| QUERIES.map(|query| case(schema, query, k, CODES[0]));
    SCHEMAS.into_iter().flat_map(of_schema).collect()
}

fn case(schema: &str, query: &str, k: usize, code: &str) -> String {
    format!("tpch/{schema}/{query}/k_{k}/{code}")
}

fn table(schema: &str, k: usize) -> String {
    format!("{schema}{k}")
}

/// A query over a table; over the plain one it is the specification's.
fn query(schema: &str, number: &str, k: usize) -> String {
    let table = table(schema, k);
    match (schema, number) {
        ("plain", "q1") => frazil_tpch::query(1, 1.0).replace("lineitem", &table),
        ("plain", _) => frazil_tpch::query(6, 1.0).replace("lineitem", &table),
        (_, "q1") => Q1.replace("TABLE", &table),
        (..) => Q6.replace("TABLE", &table),
    }
}

/// Measures it.
pub fn run(out: &mut Out, plan: &Plan, scale: f64, runs: usize) -> Result<()> {
    let connection = Database::memory()?.connect();
    connection.execute("set threads = 1")?;
    connection.execute("set frazil.freeze_after = off")?;
    fill(&connection, plan, scale)?;
    for schema in SCHEMAS {
        for number in QUERIES {
            let ks = plan.lineitem_ks.iter();
            let cases: Vec<(usize, &str)> = ks.flat_map(|&k| CODES.map(|code| (k, code))).collect();
            let names: Vec<String> = (cases.iter())
                .map(|&(k, code)| case(schema, number, k, code))
                .collect();
            let mut answer = None;
            let found = in_turns(cases.len(), runs, |i| {
                connection.execute(&format!("set frazil.pax_code = {}", cases[i].1))?;
                let response = connection.execute(&query(schema, number, cases[i].0))?;
                same(&mut answer, text(&response.outcome), &names[i])?;
                Ok(response.timing.execute.as_secs_f64() * 1e3)
            })?;
            for (name, values) in names.iter().zip(found) {
                out.measured(name.clone(), METRIC, "ms", values);
            }
            out.judge(&format!("tpch/{schema}/{number}"), &names, METRIC);
            for (k, code) in cases {
                let name = case(schema, number, k, code);
                if k != COLUMN {
                    out.report
                        .compare(&name, &case(schema, number, COLUMN, code), METRIC);
                }
                if code == CODES[0] {
                    out.report
                        .compare(&name, &case(schema, number, k, CODES[1]), METRIC);
                }
            }
        }
    }
    Ok(())
}

fn fill(connection: &Connection, plan: &Plan, scale: f64) -> Result<()> {
    let batches: Vec<RowBatch> = frazil_tpch::generate(Table::Lineitem, LINEITEM * scale, 1, 1).collect();
    for &k in plan.lineitem_ks {
        let ddl = Table::Lineitem.ddl();
        let plain = ddl.replacen("lineitem", &table("plain", k), 1);
        connection.execute(&format!("{plain} with (pax_rows = {k})"))?;
        let mut appender = connection.appender(&table("plain", k))?;
        for batch in &batches {
            appender.append(batch.clone())?;
        }
        appender.finish()?;
        let narrow = table("narrow", k);
        connection.execute(&format!("create table {narrow} ({NARROW}) with (pax_rows = {k})"))?;
        let from = table("plain", k);
        connection.execute(&format!("insert into {narrow} select {NARROWED} from {from}"))?;
    }
    Ok(())
}

/// All rows of an answer.
fn text(outcome: &Outcome) -> Value {
    let rows: Vec<String> = match outcome {
        Outcome::Rows(rows) => rows.raw().map(|row| format!("{row:?}")).collect(),
        Outcome::Command { .. } => Vec::new(),
    };
    Value::Text(rows.join("\n"))
}
