//! EXPLAIN FREEZE: the ways to hold each column of a table as rows, with their predicted cost, with
//! ANALYZE the measured one, and the weights of the choice.

use crate::bundle::Bundle;
use crate::query::Runner;
use crate::rows::{Response, table_rows};
use crate::session::Session;
use crate::system_tables;
use frazil_block::{Observed, Weights};
use frazil_storage::WayToHold;
use frazil_types::{ObjectId, Result, Schema, Value};

/// Runs the statement. Nothing is frozen.
pub fn run(
    session: &Session,
    table: ObjectId,
    order_by: Option<usize>,
    analyze: bool,
    bundle: Bundle,
) -> Result<Response> {
    let runner = Runner::new(session);
    let table = bundle.tables.resolve(table)?;
    runner.progress().enter("weighing encodings and layouts");
    let ways = table.explain_freeze(order_by, analyze, runner.cancel())?;
    let rows: Vec<Vec<Value>> = (ways.iter())
        .map(|way| row(&table.schema().columns[way.column].name, way, analyze))
        .collect();
    Ok(table_rows(schema(analyze)?, &rows, bundle.started).of_command("EXPLAIN"))
}

/// The columns of what EXPLAIN FREEZE shows.
pub fn schema(analyze: bool) -> Result<Schema> {
    let predicted = [
        ("column_name", "text"),
        ("encoding", "text"),
        ("layout", "text"),
        ("bits", "integer"),
        ("bytes", "bigint"),
        ("scan_ns", "double precision"),
        ("access_ns", "double precision"),
        ("cost", "double precision"),
        ("choice", "text"),
    ];
    let weighed = [
        ("prior_weights", "text"),
        ("weights", "text"),
        ("observed", "text"),
    ];
    let measured = [
        ("measured_bytes", "bigint"),
        ("measured_scan_ns", "double precision"),
        ("measured_access_ns", "double precision"),
    ];
    let measured = measured.into_iter().filter(|_| analyze);
    let columns = predicted.into_iter().chain(measured).chain(weighed);
    system_tables::schema(&columns.collect::<Vec<_>>())
}

fn row(column: &str, way: &WayToHold, analyze: bool) -> Vec<Value> {
    let p = &way.predicted;
    let choice = match (p.chosen, p.admitted) {
        (true, _) => "chosen",
        (false, true) => "possible",
        (false, false) => "excluded",
    };
    let text = |t: &str| Value::Text(t.to_owned());
    let mut row = vec![
        text(column),
        text(p.encoding.name()),
        text(p.layout.name()),
        Value::Int(p.bits.into()),
        Value::Int(p.bytes.into()),
        thousandths(p.scan_ns),
        thousandths(p.access_ns),
        thousandths(p.cost),
        text(choice),
    ];
    if analyze {
        row.extend(match &way.measured {
            Some(m) => [
                Value::Int(m.bytes.into()),
                thousandths(m.scan_ns),
                thousandths(m.access_ns),
            ],
            None => [Value::Null, Value::Null, Value::Null],
        });
    }
    row.extend([
        weights(&way.prior),
        weights(&way.weights),
        observed(&way.observed),
    ]);
    row
}

fn weights(w: &Weights) -> Value {
    let rounded = [w.scan, w.access, w.byte].map(|v| (v * 1e3).round() / 1e3);
    let [scan, access, byte] = rounded;
    Value::Text(format!("scan {scan}, access {access}, byte {byte}"))
}

/// NULL if nobody has read the table yet.
fn observed(o: &Observed) -> Value {
    if o.of_visits == 0.0 {
        return Value::Null;
    }
    let visits = format!("{:.1} of {:.1} visits", o.visits, o.of_visits);
    Value::Text(match o.access_share() {
        Some(share) => format!("{visits}, {:.1} % of values at positions", share * 100.0),
        None => visits,
    })
}

/// Rounded: what lies below is noise.
fn thousandths(value: f64) -> Value {
    Value::Double((value * 1e3).round() / 1e3)
}
