//! Ctrl-C: cancels the query that runs, ends what waits, and ends the program only where nothing of both is and nobody
//! types.

use frazil::CancelHandle;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What Ctrl-C finds.
enum Running {
    Nothing,
    Query(CancelHandle),
    /// A pause, or another program that Ctrl-C reaches by itself.
    Waiting,
}

struct State {
    running: Running,
    /// Whether Ctrl-C came since something began to run.
    came: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    running: Running::Nothing,
    came: false,
});
static CHANGED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}

/// Takes over Ctrl-C. At the prompt the line editor sees the key itself.
pub fn install() {
    // Fails only if a handler is installed already; then that one does this job.
    let _ = ctrlc::set_handler(|| {
        let mut state = state();
        match &state.running {
            Running::Query(handle) => handle.cancel(),
            Running::Waiting => {}
            Running::Nothing => std::process::exit(130),
        }
        state.came = true;
        CHANGED.notify_all();
    });
}

fn during<T>(running: Running, work: impl FnOnce() -> T) -> T {
    let before = {
        let mut state = state();
        state.came = false;
        std::mem::replace(&mut state.running, running)
    };
    let result = work();
    state().running = before;
    result
}

/// Runs `work` such that Ctrl-C cancels `handle`.
pub fn cancelling<T>(handle: CancelHandle, work: impl FnOnce() -> T) -> T {
    during(Running::Query(handle), work)
}

/// Runs `work`, which waits for another program, such that Ctrl-C does not end this one.
pub fn waiting<T>(work: impl FnOnce() -> T) -> T {
    during(Running::Waiting, work)
}

/// Sleeps; returns true if Ctrl-C ended the sleep.
pub fn sleep(duration: Duration) -> bool {
    let until = Instant::now() + duration;
    waiting(|| {
        let mut state = state();
        while !state.came {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = CHANGED
                .wait_timeout(state, left)
                .unwrap_or_else(|e| e.into_inner())
                .0;
        }
        state.came
    })
}
