//! Columns of strings whose bytes stay where someone else keeps them: views as Arrow has them, which hold short strings and the first
//! bytes of long ones just as a [`StringRef`] does, and ends of strings that lie side by side.

use crate::string_builder::check_text_bytes;
use crate::string_ref::INLINE_BYTES;
use crate::{ColumnVector, Error, LogicalType, MemoryBudget, Reservation, Result, StringRef};
use std::fmt::Debug;
use std::sync::Arc;

/// Bytes that stay where they are, and as they are, as long as what gives them lives, even when that is moved.
pub trait SharedBytes: AsRef<[u8]> + Debug + Send + Sync + 'static {}
impl<T: AsRef<[u8]> + Debug + Send + Sync + 'static> SharedBytes for T {}

/// What a finished column keeps: the bytes, and the memory that they are counted as.
#[derive(Debug)]
struct Kept<H> {
    _heaps: Vec<H>,
    _counted: Reservation,
}

/// A column of a string type of views, each of 16 bytes: the length, then either up to twelve bytes, or the first four bytes, the position
/// of one of `heaps` and where in it the string begins. The heaps live as long as the column, which counts the bytes of its
/// long strings against `budget`, though no more than all heaps have: many strings may lie at one place. Errors: 54000 for a string that is too long, 53200 over the budget, XX000 for a view of bytes
/// that are not there.
pub fn of_views<H: SharedBytes>(
    ty: LogicalType,
    views: &[u128],
    heaps: Vec<H>,
    budget: &MemoryBudget,
) -> Result<ColumnVector> {
    let mut out = ColumnVector::zeroed(ty, views.len());
    let bytes: Vec<&[u8]> = heaps.iter().map(AsRef::as_ref).collect();
    let mut long = 0;
    for (to, &view) in out.values_mut::<StringRef>().iter_mut().zip(views) {
        let length = view as u32 as usize;
        *to = if length <= INLINE_BYTES {
            // Whoever made the view may have left something behind the string.
            let kept = view & (u128::MAX >> (8 * (INLINE_BYTES - length)));
            StringRef {
                head: kept as u64,
                tail: (kept >> 64) as u64,
            }
        } else {
            let (heap, from) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
            let string = bytes.get(heap).and_then(|heap| heap.get(from..from + length));
            let string = string.ok_or_else(|| outside("a view"))?;
            check_text_bytes(length)?;
            long += length;
            StringRef {
                head: view as u64,
                tail: string.as_ptr() as u64,
            }
        };
    }
    let counted = long.min(bytes.iter().map(|heap| heap.len()).sum());
    keep(&mut out, heaps, counted, budget)?;
    Ok(out)
}

/// A column of a string type of strings that lie side by side in `heap`: each begins where the one before it ends, the first one at the
/// first of `ends`, of which there is one more than there are strings. Memory and errors as of [`of_views`].
pub fn of_ends<H: SharedBytes>(
    ty: LogicalType,
    mut ends: impl ExactSizeIterator<Item = usize>,
    heap: H,
    budget: &MemoryBudget,
) -> Result<ColumnVector> {
    let mut out = ColumnVector::zeroed(ty, ends.len().saturating_sub(1));
    let mut start = ends.next().unwrap_or(0);
    let mut long = 0;
    for (to, end) in out.values_mut::<StringRef>().iter_mut().zip(ends) {
        let string = (heap.as_ref().get(start..end)).ok_or_else(|| outside("a string"))?;
        check_text_bytes(string.len())?;
        if string.len() > INLINE_BYTES {
            long += string.len();
        }
        // SAFETY: the column keeps the heap, whose bytes stay where they are; the length was checked.
        *to = unsafe { StringRef::new(string) };
        start = end;
    }
    keep(&mut out, vec![heap], long, budget)?;
    Ok(out)
}

fn outside(what: &str) -> Error {
    Error::internal(format!("{what} lies outside of the bytes of its column"))
}

/// Makes a column keep the heaps that its strings lie in, if any lies there, and counts their bytes.
fn keep<H: SharedBytes>(
    column: &mut ColumnVector,
    heaps: Vec<H>,
    counted: usize,
    budget: &MemoryBudget,
) -> Result<()> {
    if counted > 0 {
        let _counted = budget.reserve(counted)?;
        column.keep(Arc::new(Kept {
            _heaps: heaps,
            _counted,
        }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqlState;

    /// A view of a string that begins somewhere in the only heap.
    fn view(text: &str, from: usize) -> u128 {
        let bytes = text.as_bytes();
        let mut whole = [0; 16];
        whole[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        if bytes.len() <= INLINE_BYTES {
            whole[4..4 + bytes.len()].copy_from_slice(bytes);
        } else {
            whole[4..8].copy_from_slice(&bytes[..4]);
            whole[12..].copy_from_slice(&(from as u32).to_le_bytes());
        }
        u128::from_le_bytes(whole)
    }

    #[test]
    fn views_become_strings_where_they_lie() {
        let texts: Vec<String> = (0..40).map(|n| "aé".repeat(n)).collect();
        let mut heap = Vec::new();
        let views = texts.iter().map(|text| {
            heap.extend_from_slice(text.as_bytes());
            view(text, heap.len() - text.len())
        });
        let views: Vec<u128> = views.collect();
        let budget = MemoryBudget::new(1 << 20);
        let bytes = heap.len();
        let column = of_views(LogicalType::Text, &views, vec![heap], &budget).unwrap();
        for (row, text) in texts.iter().enumerate() {
            assert_eq!(column.text(row), text);
        }
        assert!(budget.used() > bytes / 2 && budget.used() <= bytes);
        drop(column);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn what_lies_behind_a_short_string_is_not_part_of_it() {
        let dirty = view("abc", 0) | 7 << 100;
        let column = of_views(
            LogicalType::Text,
            &[dirty],
            vec![Vec::new()],
            &MemoryBudget::new(100),
        );
        let column = column.unwrap();
        assert_eq!(column.values::<StringRef>()[0].tail, 0);
        assert_eq!(column.text(0), "abc");
    }

    #[test]
    fn ends_become_strings_and_what_lies_outside_is_refused() {
        let heap = b"..onea string that is long".to_vec();
        let budget = MemoryBudget::new(1 << 10);
        let read = |ends: [usize; 4]| of_ends(LogicalType::Text, ends.into_iter(), heap.clone(), &budget);
        let column = read([2, 5, 5, 26]).unwrap();
        let texts: Vec<&str> = (0..3).map(|row| column.text(row)).collect();
        assert_eq!(texts, ["one", "", "a string that is long"]);
        for ends in [[2, 5, 5, 27], [2, 5, 4, 26], [usize::MAX, 0, 0, 0]] {
            assert_eq!(read(ends).unwrap_err().state(), SqlState::INTERNAL_ERROR);
        }
        let far = [view("a string that is long", 6), view("a string that is long", 5)];
        let read = |views: &[u128]| of_views(LogicalType::Text, views, vec![heap.clone()], &budget);
        assert!(read(&far[1..]).is_ok());
        assert_eq!(read(&far).unwrap_err().state(), SqlState::INTERNAL_ERROR);
        let other = far[1] | 1 << 64;
        assert_eq!(read(&[other]).unwrap_err().state(), SqlState::INTERNAL_ERROR);
        let little = MemoryBudget::new(4);
        let refused = of_views(LogicalType::Text, &far[1..], vec![heap.clone()], &little);
        assert_eq!(refused.unwrap_err().state(), SqlState::OUT_OF_MEMORY);
    }
}
