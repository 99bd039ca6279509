//! The rows of a system table that a plan needs, by the restrictions of its scans and by the keys of joins with other
//! system tables. In `pg_attribute join pg_class on attrelid = pg_class.oid where relname = 't'` the rows of `pg_class`
//! are few, and their oids restrict `pg_attribute`.

use super::wanted::{Alternative, Wanted, alternatives, names_objects};
use frazil_optimizer::inputs_by_keys;
use frazil_plan::operators::Scan;
use frazil_plan::{ColumnId, Operator, Plan, columns_made};
use frazil_types::{ObjectId, Schema, Value};

/// Columns, each with the values of which a row must have one to matter.
type Known = Vec<(ColumnId, Vec<Value>)>;

/// The values of a column that a scan of another system table makes, if they are few.
pub type ValuesOf<'a> = dyn Fn(&Scan, ColumnId) -> Option<Vec<Value>> + 'a;

/// The rows of a table with these columns that a plan needs, with the parameters of the run. `None` if it scans no such
/// table.
pub fn wanted_by(
    plan: &Plan,
    (table, columns): (ObjectId, &Schema),
    parameters: &[Value],
    values: &ValuesOf<'_>,
) -> Option<Wanted> {
    let (mut count, mut scans) = (0, Vec::new());
    plan.for_each_scan(&mut |scan| {
        count += usize::from(scan.table == table);
        scans.push(scan.clone());
    });
    if count == 0 {
        return None;
    }
    let mut walk = Walk {
        table,
        columns,
        parameters,
        scans: &scans,
        values,
        found: Vec::new(),
    };
    plan.trees().for_each(|tree| walk.visit(tree, &Known::new()));
    // The walk does not meet scans without columns, and those in queries of a write.
    let is_whole = walk.found.len() < count;
    let restricted: Option<Vec<Vec<Alternative>>> = walk.found.into_iter().collect();
    let restricted = restricted.filter(|_| !is_whole);
    Some(restricted.map_or(Wanted::All, |all| Wanted::Rows(all.concat())))
}

/// A walk down the trees of a plan.
struct Walk<'a> {
    table: ObjectId,
    columns: &'a Schema,
    parameters: &'a [Value],
    /// All scans of the plan.
    scans: &'a [Scan],
    values: &'a ValuesOf<'a>,
    /// Alternatives of each scan of the table so far; `None` for a scan that needs all rows.
    found: Vec<Option<Vec<Alternative>>>,
}

impl Walk<'_> {
    /// Visits an operator whose rows matter only if they have the values in `known`, or NULL.
    fn visit(&mut self, op: &Operator, known: &Known) {
        let inputs = inputs_by_keys(op);
        if inputs.is_empty() {
            return self.leaf(op, known);
        }
        for input in inputs {
            let values = |(to, from): &(ColumnId, ColumnId)| Some((*to, self.values_of(*from)?));
            let by_keys: Known = input.keys.iter().filter_map(values).collect();
            let known: &[_] = if input.passes { known } else { &[] };
            self.visit(input.op, &[known, &by_keys].concat());
        }
    }

    /// Visits an operator without inputs, which may be a scan of the table.
    fn leaf(&mut self, op: &Operator, known: &Known) {
        let made = columns_made(op);
        let is_it = |scan: &&Scan| {
            let mut columns = scan.columns.iter();
            scan.table == self.table && columns.any(|column| made.contains(&column.0))
        };
        if let Some(scan) = self.scans.iter().find(is_it) {
            let restricted = self.of_scan(scan, known);
            self.found.push(restricted);
        }
    }

    fn values_of(&self, column: ColumnId) -> Option<Vec<Value>> {
        let makes = |scan: &&Scan| scan.columns.iter().any(|made| made.0 == column);
        (self.values)(self.scans.iter().find(makes)?, column)
    }

    /// The alternatives of a scan's rows; `None` if it needs all.
    fn of_scan(&self, scan: &Scan, known: &Known) -> Option<Vec<Alternative>> {
        let condition = |(id, values): &(ColumnId, Vec<Value>)| {
            let position = scan.columns.iter().find(|made| made.0 == *id)?.1;
            let column = self.columns.columns.get(position)?;
            Some((column.name.clone(), values.clone()))
        };
        let by_joins: Alternative = known.iter().filter_map(condition).collect();
        let own = alternatives(scan, self.columns, self.parameters).unwrap_or_else(|| vec![Vec::new()]);
        let each = own.into_iter().map(|own| [own, by_joins.clone()].concat());
        let each: Vec<Alternative> = each.collect();
        each.iter()
            .all(|alternative| !alternative.is_empty())
            .then_some(each)
    }
}

/// The rows that a scan needs by its own restrictions; `None` if it needs all.
pub fn wanted_by_scan(scan: &Scan, columns: &Schema, parameters: &[Value]) -> Option<Wanted> {
    let alternatives = alternatives(scan, columns, parameters)?;
    alternatives
        .iter()
        .all(names_objects)
        .then_some(Wanted::Rows(alternatives))
}
