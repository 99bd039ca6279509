//! Threads that run the statements of the main thread, which hears signals meanwhile. They wait for the next statement: to start a thread
//! takes longer than many a statement.
//!
//! Who gives statements away keeps the threads that wait, by itself: no lock is shared, so that a fork leaves none held. In the child there
//! are none of these threads, and new ones start. When the process exits, the system ends those that wait.

use crate::frames::run_for_main_thread;
use std::cell::RefCell;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Threads that wait at most. One statement runs at a time, but where a signal's handler runs another meanwhile.
const MOST_WAITING: usize = 2;
/// Stack of a thread that runs statements: that of a main thread.
const STACK_BYTES: usize = 8 << 20;

type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The threads that wait for statements of this one. Never dropped: at the exit they would end while others clear up.
    static WAITING: ManuallyDrop<RefCell<Waiting>> = const {
        ManuallyDrop::new(RefCell::new(Waiting { process: 0, threads: Vec::new() }))
    };
}

struct Waiting {
    /// The process whose threads they are.
    process: u32,
    threads: Vec<Sender<Job>>,
}

/// A statement that another thread runs.
pub struct Running<T> {
    end: Arc<End<T>>,
    thread: Sender<Job>,
}

/// How a statement ended.
struct End<T> {
    /// `None` while it runs.
    result: Mutex<Option<thread::Result<T>>>,
    changed: Condvar,
}

/// Has a thread run a statement.
pub fn begin<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Running<T>> {
    let end = Arc::new(End {
        result: Mutex::new(None),
        changed: Condvar::new(),
    });
    let says = end.clone();
    let mut job: Job = Box::new(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        *says.lock() = Some(result);
        says.changed.notify_all();
    });
    loop {
        let thread = match waiting(|threads| threads.pop()) {
            Some(thread) => thread,
            None => start()?,
        };
        match thread.send(job) {
            Ok(()) => return Ok(Running { end, thread }),
            Err(SendError(unsent)) => job = unsent,
        }
    }
}

impl<T> Running<T> {
    /// Waits for the end, `most` at most; whether it has come.
    pub fn wait(&self, most: Duration) -> bool {
        let waited = (self.end.changed).wait_timeout_while(self.end.lock(), most, |result| result.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }

    /// Waits for the end; what the statement gave, or its panic.
    pub fn result(self) -> thread::Result<T> {
        let waited = (self.end.changed).wait_while(self.end.lock(), |result| result.is_none());
        let result = waited.unwrap_or_else(PoisonError::into_inner).take();
        waiting(|threads| {
            if threads.len() < MOST_WAITING {
                threads.push(self.thread);
            }
        });
        result.unwrap_or_else(|| Err(Box::new("a statement without an end")))
    }
}

impl<T> End<T> {
    fn lock(&self) -> MutexGuard<'_, Option<thread::Result<T>>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes from the threads that wait, or adds to them.
fn waiting<T>(with: impl FnOnce(&mut Vec<Sender<Job>>) -> T) -> T {
    WAITING.with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        let process = std::process::id();
        if waiting.process != process {
            // The parent's are not here, and what they held when it forked is held for ever.
            std::mem::forget(std::mem::take(&mut waiting.threads));
            waiting.process = process;
        }
        with(&mut waiting.threads)
    })
}

fn start() -> io::Result<Sender<Job>> {
    let (thread, jobs) = channel();
    thread::Builder::new()
        .name("frazil-statement".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || serve(&jobs))?;
    Ok(thread)
}

/// Runs what it is given, until nobody is left who could give it anything.
fn serve(jobs: &Receiver<Job>) {
    run_for_main_thread();
    for job in jobs {
        job();
    }
}
