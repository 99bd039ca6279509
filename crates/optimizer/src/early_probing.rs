//! Which probes a scan carries out beforehand (Data Blocks, appendix E): those that drop rows without a
//! partner, a key of which is a scanned column, and whose build side is expected to hold few of its values.
//!
//! A guess suffices: a worker gives up a probe that drops too little. Of several keys each makes a probe of its own.

use crate::cardinality::Estimator;
use frazil_plan::breakers::{Breaker, JoinTable};
use frazil_plan::pipeline::{EarlyProbe, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{Columns, Expr};
use frazil_types::NativeType;

/// Above this share of the key's values on the build side a probe is not worth its test.
const PAYS_BELOW: f64 = 0.6;
/// The same of keys whose values are hashed for the test.
const HASHED_PAYS_BELOW: f64 = 0.2;
/// Integers of this range are always tested by a bitmap, and those of so many values for each build row: see
/// `runtime/breakers/join/join_hash_table/key_filter.rs`.
const BITMAP_VALUES: f64 = 33_554_432.0;
const BITMAP_VALUES_PER_ROW: f64 = 256.0;

/// Sets the early probes of every scan.
pub fn apply(plan: &mut PipelinePlan, estimator: &Estimator<'_>) {
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
        for (join, table, keys) in pipeline.operators.iter().filter_map(|o| candidate(o, breakers)) {
            for (position, key) in keys.iter().enumerate() {
                let same = table.keys.get(position).map(|k| k.0.native()) == Some(key.ty.native());
                let column = key
                    .as_column()
                    .filter(|id| same && scanned.iter().any(|c| c.0 == *id));
                let Some(column) = column else {
                    continue;
                };
                if let Some(share) = share_of_values(table, key, columns, estimator) {
                    let probe = EarlyProbe {
                        join,
                        key: position,
                        column,
                    };
                    found.push((share, probe));
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        *early_probes = found.into_iter().map(|f| f.1).collect();
    }
}

/// A probe that drops rows without a partner: its join, and its keys.
fn candidate<'o>(
    operator: &'o PipelineOperator,
    breakers: &'o [Breaker],
) -> Option<(frazil_plan::breakers::BreakerId, &'o JoinTable, &'o [Expr])> {
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
    let table = breakers[join.0].join().filter(|table| !table.in_order)?;
    kind.drops_probe_rows().then_some((*join, table, &keys[..]))
}

/// Build rows over the values that the probe key may have; `None` if a test of them is not expected to pay.
fn share_of_values(
    join: &JoinTable,
    key: &Expr,
    columns: &Columns,
    estimator: &Estimator<'_>,
) -> Option<f64> {
    let rows = join.estimated_rows;
    let column = key.as_column()?;
    let integer = matches!(
        key.ty.native(),
        NativeType::I16 | NativeType::I32 | NativeType::I64
    );
    let observed = columns[column].observed.filter(|_| integer);
    let range = observed.map(|b| (b.max as f64 - b.min as f64 + 1.0).max(1.0));
    if let Some(range) = range.filter(|range| *range <= BITMAP_VALUES.max(rows * BITMAP_VALUES_PER_ROW)) {
        let share = rows / range;
        return (share < PAYS_BELOW).then_some(share);
    }
    let share = rows / estimator.distinct(key, columns)?.max(1.0);
    (share < HASHED_PAYS_BELOW).then_some(share)
}
