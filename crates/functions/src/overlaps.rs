//! OVERLAPS: whether two spans of time, each given by two ends or by an end and its length, have a moment in common.

use crate::resolve::{Resolution, no_operator_between};

use crate::vector::{OnNull, Output, Row, predicate};
use crate::{CastContext, Operand, Typing};
use frazil_plan::Columns;
use frazil_types::{Counts, LogicalType, Result, Span};

impl Typing {
    /// `(a, b) OVERLAPS (c, d)`. The ends of a span may stand in any order; two spans that only touch have nothing in
    /// common. 42883.
    pub fn overlaps(&self, [a, b, c, d]: [Operand; 4], span: Span, columns: &mut Columns) -> Result<Operand> {
        let types = [a.ty(), b.ty(), c.ty(), d.ty()].into_iter().flatten();
        let mut of_time = types
            .filter(|ty| ty.info().counts != Counts::Nothing)
            .collect::<Vec<_>>();
        // From the times of day to the instants: whoever says more decides.
        of_time.sort_by_key(|ty| (!ty.is_time_of_day(), ty.kind()));
        let refused = || no_operator_between("overlaps", a.ty(), c.ty(), Resolution::None).at_span(span);
        let ty = match of_time.pop() {
            Some(day) if day.is_day() => LogicalType::TIMESTAMP,
            Some(ty) => ty.with_all_digits().in_zone(self.zone),
            None => return Err(refused()),
        };
        // The beginning of a span that has a length is used twice.
        let (firsts, uses) = self.named(vec![a, c], columns);
        let mut ends = Vec::with_capacity(4);
        for (first, second) in uses.into_iter().zip([b, d]) {
            let first = self.cast(first, ty, CastContext::Implicit, span)?;
            let second = match second.ty() {
                Some(ty) if ty.is_span() => self.infix("+", first.clone().into(), second, span, columns)?,
                _ => second,
            };
            let second = self.cast(second, ty, CastContext::Implicit, span)?;
            ends.extend([first, second]);
        }
        let e = predicate("overlaps", OnNull::Called, overlaps, ends);
        self.with_named(firsts, e.at(span).into())
    }
}

/// The end that is known and comes first, and the other; `None` where neither is known.
fn ends(row: &Row<'_>, first: usize) -> Option<(i64, Option<i64>)> {
    let end = |at: usize| (!row.is_null(at)).then(|| row.int(at));
    match (end(first), end(first + 1)) {
        (Some(a), Some(b)) => Some((a.min(b), Some(a.max(b)))),
        (Some(known), None) | (None, Some(known)) => Some((known, None)),
        (None, None) => None,
    }
}

fn overlaps(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (Some(a), Some(b)) = (ends(row, 0), ends(row, 2)) else {
        return out.null();
    };
    // The span that begins later begins within the other one, or behind it.
    let (earlier, later) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    match (earlier.1, later.1) {
        (Some(_), Some(_)) if earlier.0 == later.0 => out.bool(true),
        (None, _) => out.null(),
        (Some(end), _) if later.0 < end && earlier.0 != later.0 => out.bool(true),
        (_, None) => out.null(),
        (Some(_), Some(_)) => out.bool(false),
    }
}
