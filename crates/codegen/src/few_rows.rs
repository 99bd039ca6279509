//! A plan over few rows, run on the thread that asks for it. Values for the first columns of an index find them
//! (`… where order = $1`), or a value of a column by which frozen rows are sorted, or nearly so. The rows go through
//! the code of the plan's pipeline one by one, as the row of a lookup does ([`crate::one_row`]); a sorter or an
//! aggregation without groups may stand between them and the result.
//!
//! Pool, morsels and cursors have no part in it. Only a run knows if the rows are few: if they are not, the plan is
//! run as any other.

use crate::breakers::lays::row_counts;
use crate::compile::CompiledPlan;
use crate::first_rows::orders_of;
use crate::one_row::{OneRun, SourceRow};
use crate::open_pipeline::OpenPipeline;
use crate::plan_state::PlanState;
use crate::two_pipelines::TwoPipelines;
use crate::worker::{Flow, Worker};
use frazil_plan::operators::{ScanRestriction, ScanRestrictionKind};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::schedule::Step;
use frazil_plan::{ColumnId, Expr, ExprKind, RowCount};
use frazil_runtime::breakers::alone::Alone;
use frazil_runtime::breakers::{Breaker, Partial, into_finished};
use frazil_runtime::{BoundValues, RowBuffer};
use frazil_storage::{PrefixWalk, TableSnapshot, Zones};
use frazil_types::{CompareOp, Error, MemoryBudget, ObjectId, Result, RowBatch, RowId, Value};
use std::sync::Arc;

/// The way in which a plan finds its few rows.
#[derive(Clone, Debug)]
pub struct FewRowsPlan {
    table: ObjectId,
    search: Search,
}

/// The way to the ids of the rows.
#[derive(Clone, Debug)]
enum Search {
    /// Along an index; the values of the walk's columns are constants and parameters.
    Walk(PrefixWalk, Vec<Expr>),
    /// By the bounds of blocks in a column, which has a value: its position in the table.
    Narrow(usize),
}

impl FewRowsPlan {
    /// Returns the way in which a plan finds its rows in a table that `version` gives; `None` if it may have to read
    /// many, or does more with them than [`FewRows`] can. `use_indexes`: indexes may be walked along.
    pub fn of<'t>(
        plan: &PipelinePlan,
        version: impl FnOnce(ObjectId) -> Option<&'t Arc<TableSnapshot>>,
        use_indexes: bool,
    ) -> Option<FewRowsPlan> {
        let Source::Scan {
            table,
            columns,
            restrictions,
            disjunctions,
            places,
            ..
        } = &plan.pipelines.first()?.source
        else {
            return None;
        };
        if !disjunctions.is_empty() || !places.is_empty() || !is_short(plan) {
            return None;
        }
        let version = version(*table)?;
        let given: Vec<Option<(usize, &Expr)>> = restrictions
            .iter()
            .map(|restriction| value_given(columns, restriction))
            .collect();
        let walk = || {
            let given: Vec<_> = given.iter().copied().collect::<Option<_>>()?;
            walk_along_index(plan, version, &given)
        };
        let narrow = || {
            let mut columns = given.iter().flatten().map(|(column, _)| *column);
            columns
                .find(|column| Zones::serve(version, *column))
                .map(Search::Narrow)
        };
        let walk = use_indexes.then(walk).flatten();
        Some(FewRowsPlan {
            table: *table,
            search: walk.or_else(narrow)?,
        })
    }

    /// The table.
    pub fn table(&self) -> ObjectId {
        self.table
    }
}

/// The column to which a restriction gives a value that is known when the plan runs, by its position in the table, and
/// the value.
fn value_given<'p>(
    columns: &[(ColumnId, usize)],
    restriction: &'p ScanRestriction,
) -> Option<(usize, &'p Expr)> {
    let ScanRestrictionKind::Compare(CompareOp::Eq, value) = &restriction.kind else {
        return None;
    };
    let is_known = matches!(value.kind, ExprKind::Constant(_) | ExprKind::Parameter(_));
    let column = columns.iter().find(|column| column.0 == restriction.column)?.1;
    is_known.then_some((column, value))
}

