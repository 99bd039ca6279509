//! How a join combines its sides.

use crate::ColumnId;

/// How a join combines its sides. The probe side streams through; the build side is a hash table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs that match.
    Inner,
    /// Pairs that match, and probe rows without a match, the build side NULL.
    ProbeOuter,
    /// Pairs that match, and build rows without a match, the probe side NULL.
    BuildOuter,
    /// Both of the above.
    FullOuter,
    /// Probe rows with a match, once.
    ProbeSemi,
    /// Probe rows without a match.
    ProbeAnti,
    /// Build rows with a match, once; the probe side only marks.
    BuildSemi,
    /// Build rows without a match.
    BuildAnti,
    /// Probe rows, each with a boolean that says whether it has a match; NULL where SQL's IN is unknown.
    ProbeMark(ColumnId),
}

impl JoinKind {
    /// The column that it makes: [`JoinKind::ProbeMark`].
    pub fn mark(&self) -> Option<ColumnId> {
        match self {
            JoinKind::ProbeMark(mark) => Some(*mark),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn mark_mut(&mut self) -> Option<&mut ColumnId> {
        match self {
            JoinKind::ProbeMark(mark) => Some(mark),
            _ => None,
        }
    }

    /// Whether a probe row without a match leaves no trace, so that it need not come to the probe.
    pub fn drops_probe_rows(self) -> bool {
        match self {
            JoinKind::Inner
            | JoinKind::BuildOuter
            | JoinKind::ProbeSemi
            | JoinKind::BuildSemi
            | JoinKind::BuildAnti => true,
            JoinKind::ProbeOuter | JoinKind::FullOuter | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => {
                false
            }
        }
    }

    /// Whether a probe row marks the build rows that it matches, so that it has to come to the probe for their sake.
    pub fn marks_build_rows(self) -> bool {
        match self {
            JoinKind::BuildOuter | JoinKind::FullOuter | JoinKind::BuildSemi | JoinKind::BuildAnti => true,
            JoinKind::Inner
            | JoinKind::ProbeOuter
            | JoinKind::ProbeSemi
            | JoinKind::ProbeAnti
            | JoinKind::ProbeMark(_) => false,
        }
    }
}
