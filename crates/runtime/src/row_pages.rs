//! An arena of rows of one size: pages that grow geometrically, filled by bumping a cursor.
//!
//! Generated code takes a row by itself: `row = next; next += size; if next > end` it calls
//! `rows_grow` instead. Rows never move. Their bytes are stale when they are handed out, unless the pages
//! were asked to be zeroed.

use crate::memory::Memory;
use frazil_types::{MemoryBudget, Reservation, Result};

const FIRST_PAGE: usize = 8 << 10;
const LARGEST_PAGE: usize = 4 << 20;

/// Where the next row goes; read and written by generated code.
#[repr(C)]
#[derive(Debug)]
pub struct RowCursor {
    /// The next free byte of the current page.
    pub next: *mut u8,
    /// The end of the current page.
    pub end: *mut u8,
}

/// Rows of one size. Generated code sees the cursor at offset 0.
#[repr(C)]
#[derive(Debug)]
pub struct RowPages {
    /// Where the next row goes.
    pub cursor: RowCursor,
    row_size: usize,
    zeroed: bool,
    pages: Vec<Page>,
    reservation: Reservation,
}

#[derive(Debug)]
struct Page {
    memory: Memory,
    /// Bytes used; of the last page the cursor knows better.
    used: usize,
}

// SAFETY: the cursor points into pages this object owns.
unsafe impl Send for RowPages {}
// SAFETY: nothing is written through a shared reference.
unsafe impl Sync for RowPages {}

impl RowPages {
    /// No rows yet; takes no memory. Rows come zeroed.
    pub fn zeroed(row_size: usize, budget: &MemoryBudget) -> RowPages {
        RowPages {
            zeroed: true,
            ..RowPages::new(row_size, budget)
        }
    }

    /// No rows yet; takes no memory. Rows come with stale bytes.
    pub fn new(row_size: usize, budget: &MemoryBudget) -> RowPages {
        RowPages {
            cursor: RowCursor {
                next: std::ptr::null_mut(),
                end: std::ptr::null_mut(),
            },
            row_size: row_size.max(8),
            zeroed: false,
            pages: Vec::new(),
            reservation: budget.reservation(),
        }
    }

    /// Bytes of a row.
    pub fn row_size(&self) -> usize {
        self.row_size
    }

    /// A new row.
    #[inline]
    pub fn allocate(&mut self) -> Result<*mut u8> {
        let row = self.cursor.next;
        // The distance is compared, as a page's end may lie less than a row away.
        if (self.cursor.end as usize) - (row as usize) < self.row_size {
            return self.grow();
        }
        self.cursor.next = row.wrapping_add(self.row_size);
        Ok(row)
    }

    /// A new row on a new page. Error 53200 over the budget.
    #[cold]
    pub fn grow(&mut self) -> Result<*mut u8> {
        self.close_page();
        let last = self.pages.last().map_or(FIRST_PAGE / 2, |p| p.memory.bytes());
        let wanted = (last * 2).min(LARGEST_PAGE).max(self.row_size);
        let bytes = wanted - wanted % self.row_size;
        // A page of almost 4 MiB is mapped as exactly 4 MiB.
        let bytes = if wanted >= LARGEST_PAGE { wanted } else { bytes };
        self.reservation.grow(bytes)?;
        let memory = if self.zeroed {
            Memory::zeroed(bytes)?
        } else {
            Memory::stale(bytes)?
        };
        let start = memory.as_ptr();
        let usable = bytes - bytes % self.row_size;
        self.cursor = RowCursor {
            next: start.wrapping_add(self.row_size),
            end: start.wrapping_add(usable),
        };
        self.pages.push(Page { memory, used: 0 });
        Ok(start)
    }

    fn close_page(&mut self) {
        if let Some(page) = self.pages.last_mut() {
            page.used = self.cursor.next as usize - page.memory.as_ptr() as usize;
        }
    }

    /// Drops all rows but some; those move. The last page is used again if they fit it. Error 53200.
    pub fn keep(&mut self, rows: &[*mut u8]) -> Result<()> {
        let budget = self.reservation.budget();
        let mut kept = RowPages::new(self.row_size, budget);
        let copy = |to: &mut RowPages, rows: &mut dyn Iterator<Item = *mut u8>| -> Result<()> {
            for row in rows {
                let place = to.allocate()?;
                // SAFETY: both rows are live, apart, and of one size.
                unsafe { place.copy_from_nonoverlapping(row, to.row_size) };
            }
            Ok(())
        };
        copy(&mut kept, &mut rows.iter().copied())?;
        let fits = |page: &Page| kept.bytes() <= page.memory.bytes() / 2 && !self.zeroed;
        if let Some(page) = self.pages.pop_if(|page| fits(page)) {
            let bytes = page.memory.bytes();
            self.reservation.shrink(self.reservation.bytes() - bytes);
            self.cursor = RowCursor {
                next: page.memory.as_ptr(),
                end: page.memory.as_ptr().wrapping_add(bytes - bytes % self.row_size),
            };
            self.pages = vec![page];
            return copy(self, &mut kept.iter());
        }
        kept.zeroed = self.zeroed;
        *self = kept;
        Ok(())
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The first row of a page, and the number of rows on it.
    pub fn page(&self, page: usize) -> (*mut u8, usize) {
        let start = self.pages[page].memory.as_ptr();
        let used = if page + 1 == self.pages.len() {
            self.cursor.next as usize - start as usize
        } else {
            self.pages[page].used
        };
        (start, used / self.row_size)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        (0..self.pages()).map(|p| self.page(p).1).sum()
    }

    /// All rows, in the order in which they were taken.
    pub fn iter(&self) -> impl Iterator<Item = *mut u8> + '_ {
        (0..self.pages()).flat_map(move |p| {
            let (start, rows) = self.page(p);
            (0..rows).map(move |r| start.wrapping_add(r * self.row_size))
        })
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> usize {
        self.reservation.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_where_they_are() {
        for size in [8, 24, 1000, 40_000] {
            let budget = MemoryBudget::new(usize::MAX);
            let mut pages = RowPages::zeroed(size, &budget);
            let count = (20 << 20) / size;
            let rows: Vec<*mut u8> = (0..count)
                .map(|i| {
                    let row = pages.allocate().unwrap();
                    // SAFETY: a fresh row has `size` bytes.
                    unsafe {
                        assert!(std::slice::from_raw_parts(row, size).iter().all(|&b| b == 0));
                        row.cast::<u64>().write(i as u64);
                        row.add(size - 8).cast::<u64>().write(i as u64);
                    }
                    row
                })
                .collect();
            assert!(pages.iter().eq(rows.iter().copied()));
            assert_eq!(pages.rows(), count);
            for (i, row) in rows.into_iter().enumerate() {
                // SAFETY: the pages are alive.
                assert_eq!(unsafe { row.cast::<u64>().read() }, i as u64);
            }
            assert_eq!(budget.used(), pages.bytes());
            drop(pages);
            assert_eq!(budget.used(), 0);
        }
    }

    #[test]
    fn the_budget_is_kept() {
        let budget = MemoryBudget::new(100 << 10);
        let mut pages = RowPages::new(64, &budget);
        let error = loop {
            if let Err(e) = pages.allocate() {
                break e;
            }
        };
        assert_eq!(error.state().0, "53200");
        assert!(pages.rows() > 500);
    }
}
