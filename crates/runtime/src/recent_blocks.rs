//! Small blocks of memory that a thread has just freed serve its next allocations.
//!
//! A statement on a few rows allocates and frees some hundred small blocks. mimalloc hands the blocks of a page out in
//! turn, so that most of them have left the cache by then: an eighth of the time of TPC-C was one instruction in the
//! allocator, which reads the first word of the next free block. [`RecentBlocks`] keeps the addresses of the blocks
//! that were freed last, in a stack for each size, and hands out the latest one, which is still in the cache. Addresses
//! are kept apart from the blocks, so that an allocation does not touch its block.
//!
//! A thread keeps at most [`MOST_KEPT`] blocks of each size. Half of a full stack goes back to the allocator beneath,
//! and so do all blocks when the thread ends.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// Sizes of blocks are multiples of this number of bytes, which is also their alignment.
const STEP: usize = 16;
/// Number of sizes: blocks of up to 512 bytes are kept.
const SIZES: usize = 32;
/// Blocks of one size that a thread keeps at most. All stacks together hold at most 132 KiB.
const MOST_KEPT: usize = 16;

/// The allocator beneath.
type Beneath = &'static (dyn GlobalAlloc + Sync);

/// An allocator over another one. See the module.
#[derive(Clone, Copy)]
pub struct RecentBlocks {
    beneath: Beneath,
}

/// The blocks that a thread keeps. The struct has no destructor, so that it can be used as long as the thread runs.
struct Kept {
    owner: Cell<Owner>,
    stacks: [Stack; SIZES],
}

/// The allocator whose blocks a thread keeps.
#[derive(Clone, Copy)]
enum Owner {
    /// The thread has freed no small block yet.
    Nobody,
    Allocator(Beneath),
    /// Nothing is kept: the thread begins to keep blocks at this moment, or ends.
    Closed,
}

/// Blocks of one size, the latest one last.
struct Stack {
    count: Cell<usize>,
    blocks: [Cell<*mut u8>; MOST_KEPT],
}

/// Gives the blocks of a thread back when the thread ends.
struct AtEnd;

thread_local! {
    static KEPT: Kept = const {
        Kept {
            owner: Cell::new(Owner::Nobody),
            stacks: [const { Stack::empty() }; SIZES],
        }
    };
    static AT_END: AtEnd = const { AtEnd };
}

impl Stack {
    const fn empty() -> Stack {
        Stack {
            count: Cell::new(0),
            blocks: [const { Cell::new(ptr::null_mut()) }; MOST_KEPT],
        }
    }

    fn pop(&self) -> Option<NonNull<u8>> {
        let count = self.count.get().checked_sub(1)?;
        self.count.set(count);
        NonNull::new(self.blocks[count].get())
    }

    /// Adds a block. Returns false if the stack is full.
    fn push(&self, block: *mut u8) -> bool {
        let count = self.count.get();
        let Some(place) = self.blocks.get(count) else {
            return false;
        };
        place.set(block);
        self.count.set(count + 1);
        true
    }

    /// Removes the `count` earliest blocks, and calls `gone` with each.
    fn remove_first(&self, count: usize, gone: impl Fn(*mut u8)) {
        let kept = self.count.get() - count;
        self.blocks[..count].iter().for_each(|block| gone(block.get()));
        for at in 0..kept {
            self.blocks[at].set(self.blocks[at + count].get());
        }
        self.count.set(kept);
    }
}

/// Position of the stack for a layout. `None` if blocks of the layout are not kept.
fn stack_of(layout: Layout) -> Option<usize> {
    let is_small = layout.align() <= STEP && layout.size() <= SIZES * STEP;
    is_small.then(|| layout.size().saturating_sub(1) / STEP)
}

/// Layout of the blocks in a stack.
fn layout_of(stack: usize) -> Layout {
    Layout::from_size_align((stack + 1) * STEP, STEP).expect("a small size and a power of two")
}

impl Kept {
    /// True if the thread keeps blocks of `beneath`.
    fn is_of(&self, beneath: Beneath) -> bool {
        matches!(self.owner.get(), Owner::Allocator(owner) if ptr::eq(owner, beneath))
    }

    /// True if the thread keeps blocks of `beneath` from now on. The first call sees to it that they are given back.
    fn begins(&self, beneath: Beneath) -> bool {
        if !matches!(self.owner.get(), Owner::Nobody) {
            return self.is_of(beneath);
        }
        // Registering the destructor may allocate and free.
        self.owner.set(Owner::Closed);
        let is_registered = AT_END.try_with(|_| ()).is_ok();
        if is_registered {
            self.owner.set(Owner::Allocator(beneath));
        }
        is_registered
    }
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        KEPT.with(|kept| {
            if let Owner::Allocator(beneath) = kept.owner.replace(Owner::Closed) {
                for (at, stack) in kept.stacks.iter().enumerate() {
                    // SAFETY: the stack has blocks of `beneath` that were allocated with this layout, see `dealloc`.
                    stack.remove_first(stack.count.get(), |block| unsafe {
                        beneath.dealloc(block, layout_of(at));
                    });
                }
            }
        });
    }
}