/// The walk along an index that gives the rows of a plan all of whose restrictions give columns values.
fn walk_along_index(
    plan: &PipelinePlan,
    version: &TableSnapshot,
    given: &[(usize, &Expr)],
) -> Option<Search> {
    let positions: Vec<usize> = given.iter().map(|(column, _)| *column).collect();
    let is_once = |column: &usize| positions.iter().filter(|other| *other == column).count() == 1;
    if !positions.iter().all(is_once) {
        return None;
    }
    let orders = orders_of(plan, 0).filter(|orders| orders.len() == 1 && drops_none(&plan.pipelines[0]));
    let ordered = orders.and_then(|orders| PrefixWalk::of(version, &positions, Some(&orders[0][..])));
    let walk = ordered.or_else(|| PrefixWalk::of(version, &positions, None))?;
    let value = |column: &usize| {
        given
            .iter()
            .find(|(of, _)| of == column)
            .map(|(_, e)| (*e).clone())
    };
    let key = walk.columns().iter().map(value).collect::<Option<_>>()?;
    Some(Search::Walk(walk, key))
}

/// True if a plan has one pipeline, which fills the result, or a second one behind a sorter or an aggregation without
/// groups.
fn is_short(plan: &PipelinePlan) -> bool {
    let is_simple = |pipeline: &Pipeline| {
        let operators = &mut pipeline.operators.iter();
        operators.all(|operator| match operator {
            PipelineOperator::Filter(_) | PipelineOperator::Map(_) | PipelineOperator::Call(_) => true,
            PipelineOperator::Probe { .. } | PipelineOperator::Expand(_) => false,
        })
    };
    let fills_result = |pipeline: &Pipeline| {
        let filled = plan.filled(pipeline);
        filled.is_some_and(|(id, breaker)| plan.result == Some(id) && breaker.buffer().is_some())
    };
    let steps = &plan.schedule.steps[..];
    let is_all = plan.subqueries.is_empty() && plan.recursions.is_empty();
    is_all
        && plan.pipelines.iter().all(is_simple)
        && match &plan.pipelines[..] {
            [only] => {
                let Some(result) = plan.result else { return false };
                fills_result(only) && *steps == [Step::Run(0), Step::Finish(result)]
            }
            [first, last] => {
                let (Some((id, breaker)), Some(result)) = (plan.filled(first), plan.result) else {
                    return false;
                };
                let is_alone = breaker.groups().is_some_and(|groups| groups.groups.is_empty());
                let reads_first = matches!(&last.source, Source::Of { breaker, .. } if *breaker == id);
                let in_order = [Step::Run(0), Step::Finish(id), Step::Run(1), Step::Finish(result)];
                (is_alone || breaker.sorter().is_some())
                    && reads_first
                    && fills_result(last)
                    && *steps == in_order
            }
            _ => false,
        }
}

/// True if all rows of a pipeline reach its end.
fn drops_none(pipeline: &Pipeline) -> bool {
    let drops = |operator: &PipelineOperator| matches!(operator, PipelineOperator::Filter(_));
    !pipeline.operators.iter().any(drops)
}

/// A plan of few rows, ready to run again and again.
pub struct FewRows {
    plan: Arc<PipelinePlan>,
    code: Arc<CompiledPlan>,
    source: SourceRow,
    /// The worker of a plan of one pipeline, whose result has no limit.
    kept: Option<(Worker, Arc<dyn Breaker>)>,
    /// The workers of a plan of two pipelines.
    both: Option<TwoPipelines>,
    /// Room for the bytes of a key, and for ids.
    key: Vec<u8>,
    ids: Vec<RowId>,
    /// The bounds of blocks, once they are asked for.
    zones: Option<Zones>,
}

impl std::fmt::Debug for FewRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FewRows").finish_non_exhaustive()
    }
}

