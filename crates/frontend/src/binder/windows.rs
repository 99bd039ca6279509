//! The windows of a query while it is bound.

use frazil_plan::same::same;
use frazil_plan::{ColumnId, Expr, Frame, WindowCall};
use frazil_types::LogicalType;

/// The windows of a query.
#[derive(Default)]
pub(super) struct Windows {
    /// Those of its WINDOW clause.
    pub named: Vec<(String, Specification)>,
    /// Those with calls.
    pub definitions: Vec<Definition>,
}

/// A window as it is written.
#[derive(Clone, Default)]
pub(super) struct Specification {
    /// What a partition has in common.
    pub partition: Vec<Expr>,
    /// The order of its rows.
    pub order: Vec<OrderKey>,
    /// `None`: the frame that ends at the last peer.
    pub frame: Option<Frame>,
}

/// A key of the order of a window.
#[derive(Clone)]
pub(super) struct OrderKey {
    /// What rows are compared by.
    pub e: Expr,
    /// The type of the key as it is written: intervals are compared by their length.
    pub ty: LogicalType,
    pub descending: bool,
    pub nulls_first: bool,
}

/// A window with the calls over it.
pub(super) struct Definition {
    pub partition: Vec<Expr>,
    pub order: Vec<OrderKey>,
    pub calls: Vec<(ColumnId, WindowCall)>,
}

impl Windows {
    /// True if no call was bound.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// The columns that stand for calls.
    pub fn columns(&self) -> impl Iterator<Item = ColumnId> {
        self.definitions.iter().flat_map(|d| &d.calls).map(|c| c.0)
    }

    /// The first of some columns that stands for a call.
    pub fn first_of(&self, read: &[ColumnId]) -> Option<ColumnId> {
        let mut read = read.iter().copied();
        read.find(|id| self.columns().any(|made| made == *id))
    }

    /// All expressions of windows and calls, those of windows without a call among them.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let named = self.named.iter_mut().map(|n| &mut n.1).flat_map(|w| {
            let order = w.order.iter_mut().map(|k| &mut k.e);
            w.partition.iter_mut().chain(order)
        });
        let called = self.definitions.iter_mut().flat_map(|d| {
            let order = d.order.iter_mut().map(|k| &mut k.e);
            let calls = d.calls.iter_mut().flat_map(|c| c.1.expressions_mut());
            d.partition.iter_mut().chain(order).chain(calls)
        });
        named.chain(called)
    }

    /// Place of the window of a specification: of an equal one that has calls, or of a new one.
    pub fn definition(&mut self, specification: Specification) -> usize {
        let Specification { partition, order, .. } = specification;
        let equal = |d: &Definition| {
            let same_partition = d.partition.len() == partition.len()
                && d.partition.iter().zip(&partition).all(|(a, b)| same(a, b));
            same_partition && d.order.len() == order.len() && d.order.iter().zip(&order).all(|(a, b)| a.is(b))
        };
        if let Some(at) = self.definitions.iter().position(equal) {
            return at;
        }
        self.definitions.push(Definition {
            partition,
            order,
            calls: Vec::new(),
        });
        self.definitions.len() - 1
    }
}

impl OrderKey {
    fn is(&self, other: &OrderKey) -> bool {
        let alike = self.descending == other.descending && self.nulls_first == other.nulls_first;
        alike && same(&self.e, &other.e)
    }
}
