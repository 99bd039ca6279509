//! Stacks for deeply nested statements: parser, binder, optimizer and code generator walk trees recursively.

/// Depth up to which every thread's own stack is enough.
pub(crate) const SHALLOW: usize = 40;

/// Stack that one level of depth may take: the frames of the parser are the largest, those of a build without
/// optimization above all.
const BYTES_PER_LEVEL: usize = 96 << 10;

/// Runs `f` on a stack that is enough for a statement of this depth ([`crate::ParsedStatement::depth`]).
pub fn on_deep_stack<T>(depth: usize, f: impl FnOnce() -> T) -> T {
    if depth <= SHALLOW {
        return stacker::maybe_grow(SHALLOW * BYTES_PER_LEVEL / 8, 8 << 20, f);
    }
    stacker::grow((depth + SHALLOW) * BYTES_PER_LEVEL, f)
}

/// What is dropped on a stack that is enough for its depth.
#[derive(Clone, Debug)]
pub(crate) struct Deep<T> {
    value: Option<T>,
    depth: usize,
}

impl<T> Deep<T> {
    pub fn new(value: T, depth: usize) -> Deep<T> {
        Deep {
            value: Some(value),
            depth,
        }
    }

    /// The value; there is one until it is dropped.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

impl<T> Drop for Deep<T> {
    fn drop(&mut self) {
        let value = self.value.take();
        if self.depth > SHALLOW {
            on_deep_stack(self.depth, || drop(value));
        }
    }
}
