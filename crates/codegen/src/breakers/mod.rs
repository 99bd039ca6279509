//! How the rows of a plan's breakers look, decided once for the code that writes them, the code that reads them and the runtime
//! that merges them: a file for each breaker. Which translator writes a row into it, or reads one, is said here.

pub mod buffer;
pub mod group_lists;
pub mod groups;
pub mod join;
pub mod lays;
pub mod sorter;
pub mod windows;

use crate::source_shape::SourceShape;
use crate::translator::Translator;
use buffer::BufferLayout;
use cranelift_codegen::ir::Block;
use frazil_plan::breakers::{Breaker, BreakerId};
use frazil_plan::pipeline::{PipelinePlan, Sink, Source};
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Error, Result};
use groups::GroupLayout;
use join::JoinLayout;
use lays::{Lays, Nullable};
use sorter::SortLayout;
use windows::WindowLayout;

/// All layouts of a plan.
#[derive(Clone, Debug)]
pub struct PlanLayouts {
    breakers: Vec<Layout>,
    nullable: Nullable,
}

/// How the rows of a breaker look.
#[derive(Clone, Debug)]
pub enum Layout {
    /// Of a join's table.
    Join(JoinLayout),
    /// Of an aggregation.
    Groups(GroupLayout),
    /// Of a sorter.
    Sorter(SortLayout),
    /// Of windows.
    Windows(WindowLayout),
    /// Of a buffer.
    Buffer(BufferLayout),
}

impl Layout {
    /// What it gives.
    pub fn lays(&self) -> &dyn Lays {
        match self {
            Layout::Join(layout) => layout,
            Layout::Groups(layout) => layout,
            Layout::Sorter(layout) => layout,
            Layout::Windows(layout) => layout,
            Layout::Buffer(layout) => layout,
        }
    }

    /// True if the rows of a breaker must come morsel by morsel: their order, or the end of a morsel, tells something.
    pub fn tells_morsels(&self) -> bool {
        match self {
            Layout::Join(_) => false,
            Layout::Groups(layout) => !layout.is_any_order(),
            Layout::Sorter(_) | Layout::Windows(_) | Layout::Buffer(_) => true,
        }
    }
}

impl PlanLayouts {
    /// The layouts of a plan.
    pub fn of(plan: &PipelinePlan) -> Result<PlanLayouts> {
        let nullable = Nullable::of(plan);
        let layout = |(id, breaker): (usize, &Breaker)| {
            Ok(match breaker {
                Breaker::Join(table) => Layout::Join(JoinLayout::of(table, BreakerId(id), plan, &nullable)),
                Breaker::Groups(table) => Layout::Groups(GroupLayout::of(table, plan, &nullable)?),
                Breaker::Sorter(table) => Layout::Sorter(SortLayout::of(table, plan, &nullable)?),
                Breaker::Windows(table) => Layout::Windows(WindowLayout::of(table, plan, &nullable)?),
                Breaker::Buffer(buffer) => {
                    let id = BreakerId(id);
                    let outlives = plan.result == Some(id) || plan.recursions.contains(&id);
                    Layout::Buffer(BufferLayout::of(buffer, outlives, plan))
                }
            })
        };
        let breakers = plan
            .breakers
            .iter()
            .enumerate()
            .map(layout)
            .collect::<Result<_>>()?;
        Ok(PlanLayouts { breakers, nullable })
    }

    /// The layout of a breaker.
    pub fn of_breaker(&self, id: BreakerId) -> &Layout {
        &self.breakers[id.0]
    }

    /// The layout of a join's table; an internal error for another breaker.
    pub fn join(&self, id: BreakerId) -> Result<&JoinLayout> {
        let Layout::Join(layout) = &self.breakers[id.0] else {
            return Err(Error::internal("a probe into a breaker that is not a join's"));
        };
        Ok(layout)
    }

