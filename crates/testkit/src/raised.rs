//! A flag that ends the loops of other threads, also if the thread that leads them panics.

use std::sync::atomic::{AtomicBool, Ordering};

/// Raises a flag when it is dropped. A scope of threads waits for all of them: where a statement at the end raises the
/// flag, a panic before it leaves the others in their loops, and a test that fails hangs instead.
pub struct RaisedAtEnd<'a>(pub &'a AtomicBool);

impl Drop for RaisedAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
