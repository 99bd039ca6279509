//! Which probes a scan carries out beforehand (Data Blocks, appendix E): those that drop rows without a
//! partner, whose key is a scanned integer, and whose build side is expected to hold few of its values.
//!
//! A guess suffices: a worker gives up a probe that drops too little.

use frazil_plan::breakers::{Breaker, JoinTable};
use frazil_plan::pipeline::{EarlyProbe, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{ColumnId, Columns};
use frazil_types::NativeType;

/// Above this share of the key's values on the build side a probe is not worth its test.
const PAYS_BELOW: f64 = 0.6;

/// Sets the early probes of every scan.
pub fn apply(plan: &mut PipelinePlan) {
    let PipelinePlan {
        pipelines,
        breakers,
        columns,
        ..
    } = plan;
    for pipeline in pipelines {
        let Source::Scan {
            columns: scanned,
            early_probes,
            ..
        } = &mut pipeline.source
        else {
            continue;
        };
        let mut found: Vec<(f64, EarlyProbe)> = Vec::new();
        for operator in &pipeline.operators {
            let Some((probe, join)) = candidate(operator, breakers) else {
                continue;
            };
            let share = share_of_values(join, probe.column, columns);
            if scanned.iter().any(|c| c.0 == probe.column) && share < PAYS_BELOW {
                found.push((share, probe));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        *early_probes = found.into_iter().map(|f| f.1).collect();
    }
}

/// A probe that drops rows without a partner, by one integer column.
fn candidate<'b>(
    operator: &PipelineOperator,
    breakers: &'b [Breaker],
) -> Option<(EarlyProbe, &'b JoinTable)> {
    let PipelineOperator::Probe {
        join,
        kind,
        keys,
        null_aware: false,
        ..
    } = operator
    else {
        return None;
    };
    let [key] = &keys[..] else {
        return None;
    };
    let column = key.as_column().filter(|_| kind.drops_probe_rows())?;
    let integer = |native| matches!(native, NativeType::I16 | NativeType::I32 | NativeType::I64);
    let table = breakers[join.0].join().filter(|table| !table.in_order)?;
    let same = table.keys.first().map(|k| k.0.native()) == Some(key.ty.native());
    (same && integer(key.ty.native())).then_some((EarlyProbe { join: *join, column }, table))
}

/// Build rows over the values the probe key may have.
fn share_of_values(join: &JoinTable, column: ColumnId, columns: &Columns) -> f64 {
    let values = columns[column]
        .observed
        .map_or(f64::INFINITY, |b| (b.max as f64 - b.min as f64 + 1.0).max(1.0));
    join.estimated_rows / values
}
