//! The rows of a system table that a plan needs, by the restrictions of its scans and by the keys of joins with other
//! system tables. In `pg_attribute join pg_class on attrelid = pg_class.oid where relname = 't'` the rows of `pg_class`
//! are few, and their oids restrict `pg_attribute`.

use super::wanted::{Alternative, Wanted, alternatives, is_compared};
use frazil_plan::operators::{Join, Scan};
use frazil_plan::{ColumnId, Expr, JoinKind, Operator, Plan};
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
    // Scans that the walk does not meet are in queries of a write.
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
        if let Operator::Scan(scan) = op {
            if scan.table == self.table {
                let restricted = self.of_scan(scan, known);
                self.found.push(restricted);
            }
            return;
        }
        if let Operator::Join(join) = op {
            let (build, probe) = self.of_sides(join);
            self.visit(&join.build, &[known.as_slice(), &build].concat());
            self.visit(&join.probe, &[known.as_slice(), &probe].concat());
            return;
        }
        let nothing = Known::new();
        // Other operators count or choose among their rows, so that no row may be left out.
        let passes = matches!(op, Operator::Filter(_) | Operator::Map(_));
        for input in op.inputs() {
            self.visit(input, if passes { known } else { &nothing });
        }
    }

    /// What the keys of a join say of the rows on its build side and of those on its probe side.
    fn of_sides(&self, join: &Join) -> (Known, Known) {
        let (drops_build, drops_probe) = match join.kind {
            JoinKind::Inner | JoinKind::ProbeSemi | JoinKind::BuildSemi => (true, true),
            JoinKind::ProbeOuter => (true, false),
            JoinKind::BuildOuter => (false, true),
            JoinKind::ProbeAnti => (!join.null_aware, false),
            JoinKind::BuildAnti => (false, !join.null_aware),
            JoinKind::FullOuter | JoinKind::ProbeMark(_) => (false, false),
        };
        let side = |is_dropped: bool, keys: &mut dyn Iterator<Item = (&Expr, &Expr)>| -> Known {
            let keys = keys.filter(|_| is_dropped);
            let known =
                keys.filter_map(|(to, from)| Some((to.as_column()?, self.values_of(from.as_column()?)?)));
            known.collect()
        };
        let build = side(
            drops_build,
            &mut join.keys.iter().map(|(build, probe)| (build, probe)),
        );
        let probe = side(
            drops_probe,
            &mut join.keys.iter().map(|(build, probe)| (probe, build)),
        );
        (build, probe)
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
            is_compared(column.ty).then(|| (column.name.clone(), values.clone()))
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
    alternatives(scan, columns, parameters).map(Wanted::Rows)
}
