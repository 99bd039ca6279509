//! Calls of window functions, and the frames of rows that they see.

use crate::{AggregateFunction, Expr};
use frazil_types::LogicalType;

/// A function over the rows of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowFunction {
    /// row_number(): bigint.
    RowNumber,
    /// rank(): bigint.
    Rank,
    /// dense_rank(): bigint.
    DenseRank,
    /// percent_rank(): double.
    PercentRank,
    /// cume_dist(): double.
    CumeDist,
    /// ntile(buckets): integer. Error 22014 for fewer than one bucket.
    Ntile,
    /// lag(value [, rows [, default]]).
    Lag,
    /// lead(value [, rows [, default]]).
    Lead,
    /// first_value(value).
    FirstValue,
    /// last_value(value).
    LastValue,
    /// nth_value(value, n). Error 22016 for an n below one.
    NthValue,
    /// An aggregate of the frame's rows.
    Aggregate(AggregateFunction),
}

impl WindowFunction {
    /// Its SQL name.
    pub fn name(self) -> &'static str {
        match self {
            WindowFunction::RowNumber => "row_number",
            WindowFunction::Rank => "rank",
            WindowFunction::DenseRank => "dense_rank",
            WindowFunction::PercentRank => "percent_rank",
            WindowFunction::CumeDist => "cume_dist",
            WindowFunction::Ntile => "ntile",
            WindowFunction::Lag => "lag",
            WindowFunction::Lead => "lead",
            WindowFunction::FirstValue => "first_value",
            WindowFunction::LastValue => "last_value",
            WindowFunction::NthValue => "nth_value",
            WindowFunction::Aggregate(aggregate) => aggregate.name(),
        }
    }

    /// True if the rows of the frame decide its value. For all others the partition and its order do.
    pub fn sees_frame(self) -> bool {
        match self {
            WindowFunction::FirstValue
            | WindowFunction::LastValue
            | WindowFunction::NthValue
            | WindowFunction::Aggregate(_) => true,
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::CumeDist
            | WindowFunction::Ntile
            | WindowFunction::Lag
            | WindowFunction::Lead => false,
        }
    }

    /// True for numbers that grow from row to row and depend on the rows before alone.
    pub fn is_rank(self) -> bool {
        matches!(
            self,
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank
        )
    }

    /// True if its value may be NULL.
    pub fn is_nullable(self) -> bool {
        match self {
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::CumeDist => false,
            WindowFunction::Ntile
            | WindowFunction::Lag
            | WindowFunction::Lead
            | WindowFunction::FirstValue
            | WindowFunction::LastValue
            | WindowFunction::NthValue => true,
            WindowFunction::Aggregate(function) => !function.counts(),
        }
    }
}

/// What the offsets of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Differences of the one key of the order.
    Range,
    /// Groups of rows that are equal in the order.
    Groups,
}

/// One end of a frame. An offset is a constant or a column, which is the same for all rows of a partition. It is a bigint
/// for rows and groups; for a range it has the type of the key, a bigint for integers, and an interval for dates and
/// timestamps. NULL is error 22004, a negative offset 22013.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    /// The first row of the partition.
    UnboundedPreceding,
    /// So much before the current row.
    Preceding(Expr),
    /// The current row; but for rows its first or last peer.
    CurrentRow,
    /// So much behind the current row.
    Following(Expr),
    /// The last row of the partition.
    UnboundedFollowing,
}

impl FrameBound {
    /// The offset, if it has one.
    pub fn offset(&self) -> Option<&Expr> {
        match self {
            FrameBound::Preceding(e) | FrameBound::Following(e) => Some(e),
            FrameBound::UnboundedPreceding | FrameBound::CurrentRow | FrameBound::UnboundedFollowing => None,
        }
    }

    /// The offset, to be changed.
    pub fn offset_mut(&mut self) -> Option<&mut Expr> {
        match self {
            FrameBound::Preceding(e) | FrameBound::Following(e) => Some(e),
            FrameBound::UnboundedPreceding | FrameBound::CurrentRow | FrameBound::UnboundedFollowing => None,
        }
    }
}

/// Rows around the current one that are not in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameExclusion {
    /// None.
    NoOthers,
    /// The current row.
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// The peers of the current row, itself not.
    Ties,
}

/// The rows of the partition that a call sees from each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// What offsets count.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends; this row is in it.
    pub end: FrameBound,
    /// Rows that are left out.
    pub exclusion: FrameExclusion,
}

impl Frame {
    /// The frame of a window that names none: from the first row to the last peer.
    pub fn to_peers() -> Frame {
        Frame {
            unit: FrameUnit::Range,
            start: FrameBound::UnboundedPreceding,
            end: FrameBound::CurrentRow,
            exclusion: FrameExclusion::NoOthers,
        }
    }

    /// Its offsets.
    pub fn offsets(&self) -> impl Iterator<Item = &Expr> {
        [&self.start, &self.end]
            .into_iter()
            .filter_map(FrameBound::offset)
    }

    /// The same, to be changed.
    pub fn offsets_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        [&mut self.start, &mut self.end]
            .into_iter()
            .filter_map(FrameBound::offset_mut)
    }
}

/// A call of a window function.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCall {
    /// The function.
    pub function: WindowFunction,
    /// Its arguments: columns and constants.
    pub arguments: Vec<Expr>,
    /// FILTER (WHERE …) of an aggregate: a column or a constant.
    pub filter: Option<Expr>,
    /// IGNORE NULLS: rows whose first argument is NULL do not count.
    pub ignore_nulls: bool,
    /// The rows that it sees.
    pub frame: Frame,
    /// Type of the result.
    pub ty: LogicalType,
}

impl WindowCall {
    /// True if peers may get different values.
    pub fn tells_peers_apart(&self) -> bool {
        match self.function {
            WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::CumeDist => false,
            WindowFunction::RowNumber
            | WindowFunction::Ntile
            | WindowFunction::Lag
            | WindowFunction::Lead
            | WindowFunction::FirstValue
            | WindowFunction::LastValue
            | WindowFunction::NthValue => true,
            WindowFunction::Aggregate(aggregate) => {
                aggregate.keeps_rows() || self.frame.unit == FrameUnit::Rows
            }
        }
    }

    /// Its expressions: arguments, filter, offsets of the frame.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let parts = self.arguments.iter().chain(&self.filter);
        parts.chain(self.frame.offsets())
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let parts = self.arguments.iter_mut().chain(&mut self.filter);
        parts.chain(self.frame.offsets_mut())
    }
}
