//! Which of a table's files a plan needs: those of which some scan's restrictions may leave rows.

use frazil_files::CsvFiles;
use frazil_plan::Plan;
use frazil_plan::operators::Scan;
use frazil_runtime::BoundValues;
use frazil_types::{Disjunction, ObjectId, Restriction, Value};

/// For each file of a table whether the plan, with these parameters, needs it.
pub fn wanted(plan: &Plan, table: ObjectId, files: &CsvFiles, parameters: &[Value]) -> Vec<bool> {
    let mut wanted = vec![false; files.count()];
    plan.for_each_scan(&mut |scan| {
        if scan.table == table {
            let (restrictions, disjunctions) = known(scan, parameters);
            for (file, wanted) in wanted.iter_mut().enumerate() {
                *wanted |= !files.rules_out(file, &restrictions, &disjunctions);
            }
        }
    });
    wanted
}

/// What a scan asks, as far as the values are known before the plan runs.
fn known(scan: &Scan, parameters: &[Value]) -> (Vec<Restriction>, Vec<Disjunction>) {
    let values = BoundValues {
        parameters,
        subqueries: &[],
    };
    let restrictions = scan.restrictions.iter();
    let restrictions =
        restrictions.filter_map(|r| values.restrictions(std::slice::from_ref(r), &scan.columns).ok());
    let disjunctions = scan.disjunctions.iter();
    let disjunctions =
        disjunctions.filter_map(|d| values.disjunctions(std::slice::from_ref(d), &scan.columns).ok());
    (restrictions.flatten().collect(), disjunctions.flatten().collect())
}
