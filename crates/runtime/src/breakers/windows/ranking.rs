//! Functions of a row's place in its partition: row_number, rank, dense_rank, percent_rank, cume_dist, ntile.

use super::CallSpec;
use super::input;
use super::segment::{Piece, Segment};
use frazil_plan::WindowFunction;
use frazil_types::{Error, Result, SqlState};

/// Computes a call. Error 22014 of ntile.
pub fn compute(segment: &Segment<'_>, call: &CallSpec) -> Result<()> {
    let place = *segment.result(call);
    segment.for_blocks(&|block| {
        for piece in segment.pieces(block) {
            let Piece { partition, rows } = piece;
            let count = partition.len();
            match call.function {
                WindowFunction::RowNumber => {
                    for row in rows {
                        segment.put(&place, row, Some((row - partition.start) as i64 + 1));
                    }
                }
                WindowFunction::Rank => {
                    for row in rows {
                        let first = segment.peers(&partition, row).start;
                        segment.put(&place, row, Some((first - partition.start) as i64 + 1));
                    }
                }
                WindowFunction::DenseRank => {
                    for row in rows {
                        segment.put(&place, row, Some(segment.group(&partition, row) as i64 + 1));
                    }
                }
                WindowFunction::PercentRank => {
                    for row in rows {
                        let before = segment.peers(&partition, row).start - partition.start;
                        let part = match count {
                            1 => 0.0,
                            count => before as f64 / (count - 1) as f64,
                        };
                        segment.put(&place, row, Some(part));
                    }
                }
                WindowFunction::CumeDist => {
                    for row in rows {
                        let up_to = segment.peers(&partition, row).end - partition.start;
                        segment.put(&place, row, Some(up_to as f64 / count as f64));
                    }
                }
                _ => ntile(segment, call, &Piece { partition, rows })?,
            }
        }
        Ok(())
    })
}

/// The number of buckets is that of the partition's first row that has one; rows before it have no bucket.
fn ntile(segment: &Segment<'_>, call: &CallSpec, piece: &Piece) -> Result<()> {
    let place = *segment.result(call);
    let mut found = None;
    for row in piece.partition.clone() {
        if let Some(buckets) = input::of_row::<i32>(segment, &call.arguments[0], row) {
            found = Some((row, buckets));
            break;
        }
    }
    let Some((first, buckets)) = found else {
        (piece.rows.clone()).for_each(|row| segment.put::<i32>(&place, row, None));
        return Ok(());
    };
    let Some(buckets) = usize::try_from(buckets).ok().filter(|b| *b > 0) else {
        let message = "argument of ntile must be greater than zero";
        return Err(Error::new(SqlState::INVALID_NTILE_ARGUMENT, message));
    };
    let (size, larger) = (piece.partition.len() / buckets, piece.partition.len() % buckets);
    // Rows of the buckets that have one row more.
    let in_larger = larger * (size + 1);
    for row in piece.rows.clone() {
        let bucket = row.checked_sub(first).map(|at| match at < in_larger {
            true => at / (size + 1),
            false => larger + (at - in_larger) / size,
        });
        segment.put(&place, row, bucket.map(|b| b as i32 + 1));
    }
    Ok(())
}
