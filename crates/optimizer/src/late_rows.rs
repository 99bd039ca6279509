//! Columns that a sorter with LIMIT need not keep: of rows of which few are given out, what neither orders them nor is computed with is
//! fetched for the winners alone, by their row ids.
//!
//! The ids are those of one version of the table, which the statement reads from its first pipeline to its last.

use frazil_plan::breakers::{BreakerId, SortTable};
use frazil_plan::pipeline::{LateColumns, Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{ColumnId, RowCount};
use std::collections::BTreeSet;

/// A row that is fetched by its id costs as much as so many that are scanned.
const ROWS_A_FETCH: f64 = 32.0;
/// Rows that a LIMIT is taken for whose number is not known.
const UNKNOWN_ROWS: u64 = 100;
/// Below so many bytes of a row it is not worth it: its id has eight of them.
const FEWEST_BYTES: usize = 12;

/// Has the sorters of a plan keep ids for what they need not keep.
pub fn apply(plan: &mut PipelinePlan) {
    for id in (0..plan.breakers.len()).map(BreakerId) {
        if let Some((scan, late)) = late_columns(plan, id) {
            fetch_late(plan, id, scan, late);
        }
    }
}

/// The pipeline that fills a sorter, and the columns of its scan that are better fetched late.
fn late_columns(plan: &PipelinePlan, id: BreakerId) -> Option<(usize, Vec<(ColumnId, usize)>)> {
    let sort = plan.breakers[id.0].sorter()?;
    let rows = rows_given_out(sort)?;
    let mut fillers = plan.pipelines.iter().enumerate();
    let mut fillers = fillers.by_ref().filter(|(_, p)| p.sink.breaker() == Some(id));
    let (at, pipeline) = fillers.next()?;
    let Source::Scan { columns, .. } = &pipeline.source else {
        return None;
    };
    if fillers.next().is_some() || pipeline.estimated_rows < rows as f64 * ROWS_A_FETCH {
        return None;
    }
    let read = read_before(sort, pipeline);
    let is_late = |column: &ColumnId| sort.columns.contains(column) && !read.contains(column);
    let late: Vec<(ColumnId, usize)> = columns.iter().filter(|c| is_late(&c.0)).copied().collect();
    let bytes: usize = late.iter().map(|c| plan.columns[c.0].ty.native().size()).sum();
    (bytes >= FEWEST_BYTES).then_some((at, late))
}

/// How many rows a sorter gives out, as far as is known, if it has a limit for all of them.
fn rows_given_out(sort: &SortTable) -> Option<u64> {
    let limit = sort.limit.as_ref().filter(|_| sort.groups == 0)?;
    let rows = |count: &RowCount, unknown: u64| match count {
        RowCount::Constant(n) => Some(*n),
        RowCount::Value(_) => Some(unknown),
        RowCount::Column(_) => None,
    };
    Some(rows(limit, UNKNOWN_ROWS)?.saturating_add(rows(&sort.offset, 0)?))
}

/// Columns that are read before rows are given out.
fn read_before(sort: &SortTable, pipeline: &Pipeline) -> BTreeSet<ColumnId> {
    let keys = sort.keys.iter().map(|key| key.column);
    let operators = pipeline.operators.iter().flat_map(PipelineOperator::reads);
    keys.chain(operators).collect()
}

/// Leaves columns out of a sorter and of the scan of the pipeline that fills it; whoever reads the sorter fetches them.
fn fetch_late(plan: &mut PipelinePlan, id: BreakerId, scan: usize, late: Vec<(ColumnId, usize)>) {
    let is_late = |column: &ColumnId| late.iter().any(|c| c.0 == *column);
    let Source::Scan {
        table,
        name,
        columns,
        row_id,
        restrictions,
        disjunctions,
        ..
    } = &mut plan.pipelines[scan].source
    else {
        return;
    };
    let tested = |column: &ColumnId| {
        let others = disjunctions.iter().flat_map(|d| d.restrictions());
        restrictions.iter().chain(others).any(|r| r.column == *column)
    };
    columns.retain(|c| !is_late(&c.0) || tested(&c.0));
    let row_id = *row_id.get_or_insert_with(|| plan.columns.add_row_id());
    let (table, name) = (*table, name.clone());
    if let Some(sort) = plan.breakers[id.0].sorter_mut() {
        sort.columns
            .retain(|column| !is_late(column) && *column != row_id);
        sort.columns.push(row_id);
    }
    for pipeline in &mut plan.pipelines {
        let Source::Of {
            breaker,
            columns,
            late: fetched,
            ..
        } = &mut pipeline.source
        else {
            continue;
        };
        if *breaker != id {
            continue;
        }
        let place = |kept: ColumnId| late.iter().find(|c| c.0 == kept).map(|c| c.1);
        let made = columns
            .iter()
            .filter_map(|&(made, kept)| Some((made, place(kept)?)));
        let made: Vec<(ColumnId, usize)> = made.collect();
        columns.retain(|c| !is_late(&c.1));
        if !made.is_empty() {
            let name = name.clone();
            *fetched = Some(Box::new(LateColumns {
                table,
                name,
                row_id,
                columns: made,
            }));
        }
    }
}
