//! Tables that are wider than the terminal: long values are cut, and columns in the middle are left out.

use super::grid::Column;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Terminal columns that a value is not cut below while columns could be left out instead.
const LEAST: usize = 20;
/// Terminal columns of a column beside its values: a blank on both sides, and a line.
const BESIDE: usize = 3;
/// What stands for what is left out.
const LEFT_OUT: &str = "…";

/// The columns of a table that are shown: their positions, in order, and the terminal columns that each may take.
#[derive(Debug, PartialEq, Eq)]
struct Fit {
    first: Vec<usize>,
    last: Vec<usize>,
    most: usize,
}

/// How a table of columns of these widths fits into `room`, whose own lines take `frame` beside the columns. `None` if it fits as it is.
fn fit(widths: &[usize], room: usize, frame: isize) -> Option<Fit> {
    let room = room.saturating_add_signed(-frame);
    let taken = |columns: &[usize], most: usize| -> usize {
        columns.iter().map(|&c| widths[c].min(most) + BESIDE).sum()
    };
    let all: Vec<usize> = (0..widths.len()).collect();
    if taken(&all, usize::MAX) <= room {
        return None;
    }
    let (mut first, mut last) = (all, Vec::new());
    let mut left = room;
    if taken(&first, LEAST) > room {
        left = room.saturating_sub(1 + BESIDE);
        (first, last) = ends(widths, left);
    }
    let shown: Vec<usize> = first.iter().chain(&last).copied().collect();
    let widest = widths.iter().copied().max().unwrap_or(0);
    // The widest cut that fits; a single column that does not is cut as far as need be.
    let most = (1..=widest).rev().find(|&most| taken(&shown, most) <= left);
    Some(Fit {
        first,
        last,
        most: most.unwrap_or(1),
    })
}

/// The columns from both ends that fit into `room`, by turns, beginning with the first one.
fn ends(widths: &[usize], room: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut first, mut last) = (vec![0], Vec::new());
    let cost = |column: usize| widths[column].min(LEAST) + BESIDE;
    let mut left = room.saturating_sub(cost(0));
    // One column at least stays out, or nothing would be left out.
    for turn in 1..widths.len() - 1 {
        let is_last = turn % 2 == 1;
        let column = match is_last {
            true => widths.len() - 1 - turn / 2,
            false => turn / 2,
        };
        if cost(column) > left {
            break;
        }
        left -= cost(column);
        match is_last {
            true => last.insert(0, column),
            false => first.push(column),
        }
    }
    (first, last)
}

/// A table's columns such that they fit into `room`, and how many of them are left out. `None` if all fit as they are.
pub fn fitted(columns: &[Column], room: usize, frame: isize) -> Option<(Vec<Column>, usize)> {
    let widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
    let fit = fit(&widths, room, frame)?;
    let of = |columns_of: &[usize]| -> Vec<Column> {
        (columns_of.iter()).map(|&at| columns[at].cut(fit.most)).collect()
    };
    let left_out = columns.len() - fit.first.len() - fit.last.len();
    let mut shown = of(&fit.first);
    if left_out > 0 {
        let rows = columns.first().map_or(0, |column| column.cells.len());
        shown.push(Column::of_texts(LEFT_OUT, rows));
    }
    shown.extend(of(&fit.last));
    Some((shown, left_out))
}

/// A line of at most `most` terminal columns; what is cut off ends with a mark.
pub fn cut(line: &str, most: usize) -> String {
    if line.width() <= most {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut used = LEFT_OUT.width();
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        if used > most {
            break;
        }
        out.push(c);
    }
    out + LEFT_OUT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(widths: &[usize], room: usize) -> Option<(Vec<usize>, Vec<usize>, usize)> {
        fit(widths, room, 1).map(|fit| (fit.first, fit.last, fit.most))
    }

    #[test]
    fn values_are_cut_before_columns_are_left_out() {
        assert_eq!(shown(&[10, 10, 10], 40), None);
        assert_eq!(shown(&[10, 10, 60], 80), Some((vec![0, 1, 2], vec![], 50)));
        assert_eq!(shown(&[90], 80), Some((vec![0], vec![], 76)));
        assert_eq!(shown(&[90], 3), Some((vec![0], vec![], 1)));
        let many = [8; 19];
        let (first, last, _) = shown(&many, 80).expect("it does not fit");
        assert_eq!((first, last), (vec![0, 1, 2], vec![16, 17, 18]));
        let wide = [40; 200];
        let (first, last, most) = shown(&wide, 120).expect("it does not fit");
        assert_eq!((first, last, most), (vec![0, 1, 2], vec![198, 199], 20));
    }

    #[test]
    fn what_is_shown_fits_and_all_that_could_be_is() {
        for columns in 1..40 {
            for room in 20..200 {
                let widths: Vec<usize> = (0..columns).map(|i| 1 + (i * 7 + room) % 45).collect();
                let Some((first, last, most)) = shown(&widths, room) else {
                    continue;
                };
                let left_out = columns - first.len() - last.len();
                let cells: usize = first.iter().chain(&last).map(|&c| widths[c].min(most) + 3).sum();
                let taken = cells + 1 + if left_out > 0 { 4 } else { 0 };
                assert!(
                    taken <= room || most == 1 || first.len() + last.len() == 1,
                    "{columns} {room}"
                );
                assert_ne!(left_out, columns);
            }
        }
    }

    #[test]
    fn wide_characters_are_cut_whole() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("漢字", 1), "…");
    }
}
