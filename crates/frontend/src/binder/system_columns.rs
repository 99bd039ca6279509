//! The system columns that every table has, as in PostgreSQL: `*` shows none of them, and a name means one only if no
//! column of the relation has that name.
//!
//! A table's scan makes them on demand, which is to say if the text of the statement has their names. `ctid` is the
//! row id. A version of a row has a `ctid` of its own, and `xmin` is a number made of it: both differ between two
//! versions of a row. Frazil keeps no numbers of the transactions that deleted rows and of the commands, so that
//! `xmax`, `cmin` and `cmax` are 0.

use super::from::FromRows;
use super::rows::{Computed, one_row};
use super::{Binder, error};
use crate::catalog_view;
use crate::system_columns::{ShownColumns, SystemColumn, SystemColumns};
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};
use sqlparser::ast::{ObjectName, SelectItem};

/// 42701 for the name of a new column that is a system column's.
pub(super) fn refuse_name(name: &str, span: Span) -> Result<()> {
    match SystemColumn::named(name) {
        Some(_) => {
            let message = format!("column name \"{name}\" conflicts with a system column name");
            Err(error(SqlState::DUPLICATE_COLUMN, message, span))
        }
        None => Ok(()),
    }
}

/// 0A000 for a system column that a statement gives a value.
pub(super) fn refuse_value(name: &str, span: Span) -> Result<()> {
    match SystemColumn::named(name) {
        Some(_) => {
            let message = format!("cannot assign to system column \"{name}\"");
            Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span))
        }
        None => Ok(()),
    }
}

/// True if an item of RETURNING names a system column.
pub(super) fn are_in(list: &[SelectItem]) -> bool {
    let is_in = |item: &SelectItem| !SystemColumns::in_text(&item.to_string()).is_empty();
    list.iter().any(is_in)
}

/// 0A000 for RETURNING of an UPDATE that reads other tables, too, if it names a system column: these are known when the
/// rows are written.
pub(super) fn refuse_beside_others() -> Error {
    Error::unsupported("a system column in RETURNING of UPDATE … FROM")
        .with_hint("read it by a SELECT behind the UPDATE")
}

impl Binder<'_> {
    /// The oid of the table of a name, if the statement names a system column; `None` for other relations.
    pub(super) fn oid_to_show(&mut self, name: &ObjectName) -> Result<Option<u32>> {
        if self.system_columns.is_empty() {
            return Ok(None);
        }
        let written = self.written_name(name)?;
        Ok(match self.find(&written) {
            Ok((_, catalog_view::Relation::Table(table), _)) => table.oid,
            Ok((_, catalog_view::Relation::View(_), _)) | Err(_) => None,
        })
    }

    /// Gives the rows of a scan the system columns that the statement names.
    pub(super) fn show_system_columns(&mut self, rows: &mut FromRows, table_oid: u32) {
        if self.system_columns.is_empty() {
            return;
        }
        let Some(scan) = rows.op.passed_scan_mut() else {
            return;
        };
        let row_id = match scan.row_id {
            Some(row_id) => row_id,
            None => self.row_id(),
        };
        scan.row_id = Some(row_id);
        self.show_columns_of(rows, table_oid, row_id);
    }

    /// Gives rows that have their ids in a column the system columns that the statement names.
    pub(super) fn show_columns_of(&mut self, rows: &mut FromRows, table_oid: u32, row_id: ColumnId) {
        let mut shown = ShownColumns::new();
        let mut made = Computed::default();
        for column in self.system_columns.iter() {
            let number = |number: u32, ty| Expr::constant(Value::Int(number.into()), ty);
            let value = match column {
                SystemColumn::Ctid => {
                    shown.push((column, row_id));
                    continue;
                }
                SystemColumn::TableOid => number(table_oid, LogicalType::Oid),
                SystemColumn::Xmin => {
                    let row_id = Expr::column(row_id, &self.columns);
                    frazil_functions::version_number(row_id)
                }
                SystemColumn::Xmax => number(0, LogicalType::Xid),
                SystemColumn::Cmin | SystemColumn::Cmax => number(0, LogicalType::Cid),
            };
            let id = self.columns.add(column.name(), value.ty, false);
            self.own(id);
            shown.push((column, id));
            made.expressions.push((id, value));
        }
        let op = std::mem::replace(&mut rows.op, one_row());
        rows.op = made.above(op);
        let ids = shown.iter().map(|(_, id)| *id);
        self.level().note_system_columns(&rows.items, ids);
        for item in &mut rows.items {
            item.system.clone_from(&shown);
        }
    }
}
