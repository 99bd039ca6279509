//! Work that several threads do piece by piece, and whose results are taken in order.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// What became of a piece: nothing yet, a result, or a panic.
type Slot<T> = Mutex<Option<std::thread::Result<T>>>;

/// Makes `count` pieces on so many threads, the calling one among them, and takes them in order on the calling thread, which makes
/// pieces itself while the next one is not there. Ends with the first error of `take`. A panic of `make` is the caller's.
pub fn in_order<T: Send, E>(
    threads: usize,
    count: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let helpers = threads.min(count).saturating_sub(1);
    if helpers == 0 {
        return (0..count).try_for_each(|piece| take(make(piece)));
    }
    let next = AtomicUsize::new(0);
    let slots: Vec<Slot<T>> = (0..count).map(|_| Mutex::new(None)).collect();
    let (finished, change) = (Mutex::new(0_usize), Condvar::new());
    // Makes the next piece; whether there was one.
    let make_next = || {
        let piece = next.fetch_add(1, Ordering::Relaxed);
        let Some(slot) = slots.get(piece) else {
            return false;
        };
        let made = catch_unwind(AssertUnwindSafe(|| make(piece)));
        *lock(slot) = Some(made);
        *lock(&finished) += 1;
        change.notify_one();
        true
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| while make_next() {});
        }
        for slot in &slots {
            let made = loop {
                let before = *lock(&finished);
                if let Some(made) = lock(slot).take() {
                    break made;
                }
                if make_next() {
                    continue;
                }
                // Somebody is at it.
                let waiting = lock(&finished);
                if *waiting == before {
                    drop(change.wait(waiting));
                }
            };
            let taken = match made {
                Ok(made) => take(made),
                Err(panic) => {
                    next.store(count, Ordering::Relaxed);
                    resume_unwind(panic)
                }
            };
            if taken.is_err() {
                next.store(count, Ordering::Relaxed);
                return taken;
            }
        }
        Ok(())
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::Error;

    type Done = Result<(), Error>;

    #[test]
    fn pieces_come_in_order_on_any_number_of_threads() {
        for threads in [0, 1, 2, 5] {
            for count in [0, 1, 2, 100] {
                let mut taken = Vec::new();
                let square = |piece: usize| piece * piece;
                let done: Done = in_order(threads, count, square, |piece| {
                    taken.push(piece);
                    Ok(())
                });
                done.unwrap();
                assert_eq!(taken, (0..count).map(square).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let mut taken = 0;
        let done: Done = in_order(
            3,
            1000,
            |piece| piece,
            |piece| {
                taken = piece;
                match piece {
                    10 => Err(Error::internal("enough")),
                    _ => Ok(()),
                }
            },
        );
        assert!(done.is_err());
        assert_eq!(taken, 10);
    }

    #[test]
    fn a_panic_of_a_piece_is_the_callers() {
        let make = |piece: usize| assert_ne!(piece, 7, "a piece that panics");
        let run = || -> Done { in_order(2, 20, make, |()| Ok(())) };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
