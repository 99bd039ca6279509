//! RETURNING: a select list over the rows that were written.

use super::rows::Computed;
use super::scope::{Clause, Item};
use super::{Binder, OutputColumn};
use frazil_plan::Operator;
use frazil_types::Result;
use sqlparser::ast::SelectItem;

impl<'a> Binder<'a> {
    /// What RETURNING shows of the rows of `op`, in which it sees `seen`. It is computed before the rows are written, of
    /// the values that they will have.
    pub(super) fn returning(
        &mut self,
        list: Option<&'a [SelectItem]>,
        seen: Vec<Item>,
        op: Operator,
    ) -> Result<(Operator, Vec<OutputColumn>)> {
        let Some(list) = list else {
            return Ok((op, Vec::new()));
        };
        let (targets, _) = self.within(Clause::Returning, seen, |b| b.select_list(list))?;
        let mut computed = Computed::default();
        let mut columns = Vec::with_capacity(targets.len());
        for target in targets {
            let value = self.typing.settle(target.value)?;
            let id = self.as_column(value, &target.name, &mut computed);
            columns.push(OutputColumn::new(target.name, id));
        }
        Ok((computed.above(op), columns))
    }
}
