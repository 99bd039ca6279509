//! The number of a version of a row, which the system column `xmin` shows.

use crate::vector::{OnNull, RowFn, rows};
use frazil_plan::Expr;
use frazil_types::{LogicalType, RowId};

/// The first number of a transaction that PostgreSQL does not keep for itself.
const FIRST: u64 = 3;

/// A number made of a row id, as an xid. Versions of a row have different ids, and so different numbers, unless 2^32
/// other rows were written in between.
pub fn version_number(row_id: Expr) -> Expr {
    let run: RowFn = |row, out| {
        let number = RowId::from_tid(row.int(0)).0 % (u64::from(u32::MAX) + 1 - FIRST) + FIRST;
        out.int(number.into())
    };
    rows(
        "version_number",
        OnNull::Null,
        run,
        vec![row_id],
        LogicalType::Xid,
    )
}
