//! Running a statement beside the interpreter: its lock is let go, and on the main thread signals are heard meanwhile.

use crate::errors::{InternalError, raise};
use crate::frames::run_for_main_thread;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a statement runs between two looks at what the user wants of it.
const LOOK: Duration = Duration::from_millis(50);
/// How long a statement runs before its progress is shown in a notebook.
const SHOW_PROGRESS_AFTER: Duration = Duration::from_millis(1000);
/// Stack of the thread that runs a statement: that of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// Runs what takes no time worth speaking of.
pub fn briefly<T: Send>(py: Python<'_>, work: impl FnOnce() -> frazil::Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(raise)
}

/// Runs a statement of a session. On the main thread, where the interpreter handles signals, another thread runs it, and
/// what a handler raises cancels it: so Ctrl-C ends a query.
pub fn run<T: Send>(
    py: Python<'_>,
    session: &frazil::Connection,
    work: impl FnOnce() -> frazil::Result<T> + Send,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        return briefly(py, work);
    }
    let ended = Ended::default();
    thread::scope(|scope| {
        let work = || {
            let _end = EndOnDrop(&ended);
            run_for_main_thread();
            work()
        };
        let helper = thread::Builder::new()
            .name("frazil-statement".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)?;
        let watched = watch(py, session, &ended);
        let result = py.detach(|| helper.join());
        let result = result.map_err(|_| InternalError::new_err("the thread of a statement panicked"))?;
        watched?;
        result.map_err(raise)
    })
}

/// Waits for a statement, handles signals and shows how far it is. The error that a signal's handler raised.
fn watch(py: Python<'_>, session: &frazil::Connection, ended: &Ended) -> PyResult<()> {
    let begun = Instant::now();
    let mut raised = Ok(());
    let mut display: Option<Bound<'_, PyAny>> = None;
    while !py.detach(|| ended.wait()) {
        if raised.is_ok() {
            raised = py.check_signals();
        }
        if raised.is_err() {
            // Again and again: it may wait for its turn, and begin by forgetting what was asked of the one before.
            session.cancel_handle().cancel();
        } else if begun.elapsed() > SHOW_PROGRESS_AFTER {
            raised = show_progress(py, session, begun.elapsed(), &mut display);
        }
    }
    if let Some(display) = display {
        let closed = display.call_method0("close");
        raised = raised.and(closed.map(drop));
    }
    raised
}

/// Shows in a notebook how far a statement is; elsewhere nothing.
fn show_progress<'py>(
    py: Python<'py>,
    session: &frazil::Connection,
    elapsed: Duration,
    display: &mut Option<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let shown = match display {
        Some(shown) => shown,
        None => display.insert(py.import("frazil._notebook")?.call_method0("progress")?),
    };
    let progress = session.progress();
    let left = progress.left(elapsed).unwrap_or_default();
    shown.call_method1(
        "show",
        (progress.phase(), progress.done(), progress.total(), left),
    )?;
    Ok(())
}

/// Whether the interpreter handles signals on this thread.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    thread_local!(static KNOWN: Cell<Option<(u32, bool)>> = const { Cell::new(None) });
    // After a fork the thread that forked is the main one.
    let process = std::process::id();
    if let Some((of, known)) = KNOWN.get()
        && of == process
    {
        return Ok(known);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?;
    let is_main = threading.call_method0("current_thread")?.is(&main);
    KNOWN.set(Some((process, is_main)));
    Ok(is_main)
}

/// Whether a statement has ended.
#[derive(Default)]
struct Ended {
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Ended {
    /// Waits for the end, [`LOOK`] at most; whether it has come.
    fn wait(&self) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(ended, LOOK, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Says that a statement has ended, also where it panicked.
struct EndOnDrop<'a>(&'a Ended);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        *self.0.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}
