//! Which scans follow the bound of a sorter with LIMIT: rows whose first key lies behind those of the rows that the sorter has are
//! left out, as by a restriction that tightens while the scan runs.
//!
//! The key has to be a column of the scan, and what stands between scan and sorter must leave no trace of a row that
//! the sorter does not get: it marks no rows of a build side, and raises no error.

use crate::can_fail::may_fail;
use frazil_plan::breakers::{Breaker, SortTable};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, RowCount};

/// Sets the bound of every scan.
pub fn apply(plan: &mut PipelinePlan) {
    let PipelinePlan {
        pipelines,
        breakers,
        columns: types,
        ..
    } = plan;
    for pipeline in pipelines {
        let key = pipeline.sink.breaker().and_then(|id| first_key(&breakers[id.0]));
        let key = key.and_then(|key| scanned_key(key, pipeline, types));
        if let Source::Scan { columns, bound, .. } = &mut pipeline.source {
            *bound = key.filter(|key| columns.iter().any(|column| column.0 == *key));
        }
    }
}

/// The first key of a sorter that needs its first rows alone.
fn first_key(breaker: &Breaker) -> Option<ColumnId> {
    let SortTable {
        keys,
        groups: 0,
        limit: Some(limit),
        offset,
        ..
    } = breaker.sorter()?
    else {
        return None;
    };
    let differs = [limit, offset]
        .into_iter()
        .any(|count| RowCount::column(count).is_some());
    keys.first().filter(|_| !differs).map(|key| key.column)
}

/// The column of a pipeline's source that becomes its sink's column `key`, if each row may be left out.
fn scanned_key(mut key: ColumnId, pipeline: &Pipeline, types: &Columns) -> Option<ColumnId> {
    for operator in pipeline.operators.iter().rev() {
        if !may_leave_out(operator, types) {
            return None;
        }
        if let PipelineOperator::Map(made) = operator
            && let Some((_, e)) = made.iter().find(|(id, _)| *id == key)
        {
            let ExprKind::Column(from) = e.kind else {
                return None;
            };
            key = from;
        }
    }
    Some(key)
}

/// Whether nobody notices that an operator does not get a row, but by the rows that it gives.
pub(crate) fn may_leave_out(operator: &PipelineOperator, types: &Columns) -> bool {
    let fails = |e: &Expr| may_fail(e, types);
    match operator {
        PipelineOperator::Filter(e) => !fails(e),
        PipelineOperator::Map(made) => !made.iter().any(|(_, e)| fails(e)),
        PipelineOperator::Probe {
            kind,
            keys,
            ends,
            residual,
            ..
        } => {
            let ends = ends.iter().flat_map(|ends| ends.values());
            !kind.marks_build_rows() && !keys.iter().chain(ends).chain(residual).any(fails)
        }
        // Functions of vectors may raise errors.
        PipelineOperator::Call(_) => false,
        PipelineOperator::Expand(expansion) => !expansion.may_fail() && !expansion.arguments().any(fails),
    }
}
