//! Cancelling a statement: a flag, set by a user or a timeout, polled per morsel and per stage vector. Parts of a
//! statement have **child** flags: workers stop their siblings by one, without a word to the statement's user.
//!
//! Most functions are given the flag. A thread also knows the flag of the statement that it works for
//! ([`Cancel::during`]), for waits deep below the statement: a block that is in an object store is fetched by
//! whichever function first reads a cell of it.

use crate::{Error, Result, SqlState};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

/// A shared flag. 0: go on.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flag>);

const USER: u32 = 1;
const TIMEOUT: u32 = 2;
const SIBLING: u32 = 3;

#[derive(Debug, Default)]
struct Flag {
    state: AtomicU32,
    /// Flags that are set when this one is.
    children: Mutex<Vec<Weak<Flag>>>,
    /// Threads that wait for something else and are to be woken when the flag is set.
    sleepers: Mutex<Sleepers>,
}

/// The wakers of sleeping threads, each under a number of its own.
#[derive(Debug, Default)]
struct Sleepers {
    next: u64,
    wakers: Vec<(u64, Waker)>,
}

/// Keeps a waker with a flag. Dropping it takes the waker away.
#[derive(Debug)]
pub struct CancelAlarm<'a> {
    flag: &'a Flag,
    number: u64,
}

impl Drop for CancelAlarm<'_> {
    fn drop(&mut self) {
        let mut sleepers = self.flag.sleepers();
        sleepers.wakers.retain(|(number, _)| *number != self.number);
    }
}

impl Flag {
    fn children(&self) -> MutexGuard<'_, Vec<Weak<Flag>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleepers(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the flag unless it is set, and those below it.
    fn set(&self, reason: u32) {
        let set = self
            .state
            .compare_exchange(0, reason, Ordering::Release, Ordering::Relaxed);
        if set.is_ok() {
            // A child that is not yet in this list finds the flag set once it is: see `child`.
            let children: Vec<Weak<Flag>> = self.children().clone();
            children
                .iter()
                .filter_map(Weak::upgrade)
                .for_each(|child| child.set(reason));
            // Woken outside the lock: a waker may take locks of its own.
            let wakers: Vec<Waker> = (self.sleepers().wakers.iter()).map(|(_, w)| w.clone()).collect();
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

thread_local! {
    /// The flag of the statement that this thread works for.
    static OF_THREAD: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// The flag of the statement that this thread works for. A thread without a statement gets a new flag, which
    /// nobody sets.
    pub fn of_thread() -> Cancel {
        OF_THREAD.with_borrow(Option::clone).unwrap_or_default()
    }

    /// Runs `work`, whose waits on this thread end with 57014 once this flag is set. Threads that `work` starts call
    /// this function, too.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Restore(Option<Cancel>);
        impl Drop for Restore {
            fn drop(&mut self) {
                OF_THREAD.set(self.0.take());
            }
        }
        let _restore = Restore(OF_THREAD.replace(Some(self.clone())));
        work()
    }

    /// A flag that is set along with this one, and may be set without it.
    pub fn child(&self) -> Cancel {
        let child = Cancel::new();
        {
            let mut children = self.0.children();
            children.retain(|c| c.strong_count() > 0);
            children.push(Arc::downgrade(&child.0));
        }
        // Whoever set this flag before the child stood in the list did not see it.
        match self.0.state.load(Ordering::Acquire) {
            0 => {}
            reason => child.0.set(reason),
        }
        child
    }

    /// Wakes a thread when the flag is set, until the result is dropped. The thread must look at the flag once more
    /// before it sleeps: a flag that is set already wakes nobody.
    pub fn alarm(&self, waker: Waker) -> CancelAlarm<'_> {
        let mut sleepers = self.0.sleepers();
        let number = sleepers.next;
        sleepers.next += 1;
        sleepers.wakers.push((number, waker));
        CancelAlarm {
            flag: &self.0,
            number,
        }
    }

    /// Asks the statement to stop on behalf of its user.
    pub fn cancel(&self) {
        self.0.set(USER);
    }

    /// Asks the statement to stop because its time is up.
    pub fn time_out(&self) {
        self.0.set(TIMEOUT);
    }

    /// Asks the workers that poll this flag, a child, to stop because one of them failed: the error is that worker's.
    pub fn stop_siblings(&self) {
        self.0.set(SIBLING);
    }

    /// Takes back what [`Cancel::time_out`] asked for. What the user asked for stays.
    pub fn forget_time_out(&self) {
        let _ = self
            .0
            .state
            .compare_exchange(TIMEOUT, 0, Ordering::Release, Ordering::Relaxed);
    }

    /// Makes the flag ready for the next statement.
    pub fn reset(&self) {
        self.0.state.store(0, Ordering::Release);
    }

    /// Whether it is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) != 0
    }

    /// An error of condition 57014 if it is set.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.0.state.load(Ordering::Relaxed) {
            0 => Ok(()),
            reason => Err(canceled(reason)),
        }
    }

    /// Where generated code polls: non-zero asks it to leave. Valid as long as this flag lives.
    pub fn as_ptr(&self) -> *const u32 {
        self.0.state.as_ptr()
    }
}

#[cold]
fn canceled(reason: u32) -> Error {
    let why = match reason {
        TIMEOUT => "statement timeout",
        SIBLING => "an error in another worker",
        _ => "user request",
    };
    Error::new(
        SqlState::QUERY_CANCELED,
        format!("canceling statement due to {why}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_hear_of_their_parent_and_not_the_other_way() {
        let statement = Cancel::new();
        let (a, b) = (statement.child(), statement.child());
        a.stop_siblings();
        assert!(a.is_set() && !b.is_set() && !statement.is_set());
        statement.time_out();
        let late = b.child();
        for flag in [&statement, &b, &late] {
            let said = flag.check().unwrap_err();
            assert_eq!(said.message(), "canceling statement due to statement timeout");
        }
        assert!(a.check().unwrap_err().message().contains("another worker"));
        drop((a, b, late));
        statement.reset();
        assert!(!statement.child().is_set());
        assert_eq!(statement.0.children().len(), 1);
    }

    #[test]
    fn a_thread_knows_the_flag_of_the_innermost_work() {
        let (statement, worker) = (Cancel::new(), Cancel::new());
        worker.cancel();
        assert!(!Cancel::of_thread().is_set());
        statement.during(|| {
            assert!(!Cancel::of_thread().is_set());
            let panicked =
                std::panic::catch_unwind(|| worker.during(|| assert!(!Cancel::of_thread().is_set())));
            assert!(panicked.is_err(), "the worker's flag is set");
            assert!(!Cancel::of_thread().is_set());
            statement.cancel();
            assert!(Cancel::of_thread().is_set());
        });
        assert!(!Cancel::of_thread().is_set());
    }

    #[test]
    fn sleepers_are_woken_while_their_alarm_lives() {
        struct Bell(AtomicU32);
        impl std::task::Wake for Bell {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let bell = Arc::new(Bell(AtomicU32::new(0)));
        let statement = Cancel::new();
        let worker = statement.child();
        let (alarm, gone) = (
            worker.alarm(bell.clone().into()),
            statement.alarm(bell.clone().into()),
        );
        drop(gone);
        statement.cancel();
        statement.time_out();
        assert_eq!(bell.0.load(Ordering::Relaxed), 1, "set once, heard once");
        drop(alarm);
        assert!(worker.0.sleepers().wakers.is_empty());
    }
}
