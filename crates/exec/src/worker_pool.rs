//! Worker threads of a database, shared by all its statements.
//!
//! A statement asks for `n` workers and gets the calling thread and up to `n - 1` others: a helper that
//! is busy elsewhere is not waited for at the start. With `n` = 1 no other thread is involved at all.
//! The work is a closure that takes morsels until there are none, so it does not matter how many
//! workers run it.

use frazil_types::{Cancel, statement_clock};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// What a helper runs: a job that lives as long as the statement holds it.
type Task = Arc<dyn Fn(usize) + Send + Sync>;

/// A job some helpers may still join.
struct Job {
    task: Task,
    gate: Arc<Gate>,
    worker: usize,
}

/// Counts the helpers inside a job.
#[derive(Default)]
struct Gate {
    running: Mutex<usize>,
    left: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    closing: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

/// The threads.
#[derive(Default)]
pub struct WorkerPool {
    shared: Arc<Shared>,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WorkerPool({} threads)", lock(&self.shared.queue).threads)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl WorkerPool {
    /// A pool without threads; they start when first needed.
    pub fn new() -> WorkerPool {
        WorkerPool::default()
    }

    /// Runs `task` on up to `workers` threads, worker 0 being the caller, and returns when all that began
    /// have ended. `task` must return on its own once there is nothing left to do.
    pub fn run(&self, workers: usize, task: Task) {
        if workers <= 1 {
            return task(0);
        }
        self.grow(workers - 1);
        // All workers of the statement, also later ones, read `now` as one moment.
        statement_clock::start();
        let (clock, cancel) = (statement_clock::handed_over(), Cancel::of_thread());
        let task: Task = Arc::new(move |worker| {
            cancel.during(|| statement_clock::during(clock, || task(worker)));
        });
        let gate = Arc::new(Gate::default());
        {
            let mut queue = lock(&self.shared.queue);
            queue.jobs.extend((1..workers).map(|worker| Job {
                task: task.clone(),
                gate: gate.clone(),
                worker,
            }));
        }
        self.shared.arrived.notify_all();
        let own = catch_unwind(AssertUnwindSafe(|| task(0)));
        // Whoever did not begin need not: the work is done.
        lock(&self.shared.queue)
            .jobs
            .retain(|job| !Arc::ptr_eq(&job.gate, &gate));
        let mut running = lock(&gate.running);
        while *running > 0 {
            running = gate.left.wait(running).unwrap_or_else(|e| e.into_inner());
        }
        drop(running);
        // A panic of the caller is the caller's, once no helper works on its behalf any more.
        if let Err(panic) = own {
            resume_unwind(panic);
        }
    }

    fn grow(&self, threads: usize) {
        let mut queue = lock(&self.shared.queue);
        let mut handles = lock(&self.handles);
        while queue.threads < threads {
            let shared = self.shared.clone();
            let name = format!("frazil-worker-{}", queue.threads + 1);
            match std::thread::Builder::new()
                .name(name)
                .spawn(move || serve(&shared))
            {
                Ok(handle) => handles.push(handle),
                // Fewer threads are slower, not wrong: the caller always works.
                Err(_) => return,
            }
            queue.threads += 1;
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        lock(&self.shared.queue).closing = true;
        self.shared.arrived.notify_all();
        for handle in lock(&self.handles).drain(..) {
            // A worker catches the panics of its tasks, so joining cannot fail.
            let _ = handle.join();
        }
    }
}

fn serve(shared: &Shared) {
    loop {
        let job = {
            let mut queue = lock(&shared.queue);
            loop {
                if let Some(job) = queue.jobs.pop_front() {
                    // Counted under the queue's lock: `run` removes what has not begun under it too.
                    *lock(&job.gate.running) += 1;
                    break job;
                }
                if queue.closing {
                    return;
                }
                queue = shared.arrived.wait(queue).unwrap_or_else(|e| e.into_inner());
            }
        };
        // The job's own bookkeeping notices a panic: it leaves its slot without a result.
        let _ = catch_unwind(AssertUnwindSafe(|| (job.task)(job.worker)));
        drop(job.task);
        let mut running = lock(&job.gate.running);
        *running -= 1;
        if *running == 0 {
            job.gate.left.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_morsels_are_taken_once() {
        let pool = WorkerPool::new();
        for workers in [1, 2, 5] {
            let next = Arc::new(AtomicUsize::new(0));
            let sum = Arc::new(AtomicUsize::new(0));
            let (n, s) = (next.clone(), sum.clone());
            pool.run(
                workers,
                Arc::new(move |_| {
                    loop {
                        let morsel = n.fetch_add(1, Ordering::Relaxed);
                        if morsel >= 1000 {
                            break;
                        }
                        s.fetch_add(morsel, Ordering::Relaxed);
                    }
                }),
            );
            assert_eq!(sum.load(Ordering::Relaxed), 499_500);
        }
    }

    #[test]
    fn a_panicking_helper_is_survived() {
        let pool = WorkerPool::new();
        pool.run(3, Arc::new(|worker| assert_eq!(worker, 0, "a helper's panic")));
        pool.run(3, Arc::new(|_| ()));
        // The caller's own comes back to it, when all have ended.
        let ended = Arc::new(AtomicUsize::new(0));
        let count = ended.clone();
        let ran = catch_unwind(AssertUnwindSafe(|| {
            pool.run(
                3,
                Arc::new(move |worker| {
                    assert_ne!(worker, 0, "the caller's panic");
                    count.fetch_add(1, Ordering::Relaxed);
                }),
            );
        }));
        assert!(ran.is_err() && ended.load(Ordering::Relaxed) <= 2);
    }
}
