//! Numbers of transactions, and snapshots of which of them had ended.

use crate::build::TEXT;
use crate::function::{Function, Overload, functions, rows};
use crate::type_rules::Kind::{BigInt, Boolean, Text};
use crate::vector::{OnNull, RowFn, rows as call};
use frazil_plan::{COUNT, Expr};
use frazil_types::{Error, Result, SqlState};

/// The number of a transaction, from its start.
pub(super) fn transaction(start: Expr) -> Expr {
    call(
        "pg_current_xact_id",
        OnNull::Null,
        |r, o| o.int(r.wide(0)),
        vec![start],
        COUNT,
    )
}

/// What a transaction sees, from its start: all that ended before.
pub(super) fn snapshot(start: Expr) -> Expr {
    let run: RowFn = |r, o| o.text(&format!("{0}:{0}:", r.int(0)));
    call("pg_current_snapshot", OnNull::Null, run, vec![start], TEXT)
}

/// True if a list holds rising numbers within a range; a comma may stand at its end.
fn is_rising(list: &str, range: std::ops::Range<i64>) -> bool {
    let list = list.strip_suffix(',').unwrap_or(list);
    let mut last = range.start;
    list.is_empty()
        || list.split(',').all(|text| {
            let number = text.parse().ok().filter(|n| (last..range.end).contains(n));
            last = number.unwrap_or(last);
            number.is_some()
        })
}

/// What became of the transaction of a number, beside one that began at `start`.
pub(super) fn status(number: Expr, start: Expr) -> Expr {
    let run: RowFn = |r, o| match (r.int(0), r.int(1)) {
        (number, own) if number == own => o.text("in progress"),
        (number, own) if number > own => {
            let message = format!("transaction ID {number} is in the future");
            Err(Error::new(SqlState::INVALID_PARAMETER, message))
        }
        _ => o.null(),
    };
    call("pg_xact_status", OnNull::Null, run, vec![number, start], TEXT)
}

/// A snapshot `xmin:xmax:xip,…`.
struct Snapshot<'a> {
    /// All before it have ended.
    least: i64,
    /// None from it on had begun.
    end: i64,
    /// Those between that had not ended.
    open: &'a str,
}

impl Snapshot<'_> {
    /// Error 22P02.
    fn read(text: &str) -> Result<Snapshot<'_>> {
        let mut parts = text.splitn(3, ':');
        let mut number = || parts.next()?.parse::<i64>().ok().filter(|n| *n > 0);
        let read = number().zip(number()).zip(parts.next());
        let read = read.filter(|((least, end), open)| least <= end && is_rising(open, *least..*end));
        let ((least, end), open) = read.ok_or_else(|| {
            let message = format!("invalid input syntax for type pg_snapshot: \"{text}\"");
            Error::new(SqlState::INVALID_TEXT, message)
        })?;
        Ok(Snapshot { least, end, open })
    }

    fn shows(&self, transaction: i64) -> bool {
        let is_open = || self.open.split(',').any(|n| n.parse() == Ok(transaction));
        transaction < self.least || transaction < self.end && !is_open()
    }
}

/// The numbers of the transactions that had not ended at a snapshot. Error 22P02.
pub(crate) fn open_at_snapshot(text: &str) -> Result<Vec<i64>> {
    let open = Snapshot::read(text)?.open.split(',');
    Ok(open.filter_map(|number| number.parse().ok()).collect())
}

const LEAST: [Overload; 1] = [rows(
    &[Text],
    |r, o| o.int(Snapshot::read(r.text(0))?.least.into()),
    BigInt,
)];
const END: [Overload; 1] = [rows(
    &[Text],
    |r, o| o.int(Snapshot::read(r.text(0))?.end.into()),
    BigInt,
)];
const SHOWS: [Overload; 1] = [rows(
    &[BigInt, Text],
    |r, o| o.bool(Snapshot::read(r.text(1))?.shows(r.int(0))),
    Boolean,
)];

pub(super) const FUNCTIONS: &[Function] = functions! {
    "pg_snapshot_xmax", END, "the number from which on no transaction had begun at a snapshot";
    "pg_snapshot_xmin", LEAST, "the number below which all transactions had ended at a snapshot";
    "pg_visible_in_snapshot", SHOWS, "true if a transaction had ended at a snapshot";
    "txid_snapshot_xmax", END, "like `pg_snapshot_xmax`";
    "txid_snapshot_xmin", LEAST, "like `pg_snapshot_xmin`";
    "txid_visible_in_snapshot", SHOWS, "like `pg_visible_in_snapshot`";
};
