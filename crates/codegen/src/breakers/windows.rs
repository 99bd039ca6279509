//! Rows of windows: the columns that are kept, then those that window functions make.

use super::lays::{Lays, Nullable};
use frazil_plan::breakers::{SortedWindow, WindowSort, WindowTable};
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::{ColumnId, Expr, FrameBound, WindowCall, WindowFunction};
use frazil_runtime::breakers::windows::WindowsBreaker;
use frazil_runtime::breakers::windows::top::{TopRank, TopSpec};
use frazil_runtime::breakers::{Breaker, Shape};
use frazil_runtime::{
    BoundSpec, BoundValues, CallSpec, FieldPlace, FrameSpec, RowField, RowLayout, SortField, WindowInput,
    WindowSpec, WindowStep,
};
use frazil_types::{Error, Result};
use std::sync::Arc;

/// The rows of windows.
#[derive(Clone, Debug)]
pub struct WindowLayout {
    /// How they look.
    pub layout: RowLayout,
    /// The columns that are kept, one for each of the first fields.
    pub columns: Vec<ColumnId>,
    /// The columns that window functions make, one for each field behind them.
    made: Vec<ColumnId>,
    steps: Vec<WindowStep>,
    top: Option<TopSpec>,
}

impl WindowLayout {
    /// The layout of the windows of a plan.
    pub(super) fn of(table: &WindowTable, plan: &PipelinePlan, nullable: &Nullable) -> Result<WindowLayout> {
        let made: Vec<ColumnId> = table.made().collect();
        let columns: Vec<ColumnId> = table.columns.iter().chain(&made).copied().collect();
        let fields: Vec<RowField> = columns.iter().map(|id| nullable.field(plan, *id)).collect();
        let steps = Steps {
            plan,
            fields: columns,
        };
        Ok(WindowLayout {
            layout: RowLayout::of_sort(&fields),
            columns: table.columns.clone(),
            made,
            steps: (table.steps.iter())
                .map(|step| steps.step(step))
                .collect::<Result<_>>()?,
            top: table.top().and_then(|(function, most)| top(function, most)),
        })
    }
}

/// The ranks that are asked for.
fn top(function: WindowFunction, most: u64) -> Option<TopSpec> {
    let rank = match function {
        WindowFunction::RowNumber => TopRank::RowNumber,
        WindowFunction::Rank => TopRank::Rank,
        WindowFunction::DenseRank => TopRank::DenseRank,
        _ => return None,
    };
    Some(TopSpec { rank, most })
}

impl Lays for WindowLayout {
    fn open(&self, _values: BoundValues<'_>) -> Result<Arc<dyn Breaker>> {
        Ok(Arc::new(WindowsBreaker {
            layout: self.layout.clone(),
            steps: self.steps.clone(),
            top: self.top.clone(),
        }))
    }

    fn shape(&self) -> Shape {
        Shape::Rows
    }

    fn fields(&self) -> Vec<(Option<ColumnId>, FieldPlace)> {
        let columns = self.columns.iter().chain(&self.made).map(|&id| Some(id));
        columns.zip(self.layout.fields.iter().copied()).collect()
    }

    fn place(&self, _column: ColumnId) -> Option<usize> {
        None
    }
}

struct Steps<'a> {
    plan: &'a PipelinePlan,
    /// The columns of the rows, one for each field.
    fields: Vec<ColumnId>,
}

impl Steps<'_> {
    fn field(&self, column: ColumnId) -> Result<usize> {
        let found = self.fields.iter().position(|id| *id == column);
        found.ok_or_else(|| Error::internal("a column of a window that is not kept"))
    }

    fn step(&self, step: &WindowSort) -> Result<WindowStep> {
        let keys = step.keys.iter().map(|key| {
            Ok(SortField {
                field: self.field(key.column)?,
                descending: key.descending,
                nulls_first: key.nulls_first,
            })
        });
        let windows = step.windows.iter().map(|window| self.window(step, window));
        Ok(WindowStep {
            keys: keys.collect::<Result<_>>()?,
            windows: windows.collect::<Result<_>>()?,
        })
    }

    fn window(&self, step: &WindowSort, window: &SortedWindow) -> Result<WindowSpec> {
        let first = step.keys.get(window.partition).filter(|_| window.order > 0);
        let calls = window.calls.iter().map(|(id, call)| self.call(*id, call));
        Ok(WindowSpec {
            partition: window.partition,
            order: window.order,
            key_type: first.map(|key| self.plan.columns[key.column].ty),
            calls: calls.collect::<Result<_>>()?,
        })
    }

    fn call(&self, made: ColumnId, call: &WindowCall) -> Result<CallSpec> {
        let arguments = call.arguments.iter().map(|e| self.input(e));
        Ok(CallSpec {
            function: call.function,
            arguments: arguments.collect::<Result<_>>()?,
            filter: call.filter.as_ref().map(|e| self.input(e)).transpose()?,
            ignore_nulls: call.ignore_nulls,
            frame: FrameSpec {
                unit: call.frame.unit,
                start: self.bound(&call.frame.start)?,
                end: self.bound(&call.frame.end)?,
                exclusion: call.frame.exclusion,
            },
            result: self.field(made)?,
            ty: call.ty,
            argument_type: call.arguments.first().map(|e| e.ty),
        })
    }

    fn bound(&self, bound: &FrameBound) -> Result<BoundSpec> {
        Ok(match bound {
            FrameBound::UnboundedPreceding => BoundSpec::UnboundedPreceding,
            FrameBound::Preceding(e) => BoundSpec::Preceding(self.input(e)?),
            FrameBound::CurrentRow => BoundSpec::CurrentRow,
            FrameBound::Following(e) => BoundSpec::Following(self.input(e)?),
            FrameBound::UnboundedFollowing => BoundSpec::UnboundedFollowing,
        })
    }

    fn input(&self, e: &Expr) -> Result<WindowInput> {
        if let Some(id) = e.as_column() {
            return Ok(WindowInput::Field(self.field(id)?));
        }
        let value = e.as_constant().ok_or_else(|| {
            Error::internal("an argument of a window function that is neither a column nor a constant")
        })?;
        Ok(WindowInput::Constant(value.clone()))
    }
}