impl FewRows {
    /// The pipelines of a plan that has a [`FewRowsPlan`]; an internal error for another one.
    pub fn new(plan: &Arc<PipelinePlan>, code: &Arc<CompiledPlan>) -> Result<FewRows> {
        let Some(Source::Scan { columns, row_id, .. }) = plan.pipelines.first().map(|p| &p.source) else {
            return Err(not_few());
        };
        Ok(FewRows {
            source: SourceRow::of_table(columns, row_id.is_some(), &code.pipelines[0].source),
            plan: plan.clone(),
            code: code.clone(),
            kept: None,
            both: None,
            key: Vec::new(),
            ids: Vec::new(),
            zones: None,
        })
    }

    /// Finds the rows in a version of the table, and runs the plan over them. `None` if they are not few: nothing was
    /// done. After an error the object may not be used again.
    pub fn run(
        &mut self,
        few: &FewRowsPlan,
        table: &Arc<TableSnapshot>,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Option<Vec<RowBatch>>> {
        if !self.find(few, table, run)? {
            return Ok(None);
        }
        let batches = match self.plan.pipelines.len() {
            1 => self.run_one(table, budget, run)?,
            _ => self.run_both(table, budget, run)?,
        };
        self.source.rest();
        Ok(Some(batches))
    }

    /// Finds the ids of the rows; false if they are not few.
    fn find(&mut self, few: &FewRowsPlan, table: &Arc<TableSnapshot>, run: OneRun<'_>) -> Result<bool> {
        match &few.search {
            Search::Walk(walk, key) => self.find_along(walk, key, table, run),
            Search::Narrow(column) => self.find_in_blocks(*column, table, run),
        }
    }

    fn find_along(
        &mut self,
        walk: &PrefixWalk,
        key: &[Expr],
        table: &TableSnapshot,
        run: OneRun<'_>,
    ) -> Result<bool> {
        let values = values_of(run);
        let Some(index) = walk.index(table) else {
            return Ok(false);
        };
        self.ids.clear();
        self.key.clear();
        for (i, operand) in key.iter().enumerate() {
            if !index.append_part(i, values.known(operand)?, &mut self.key) {
                // No row has the value.
                return Ok(true);
            }
        }
        let wanted = match walk.is_ordered() {
            true => self.rows_wanted(values)?,
            false => usize::MAX,
        };
        Ok(table.few_rows(walk, index, &mut self.key, wanted, &mut self.ids))
    }

    fn find_in_blocks(&mut self, column: usize, table: &Arc<TableSnapshot>, run: OneRun<'_>) -> Result<bool> {
        let Source::Scan {
            columns,
            restrictions,
            ..
        } = &self.plan.pipelines[0].source
        else {
            return Err(not_few());
        };
        let restrictions = values_of(run).restrictions(restrictions, columns)?;
        let zones = self.zones.get_or_insert_with(|| Zones::new(column));
        table.narrow_rows(zones, &restrictions, &run.scan, &mut self.ids)
    }

    /// Number of the first rows in an order that the plan needs. Errors: 2201W, 2201X for a negative LIMIT or OFFSET.
    fn rows_wanted(&self, values: BoundValues<'_>) -> Result<usize> {
        let sorter = self.plan.filled(&self.plan.pipelines[0]);
        let Some(sorter) = sorter.and_then(|(_, breaker)| breaker.sorter()) else {
            return Ok(1);
        };
        let (limit, offset) = row_counts(values, &sorter.limit, &sorter.offset)?;
        let wanted = limit.map_or(u64::MAX, |limit| limit.saturating_add(offset));
        Ok(usize::try_from(wanted).unwrap_or(usize::MAX))
    }

    /// Runs the only pipeline of the plan.
    fn run_one(
        &mut self,
        table: &TableSnapshot,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Vec<RowBatch>> {
        let (mut worker, breaker) = match self.kept.take() {
            Some(kept) => kept,
            None => {
                // The state that is kept holds no values of this run, which may be long.
                let parameters = match self.is_unlimited() {
                    true => vec![Value::Null; self.plan.parameters.len()],
                    false => run.parameters.to_vec(),
                };
                let state = Arc::new(PlanState::new(&self.plan, parameters));
                let result = self.plan.result.ok_or_else(not_few)?;
                let breaker = self.code.layouts.of_breaker(result).lays().open(state.values())?;
                (self.worker(&state, &breaker, budget, run)?, breaker)
            }
        };
        worker.prepare(run.parameters, run.cancel)?;
        if let Some(writer) = worker.writer_mut() {
            writer.expect_rows(self.ids.len())?;
        }
        self.feed(&mut worker, table, run)?;
        let written: Box<dyn Partial> = Box::new(worker.take_written()?);
        let batches = rows_of(&*breaker, vec![written], budget, run)?;
        if self.is_unlimited() {
            worker.rest();
            self.kept = Some((worker, breaker));
        }
        Ok(batches)
    }

    /// True if the result keeps all rows that it gets: then it keeps no count of them.
    fn is_unlimited(&self) -> bool {
        is_unlimited(&self.plan, 0)
    }

    /// Runs the pipeline that reads the rows, and the one behind it.
    fn run_both(
        &mut self,
        table: &Arc<TableSnapshot>,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Vec<RowBatch>> {
        let mut both = match self.both.take() {
            Some(both) => both,
            None => TwoPipelines::new(&self.plan, &self.code)?,
        };
        both.begin(budget, run)?;
        self.feed(both.first()?, table, run)?;
        let batches = both.finish(table, budget, run)?;
        self.both = both.into_kept();
        Ok(batches)
    }

    /// A worker of the first pipeline, to which rows are given.
    fn worker(
        &self,
        state: &Arc<PlanState>,
        breaker: &Arc<dyn Breaker>,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Worker> {
        let shared = (state.clone(), breaker.clone());
        let open = OpenPipeline::of_given(&self.plan, &self.code, shared, (budget, run.cancel))?;
        Worker::new(Arc::new(open))
    }

    /// Runs the code of the first pipeline over each row.
    fn feed(&mut self, worker: &mut Worker, table: &TableSnapshot, run: OneRun<'_>) -> Result<()> {
        for id in &self.ids {
            let Some(row) = table.find_row(*id) else {
                continue;
            };
            self.source.fetch(row)?;
            if run.count_access {
                self.source.count(row);
            }
            if worker.call_over(self.source.columns(), 1)? == Flow::Enough {
                break;
            }
        }
        Ok(())
    }
}

fn values_of(run: OneRun<'_>) -> BoundValues<'_> {
    BoundValues {
        parameters: run.parameters,
        subqueries: &[],
    }
}

/// True if the buffer that a pipeline fills keeps all rows that it gets: then it keeps no count of them.
pub(crate) fn is_unlimited(plan: &PipelinePlan, pipeline: usize) -> bool {
    let filled = plan.filled(&plan.pipelines[pipeline]);
    let buffer = filled.and_then(|(_, breaker)| breaker.buffer());
    buffer.is_some_and(|buffer| buffer.limit.is_none() && buffer.offset == RowCount::Constant(0))
}

/// The rows of a buffer that was filled.
pub(crate) fn rows_of(
    buffer: &dyn Breaker,
    parts: Vec<Box<dyn Partial>>,
    budget: &MemoryBudget,
    run: OneRun<'_>,
) -> Result<Vec<RowBatch>> {
    let alone = Alone {
        budget,
        cancel: run.cancel,
    };
    let rows = into_finished::<RowBuffer>(buffer.finish(parts, &alone)?)?;
    Ok(match Arc::try_unwrap(rows) {
        Ok(rows) => rows.into_batches(),
        Err(shared) => shared.batches().to_vec(),
    })
}

pub(crate) fn not_few() -> Error {
    Error::internal("a plan that is not of few rows")
}
