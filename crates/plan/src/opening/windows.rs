//! Windows that stand on each other become one breaker, whose rows are kept once. Windows whose partition and order are
//! the beginning of another's share its sort.

use super::{Builder, NeededColumns as Needed, Opened, rows_of};
use crate::breakers::{Breaker, SortedWindow, WindowSort, WindowTable};
use crate::operators::node::{Tree, as_operator};
use crate::operators::window::Window;
use crate::pipeline::PipelineOperator;
use crate::{ColumnId, Expr, ExprKind, FrameBound, FrameUnit, SortKey, WindowCall};
use frazil_types::NativeType;

/// A window with the columns that a reader above needs.
struct Wanted {
    partition: Vec<ColumnId>,
    order: Vec<SortKey>,
    calls: Vec<(ColumnId, WindowCall)>,
    most: Option<(ColumnId, u64)>,
}

impl<T: Tree> Builder<'_, T> {
    /// The windows at the top of a tree.
    pub(crate) fn windows(&mut self, op: &T, needed: &Needed) -> Opened {
        let mut below = needed.clone();
        let mut wanted = Vec::new();
        let mut computed = Vec::new();
        let (mut input, mut read, mut kept) = (op, Needed::new(), Needed::new());
        while let Some(window) = as_operator::<T, Window<T>>(input) {
            if window.calls.iter().any(|c| read.contains(&c.0)) {
                // What is computed from the results of others waits for them.
                break;
            }
            input = &window.input;
            let calls = window.calls.iter().filter(|c| below.remove(&c.0)).cloned();
            let mut calls: Vec<(ColumnId, WindowCall)> = calls.collect();
            if calls.is_empty() {
                continue;
            }
            for e in calls.iter_mut().flat_map(|c| c.1.expressions_mut()) {
                read.extend(e.columns_read());
                self.as_column(e, &mut computed);
            }
            let window = Wanted::of(window, calls);
            kept.extend(window.reads());
            read.extend(window.reads());
            wanted.push(window);
        }
        below.extend(kept);
        if wanted.is_empty() {
            return self.open(input, &below);
        }
        let columns = below.iter().copied().collect();
        for (id, e) in &computed {
            below.remove(id);
            below.extend(e.columns_read());
        }
        let mut opened = self.open(input, &below);
        let rows = opened.rows;
        if !computed.is_empty() {
            opened = opened.append(PipelineOperator::Map(computed), rows);
        }
        let most = match &wanted[..] {
            [only] if only.calls.iter().all(|c| c.1.function.is_rank()) => only.most,
            _ => None,
        };
        let table = WindowTable {
            columns,
            steps: sorts(wanted),
            most,
        };
        let given = table.columns.iter().copied().chain(table.made()).collect();
        let id = self.fill(Breaker::Windows(table), opened, vec![]);
        Opened::of(rows_of(id, given), rows)
    }

    /// Makes an expression of a call a column, or a constant that is neither a string nor held as one.
    fn as_column(&mut self, e: &mut Expr, computed: &mut Vec<(ColumnId, Expr)>) {
        let is_held_as_bytes = e.ty.is_string() || e.ty.native() == NativeType::String;
        let is_value = matches!(e.kind, ExprKind::Constant(_)) && !is_held_as_bytes;
        if is_value || matches!(e.kind, ExprKind::Column(_)) {
            return;
        }
        let id = self.out.columns.add("argument", e.ty, e.nullable);
        let column = Expr::column(id, &self.out.columns);
        computed.push((id, std::mem::replace(e, column)));
    }
}

impl Wanted {
    fn of<T>(window: &Window<T>, calls: Vec<(ColumnId, WindowCall)>) -> Wanted {
        let mut partition: Vec<ColumnId> = Vec::new();
        for id in &window.partition {
            if !partition.contains(id) {
                partition.push(*id);
            }
        }
        // A key that an earlier one decides orders nothing; but a range counts in its key, whatever that is.
        let keeps_all = calls.iter().any(|c| counts_in_key(&c.1));
        let mut order: Vec<SortKey> = Vec::new();
        for key in &window.order {
            let is_known = partition.contains(&key.column) || order.iter().any(|k| k.column == key.column);
            if keeps_all || !is_known {
                order.push(key.clone());
            }
        }
        Wanted {
            partition,
            order,
            calls,
            most: window.most,
        }
    }

    /// Columns that it reads.
    fn reads(&self) -> impl Iterator<Item = ColumnId> {
        let order = self.order.iter().map(|k| k.column);
        let inside = self.calls.iter().flat_map(|c| c.1.expressions());
        let inside = inside.flat_map(Expr::columns_read);
        self.partition.iter().copied().chain(order).chain(inside)
    }

    fn keys(&self) -> usize {
        self.partition.len() + self.order.len()
    }

    /// True if its partitions are together, and in its order, where rows are in the order of `keys`.
    fn is_in_order(&self, keys: &[SortKey]) -> bool {
        if keys.len() < self.keys() {
            return false;
        }
        let (partition, rest) = keys.split_at(self.partition.len());
        // A range counts in its key, which may stand in the partition, too: a column of the keys may come twice.
        let is_key = |id: &ColumnId| partition.iter().any(|k| k.column == *id);
        self.partition.iter().all(is_key) && rest[..self.order.len()] == self.order
    }
}

/// True if the frame of a call has offsets that are differences of the key.
fn counts_in_key(call: &WindowCall) -> bool {
    call.frame.unit == FrameUnit::Range
        && [&call.frame.start, &call.frame.end]
            .iter()
            .any(|b| matches!(b, FrameBound::Preceding(_) | FrameBound::Following(_)))
}

/// The sorts that serve some windows: those with more keys first, so that others find theirs among them.
fn sorts(mut windows: Vec<Wanted>) -> Vec<WindowSort> {
    windows.sort_by_key(|w| std::cmp::Reverse(w.keys()));
    let mut steps: Vec<WindowSort> = Vec::new();
    let partitions: Vec<Vec<ColumnId>> = windows.iter().map(|w| w.partition.clone()).collect();
    for window in windows {
        let at = match steps.iter().position(|step| window.is_in_order(&step.keys)) {
            Some(at) => at,
            None => {
                let keys = keys(&window, &partitions);
                steps.push(WindowSort {
                    keys,
                    windows: Vec::new(),
                });
                steps.len() - 1
            }
        };
        steps[at].windows.push(SortedWindow {
            partition: window.partition.len(),
            order: window.order.len(),
            calls: window.calls,
        });
    }
    steps
}

/// The keys of a window's sort. What is part of most partitions comes first, so that these are together, too.
fn keys(window: &Wanted, partitions: &[Vec<ColumnId>]) -> Vec<SortKey> {
    let mut partition = window.partition.clone();
    let uses = |id: &ColumnId| partitions.iter().filter(|p| p.contains(id)).count();
    partition.sort_by_key(|id| std::cmp::Reverse(uses(id)));
    let together = partition.into_iter().map(|column| SortKey {
        column,
        descending: false,
        nulls_first: false,
    });
    together.chain(window.order.iter().cloned()).collect()
}
