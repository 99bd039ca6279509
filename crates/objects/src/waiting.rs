//! Calls of a store as calls that wait: the one place that knows an asynchronous runtime.
//!
//! A call is a task of the process's runtime. The thread that wants the result sleeps until the task is done or the
//! statement's flag rings an alarm; it never polls. A task whose statement was cancelled is dropped at its next pause,
//! which closes its connection.

use frazil_types::{Cancel, Error, Result, SqlState};
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::task::{JoinError, JoinHandle};

/// Threads that move bytes between sockets and memory. Two keep several connections busy: one decrypts while the other
/// copies. Queries run on threads of their own.
const THREADS: usize = 2;

/// The process's runtime, with the number of the process that made it: after a fork, the child has none of its threads.
static RUNTIME: Mutex<Option<(u32, Handle)>> = Mutex::new(None);

/// Wakes whoever waits for a task.
enum Event<T> {
    /// The task's result.
    Done(T),
    /// The statement's flag was set.
    Alarm,
    /// The task ended without a result: it panicked.
    Gone,
}

/// Rings when the flag of a statement is set.
struct Bell<T>(Sender<Event<T>>);

impl<T: Send> Wake for Bell<T> {
    fn wake(self: Arc<Self>) {
        // Nobody waits any more.
        let _ = self.0.send(Event::Alarm);
    }
}

/// Tells of the end of a task, however it ends.
struct Ending<T>(Sender<Event<T>>);

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Gone);
    }
}

/// The runtime, which is made when it is first wanted. 53000 if the system gives it no threads.
pub(crate) fn runtime() -> Result<Handle> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, handle)) = &*runtime
        && *owner == process
    {
        return Ok(handle.clone());
    }
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(THREADS).thread_name("frazil-objects");
    let made = builder.enable_io().enable_time().build().map_err(|e| {
        let message = format!("could not start threads for object stores: {e}");
        Error::new(SqlState::INSUFFICIENT_RESOURCES, message)
    })?;
    let handle = made.handle().clone();
    // The runtime lives as long as the process: dropping it would wait for its threads.
    std::mem::forget(made);
    *runtime = Some((process, handle.clone()));
    Ok(handle)
}

/// Work that goes on while nobody waits for it. Dropped, it ends at its next pause.
#[derive(Debug)]
pub(crate) struct Task<T>(JoinHandle<T>);

impl<T: Send + 'static> Task<T> {
    /// Begins.
    pub(crate) fn begin(work: impl Future<Output = T> + Send + 'static) -> Result<Task<T>> {
        Ok(Task(runtime()?.spawn(work)))
    }

    /// Waits for its result. 57014 once the statement is cancelled.
    pub(crate) fn wait(self, cancel: &Cancel) -> Result<T> {
        wait(self, cancel)?.map_err(|_| panicked())
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The error for a task that ended without a result.
pub(crate) fn panicked() -> Error {
    Error::internal("a request to an object store panicked")
}

/// Runs `work` on the runtime and waits for its result. 57014 once the statement is cancelled: `work` is dropped then.
pub(crate) fn wait<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
    cancel: &Cancel,
) -> Result<T> {
    let (sender, events) = channel();
    let _alarm = cancel.alarm(Waker::from(Arc::new(Bell(sender.clone()))));
    cancel.check()?;
    let ending = Ending(sender);
    let task = runtime()?.spawn(async move {
        let done = work.await;
        let _ = ending.0.send(Event::Done(done));
    });
    loop {
        match events.recv() {
            Ok(Event::Done(done)) => return Ok(done),
            Ok(Event::Alarm) => {
                if let Err(error) = cancel.check() {
                    task.abort();
                    return Err(error);
                }
            }
            Ok(Event::Gone) | Err(_) => return Err(panicked()),
        }
    }
}

/// Time that the thread of a cancelled statement waits until what it has written is removed.
const FAREWELL: Duration = Duration::from_millis(800);

/// Runs `work` on the runtime and waits for its end, but not for long: `work` then goes on by itself. True if it ended.
pub(crate) fn wait_briefly(work: impl Future<Output = ()> + Send + 'static) -> bool {
    let (sender, events) = channel();
    let ending = Ending::<()>(sender);
    let Ok(runtime) = runtime() else {
        return false;
    };
    runtime.spawn(async move {
        work.await;
        drop(ending);
    });
    events.recv_timeout(FAREWELL).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn results_errors_panics_and_cancels_reach_the_waiting_thread() {
        let cancel = Cancel::new();
        assert_eq!(wait(async { 7 }, &cancel).expect("done"), 7);
        let error = wait(async { panic!("on purpose") }, &cancel)
            .map(|(): ()| ())
            .expect_err("a panic");
        assert_eq!(error.state(), SqlState::INTERNAL_ERROR);
        let (begun, other) = (Instant::now(), cancel.clone());
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            other.cancel();
        });
        let error = wait(std::future::pending::<()>(), &cancel).expect_err("cancelled");
        assert_eq!(error.state(), SqlState::QUERY_CANCELED);
        assert!(begun.elapsed() < Duration::from_secs(5));
        thread.join().expect("it ends");
        let error = wait(async {}, &cancel).expect_err("it is set already");
        assert_eq!(error.state(), SqlState::QUERY_CANCELED);
        assert!(wait_briefly(async {}));
        assert!(!wait_briefly(std::future::pending()));
    }
}
