//! Recursions: what a turn does, and what is done once before the first one.

use super::{Builder, NeededColumns, Opened, buffer, rows_of};
use crate::ColumnId;
use crate::breakers::{BreakerId, Which};
use crate::operators::node::{RecursionId, Tree};
use crate::operators::recursion::Recursion;
use crate::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use crate::schedule::{Step, Turns};
use std::collections::HashSet;

impl<T: Tree> Builder<'_, T> {
    /// The rows of the turn before, of a recursion that is open. `columns`: id in the plan, position among the recursion's.
    pub(crate) fn rows_of_turn(&self, id: RecursionId, columns: Vec<(ColumnId, usize)>) -> Source {
        let Some((work, kept)) = self.turns.get(&id) else {
            unreachable!("a turn outside of its recursion")
        };
        Source::Of {
            breaker: *work,
            columns: columns.into_iter().map(|(made, at)| (made, kept[at])).collect(),
            which: Which::All,
            late: None,
        }
    }

    /// All rows of a recursion.
    pub(crate) fn recursion(&mut self, op: &T, recursion: &Recursion<T>, needed: &NeededColumns) -> Opened {
        let columns = &recursion.columns;
        let start = self.renamed(&recursion.start, columns);
        let rows_before = start.rows;
        let work = self.fill(buffer(columns), start, vec![]);
        self.turns.insert(recursion.id, (work, columns.clone()));
        let before = std::mem::take(&mut self.steps);
        self.prepare(&recursion.turn.0);
        let turn = self.renamed(&recursion.turn, columns);
        let rows = self.rows(op, &[rows_before, turn.rows]);
        let next = self.fill(buffer(columns), turn, vec![]);
        let of_turn = std::mem::replace(&mut self.steps, before);
        let (once, steps) = parted(of_turn, work, &self.out);
        let all = self.add(buffer(columns));
        self.steps.extend(once);
        self.steps.push(Step::Turns(Box::new(Turns {
            work,
            next,
            all,
            distinct: recursion.distinct,
            enough: recursion.enough,
            steps,
        })));
        self.out.recursions.extend([work, next, all]);
        let read = columns.iter().copied().filter(|c| needed.contains(c));
        Opened::of(rows_of(all, read.collect()), rows)
    }

    /// The pipelines of an input, whose columns become `columns`.
    fn renamed(&mut self, (input, from): &(Box<T>, Vec<ColumnId>), columns: &[ColumnId]) -> Opened {
        let opened = self.open(input, &from.iter().copied().collect());
        let map = columns.iter().zip(from);
        let map = map.map(|(made, from)| (*made, self.column(*from))).collect();
        let rows = opened.rows;
        opened.append(PipelineOperator::Map(map), rows)
    }
}

/// The steps of a turn that do not depend on its rows, and those that do.
fn parted(steps: Vec<Step>, work: BreakerId, plan: &PipelinePlan) -> (Vec<Step>, Vec<Step>) {
    let mut changing = HashSet::from([work]);
    // A join's table that is filled may turn out to be marked by a pipeline that changes: once more until nothing is added.
    loop {
        let before = changing.len();
        steps.iter().for_each(|step| mark(step, plan, &mut changing));
        if changing.len() == before {
            break;
        }
    }
    steps
        .into_iter()
        .partition(|step| !changes(step, plan, &changing))
}

/// Adds the breakers whose content a step changes from turn to turn.
fn mark(step: &Step, plan: &PipelinePlan, changing: &mut HashSet<BreakerId>) {
    if !changes(step, plan, changing) {
        return;
    }
    match step {
        Step::Run(i) => {
            let pipeline = &plan.pipelines[*i];
            changing.extend(pipeline.sink.breaker());
            let probed = pipeline.operators.iter().filter_map(PipelineOperator::looks_into);
            // Its rows are marked by those that find them, or it notes what it met.
            let is_written = |id: &BreakerId| plan.join(*id).marked || plan.join(*id).null_aware;
            changing.extend(probed.filter(is_written));
        }
        Step::Finish(_) => {}
        Step::Turns(turns) => changing.extend([turns.work, turns.next, turns.all]),
    }
}

/// Whether a step does another thing in every turn.
fn changes(step: &Step, plan: &PipelinePlan, changing: &HashSet<BreakerId>) -> bool {
    match step {
        Step::Run(i) => reads_or_fills(&plan.pipelines[*i], changing),
        Step::Finish(id) => changing.contains(id),
        Step::Turns(turns) => {
            let own = [turns.work, turns.next, turns.all];
            own.iter().any(|id| changing.contains(id))
                || turns.steps.iter().any(|step| changes(step, plan, changing))
        }
    }
}

fn reads_or_fills(pipeline: &Pipeline, changing: &HashSet<BreakerId>) -> bool {
    let read = match &pipeline.source {
        Source::Of { breaker, .. } => Some(*breaker),
        Source::Scan { .. }
        | Source::Lookup(_)
        | Source::Values { .. }
        | Source::Given { .. }
        | Source::Expansion(_) => None,
    };
    let probed = pipeline.operators.iter().filter_map(PipelineOperator::looks_into);
    let mut all = probed.chain(read).chain(pipeline.sink.breaker());
    all.any(|id| changing.contains(&id))
}