    /// The layout of groups.
    pub fn groups(&self, id: BreakerId) -> Option<&GroupLayout> {
        if let Layout::Groups(layout) = &self.breakers[id.0] {
            Some(layout)
        } else {
            None
        }
    }

    /// The layout of a buffer.
    pub fn buffer(&self, id: BreakerId) -> Option<&BufferLayout> {
        if let Layout::Buffer(layout) = &self.breakers[id.0] {
            Some(layout)
        } else {
            None
        }
    }

    /// Whether a column may be NULL anywhere in the plan: outer joins make NULLs of the columns of their
    /// other side.
    pub fn nullable(&self, column: ColumnId) -> bool {
        self.nullable.column(column)
    }
}

impl<'p> Translator<'_, 'p> {
    /// What a source computes for each row.
    pub fn source_row(&mut self, source: &SourceShape) -> Result<()> {
        match &self.work.pipeline.source {
            Source::Of { breaker, .. } => match self.unit.layouts.groups(*breaker) {
                Some(layout) => self.finished_groups(layout, source),
                None => Ok(()),
            },
            Source::Values { columns, rows } => self.values_row(columns, rows, source),
            Source::Scan { .. } | Source::Lookup(_) | Source::Given { .. } | Source::Expansion(_) => Ok(()),
        }
    }

    /// How what the pipeline fills is laid out, and the expressions of its sink; none if it only marks.
    fn filled(&self) -> Option<(&'p Layout, &'p [Expr])> {
        match &self.work.pipeline.sink {
            Sink::Into(id, keys) => Some((self.unit.layouts.of_breaker(*id), keys)),
            Sink::Mark => None,
        }
    }

    /// How the states are laid out that the sink advances, if it aggregates without groups.
    pub fn filled_states(&self) -> Option<&'p GroupLayout> {
        match self.filled()?.0 {
            Layout::Groups(layout) if layout.spec.groups == 0 => Some(layout),
            Layout::Groups(_)
            | Layout::Join(_)
            | Layout::Sorter(_)
            | Layout::Windows(_)
            | Layout::Buffer(_) => None,
        }
    }

    /// How the groups are laid out that the sink looks up.
    pub fn filled_groups(&self) -> Option<&'p GroupLayout> {
        match self.filled()?.0 {
            Layout::Groups(layout) if layout.spec.groups > 0 => Some(layout),
            Layout::Groups(_)
            | Layout::Join(_)
            | Layout::Sorter(_)
            | Layout::Windows(_)
            | Layout::Buffer(_) => None,
        }
    }

    /// Hands the row to the sink. Ends the current block.
    pub fn sink(&mut self, done: Block) -> Result<()> {
        let Some((layout, keys)) = self.filled() else {
            self.jump(done, &[]);
            return Ok(());
        };
        match layout {
            Layout::Join(layout) => self.join_build(layout, keys, done),
            Layout::Groups(layout) => self.aggregate(layout, done),
            Layout::Sorter(layout) => {
                self.leave_if_behind(layout, done)?;
                self.sort(&layout.spec.layout, &layout.columns, done)
            }
            Layout::Windows(layout) => self.sort(&layout.layout, &layout.columns, done),
            Layout::Buffer(layout) => self.vector_sink(&layout.columns, done),
        }
    }

    /// What a stage does before its first row.
    pub fn open_output(&mut self) -> Result<()> {
        if self.work.next.is_some() || self.work.pipeline.sink.takes_vectors(self.unit.plan) {
            let rows = self.rows_left();
            self.work.count = Some(self.variable(rows));
        } else if let Some((Layout::Groups(layout), _)) = self.filled() {
            self.open_states(layout);
        }
        Ok(())
    }

    /// What a stage does after its last row.
    pub fn close_output(&mut self) -> Result<()> {
        if let Some(count) = self.work.count {
            return self.close_vector(count);
        }
        self.close_states();
        Ok(())
    }
}
