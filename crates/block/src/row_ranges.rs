//! Ranges of a block's rows among which all matches of restrictions lie. A list of values asks a PSMA for each of
//! them: what lies between their ranges is not scanned.

use std::ops::Range;

/// Ranges are joined if there are more: a scan begins a window at each of them.
const MOST_RANGES: usize = 64;
/// Ranges with fewer rows between them are joined: match bits are made by words of 64 rows.
const LEAST_GAP: u32 = 64;

/// Ascending ranges of rows, none of them empty, with rows between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRanges(Vec<Range<u32>>);

impl RowRanges {
    /// One range, or none if it is empty.
    pub fn one(range: Range<u32>) -> RowRanges {
        RowRanges(if range.is_empty() { vec![] } else { vec![range] })
    }

    /// The rows of any of some ranges, and perhaps a few between them.
    pub fn of(mut ranges: Vec<Range<u32>>) -> RowRanges {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        let least = joins_below(&ranges);
        let mut out: Vec<Range<u32>> = Vec::new();
        for range in ranges {
            match out.last_mut() {
                Some(last) if range.start < last.end.saturating_add(least) => {
                    last.end = last.end.max(range.end)
                }
                _ => out.push(range),
            }
        }
        RowRanges(out)
    }

    /// The rows that are in these ranges and in others.
    pub fn within(&self, others: &RowRanges) -> RowRanges {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), others.0.iter().peekable());
        let mut out = Vec::new();
        while let (Some(a), Some(b)) = (ours.peek(), theirs.peek()) {
            let both = a.start.max(b.start)..a.end.min(b.end);
            let is_first = a.end <= b.end;
            if !both.is_empty() {
                out.push(both);
            }
            if is_first {
                ours.next()
            } else {
                theirs.next()
            };
        }
        RowRanges::of(out)
    }

    /// The rows of these ranges and of others.
    pub fn with(self, others: RowRanges) -> RowRanges {
        RowRanges::of(self.0.into_iter().chain(others.0).collect())
    }

    /// The ranges.
    pub fn iter(&self) -> impl Iterator<Item = &Range<u32>> {
        self.0.iter()
    }

    /// True if it has no rows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// From the first row to the last one.
    pub fn hull(&self) -> Range<u32> {
        match (self.0.first(), self.0.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    /// The first range with rows at `row` or behind it, without the rows before `row`.
    pub fn from(&self, row: u32) -> Option<Range<u32>> {
        let next = self.0.partition_point(|range| range.end <= row);
        self.0.get(next).map(|range| range.start.max(row)..range.end)
    }
}

/// Rows between ranges, in the order of their starts, below which ranges are joined.
fn joins_below(ranges: &[Range<u32>]) -> u32 {
    if ranges.len() <= MOST_RANGES {
        return LEAST_GAP;
    }
    let mut end = 0;
    let mut gaps: Vec<u32> = Vec::with_capacity(ranges.len());
    for range in ranges {
        gaps.push(range.start.saturating_sub(end));
        end = end.max(range.end);
    }
    let (_, least, _) = gaps.select_nth_unstable_by(MOST_RANGES - 1, |a, b| b.cmp(a));
    // Several gaps may be as wide: all of them are joined.
    LEAST_GAP.max(least.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranges: &[(u32, u32)]) -> RowRanges {
        RowRanges::of(ranges.iter().map(|&(start, end)| start..end).collect())
    }

    #[test]
    fn ranges_are_ordered_and_those_that_are_near_are_joined() {
        assert_eq!(
            of(&[(500, 600), (10, 20), (7, 7), (30, 40)]),
            of(&[(10, 40), (500, 600)])
        );
        assert_eq!(of(&[(10, 20), (84, 90)]).rows(), 16);
        assert_eq!(of(&[(10, 20), (83, 90)]).rows(), 80);
        assert_eq!(of(&[(0, 1000), (10, 20)]).hull(), 0..1000);
        assert!(of(&[(3, 3)]).is_empty() && of(&[]).hull().is_empty());
    }

    #[test]
    fn ranges_intersect_and_unite() {
        let (a, b) = (of(&[(0, 1000), (5000, 6000)]), of(&[(900, 5100), (5900, 9000)]));
        assert_eq!(a.within(&b), of(&[(900, 1000), (5000, 5100), (5900, 6000)]));
        assert_eq!(a.within(&b), b.within(&a));
        assert!(a.within(&of(&[(1000, 5000)])).is_empty());
        assert_eq!(a.clone().with(b), of(&[(0, 9000)]));
        assert_eq!((a.from(0), a.from(999)), (Some(0..1000), Some(999..1000)));
        assert_eq!((a.from(1000), a.from(6000)), (Some(5000..6000), None));
    }

    #[test]
    fn many_ranges_are_joined_where_the_gaps_are_smallest() {
        let many: Vec<Range<u32>> = (0..1000)
            .map(|i| i * 200 + i / 500 * 9000..i * 200 + i / 500 * 9000 + 1)
            .collect();
        let joined = RowRanges::of(many.clone());
        assert!(joined.0.len() <= MOST_RANGES, "{}", joined.0.len());
        assert!(
            many.iter()
                .all(|range| joined.from(range.start).is_some_and(|r| r.start == range.start))
        );
        assert!(joined.0.windows(2).any(|w| w[1].start - w[0].end > 9000));
    }
}
