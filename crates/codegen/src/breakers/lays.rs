//! What every layout gives, once, in its file; and what layouts are decided by.

use frazil_plan::bounds;
use frazil_plan::column::native_within;
use frazil_plan::pipeline::{PipelineOperator, PipelinePlan, Sink, Source};
use frazil_plan::{ColumnId, Expr, ExprKind, JoinKind, RowCount};
use frazil_runtime::breakers::{Breaker, Shape};
use frazil_runtime::scan_source::Clause;
use frazil_runtime::{BoundValues, FieldPlace, RowField};
use frazil_types::{NativeType, Result};
use std::sync::Arc;

/// What every layout gives. Nothing has a default: what a new one forgets does not compile.
pub trait Lays {
    /// The breaker for a run whose values are known. Errors: 2201W, 2201X for a negative LIMIT or OFFSET.
    fn open(&self, values: BoundValues<'_>) -> Result<Arc<dyn Breaker>>;

    /// How its rows lie when it is finished.
    fn shape(&self) -> Shape;

    /// Where the values of its rows lie in a row, if they lie in rows: the column, none for a partial aggregate.
    fn fields(&self) -> Vec<(Option<ColumnId>, FieldPlace)>;

    /// The position of a column in its batches, if its rows lie in columns.
    fn place(&self, column: ColumnId) -> Option<usize>;
}

/// Which columns may be NULL anywhere in the plan.
#[derive(Clone, Debug)]
pub struct Nullable(Vec<bool>);

impl Nullable {
    /// Of a plan: outer joins make NULLs of the columns of their other side.
    pub(super) fn of(plan: &PipelinePlan) -> Nullable {
        Nullable(effectively_nullable(plan))
    }

    /// Whether a column may be NULL.
    pub(super) fn column(&self, column: ColumnId) -> bool {
        self.0[column.0 as usize]
    }

    /// Whether an expression may be NULL.
    pub(super) fn expression(&self, e: &Expr) -> bool {
        e.nullable || e.columns_read().into_iter().any(|c| self.column(c))
    }

    /// The field that holds a column.
    pub(super) fn field(&self, plan: &PipelinePlan, column: ColumnId) -> RowField {
        RowField::new(plan.columns[column].native(), self.column(column))
    }
}

/// LIMIT and OFFSET as numbers. Errors: 2201W, 2201X for negative ones.
pub(crate) fn row_counts(
    values: BoundValues<'_>,
    limit: &Option<RowCount>,
    offset: &RowCount,
) -> Result<(Option<u64>, u64)> {
    let limit = match limit {
        Some(limit) => values.row_count(limit, Clause::Limit)?,
        None => None,
    };
    let offset = values.row_count(offset, Clause::Offset)?;
    Ok((limit, offset.unwrap_or(0)))
}

/// The form in which an expression's value is computed.
pub(crate) fn form(plan: &PipelinePlan, e: &Expr) -> NativeType {
    native_within(e.ty, bounds::of_expression(e, &plan.columns))
}

fn effectively_nullable(plan: &PipelinePlan) -> Vec<bool> {
    let mut nullable: Vec<bool> = plan.columns.ids().map(|c| plan.columns[c].nullable).collect();
    for pipeline in &plan.pipelines {
        for operator in &pipeline.operators {
            match operator {
                PipelineOperator::Probe {
                    join,
                    kind: JoinKind::ProbeOuter | JoinKind::FullOuter,
                    ..
                } => {
                    for c in &plan.join(*join).payload {
                        nullable[c.0 as usize] = true;
                    }
                }
                PipelineOperator::Map(expressions) => {
                    for (c, e) in expressions {
                        nullable[c.0 as usize] |= e.nullable;
                    }
                }
                _ => {}
            }
        }
    }
    for e in expressions(plan) {
        mark_lets(e, &mut nullable);
    }
    nullable
}

/// Marks columns of Lets whose values may be NULL. Whether the expression reads a column that may be NULL.
fn mark_lets(e: &Expr, nullable: &mut [bool]) -> bool {
    if let ExprKind::Let { column, value, body } = &e.kind {
        let reads_nullable = mark_lets(value, nullable);
        nullable[column.0 as usize] |= value.nullable || reads_nullable;
        return mark_lets(body, nullable) || reads_nullable;
    }
    let mut reads_nullable = e.as_column().is_some_and(|id| nullable[id.0 as usize]);
    for part in e.children() {
        reads_nullable |= mark_lets(part, nullable);
    }
    reads_nullable
}

/// The expressions that generated code computes.
fn expressions(plan: &PipelinePlan) -> Vec<&Expr> {
    let mut all = Vec::new();
    for pipeline in &plan.pipelines {
        if let Source::Values { rows, .. } = &pipeline.source {
            all.extend(rows.iter().flatten());
        }
        for operator in &pipeline.operators {
            match operator {
                PipelineOperator::Filter(e) => all.push(e),
                PipelineOperator::Map(list) => all.extend(list.iter().map(|(_, e)| e)),
                PipelineOperator::Probe {
                    keys, ends, residual, ..
                } => {
                    let ends = ends.iter().flat_map(|ends| ends.values());
                    all.extend(keys.iter().chain(ends).chain(residual));
                }
                PipelineOperator::Expand(expansion) => all.extend(expansion.arguments()),
                PipelineOperator::Call(_) => {}
            }
        }
        if let Sink::Into(_, keys) = &pipeline.sink {
            all.extend(keys);
        }
    }
    let kept = plan.breakers.iter().map(|breaker| breaker.keeps());
    all.extend(kept.flat_map(|keeps| keeps.expressions()));
    all
}
