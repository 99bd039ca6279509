//! Joins of two inputs.

use super::node::{Needed, Node, Role};
use crate::{ColumnId, Expr, Operator};

/// Joins two inputs. Without keys it is a nested loop over the build rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// How.
    pub kind: JoinKind,
    /// The side that becomes a hash table.
    pub build: Box<Operator>,
    /// The side that streams.
    pub probe: Box<Operator>,
    /// Equal keys: (build expression, probe expression), of one native type each.
    pub keys: Vec<(Expr, Expr)>,
    /// A further condition on a pair; part of the match, not a filter after it.
    pub residual: Option<Expr>,
    /// NOT IN: a NULL on the build side makes every non-match unknown, a NULL probe key matches nothing
    /// (unless the build side is empty). Only with ProbeAnti, BuildAnti and ProbeMark.
    pub null_aware: bool,
}

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
}

impl Node for Join {
    fn inputs(&self) -> Vec<&Operator> {
        vec![&self.build, &self.probe]
    }

    fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        vec![&mut self.build, &mut self.probe]
    }

    fn passes(&self) -> Vec<&Operator> {
        match self.kind {
            JoinKind::Inner | JoinKind::ProbeOuter | JoinKind::BuildOuter | JoinKind::FullOuter => {
                vec![&self.build, &self.probe]
            }
            JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => vec![&self.probe],
            JoinKind::BuildSemi | JoinKind::BuildAnti => vec![&self.build],
        }
    }

    fn expressions(&self) -> Vec<&Expr> {
        (self.keys.iter())
            .flat_map(|k| [&k.0, &k.1])
            .chain(&self.residual)
            .collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        (self.keys.iter_mut())
            .flat_map(|k| [&mut k.0, &mut k.1])
            .chain(&mut self.residual)
            .collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.kind.mark().iter().for_each(|id| visit(Role::Made, *id));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.kind
            .mark_mut()
            .into_iter()
            .for_each(|id| visit(Role::Made, id));
    }

    fn at_most_one_row(&self) -> bool {
        use JoinKind::*;
        match self.kind {
            Inner | ProbeOuter | BuildOuter => self.build.at_most_one_row() && self.probe.at_most_one_row(),
            ProbeSemi | ProbeAnti | ProbeMark(_) => self.probe.at_most_one_row(),
            BuildSemi | BuildAnti => self.build.at_most_one_row(),
            FullOuter => false,
        }
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        let at = |i: usize| empty.get(i) == Some(&true);
        match self.kind {
            JoinKind::Inner | JoinKind::BuildSemi | JoinKind::ProbeSemi => at(0) || at(1),
            JoinKind::ProbeOuter | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => at(1),
            JoinKind::BuildOuter | JoinKind::BuildAnti => at(0),
            JoinKind::FullOuter => at(0) && at(1),
        }
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}
}
