//! Panics below generated code. Machine code has no unwind tables, so that a panic must not reach it: each
//! function of the table catches what its body throws, notes the error here, and returns a value that means
//! failure where its signature has one.
//!
//! The note is the worker's, kept per thread: a worker runs generated code on one thread at a time and takes the
//! note when that code returns. Functions without a status need nothing else: generated code works on
//! with a zero until its vector ends, and the worker drops what came of it.

use frazil_types::Error;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static NOTED: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// The error of the first panic caught on this thread since the last call.
pub fn take() -> Option<Error> {
    NOTED.with(|noted| noted.borrow_mut().take())
}

/// Runs `body`; `None` after a panic, which is noted as XX000 of `function`.
#[inline]
pub(crate) fn catching<T>(function: &'static str, body: impl FnOnce() -> T) -> Option<T> {
    // What the body was changing belongs to the worker, which drops it when the note is taken.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => Some(value),
        Err(panic) => {
            note(function, panic.as_ref());
            None
        }
    }
}

#[cold]
fn note(function: &'static str, panic: &(dyn Any + Send)) {
    NOTED.with(|noted| {
        noted
            .borrow_mut()
            .get_or_insert_with(|| panicked(&format!("the runtime function {function}"), panic));
    });
}

/// XX000: `what` panicked, and what it said.
pub fn panicked(what: &str, panic: &(dyn Any + Send)) -> Error {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Error::internal(format!("{what} panicked: {}", said.unwrap_or("without a word")))
}
