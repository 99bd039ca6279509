//! What the finished build sides of a pipeline's joins say of the rows that its scan looks at.
//!
//! A row of the probe side that finds no partner is dropped by most joins. When the pipeline opens, the build side is known to the
//! last row: if it has none, the scan has none either; where its keys are few and an index has them, the scan looks its rows up
//! instead of reading all; and the range of integer keys is a restriction like any other, by SMA, PSMA and codes. All three may let
//! rows without a partner pass, because the probe comes later anyway.

use crate::open_pipeline::Opening;
use frazil_plan::breakers::JoinTable as JoinPlan;
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind};
use frazil_runtime::JoinTable;
use frazil_storage::{JoinKeys, TableScan};
use frazil_types::{LogicalType, Result};

/// A key of a join that is a column of the scan.
struct ScannedKey {
    /// Its position among the keys of the join.
    key: usize,
    /// Its type on the build side.
    ty: LogicalType,
    /// The column's position in the table.
    column: usize,
}

/// A join that drops probe rows without a partner, and its keys that are columns of the scan.
struct Partner<'a> {
    table: &'a JoinTable,
    /// Number of all its keys.
    keys: usize,
    scanned: Vec<ScannedKey>,
}

/// The scan of a pipeline, for rows that may find partners in all joins.
pub(crate) fn restrict(
    mut scan: TableScan,
    plan: &PipelinePlan,
    pipeline: &Pipeline,
    columns: &[(ColumnId, usize)],
    opening: &Opening<'_>,
) -> Result<TableScan> {
    let probes = pipeline.operators.iter();
    let partners: Vec<Partner<'_>> = probes
        .filter_map(|operator| partner(operator, plan, columns, opening))
        .collect();
    if partners.iter().any(|p| p.table.linked_rows() == 0) {
        return Ok(scan.without_rows());
    }
    for partner in &partners {
        scan = look_up(scan, partner);
    }
    for partner in partners.iter().filter(|_| opening.scan.early_probes) {
        if let (1, [key], Some((least, greatest))) =
            (partner.keys, &partner.scanned[..], partner.table.key_range())
        {
            scan = scan.with_key_range(key.column, least, greatest)?;
        }
    }
    Ok(scan)
}

/// The join of a probe, if it drops rows without a partner.
fn partner<'a>(
    operator: &PipelineOperator,
    plan: &PipelinePlan,
    columns: &[(ColumnId, usize)],
    opening: &Opening<'a>,
) -> Option<Partner<'a>> {
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
    let table = opening.state.join(*join)?;
    let joined = plan.join(*join);
    let scanned = |(key, e)| scanned_key(key, e, joined, &plan.columns, columns);
    (kind.drops_probe_rows() && !joined.in_order).then(|| Partner {
        table,
        keys: keys.len(),
        scanned: keys.iter().enumerate().filter_map(scanned).collect(),
    })
}

/// A probe key as a column of the scan whose values are compared as they are, or as wider integers.
fn scanned_key(
    key: usize,
    e: &Expr,
    join: &JoinPlan,
    all: &Columns,
    scanned: &[(ColumnId, usize)],
) -> Option<ScannedKey> {
    let id = if let ExprKind::Cast(inner) = &e.kind {
        inner.as_column()?
    } else {
        e.as_column()?
    };
    let ty = join.keys.get(key)?.0;
    let own = all[id].ty;
    let alike = own == ty || own.is_integer() && ty.is_integer() || is_plain_text(own) && is_plain_text(ty);
    let column = scanned.iter().find(|c| c.0 == id)?.1;
    (alike && e.ty == ty).then_some(ScannedKey { key, ty, column })
}

/// Whether texts of the type are equal if their bytes are.
fn is_plain_text(ty: LogicalType) -> bool {
    ty.is_string() && !ty.is_padded()
}

/// The scan for rows that have one of the keys of a join, where an index has them and they are few.
fn look_up(scan: TableScan, partner: &Partner<'_>) -> TableScan {
    let columns: Vec<usize> = partner.scanned.iter().map(|k| k.column).collect();
    let most = scan.most_join_keys(&columns);
    let wanted: Vec<(usize, LogicalType)> = partner.scanned.iter().map(|k| (k.key, k.ty)).collect();
    let keys = (most > 0)
        .then(|| partner.table.distinct_keys(&wanted, most))
        .flatten();
    match keys {
        Some(keys) => scan.with_join_keys(&JoinKeys { columns, keys }),
        None => scan,
    }
}
