//! Running a statement beside the interpreter: its lock is let go, and on the main thread signals are heard meanwhile.

use crate::errors::{InternalError, Text, raise, raise_in};
use crate::statement_threads::{self, Running};
use pyo3::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long a statement runs between two looks at what the user wants of it.
const LOOK: Duration = Duration::from_millis(50);
/// How long a statement runs before its progress is shown in a notebook.
const SHOW_PROGRESS_AFTER: Duration = Duration::from_millis(1000);

/// Runs what takes no time worth speaking of.
pub fn briefly<T: Send>(py: Python<'_>, work: impl FnOnce() -> frazil::Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(raise)
}

/// Runs a statement that takes no time worth speaking of.
pub fn at_once<T: Send>(
    py: Python<'_>,
    text: Text<'_>,
    work: impl FnOnce() -> frazil::Result<T> + Send,
) -> PyResult<T> {
    py.detach(work).map_err(|error| raise_in(error, text))
}

/// Runs a statement of a session. On the main thread, where the interpreter handles signals, another thread runs it, and
/// what a handler raises cancels it: so Ctrl-C ends a query.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    session: &frazil::Connection,
    text: Text<'_>,
    work: impl FnOnce() -> frazil::Result<T> + Send + 'static,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        return at_once(py, text, work);
    }
    let running = statement_threads::begin(work)?;
    let watched = watch(py, session, &running);
    let result = py.detach(|| running.result());
    let result = result.map_err(|_| InternalError::new_err("the thread of a statement panicked"))?;
    watched?;
    result.map_err(|error| raise_in(error, text))
}

/// Waits for a statement, handles signals and shows how far it is. The error that a signal's handler raised.
fn watch<T: Send>(py: Python<'_>, session: &frazil::Connection, running: &Running<T>) -> PyResult<()> {
    let begun = Instant::now();
    let mut raised = Ok(());
    let mut display: Option<Bound<'_, PyAny>> = None;
    while !py.detach(|| running.wait(LOOK)) {
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
