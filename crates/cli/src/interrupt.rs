//! Ctrl-C cancels the query that runs, ends what waits, and ends the program only where nothing of both is and nobody
//! types. SIGTERM and SIGHUP end the program, once the statement that runs has given up and removed what it was writing.

use crate::backend::Canceler;
use frazil::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What Ctrl-C finds.
enum Running {
    Nothing,
    Query(Canceler),
    /// Input that is not shown, or an experiment: the function makes the terminal as it was, or removes what the
    /// experiment wrote, and the program ends.
    Leaving(Canceler),
    /// A pause, or another program that Ctrl-C reaches by itself.
    Waiting,
}

struct State {
    running: Running,
    /// Whether Ctrl-C came since something began to run.
    came: bool,
    /// The signal that ends the program when the query that runs is over.
    ending: Option<i32>,
}

/// How long a query that is cancelled may take until the program ends without it.
const PATIENCE: Duration = Duration::from_secs(5);

static STATE: Mutex<State> = Mutex::new(State {
    running: Running::Nothing,
    came: false,
    ending: None,
});
static CHANGED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}

/// The exit code of a program that a signal ends.
fn exit(signal: i32) -> ! {
    std::process::exit(128 + signal)
}

/// Takes over Ctrl-C, SIGTERM and SIGHUP. At the prompt the line editor sees the key itself.
pub fn install() {
    // Without them signals do what they do to any program.
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        let hear_all = move || signals.forever().for_each(hear);
        let _ = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(hear_all);
    }
}

fn hear(signal: i32) {
    let mut state = state();
    let ends = signal != SIGINT;
    match &state.running {
        Running::Query(cancel) => cancel(),
        Running::Leaving(restore) => {
            restore();
            exit(signal);
        }
        Running::Waiting if !ends => {}
        Running::Waiting | Running::Nothing => exit(signal),
    }
    state.came = true;
    CHANGED.notify_all();
    if ends {
        state.ending = Some(signal);
        // The thread that runs the query ends the program as soon as that is over.
        let over = CHANGED.wait_timeout_while(state, PATIENCE, |_| true);
        drop(over);
        exit(signal);
    }
}

fn during<T>(running: Running, work: impl FnOnce() -> T) -> T {
    let before = {
        let mut state = state();
        state.came = false;
        std::mem::replace(&mut state.running, running)
    };
    let result = work();
    let mut state = state();
    if let Some(signal) = state.ending {
        exit(signal);
    }
    state.running = before;
    result
}

/// Runs `work` such that Ctrl-C calls `cancel`.
pub fn cancelling<T>(cancel: impl Fn() + Send + 'static, work: impl FnOnce() -> T) -> T {
    during(Running::Query(Box::new(cancel)), work)
}

/// A function that cancels by `cancel`.
pub fn of(cancel: &Cancel) -> impl Fn() + Send + 'static {
    let cancel = cancel.clone();
    move || cancel.cancel()
}

/// Runs `work`, which a signal ends: it calls `restore` and ends the program.
pub fn leaving<T>(restore: impl Fn() + Send + 'static, work: impl FnOnce() -> T) -> T {
    during(Running::Leaving(Box::new(restore)), work)
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
