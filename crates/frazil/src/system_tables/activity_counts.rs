//! Rows of PostgreSQL's statistics: `pg_stat_database`, those of tables and indexes, and `pg_stat_statements`, which
//! PostgreSQL has as an extension. Counts that there are not here are NULL.

use super::catalog_rows::own_relations;
use super::cells::{self, Cells};
use super::numbers::{DATABASE, OWNER};
use super::sessions::{HIDDEN, sees};
use super::virtual_table::{Columns, Context};
use frazil_catalog::RoleId;
use frazil_storage::TableSnapshot;
use frazil_types::{Result, Value};
use std::rc::Rc;
use std::sync::Arc;

pub(super) const STATEMENTS: Columns = &[
    ("userid", "oid"),
    ("dbid", "oid"),
    ("toplevel", "boolean"),
    ("queryid", "bigint"),
    ("query", "text"),
    ("plans", "bigint"),
    ("total_plan_time", "double precision"),
    ("min_plan_time", "double precision"),
    ("max_plan_time", "double precision"),
    ("mean_plan_time", "double precision"),
    ("stddev_plan_time", "double precision"),
    ("calls", "bigint"),
    ("total_exec_time", "double precision"),
    ("min_exec_time", "double precision"),
    ("max_exec_time", "double precision"),
    ("mean_exec_time", "double precision"),
    ("stddev_exec_time", "double precision"),
    ("rows", "bigint"),
    ("shared_blks_hit", "bigint"),
    ("shared_blks_read", "bigint"),
    ("shared_blks_dirtied", "bigint"),
    ("shared_blks_written", "bigint"),
    ("local_blks_hit", "bigint"),
    ("local_blks_read", "bigint"),
    ("local_blks_dirtied", "bigint"),
    ("local_blks_written", "bigint"),
    ("temp_blks_read", "bigint"),
    ("temp_blks_written", "bigint"),
    ("blk_read_time", "double precision"),
    ("blk_write_time", "double precision"),
    ("temp_blk_read_time", "double precision"),
    ("temp_blk_write_time", "double precision"),
    ("wal_records", "bigint"),
    ("wal_fpi", "bigint"),
    ("wal_bytes", "numeric"),
    ("jit_functions", "bigint"),
    ("jit_generation_time", "double precision"),
    ("jit_inlining_count", "bigint"),
    ("jit_inlining_time", "double precision"),
    ("jit_optimization_count", "bigint"),
    ("jit_optimization_time", "double precision"),
    ("jit_emission_count", "bigint"),
    ("jit_emission_time", "double precision"),
];

/// The statements that were run, by their texts without constants. Counts belong to no role, so that only roles with
/// the privileges of `pg_read_all_stats` see the texts.
pub(super) fn statements(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let Some(session) = &context.session else {
        return Ok(Vec::new());
    };
    let is_shown = sees(context, RoleId::SUPERUSER);
    let bigint = |count: u64| Value::Int(count.into());
    let rows = session.statistics().statements().into_iter().map(|counts| {
        let sums = counts.sums();
        let mean = |sum: f64, count: u64| if count == 0 { 0.0 } else { sum / count as f64 };
        let value = |name: &str| match name {
            "userid" => Value::Int(OWNER.into()),
            "dbid" => Value::Int(DATABASE.into()),
            "toplevel" => Value::Bool(true),
            "queryid" if is_shown => Value::Int(counts.number.into()),
            "query" if is_shown => Value::Text(counts.text.to_string()),
            "query" => Value::Text(HIDDEN.to_owned()),
            "plans" => bigint(sums.plans),
            "total_plan_time" => Value::Double(sums.plan),
            "mean_plan_time" => Value::Double(mean(sums.plan, sums.plans)),
            "calls" => bigint(sums.calls),
            "total_exec_time" => Value::Double(sums.total),
            "min_exec_time" => Value::Double(sums.least),
            "max_exec_time" => Value::Double(sums.most),
            "mean_exec_time" => Value::Double(mean(sums.total, sums.calls)),
            "rows" => bigint(sums.rows),
            "jit_functions" => bigint(sums.plans),
            "jit_generation_time" => Value::Double(sums.compile),
            _ => Value::Null,
        };
        STATEMENTS.iter().map(|(name, _)| value(name)).collect()
    });
    Ok(rows.collect())
}

/// The database.
pub(super) fn database(context: &Context<'_>) -> Result<Vec<Cells>> {
    let Some(session) = &context.session else {
        return Ok(Vec::new());
    };
    let counts = session.statistics().of_database();
    let served = session.locks().sessions.len();
    let row = Cells::new()
        .with("datid", DATABASE)
        .with("datname", cells::DATABASE)
        .with("numbackends", served)
        .with("xact_commit", counts.commits)
        .with("xact_rollback", counts.rollbacks)
        .with("tup_returned", counts.returned)
        .with("tup_inserted", counts.inserted)
        .with("tup_updated", counts.updated)
        .with("tup_deleted", counts.deleted)
        .with("conflicts", 0)
        .with("stats_reset", Value::Int(session.statistics().since().into()));
    Ok(vec![row])
}

/// The tables that the session sees, with the names of their schemas.
fn tables<'a>(context: &'a Context<'_>) -> impl Iterator<Item = (Rc<str>, &'a Arc<TableSnapshot>)> {
    own_relations(context).filter_map(|seen| {
        let table = context.snapshot.table(seen.table?.id).ok()?;
        Some((seen.schema, table))
    })
}

/// The tables that statements made. System tables have no counts.
pub(super) fn of_tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = tables(context).map(|(schema, table)| {
        let counts = table.table().row_counts();
        let uses: u64 = table.indexes().iter().map(|index| index.uses()).sum();
        let has_indexes = table.indexes().iter().next().is_some();
        let changed = counts.inserted() + counts.updated() + counts.deleted();
        Cells::new()
            .with("relid", table.table().entry().id.oid())
            .with("schemaname", &*schema)
            .with("relname", table.table().name())
            .with("seq_scan", counts.scans())
            .with("idx_scan", has_indexes.then_some(uses))
            .with("n_tup_ins", counts.inserted())
            .with("n_tup_upd", counts.updated())
            .with("n_tup_del", counts.deleted())
            .with("n_tup_hot_upd", 0)
            .with("n_live_tup", table.rows())
            .with("n_mod_since_analyze", changed)
            .with("n_ins_since_vacuum", counts.inserted())
            .with("vacuum_count", 0)
            .with("autovacuum_count", 0)
            .with("analyze_count", 0)
            .with("autoanalyze_count", 0)
    });
    Ok(rows.collect())
}

/// The indexes of tables.
pub(super) fn of_indexes(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = tables(context).flat_map(|(schema, table)| {
        let indexes = table.indexes().iter();
        let rows = indexes.map(|index| {
            Cells::new()
                .with("relid", table.table().entry().id.oid())
                .with("indexrelid", index.entry().id.oid())
                .with("schemaname", &*schema)
                .with("relname", table.table().name())
                .with("indexrelname", index.entry().name.as_str())
                .with("idx_scan", index.uses())
        });
        rows.collect::<Vec<_>>()
    });
    Ok(rows.collect())
}

/// The tables with what is read of files: tables are in memory or mapped, and nobody counts pages.
pub(super) fn io_of_tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = tables(context).map(|(schema, table)| {
        Cells::new()
            .with("relid", table.table().entry().id.oid())
            .with("schemaname", &*schema)
            .with("relname", table.table().name())
    });
    Ok(rows.collect())
}