impl RecentBlocks {
    /// Keeps blocks of an allocator.
    pub const fn over(beneath: Beneath) -> RecentBlocks {
        RecentBlocks { beneath }
    }

    /// A kept block for a stack's layout.
    #[inline]
    fn kept(&self, stack: usize) -> Option<NonNull<u8>> {
        KEPT.with(|kept| match kept.is_of(self.beneath) {
            true => kept.stacks[stack].pop(),
            false => None,
        })
    }

    /// Keeps a block of a stack's layout, if the thread keeps any of this allocator.
    ///
    /// # Safety
    /// The block was allocated beneath with that layout, and is not used any more.
    unsafe fn keep(&self, block: *mut u8, at: usize) {
        let give_back = |block| {
            // SAFETY: every block in the stack was allocated beneath with this layout: by contract, and by that of the
            // calls that pushed the others.
            unsafe { self.beneath.dealloc(block, layout_of(at)) }
        };
        KEPT.with(|kept| {
            let stack = &kept.stacks[at];
            if !kept.is_of(self.beneath) && !kept.begins(self.beneath) {
                give_back(block);
            } else if !stack.push(block) {
                stack.remove_first(MOST_KEPT / 2, give_back);
                stack.push(block);
            }
        });
    }
}

// SAFETY: a block comes from the allocator beneath, whose contract is this one, with a layout that has at least the
// size and the alignment that are asked for. Its stack, and so its layout, follows from the caller's layout alone, so
// that it goes back beneath with the layout that it came with. A kept block is handed out once, because it leaves its
// stack.
unsafe impl GlobalAlloc for RecentBlocks {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(stack) = stack_of(layout) else {
            // SAFETY: the caller's contract.
            return unsafe { self.beneath.alloc(layout) };
        };
        match self.kept(stack) {
            Some(block) => block.as_ptr(),
            // SAFETY: the layout's size is not zero.
            None => unsafe { self.beneath.alloc(layout_of(stack)) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match stack_of(layout) {
            // SAFETY: a block of this layout was allocated with that of its stack, by `alloc` or `alloc_zeroed`.
            Some(stack) => unsafe { self.keep(block, stack) },
            // SAFETY: the caller's contract.
            None => unsafe { self.beneath.dealloc(block, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(stack) = stack_of(layout) else {
            // SAFETY: the caller's contract.
            return unsafe { self.beneath.alloc_zeroed(layout) };
        };
        match self.kept(stack) {
            Some(block) => {
                // SAFETY: the block has at least `layout.size()` bytes.
                unsafe { block.as_ptr().write_bytes(0, layout.size()) };
                block.as_ptr()
            }
            // SAFETY: the layout's size is not zero.
            None => unsafe { self.beneath.alloc_zeroed(layout_of(stack)) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's contract: `new_size`, rounded up to the alignment, does not overflow `isize`.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (stack_of(layout), stack_of(new)) {
            // SAFETY: the caller's contract.
            (None, None) => unsafe { self.beneath.realloc(block, layout, new_size) },
            (before, now) if before == now => block,
            _ => {
                // SAFETY: the size is not zero by contract; both blocks have the bytes that are copied, and differ.
                unsafe {
                    let moved = self.alloc(new);
                    if !moved.is_null() {
                        ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;
    use std::collections::HashMap;
    use std::sync::atomic::{AtomicIsize, Ordering};
    use std::thread;

    /// The system's allocator, which counts the blocks and bytes that are out.
    struct Counting {
        blocks: AtomicIsize,
        bytes: AtomicIsize,
    }

    impl Counting {
        const fn new() -> Counting {
            Counting {
                blocks: AtomicIsize::new(0),
                bytes: AtomicIsize::new(0),
            }
        }

        fn count(&self, blocks: isize, bytes: usize) {
            self.blocks.fetch_add(blocks, Ordering::Relaxed);
            self.bytes.fetch_add(blocks * bytes as isize, Ordering::Relaxed);
        }

        fn out(&self) -> (isize, isize) {
            (
                self.blocks.load(Ordering::Relaxed),
                self.bytes.load(Ordering::Relaxed),
            )
        }
    }

    // SAFETY: the system's allocator does the work.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            self.count(1, layout.size());
            // SAFETY: the caller's contract.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            self.count(-1, layout.size());
            // SAFETY: the caller's contract.
            unsafe { System.dealloc(block, layout) }
        }
    }

    #[test]
    fn the_block_that_was_freed_last_is_handed_out_first() {
        static BENEATH: Counting = Counting::new();
        thread::spawn(|| {
            let blocks = RecentBlocks::over(&BENEATH);
            let [small, large] = [24, 32].map(|size| Layout::from_size_align(size, 8).expect("a layout"));
            // SAFETY: each block is freed once, with the layout of its size.
            unsafe {
                let [one, other] = [blocks.alloc(small), blocks.alloc(large)];
                blocks.dealloc(one, small);
                blocks.dealloc(other, large);
                assert_eq!(blocks.alloc(small), other, "both sizes are in one stack");
                assert_eq!(blocks.alloc(large), one);
                assert_eq!(BENEATH.out(), (2, 64));
                blocks.dealloc(one, small);
                blocks.dealloc(other, small);
            }
            assert_eq!(BENEATH.out(), (2, 64), "they are kept");
        })
        .join()
        .expect("it ends");
        assert_eq!(BENEATH.out(), (0, 0), "the thread has given them back");
    }

    #[test]
    fn blocks_of_all_layouts_keep_their_bytes_on_many_threads() {
        static BENEATH: Counting = Counting::new();
        let blocks = RecentBlocks::over(&BENEATH);
        let (send, receive) = std::sync::mpsc::channel::<(usize, Layout, u8)>();
        let checked = move |address: usize, layout: Layout, byte: u8| {
            // SAFETY: the block has the layout's size, and was filled.
            let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, layout.size()) };
            assert!(bytes.iter().all(|&b| b == byte), "{layout:?}");
        };
        let freeing = thread::spawn(move || {
            for (address, layout, byte) in receive {
                checked(address, layout, byte);
                // SAFETY: the other thread has sent the block, and forgotten it.
                unsafe { blocks.dealloc(address as *mut u8, layout) };
            }
        });
        let mut held: HashMap<usize, (Layout, u8)> = HashMap::new();
        let rounds = if cfg!(miri) { 300 } else { 30_000 };
        let mut state = 7_u64;
        let mut below = |most: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % most
        };
        for _ in 0..rounds {
            let size = 1 + below(700) as usize;
            let layout = Layout::from_size_align(size, 1 << below(6)).expect("a layout");
            let byte = below(256) as u8;
            // SAFETY: the size is not zero.
            let block = unsafe {
                match below(4) {
                    0 => blocks.alloc_zeroed(layout),
                    _ => blocks.alloc(layout),
                }
            };
            assert_eq!(block as usize % layout.align(), 0);
            // SAFETY: the block has that size.
            unsafe { block.write_bytes(byte, size) };
            assert!(
                held.insert(block as usize, (layout, byte)).is_none(),
                "handed out twice"
            );
            let Some((&address, &(layout, byte))) = held.iter().next().filter(|_| below(9) > 2) else {
                continue;
            };
            checked(address, layout, byte);
            held.remove(&address);
            match below(3) {
                0 => send.send((address, layout, byte)).expect("the thread receives"),
                1 => {
                    let size = 1 + below(700) as usize;
                    let new = Layout::from_size_align(size, layout.align()).expect("a layout");
                    // SAFETY: the block has that layout, and is forgotten.
                    let moved = unsafe { blocks.realloc(address as *mut u8, layout, size) };
                    checked(
                        moved as usize,
                        Layout::from_size_align(size.min(layout.size()), 1).expect("a layout"),
                        byte,
                    );
                    // SAFETY: the block has that size.
                    unsafe { moved.write_bytes(byte, size) };
                    held.insert(moved as usize, (new, byte));
                }
                // SAFETY: the block has that layout, and is forgotten.
                _ => unsafe { blocks.dealloc(address as *mut u8, layout) },
            }
        }
        drop(send);
        freeing.join().expect("all bytes were kept");
        for (address, (layout, byte)) in held {
            checked(address, layout, byte);
            // SAFETY: the block has that layout.
            unsafe { blocks.dealloc(address as *mut u8, layout) };
        }
        let most = (SIZES * MOST_KEPT) as isize;
        assert!((0..=most).contains(&BENEATH.out().0), "{:?}", BENEATH.out());
    }

    #[test]
    fn zeroed_blocks_are_zero_and_another_allocator_keeps_none() {
        static BENEATH: [Counting; 2] = [const { Counting::new() }; 2];
        thread::spawn(|| {
            let [first, second] = [&BENEATH[0], &BENEATH[1]].map(|beneath| RecentBlocks::over(beneath));
            let layout = Layout::from_size_align(100, 4).expect("a layout");
            // SAFETY: each block is freed once, with its layout, by the allocator that it is of.
            unsafe {
                let block = first.alloc(layout);
                block.write_bytes(1, 100);
                first.dealloc(block, layout);
                let zeroed = first.alloc_zeroed(layout);
                assert_eq!(zeroed, block);
                assert!((0..100).all(|at| *zeroed.add(at) == 0));
                let other = second.alloc(layout);
                second.dealloc(other, layout);
                assert_eq!(BENEATH[1].out(), (0, 0));
                first.dealloc(zeroed, layout);
            }
        })
        .join()
        .expect("it ends");
        assert_eq!(BENEATH[0].out(), (0, 0));
    }
}
