//! Where the cells are, and the walk over them that all instruction sets share.

use crate::Plain;
use crate::prefetch::prefetch_read;
use std::marker::PhantomData;
use std::ops::Range;

/// So many bytes of the next partition's cells are asked for when a partition is entered: the hardware sees streams,
/// and loses them where a run ends.
const AHEAD: usize = 1024;

/// Partitions of so many rows are long: a call for each of their runs costs little beside the run itself.
const LONG: usize = 1024;

/// A column's cells of some rows: `k` of them side by side in each partition, partitions `stride` bytes apart.
#[derive(Debug)]
pub struct Strided<'a, T> {
    /// The first cell of the first row's partition.
    first: *const T,
    k: usize,
    stride: usize,
    /// The first row's number in its partition.
    within: usize,
    rows: usize,
    cells: PhantomData<&'a [T]>,
}

impl<T> Clone for Strided<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Strided<'_, T> {}

impl<'a, T: Plain> Strided<'a, T> {
    /// The cells of `rows` rows, the first being row `within` of its partition, which begins at `first`.
    ///
    /// # Safety
    /// These cells lie in memory that is readable, aligned to `T`, and not written for `'a`. `within` is below `k`.
    pub unsafe fn new(
        first: *const T,
        k: usize,
        stride: usize,
        within: usize,
        rows: usize,
    ) -> Strided<'a, T> {
        assert!(k > 0 && within < k && stride.is_multiple_of(align_of::<T>()));
        Strided {
            first,
            k,
            stride,
            within,
            rows,
            cells: PhantomData,
        }
    }

    /// The cells of rows that lie in `memory`, from its first cell on, in partitions of `k` that begin `stride` cells
    /// apart. Panics if they do not.
    pub fn of_slice(memory: &'a [T], k: usize, stride: usize, rows: usize) -> Strided<'a, T> {
        let last = rows.saturating_sub(1);
        let end = last / k * stride + last % k;
        assert!(rows == 0 || stride >= k && end < memory.len());
        // SAFETY: the last cell is the farthest one, and lies in the slice.
        unsafe { Strided::new(memory.as_ptr(), k, stride * size_of::<T>(), 0, rows) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Copies the cells of these rows to `out`, which has room for just them: in any order, but faster if they
    /// ascend. Panics if there are no such rows.
    pub fn copy_at(&self, rows: &[u16], out: &mut [T]) {
        assert_eq!(rows.len(), out.len(), "room for the cells");
        if self.k < LONG {
            return self.copy_each(rows, out);
        }
        let (mut rows, mut out) = (rows, out);
        while let Some(&first) = rows.first() {
            let partition = (self.within + usize::from(first)) / self.k;
            let start = (partition * self.k).saturating_sub(self.within);
            let end = ((partition + 1) * self.k - self.within).min(self.rows);
            // At least the first one, even if they do not ascend.
            let run = rows.partition_point(|&row| usize::from(row) < end).max(1);
            let (here, rows_left) = rows.split_at(run);
            let (to, out_left) = out.split_at_mut(run);
            let (least, most) = (here.iter()).fold((u16::MAX, 0), |(a, b), &row| (a.min(row), b.max(row)));
            if start <= usize::from(least) && usize::from(most) < end {
                let row_0 = self.first.wrapping_byte_add(partition * self.stride);
                let row_0 = row_0.wrapping_add(self.within).wrapping_sub(partition * self.k);
                for (to, &row) in to.iter_mut().zip(here) {
                    // SAFETY: a row of this partition, whose cells lie side by side.
                    *to = unsafe { row_0.wrapping_add(usize::from(row)).read() };
                }
            } else {
                self.copy_each(here, to);
            }
            (rows, out) = (rows_left, out_left);
        }
    }

    /// See [`Strided::copy_at`].
    fn copy_each(&self, rows: &[u16], out: &mut [T]) {
        assert!(rows.iter().all(|&row| usize::from(row) < self.rows));
        // Rows are below 2^17 here, so that a multiplication divides exactly.
        let reciprocal = (1u64 << 40).div_ceil(self.k as u64);
        assert!(self.within < 1 << 16);
        for (to, &row) in out.iter_mut().zip(rows) {
            let row = self.within + usize::from(row);
            let partition = ((row as u64 * reciprocal) >> 40) as usize;
            let cells = self.first.wrapping_byte_add(partition * self.stride);
            // SAFETY: the cell of one of the rows.
            *to = unsafe { cells.wrapping_add(row - partition * self.k).read() };
        }
    }

    /// Whether they lie in long runs, each but the last a multiple of 64.
    pub(super) fn in_long_runs(&self) -> bool {
        self.k >= LONG && self.k.is_multiple_of(64) && self.within.is_multiple_of(64)
    }

    /// Calls `f` with the cells run by run.
    pub(super) fn each_run(&self, mut f: impl FnMut(&'a [T])) {
        let mut from = 0;
        while from < self.rows {
            let run = self.part(from..from + self.run_from(from));
            if run.within + run.rows == run.k {
                ask_for(run.first.wrapping_byte_add(run.stride), run.k);
            }
            run.side_by_side().into_iter().for_each(&mut f);
            from += run.rows;
        }
    }

    /// Those of some of the rows. Panics if there are no such rows.
    pub fn part(&self, rows: Range<usize>) -> Strided<'a, T> {
        assert!(rows.start <= rows.end && rows.end <= self.rows);
        let first = self.within + rows.start;
        Strided {
            first: self.first.wrapping_byte_add(first / self.k * self.stride),
            within: first % self.k,
            rows: rows.len(),
            ..*self
        }
    }

    /// Rows of a partition: k.
    pub fn rows_per_partition(&self) -> usize {
        self.k
    }

    /// Rows from this one on, of these, that lie side by side.
    pub fn run_from(&self, row: usize) -> usize {
        let left = self.k - (self.within + row) % self.k;
        left.min(self.rows - row)
    }

    /// The cells as a slice, if they lie in one partition.
    pub fn side_by_side(&self) -> Option<&'a [T]> {
        let first = self.first.wrapping_add(self.within);
        // SAFETY: all of them are cells of this partition.
        (self.within + self.rows <= self.k).then(|| unsafe { std::slice::from_raw_parts(first, self.rows) })
    }

    /// The same cells as another type of the same size.
    pub(super) fn view<W: Plain>(self) -> Strided<'a, W> {
        assert!(size_of::<W>() == size_of::<T>() && align_of::<W>() <= align_of::<T>());
        Strided {
            first: self.first.cast(),
            k: self.k,
            stride: self.stride,
            within: self.within,
            rows: self.rows,
            cells: PhantomData,
        }
    }

    /// Calls `f` with 64 rows side by side and their number, which is less than 64 for the last ones; cells
    /// behind them hold anything.
    #[inline(always)]
    pub(super) fn each_group(self, mut f: impl FnMut(&[T; 64], usize)) {
        let mut walk = Walk::new(self);
        let mut buffer = [T::default(); 64];
        for _ in 0..self.rows / 64 {
            f(walk.next(&mut buffer), 64);
        }
        let rest = self.rows % 64;
        if rest > 0 {
            walk.fill_runs(&mut buffer[..rest]);
            f(&buffer, rest);
        }
    }
}

