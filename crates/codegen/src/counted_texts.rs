//! Strings of a scan of which a pipeline needs nothing but the numbers of their characters. The scan gives these
//! numbers instead: blocks with compressed strings count the characters by their codes.

use frazil_plan::operators::{ScanRestriction, ScanRestrictionKind};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{ColumnId, Expr, ExprKind, ScalarFunction};
use frazil_types::{CompareOp, NativeType};
use std::collections::HashMap;

/// Columns of a pipeline's scan, as positions among its columns, that are read by `length` alone. Only aggregations
/// are looked through, with filters and computed columns in front of them.
pub(crate) fn counted(plan: &PipelinePlan, pipeline: &Pipeline) -> Vec<usize> {
    let Source::Scan {
        columns,
        restrictions,
        ..
    } = &pipeline.source
    else {
        return Vec::new();
    };
    let Some(expressions) = expressions(plan, pipeline, restrictions) else {
        return Vec::new();
    };
    let mut uses: HashMap<ColumnId, Uses> = HashMap::new();
    for e in expressions {
        e.walk(&mut |part| note(part, &mut uses));
    }
    let is_counted = |id: &ColumnId| {
        let is_text = plan.columns[*id].native() == NativeType::String;
        let of_column = uses.get(id);
        is_text && of_column.is_some_and(|uses| uses.lengths > 0 && uses.lengths == uses.columns)
    };
    let places = columns.iter().enumerate();
    places
        .filter(|(_, c)| is_counted(&c.0))
        .map(|(at, _)| at)
        .collect()
}

/// Uses of a column in expressions.
#[derive(Default)]
struct Uses {
    /// All its uses.
    columns: usize,
    /// Uses as the argument of `length`.
    lengths: usize,
}

fn note(e: &Expr, uses: &mut HashMap<ColumnId, Uses>) {
    if let Some(id) = e.as_column() {
        uses.entry(id).or_default().columns += 1;
    }
    if let ExprKind::Function(ScalarFunction::Length, arguments) = &e.kind {
        for id in arguments.iter().filter_map(Expr::as_column) {
            uses.entry(id).or_default().lengths += 1;
        }
    }
}

/// The expressions of a pipeline that fills groups; `None` for another one, or if its rows may come one by one (see
/// [`crate::few_rows`]), with their strings.
fn expressions<'p>(
    plan: &'p PipelinePlan,
    pipeline: &'p Pipeline,
    restrictions: &[ScanRestriction],
) -> Option<Vec<&'p Expr>> {
    let (_, breaker) = plan.filled(pipeline)?;
    let table = breaker.groups()?;
    let gives_value = |r: &ScanRestriction| matches!(r.kind, ScanRestrictionKind::Compare(CompareOp::Eq, _));
    if table.groups.is_empty() && restrictions.iter().any(gives_value) {
        return None;
    }
    let mut expressions = breaker.keeps().expressions();
    for operator in &pipeline.operators {
        match operator {
            PipelineOperator::Filter(e) => expressions.push(e),
            PipelineOperator::Map(made) => expressions.extend(made.iter().map(|(_, e)| e)),
            PipelineOperator::Call(_) | PipelineOperator::Probe { .. } | PipelineOperator::Expand(_) => {
                return None;
            }
        }
    }
    let is_subquery = |e: &Expr| matches!(e.kind, ExprKind::Subquery(_));
    let mut asks = false;
    for e in &expressions {
        e.walk(&mut |part| asks |= is_subquery(part));
    }
    // A subquery reads columns out of sight.
    (!asks).then_some(expressions)
}
