//! Rows of sessions: `pg_settings`, `pg_cursors` and `pg_prepared_statements` of the one that asks, `pg_stat_activity`
//! and `pg_locks` of all.

use super::cells::{self, Cells};
use super::numbers::DATABASE;
use super::virtual_table::Context;
use crate::activity::Step;
use crate::lock_waits::{mode_name, wait_kind};
use crate::parameters;
use frazil_catalog::RoleId;
use frazil_locks::{Target, Wait};
use frazil_types::array::encode_list;
use frazil_types::sql_type::named_oid;
use frazil_types::{LogicalType, Result, Value};

/// A time in microseconds since 1970.
fn time(micros: i64) -> Value {
    Value::Int(micros.into())
}

/// An array of texts.
pub(super) fn texts(texts: Vec<String>) -> Result<Value> {
    let values: Vec<Value> = texts.into_iter().map(Value::Text).collect();
    encode_list(&values, LogicalType::Text).map(Value::Bytes)
}

/// The settings of the session.
pub(super) fn settings(context: &Context<'_>) -> Result<Vec<Cells>> {
    let Some(board) = &context.session else {
        return Ok(Vec::new());
    };
    let rows = board.settings().into_iter().map(|setting| {
        let words = setting.words.map(|words| {
            let words = words.into_iter().map(str::to_owned);
            texts(words.collect())
        });
        let (least, most) = setting.range.unzip();
        Ok(Cells::new()
            .with("name", setting.name)
            .with("setting", setting.value)
            .with("unit", setting.unit)
            .with("category", setting.category)
            .with("short_desc", setting.short)
            .with("extra_desc", setting.extra)
            .with("context", setting.context)
            .with("vartype", setting.kind)
            .with("source", setting.source)
            .with("min_val", least)
            .with("max_val", most)
            .with("enumvals", words.transpose()?)
            .with("boot_val", setting.default)
            .with("reset_val", setting.reset)
            .with("pending_restart", false))
    });
    rows.collect()
}

/// The cursors of the session.
pub(super) fn cursors(context: &Context<'_>) -> Result<Vec<Cells>> {
    let cursors = context.session.iter().flat_map(|board| board.cursors());
    let rows = cursors.map(|cursor| {
        Cells::new()
            .with("name", cursor.name.as_str())
            .with("statement", &*cursor.text)
            .with("is_holdable", cursor.options.is_held)
            .with("is_binary", cursor.options.is_binary)
            .with("is_scrollable", cursor.options.is_scrollable)
            .with("creation_time", time(cursor.declared))
    });
    Ok(rows.collect())
}

/// The prepared statements of the session.
pub(super) fn prepared(context: &Context<'_>) -> Result<Vec<Cells>> {
    let statements = context.session.iter().flat_map(|board| board.prepared());
    let rows = statements.map(|(name, kept)| {
        let types = kept
            .types
            .iter()
            .map(|ty| Value::Bytes(named_oid(ty.oid(), ty.name())));
        let types = encode_list(&types.collect::<Vec<_>>(), LogicalType::Regtype)?;
        Ok(Cells::new()
            .with("name", name)
            .with("statement", &*kept.text)
            .with("prepare_time", time(kept.made))
            .with("parameter_types", Value::Bytes(types))
            .with("from_sql", kept.is_of_sql)
            .with("generic_plans", 0)
            .with("custom_plans", 0))
    });
    rows.collect()
}

/// Shown in place of texts that are not the business of the role that asks.
pub(super) const HIDDEN: &str = "<insufficient privilege>";

/// True if the current role sees the activity of a role: one whose privileges it has, or any with those of
/// `pg_read_all_stats`.
pub(super) fn sees(context: &Context<'_>, role: RoleId) -> bool {
    let access = context.catalog().access();
    let current = context.user.current;
    access.has_privileges_of(current, role) || access.has_privileges_of(current, RoleId::READ_ALL_STATS)
}

/// The activity of all sessions. Of those of other roles a role without `pg_read_all_stats` sees little.
pub(super) fn activity(context: &Context<'_>) -> Result<Vec<Cells>> {
    let Some(own) = &context.session else {
        return Ok(Vec::new());
    };
    let locks = own.locks();
    let rows = locks.sessions.iter().map(|(number, board)| {
        let (role, name) = board.user();
        let row = Cells::new()
            .with("datid", DATABASE)
            .with("datname", cells::DATABASE)
            .with("pid", board.number())
            .with("usesysid", role)
            .with("usename", name)
            .with("application_name", board.application())
            .with(
                "backend_xid",
                locks.transaction_of(*number).map(|transaction| transaction.0),
            );
        if !sees(context, RoleId(role)) {
            return row.with("query", HIDDEN);
        }
        let (started, client, now) = board.activity().look();
        let wait = locks.wait_of(*number);
        let row = row
            .with("client_addr", client.map(|client| client.ip().to_string()))
            .with("client_port", client.map(|client| i32::from(client.port())))
            .with("backend_start", time(started))
            .with("wait_event_type", wait.map(|_| "Lock"))
            .with("wait_event", wait.map(wait_kind))
            .with("backend_type", "client backend");
        match now {
            Some(now) => row
                .with("xact_start", now.transaction_started.map(time))
                .with("query_start", now.text_started.map(time))
                .with("state_change", time(now.changed))
                .with("state", now.step.name())
                .with("query", &*now.text),
            // The statement that asks runs.
            None if std::sync::Arc::ptr_eq(board, own) => row.with("state", Step::Active.name()),
            None => row,
        }
    });
    Ok(rows.collect())
}

/// The locks of all transactions: those on tables, that of each transaction on itself, and those that are awaited.
pub(super) fn locks(context: &Context<'_>) -> Result<Vec<Cells>> {
    let Some(own) = &context.session else {
        return Ok(Vec::new());
    };
    let locks = own.locks();
    let row = |kind: &str, transaction: frazil_locks::TxnId, mode: &str, granted: bool| {
        let session = locks.session_of(transaction).unwrap_or(0);
        Cells::new()
            .with("locktype", kind)
            .with("virtualtransaction", format!("{session}/{transaction}"))
            .with("pid", locks.process_of(transaction))
            .with("mode", mode)
            .with("granted", granted)
            .with("fastpath", false)
    };
    let on_table = |cells: Cells, table: frazil_types::ObjectId| {
        cells.with("database", DATABASE).with("relation", table.oid())
    };
    let mut rows: Vec<Cells> = locks
        .transactions
        .iter()
        .map(|open| row("transactionid", open.id, "ExclusiveLock", true).with("transactionid", open.id.0))
        .collect();
    for holding in &locks.holdings {
        // PostgreSQL keeps claims on rows in the rows.
        if let Target::Table(table) = holding.first {
            let cells = row(
                "relation",
                holding.transaction,
                mode_name(Some(holding.mode)),
                true,
            );
            rows.push(on_table(cells, table));
        }
    }
    for wait in &locks.waits {
        let cells = row(wait_kind(wait), wait.transaction, mode_name(wait.mode), false)
            .with("waitstart", since(wait));
        rows.push(match wait.target {
            Some(Target::Table(table)) => on_table(cells, table),
            Some(Target::Row(..) | Target::Key(..)) | None => {
                cells.with("transactionid", wait.blockers.first().map(|blocker| blocker.0))
            }
        });
    }
    Ok(rows)
}

/// The time when a wait began.
fn since(wait: &Wait) -> Value {
    let waited = i64::try_from(wait.since.elapsed().as_micros()).unwrap_or(i64::MAX);
    time(parameters::now_micros().saturating_sub(waited))
}
