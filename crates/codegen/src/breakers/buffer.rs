//! The columns of a buffer.

use super::lays::{Lays, row_counts};
use frazil_plan::breakers::Buffer;
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::{ColumnId, RowCount};
use frazil_runtime::breakers::{Breaker, Shape};
use frazil_runtime::{BoundValues, BufferBuild, BufferColumn, BufferSpec, FieldPlace};
use frazil_types::Result;
use std::sync::Arc;

/// The columns of a buffer.
#[derive(Clone, Debug)]
pub struct BufferLayout {
    /// The columns, in their order.
    pub columns: Vec<ColumnId>,
    spec: BufferSpec,
    limit: Option<RowCount>,
    offset: RowCount,
}

impl BufferLayout {
    /// The layout of a buffer of a plan. `outlives`: its rows live longer than the statement.
    pub(super) fn of(buffer: &Buffer, outlives: bool, plan: &PipelinePlan) -> BufferLayout {
        let column = |id: &ColumnId| BufferColumn {
            ty: plan.columns[*id].ty,
            native: plan.columns[*id].native(),
        };
        BufferLayout {
            columns: buffer.columns.clone(),
            spec: BufferSpec {
                columns: buffer.columns.iter().map(column).collect(),
                limit: None,
                offset: 0,
                owns_strings: outlives,
            },
            limit: buffer.limit.clone(),
            offset: buffer.offset.clone(),
        }
    }

    /// The buffer for a run whose values are known. Errors: 2201W, 2201X.
    pub(crate) fn build(&self, values: BoundValues<'_>) -> Result<BufferBuild> {
        let (limit, offset) = row_counts(values, &self.limit, &self.offset)?;
        Ok(BufferBuild::new(BufferSpec {
            limit,
            offset,
            ..self.spec.clone()
        }))
    }
}

impl Lays for BufferLayout {
    fn open(&self, values: BoundValues<'_>) -> Result<Arc<dyn Breaker>> {
        Ok(Arc::new(self.build(values)?))
    }

    fn shape(&self) -> Shape {
        Shape::Columns
    }

    fn fields(&self) -> Vec<(Option<ColumnId>, FieldPlace)> {
        vec![]
    }

    fn place(&self, column: ColumnId) -> Option<usize> {
        self.columns.iter().position(|c| *c == column)
    }
}