/// Asks for the first lines of a partition's cells.
#[inline(always)]
fn ask_for<T>(partition: *const T, k: usize) {
    for line in (0..AHEAD.min(k * size_of::<T>())).step_by(64) {
        prefetch_read(partition.cast::<u8>().wrapping_add(line));
    }
}

/// Columns of the same rows.
pub(super) fn assert_alike<T: Plain>(columns: &[Strided<'_, T>; 4]) {
    let place = |c: &Strided<'_, T>| (c.k, c.within, c.rows);
    assert!(
        columns.iter().all(|c| place(c) == place(&columns[0])),
        "columns of the same rows"
    );
}

/// Calls `f` with 64 rows of four columns; see [`Strided::each_group`].
#[inline(always)]
pub(super) fn each_group_of_four<T: Plain>(
    columns: [Strided<'_, T>; 4],
    mut f: impl FnMut([&[T; 64]; 4], usize),
) {
    let [mut a, mut b, mut c, mut d] = columns.map(Walk::new);
    let mut buffers = [[T::default(); 64]; 4];
    let rows = columns[0].rows;
    for _ in 0..rows / 64 {
        let [p, q, r, s] = &mut buffers;
        f([a.next(p), b.next(q), c.next(r), d.next(s)], 64);
    }
    let rest = rows % 64;
    if rest > 0 {
        let [p, q, r, s] = &mut buffers;
        a.fill_runs(&mut p[..rest]);
        b.fill_runs(&mut q[..rest]);
        c.fill_runs(&mut r[..rest]);
        d.fill_runs(&mut s[..rest]);
        f([p, q, r, s], rest);
    }
}

/// On the way over the cells.
struct Walk<'a, T> {
    partition: *const T,
    within: usize,
    k: usize,
    stride: usize,
    cells: PhantomData<&'a [T]>,
}

impl<'a, T: Plain> Walk<'a, T> {
    #[inline(always)]
    fn new(cells: Strided<'a, T>) -> Walk<'a, T> {
        Walk {
            partition: cells.first,
            within: cells.within,
            k: cells.k,
            stride: cells.stride,
            cells: PhantomData,
        }
    }

    /// The next 64 cells, of which there must be as many: where they are, or copied to `buffer`.
    #[inline(always)]
    fn next<'b>(&mut self, buffer: &'b mut [T; 64]) -> &'b [T; 64]
    where
        'a: 'b,
    {
        if self.k - self.within >= 64 {
            // SAFETY: 64 cells from here on lie in this partition, and live for `'a`.
            let found = unsafe { &*self.partition.wrapping_add(self.within).cast::<[T; 64]>() };
            self.within += 64;
            if self.within == self.k {
                self.step();
            }
            return found;
        }
        match (self.k, self.within) {
            (1, 0) => self.fill_partitions::<1>(buffer),
            (2, 0) => self.fill_partitions::<2>(buffer),
            (4, 0) => self.fill_partitions::<4>(buffer),
            (8, 0) => self.fill_partitions::<8>(buffer),
            (16, 0) => self.fill_partitions::<16>(buffer),
            (32, 0) => self.fill_partitions::<32>(buffer),
            _ => self.fill_runs(buffer),
        }
        buffer
    }

    /// On to the next partition.
    #[inline(always)]
    fn step(&mut self) {
        self.within = 0;
        self.partition = self.partition.wrapping_byte_add(self.stride);
        if self.k >= 16 {
            ask_for(self.partition.wrapping_byte_add(self.stride), self.k);
        }
    }

    /// Copies cells of whole partitions of a size that the compiler knows, which divides 64.
    #[inline(always)]
    fn fill_partitions<const K: usize>(&mut self, out: &mut [T; 64]) {
        for out in out.as_chunks_mut::<K>().0 {
            // SAFETY: the cells of this partition, of which the caller has at least as many.
            *out = unsafe { self.partition.cast::<[T; K]>().read() };
            self.partition = self.partition.wrapping_byte_add(self.stride);
        }
    }

    /// Copies cells, run by run; there must be as many.
    #[inline(always)]
    fn fill_runs(&mut self, mut out: &mut [T]) {
        while !out.is_empty() {
            let run = out.len().min(self.k - self.within);
            let (here, rest) = out.split_at_mut(run);
            let from = self.partition.wrapping_add(self.within);
            if run < 8 {
                for (i, to) in here.iter_mut().enumerate() {
                    // SAFETY: cells of this partition.
                    *to = unsafe { from.wrapping_add(i).read() };
                }
            } else {
                // SAFETY: as above; nobody writes them.
                here.copy_from_slice(unsafe { std::slice::from_raw_parts(from, run) });
            }
            out = rest;
            self.within += run;
            if self.within == self.k {
                self.step();
            }
        }
    }
}
