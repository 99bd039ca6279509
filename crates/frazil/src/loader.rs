//! Brings the rows of a file into a table. Into a database on a directory, full batches enter as Data
//! Blocks at once: they never exist as hot rows, so loading needs little memory beyond the blocks. All
//! threads take turns at reading the next batch and freeze what they read side by side.

use crate::query::Runner;
use crate::row_checks::{self, RowChecks};
use frazil_block::{Block, BuildOptions};
use frazil_files::BatchReader;
use frazil_storage::{Conflict, Freezer, NewRows, Table, Transaction};
use frazil_types::statement_clock;
use frazil_types::{CHUNK_ROWS, Cancel, Result, RowBatch};
use std::sync::{Arc, Mutex, MutexGuard};

/// Changes a batch of the file into one of the table.
pub type Shape<'a> = &'a (dyn Fn(RowBatch) -> Result<RowBatch> + Sync);

/// Rows on their way into the table.
enum Loaded {
    Block(Block),
    Rows(RowBatch),
}

struct Shared<'a> {
    reader: Mutex<Reader>,
    done: Mutex<Vec<(usize, Loaded)>>,
    table: Arc<Table>,
    options: BuildOptions,
    shape: Shape<'a>,
    runner: &'a Runner,
}

struct Reader {
    reader: Box<dyn BatchReader>,
    batches: usize,
    rows: u64,
    seen: u64,
    over: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Appends all rows of a reader to a table; returns their number.
pub fn load(
    runner: &Runner,
    transaction: &mut Transaction,
    table: Arc<Table>,
    reader: Box<dyn BatchReader>,
    shape: Shape<'_>,
) -> Result<u64> {
    runner.progress().enter("loading");
    runner.progress().expect(reader.progress().1);
    let id = table.id();
    let shared = Shared {
        reader: Mutex::new(Reader {
            reader,
            batches: 0,
            rows: 0,
            seen: 0,
            over: false,
        }),
        done: Mutex::default(),
        options: transaction.snapshot().table(id)?.build_options(),
        table,
        shape,
        runner,
    };
    let checks = RowChecks::of(runner, transaction.snapshot(), shared.table.entry())?;
    if checks.is_some() || !runner.freezes_loads() {
        while let Some((_, batch)) = shared.next()? {
            row_checks::insert(transaction, id, &batch, checks.as_ref())?;
        }
        return Ok(lock(&shared.reader).rows);
    }
    statement_clock::start();
    let (clock, cancel) = (statement_clock::handed_over(), Cancel::of_thread());
    let work = || cancel.during(|| statement_clock::during(clock, || shared.work()));
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..runner.threads()).map(|_| scope.spawn(work)).collect();
        let mut result = shared.work();
        for other in others {
            let ended = other
                .join()
                .unwrap_or_else(|_| Err(frazil_types::Error::internal("a loading thread panicked")));
            result = result.and(ended);
        }
        result
    })?;
    let mut loaded = std::mem::take(&mut *lock(&shared.done));
    loaded.sort_by_key(|l| l.0);
    let mut writer = transaction.writer(id)?;
    for (_, part) in loaded {
        match part {
            Loaded::Block(block) => drop(writer.block(block)?),
            Loaded::Rows(batch) => drop(writer.insert(&NewRows::of(&batch), Conflict::Fail)?),
        }
    }
    Ok(lock(&shared.reader).rows)
}

impl Shared<'_> {
    /// What each thread does until the file is through or one of them failed.
    fn work(&self) -> Result<()> {
        let mut freezer = Freezer::new(self.options.clone());
        while let Some((number, batch)) = self.next()? {
            let part = match batch.rows == CHUNK_ROWS {
                true => {
                    let block = freezer.freeze_batch(&self.table, &batch);
                    Loaded::Block(block.inspect_err(|_| lock(&self.reader).over = true)?)
                }
                false => Loaded::Rows(batch),
            };
            lock(&self.done).push((number, part));
        }
        Ok(())
    }

    /// The next batch and its number; one thread reads at a time.
    fn next(&self) -> Result<Option<(usize, RowBatch)>> {
        let mut reader = lock(&self.reader);
        if reader.over {
            return Ok(None);
        }
        let batch = self
            .runner
            .cancel()
            .check()
            .and_then(|()| reader.reader.next_batch());
        let batch = match batch {
            Ok(Some(batch)) => batch,
            ended => {
                reader.over = true;
                return ended.map(|_| None);
            }
        };
        let number = reader.batches;
        reader.batches += 1;
        reader.rows += batch.rows as u64;
        let done = reader.reader.progress().0;
        self.runner.progress().advance(done.saturating_sub(reader.seen));
        reader.seen = done;
        drop(reader);
        Ok(Some((number, (self.shape)(batch)?)))
    }
}
