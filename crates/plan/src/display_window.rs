//! The text of window functions, as EXPLAIN prints them.

use crate::breakers::{WindowSort, WindowTable};
use crate::display_expression::Names;
use crate::display_operator::sort_keys;
use crate::{ColumnId, FrameBound, FrameExclusion, FrameUnit, SortKey, WindowCall, WindowFunction};
use std::fmt::Write;

/// The windows that are computed, each behind a comma.
pub(crate) fn steps(table: &WindowTable, names: &Names) -> String {
    let steps: String = table.steps.iter().map(|step| sort(step, names)).collect();
    steps + &most(table.most, names)
}

fn sort(step: &WindowSort, names: &Names) -> String {
    let windows = step.windows.iter().map(|window| {
        let (partition, rest) = step.keys.split_at(window.partition);
        let order = &rest[..window.order];
        let partition = partition.iter().map(|k| k.column);
        format!(
            ", window{}: {}",
            over(partition, order, names),
            calls(&window.calls, names)
        )
    });
    windows.collect()
}

/// The greatest rank that is asked for.
pub(crate) fn most(most: Option<(ColumnId, u64)>, names: &Names) -> String {
    most.map_or(String::new(), |(id, most)| {
        format!(", {} up to {most}", names.name(id))
    })
}

/// The partition and the order of a window.
pub(crate) fn over(partition: impl Iterator<Item = ColumnId>, order: &[SortKey], names: &Names) -> String {
    let mut out = String::new();
    let partition = names.list(partition);
    if !partition.is_empty() {
        let _ = write!(out, " of ({partition})");
    }
    if !order.is_empty() {
        let _ = write!(out, " by {}", sort_keys(order, names));
    }
    out
}

/// The columns that window functions make, and their calls.
pub(crate) fn calls(calls: &[(ColumnId, WindowCall)], names: &Names) -> String {
    let texts: Vec<String> = (calls.iter())
        .map(|(id, made)| format!("{} := {}", names.name(*id), call(made, names)))
        .collect();
    texts.join(", ")
}

fn call(call: &WindowCall, names: &Names) -> String {
    let arguments = match (call.function, &call.arguments[..]) {
        (WindowFunction::Aggregate(_), []) => "*".to_string(),
        (_, arguments) => names.exprs(arguments),
    };
    let mut out = format!("{}({arguments})", call.function.name());
    if let Some(filter) = &call.filter {
        let _ = write!(out, " filter (where {})", names.expr(filter));
    }
    if call.ignore_nulls {
        out.push_str(" ignore nulls");
    }
    if call.function.sees_frame() {
        out.push_str(&frame(call, names));
    }
    out
}

/// A frame, if it is not the one that ends at the last peer.
fn frame(call: &WindowCall, names: &Names) -> String {
    let frame = &call.frame;
    if *frame == crate::Frame::to_peers() {
        return String::new();
    }
    let unit = match frame.unit {
        FrameUnit::Rows => "rows",
        FrameUnit::Range => "range",
        FrameUnit::Groups => "groups",
    };
    let exclusion = match frame.exclusion {
        FrameExclusion::NoOthers => "",
        FrameExclusion::CurrentRow => " exclude current row",
        FrameExclusion::Group => " exclude group",
        FrameExclusion::Ties => " exclude ties",
    };
    format!(
        " {unit} between {} and {}{exclusion}",
        bound(&frame.start, names),
        bound(&frame.end, names)
    )
}

fn bound(bound: &FrameBound, names: &Names) -> String {
    match bound {
        FrameBound::UnboundedPreceding => "unbounded preceding".to_string(),
        FrameBound::Preceding(e) => format!("{} preceding", names.expr(e)),
        FrameBound::CurrentRow => "current row".to_string(),
        FrameBound::Following(e) => format!("{} following", names.expr(e)),
        FrameBound::UnboundedFollowing => "unbounded following".to_string(),
    }
}
