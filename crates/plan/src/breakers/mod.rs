//! Breakers, a file each: what keeps the rows of pipelines until all of them are there, and what it states of itself
//! ([`Keeps`]).

mod buffer;
mod groups;
mod join;
mod keeps;
mod sorter;
mod windows;

pub use buffer::Buffer;
pub use groups::GroupTable;
pub use join::JoinTable;
pub use keeps::{Computed, Keeps, Which};
pub use sorter::SortTable;
pub use windows::{SortedWindow, WindowSort, WindowTable};

/// A breaker of a plan: index into [`crate::pipeline::PipelinePlan::breakers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BreakerId(pub usize);

/// What keeps the rows of pipelines: one of these files says what it means.
#[derive(Clone, Debug, PartialEq)]
pub enum Breaker {
    /// The hash table of a join's build side.
    Join(JoinTable),
    /// Groups.
    Groups(GroupTable),
    /// Rows to be sorted.
    Sorter(SortTable),
    /// Rows with what window functions make of them.
    Windows(WindowTable),
    /// Rows in columns.
    Buffer(Buffer),
}

impl Breaker {
    /// What it states of itself.
    pub fn keeps(&self) -> &dyn Keeps {
        match self {
            Breaker::Join(table) => table,
            Breaker::Groups(table) => table,
            Breaker::Sorter(table) => table,
            Breaker::Windows(table) => table,
            Breaker::Buffer(buffer) => buffer,
        }
    }

    /// The same, to be changed.
    pub fn keeps_mut(&mut self) -> &mut dyn Keeps {
        match self {
            Breaker::Join(table) => table,
            Breaker::Groups(table) => table,
            Breaker::Sorter(table) => table,
            Breaker::Windows(table) => table,
            Breaker::Buffer(buffer) => buffer,
        }
    }

    /// It as a join's table.
    pub fn join(&self) -> Option<&JoinTable> {
        if let Breaker::Join(table) = self {
            Some(table)
        } else {
            None
        }
    }

    /// It as groups.
    pub fn groups(&self) -> Option<&GroupTable> {
        if let Breaker::Groups(table) = self {
            Some(table)
        } else {
            None
        }
    }

    /// The group table that the breaker is, to be changed.
    pub fn groups_mut(&mut self) -> Option<&mut GroupTable> {
        if let Breaker::Groups(table) = self {
            Some(table)
        } else {
            None
        }
    }

    /// The rows of windows that the breaker has, if it is one of them.
    pub fn windows(&self) -> Option<&WindowTable> {
        if let Breaker::Windows(table) = self {
            Some(table)
        } else {
            None
        }
    }

    /// True if it gives rows in an order that a statement can ask for.
    pub fn gives_order(&self) -> bool {
        match self {
            Breaker::Sorter(_) | Breaker::Windows(_) | Breaker::Buffer(_) => true,
            Breaker::Join(_) | Breaker::Groups(_) => false,
        }
    }

    /// It as a sorter.
    pub fn sorter(&self) -> Option<&SortTable> {
        if let Breaker::Sorter(table) = self {
            Some(table)
        } else {
            None
        }
    }

    /// The same, to be changed.
    pub fn sorter_mut(&mut self) -> Option<&mut SortTable> {
        if let Breaker::Sorter(table) = self {
            Some(table)
        } else {
            None
        }
    }

    /// It as a buffer.
    pub fn buffer(&self) -> Option<&Buffer> {
        if let Breaker::Buffer(buffer) = self {
            Some(buffer)
        } else {
            None
        }
    }
}
