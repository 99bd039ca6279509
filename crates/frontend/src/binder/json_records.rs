//! Records of JSON in FROM: `json_to_recordset(…) AS x (a integer, b text)`.

use super::rows::Computed;
use super::select_list::named_twice;
use super::{Binder, OutputColumn, fold};
use frazil_functions::JsonRecords;
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Result, Span};
use sqlparser::ast::{ColumnDef, ColumnOption};

/// The objects of a call, and the columns that are made of their members.
pub(super) struct Records<'a> {
    pub function: &'static JsonRecords,
    pub columns: &'a [ColumnDef],
}

impl<'a> Binder<'a> {
    /// The columns of records whose objects are in column `object`; `objects` checks that they are objects, `members`
    /// reads their members. 42701, 42601; 54011 for more columns than a table has.
    pub(super) fn record_columns(
        &mut self,
        records: &Records<'a>,
        object: ColumnId,
        objects: &mut Computed,
        members: &mut Computed,
    ) -> Result<Vec<OutputColumn>> {
        let Records { function, columns } = records;
        let checked = self.typing.object(function, Expr::column(object, &self.columns));
        let object = self.columns.add("object", checked.ty, true);
        objects.expressions.push((object, checked));
        let object = Expr::column(object, &self.columns);
        let mut made: Vec<OutputColumn> = Vec::with_capacity(columns.len());
        let last = columns.last().map_or(Span::NONE, |c| self.span(&c.name));
        super::list_limits::column_definitions(columns.len(), last)?;
        for column in *columns {
            let (at, name) = (self.span(&column.name), fold(&column.name));
            if made.iter().any(|known| known.name == name) {
                return Err(named_twice(&name, at));
            }
            let (ty, domain) = self.ty_or_domain(&column.data_type, at)?;
            for option in &column.options {
                match &option.option {
                    ColumnOption::Collation(collation) => self.collation_of(collation, ty)?,
                    other => return Err(self.syntax_error(&other.to_string(), at)),
                }
            }
            let mut value = self
                .typing
                .member(function, &object, &name, ty)
                .map_err(|e| e.at_span(at))?;
            if let Some(domain) = domain {
                value = self.through_domain(value, &domain)?;
            }
            let id = self.columns.add(name.clone(), value.ty, true);
            made.push(OutputColumn::new(name, id));
            members.expressions.push((id, value));
        }
        Ok(made)
    }
}
