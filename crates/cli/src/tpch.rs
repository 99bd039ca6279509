//! `frazil tpch`: makes TPC-H data on several threads and loads it, in order, through one appender.

use crate::arguments::TpchOptions;
use crate::complaint::Complaint;
use frazil::{Connection, Database, Error, RowBatch, SqlState};
use frazil_tpch::{TABLES, Table};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// Rows a part should have: a few chunks, so that threads finish about together.
const PART_ROWS: u64 = 4 * 65_536;

/// Runs the command.
pub fn run(options: &TpchOptions) -> Result<(), Complaint> {
    if !(options.scale_factor > 0.0 && options.scale_factor <= 300.0) {
        return Err(Complaint::from(Error::new(
            SqlState::INVALID_PARAMETER,
            format!(
                "--scale-factor takes a number above 0 and up to 300, not {}",
                options.scale_factor
            ),
        )));
    }
    let started = Instant::now();
    let database = Database::open(&options.directory).map_err(Complaint::opening)?;
    let connection = database.connect();
    let threads = options.threads.unwrap_or_else(cores);
    for table in TABLES {
        let begun = Instant::now();
        let rows = load_table(&connection, table, options.scale_factor, threads)?;
        if !options.hot {
            connection.execute(&format!("freeze table {}", table.name()))?;
        }
        let seconds = begun.elapsed().as_secs_f64();
        println!("{:<10} {rows:>12} rows {seconds:>8.2} s", table.name());
    }
    drop(connection);
    database.close()?;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "TPC-H at scale factor {} is in {} after {seconds:.1} s",
        options.scale_factor,
        options.directory.display()
    );
    Ok(())
}

/// Cores of the machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Creates `table` and fills it; returns its rows.
pub fn load_table(
    connection: &Connection,
    table: Table,
    scale_factor: f64,
    threads: usize,
) -> Result<u64, Error> {
    connection.execute(&table.ddl())?;
    let parts = (table.rows(scale_factor) / PART_ROWS).max(1) as usize;
    let mut appender = connection.appender(table.name())?;
    let mut rows = 0;
    generate_in_order(table, scale_factor, parts, threads.min(parts), &mut |batch| {
        rows += batch.rows as u64;
        appender.append(batch)
    })?;
    appender.finish()?;
    Ok(rows)
}

/// Makes `parts` parts on `threads` threads and hands their batches to `take` in order.
fn generate_in_order(
    table: Table,
    scale_factor: f64,
    parts: usize,
    threads: usize,
    take: &mut dyn FnMut(RowBatch) -> Result<(), Error>,
) -> Result<(), Error> {
    let next = AtomicUsize::new(1);
    // A thread does not begin a part that lies too far ahead of the one being taken.
    let (taken, moved_on) = (Mutex::new(0usize), Condvar::new());
    let ahead = 2 * threads;
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel::<(usize, Vec<RowBatch>)>(threads);
        for _ in 0..threads {
            let (send, next, taken, moved_on) = (send.clone(), &next, &taken, &moved_on);
            scope.spawn(move || {
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part > parts {
                        return;
                    }
                    let mut at = taken.lock().unwrap_or_else(|e| e.into_inner());
                    while part > at.saturating_add(ahead) {
                        at = moved_on.wait(at).unwrap_or_else(|e| e.into_inner());
                    }
                    drop(at);
                    let batches = frazil_tpch::generate(table, scale_factor, part, parts).collect();
                    if send.send((part, batches)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut wanted = 1;
        let mut result = Ok(());
        while result.is_ok()
            && let Ok((part, batches)) = receive.recv()
        {
            waiting.insert(part, batches);
            while result.is_ok()
                && let Some(batches) = waiting.remove(&wanted)
            {
                result = batches.into_iter().try_for_each(&mut *take);
                wanted += 1;
            }
            // After a failure nobody may wait for a part that will not be taken.
            *taken.lock().unwrap_or_else(|e| e.into_inner()) =
                if result.is_ok() { wanted - 1 } else { parts };
            moved_on.notify_all();
        }
        drop(receive);
        result
    })
}
