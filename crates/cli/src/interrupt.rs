//! Ctrl-C: cancels the query that runs, and ends the program only where none does and nobody types.

use frazil::CancelHandle;
use std::sync::Mutex;

static RUNNING: Mutex<Option<CancelHandle>> = Mutex::new(None);

/// Takes over Ctrl-C. At the prompt the line editor sees the key itself.
pub fn install() {
    // Fails only if a handler is installed already; then that one does this job.
    let _ = ctrlc::set_handler(|| {
        let running = RUNNING.lock().unwrap_or_else(|e| e.into_inner());
        match &*running {
            Some(handle) => handle.cancel(),
            None => std::process::exit(130),
        }
    });
}

/// Runs `work` such that Ctrl-C cancels `handle`.
pub fn cancelling<T>(handle: CancelHandle, work: impl FnOnce() -> T) -> T {
    *RUNNING.lock().unwrap_or_else(|e| e.into_inner()) = Some(handle);
    let result = work();
    *RUNNING.lock().unwrap_or_else(|e| e.into_inner()) = None;
    result
}
