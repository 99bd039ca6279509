//! A statement that is a locking query, and nothing else.

use crate::{Statement, WithWrite, Writing};
use frazil_plan::{Operator, Plan};

/// Returns the last of `writes` as the statement if it is a locking query, and all that the statement does is to return
/// its rows. Else returns the statement as it is.
pub(super) fn whole_statement(writes: &mut Vec<WithWrite>, statement: Statement) -> Statement {
    let Statement::Query(plan) = statement else {
        return statement;
    };
    match writes.last().and_then(|last| renamed(last, &plan)) {
        Some(locking) => {
            writes.pop();
            Writing::Write(locking).into()
        }
        None => Statement::Query(plan),
    }
}

/// The plan of a locking query with the output of a plan that only reads what the locking query returned. `None` if the
/// plan does more than that.
fn renamed(locking: &WithWrite, plan: &Plan) -> Option<Plan> {
    let Operator::Scan(scan) = &plan.root else {
        return None;
    };
    if scan.table != locking.table {
        return None;
    }
    let mut locks = locking.plan.clone();
    let write = locks.root.write_mut()?;
    if write.change.written_table().is_some() {
        return None;
    }
    let output = plan.output.iter().map(|(name, id)| {
        let position = scan.columns.iter().find(|column| column.0 == *id)?.1;
        Some((name.clone(), locking.plan.output.get(position)?.1))
    });
    locks.output = output.collect::<Option<_>>()?;
    write.change.returning = locks.output.iter().map(|(_, id)| *id).collect();
    Some(locks)
}
